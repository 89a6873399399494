"""Full conformal prediction beside refits, and how often its sets contain the truth.

p-values: for a sample of queries and all candidate labels, those of `ConformalClassifier` are those
of our own fits from nothing with the candidate added; and its sets at 80, 90 and 95 % are those of
scikit-learn's SVC fitted at a tolerance of 1e-8.

Time: the p-values of 200 queries beside 200 refits of scikit-learn for every label at its default
tolerance, with the scores of all examples read from each (their decision values); also without
these, for scores that need none. A sample is refitted and its time scaled up. The bar is 50 times.

Peer: the same queries beside ConformalSupportVectorMachine of online-cp with its own score, the
margin, in turns of 40 queries; a missing package is reported. Its solver is compiled only if numba
is installed; without numba it gets two queries.

Coverage: share of the sets that contain the true label, over 20 random divisions of the data.

    python benchmarks/conformal.py [--sample N] [--only NAME ...]

One thread, processor time.
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"  # before NumPy is loaded

import argparse  # noqa: E402
import json  # noqa: E402
import time  # noqa: E402
from importlib.util import find_spec  # noqa: E402
from itertools import combinations  # noqa: E402
from pathlib import Path  # noqa: E402

import numpy as np  # noqa: E402
from sklearn.svm import SVC as ReferenceSVC  # noqa: E402

import supple  # noqa: E402
from supple.datasets import load  # noqa: E402
from supple.diagnostics import ConformalClassifier  # noqa: E402

RESULTS = Path(__file__).resolve().parent / "results" / "conformal.json"
N_TRAIN, N_TEST, REPETITIONS = 1000, 200, 20
LEVELS = (0.8, 0.9, 0.95)
BAR = 50.0
CASES = [("banana", 1.0, 1.0), ("banana", 10.0, 1.0), ("yeast", 1.0, 1.0), ("yeast", 10.0, 1.0)]
TIE = 1e-9  # of our fits
ROUGH = 1e-5  # of scikit-learn's
TURN, SLOW_TURN = 40, 2  # queries in a turn beside online-cp, and without numba in all


def data_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return points and labels, of several classes the three largest, features standardised."""
    data = load(name)
    labels, counts = np.unique(data.y, return_counts=True)
    keep = np.isin(data.y, labels[np.argsort(-counts)[:3]])
    X = np.asarray(data.X[keep], dtype=float)
    spread = X.std(axis=0)
    X = (X - X.mean(axis=0))[:, spread > 0] / spread[spread > 0]
    return X, data.y[keep]


def divided(X: np.ndarray, y: np.ndarray, seed: int) -> tuple[np.ndarray, ...]:
    order = np.random.default_rng(seed).permutation(len(y))
    n_train = min(N_TRAIN, len(y) - N_TEST)
    train, test = order[:n_train], order[n_train : n_train + N_TEST]
    return X[train], y[train], X[test], y[test]


def scores(model, X: np.ndarray, y: np.ndarray, C: float) -> np.ndarray:
    """Return the scores of all examples from the attributes that scikit-learn gives."""
    k = len(model.classes_)
    decision = model.decision_function(X).reshape(len(y), -1)
    coef = np.zeros((k - 1, len(y)))
    coef[:, model.support_] = np.abs(model.dual_coef_)
    own = np.searchsorted(model.classes_, y)
    out = np.full(len(y), -np.inf)
    for column, (i, j) in enumerate(combinations(range(k), 2)):
        for one, other, sign in ((i, j, 1.0), (j, i, -1.0)):
            member = np.flatnonzero(own == one)
            alpha = coef[other - 1 if other > one else other, member]
            slack = 1.0 - sign * (-1.0 if k == 2 else 1.0) * decision[member, column]
            slack[(alpha > 1e-9 * C) & (alpha < C * (1.0 - 1e-9))] = 0.0
            # Equal examples: how they divide their coefficients is not determined.
            _, group = np.unique(X[member], axis=0, return_inverse=True)
            share = np.bincount(group, alpha)[group] / np.bincount(group)[group] / C
            out[member] = np.maximum(out[member], share + slack)
    return out


def from_nothing(kind, X, y, query, label, C, gamma, tie, **params) -> float:
    """Return the p-value of a label by a fit with the candidate added."""
    X, y = np.vstack([X, query]), np.append(y, label)
    shape = {"decision_function_shape": "ovo"}
    s = scores(kind(C=C, gamma=gamma, **shape, **params).fit(X, y), X, y, C)
    return float(np.mean(s >= s[-1] - tie * max(1.0, abs(s[-1]))))


def timed_refit(X, y, query, label, C, gamma) -> tuple[float, float]:
    """Return the processor time of a refit, and of reading the decision values as well."""
    X, y = np.vstack([X, query]), np.append(y, label)
    start = time.process_time()
    model = ReferenceSVC(C=C, gamma=gamma, decision_function_shape="ovo").fit(X, y)
    between = time.process_time()
    model.decision_function(X)
    return between - start, time.process_time() - start


def beside_refits(name: str, C: float, gamma: float, sample: int) -> dict:
    X, y = data_of(name)
    gamma /= X.shape[1]
    X, y, queries, _ = divided(X, y, 0)
    conformal = ConformalClassifier(supple.SVC(C=C, gamma=gamma)).fit(X, y)
    times = []
    for _ in range(5):
        start = time.process_time()
        p = conformal.p_values(queries)
        times.append(time.process_time() - start)
    classes = conformal.classes_
    chosen = [(q, c) for q in range(sample) for c in range(len(classes))]
    mine, theirs, refits = [], [], []
    for q, c in chosen:
        case = X, y, queries[q : q + 1], classes[c], C, gamma
        mine.append(from_nothing(supple.SVC, *case, TIE))
        theirs.append(from_nothing(ReferenceSVC, *case, ROUGH, tol=1e-8))
        refits.append(timed_refit(*case))
    ours = np.array([p[q, c] for q, c in chosen])
    scale = p.size / len(chosen)
    fits, scored = scale * np.sum(refits, axis=0)
    seconds = float(np.median(times))
    in_sets = [[(values > 1.0 - level) for level in LEVELS] for values in (ours, np.array(theirs))]
    row = {
        "set": name, "n": len(y), "classes": len(classes), "C": C, "candidates": len(chosen),
        "different": int(np.sum(~np.isclose(ours, mine, rtol=1e-12))),
        "sets_different": int(np.sum(np.array(in_sets[0]) != np.array(in_sets[1]))),
        "seconds": seconds, "seconds_refits": float(fits), "seconds_scored": float(scored),
        "ratio": float(scored / seconds), "ratio_fits_only": float(fits / seconds),
    }  # fmt: skip
    row["met"] = bool(not row["different"] and not row["sets_different"] and row["ratio"] >= BAR)
    print(
        f"{name:8s} n {row['n']} C {C:4g}: {len(chosen)} candidates, {row['different']} p-values "
        f"and {row['sets_different']} memberships differ; {seconds:.3f} s, refits with scores "
        f"{scored:.1f} s: {row['ratio']:.0f} times, without {row['ratio_fits_only']:.0f} times "
        f"{'' if row['met'] else 'NOT MET'}",
        flush=True,
    )
    return row


def beside_online_cp(name: str, C: float, gamma: float) -> dict | None:
    """Return how long online-cp and we take for the same queries, and how good their sets are."""
    try:
        from online_cp import ConformalSupportVectorMachine
    except ImportError:
        print(f"{name:8s} C {C:4g}: online-cp is not installed", flush=True)
        return None
    X, y = data_of(name)
    gamma /= X.shape[1]
    X, y, queries, true = divided(X, y, 0)
    classes, codes = np.unique(y, return_inverse=True)
    own = np.searchsorted(classes, true)
    compiled = find_spec("numba") is not None
    turn, n = (TURN, len(queries)) if compiled else (SLOW_TURN, SLOW_TURN)
    conformal = ConformalClassifier(supple.SVC(C=C, gamma=gamma)).fit(X, y)
    peer = ConformalSupportVectorMachine(
        kernel="rbf", sigma=(2.0 * gamma) ** -0.5, C=C, label_space=np.arange(len(classes)),
        rnd_state=0,
    )  # fmt: skip
    peer.learn_initial_training_set(X, codes)
    peer.predict(queries[0])  # compiles

    def theirs(points: np.ndarray) -> np.ndarray:
        found = [peer.predict(x, return_p_values=True)[1] for x in points]
        return np.array([[p[label] for label in range(len(classes))] for p in found])

    asked = {"supple": conformal.p_values, "online_cp": theirs}
    seconds, parts = dict.fromkeys(asked, 0.0), {who: [] for who in asked}
    for start in range(0, n, turn):
        for who, ask in asked.items():
            begin = time.process_time()
            parts[who].append(ask(queries[start : start + turn]))
            seconds[who] += time.process_time() - begin
    row = {"set": name, "n": len(y), "C": C, "queries": n, "compiled": compiled,
           "ratio": seconds["online_cp"] / seconds["supple"]}  # fmt: skip
    text = []
    for who, taken in seconds.items():
        sets = np.vstack(parts[who]) > 0.1
        hit, size = float(sets[np.arange(n), own[:n]].mean()), float(sets.sum(axis=1).mean())
        row[who] = {"seconds": taken, "coverage": hit, "size": size}
        text.append(f"{who} {taken:.3f} s, at 90 % coverage {hit:.3f} with {size:.2f} labels")
    print(
        f"{name:8s} C {C:4g}: {n} queries, {'; '.join(text)}; {row['ratio']:.0f} times"
        f"{'' if compiled else ' (without numba)'}",
        flush=True,
    )
    return row


def coverage(name: str, C: float, gamma: float) -> dict:
    X, y = data_of(name)
    gamma /= X.shape[1]
    hits, sizes = [], []
    for seed in range(REPETITIONS):
        X1, y1, X2, y2 = divided(X, y, seed)
        conformal = ConformalClassifier(supple.SVC(C=C, gamma=gamma)).fit(X1, y1)
        p = conformal.p_values(X2)
        true = p[np.arange(len(y2)), np.searchsorted(conformal.classes_, y2)]
        hits.append([np.mean(true > 1.0 - level) for level in LEVELS])
        sizes.append([np.mean((p > 1.0 - level).sum(axis=1)) for level in LEVELS])
    mean, error = np.mean(hits, axis=0), np.std(hits, axis=0, ddof=1) / np.sqrt(REPETITIONS)
    within = bool((mean >= np.array(LEVELS) - 3.0 * error).all())
    row = {"set": name, "C": C, "levels": LEVELS, "coverage": mean.tolist(),
           "standard_error": error.tolist(), "size": np.mean(sizes, axis=0).tolist(),
           "within": within}  # fmt: skip
    found = ", ".join(
        f"{level:.0%}: {m:.4f} (se {e:.4f}, {s:.2f} labels)"
        for level, m, e, s in zip(LEVELS, mean, error, row["size"], strict=True)
    )
    print(f"{name:8s} C {C:4g} coverage {found} {'' if within else 'NOT MET'}", flush=True)
    return row


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=int, default=20, help="queries refitted per case")
    parser.add_argument("--only", nargs="*")
    options = parser.parse_args()
    cases = [case for case in CASES if options.only is None or case[0] in options.only]
    timed = [beside_refits(*case, options.sample) for case in cases]
    peers = [beside_online_cp(*case) for case in cases]
    covered = [coverage(*case) for case in cases]
    if options.only is None:
        RESULTS.parent.mkdir(exist_ok=True)
        results = {"refits": timed, "online_cp": peers, "coverage": covered}
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    return int(not all(row["met"] for row in timed) or not all(r["within"] for r in covered))


if __name__ == "__main__":
    raise SystemExit(main())
