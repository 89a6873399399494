"""Draw docs/images/simple.png: how SimpleSVM gets to the optimum, round by round.

SimpleSVC is stopped after a growing number of rounds; its dual objective falls short of the optimum
that SVC finds by what the left panel shows. The right panel counts its support vectors.
"""

import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from supple import SVC, NotConvergedWarning, SimpleSVC
from supple.datasets import load

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "images" / "simple.png"


def course(X, y, C):
    """Return rounds, relative distance from the optimum, and support vectors."""
    best = SVC(C=C).fit(X, y)
    last = int(SimpleSVC(C=C).fit(X, y).n_iter_[0])
    rounds = np.unique(np.linspace(1, last, 60).astype(int))
    gap, support = [], []
    for k in rounds.tolist():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConvergedWarning)
            model = SimpleSVC(C=C, max_iter=k).fit(X, y)
        gap.append(max(1.0 - model.dual_objective_ / best.dual_objective_, 1e-16))
        support.append(len(model.support_))
    return rounds, gap, support


def main():
    """Draw and save."""
    data = load("pima")
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.6, 3.2), layout="constrained")
    for C, colour in ((1.0, "#2f6fab"), (100.0, "#d1642a")):
        rounds, gap, support = course(data.X, data.y, C)
        left.semilogy(rounds, gap, color=colour, label=f"C = {C:g}")
        right.plot(rounds, support, color=colour, label=f"C = {C:g}")
    left.set(xlabel="rounds", ylabel="distance from the optimum", title="pima, 768 examples")
    right.set(xlabel="rounds", ylabel="support vectors")
    left.legend(frameon=False)
    figure.savefig(PICTURE, dpi=120)
    plt.close(figure)
    print(f"wrote {PICTURE.name}")


if __name__ == "__main__":
    main()
