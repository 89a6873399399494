"""What ids cost: the table of ids by itself, and whole updates with integer and string ids.

The table (`Store`) with 5,000 and with 1,000,000 rows: time to append, look up and remove one
example, and bytes per id. Whole updates: `partial_fit` and `forget` of one example by an SVC that
holds 5,000, in processes that take turns. All times are processor time, medians of the rounds.

    python benchmarks/ids.py [--rounds 7] [--baseline PYTHON]

--baseline names the interpreter of an environment with another version of supple, whose integer ids
are the measure then.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
import tracemalloc

import numpy as np
from sklearn.datasets import make_classification

from supple import SVC
from supple.store import Store

SMALL, LARGE = 5_000, 1_000_000
ACTIONS = 2_000  # on a table
UPDATES = 60  # of a model
KINDS = ("int", "str")
ALLOWED = 1.2


def make_ids(kind: str, numbers: range) -> np.ndarray:
    """Return ids as the store takes them."""
    if kind == "int":
        return np.array(numbers, dtype=np.int64)
    return np.array([f"customer-{i:09d}" for i in numbers], dtype=object)


# ---------------------------------------------------------------------- the table alone


def filled(kind: str, size: int) -> tuple[Store, float]:
    """Return a store of `size` rows that has answered a question, and the bytes it takes per id."""
    tracemalloc.start()
    ids = make_ids(kind, range(size))
    store = Store()
    store.append(np.zeros(size), np.ones(size), ids)
    store.holds(ids.item(0))
    del ids
    other = sum(getattr(store, name).nbytes for name in ("_y", "_weight", "_arrival", "_scaling"))
    taken = tracemalloc.get_traced_memory()[0] - other
    tracemalloc.stop()
    return store, taken / size


def table_times(store: Store, kind: str) -> dict[str, float]:
    """Return seconds per append, slots and remove of one example."""
    start = 10**8 + store.seen  # none of them has been here before
    fresh = [make_ids(kind, range(i, i + 1)) for i in range(start, start + ACTIONS)]
    one = np.ones(1)

    def append(ids: np.ndarray) -> None:
        store.check_new(ids)
        store.append(one, one, ids)
        store.count_arrivals(ids)

    slots = [np.array([7])] * ACTIONS
    work = {
        "append": (append, fresh),
        "slots": (store.slots, fresh),
        "remove": (store.remove, slots),
    }
    seconds = {}
    for name, (action, arguments) in work.items():
        start = time.process_time()
        for argument in arguments:
            action(argument)
        seconds[name] = (time.process_time() - start) / ACTIONS
    return seconds


def measure_table(rounds: int) -> dict[str, dict[str, float]]:
    """Print the times of tables; return what a large one adds to an update, by kind and method."""
    stores = {(kind, size): filled(kind, size) for kind in KINDS for size in (SMALL, LARGE)}
    found: dict[tuple, list[dict[str, float]]] = {key: [] for key in stores}
    for _ in range(rounds + 1):  # the first makes room
        for (kind, size), (store, _) in stores.items():
            found[kind, size].append(table_times(store, kind))
    print(f"{'table of ids':24}{'append':>10}{'slots':>10}{'remove':>10}{'bytes per id':>14}")
    cells = {}
    for key, times in found.items():
        cells[key] = {a: statistics.median(t[a] for t in times[1:]) for a in times[0]}
        text = "".join(f"{1e6 * value:7.2f} us" for value in cells[key].values())
        print(f"{key[0]} x {key[1]:<18,}{text}{stores[key][1]:14.0f}")
    more = {k: {a: cells[k, LARGE][a] - cells[k, SMALL][a] for a in cells[k, LARGE]} for k in KINDS}
    return {
        kind: {"partial_fit": own["append"], "forget": own["slots"] + own["remove"]}
        for kind, own in more.items()
    }


# ---------------------------------------------------------------------- whole updates


def work(kind: str) -> None:
    """Answer each line on the standard input with the times of updates of a model."""
    X, y = make_classification(SMALL + UPDATES, 20, n_informative=10, class_sep=1.0, random_state=0)
    names = make_ids(kind, range(SMALL + UPDATES)).tolist()
    model = SVC(gamma=0.05).partial_fit(X[:SMALL], y[:SMALL], ids=names[:SMALL])
    for _ in sys.stdin:
        seconds = {"partial_fit": 0.0, "forget": 0.0}
        for i in range(SMALL, SMALL + UPDATES):
            one = slice(i, i + 1)
            start = time.process_time()
            model.partial_fit(X[one], y[one], ids=names[one])
            middle = time.process_time()
            model.forget(names[one])
            seconds["partial_fit"] += middle - start
            seconds["forget"] += time.process_time() - middle
        print(json.dumps({key: value / UPDATES for key, value in seconds.items()}), flush=True)


def measure_updates(rounds: int, baseline: str | None) -> dict[str, dict[str, float]]:
    """Return seconds per update with integer ids, with strings, and of the baseline if any."""
    command = {kind: [sys.executable, __file__, "--worker", kind] for kind in KINDS}
    if baseline is not None:
        command["baseline"] = [baseline, __file__, "--worker", "int"]
    workers = {
        name: subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for name, line in command.items()
    }
    found: dict[str, list[dict[str, float]]] = {name: [] for name in workers}
    for _ in range(rounds + 1):  # the first is for warming up
        for name, worker in workers.items():
            worker.stdin.write("\n")
            worker.stdin.flush()
            found[name].append(json.loads(worker.stdout.readline()))
    for worker in workers.values():
        worker.communicate()
    return {
        name: {key: statistics.median(t[key] for t in times[1:]) for key in times[0]}
        for name, times in found.items()
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--baseline", help="interpreter of an environment with another version")
    parser.add_argument("--worker", choices=KINDS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options.worker)
        return 0
    more = measure_table(options.rounds)
    found = measure_updates(options.rounds, options.baseline)
    measure = found.pop("baseline", found["int"])
    rows = {f"{kind} ids": found[kind] for kind in KINDS}
    for kind in KINDS:
        large = {key: value + more[kind][key] for key, value in found[kind].items()}
        rows[f"{kind} ids, {LARGE:,}"] = large
    print(f"\nSVC that holds {SMALL:,}; the last two lines with the table of {LARGE:,} added")
    print(f"{'':24}{'partial_fit':>14}{'forget':>14}{'ratios':>15}")
    worst = 0.0
    for name, cells in {"measure": measure, **rows}.items():
        ratios = [cells[key] / measure[key] for key in cells]
        worst = max(worst, *ratios)
        text = "".join(f"{1e3 * value:11.3f} ms" for value in cells.values())
        print(f"{name:24}{text}{ratios[0]:9.3f}{ratios[1]:6.3f}")
    print(f"largest ratio {worst:.3f}, at most {ALLOWED} allowed")
    return 0 if worst <= ALLOWED else 1


if __name__ == "__main__":
    sys.exit(main())
