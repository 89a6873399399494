"""Draw docs/images/relevance.png: RVR with error bars, RVC with probabilities."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from picture import BLUE, GRID, GRID_X, GRID_Y, INK, ORANGE

import supple
from supple.datasets import load

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "images" / "relevance.png"
RINGS = {"s": 48, "facecolors": "none", "edgecolors": INK, "linewidths": 1.1, "zorder": 4}


def regression(ax):
    """Noisy values of sin(x) / x with a gap, the fit, and two standard deviations."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-10, 10, size=130))
    x = x[(x < 2.5) | (x > 5.5)][:100]
    y = np.sinc(x / np.pi) + rng.normal(scale=0.1, size=len(x))
    model = supple.RVR(gamma=0.15).fit(x[:, None], y)
    line = np.linspace(-12, 12, 400)
    mean, std = model.predict(line[:, None], return_std=True)
    ax.fill_between(line, mean - 2 * std, mean + 2 * std, color=BLUE, alpha=0.15, linewidth=0)
    ax.plot(line, np.sinc(line / np.pi), color=INK, lw=0.9, ls="--")
    ax.plot(line, mean, color=BLUE, lw=1.8)
    ax.scatter(x, y, s=11, color=ORANGE, linewidths=0, zorder=3)
    ax.scatter(x[model.relevance_], y[model.relevance_], **RINGS)
    ax.set_title("RVR", fontsize=13, fontweight="bold", color=INK)
    ax.set_xlabel(
        f"{len(x)} examples, {len(model.relevance_)} relevance vectors\n"
        f"noise 0.1, estimated {model.noise_:.3f}", fontsize=10.5, color=INK, labelpad=7,
    )  # fmt: skip


def classification(ax, n=420):
    """The banana data and the contours of the probability."""
    data = load("banana")
    X, y = data.X[:n], data.y[:n]
    model = supple.RVC(gamma=1.0).fit(X, y)
    surface = model.predict_proba(GRID)[:, 1].reshape(GRID_X.shape)
    ax.contourf(GRID_X, GRID_Y, surface, [0.0, 0.5, 1.0], colors=[BLUE, ORANGE], alpha=0.14)
    dashed = ax.contour(
        GRID_X, GRID_Y, surface, [0.1, 0.9], colors=INK, linewidths=0.7, linestyles="--"
    )
    ax.clabel(dashed, fontsize=8)
    ax.contour(GRID_X, GRID_Y, surface, [0.5], colors=INK, linewidths=1.8)
    for label, colour in ((-1, BLUE), (1, ORANGE)):
        ax.scatter(*X[y == label].T, s=11, color=colour, linewidths=0, zorder=3)
    ax.scatter(*model.relevance_vectors_.T, **RINGS)
    ax.set_aspect("equal")
    support = len(supple.SVC(gamma=1.0).fit(X, y).support_)
    ax.set_title("RVC", fontsize=13, fontweight="bold", color=INK)
    ax.set_xlabel(
        f"{n} examples, {len(model.relevance_)} relevance vectors\n"
        f"({support} support vectors with SVC, C = 1)", fontsize=10.5, color=INK, labelpad=7,
    )  # fmt: skip


def draw(path=PICTURE):
    """Write the picture to `path` and return the path."""
    fig, axes = plt.subplots(
        1, 2, figsize=(11.4, 4.6), layout="constrained", width_ratios=[1.5, 1], facecolor="white"
    )
    regression(axes[0])
    classification(axes[1])
    for ax in axes:
        ax.set(xticks=[], yticks=[])
        for spine in ax.spines.values():
            spine.set(color="#c6cbd1", linewidth=0.8)
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(fig)
    return path


if __name__ == "__main__":
    print("wrote", draw())
