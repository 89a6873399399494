"""RVC against other relevance vector machines: time of a fit, accuracy, relevance vectors.

Data: scikit-learn's digits, odd against even, X / 16, rbf kernel with gamma = 0.05, trained on the
first 1000 and tested on the remaining 797. Peers, as far as they are installed: fastrvm, dlib (the
package dlib or dlib-bin) and sklearn-rvm. One thread. Every fit runs in a process of its own, the
machines take turns, and the best time of each counts. A peer that takes longer than the limit is
listed as such.

    python benchmarks/rvm.py [--rounds 3] [--limit 300]

With --evidence instead: the log evidence that RVC reaches beside that of the classical algorithm
(all functions from the start, MacKay's updates, tests/evidence.py) from precisions 1 and 1 / n^2,
on eight embedded sets with three values of gamma, on banana with 7 % positives, and on the first
800 rows of ijcnn1 if the folder named by SUPPLE_DATA has ijcnn1.npz.

    python benchmarks/rvm.py --evidence
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


SETS = ("australian", "banana", "german_numeric", "heart", "ionosphere", "pima", "sonar", "wbc")
WIDTHS = (0.3, 1.0, 3.0)  # gamma, times the number of features
NATS = 1.0  # that supple may fall short of the classical algorithm


def evidence_cases():
    """Yield name, points, classes 0 and 1, and values of gamma."""
    from supple.datasets import load, names

    rng = np.random.default_rng
    for name in SETS:
        found = load(name)
        at = rng(0).permutation(len(found.y))[:400]
        X = found.X[at]
        yield name, X, found.y[at] == found.target_names[-1], [w / X.shape[1] for w in WIDTHS]
    found = load("banana")
    positive = found.y == found.target_names[-1]
    at = rng(0).permutation(len(positive))
    at = np.sort(np.concatenate([at[positive[at]][:35], at[~positive[at]][:465]]))
    yield "banana 7 %", found.X[at], positive[at], [0.15, 0.5, 2.0]
    if "ijcnn1" in names("folder"):
        found = load("ijcnn1")
        yield "ijcnn1", found.X[:800], found.y[:800] > 0, [1.0, 2.0, 4.0]


def compare_evidence() -> None:
    """Print the evidence of supple and of the classical algorithm."""
    from sklearn.metrics.pairwise import rbf_kernel

    from supple import RVC

    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from evidence import classical, laplace

    print(f"{'set':15} {'gamma':>7} {'supple':>9} {'vectors':>8} {'s':>6} {'classical 1':>12} "
          f"{'1 / n^2':>9}")  # fmt: skip
    short = 0
    for name, X, y, gammas in evidence_cases():
        for gamma in gammas:
            start = time.perf_counter()
            model = RVC(gamma=gamma).fit(X, y)
            seconds = time.perf_counter() - start
            K, t, one = rbf_kernel(X, gamma=gamma), y.astype(float), np.ones(len(y))
            old = [laplace(K, classical(K, t, one, a), t, one) for a in (1.0, len(y) ** -2.0)]
            own = model.log_marginal_likelihood_[0]
            short += own < max(old) - NATS
            print(f"{name:15} {gamma:7.4f} {own:9.2f} {len(model.relevance_):8} {seconds:6.2f} "
                  f"{old[0]:12.2f} {old[1]:9.2f}{'  short' if own < max(old) - NATS else ''}",
                  flush=True)  # fmt: skip
    print(f"{short} more than {NATS:g} nat below the classical algorithm")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for one fit")
    parser.add_argument("--one", choices=list(MACHINES), help=argparse.SUPPRESS)
    parser.add_argument("--json", type=Path, default=Path("benchmarks/results/rvm.json"))
    parser.add_argument("--evidence", action="store_true", help="compare the evidence instead")
    options = parser.parse_args()
    if options.evidence:
        compare_evidence()
        return
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
