"""What it costs to learn a whole data set one example at a time, and how exact the model is then.

a9a (32,561 sparse rows), C = 1, gamma = .05, one thread, beside one fit of all rows. Both must end
at the same dual objective. The first row of each class starts the model.

    SUPPLE_DATA=folder python benchmarks/one_by_one.py [--rows 32561]
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import time

import numpy as np
from batch_cases import load, unavailable

from supple import SVC


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, help="the first so many; default: all")
    options = parser.parse_args()
    if missing := unavailable("a9a"):
        raise SystemExit(missing)
    case = load("a9a")
    X, y = case.X[: options.rows], case.y[: options.rows]
    start = int(np.argmax(y != y[0])) + 1
    begin = time.process_time()
    model = SVC(C=case.C, gamma=case.gamma).partial_fit(X[:start], y[:start])
    for i in range(start, len(y)):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        if (i + 1) % 5000 == 0 or i + 1 == len(y):
            print(f"{i + 1:6d} rows {time.process_time() - begin:7.1f} s", flush=True)
    begin = time.process_time()
    whole = SVC(C=case.C, gamma=case.gamma).fit(X, y)
    print(f"one fit      {time.process_time() - begin:7.1f} s")
    ours, theirs = model.dual_objective_, whole.dual_objective_
    print(f"violation {model.kkt_violation_:.1e}, objective {abs(ours / theirs - 1.0):.1e} off")


if __name__ == "__main__":
    main()
