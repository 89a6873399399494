"""Draw docs/images/sv-incremental.png and docs/images/budget.png: learning with a small memory.

The first shows two batches of normally distributed examples whose concepts differ (Rüping 2001,
section 4.1), and the lines that remember the first batch by its support vectors: as they are, or
weighted for the examples that they stand for. The second shows the test error of BudgetSVC over
its budget by two rules, beside that of the latest examples: where the classes overlap, the least
relevant example is the wrong one to forget.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import supple
from supple.datasets import load

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
ORANGE, BLUE, INK, GREY = "#d1642a", "#2f6fab", "#22262b", "#9aa1a9"
BUDGETS = [30, 60, 125, 250, 500]


def two_batches(seed=4, n=50):
    """Return two batches of 2 n examples each: centres at ±(1, 1), then at ±(1, -1)."""
    rng = np.random.default_rng(seed)
    y = np.repeat([1, -1], n)
    for centre in ((1.0, 1.0), (1.0, -1.0)):
        yield rng.normal(size=(2 * n, 2)) + y[:, None] * np.array(centre), y


def draw_sv_incremental(path=IMAGES / "sv-incremental.png", C=1.0):
    """Write the picture of the two batches and return its path."""
    (X1, y1), (X2, y2) = two_batches()
    kind = {"kernel": "linear", "C": C}
    models = {
        "all examples": (supple.SVC(**kind), INK, "-"),
        "support vectors (SV)": (supple.SVIncrementalSVC(**kind), BLUE, "--"),
        "weighted (SV-L)": (supple.SVIncrementalSVC(sv_weight="ruping", **kind), ORANGE, "-."),
    }
    fig, ax = plt.subplots(figsize=(5.6, 4.6), layout="constrained", facecolor="white")
    for name, (model, colour, style) in models.items():
        model.partial_fit(X1, y1)
        old = model.support_vectors_
        (w,), b = model.partial_fit(X2, y2).coef_, model.intercept_[0]
        across = np.array([-4.0, 4.0])
        ax.plot(-(w[1] * across + b) / w[0], across, style, color=colour, lw=2, label=name)
    for X, y, alpha in ((X1, y1, 0.3), (X2, y2, 0.9)):
        for label, marker in ((1, "+"), (-1, "x")):
            ax.scatter(*X[y == label].T, marker=marker, s=26, color=INK, alpha=alpha, lw=1)
    ax.scatter(*old.T, s=60, facecolors="none", edgecolors=GREY, lw=1, label="kept of batch 1")
    ax.set(xlim=(-4, 4), ylim=(-4, 4), xticks=[], yticks=[])
    ax.set_title(f"batch 1 faint, batch 2 dark; linear kernel, C = {C:g}", fontsize=10.5)
    ax.legend(fontsize=9, loc="lower left")
    return save(fig, path)


def streams():
    """Yield two problems: name, parameters, training and test examples."""
    digits = load_digits()
    X, y = digits.data / 16.0, digits.target
    yield "digits", {"C": 10.0, "gamma": 0.05}, (X[:1347], y[:1347]), (X[1347:], y[1347:])
    banana = load("banana")
    order = np.random.default_rng(0).permutation(len(banana.y))
    X, y = banana.X[order], banana.y[order]
    yield "banana", {"C": 1.0, "gamma": 1.0}, (X[:1500], y[:1500]), (X[1500:], y[1500:])


def draw_budget(path=IMAGES / "budget.png"):
    """Write the picture of the fixed memory and return its path."""
    fig, axes = plt.subplots(1, 2, figsize=(9.6, 3.7), layout="constrained", facecolor="white")
    for ax, (name, kind, (X, y), test) in zip(axes, streams(), strict=True):

        def error(model, test=test):
            return 100.0 * (1.0 - model.score(*test))

        merged, kept = (
            [error(supple.BudgetSVC(budget=M, rule=rule, **kind).fit(X, y)) for M in BUDGETS]
            for rule in ("merge", "relevance")
        )
        latest = [error(supple.SVC(**kind).fit(X[-M:], y[-M:])) for M in BUDGETS]
        exact = supple.SVC(**kind).fit(X, y)
        ax.semilogx(BUDGETS, merged, "o-", color=ORANGE, label="the closest are merged")
        ax.semilogx(BUDGETS, kept, "^-.", color=GREY, label="the least relevant is forgotten")
        ax.semilogx(BUDGETS, latest, "s--", color=BLUE, label="the latest examples")
        label = f"all {len(y)}: {len(exact.support_)} support vectors"
        ax.axhline(error(exact), color=INK, ls=":", label=label)
        ax.set_xticks(BUDGETS, [str(M) for M in BUDGETS])
        ax.minorticks_off()
        ax.set(xlabel="examples held", ylabel="test error (%)", ylim=(0, None), title=name)
        ax.legend(fontsize=9)
    return save(fig, path)


def save(fig, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(fig)
    return path


if __name__ == "__main__":
    print("wrote", draw_sv_incremental())
    print("wrote", draw_budget())
