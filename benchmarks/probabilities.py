"""Probabilities: log loss and time beside scikit-learn's CalibratedClassifierCV.

Twelve embedded sets, five outer folds, standardised features, default parameters; scikit-learn with
ensemble=False and five inner folds. The bar: a log loss at most 1 % above scikit-learn's on at
least 8 sets, and less processor time in total for fit, calibration and probabilities.

    python benchmarks/probabilities.py [--method NAME] [--only NAME ...]

One thread. Of banana 2000 rows are taken, and of yeast the classes with at least ten examples:
scikit-learn asks for five of each in every training set.
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"  # before NumPy is loaded

import argparse  # noqa: E402
import json  # noqa: E402
import time  # noqa: E402
from pathlib import Path  # noqa: E402

import numpy as np  # noqa: E402
from sklearn.calibration import CalibratedClassifierCV  # noqa: E402
from sklearn.metrics import log_loss  # noqa: E402
from sklearn.model_selection import StratifiedKFold  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.svm import SVC as ReferenceSVC  # noqa: E402

import supple  # noqa: E402
from supple.datasets import load  # noqa: E402
from supple.diagnostics import LeaveOneOutCalibrator  # noqa: E402

RESULTS = Path(__file__).resolve().parent / "results" / "probabilities.json"
SETS = ("australian", "banana", "bupa", "credit", "german_numeric", "heart", "ionosphere", "pima",
        "promoters", "sonar", "wbc", "yeast")  # fmt: skip
MOST = 2000  # rows
FEWEST = 10  # examples of a class
ENOUGH, MARGIN = 8, 1.01


def judge(model, X, y, folds) -> tuple[float, float]:
    """Return the mean log loss of the test folds, and the processor time."""
    losses, seconds = [], 0.0
    for train, test in folds:
        scaler = StandardScaler().fit(X[train])
        known, asked = scaler.transform(X[train]), scaler.transform(X[test])
        start = time.process_time()
        probability = model.fit(known, y[train]).predict_proba(asked)
        seconds += time.process_time() - start
        losses.append(log_loss(y[test], probability, labels=model.classes_))
    return float(np.mean(losses)), seconds


def compare(name: str, method: str) -> dict:
    data = load(name)
    X, y = np.asarray(data.X), data.y
    rows = np.random.default_rng(0).permutation(len(y))[:MOST]
    labels, count = np.unique(y[rows], return_counts=True)
    rows = rows[np.isin(y[rows], labels[count >= FEWEST])]
    X, y = X[rows], y[rows]
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    ours, seconds = judge(LeaveOneOutCalibrator(supple.SVC(), method), X, y, folds)
    reference = CalibratedClassifierCV(ReferenceSVC(), method=method, cv=5, ensemble=False)
    theirs, reference_seconds = judge(reference, X, y, folds)
    row = {"set": name, "n": len(y), "classes": len(np.unique(y)), "log_loss": ours,
           "reference": theirs, "seconds": seconds, "reference_seconds": reference_seconds,
           "met": ours <= MARGIN * theirs}  # fmt: skip
    print(
        f"{name:16s} n {len(y):5d} classes {row['classes']:2d} log loss {ours:.4f} scikit-learn "
        f"{theirs:.4f} ({100 * (ours / theirs - 1):+.1f} %) seconds {seconds:.2f} "
        f"{reference_seconds:.2f} {'' if row['met'] else 'WORSE'}",
        flush=True,
    )
    return row


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--method", default="sigmoid", choices=("sigmoid", "isotonic", "temperature")
    )
    parser.add_argument("--only", nargs="*", choices=SETS)
    options = parser.parse_args()
    rows = [compare(name, options.method) for name in options.only or SETS]
    met = sum(row["met"] for row in rows)
    ours = sum(row["seconds"] for row in rows)
    theirs = sum(row["reference_seconds"] for row in rows)
    print(f"no worse on {met} of {len(rows)}; {ours:.2f} s in total, scikit-learn {theirs:.2f} s")
    if options.only:
        return 0
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps({"method": options.method, "rows": rows}, indent=1) + "\n")
    return int(met < ENOUGH or ours >= theirs)


if __name__ == "__main__":
    raise SystemExit(main())
