"""Draw docs/images/novelty.png: a world that moves slowly, and then jumps.

A fixed SVDD, fitted to the beginning, takes the slow move for novelty; one that slides along does
not, and sees the few strange examples. DriftWatch raises an alarm where the stream jumps.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from supple import SVDD
from supple.diagnostics import DriftWatch, NoveltyDisplay
from supple.memory import Window

IMAGE = Path(__file__).resolve().parent.parent / "docs" / "images" / "novelty.png"
SIZE = 300


def stream(seed=0, n=3600):
    """Return rows and which of them are strange: a slow move from 1000 to 1600, a jump at 2800."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    X[:, 0] += np.clip((np.arange(n) - 1000) / 200.0, 0.0, 3.0)
    X[2800:, 1] += 4.0
    strange = np.zeros(n, dtype=bool)
    strange[[500, 850, 1900, 2200, 2500, 3300]] = True
    X[strange] += 5.0 * rng.choice([-1.0, 1.0], size=(int(strange.sum()), 2))
    return X, strange


def draw(path=IMAGE):
    """Write the picture and return its path."""
    X, strange = stream()
    fixed = SVDD(nu=0.1, gamma=0.2).fit(X[:SIZE]).decision_function(X)
    sliding = SVDD(nu=0.1, gamma=0.2, memory=Window(SIZE)).fit(X[:SIZE])
    scores = [0.0] * SIZE
    for row in X[SIZE:, None]:
        scores.append(sliding.decision_function(row)[0])
        sliding.partial_fit(row)
    watch = DriftWatch(SVDD(nu=0.1, gamma=0.2))
    watch.update(X)
    fig, axes = plt.subplots(2, 1, figsize=(8.4, 4.2), layout="constrained", sharex=True)
    for ax, each, title in zip(
        axes,
        (fixed, scores),
        (f"fitted to the first {SIZE}; alarms of DriftWatch", f"the latest {SIZE}"),
        strict=True,
    ):
        alarms = watch.events_ if each is fixed else ()
        near = np.convolve(strange, np.ones(15), "same") > 0  # wide enough to be seen
        NoveltyDisplay.from_scores(each, truth=near, alarms=alarms, ax=ax)
        ax.set_title(title, fontsize=10)
        ax.label_outer()
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path, dpi=76, metadata={"Software": None})
    plt.close(fig)
    return path


if __name__ == "__main__":
    print("wrote", draw())
