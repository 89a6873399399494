"""Which example next? Random choice, uncertainty and exact look-ahead on banana and ionosphere.

A classifier begins with two examples of each class, and asks for one label at a time from a pool.
Each label is learned by `partial_fit`; nothing is fitted again. The picture shows the accuracy on
test points, the mean of several divisions of the data; it goes to demo-output/, or to the path that
is given.

    python examples/active_learning.py [PATH]
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from picture import BLUE, INK, ORANGE

import supple
from supple.datasets import load
from supple.diagnostics import expected_error_reduction, uncertainty_sampling

PICTURE = Path(__file__).resolve().parent.parent / "demo-output" / "active-learning.png"
SETS = {"banana": {"C": 1.0, "gamma": 1.0}, "ionosphere": {"C": 1.0, "gamma": 0.05}}
N_TEST, N_LABELS, SEEDS = 2000, 40, range(100, 110)


def at_random(model, X_pool, rng):
    """Any point of the pool."""
    return rng.integers(X_pool.shape[0])


def by_uncertainty(model, X_pool, rng):
    """The point that is closest to the decision boundary."""
    return uncertainty_sampling(model, X_pool)[0]


def by_look_ahead(model, X_pool, rng):
    """The best of 60 points by the error that is expected once its label is known."""
    number = min(60, X_pool.shape[0])
    seed = int(rng.integers(2**31))
    return expected_error_reduction(model, X_pool, n_candidates=number, random_state=seed)[0]


STRATEGIES = {
    "random": (at_random, INK),
    "uncertainty_sampling": (by_uncertainty, BLUE),
    "expected_error_reduction": (by_look_ahead, ORANGE),
}


def accuracies(name, choose, seed):
    """Return the accuracy after each label."""
    data, rng = load(name, scaled=False), np.random.default_rng(seed)
    order = rng.permutation(len(data.y))
    spread = data.X.std(axis=0)
    X = (data.X - data.X.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    half = min(300, len(order) // 2)
    pool, test = order[:half].tolist(), order[half : half + N_TEST]
    first = []
    for label in np.unique(data.y):
        first += [row for row in pool if data.y[row] == label][:2]
    pool = [row for row in pool if row not in first]
    model = supple.SVC(**SETS[name]).fit(X[first], data.y[first])
    found = [model.score(X[test], data.y[test])]
    for _ in range(N_LABELS):
        row = pool.pop(int(choose(model, X[pool], rng)))
        model.partial_fit(X[[row]], data.y[[row]])
        found.append(model.score(X[test], data.y[test]))
    return found


def draw(path=PICTURE):
    """Write the picture to `path` and return the path."""
    fig, axes = plt.subplots(1, len(SETS), figsize=(11, 4.2), layout="constrained")
    for ax, name in zip(axes, SETS, strict=True):
        for strategy, (choose, colour) in STRATEGIES.items():
            curve = np.mean([accuracies(name, choose, seed) for seed in SEEDS], axis=0)
            ax.plot(curve, color=colour, lw=1.8, label=strategy)
            print(
                f"{name:12s}{strategy:26s}accuracy after 10, 20, {N_LABELS} labels: "
                f"{curve[10]:.3f} {curve[20]:.3f} {curve[-1]:.3f}, mean {curve.mean():.3f}",
                flush=True,
            )
        ax.set_title(name, fontsize=12, fontweight="bold", color=INK)
        ax.set_xlabel("labels asked for", color=INK)
    axes[0].set_ylabel(f"accuracy, mean of {len(SEEDS)} divisions", color=INK)
    axes[-1].legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(fig)
    return path


if __name__ == "__main__":
    print("wrote", draw(*map(Path, sys.argv[1:2])))
