"""SV- and SV-L-incremental learning on two batches: the experiments of Rüping (2001), section 4.1.

Each batch has 50 positive and 50 negative examples from normal distributions with variance 1. The
first has its centres at (1, 1) and (-1, -1); without a change of concept the second as well, with
a change at (1, -1) and (-1, 1). The 100 test examples come half from either batch's distribution.
Linear kernel. The accuracy is the mean over repetitions, with its standard error.

    python benchmarks/sv_incremental.py [--repetitions 200] [--factor 1]

The last column is the mean of the differences SV-L - SV, repetition by repetition. The script ends
with an error if SV-L is not better at every C when the concept changes.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np

import supple
from supple.experiments.protocols import FIRST, SECOND, draw

COSTS = [10.0**k for k in range(-2, 4)]


def repetition(seed: int, change: bool, factor: float) -> np.ndarray:
    """Return the accuracies of the three ways to learn, one row for each C."""
    rng = np.random.default_rng(seed)
    second = SECOND if change else FIRST
    batches = [draw(rng, FIRST, 100), draw(rng, second, 100)]
    test = [
        np.concatenate(p) for p in zip(draw(rng, FIRST, 50), draw(rng, second, 50), strict=True)
    ]
    out = []
    for C in COSTS:
        kind = {"C": C, "kernel": "linear"}
        models = (
            supple.SVC(**kind),
            supple.SVIncrementalSVC(**kind),
            supple.SVIncrementalSVC(sv_weight="ruping", factor=factor, **kind),
        )
        out.append([score(model, batches, test) for model in models])
    return np.array(out)


def score(model, batches, test) -> float:
    for X, y in batches:
        model.partial_fit(X, y)
    return model.score(*test)


def summary(values: np.ndarray) -> list[dict]:
    """Return mean and standard error of each way and of the difference, for each C."""
    gain = values[:, :, 2] - values[:, :, 1]
    values = np.concatenate([values, gain[:, :, None]], axis=2)
    mean = values.mean(axis=0)
    error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    names = ("non-incremental", "SV", "SV-L", "gain")
    return [
        {"C": C, **{name: [m, e] for name, m, e in zip(names, means, errors, strict=True)}}
        for C, means, errors in zip(COSTS, mean.tolist(), error.tolist(), strict=True)
    ]


def table(rows: list[dict]) -> str:
    names = ("non-incremental", "SV", "SV-L", "gain")
    lines = [f"{'C':>8}" + "".join(f"{name:>20}" for name in names)]
    for row in rows:
        cells = (f"{row[name][0]:>11.4f} ± {row[name][1]:.4f}" for name in names)
        lines.append(f"{row['C']:>8g}" + "".join(cells))
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument("--factor", type=float, default=1.0)
    parser.add_argument("--json", type=Path, default=Path("benchmarks/results/sv_incremental.json"))
    options = parser.parse_args()
    result: dict = {"repetitions": options.repetitions, "factor": options.factor}
    for change, title in ((True, "concept change"), (False, "no concept change")):
        seeds = range(options.repetitions)
        values = np.array([repetition(seed, change, options.factor) for seed in seeds])
        result[title] = summary(values)
        print(f"{title}, {options.repetitions} repetitions\n{table(result[title])}\n", flush=True)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(result, indent=1), encoding="utf-8")
    print(f"written: {options.json}")
    worse = [row["C"] for row in result["concept change"] if row["gain"][0] <= 0.0]
    if worse:
        print(f"SV-L is not better than SV at C = {worse}")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
