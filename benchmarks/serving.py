"""A fitted SVC in use: predictions of few and many rows, and single updates at their worst.

Predictions: beside scikit-learn's SVC, in ratios of one run. Both systems are fitted with the same
parameters and then asked in turns, one thread; the best repeat counts, in processor time. A first
question after an update also prepares the decision rule; what that takes is a column of its own.
Latency and memory of updates: see serving_updates.py.

    python benchmarks/serving.py [--rows 1 10 100 4000] [--cases letter ...]
    python benchmarks/serving.py --latency
    python benchmarks/serving.py --memory

digits comes with scikit-learn. letter.csv.gz, usps.npz, ijcnn1.npz, phoneme.csv.gz and
spambase.csv.gz are looked for in the folder named by SUPPLE_DATA.
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"  # before NumPy is loaded

import argparse  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import NamedTuple  # noqa: E402

import numpy as np  # noqa: E402
import sklearn.svm  # noqa: E402
from batch_cases import scale  # noqa: E402
from serving_updates import find, print_latency, print_memory, read_table  # noqa: E402
from sklearn.datasets import load_digits  # noqa: E402

import supple  # noqa: E402

LIMIT = 16_000  # training rows
SECONDS = 1.0  # for the repeats of one measurement, three of them at least
FILES = {"letter": "letter.csv.gz", "usps": "usps.npz", "ijcnn1": "ijcnn1.npz",
         "phoneme": "phoneme.csv.gz"}  # fmt: skip


class Case(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    queries: np.ndarray


def from_table(path: Path) -> Case:
    table = read_table(path, LIMIT)
    return Case(table.X, table.y, table.X_rest)


def from_arrays(path: Path) -> Case:
    with np.load(path) as file:
        X, y, queries = (file[name] for name in ("X_train", "y_train", "X_test"))
    return Case(X[:LIMIT].astype(float), y[:LIMIT], queries.astype(float))


def load(name: str) -> Case | None:
    """Return a case, None if its file is not at hand."""
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        return Case(X[:1347] / 16.0, y[:1347], X[1347:] / 16.0)
    path = find(FILES[name])
    if path is None:
        return None
    return from_table(path) if path.name.endswith(".csv.gz") else from_arrays(path)


def in_turns(*actions: Callable[[], object]) -> list[float]:
    """Return the least processor time of each action."""
    best = [np.inf] * len(actions)
    begin = time.perf_counter()
    repeats = 0
    while repeats < 3 or time.perf_counter() - begin < SECONDS:
        for k, action in enumerate(actions):
            start = time.process_time()
            action()
            best[k] = min(best[k], time.process_time() - start)
        repeats += 1
    return best


def first_after_update(model: supple.SVC, row: np.ndarray) -> float:
    """Return the time of a prediction that has to prepare the decision rule."""
    best = np.inf
    for _ in range(3):
        model.reweight(model.ids_[:1], 1.0)  # the weight it has
        start = time.process_time()
        model.predict(row)
        best = min(best, time.process_time() - start)
    return best


def measure(name: str, case: Case, rows: list[int]) -> list[str]:
    """Return the rows of the table for one case."""
    params = {"C": 10.0, "gamma": scale(case.X)}
    own = supple.SVC(**params).fit(case.X, case.y)
    peer = sklearn.svm.SVC(**params).fit(case.X, case.y)
    same = float(np.mean(own.predict(case.queries[:4000]) == peer.predict(case.queries[:4000])))
    if same < 0.999:  # the peer stops at its tolerance
        sys.exit(f"{name}: the predictions of both agree on {same:.2%} of the rows only")
    about = f"{name}, {len(own.classes_)} classes, {len(own.support_)} support vectors"
    first = first_after_update(own, case.queries[:1])
    lines = []
    for count in rows:
        queries = np.resize(case.queries, (count, case.X.shape[1]))  # again from the start
        mine, theirs = in_turns(lambda q=queries: own.predict(q), lambda q=queries: peer.predict(q))
        after = f"{1e3 * first:.3g}" if count == 1 else ""
        lines.append(f"| {about} | {count} | {1e3 * mine:.3g} | {1e3 * theirs:.3g} | "
                     f"{theirs / mine:.1f} | {after} |")  # fmt: skip
        about = ""
    return lines


def print_predictions(cases: list[str], rows: list[int]) -> None:
    print("| data | rows | supple, ms | scikit-learn, ms | times as fast | after an update, ms |")
    print("|:--|--:|--:|--:|--:|--:|")
    for name in cases:
        case = load(name)
        if case is None:
            print(f"{name}: skipped, no {FILES[name]} in SUPPLE_DATA", file=sys.stderr)
            continue
        print("\n".join(measure(name, case, rows)), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = ["digits", *FILES]
    parser.add_argument("--rows", type=int, nargs="+", default=[1, 10, 100, 4000])
    parser.add_argument("--cases", nargs="+", choices=names, default=names)
    for part in ("predictions", "latency", "memory"):
        parser.add_argument(f"--{part}", action="store_true", help="this part; without any, all")
    options = parser.parse_args()
    everything = not (options.predictions or options.latency or options.memory)
    if options.predictions or everything:
        print_predictions(options.cases, options.rows)
    if options.latency or everything:
        print_latency()
    if options.memory or everything:
        print_memory()
    return 0


if __name__ == "__main__":
    sys.exit(main())
