"""BudgetSVC on USPS beside table 1 of Tax & Laskov (2003): ten machines with M examples each.

Every digit against the rest has a machine and a memory of its own, rbf kernel, C = 100; a test
image belongs to the machine with the largest output. The training images come once, in the order
of the file. The paper leaves open how sigma^2 = 0.3 * 256 enters the kernel and how the images were
prepared. So the unlimited machines (SVC, the same optimum) are fitted for six readings: images as
they are, in [0, 1], or smoothed by a Gaussian of width 0.75, and exp(-d^2 / sigma^2) ("s") or
exp(-d^2 / (2 sigma^2)) ("2s"); the budgets for those chosen.

    SUPPLE_DATA=folder python benchmarks/budget.py [--readings smooth-s raw-2s] [--budgets 50 100]

The folder must hold usps.npz with X_train, y_train, X_test, y_test; values in [-1, 1].
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

import numpy as np

import supple
from supple.experiments.protocols import prepare

PAPER = {50: 25.41, 100: 6.88, 150: 4.68, 200: 4.48, 250: 4.43, 300: 4.38, 500: 4.29, None: 4.25}
BUDGETS = [M for M in PAPER if M]
WIDTHS = {"s": 0.3 * 256, "2s": 2 * 0.3 * 256}
READINGS = [f"{data}-{width}" for data in ("raw", "unit", "smooth") for width in WIDTHS]
C = 100.0


class Reading:
    """The data and the kernel of one reading of the paper."""

    def __init__(self, name: str, file: dict) -> None:
        data, width = name.split("-")
        self.name = name
        self.gamma = 1.0 / WIDTHS[width]
        self.X, self.X_test = (
            prepare(file[part].astype(float), data) for part in ("X_train", "X_test")
        )
        self.y, self.y_test = file["y_train"], file["y_test"]

    def error(self, decisions: list[np.ndarray]) -> float:
        """Return the percentage of test images that the largest output gets wrong."""
        return float(100.0 * np.mean(np.argmax(decisions, axis=0) != self.y_test))

    def unlimited(self) -> dict:
        start = time.perf_counter()
        models = [supple.SVC(C=C, gamma=self.gamma).fit(self.X, self.y == k) for k in range(10)]
        seconds = time.perf_counter() - start
        return {
            "error": self.error([m.decision_function(self.X_test) for m in models]),
            "support": float(np.mean([len(m.support_) for m in models])),
            "seconds": seconds,
        }

    def limited(self, M: int) -> dict:
        decisions, support, kkt, evaluations = [], [], [], 0
        wall, cpu = time.perf_counter(), time.process_time()
        for k in range(10):
            model = supple.BudgetSVC(budget=M, rule="relevance", C=C, gamma=self.gamma)
            model.partial_fit(self.X, self.y == k)
            decisions.append(model.decision_function(self.X_test))
            support.append(len(model.support_))
            kkt.append(model.kkt_violation_)
            evaluations += model.n_kernel_evals_
        n = 10 * len(self.X)
        return {
            "error": self.error(decisions),
            "support": float(np.mean(support)),
            "kkt": float(max(kkt)),
            "kernel_values_per_example": evaluations / n,
            "ms_per_example": 1e3 * (time.perf_counter() - wall) / n,
            "cpu_ms_per_example": 1e3 * (time.process_time() - cpu) / n,
        }


def table(result: dict) -> str:
    """Return the readings without a budget, then the budgets."""
    lines = ["test error (%), C = 100; paper: 4.25 with 274 support vectors per machine", ""]
    lines += [f"{'data':<8}{'kernel':<24}{'error':>7}{'support vectors':>17}"]
    for name, row in result["unlimited"].items():
        data, width = name.split("-")
        kernel = f"exp(-d^2 / ({'2 ' if width == '2s' else ''}0.3 256))"
        lines.append(f"{data:<8}{kernel:<24}{row['error']:>7.2f}{row['support']:>17.1f}")
    lines += ["", f"{'M':<12}" + "".join(f"{M:>8}" for M in BUDGETS) + f"{'inf':>8}"]
    lines.append(f"{'paper':<12}" + "".join(f"{error:>8.2f}" for error in PAPER.values()))
    for name, rows in result["limited"].items():
        errors = [rows[str(M)]["error"] - PAPER[M] for M in BUDGETS if str(M) in rows]
        errors.append(result["unlimited"][name]["error"] - PAPER[None])
        cells = [
            f"{rows[str(M)]['error']:>8.2f}" if str(M) in rows else f"{'-':>8}" for M in BUDGETS
        ]
        lines.append(f"{name:<12}" + "".join(cells) + f"{result['unlimited'][name]['error']:>8.2f}")
        lines[-1] += f"   mean difference {np.mean(np.abs(errors)):.2f}"
    for name, rows in result["limited"].items():
        slowest = max(row["cpu_ms_per_example"] for row in rows.values())
        worst = max(row["kkt"] for row in rows.values())
        lines.append(f"{name}: at most {slowest:.2f} ms CPU per example, KKT {worst:.0e}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--readings", nargs="*", choices=READINGS, default=["smooth-s"])
    parser.add_argument("--budgets", nargs="*", type=int, default=BUDGETS)
    parser.add_argument("--json", type=Path, default=Path("benchmarks/results/budget.json"))
    options = parser.parse_args()
    path = Path(os.environ.get("SUPPLE_DATA", ".")) / "usps.npz"
    if not path.is_file():
        print("skipped: no usps.npz in the folder that SUPPLE_DATA names")
        return 0
    with np.load(path) as arrays:
        file = dict(arrays)
    result: dict = {"unlimited": {}, "limited": {}}
    for name in READINGS:
        result["unlimited"][name] = row = Reading(name, file).unlimited()
        print(name, "unlimited", row, flush=True)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    for name in options.readings:
        reading = Reading(name, file)
        rows = result["limited"][name] = {}
        for M in options.budgets:
            rows[str(M)] = reading.limited(M)
            print(name, M, rows[str(M)], flush=True)
            options.json.write_text(json.dumps(result, indent=1), encoding="utf-8")
    print("\n" + table(result) + f"\n\nwritten: {options.json}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
