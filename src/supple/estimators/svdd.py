"""Support vector data description."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from supple import problems
from supple.estimators._outlier import BaseOutlier
from supple.locks import reads
from supple.memory import Memory


class SVDD(BaseOutlier):
    """Describe data by the smallest ball that holds most of them, exactly updatable.

    The machine minimises::

        R^2 + sum_i C_i max(0, |phi(x_i) - a|^2 - R^2)

    over the centre a and the radius R, with C_i = C * sample_weight_i. An outlier costs C, so at
    most 1 / C examples lie outside; C >= 1 keeps all inside. There is a solution only if
    C * sum_i sample_weight_i >= 1: `fit` refuses otherwise, `partial_fit` stores the examples
    and waits. In a stream the share of outliers therefore shrinks as examples come; `nu` keeps
    it: C = 1 / (nu sum_i sample_weight_i) on the examples held, whatever their number. With an RBF
    kernel this is the one-class SVM of the same nu up to scale.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid"} or callable, default="rbf"
        k(x, z) = x'z, (gamma x'z + coef0)^degree, exp(-gamma |x - z|^2), tanh(gamma x'z + coef0),
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
    C : float, default=0.1
        Cost of an example outside the ball, > 0. With 0.1, ten examples make a ball and at most
        ten are outliers. Not used if `nu` is given.
    nu : float, default=None
        Share of the weight that may lie outside the ball, in (0, 1], instead of C.
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
    radius_ : float
        Radius R of the ball in feature space.
    offset_ : float
        Value of `score_samples` at the boundary, ``-radius_ ** 2``.
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
        "kernel": [StrOptions({"linear", "poly", "rbf", "sigmoid"}), callable],
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

    @reads
    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Evaluate minus the squared distance to the centre of the ball.

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
