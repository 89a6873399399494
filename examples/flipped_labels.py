"""Find flipped labels, and draw them.

5 % of the labels of a training set are flipped. `leave_one_out` ranks examples by how clearly the
model without each contradicts its label; `influence` by how much better the model is on a test set
without each. A picture goes to demo-output/, or to the path that is given.

    python examples/flipped_labels.py [PATH]
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from picture import BLUE, GRID, GRID_X, GRID_Y, INK, ORANGE

import supple
from supple.datasets import load
from supple.diagnostics import influence, leave_one_out

PICTURE = Path(__file__).resolve().parent.parent / "demo-output" / "flipped-labels.png"
N_TRAIN, N_TEST, N_FLIPPED, N_WORST = 1000, 1000, 50, 100


def flipped_data(seed=0):
    """Return training points, labels, which of them are flipped, a test set, and the rest."""
    data, rng = load("banana", scaled=False), np.random.default_rng(seed)
    order = rng.permutation(len(data.y))
    train, test, rest = np.split(order, [N_TRAIN, N_TRAIN + N_TEST])
    flipped = rng.choice(N_TRAIN, N_FLIPPED, replace=False)
    y = data.y[train].copy()
    y[flipped] *= -1
    return data.X[train], y, flipped, (data.X[test], data.y[test]), (data.X[rest], data.y[rest])


def panel(ax, model, X, y, flipped, worst, title):
    """Draw the examples, those that are flipped, and those that are ranked worst."""
    surface = model.decision_function(GRID).reshape(GRID_X.shape)
    ax.contourf(GRID_X, GRID_Y, surface, [-99, 0, 99], colors=[BLUE, ORANGE], alpha=0.14)
    ax.contour(GRID_X, GRID_Y, surface, [0], colors=INK, linewidths=1.5)
    for label, colour in ((-1, BLUE), (1, ORANGE)):
        ax.scatter(*X[y == label].T, s=6, color=colour, linewidths=0, zorder=3)
    ax.scatter(*X[flipped].T, s=28, marker="x", color=INK, linewidths=1.0, zorder=5)
    ax.scatter(*X[worst].T, s=44, facecolors="none", edgecolors=INK, linewidths=0.8, zorder=4)
    found = np.isin(flipped, worst).mean()
    ax.set_title(title, fontsize=12, fontweight="bold", color=INK)
    ax.set_xlabel(f"{found:.0%} of the flipped labels (x)\namong the worst 10 % (o)", color=INK)
    ax.set(xticks=[], yticks=[], aspect="equal")
    ax.set(xlim=(GRID_X.min(), GRID_X.max()), ylim=(GRID_Y.min(), GRID_Y.max()))


def gain(ax, model, rankings, X_fresh, y_fresh):
    """Draw the error on points that no ranking has seen, as the worst examples are forgotten."""
    for (name, ranking), colour in zip(rankings.items(), (BLUE, ORANGE), strict=True):
        errors, step = [1.0 - model.score(X_fresh, y_fresh)], 5
        with model.what_if():
            for start in range(0, N_WORST, step):
                model.forget(ranking[start : start + step])
                errors.append(1.0 - model.score(X_fresh, y_fresh))
        ax.plot(step * np.arange(len(errors)), errors, color=colour, lw=1.8, label=name)
    ax.set_title("forgetting the worst", fontsize=12, fontweight="bold", color=INK)
    ax.set_xlabel("examples forgotten", color=INK)
    ax.set_ylabel(f"error on {len(y_fresh)} other points", color=INK)
    ax.legend(frameon=False)


def draw(path=PICTURE):
    """Write the picture to `path` and return the path."""
    X, y, flipped, test, rest = flipped_data()
    model = supple.SVC(C=1.0, gamma=1.0).fit(X, y)
    result = influence(model, *test)
    by_margin = np.argsort(y * leave_one_out(model).decision)
    print(result)
    print("effects of the worst five:", dict(zip(result.ranking[:5].tolist(),
          result.effect[result.order[:5]].round(5).tolist(), strict=True)))  # fmt: skip
    fig, axes = plt.subplots(1, 3, figsize=(14, 4.8), layout="constrained", facecolor="white")
    panel(axes[0], model, X, y, flipped, by_margin[:N_WORST], "leave_one_out")
    panel(axes[1], model, X, y, flipped, result.order[:N_WORST], "influence")
    gain(axes[2], model, {"leave_one_out": by_margin, "influence": result.ranking}, *rest)
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(fig)
    return path


if __name__ == "__main__":
    print("wrote", draw(*map(Path, sys.argv[1:2])))
