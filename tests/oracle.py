"""Independent oracle: the five machines as quadratic programs, from the mathematics alone.

Nothing here imports supple. ``csvc(K, y, C).solve()`` gives the optimum to rounding accuracy;
``decision("csvc", K_test, solution)`` its decision values. The solver is in dense_qp.py.
"""

from __future__ import annotations

import numpy as np
from dense_qp import (
    EPS,
    QP,
    InfeasibleQPError,
    Solution,
    gradient,
    kkt_violation,
    middle,
    mu_intervals,
    objective,
    rounding,
    scale_of,
    solve,
)

__all__ = [
    "EPS",
    "QP",
    "InfeasibleQPError",
    "Solution",
    "csvc",
    "decision",
    "duality_gap",
    "epssvr",
    "gradient",
    "kkt_violation",
    "laplacian",
    "linear",
    "matern32",
    "matern52",
    "mu_intervals",
    "nusvc",
    "objective",
    "oneclass",
    "poly",
    "rbf",
    "rounding",
    "scale_of",
    "solve",
    "squared_csvc",
    "svdd",
]


def duality_gap(K, c, groups, targets, lo, hi, x, mu=None) -> float:
    """W(x) minus the Lagrangian bound at mu, relative to |W(x)|: what a better x could gain."""
    qp = QP(K, c, groups, np.atleast_1d(np.asarray(targets, dtype=float)), lo, hi)
    raw = gradient(K, c, x)
    mu = middle(*mu_intervals(qp, x, raw)) if mu is None else np.atleast_1d(mu)
    g = raw + mu[qp.groups]
    gap = (
        np.maximum(g, 0) @ (x - lo) + np.maximum(-g, 0) @ (hi - x) - mu @ (qp.sums(x) - qp.targets)
    )
    return float(gap / max(abs(objective(K, c, x)), 1e-300))


# --------------------------------------------------------------------------- kernels


def linear(A, B):
    return A @ B.T


def rbf(gamma):
    """exp(-gamma |a - b|^2) from explicit differences, free of the norm trick's cancellation."""
    return lambda A, B: np.exp(-gamma * ((A[:, None, :] - B[None, :, :]) ** 2).sum(axis=2))


def laplacian(gamma):
    return lambda A, B: np.exp(-gamma * np.abs(A[:, None, :] - B[None, :, :]).sum(axis=2))


def matern32(gamma):
    """Matern's kernel of nu = 3/2 and the length 1 / sqrt(2 gamma)."""

    def values(A, B):
        a = np.sqrt(6 * gamma * ((A[:, None, :] - B[None, :, :]) ** 2).sum(axis=2))
        return (1 + a) * np.exp(-a)

    return values


def matern52(gamma):
    """Matern's kernel of nu = 5/2 and the length 1 / sqrt(2 gamma)."""

    def values(A, B):
        a = np.sqrt(10 * gamma * ((A[:, None, :] - B[None, :, :]) ** 2).sum(axis=2))
        return (1 + a + a**2 / 3) * np.exp(-a)

    return values


def poly(gamma, degree, coef0):
    return lambda A, B: (gamma * (A @ B.T) + coef0) ** degree


# --------------------------------------------------------------------------- the five problems


def csvc(K, y, C_i) -> QP:
    """C-SVC with labels +1 / -1: x_i = y_i alpha_i."""
    y, C_i = np.asarray(y, dtype=float), np.broadcast_to(np.asarray(C_i, dtype=float), len(y))
    return _single(K, y, 0.0, np.where(y > 0, 0.0, -C_i), np.where(y > 0, C_i, 0.0))


def squared_csvc(K, y, C_i) -> QP:
    """C-SVC with the cost C_i xi_i^2: alpha_i = 2 C_i xi_i has no bound, and K gains 1 / (2 C_i).

    At w = 0 the primal is the sum of all C_j, so that no xi_i^2 is larger than that over C_i: twice
    the bound on alpha_i that follows is never met.
    """
    y, C_i = np.asarray(y, dtype=float), np.broadcast_to(np.asarray(C_i, dtype=float), len(y))
    ridge = np.divide(1.0, 2 * C_i, out=np.zeros(len(y)), where=C_i > 0)
    far = 4 * np.sqrt(C_i * C_i.sum())
    return _single(K + np.diag(ridge), y, 0.0, np.where(y > 0, 0.0, -far), np.where(y > 0, far, 0))


def nusvc(K, y, nu, w) -> QP:
    """nu-SVC: both classes carry nu W / 2. Decision (Kx + (mu_+ + mu_-)/2) / ((mu_- - mu_+)/2)."""
    y, w = np.asarray(y, dtype=float), np.broadcast_to(np.asarray(w, dtype=float), len(y))
    half = nu * w.sum() / 2
    groups, targets = (y < 0).astype(np.intp), np.array([half, -half])
    return QP(
        K, np.zeros(len(y)), groups, targets, np.where(y > 0, 0.0, -w), np.where(y > 0, w, 0.0)
    )


def epssvr(K, t, C_i, epsilon) -> QP:
    """eps-SVR: variables (alpha, -alpha*), so the coefficients are the sum of the two halves."""
    t, C_i = np.asarray(t, dtype=float), np.broadcast_to(np.asarray(C_i, dtype=float), len(t))
    zero = np.zeros(len(t))
    c = np.concatenate([t - epsilon, t + epsilon])
    return _single(np.tile(K, (2, 2)), c, 0.0, np.r_[zero, -C_i], np.r_[C_i, zero])


def oneclass(K, nu, w) -> QP:
    """One-class SVM: sum of x = nu W, 0 <= x_i <= w_i."""
    w = np.broadcast_to(np.asarray(w, dtype=float), len(K))
    return _single(K, np.zeros(len(w)), nu * w.sum(), np.zeros(len(w)), w)


def svdd(K, C_i) -> QP:
    """Support vector data description: sum of x = 1, 0 <= x_i <= C_i."""
    C_i = np.broadcast_to(np.asarray(C_i, dtype=float), len(K))
    return _single(K, np.diagonal(K) / 2, 1.0, np.zeros(len(K)), C_i)


def _single(K, c, target, lo, hi) -> QP:
    return QP(
        K, np.asarray(c, dtype=float), np.zeros(len(c), dtype=np.intp), np.array([target]), lo, hi
    )


def decision(problem: str, K_test, solution: Solution, K_zz=None):
    """Decision values (SVR: predictions) at test points; K_test[i, j] = k(test_i, example_j).

    ``problem`` is the name of the builder; SVDD also needs the diagonal k(test_i, test_i).
    """
    x, mu = solution.x, solution.mu
    if problem == "nusvc":
        return (K_test @ x + mu.mean()) / ((mu[1] - mu[0]) / 2)
    if problem == "epssvr":
        return K_test @ (x[: len(x) // 2] + x[len(x) // 2 :]) + mu[0]
    if problem == "svdd":
        return 2 * (K_test @ x + mu[0]) - K_zz
    return K_test @ x + mu[0]
