"""Jackknife+: intervals from the exact leave-one-out models of a regression."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from supple._core import make_ready_for_paths
from supple.diagnostics._checks import check_two, examine, warn_inexact
from supple.diagnostics._conformal_base import ConformalPredictor, check_level, fresh, held
from supple.engine import State
from supple.estimators import SVR
from supple.estimators._batch import check_query
from supple.estimators._ids import IdsLike
from supple.interrupts import Interruptible, Shielded
from supple.locks import guards
from supple.problems import EpsSVR
from supple.qp import NO_RIDGE, Move
from supple.solvers import solve

__all__ = ["ConformalRegressor"]


class ConformalRegressor(RegressorMixin, ConformalPredictor):
    r"""Jackknife+ intervals of an exact support vector regression.

    With :math:`f^{\setminus i}` the function without example :math:`i` and
    :math:`r_i = |y_i - f^{\setminus i}(x_i)|`, the interval at :math:`z` for the level
    :math:`1 - \alpha` goes from the :math:`\lfloor \alpha (n + 1) \rfloor`-th smallest of
    :math:`f^{\setminus i}(z) - r_i` to the :math:`\lceil (1 - \alpha)(n + 1) \rceil`-th smallest of
    :math:`f^{\setminus i}(z) + r_i`. If the examples are exchangeable, it contains the target with
    probability at least :math:`1 - 2\alpha`, and in practice about :math:`1 - \alpha`. Nothing is
    fitted anew: each support vector is removed along the exact path and restored to the last bit;
    the other examples do not affect the function.

    Parameters
    ----------
    estimator : SVR or another exact regression of supple, default=None
        Copied at `fit`. None: ``SVR()``.

    Attributes
    ----------
    estimator_ : object
        The fitted regression.

    Notes
    -----
    With few examples or a high level, :math:`\alpha (n + 1) < 1`, intervals are infinite. Examples
    of weight 0 do not count.

    References
    ----------
    R. F. Barber, E. J. Candès, A. Ramdas, R. J. Tibshirani: Predictive inference with the
    jackknife+. Annals of Statistics 49, 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from supple import SVR
    >>> from supple.diagnostics import ConformalRegressor
    >>> X = np.linspace(0.0, 6.0, 60)[:, None]
    >>> y = np.sin(X[:, 0]) + 0.1 * np.cos(40.0 * X[:, 0])
    >>> conformal = ConformalRegressor(SVR(C=10.0, gamma=1.0, epsilon=0.05)).fit(X, y)
    >>> low, high = conformal.predict_interval([[1.57]], level=0.9)[0]
    >>> bool(0.8 < low < 1.0 < high < 1.2)
    True
    """

    def __init__(self, estimator: Any = None) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any, *, ids: IdsLike | None = None) -> Self:
        """Fit a copy of the estimator, replacing what was learned before.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points.
        y : array-like of shape (n_samples,)
            Targets.
        ids : iterable of int, str or other hashable, default=None
            Ids of the examples, for `forget`.

        Returns
        -------
        self : object
        """
        self.estimator_ = fresh(self, SVR, EpsSVR).fit(X, y, ids=ids)
        return self

    def partial_fit(self, X: Any, y: Any, *, ids: IdsLike | None = None) -> Self:
        """Learn further examples exactly; start if there are none.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            New points.
        y : array-like of shape (n_samples,)
            Their targets.
        ids : iterable of int, str or other hashable, default=None
            Ids of the examples, for `forget`.

        Returns
        -------
        self : object
        """
        estimator = getattr(self, "estimator_", None) or fresh(self, SVR, EpsSVR)
        self.estimator_ = estimator.partial_fit(X, y, ids=ids)
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the values of the function fitted to all examples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Query points.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
        """
        values: NDArray[np.float64] = held(self).predict(X)
        return values

    def predict_interval(self, X: Any, level: float = 0.9) -> NDArray[np.float64]:
        """Return an interval for the target of each query.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Query points.
        level : float, default=0.9
            Required probability that the interval contains the target, between 0 and 1.

        Returns
        -------
        intervals : ndarray of shape (n_samples, 2)
            Lower and upper ends.
        """
        alpha = 1.0 - check_level(self, level)
        estimator, action = held(self), "predict_interval"
        with guards(estimator).writing, Shielded():
            model, slots = examine(estimator, None, action)
            state = model.state
            slots = slots[state.weight > 0.0]
            check_two(state, action)
            points = check_query(estimator, X, model)
            values, residual = _without_each(state, points, slots, model.engine.run.threads)
        n = len(slots)
        # The tolerance absorbs the rounding of levels such as 0.9.
        below = math.floor(alpha * (n + 1) + 1e-9)
        if below == 0:
            return np.tile([-np.inf, np.inf], (len(values), 1))
        low = np.partition(values - residual, below - 1, axis=1)[:, below - 1]
        high = np.partition(values + residual, n - below, axis=1)[:, n - below]
        return np.column_stack([low, high])


def _without_each(
    state: State, points: Any, slots: NDArray[np.int64], threads: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the values at the points without each example, and the residual at the example."""
    ((key, head),) = state.head_states.items()
    core, reader = head.core, state.heads[key]
    assert state.gram is not None
    before, state.gram.core.threads = state.gram.core.threads, threads
    saved = core.save(for_trials=True)
    try:
        with Interruptible():
            make_ready_for_paths(core)
            members = core.slot
            kernel = state.kernel_values(points, members)
            ready = core.save(for_trials=True)

        def now() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            if core.rough:
                core.refresh()
            return kernel @ core.x.reshape(-1, 2).sum(axis=1) + core.mu[0], core.kx + core.mu[0]

        values, own = now()
        fitted = np.empty(state.n)
        fitted[members] = own
        out = np.tile(values[:, None], (1, len(slots)))
        residual = np.abs(state.y[slots] - fitted[slots])
        place = np.empty(state.n, dtype=np.intp)
        place[members] = np.arange(len(members))
        inexact = 0
        needed = np.isin(slots, np.concatenate([reader.slots, reader.bounding()]))
        for k in np.flatnonzero(needed).tolist():
            own_variables = core.variables_at(slots[k : k + 1])
            zero = np.zeros(len(own_variables))
            with Interruptible():
                result = solve(
                    core,
                    Move(own_variables, zero, zero, NO_RIDGE, core.target[:1]),
                    state.settings,
                    cold=False,
                )
            inexact += not result.within_tolerance
            out[:, k], fitted_now = now()
            residual[k] = abs(state.y[slots[k]] - fitted_now[place[slots[k]]])
            core.restore(ready)
    finally:
        core.restore(saved)
        state.gram.core.threads = before
        state.gram.core.release()
    warn_inexact(inexact, "without an example")
    return out, residual
