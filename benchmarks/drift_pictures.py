"""The pictures of docs/streams.md, of what benchmarks/drift.py has measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from supple.diagnostics import CourseDisplay, WindowDisplay, WindowSearchDisplay

CHANGES = {"A": [11], "B": [9, 13], "C": [10, 12]}  # batches with which the concept changes
BATCHES = np.arange(2, 21)


def draw(found: dict[str, dict[str, list[Any]]], estimates: list[Any], folder: str) -> None:
    """Draw figures 1 to 3 of the paper, and bound, leave-one-out and realised error."""
    target = Path(folder)
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), sharey=True, layout="constrained")
    for ax, (scenario, runs) in zip(axes, found.items(), strict=True):
        curves = {
            name: np.mean([run.error for run in courses], 0) for name, courses in runs.items()
        }
        marks = [change - 0.5 for change in CHANGES[scenario]]
        CourseDisplay(curves, x=BATCHES, change_points=marks).plot(ax)
        ax.set(title=f"scenario {scenario}", xticks=range(2, 21, 3))
        if scenario != "A":
            ax.get_legend().remove()
            ax.set(ylabel="")
    figure.savefig(target / "drift-errors.png", dpi=70)

    figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), sharey=True, layout="constrained")
    for ax, (scenario, runs) in zip(axes, found.items(), strict=True):
        starts = np.mean([run.start for run in runs["adaptive size"]], axis=0) + 1
        WindowDisplay(starts, change_points=CHANGES[scenario]).plot(ax)
        ax.set(title=f"scenario {scenario}", ylabel="after batch" if scenario == "A" else "")
    figure.savefig(target / "drift-windows.png", dpi=70)

    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.2), layout="constrained")
    runs = [run.estimates for run in found["A"]["adaptive size"]]
    means = [np.mean([run[batch] for run in runs], axis=0) for batch in range(len(runs[0]))]
    WindowSearchDisplay(means).plot(left)
    left.set(title="estimates in scenario A, means")
    names = ("bound (xi-alpha)", "exact leave-one-out", "error on the next batch")
    curves = dict(zip(names, np.array(estimates).T, strict=True))
    CourseDisplay(curves, change_points=[10.5]).plot(right)
    right.set(title="the window chosen in scenario A, seed 0", xticks=range(1, 20, 3))
    figure.savefig(target / "drift-search.png", dpi=70)
