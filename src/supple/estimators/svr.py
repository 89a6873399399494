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
from supple.estimators._batch import RegressionTargets
from supple.estimators._ids import IdsLike
from supple.estimators._model import Names
from supple.estimators._updates import ExactUpdates
from supple.locks import reads, replaces, writes
from supple.memory import Memory


class SVR(RegressionTargets, RegressorMixin, ExactUpdates):
    """Fit a function within a tube of width epsilon, and learn or forget examples exactly.

    The machine minimises::

        1/2 |w|^2 + sum_i C_i max(0, |y_i - f(x_i)| - epsilon),    f(x) = w'phi(x) + b,

    with C_i = C * sample_weight_i. After any sequence of `partial_fit`, `forget`, `reweight`
    and `retune` the model is the one that `fit` gives on the examples held. Parameters,
    attributes and shapes are those of :class:`sklearn.svm.SVR`.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default="rbf"
        k(x, z) = x'z, (gamma x'z + coef0)^degree, exp(-gamma |x - z|^2), tanh(gamma x'z + coef0),
        the matrix given as X (no updates),
        or a function that maps X (n, d) and Z (m, d), or sequences of n and m objects, to the
        matrix (n, m), dense or sparse.
    degree : int, default=3
        Degree of the polynomial kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        Kernel coefficient. "scale" is 1 / (n_features * X.var()) and "auto" is 1 / n_features,
        computed from the first batch and kept from then on. The variance is weighted by
        `sample_weight`.
    coef0 : float, default=0.0
        Constant in the polynomial and sigmoid kernels.
    tol : float, default=1e-3
        Tolerance at which the batch solver hands over to the exact finish; the tolerance of
        the result only if the kernel is indefinite.
    C : float, default=1.0
        Cost of an error beyond epsilon, > 0.
    epsilon : float, default=0.1
        Half width of the tube in which errors cost nothing, >= 0.
    shrinking : bool, default=True
        Whether the batch solver leaves out variables that are settled at a bound.
    cache_size : float, default=200
        Size of the kernel cache in MB.
    verbose : bool or int, default=False
        Print one line for each update and, about once a second, how far a long one has come.
    max_iter : int, default=-1
        Limit on the iterations of a solver, -1 for none. A model stopped early is not exact
        and says so by a NotConvergedWarning.
    n_jobs : int, default=None
        Threads that large fits and predictions may use; None means 1, -1 all processors. The
        result does not depend on it. May be changed at any time.
    memory : Memory, default=None
        Whom to keep and whom to forget as examples come: :class:`~supple.memory.Window`,
        :class:`~supple.memory.Budget`, :class:`~supple.memory.Decay` or
        :class:`~supple.memory.SupportVectors`. None keeps all.

    Attributes
    ----------
    support_, support_ids_ : ndarray of shape (n_SV,)
        Positions of the support vectors in ``ids_``, and their ids.
    support_vectors_ : ndarray or CSR of shape (n_SV, n_features)
        Support vectors.
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
    ids_, groups_ : ndarray of shape (n_held,)
        Ids of the examples held (int64 or objects), and their groups, None for those of none.
    memory_ : Memory
        The memory in use and what it remembers, a copy.
    sample_weight_ : ndarray of shape (n_held,)
        Weights of the examples held, in the order of ``ids_``.
    n_samples_seen_ : int
        Examples learned since the last `fit`, forgotten ones included.
    n_kernel_evals_ : int
        Kernel values computed since the last `fit` to learn, not those of predictions.
    kkt_violation_, dual_objective_ : float
        How far from optimal the model is, and the value of the dual; computed when read.
    exact_ : bool
        False if the kernel is indefinite, or if the last update was stopped by `max_iter` or
        by rounding.
    fit_status_ : int
        0 if all machines have converged, 1 otherwise.
    shape_fit_ : tuple of int
        Number of examples held and of features.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had string column names.

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
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points; for ``kernel="precomputed"`` the square kernel matrix.
        y : array-like of shape (n_samples,)
            Target values.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0. Weight 2 is the same as two copies of an example.
        ids, groups : iterable of int, str or other hashable, default=None
            Names of the examples and what they belong to, as in `partial_fit`.
        timestamps : array-like of shape (n_samples,), default=None
            When the examples came, as in `partial_fit`.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return self._begin(X, y, sample_weight, Names(ids, groups, timestamps), whole=True)

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
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            New points.
        y : array-like of shape (n_samples,)
            Their target values.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0. An example of weight 0 is stored but has no effect.
        ids : iterable of int, str or other hashable, default=None
            Names for the examples, for `forget` and `reweight`; of one kind, and unique among
            those held. None numbers the examples in order of arrival, if ids are integers.
        groups : iterable of int, str or other hashable, default=None
            What each example belongs to, say a customer, for `forget(groups=...)`.
        timestamps : array-like of shape (n_samples,), default=None
            When the examples came: numbers or datetimes that never run backwards. For memories
            that go by time, such as ``Window(size=3600, unit="time")``, and only for these.

        Returns
        -------
        self : object
            The model that `fit` gives on all examples held (with gamma as it was resolved at
            the first batch).
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
