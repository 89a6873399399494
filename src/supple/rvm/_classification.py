"""Relevance vector classification: logistic likelihood, Laplace's approximation."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_solve, cholesky, solve_triangular
from scipy.special import expit

from supple.rvm._gaussian import Floats, Posterior, SparseGaussian, burst, left

# Moves between two linearisations of the logistic likelihood. Fifteen gave the largest evidence,
# summed over seven embedded sets and the last 797 digits, of 1, 2, 5, 10, 15, 20, 30 and 50.
_BURST = 15
_NEWTON_STEPS = 100
_NEWTON_GAIN = 1e-10  # of the log posterior; far below any tolerance of the evidence


def classify(K: Floats, t: Floats, weight: Floats, tol: float, max_iter: int) -> Posterior:
    """Maximise the Laplace approximation (28) of the evidence of a logistic model.

    Every move is judged by (28) itself, with the mode found anew, and is made only if it gains
    `tol`. So the search ends, and it ends where no move gains more.

    Parameters
    ----------
    K : ndarray of shape (n, p)
        Kernel values k(x_n, x_j), one column for each basis function.
    t : ndarray of shape (n,)
        1 for the positive class, 0 for the other; both occur.
    weight : ndarray of shape (n,)
        Weights > 0.
    tol, max_iter
        As for :func:`regress`.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 20)
    >>> K = np.exp(-((x[:, None] - x) ** 2))
    >>> found = classify(K, (np.abs(x) < 0.6) * 1.0, np.ones(20), 1e-3, -1)
    >>> mean, variance = found.moments(K[:, found.members])
    >>> bool(((mean > 0) == (np.abs(x) < 0.6)).all())
    True
    """
    none = np.empty(0)
    start = np.log(weight @ t) - np.log(weight @ (1.0 - t))
    state = _mode(K, np.empty(0, dtype=np.intp), none, t, weight, none, float(start))
    assert state is not None
    n_iter = 0
    while True:
        model = SparseGaussian(K, state.b, state.b * state.eta + weight * (t - state.p))
        model.begin(state.posterior.members, state.posterior.alpha)
        linear = model.save()
        barred = np.zeros(K.shape[1], dtype=bool)
        most = _BURST
        while True:
            made = burst(model, tol, left(max_iter, n_iter, most), barred)
            if not made:
                converged = model.best(barred).gain < tol
                return replace(state.posterior, n_iter=n_iter, converged=converged)
            old = state.posterior
            trial = _mode(K, model.members, model.alpha, t, weight, model.mean, old.bias)
            if trial is not None and trial.posterior.log_evidence >= old.log_evidence + tol:
                n_iter += len(made)
                state = trial
                break
            # The linearisation promised too much: one move at a time, the best that holds good.
            if len(made) == 1:
                barred[made[0]] = True
            most = 1
            model.restore(linear)


class _Mode(NamedTuple):
    """The mode of the weights, and there the values, probabilities and precisions (27)."""

    posterior: Posterior
    eta: Floats
    p: Floats
    b: Floats


def _mode(
    K: Floats,
    members: NDArray[np.intp],
    alpha: Floats,
    t: Floats,
    weight: Floats,
    w: Floats,
    bias: float,
) -> _Mode | None:
    """Find the mode for fixed precisions by Newton's method; None where float64 cannot."""
    Phi = np.ascontiguousarray(K[:, members])

    def value(eta: Floats, w: Floats) -> float:
        return float(weight @ (t * eta - np.logaddexp(0.0, eta)) - 0.5 * alpha @ (w * w))

    eta = Phi @ w + bias
    height = value(eta, w)
    for _ in range(_NEWTON_STEPS):
        p = expit(eta)
        b = weight * p * expit(-eta)
        total = float(b.sum())
        if not total > 0.0:
            return None
        centre = b @ Phi / total
        away = Phi - centre
        H = (away * b[:, None]).T @ away + np.diag(alpha)
        try:
            L = cholesky(H, lower=True, check_finite=False)
        except LinAlgError:
            return None
        error = weight * (t - p)
        slope = error @ Phi - alpha * w
        slope_bias = float(error.sum())
        step = cho_solve((L, True), slope - centre * slope_bias, check_finite=False)
        step_bias = slope_bias / total - float(centre @ step)
        if slope @ step + slope_bias * step_bias < _NEWTON_GAIN:
            break
        direction, length = Phi @ step + step_bias, 1.0
        while value(eta + length * direction, w + length * step) < height:
            length /= 2.0
            if length < 1e-10:  # rounding: no ascent is to be had
                break
        w, bias, eta = w + length * step, bias + length * step_bias, eta + length * direction
        height = value(eta, w)
    half = solve_triangular(L, np.eye(len(L)), lower=True, check_finite=False)
    evidence = height + 0.5 * float(
        np.log(alpha).sum() - 2.0 * np.log(L.diagonal()).sum() - np.log(total) + np.log(2 * np.pi)
    )
    posterior = Posterior(
        members.copy(), alpha.copy(), w, half.T @ half, float(bias), 1.0 / total, centre,
        0.0, evidence, 0, False,
    )  # fmt: skip
    return _Mode(posterior, eta, p, b)
