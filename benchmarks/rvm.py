"""RVC against other relevance vector machines: time of a fit, accuracy, relevance vectors.

Data: scikit-learn's digits, odd against even, X / 16, rbf kernel with gamma = 0.05, trained on the
first 1000 and tested on the remaining 797. Peers, as far as they are installed: fastrvm, dlib (the
package dlib or dlib-bin) and sklearn-rvm. One thread. Every fit runs in a process of its own, the
machines take turns, and the best time of each counts. A peer that takes longer than the limit is
listed as such.

    python benchmarks/rvm.py [--rounds 3] [--limit 300]
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"  # before NumPy is loaded

import argparse  # noqa: E402
import json  # noqa: E402
import platform  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from importlib.metadata import PackageNotFoundError, version  # noqa: E402
from pathlib import Path  # noqa: E402

import numpy as np  # noqa: E402
from sklearn.datasets import load_digits  # noqa: E402

GAMMA, N = 0.05, 1000
FASTER, POINTS, VECTORS = 3.0, 1.0, 1.5  # what supple has to reach
# By name: distributions that bring it, any of which will do.
PEERS = {"fastrvm": ["fastrvm"], "dlib": ["dlib", "dlib-bin"], "sklearn-rvm": ["sklearn-rvm"]}


def data():
    X, y = load_digits(return_X_y=True)
    X, y = np.ascontiguousarray(X / 16.0), y % 2
    return X[:N], y[:N], X[N:], y[N:]


def supple_rvc(X, y, query):
    from supple import RVC

    RVC(gamma=GAMMA).fit(X[:50], y[:50])  # loads what is loaded at the first use
    start = time.perf_counter()
    model = RVC(gamma=GAMMA).fit(X, y)
    return time.perf_counter() - start, model.predict(query), len(model.relevance_)


def fastrvm_rvc(X, y, query):
    from fastrvm import RVC

    RVC(gamma=GAMMA, fit_intercept=True).fit(X[:50], y[:50])
    start = time.perf_counter()
    model = RVC(gamma=GAMMA, fit_intercept=True).fit(X, y)
    return time.perf_counter() - start, model.predict(query), len(model.relevance_)


def dlib_rvc(X, y, query):
    import dlib

    trainer = dlib.rvm_trainer_radial_basis()
    trainer.gamma = GAMMA
    points, labels = dlib.vectors(), dlib.array((2.0 * y - 1.0).tolist())
    for row in X.tolist():
        points.append(dlib.vector(row))
    start = time.perf_counter()
    model = trainer.train(points, labels)
    seconds = time.perf_counter() - start
    answers = np.array([model(dlib.vector(row)) > 0 for row in query.tolist()]).astype(int)
    return seconds, answers, len(model.basis_vectors)


def sklearn_rvm_rvc(X, y, query):
    from sklearn_rvm import EMRVC

    start = time.perf_counter()
    model = EMRVC(kernel="rbf", gamma=GAMMA).fit(X, y)
    return time.perf_counter() - start, model.predict(query), len(model.relevance_vectors_)


MACHINES = {
    "supple": supple_rvc,
    "fastrvm": fastrvm_rvc,
    "dlib": dlib_rvc,
    "sklearn-rvm": sklearn_rvm_rvc,
}


def one(name: str) -> None:
    """Fit once and print what came of it."""
    X, y, query, answers = data()
    seconds, predicted, vectors = MACHINES[name](X, y, query)
    accuracy = 100.0 * float((predicted == answers).mean())
    print(json.dumps({"seconds": seconds, "accuracy": accuracy, "vectors": vectors}))


def installed(name: str) -> str:
    """Return the version of a peer, "" if it is not there."""
    for distribution in PEERS[name]:
        try:
            return f"{distribution} {version(distribution)}"
        except PackageNotFoundError:
            continue
    return ""


def run(name: str, limit: float) -> dict:
    """Fit in a process of its own."""
    try:
        done = subprocess.run(
            [sys.executable, __file__, "--one", name],
            capture_output=True, text=True, timeout=limit, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return {"failed": f"no result after {limit:.0f} s"}
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or ["no message"])[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for one fit")
    parser.add_argument("--one", choices=list(MACHINES), help=argparse.SUPPRESS)
    parser.add_argument("--json", type=Path, default=Path("benchmarks/results/rvm.json"))
    options = parser.parse_args()
    if options.one:
        one(options.one)
        return
    versions = {name: installed(name) for name in PEERS}
    results: dict[str, list[dict]] = {"supple": [], **{n: [] for n, v in versions.items() if v}}
    for _ in range(options.rounds):
        for name, rows in results.items():
            if not (rows and "failed" in rows[-1]):
                rows.append(run(name, options.limit))
    own = min(results["supple"], key=lambda r: r["seconds"])
    print(f"{'machine':24} {'best s':>9} {'accuracy':>9} {'vectors':>8}  against supple")
    print(f"{'supple RVC':24} {own['seconds']:9.3f} {own['accuracy']:8.2f}% {own['vectors']:8}")
    table = [{"machine": "supple", **own}]
    for name in (n for n in PEERS if n in results):
        failed = next((r for r in results[name] if "failed" in r), None)
        if failed:
            table.append({"machine": versions[name], **failed})
            print(f"{versions[name]:24} {failed['failed']}")
            continue
        peer = min(results[name], key=lambda r: r["seconds"])
        ratio = peer["seconds"] / own["seconds"]
        met = (
            ratio >= FASTER
            and own["accuracy"] >= peer["accuracy"] - POINTS
            and own["vectors"] <= VECTORS * peer["vectors"]
        )
        table.append({"machine": versions[name], **peer, "ratio": ratio, "met": met})
        remark = f"{ratio:.0f}x faster{'' if met else ', a bar is missed'}"
        print(
            f"{versions[name]:24} {peer['seconds']:9.3f} {peer['accuracy']:8.2f}% "
            f"{peer['vectors']:8}  {remark}"
        )
    for name in (n for n, v in versions.items() if not v):
        print(f"{name:24} not installed")
    record = {"python": platform.python_version(), "threads": 1, "rounds": options.rounds,
              "rows": table}  # fmt: skip
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(record, indent=1))
    print(f"written: {options.json}")


if __name__ == "__main__":
    main()
