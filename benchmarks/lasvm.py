"""LASVC on a9a beside scikit-learn's SVC, and what selection brings on USPS.

a9a: one pass, then `finish`, with C = 1, gamma = .05 and C = 100, gamma = .005; error on the test
rows, violation of the optimality conditions on all training rows, and time, one thread, peer and
supple in turns. USPS: 0 and 8 against the rest; the error on the test rows after processing a
share of the examples, mean over seeds, active beside random selection, drawn into
docs/images/lasvm-selection.png. Serving: letter (26 classes) and ijcnn1, 8,000 rows each, C = 10,
one pass and `fit` beside scikit-learn's SVC; and 2,000 further rows as one call of partial_fit and
as 2,000 calls. Processor time, the best of the rounds. All sets are read from the folder named by
SUPPLE_DATA.

    python benchmarks/lasvm.py [--rounds 1] [--seeds 5] [--only a9a|usps|serving]
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"  # before NumPy is loaded

import argparse  # noqa: E402
import json  # noqa: E402
import platform  # noqa: E402
import time  # noqa: E402
from functools import partial  # noqa: E402
from pathlib import Path  # noqa: E402

import numpy as np  # noqa: E402
import sklearn  # noqa: E402
import sklearn.svm  # noqa: E402
from batch_cases import binary_rows  # noqa: E402
from serving import load  # noqa: E402
from sklearn.base import clone  # noqa: E402

import supple  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "lasvm.json"
PICTURE = ROOT / "docs" / "images" / "lasvm-selection.png"
SHARES = (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.5, 1.0)
ROWS, SINGLE = 8000, 2000  # of the serving part: rows of a fit, rows that come one by one


def folder() -> Path:
    name = os.environ.get("SUPPLE_DATA")
    if not name:
        raise SystemExit("Set SUPPLE_DATA to the folder that holds a9a.npz and usps.npz.")
    return Path(name)


def timed(action) -> tuple[float, object]:
    start = time.perf_counter()
    result = action()
    return time.perf_counter() - start, result


def error(model, X, y) -> float:
    return float(100.0 * (1.0 - model.score(X, y)))


def gap(model, X, y, C: float) -> float:
    """Return the gap of the most violating pair over all training rows, not only those kept."""
    signed = np.where(y == model.classes_[1], 1.0, -1.0)
    x = np.zeros(len(y))
    x[model.support_ids_] = model.dual_coef_.toarray()[0]
    G = model.decision_function(X) - signed  # the constant does not matter
    up = np.where(signed > 0, x < C, x < 0.0)
    low = np.where(signed > 0, x > 0.0, x > -C)
    return float(G[low].max() - G[up].min())


def a9a(rounds: int) -> list[dict]:
    with np.load(folder() / "a9a.npz") as file:
        X, X_test = (binary_rows(file, part) for part in ("train", "test"))
        y, y_test = (file[f"y_{part}"].astype(np.int64) for part in ("train", "test"))
    out = []
    for C, gamma in ((1.0, 0.05), (100.0, 0.005)):
        best = {"pass": np.inf, "finish": np.inf, "scikit-learn": np.inf}
        for _ in range(rounds):
            peer = sklearn.svm.SVC(C=C, gamma=gamma)
            own = supple.LASVC(C=C, gamma=gamma, finishing=False, random_state=0)
            seconds, _ = timed(lambda own=own: own.fit(X, y))
            best["pass"] = min(best["pass"], seconds)
            one_pass = {"error": error(own, X_test, y_test), "gap": gap(own, X, y, C)}
            seconds, _ = timed(own.finish)
            best["finish"] = min(best["finish"], seconds)
            seconds, _ = timed(lambda peer=peer: peer.fit(X, y))
            best["scikit-learn"] = min(best["scikit-learn"], seconds)
        row = {
            "C": C,
            "gamma": gamma,
            "seconds": best,
            "ratio": best["scikit-learn"] / (best["pass"] + best["finish"]),
            "error": error(own, X_test, y_test),
            "error_peer": error(peer, X_test, y_test),
            "error_one_pass": one_pass["error"],
            "gap_one_pass": one_pass["gap"],
            "gap": gap(own, X, y, C),
            "support": len(own.support_),
            "support_peer": len(peer.support_),
        }
        row["met"] = row["ratio"] >= 2.0 and abs(row["error"] - row["error_peer"]) <= 0.15
        out.append(row)
        print(
            f"a9a C={C:g} gamma={gamma:g}: error {row['error']:.2f} % (scikit-learn "
            f"{row['error_peer']:.2f} %), {row['ratio']:.1f}x faster, support vectors "
            f"{row['support']} ({row['support_peer']}), gap over all rows {row['gap']:.3f}\n"
            f"    one pass alone: error {row['error_one_pass']:.2f} %, gap "
            f"{row['gap_one_pass']:.2f}, {best['scikit-learn'] / best['pass']:.1f}x faster"
            f"{'' if row['met'] else '    NOT MET'}",
            flush=True,
        )
    return out


def usps(seeds: int) -> list[dict]:
    with np.load(folder() / "usps.npz") as file:
        X, X_test = (file[f"X_{part}"].astype(np.float64) for part in ("train", "test"))
        labels, labels_test = (file[f"y_{part}"] for part in ("train", "test"))
    params = {"C": 100.0, "gamma": 0.01}
    out = []
    for digit in (0, 8):
        y, y_test = labels == digit, labels_test == digit
        full = error(supple.SVC(**params).fit(X, y), X_test, y_test)
        for selection in ("random", "active"):
            for share in SHARES:
                errors = []
                for seed in range(seeds):
                    model = supple.LASVC(
                        **params, selection=selection, share=share, random_state=seed
                    ).fit(X, y)
                    errors.append(error(model, X_test, y_test))
                out.append({"digit": digit, "selection": selection, "share": share, "full": full,
                            "error": float(np.mean(errors)),
                            "std": float(np.std(errors))})  # fmt: skip
            curve = [r for r in out if r["digit"] == digit and r["selection"] == selection]
            shown = "  ".join(f"{100 * r['share']:g} %: {r['error']:.2f}" for r in curve)
            print(f"USPS {digit} against the rest, {selection}: {shown}   all data {full:.2f}")
        quarter = [r for r in curve if r["share"] <= 0.25]
        met = min(r["error"] for r in quarter) <= full + 0.2 and quarter[-1]["error"] <= full + 0.2
        print(f"    active within 0.2 points after 25 %: {'yes' if met else 'NO'}", flush=True)
    return out


def processor_time(action) -> float:
    start = time.process_time()
    action()
    return time.process_time() - start


def one_by_one(model, X, y) -> None:
    for row in range(len(X)):
        model.partial_fit(X[row : row + 1], y[row : row + 1])


def serving_times(X, y) -> tuple[dict[str, float], dict]:
    """Return the processor time of each part, and the models."""
    peer = sklearn.svm.SVC(C=10.0)
    start = supple.LASVC(C=10.0, random_state=0)
    models = {"scikit-learn": peer, "pass": clone(start).set_params(finishing=False),
              "fit": clone(start)}  # fmt: skip
    seconds = {name: processor_time(partial(model.fit, X, y)) for name, model in models.items()}
    old, new = slice(SINGLE), slice(SINGLE, 2 * SINGLE)
    several, single = (clone(start).partial_fit(X[old], y[old]) for _ in range(2))
    seconds["batch"] = processor_time(partial(several.partial_fit, X[new], y[new]))
    seconds["single"] = processor_time(partial(one_by_one, single, X[new], y[new]))
    return seconds, models


def serving(rounds: int) -> list[dict]:
    out = []
    for name in ("letter", "ijcnn1"):
        case = load(name)
        if case is None:
            print(f"{name}: not in the folder named by SUPPLE_DATA")
            continue
        X, y = np.ascontiguousarray(case.X[:ROWS]), case.y[:ROWS]
        found = [serving_times(X, y) for _ in range(rounds)]
        best = {part: min(seconds[part] for seconds, _ in found) for part in found[0][0]}
        models = found[-1][1]
        peer, expected = best["scikit-learn"], models["scikit-learn"].predict(case.queries)
        row: dict = {"case": name, "seconds": best, "held": len(models["fit"].ids_)}
        for part in ("pass", "fit"):
            same = 100.0 * float((models[part].predict(case.queries) == expected).mean())
            row[part] = {"ratio": peer / best[part], "same_predictions": same}
            print(
                f"{name} {ROWS}, {part}: {best[part]:.2f} s, scikit-learn {peer:.2f} s, "
                f"{peer / best[part]:.2f}x; {same:.1f} % of the predictions are the same"
            )
        row["single_calls"] = best["single"] / best["batch"]
        each = {part: 1e6 * best[part] / SINGLE for part in ("batch", "single")}
        print(
            f"    {SINGLE} more rows: {each['batch']:.0f} us each in one call, "
            f"{each['single']:.0f} us in single ones, {row['single_calls']:.1f} times as long",
            flush=True,
        )
        out.append(row)
    return out


def draw(rows: list[dict]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(8.6, 3.2), layout="constrained")
    for axis, digit in zip(axes, (0, 8), strict=True):
        for selection, colour in (("random", "#2f6fab"), ("active", "#d1642a")):
            curve = [r for r in rows if r["digit"] == digit and r["selection"] == selection]
            axis.errorbar(
                [100 * r["share"] for r in curve],
                [r["error"] for r in curve],
                [r["std"] for r in curve],
                color=colour, marker="o", markersize=3, capsize=2, label=selection,
            )  # fmt: skip
        axis.axhline(curve[0]["full"], color="#22262b", linewidth=0.8, linestyle="--")
        axis.set(xscale="log", title=f"USPS, {digit} against the rest", ylim=(0, None))
        axis.set(xlabel="examples processed (%)", ylabel="test error (%)")
        axis.legend(frameon=False)
    figure.savefig(PICTURE, dpi=120)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", choices=("a9a", "usps", "serving"))
    options = parser.parse_args()
    results = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
    results["machine"] = f"{platform.machine()}, scikit-learn {sklearn.__version__}"
    if options.only in (None, "a9a"):
        results["a9a"] = a9a(options.rounds)
    if options.only in (None, "usps"):
        results["usps"] = usps(options.seeds)
        draw(results["usps"])
    if options.only in (None, "serving"):
        results["serving"] = serving(max(3, options.rounds))
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
