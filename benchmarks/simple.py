"""SimpleSVC on every embedded two-class data set: the same optimum as SVC, and how many rounds.

For each set, prepared and scaled, and C = 1 and 100: violation of the optimality conditions,
relative difference of the dual objective, rounds, support vectors and the ratio of the times.

    python benchmarks/simple.py [--only NAME ...]
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"  # before NumPy is loaded

import argparse  # noqa: E402
import json  # noqa: E402
import time  # noqa: E402
from pathlib import Path  # noqa: E402

import supple  # noqa: E402
from supple.datasets import load, names  # noqa: E402

RESULTS = Path(__file__).resolve().parent / "results" / "simple.json"


def timed(model, X, y):
    start = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - start


def measure(name: str, C: float) -> dict:
    data = load(name)
    simple, exact = supple.SimpleSVC(C=C), supple.SVC(C=C)
    seconds = timed(simple, data.X, data.y)
    seconds_exact = timed(exact, data.X, data.y)
    value, best = simple.dual_objective_, exact.dual_objective_
    row = {"set": name, "n": len(data.y), "C": C, "rounds": int(simple.n_iter_[0]),
           "support": len(simple.support_), "kkt": simple.kkt_violation_,
           "difference": abs(value - best) / best,
           "slower": seconds / seconds_exact}  # fmt: skip
    row["met"] = bool(row["kkt"] <= 1e-6 and row["difference"] <= 1e-9)
    return row


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*")
    options = parser.parse_args()
    rows = []
    for name in options.only or names("embedded"):
        if len(load(name).target_names) != 2:
            print(f"{name:16s} has {len(load(name).target_names)} classes, left out")
            continue
        for C in (1.0, 100.0):
            row = measure(name, C)
            rows.append(row)
            print(
                f"{name:16s} n {row['n']:6d} C {C:4g} rounds {row['rounds']:6d} support "
                f"{row['support']:5d} KKT {row['kkt']:.1e} objective {row['difference']:.1e} "
                f"{row['slower']:6.1f}x the time of SVC {'' if row['met'] else 'NOT MET'}",
                flush=True,
            )
    if not options.only:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(rows, indent=1) + "\n")
    return int(not all(row["met"] for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
