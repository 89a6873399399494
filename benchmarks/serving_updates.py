"""How long single updates of a fitted SVC take at worst, and how much memory they come to hold.

Used by serving.py. Latency: a model is fitted, then examples are learned and forgotten one by one,
in turns, the first one right after the fit; all in processor time of one thread. Memory: what the
process holds after 300 examples, in a process for every case.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import sklearn.svm
from batch_cases import scale

import supple

ROWS = 8000  # to train
UPDATES = 2000
ADDS = 300  # before memory is looked at
CASES = {
    "phoneme": ("phoneme.csv.gz", "ovo"),
    "spambase": ("spambase.csv.gz", "ovo"),
    "letter, one-vs-one": ("letter.csv.gz", "ovo"),
    "letter, one-vs-rest": ("letter.csv.gz", "ovr"),
}


class Table(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    X_rest: np.ndarray
    y_rest: np.ndarray


def read_table(path: Path, limit: int) -> Table:
    """Return four fifths of the rows, standardised, and the rest; the class is the last column."""
    table = pd.read_csv(path).sample(frac=1.0, random_state=0)
    label = next((c for c in table if table[c].dtype.kind not in "iuf"), table.columns[-1])
    X, y = table.drop(columns=label).to_numpy(float), table[label].astype(str).to_numpy(str)
    X = np.ascontiguousarray((X - X.mean(axis=0)) / X.std(axis=0))
    n = min(limit, 4 * len(X) // 5)
    return Table(X[:n], y[:n], X[n:], y[n:])


def find(name: str) -> Path | None:
    """Return the path of a file in the folder SUPPLE_DATA, None if it is not at hand."""
    path = Path(os.environ.get("SUPPLE_DATA", ""), name)
    return path if "SUPPLE_DATA" in os.environ and path.is_file() else None


def seconds(action: Callable[[], object]) -> float:
    start = time.process_time()
    action()
    return time.process_time() - start


def stream(model: supple.SVC, table: Table, count: int) -> np.ndarray:
    """Return the time of each of so many updates: learn an example, forget another, and so on."""
    rng = np.random.default_rng(0)
    leaving = rng.permutation(len(table.X)).tolist()  # the ids of a fit are the rows
    times = []
    for k in range(count // 2):
        new = slice(k % len(table.X_rest), k % len(table.X_rest) + 1)
        times.append(seconds(lambda s=new: model.partial_fit(table.X_rest[s], table.y_rest[s])))
        times.append(seconds(lambda: model.forget([leaving.pop()])))
    return np.array(times)


def latency(name: str, table: Table, multi_class: str) -> str:
    """Return the row of the table for one case."""
    params = {"C": 10.0, "gamma": scale(table.X)}
    models = [supple.SVC(multi_class=multi_class, **params) for _ in range(3)]
    fit = np.median([seconds(lambda m=m: m.fit(table.X, table.y)) for m in models])
    peer = sklearn.svm.SVC(**params)
    refit = np.median([seconds(lambda: peer.fit(table.X, table.y)) for _ in range(3)])
    times = stream(models[-1], table, UPDATES)
    if not models[-1].exact_:
        sys.exit(f"{name}: KKT violation {models[-1].kkt_violation_:.1e} at the end")
    p50, p99, p999 = np.quantile(times, [0.5, 0.99, 0.999], method="higher")
    figures = [refit, fit, p50, p99, p999, times.max(), times[0]]
    cells = [f"{1e3 * value:.3g}" for value in figures]
    return f"| {name}, {len(table.X)} rows | {' | '.join(cells)} | {p999 / fit:.2f} |"


def print_latency() -> None:
    print("| data | refit of scikit-learn, ms | fit, ms | p50 | p99 | p99.9 | worst | first | "
          "p99.9 / fit |\n|:--|--:|--:|--:|--:|--:|--:|--:|--:|")  # fmt: skip
    for name, (file, multi_class) in CASES.items():
        path = find(file)
        if path is None:
            print(f"{name}: skipped, no {file} in SUPPLE_DATA", file=sys.stderr)
            continue
        print(latency(name, read_table(path, ROWS), multi_class), flush=True)


def resident() -> float:
    """Return the MB that this process holds."""
    return int(Path("/proc/self/status").read_text().split("VmRSS:")[1].split()[0]) / 1024


def grow(path: Path, multi_class: str, cache_size: float) -> None:
    """Print by how many MB a fit, and then updates, raise what the process holds."""
    table = read_table(path, ROWS)
    model = supple.SVC(C=10.0, gamma=scale(table.X), multi_class=multi_class, cache_size=cache_size)
    before = resident()
    model.fit(table.X, table.y)
    fitted = resident()
    for k in range(ADDS):
        model.partial_fit(table.X_rest[k : k + 1], table.y_rest[k : k + 1])
    print(f"{fitted - before:.0f} {resident() - before:.0f}")


def print_memory() -> None:
    path = find("letter.csv.gz")
    if path is None or not Path("/proc/self/status").exists():
        print("memory: skipped, no letter.csv.gz in SUPPLE_DATA or no /proc", file=sys.stderr)
        return
    print(f"| machines of letter | cache_size | after the fit, MB | after {ADDS} examples, MB |")
    print("|:--|--:|--:|--:|")
    for multi_class in ("ovo", "ovr"):
        for cache_size in (20, 200):
            command = [sys.executable, __file__, str(path), multi_class, str(cache_size)]
            out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            fitted, grown = out.split()
            print(f"| {multi_class} | {cache_size} | {fitted} | {grown} |", flush=True)


if __name__ == "__main__":
    grow(Path(sys.argv[1]), sys.argv[2], float(sys.argv[3]))
