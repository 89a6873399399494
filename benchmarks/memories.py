"""Test errors of memories of fixed size beside that of all examples, and a stream without end.

Each set: up to 3,000 examples in three random orders through `SVC(memory=Budget(M, rule))`, then
the error on 1,500 others, and its ratio to that of `SVC` on the whole stream. elec2 also comes in
the order of time, tested on the rows that follow. Features are standardised on the stream, rbf
kernel with gamma = 1 / (d var(X)).

    python benchmarks/memories.py [--C 10] [--sizes 100 250] [--sets banana ...] [--rules merge ...]
    python benchmarks/memories.py --endless [--examples 100000] [--machines budget lasvc]

The second sends covtype (class 2 against the rest, in a random order) through bounded machines and
prints for each tenth of the stream the processor time per example, the error on 2,000 other rows
and the memory of the process. Larger sets are looked for in the folder named by SUPPLE_DATA.
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"  # before NumPy is loaded

import argparse  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
import warnings  # noqa: E402
from pathlib import Path  # noqa: E402

import numpy as np  # noqa: E402
from batch_cases import scale  # noqa: E402

import supple  # noqa: E402
from supple.datasets import load  # noqa: E402
from supple.memory import Budget  # noqa: E402

STREAM, TEST, ORDERS = 3000, 1500, 3
BAR = 1.6  # times the error of all examples, at the largest size
# ijcnn1, german_numeric and letter were chosen before any rule was tried on them.
SETS = ("banana", "phoneme", "elec2", "elec2 in time", "covtype", "spambase",
        "ijcnn1", "german_numeric", "letter")  # fmt: skip
RULES = ("merge", "oldest", "relevance")


def labelled(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the points of a set and whether each is of the positive class."""
    data = load(name.split()[0], download_if_missing=False)
    y = data.y
    if name == "letter":
        return data.X, y < "N"
    return data.X, y == (2 if name == "covtype" else np.unique(y)[1])


def split(name: str, X: np.ndarray, y: np.ndarray, order: int) -> list[np.ndarray]:
    """Return stream and test set, standardised by the stream."""
    if name == "elec2 in time":
        first = order * (STREAM + TEST)
        rows = np.arange(first, first + STREAM + TEST)
    else:
        rows = np.random.default_rng(order).permutation(len(y))
    n = min(STREAM, 7 * len(y) // 10)
    train, test = rows[:n], rows[n : n + TEST]
    mean, width = X[train].mean(axis=0, dtype=float), X[train].std(axis=0, dtype=float)
    width[width == 0.0] = 1.0
    return [(X[train] - mean) / width, y[train], (X[test] - mean) / width, y[test]]


def error(model: supple.SVC, X: np.ndarray, y: np.ndarray) -> float:
    return float(100.0 * (1.0 - model.score(X, y)))


def table(options: argparse.Namespace) -> int:
    columns = [(rule, M) for rule in options.rules for M in options.sizes]
    print(f"test error in %, C = {options.C:g}, mean of {ORDERS} orders; in brackets times that of "
          "all examples")  # fmt: skip
    print(f"{'':<16}{'all':>7}" + "".join(f"{f'{rule} {M}':>20}" for rule, M in columns))
    missed = 0
    for name in options.sets:
        try:
            X, y = labelled(name)
        except supple.DataNotFoundError:
            print(f"{name:<16} skipped: not in the folder that SUPPLE_DATA names")
            continue
        found: dict = {column: [] for column in columns}
        full = []
        for order in range(ORDERS):
            stream, labels, test, truth = split(name, X, y, order)
            params = {"C": options.C, "gamma": scale(stream)}
            full.append(error(supple.SVC(**params).fit(stream, labels), test, truth))
            for rule, M in columns:
                model = supple.SVC(memory=Budget(M, rule), **params).fit(stream, labels)
                found[rule, M].append(error(model, test, truth))
        ratio = {column: np.mean(found[column]) / np.mean(full) for column in columns}
        missed += ratio.get(("merge", max(options.sizes)), 0.0) > BAR
        cells = (f"{np.mean(found[c]):>13.1f} ({ratio[c]:.2f})" for c in columns)
        print(f"{name:<16}{np.mean(full):>7.1f}" + "".join(cells), flush=True)
    return int(missed > 0)


def resident() -> float:
    """Return the memory of this process in MB."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def endless(options: argparse.Namespace) -> int:
    X, y = labelled("covtype")
    rows = np.random.default_rng(0).permutation(len(y))[: options.examples + 2000]
    X, y = X[rows].astype(float), y[rows]
    mean, width = X.mean(axis=0), X.std(axis=0)
    X = (X - mean) / np.where(width > 0.0, width, 1.0)
    params = {"C": options.C, "gamma": scale(X)}
    machines = {
        "budget": lambda: supple.SVC(memory=Budget(options.bound), **params),
        "lasvc": lambda: supple.LASVC(max_vectors=options.bound, random_state=0, **params),
    }
    test, truth = X[-2000:], y[-2000:]
    failed = 0
    for name in options.machines:
        model, tenth, each = machines[name](), options.examples // 10, []
        print(f"{name}, at most {options.bound} examples, C = {options.C:g}")
        print(f"{'examples':>10}{'ms each':>10}{'error %':>10}{'held':>7}{'MB':>8}")
        for part in range(10):
            start = time.process_time()
            for first in range(part * tenth, (part + 1) * tenth, options.batch):
                one = slice(first, first + options.batch)
                model.partial_fit(X[one], y[one])
            each.append((time.process_time() - start) / tenth)
            wrong, held = error(model, test, truth), len(model.ids_)
            print(f"{(part + 1) * tenth:>10}{1e3 * each[-1]:>10.3f}{wrong:>10.1f}{held:>7}"
                  f"{resident():>8.0f}", flush=True)  # fmt: skip
        ratio = each[-1] / each[1]
        failed += ratio > 1.2
        print(f"last tenth / second tenth: {ratio:.2f} (bar 1.2)\n")
    return int(failed > 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--C", type=float, default=10.0)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 250])
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--rules", nargs="+", choices=RULES, default=RULES)
    parser.add_argument("--endless", action="store_true")
    parser.add_argument("--examples", type=int, default=100_000)
    parser.add_argument("--bound", type=int, default=500)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--machines", nargs="+", default=["budget", "lasvc"])
    options = parser.parse_args()
    # Some rules leave the machine with kernel values that rounding cannot tell apart.
    warnings.simplefilter("ignore", supple.NotConvergedWarning)
    return endless(options) if options.endless else table(options)


if __name__ == "__main__":
    sys.exit(main())
