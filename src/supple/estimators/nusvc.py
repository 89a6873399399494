"""Support vector classification with nu, a bound on the share of margin errors."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

from sklearn.utils._param_validation import Interval

from supple import problems
from supple.estimators._classifier import IGNORED, BaseClassifier
from supple.estimators._updates import ExactUpdates
from supple.memory import Memory


class NuSVC(BaseClassifier, ExactUpdates):
    """Classify by the maximum margin with a given share of margin errors, exactly updatable.

    For two classes y = +1, -1 the machine minimises::

        1/2 |w|^2 - nu W rho + sum_i w_i max(0, rho - y_i f(x_i)),    W = sum_i w_i,

    over w, b and rho >= 0, with w_i = sample_weight_i; f is then scaled to rho = 1. nu is an
    upper bound on the share of margin errors and a lower bound on the share of support vectors.
    There is a solution only if nu <= 2 min(W+, W-) / W with the weights W+ and W- of the two
    classes: `fit` refuses otherwise, `partial_fit` stores the examples and waits. Parameters,
    attributes, shapes and signs are those of :class:`sklearn.svm.NuSVC`, without
    `class_weight`, which has no effect there: use `sample_weight`.

    Parameters
    ----------
    nu : float, default=0.5
        Share of margin errors, in (0, 1].
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
    shrinking : bool, default=True
        Whether the batch solver leaves out variables that are settled at a bound.
    probability : bool, default="deprecated"
        Deprecated as in scikit-learn, and without effect: `fit` points to
        :class:`~supple.diagnostics.LeaveOneOutCalibrator`, which gives probabilities.
    tol : float, default=1e-3
        Tolerance at which the batch solver hands over to the exact finish; the tolerance of
        the result only if the kernel is indefinite.
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
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        One column per class, or one per pair of classes. Ignored for two classes.
    break_ties : bool, default=False
        Whether `predict` settles equal numbers of votes by the decision function ("ovr").
    random_state : int, RandomState instance or None, default=None
        Ignored, as in scikit-learn without `probability`: nothing here is random.
    multi_class : {"ovo", "ovr"}, default="ovo"
        One machine per pair of classes, or one per class against the rest.
    memory : Memory, default=None
        Whom to keep and whom to forget as examples come: :class:`~supple.memory.Window`,
        :class:`~supple.memory.Budget`, :class:`~supple.memory.Decay` or
        :class:`~supple.memory.SupportVectors`. None keeps all.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted labels of the classes that have examples with positive weight; of
        two classes declared to `partial_fit` both.
    support_, support_ids_ : ndarray of shape (n_SV,)
        Positions of the support vectors in ``ids_``, grouped by class, and their ids.
    support_vectors_ : ndarray or CSR of shape (n_SV, n_features)
        Support vectors.
    n_support_ : ndarray of shape (n_classes,)
        Number of support vectors of each class.
    dual_coef_ : ndarray or CSR of shape (n_classes - 1, n_SV)
        Coefficients y_i alpha_i in the layout of LIBSVM; one row per class for
        ``multi_class="ovr"`` and more than two classes.
    coef_ : ndarray or CSR of shape (n_machines, n_features)
        Weights of the features, linear kernel only.
    intercept_ : ndarray of shape (n_machines,)
        Constants of the decision functions.
    class_weight_ : ndarray of shape (n_classes,)
        Weights of the classes.
    n_iter_ : ndarray of shape (n_machines,)
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
    >>> from supple import NuSVC
    >>> model = NuSVC(nu=0.5, kernel="linear").fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> model.predict([[1.5], [2.5]])
    array([0, 1])
    """

    _parameter_constraints: dict[str, Any] = {
        **BaseClassifier._parameter_constraints,
        **ExactUpdates._parameter_constraints,
        **IGNORED,
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
    }
    _tunable = ("nu", *BaseClassifier._tunable)
    _free = BaseClassifier._free | IGNORED.keys()
    _may_wait = True

    def __init__(
        self,
        *,
        nu: float = 0.5,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: Any = "deprecated",
        tol: float = 1e-3,
        cache_size: float = 200,
        verbose: bool | int = False,
        max_iter: int = -1,
        n_jobs: int | None = None,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        multi_class: str = "ovo",
        memory: Memory | None = None,
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.multi_class = multi_class
        self.memory = memory

    def _problem(self, params: Mapping[str, Any]) -> problems.NuSVC:
        return problems.NuSVC(float(params["nu"]))
