"""Draw learn-forget.png: one model before learning a region, after, and forgetting it.

The examples are part of the banana data. Those inside a disc are kept back at first, then learned
with `partial_fit`, then forgotten with `forget`. The third panel shows the model of the first one
again; the largest difference of the two, over the whole grid, is printed in the picture.

The picture goes to demo-output/; `--readme` renews the one that the README shows.
"""

import argparse
import copy
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Circle

import supple
from supple.datasets import load

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "demo-output" / "learn-forget.png"
README_PICTURE = ROOT / "docs" / "images" / "learn-forget.png"
CENTRE, RADIUS = np.array([-0.4, -1.2]), 1.0
ORANGE, BLUE, INK = "#d1642a", "#2f6fab", "#22262b"
GRID_X, GRID_Y = np.meshgrid(np.linspace(-2.5, 2.7, 261), np.linspace(-2.55, 2.6, 258))
GRID = np.column_stack([GRID_X.ravel(), GRID_Y.ravel()])


def three_models(n=420):
    """Return the data, the mask of the region, and the model before, with and after the region."""
    data = load("banana", scaled=False)
    X, y = data.X[:n], data.y[:n]
    region = np.linalg.norm(X - CENTRE, axis=1) < RADIUS
    ids = np.arange(n)

    model = supple.SVC(C=5.0, gamma=1.0)
    model.partial_fit(X[~region], y[~region], ids=ids[~region])
    before = copy.deepcopy(model)
    model.partial_fit(X[region], y[region], ids=ids[region])
    learned = copy.deepcopy(model)
    model.forget(ids[region])
    return X, y, region, (before, learned, model)


def panel(ax, model, X, y, held, region):
    """Draw the decision function of `model`, the examples it holds, and its support vectors."""
    surface = model.decision_function(GRID).reshape(GRID_X.shape)
    ax.contourf(GRID_X, GRID_Y, surface, [-99, 0, 99], colors=[BLUE, ORANGE], alpha=0.14)
    ax.contour(GRID_X, GRID_Y, surface, [-1, 1], colors=INK, linewidths=0.7, linestyles="--")
    ax.contour(GRID_X, GRID_Y, surface, [0], colors=INK, linewidths=1.8)
    for label, colour in ((-1, BLUE), (1, ORANGE)):
        points = X[held & (y == label)]
        ax.scatter(*points.T, s=11, color=colour, linewidths=0, zorder=3)
    ax.scatter(
        *model.support_vectors_.T, s=34, facecolors="none", edgecolors=INK, linewidths=0.7, zorder=4
    )
    absent = X[region & ~held]
    ax.scatter(*absent.T, s=9, facecolors="none", edgecolors="#9aa1a9", linewidths=0.5, zorder=2)
    ax.add_patch(Circle(CENTRE, RADIUS, fill=False, color=INK, lw=0.9, ls=":", zorder=5))
    ax.set(
        xlim=(GRID_X.min(), GRID_X.max()), ylim=(GRID_Y.min(), GRID_Y.max()), xticks=[], yticks=[]
    )
    ax.set_aspect("equal")
    for spine in ax.spines.values():
        spine.set(color="#c6cbd1", linewidth=0.8)


def draw(path=PICTURE):
    """Write the picture to `path` and return the path."""
    X, y, region, models = three_models()
    everything = np.ones(len(y), dtype=bool)
    change = np.abs(models[2].decision_function(GRID) - models[0].decision_function(GRID)).max()
    n_region = int(region.sum())

    fig, axes = plt.subplots(1, 3, figsize=(11.4, 4.35), layout="constrained", facecolor="white")
    panels = (
        (~region, "before", f"the {n_region} examples in the circle are unknown"),
        (everything, "partial_fit(X_new, y_new)", f"learned {n_region} examples"),
        (~region, "forget(ids)", f"largest change against the first panel: {change:.0e}"),
    )
    for ax, model, (held, title, remark) in zip(axes, models, panels, strict=True):
        panel(ax, model, X, y, held, region)
        font = "sans-serif" if title == "before" else "monospace"
        ax.set_title(title, fontsize=13, fontweight="bold", family=font, color=INK)
        text = f"{held.sum()} examples, {len(model.support_)} support vectors\n{remark}"
        ax.set_xlabel(text, fontsize=10.5, color=INK, labelpad=7)
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path, dpi=130, metadata={"Software": None})
    plt.close(fig)
    return path


def main():
    """Draw the picture."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--readme", action="store_true", help=f"write {README_PICTURE}")
    print("wrote", draw(README_PICTURE if parser.parse_args().readme else PICTURE))


if __name__ == "__main__":
    main()
