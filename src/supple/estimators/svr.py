"""Support vector regression."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.utils._param_validation import Interval

from supple import problems
from supple.estimators._classifier import BaseClassifier
from supple.estimators._docs import completed_by
from supple.estimators._ids import IdsLike
from supple.estimators._model import Names
from supple.estimators._targets import Numbers
from supple.estimators._updates import ExactUpdates
from supple.estimators.svc import SVC
from supple.locks import reads, replaces, writes
from supple.memory import Memory


@completed_by(SVC)
class SVR(RegressorMixin, ExactUpdates):
    """Fit a function within a tube of width epsilon, and learn or forget examples exactly.

    The machine minimises::

        1/2 |w|^2 + sum_i C_i max(0, |y_i - f(x_i)| - epsilon),    f(x) = w'phi(x) + b,

    with C_i = C * sample_weight_i. After any sequence of `partial_fit`, `forget`, `reweight`
    and `retune` the model is the one that `fit` gives on the examples held. Parameters,
    attributes and shapes are those of :class:`sklearn.svm.SVR`.

    Parameters
    ----------
    C : float, default=1.0
        Cost of an error beyond epsilon, > 0.
    epsilon : float, default=0.1
        Half width of the tube in which errors cost nothing, >= 0.

    Attributes
    ----------
    support_, support_ids_ : ndarray of shape (n_SV,)
        Positions of the support vectors in ``ids_``, and their ids.
    n_support_ : ndarray of shape (1,)
        Number of support vectors.
    dual_coef_ : ndarray or CSR of shape (1, n_SV)
        Coefficients of the support vectors in the decision function.
    coef_ : ndarray or CSR of shape (1, n_features)
        Weights of the features, linear kernel only.
    intercept_ : ndarray of shape (1,)
        Constant of the decision function.
    n_iter_ : int
        Iterations of the solvers in the last update.

    Examples
    --------
    >>> from supple import SVR
    >>> model = SVR(kernel="linear", C=100.0, epsilon=0.0)
    >>> _ = model.fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> model.partial_fit([[3.0]], [7.0]).predict([[10.0]]).round(6)
    array([21.])
    """

    _parameter_constraints: dict[str, Any] = {
        **ExactUpdates._parameter_constraints,
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "epsilon": [Interval(Real, 0.0, None, closed="left")],
    }
    _targets = Numbers()
    _tunable = ("C", "epsilon", *ExactUpdates._tunable)

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
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
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.memory = memory

    def _problem(self, params: Mapping[str, Any]) -> problems.EpsSVR:
        return problems.EpsSVR(float(params["C"]), float(params["epsilon"]))

    @completed_by(BaseClassifier.fit)
    @replaces
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        *,
        ids: IdsLike | None = None,
        groups: IdsLike | None = None,
        timestamps: ArrayLike | None = None,
    ) -> Self:
        """Fit the function to a training set, replacing what was learned before.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Target values.
        """
        return self._begin(X, y, sample_weight, Names(ids, groups, timestamps), whole=True)

    @completed_by(BaseClassifier.partial_fit)
    @writes
    def partial_fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        *,
        ids: IdsLike | None = None,
        groups: IdsLike | None = None,
        timestamps: ArrayLike | None = None,
    ) -> Self:
        """Add examples to the model exactly; start a model if there is none.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Their target values.
        """
        return self._learn_more(X, y, sample_weight, Names(ids, groups, timestamps))

    @reads
    def predict(self, X: Any) -> NDArray[np.float64]:
        """Evaluate the fitted function.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Query points.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            Predicted values f(x).
        """
        return self._decide(X, self._fitted())[:, 0]
