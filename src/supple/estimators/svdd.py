"""Support vector data description."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval

from supple import problems
from supple.estimators._docs import completed_by
from supple.estimators._outlier import BaseOutlier
from supple.estimators._params import KERNEL_OF_POINTS
from supple.estimators.svr import SVR
from supple.locks import reads
from supple.memory import Memory


@completed_by(SVR)
class SVDD(BaseOutlier):
    """Describe data by the smallest ball that holds most of them, exactly updatable.

    The machine minimises::

        R^2 + sum_i C_i max(0, |phi(x_i) - a|^2 - R^2)

    over the centre a and the radius R, with C_i = C * sample_weight_i. An outlier costs C, so at
    most 1 / C examples lie outside; C >= 1 keeps all inside. There is a solution only if
    C * sum_i sample_weight_i >= 1: otherwise `fit` raises, and `partial_fit` stores the examples
    and waits. In a growing set the share of outliers therefore shrinks; `nu` keeps it constant by
    C = 1 / (nu sum_i sample_weight_i). With an RBF kernel this is the one-class SVM of the same nu
    up to scale.

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        As in :class:`SVC`, except "precomputed".
    C : float, default=0.1
        Cost of an example outside the ball, > 0. With 0.1, ten examples make a ball and at most
        ten are outliers. Not used if `nu` is given.
    nu : float, default=None
        Share of the weight that may lie outside the ball, in (0, 1], instead of C.

    Attributes
    ----------
    radius_ : float
        Radius R of the ball in feature space.
    offset_ : float
        Value of `score_samples` at the boundary, ``-radius_ ** 2``.

    Examples
    --------
    >>> from supple import SVDD
    >>> model = SVDD(kernel="linear", C=1.0).fit([[-1.0], [0.0], [1.0]])
    >>> round(model.radius_, 6)
    1.0
    >>> model.predict([[0.5], [3.0]])
    array([ 1, -1])
    """

    _parameter_constraints: dict[str, Any] = {
        **BaseOutlier._parameter_constraints,
        # The distance to the centre needs k(x, x), which a precomputed matrix of query points
        # against training points does not hold.
        "kernel": KERNEL_OF_POINTS,
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "nu": [Interval(Real, 0.0, 1.0, closed="right"), None],
    }
    _tunable = ("C", "nu", *BaseOutlier._tunable)
    _may_wait = True

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 0.1,
        nu: float | None = None,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: bool | int = False,
        max_iter: int = -1,
        n_jobs: int | None = None,
        memory: Memory | None = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.memory = memory

    def _problem(self, params: Mapping[str, Any]) -> problems.SVDD:
        nu = params["nu"]
        return problems.SVDD(float(params["C"]), None if nu is None else float(nu))

    @property
    @reads
    def radius_(self) -> float:
        """Radius of the ball in feature space."""
        return float(np.sqrt(max(-self.offset_, 0.0)))

    @property
    @reads
    def offset_(self) -> float:
        """Value of `score_samples` at the boundary, minus the squared radius."""
        model = self._fitted()
        if "offset" not in model.cache:
            self._require_ready(model, "has no radius yet")
            (head,) = model.state.heads.values()
            slots, coef = head.slots, head.coef
            decision = model.state.decision(model.state.points(slots), self._threads())[:, 0]
            # R^2 = x'Kx + 2 mu, where 2 (Kx)_i = f(x_i) + k(x_i, x_i) - 2 mu and x sums to 1.
            mean = coef @ (decision + model.state.diagonal(slots)) / coef.sum()
            model.cache["offset"] = -0.5 * float(mean + head.intercept)
        return model.cache["offset"]
