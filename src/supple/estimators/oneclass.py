"""One-class support vector machine."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from supple import problems
from supple.estimators._outlier import BaseOutlier
from supple.locks import reads
from supple.memory import Memory


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
    nu : float, default=0.5
        Share of outliers, in (0, 1].
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
    offset_ : ndarray of shape (1,)
        Value of `score_samples` at the boundary, ``-intercept_``.
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

    @reads
    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Evaluate the score w'phi(x), which is the decision function before the offset.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Query points.

        Returns
        -------
        score : ndarray of shape (n_samples,)
            The higher, the more ordinary.
        """
        return self.decision_function(X) + self.offset_
