"""Pictures of rows, as PNG and SVG."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from supple.experiments._declare import Item, Row
from supple.experiments._results import Result
from supple.experiments.protocols._questions import example, normal

__all__ = ["KINDS", "available", "draw"]

MISSING = "no pictures: matplotlib is not installed (pip install 'supple[plots]')"


def available() -> bool:
    """Return whether pictures can be drawn."""
    return find_spec("matplotlib") is not None


def draw(folder: Path, item: Item, result: Result) -> list[Path]:
    """Draw the figures of an item.

    Parameters
    ----------
    folder : Path
        Target folder.
    item : Item
        The item.
    result : Result
        Its result.
    """
    if not item.figures:
        return []
    import matplotlib
    from matplotlib.figure import Figure

    paths = []
    # Reproducible files: no date, and constant ids.
    with matplotlib.rc_context({"svg.hashsalt": "supple"}):
        for each in item.figures:
            figure = Figure(layout="constrained")
            KINDS[each.kind](figure, result, **each.options)
            for suffix, metadata in ((".png", {"Software": None}), (".svg", {"Date": None})):
                path = folder / f"{each.name}{suffix}"
                figure.savefig(path, dpi=80, metadata=metadata)
                paths.append(path)
    return paths


def _panels(figure: Any, names: list[str], size: tuple[float, float] = (4.2, 3.2)) -> list[Any]:
    wide = min(len(names), 4 if len(names) > 4 else 3)
    high = math.ceil(len(names) / wide)
    figure.set_size_inches(max(size[0] * wide, 6.0), size[1] * high)
    axes = figure.subplots(high, wide, squeeze=False).ravel().tolist()
    for ax in axes[len(names) :]:
        ax.set_visible(False)
    return axes[: len(names)]


def _of(rows: list[Row], measure: str, names: set[str]) -> list[Row]:
    return [row for row in rows if row.measure == measure and set(row.labels) == names]


def lines(
    figure: Any,
    result: Result,
    *,
    x: str,
    series: str,
    measure: str,
    panel: str | None = None,
    logarithmic: bool = False,
    log_y: bool = False,
    marks: Mapping[str, list[float]] | None = None,
    mark_measure: str | None = None,
) -> None:
    """Draw a measure against a label, one line for each series, one panel for each `panel`.

    Dotted lines are at `marks`, or where there are rows of `mark_measure`.
    """
    names = {x, series} | ({panel} if panel else set())
    rows = _of(result.rows, measure, names)
    groups = list(dict.fromkeys(row.labels[panel] for row in rows)) if panel else [""]
    axes = _panels(figure, groups, (4.2, 3.0) if panel else (6.0, 4.0))
    for ax, group in zip(axes, groups, strict=True):
        own = [row for row in rows if not panel or row.labels[panel] == group]
        for number, name in enumerate(dict.fromkeys(row.labels[series] for row in own)):
            line = [row for row in own if row.labels[series] == name]
            places = [float(row.labels[x]) for row in line]
            ax.plot(places, [row.ours for row in line], color=f"C{number}", label=name)
            known = [(p, row.paper) for p, row in zip(places, line, strict=True) if row.paper]
            if known:
                ax.plot(*zip(*known, strict=True), color=f"C{number}", linestyle="--", linewidth=1)
        marked = [r for r in result.rows if r.measure == mark_measure and r.labels[x]]
        changes = {float(r.labels[x]) for r in marked}
        for place in sorted({*(marks or {}).get(group, []), *changes}):
            ax.axvline(place, color="grey", linewidth=0.8, linestyle=":")
        ax.set(xlabel=x, ylabel=measure, title=group)
        if logarithmic:
            ax.set_xscale("log")
        if log_y:
            ax.set_yscale("log")
    axes[0].legend(fontsize=8)


def bars(figure: Any, result: Result, *, x: str, series: str, measure: str) -> None:
    """Draw bars side by side, the paper's values as marks."""
    rows = _of(result.rows, measure, {x, series})
    groups = list(dict.fromkeys(row.labels[x] for row in rows))
    kinds = list(dict.fromkeys(row.labels[series] for row in rows))
    figure.set_size_inches(max(6.0, 0.9 * len(groups) + 1.5), 4.0)
    ax = figure.subplots()
    width = 0.8 / len(kinds)
    for number, kind in enumerate(kinds):
        own = [row for row in rows if row.labels[series] == kind]
        places = [groups.index(row.labels[x]) + (number + 0.5) * width - 0.4 for row in own]
        spread = [row.spread or 0.0 for row in own]
        ax.bar(places, [row.ours for row in own], width, yerr=spread, label=kind,
               error_kw={"linewidth": 0.7})  # fmt: skip
        known = [(p, row.paper) for p, row in zip(places, own, strict=True) if row.paper]
        if known:
            ax.plot(*zip(*known, strict=True), linestyle="", marker="_", color="black")
    low = min(row.ours - (row.spread or 0.0) for row in rows)
    ax.set_ylim(bottom=max(0.0, math.floor(low / 10.0) * 10.0))
    ax.set_xticks(range(len(groups)), groups, rotation=30, ha="right")
    ax.set_ylabel(measure)
    ax.legend(fontsize=8)


def planes(figure: Any, result: Result, *, cell: Mapping[str, Any]) -> None:
    """Draw the examples of Rüping's figures 1 to 3 with the lines of the machines."""
    batches, _ = example(result.seed)
    figure.set_size_inches(6.0, 5.0)
    ax = figure.subplots()
    for number, (X, y) in enumerate(batches):
        for label, colour in ((1, "C0"), (-1, "C3")):
            face = colour if number else "none"
            ax.scatter(*X[y == label].T, s=16, edgecolors=colour, facecolors=face)
    ends = np.array([-1.0, 1.0])
    for name, style in (("batch", "-"), ("SV", ":"), ("SV-L", "--")):
        (a, b), offset, _ = normal({"machine": name, **cell}, batches)
        ax.plot(ends, -(a * ends + offset) / b, color="black", linestyle=style, label=name)
    ax.set_ylim(-1.1, 1.1)
    ax.legend()


def surface(
    figure: Any, result: Result, *, x: str, y: str, measure: str, where: Mapping[str, str]
) -> None:
    """Draw a measure over two labels as colours."""
    rows = [
        row
        for row in result.rows
        if row.measure == measure and all(row.labels.get(k) == v for k, v in where.items())
    ]
    figure.set_size_inches(6.0, 4.6)
    ax = figure.subplots()
    across = sorted({int(row.labels[x]) for row in rows})
    up = sorted({int(row.labels[y]) for row in rows})
    grid = np.full((len(up), len(across)), np.nan)
    for row in rows:
        grid[up.index(int(row.labels[y])), across.index(int(row.labels[x]))] = row.ours
    extent = (across[0] - 0.5, across[-1] + 0.5, up[0] - 0.5, up[-1] + 0.5)
    image = ax.imshow(grid, origin="lower", aspect="auto", extent=extent)
    figure.colorbar(image, label=measure)
    ax.set(xlabel=x, ylabel=y)


KINDS: dict[str, Callable[..., None]] = {
    "lines": lines,
    "bars": bars,
    "planes": planes,
    "surface": surface,
}
