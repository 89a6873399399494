"""An independent judge of fitted models: plain NumPy on the public attributes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import oracle
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist


def kernel_matrix(model, A, B):
    """k(A, B) in float64; distances from differences, free of cancellation."""
    A, B = (np.asarray(Z.toarray() if sparse.issparse(Z) else Z, dtype=float) for Z in (A, B))
    if model.kernel == "linear":
        return A @ B.T
    if model.kernel == "poly":
        return (model._gamma * (A @ B.T) + model.coef0) ** model.degree
    if model.kernel == "rbf":
        return np.exp(-model._gamma * cdist(A, B, "sqeuclidean"))
    of_oracle = not callable(model.kernel)
    return (getattr(oracle, model.kernel)(model._gamma) if of_oracle else model.kernel)(A, B)


def coefficients(model):
    coef = model.dual_coef_
    return np.asarray(coef.toarray() if sparse.issparse(coef) else coef, dtype=float)


def expansion(model, Z, support):
    """Sum over the support vectors, without the constant; `support` are their feature vectors."""
    coef = coefficients(model)[0]
    return np.concatenate(
        [kernel_matrix(model, Z[i : i + 512], support) @ coef for i in range(0, Z.shape[0], 512)]
    )


@dataclass
class Dual:
    """Variables of the dual with their boxes, gradients and the sums that must vanish."""

    x: np.ndarray
    lo: np.ndarray
    hi: np.ndarray
    gradient: np.ndarray
    c: np.ndarray
    Kx: np.ndarray
    sums: list[float]

    @property
    def violation(self) -> float:
        """Largest violation of the optimality conditions, relative to the scale of c (or Kx)."""
        scale = np.abs(self.c).max() or np.abs(self.Kx).max()
        slack = 1e-12 * (self.hi - self.lo)
        grows, falls = self.hi - self.x > slack, self.x - self.lo > slack
        dual = max(
            np.max(-self.gradient[grows], initial=0.0), np.max(self.gradient[falls], initial=0.0)
        )
        box = max(np.max(self.lo - self.x), np.max(self.x - self.hi), 0.0)
        size = np.abs(self.x).max()
        return max(dual / scale, box / size, max(map(abs, self.sums)) / size)

    @property
    def objective(self) -> float:
        """c'x - 1/2 x'Kx, to be maximised."""
        return float(self.x @ (self.c - self.Kx / 2))


def dual_of(model, X, y, weight) -> Dual:
    """Rebuild the dual of a fitted model of supple or scikit-learn (two classes at most)."""
    n, name = X.shape[0], type(model).__name__
    coef = np.zeros(n)
    coef[model.support_] = coefficients(model)[0]
    K = expansion(model, X, X[model.support_])
    b = float(model.intercept_[0])
    w, zero = np.array(weight, dtype=float), np.zeros(n)
    if name in ("SVC", "NuSVC"):
        sign = np.where(y == model.classes_[1], 1.0, -1.0)
    if name == "SVC":
        w *= model.C * np.asarray(model.class_weight_)[(sign > 0).astype(int)]
        lo, hi = np.where(sign > 0, 0.0, -w), np.where(sign > 0, w, 0.0)
        return Dual(coef, lo, hi, K + b - sign, sign, K, [coef.sum()])
    if name == "NuSVC":  # decision values come divided by r
        half = model.nu * w.sum() / 2
        r = half / coef[sign > 0].sum()
        lo, hi = np.where(sign > 0, 0.0, -w), np.where(sign > 0, w, 0.0)
        sums = [r * coef[sign < 0].sum() + half]
        return Dual(r * coef, lo, hi, r * (K + b - sign), zero, r * K, sums)
    if name == "SVR":
        w *= model.C
        c = np.r_[y - model.epsilon, y + model.epsilon]
        both = np.r_[K, K]
        x = np.r_[np.maximum(coef, 0.0), np.minimum(coef, 0.0)]
        return Dual(x, np.r_[zero, -w], np.r_[w, zero], both + b - c, c, both, [coef.sum()])
    if name == "OneClassSVM":
        return Dual(coef, zero, w, K + b, zero, K, [coef.sum() - model.nu * w.sum()])
    assert name == "SVDD"  # decision = 2 (Kx + mu) - k(z, z)
    c = np.array([kernel_matrix(model, X[i : i + 1], X[i : i + 1])[0, 0] for i in range(n)]) / 2
    x, Kx = coef / 2, K / 2
    return Dual(x, zero, model.C * w, Kx + b / 2 - c, c, Kx, [x.sum() - 1.0])


class Judge:
    """Rebuilds the dual of a model from its public attributes; a call asserts that it is exact."""

    def dual(self, model, X, y=None, weight=None) -> Dual:
        return dual_of(model, X, y, np.ones(X.shape[0]) if weight is None else weight)

    def __call__(self, model, X, y=None, weight=None) -> Dual:
        dual = self.dual(model, X, y, weight)
        assert dual.violation <= 1e-8
        assert model.kkt_violation_ <= 1e-8
        assert model.exact_
        assert model.dual_objective_ == pytest.approx(dual.objective, rel=1e-9)
        return dual


@pytest.fixture
def judge():
    return Judge()
