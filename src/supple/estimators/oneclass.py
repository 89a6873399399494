"""One-class support vector machine."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from supple import problems
from supple.estimators._docs import completed_by
from supple.estimators._outlier import BaseOutlier
from supple.estimators.svr import SVR
from supple.locks import reads
from supple.memory import Memory


@completed_by(SVR)
class OneClassSVM(BaseOutlier):
    """Estimate the support of a distribution by a half space, exactly updatable.

    The machine minimises::

        1/2 |w|^2 - nu W rho + sum_i w_i max(0, rho - w'phi(x_i)),    W = sum_i w_i,

    with w_i = sample_weight_i. nu is an upper bound on the share of outliers and a lower bound
    on the share of support vectors. After any sequence of `partial_fit`, `forget`, `reweight`
    and `retune` the model is the one that `fit` gives on the examples held. Parameters,
    attributes, shapes and signs are those of :class:`sklearn.svm.OneClassSVM`.

    Parameters
    ----------
    nu : float, default=0.5
        Share of outliers, in (0, 1].

    Attributes
    ----------
    offset_ : ndarray of shape (1,)
        Value of `score_samples` at the boundary, ``-intercept_``.

    Examples
    --------
    >>> from supple import OneClassSVM
    >>> model = OneClassSVM(gamma="auto").fit([[0.0], [0.44], [0.45], [0.46], [1.0]])
    >>> model.predict([[0.45], [1.0]])
    array([ 1, -1])
    """

    _parameter_constraints: dict[str, Any] = {
        **BaseOutlier._parameter_constraints,
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
    }
    _tunable = ("nu", *BaseOutlier._tunable)

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        nu: float = 0.5,
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
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.memory = memory

    def _problem(self, params: Mapping[str, Any]) -> problems.OneClass:
        return problems.OneClass(float(params["nu"]))

    @property
    @reads
    def offset_(self) -> NDArray[np.float64]:
        """Value of `score_samples` at the boundary."""
        return -self.intercept_
