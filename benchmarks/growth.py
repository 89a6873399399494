"""Time of `fit` against the number of rows, for supple and scikit-learn in turns.

Data: make_classification with 20 features, 10 of them informative, seed 0; C = 1,
gamma = "scale". The exponent is the slope of log time over log n for the last four sizes.

    python benchmarks/growth.py [--max-size 50000] [--rounds 3] [--threads 1]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from batch import common_options, judge, machine, start, take_turns
from batch_cases import load
from batch_report import failures, growth_text

SIZES = [1000, 2000, 5000, 10000, 20000, 50000]
LAST = 4  # sizes of which the exponent is taken
SYSTEMS = ["supple", "scikit-learn"]


def exponent(rows: list[dict], name: str) -> float:
    """Return the least-squares slope in the log-log plot."""
    points = [(r["n"], r[name]) for r in rows if name in r][-LAST:]
    if len(points) < 2:
        return float("nan")
    n, seconds = np.log(np.array(points)).T
    return float(np.polyfit(n, seconds, 1)[0])


def draw(result: dict, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    for name, slope in result["exponents"].items():
        points = [(r["n"], r[name]) for r in result["rows"] if name in r]
        axes.loglog(*zip(*points, strict=True), marker="o", label=f"{name}: n^{slope:.2f}")
    axes.set(xlabel="rows", ylabel="seconds of fit", title="make_classification, d = 20, C = 1")
    axes.grid(which="both", alpha=0.3)
    axes.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


def main() -> int:
    parser = common_options(__doc__.splitlines()[0], "growth.json")
    parser.add_argument("--max-size", type=int, default=SIZES[-1])
    parser.add_argument("--picture", type=Path, default=Path("docs/images/growth.png"))
    options = parser.parse_args()
    workers, about = start(SYSTEMS, options.threads)
    result: dict = {"machine": machine(options.threads, about), "rows": []}
    checked = []
    for n in (size for size in SIZES if size <= options.max_size):
        case = load(f"{n}x20 C=1")
        systems = take_turns(workers, case, options)
        judge(case, systems)
        checked.append({**case.facts(), "systems": systems})
        times = {name: r["fit_s"] for name, r in systems.items() if "fit_s" in r}
        result["rows"].append({"n": n, **times})
        print(n, times, flush=True)
    result["exponents"] = {name: exponent(result["rows"], name) for name in workers}
    result["checks"] = checked
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(result, indent=1, default=float), encoding="utf-8")
    draw(result, options.picture)
    print(growth_text(result) + f"\n\nwritten: {options.json}, {options.picture}")
    failed = failures(checked)
    if failed:
        print(f"FAILED CHECKS: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
