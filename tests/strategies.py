"""Hypothesis strategies: small example sets without general position, and machines for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from ledger import KERNELS, Ledger

PROBE = np.array([[0.3, -0.7], [1.1, 0.4], [-2.0, 0.0], [0.0, 0.0], [-0.5, 1.7]])


@dataclass(frozen=True)
class Examples:
    """X, y, w and the parameters of a machine that is feasible on all of them."""

    name: str
    kernel: str
    params: dict
    X: np.ndarray
    y: np.ndarray
    w: np.ndarray

    def ledger(self) -> Ledger:
        return Ledger.new(self.name, self.kernel, **self.params)

    def take(self, ledger: Ledger, rows, w=None) -> list[int]:
        """Teach the ledger these rows, in this order, in one batch."""
        rows = np.arange(len(self.y))[rows]
        w = self.w if w is None else w
        return ledger.add(self.X[rows], self.y[rows], w[rows])


grid = st.integers(-2, 2).map(float)
fine = st.integers(-2000, 2000).map(lambda v: v / 1000)
plain = st.sampled_from([1.0, 1.0, 0.5, 2.0])
wild = st.sampled_from([0.0, 1e-6, 1e-3, 1.0, 30.0, 1e3])


@st.composite
def points(draw, n: int) -> np.ndarray:
    """n rows in the plane: grid or fine values, a constant feature, duplicates of earlier rows."""
    coordinate = draw(st.sampled_from([grid, fine]))
    X = np.array(draw(st.lists(st.tuples(coordinate, coordinate), min_size=n, max_size=n)))
    if draw(st.integers(0, 4)) == 0:
        X[:, 1] = draw(grid)
    for row in draw(st.lists(st.integers(1, n - 1), max_size=n // 2)):
        X[row] = X[row - 1]  # labels are drawn apart: duplicates with opposite labels occur
    return X


@st.composite
def examples(draw, name: str, low: int = 4, high: int = 12) -> Examples:
    """Draw a set on which the machine ``name`` is feasible."""
    n = draw(st.integers(low, high))
    X = draw(points(n))
    w = np.array(draw(st.lists(draw(st.sampled_from([plain, wild])), min_size=n, max_size=n)))
    w[:2] = 1.0
    if name == "SVR":
        y = np.array(draw(st.lists(fine, min_size=n, max_size=n)))
    else:
        y = np.array(draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=n, max_size=n)))
        y[:2] = (1.0, -1.0)
    share = draw(st.sampled_from([0.1, 0.5, 0.9]))
    if name == "NuSVC":
        params = {"nu": share * 2 * min(w[y > 0].sum(), w[y < 0].sum()) / w.sum()}
    elif name == "OneClassSVM":
        params = {"nu": share}
    elif name == "SVDD":
        params = {"C": 1 / (share * w.sum())}
    else:
        params = {"C": draw(st.sampled_from([0.01, 1.0, 100.0]))}
    if name == "SVR":
        params["epsilon"] = draw(st.sampled_from([0.0, 0.1, 0.5]))
    return Examples(name, draw(st.sampled_from(sorted(KERNELS))), params, X, y, w)
