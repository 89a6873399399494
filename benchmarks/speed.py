"""Time of one update against a refit, in ratios measured in one run.

Peers: scikit-learn's SVC (refit on the same examples) and pyonlinesvr (exact online SVR, when it
is installed). One thread. Peer and supple take turns; the peer's best time counts, and supple's
mean over all updates of the stream, cheap and dear alike. Both must end at the same model.

    python benchmarks/speed.py [--rounds 8] [--seed 0] [--shift 0.3] [--flip 0.0]
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"  # before NumPy is loaded

import argparse  # noqa: E402
import json  # noqa: E402
import platform  # noqa: E402
import time  # noqa: E402
from pathlib import Path  # noqa: E402

import numpy as np  # noqa: E402
import sklearn  # noqa: E402
import sklearn.svm  # noqa: E402
from sklearn.datasets import load_digits, make_friedman1  # noqa: E402

import supple  # noqa: E402
from supple._core import instruction_set  # noqa: E402


def clock(action) -> float:
    """Return the seconds that `action` takes."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def gaussians(n: int, rng: np.random.Generator, shift: float, flip: float):
    """Two Gaussians, d = 20, means +-shift in every coordinate; a share of the labels flipped."""
    y = np.where(rng.random(n) < 0.5, 1, -1)
    X = rng.normal(size=(n, 20)) + shift * y[:, None]
    return X, np.where(rng.random(n) < flip, -y, y)


def row(case: str, peer: str, peer_s: float, own_s: float, bar: float, **extra) -> dict:
    return {"case": case, "peer": peer, "peer_ms": 1e3 * peer_s, "supple_ms": 1e3 * own_s,
            "ratio": peer_s / own_s, "bar": bar, **extra}  # fmt: skip


def agreement(ours, theirs, X) -> float:
    return float(np.abs(ours.decision_function(X) - theirs.decision_function(X)).max())


def updates(options: argparse.Namespace, n: int = 5000, per_round: int = 40) -> list[dict]:
    """Single adds and forgets, and batches of 200, at n = 5000 against an SVC refit."""
    rng = np.random.default_rng(options.seed)

    def draw(count):
        return gaussians(count, rng, options.shift, options.flip)

    X, y = draw(n)
    model = supple.SVC(C=1.0).fit(X, y)
    first = clock(lambda: model.partial_fit(*draw(1)))
    for _ in range(10):  # warm-up
        model.partial_fit(*draw(1))
    model.forget(np.sort(model.ids_)[-11:])
    peer, times = [], {"add": [], "forget": [], "batch": []}
    for _ in range(options.rounds):
        refit = sklearn.svm.SVC(C=1.0, gamma=model._gamma)
        peer.append(clock(lambda: refit.fit(X, y)))  # noqa: B023
        added = []
        for _ in range(per_round):
            x, t = draw(1)
            times["add"].append(clock(lambda: model.partial_fit(x, t)))  # noqa: B023
            added.append(int(model.ids_.max()))
        for i in added:
            times["forget"].append(clock(lambda: model.forget(i)))  # noqa: B023
        Xb, yb = draw(200)
        times["batch"].append(clock(lambda: model.partial_fit(Xb, yb)) / 200)  # noqa: B023
        model.forget(np.sort(model.ids_)[-200:])
    same = agreement(model, refit, X[:500])
    best = min(peer)
    note = {
        "support": len(model.support_),
        "max_difference": same,
        "first_add_ms": 1e3 * first,
    }
    return [
        row("partial_fit of 1 at n=5000", "SVC refit", best, np.mean(times["add"]), 100, **note),
        row("forget of 1 at n=5000", "SVC refit", best, np.mean(times["forget"]), 200, **note),
        row("partial_fit of 200 at n=5000, per example", "SVC refit", best,
            np.mean(times["batch"]), 1000, **note),
    ]  # fmt: skip


def digits(seed: int, n: int = 1347, every: int = 25) -> list[dict]:
    """Digits, odd against even, one by one; a refit for every 25th prefix stands for all."""
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(y))
    X, y = X[order] / 16.0, y[order] % 2
    start = int(np.argmax(y != y[0])) + 1
    model = supple.SVC(C=10.0, gamma=0.05).partial_fit(X[:start], y[:start])
    own, peer = [], []
    for i in range(start, n):
        own.append(clock(lambda: model.partial_fit(X[i : i + 1], y[i : i + 1])))  # noqa: B023
        if i % every == 0:
            refit = sklearn.svm.SVC(C=10.0, gamma=0.05)
            peer.append(clock(lambda: refit.fit(X[: i + 1], y[: i + 1])))  # noqa: B023
    refit.fit(X[:n], y[:n])
    note = {"max_difference": agreement(model, refit, X[n:])}
    return [row("digits odd/even one by one to n=1347", "SVC refit",
                float(np.mean(peer)), float(np.mean(own)), 15, **note)]  # fmt: skip


def regression(seed: int, n: int = 800, count: int = 60) -> list[dict]:
    """Friedman1 at n = 800 against pyonlinesvr, or against an SVR refit if it is missing."""
    X, y = make_friedman1(n + count, n_features=10, noise=1.0, random_state=seed)
    X, y = (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()
    params = {"C": 30.0, "epsilon": 0.1, "gamma": 0.1}  # pyonlinesvr's defaults
    model = supple.SVR(**params).fit(X[:n], y[:n])
    try:
        from pyonlinesvr import OnlineSVR
    except ImportError:
        refit = sklearn.svm.SVR(**params)
        best = min(clock(lambda: refit.fit(X[:n], y[:n])) for _ in range(5))
        # Published figures at this size: 37.6 ms an add, 125 ms a forget, 16 ms a refit.
        name, peer = "pyonlinesvr (published, in refits)", None
        adds, forgets = [37.6 / 16 * best], [125 / 16 * best]
    else:
        name, peer = "pyonlinesvr", OnlineSVR(**params).partial_fit(X[:n], y[:n])
        adds, forgets = [], []
    own_adds, own_forgets = [], []
    first = clock(lambda: model.partial_fit(X[:1], y[:1]))  # prepares single updates once
    model.forget(int(model.ids_.max()))
    for start in range(0, count, 20):  # in turns of 20 updates each
        turn = range(start, start + 20)
        for k in turn:  # in with the new, out with the oldest: n stays 800
            x, t = X[n + k : n + k + 1], y[n + k : n + k + 1]
            own_adds.append(clock(lambda: model.partial_fit(x, t)))  # noqa: B023
            own_forgets.append(clock(lambda: model.forget(k)))  # noqa: B023
        for k in turn if peer is not None else ():
            x, t = X[n + k : n + k + 1], y[n + k : n + k + 1]
            adds.append(clock(lambda: peer.partial_fit(x, t)))  # noqa: B023
            forgets.append(clock(lambda: peer.forget([0])))
    note = {"support": len(model.support_), "first_add_ms": 1e3 * first}
    if peer is not None:
        note["max_difference"] = float(np.abs(model.predict(X) - peer.predict(X)).max())
    return [
        row("SVR add at n=800 (Friedman1)", name, np.mean(adds), np.mean(own_adds), 50, **note),
        row("SVR forget at n=800 (Friedman1)", name, np.mean(forgets), np.mean(own_forgets), 100),
    ]


def machine() -> dict:
    return {"processor": platform.machine(), "instruction_set": instruction_set(), "threads": 1,
            "python": platform.python_version(), "scikit-learn": sklearn.__version__}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--shift", type=float, default=0.3, help="0.3: Bayes error 9 %%")
    parser.add_argument("--flip", type=float, default=0.0, help="share of flipped labels")
    parser.add_argument("--json", type=Path, default=Path("benchmarks/results/speed.json"))
    options = parser.parse_args()
    rows = updates(options) + digits(options.seed) + regression(options.seed)
    print(f"{'case':44} {'peer':34} {'peer ms':>9} {'supple ms':>10} {'ratio':>8} {'bar':>5}")
    for r in rows:
        met = "" if r["ratio"] >= r["bar"] else "  below the bar"
        print(f"{r['case']:44} {r['peer']:34} {r['peer_ms']:9.2f} {r['supple_ms']:10.4f} "
              f"{r['ratio']:7.0f}x {r['bar']:4.0f}x{met}")  # fmt: skip
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(
        json.dumps({"machine": machine(), "rows": rows}, indent=1, default=float)
    )
    print(f"written: {options.json}")


if __name__ == "__main__":
    main()
