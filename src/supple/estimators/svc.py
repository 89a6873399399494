"""Support vector classification with cost C."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from numbers import Real
from typing import Any, Self

from sklearn.utils._param_validation import Interval, StrOptions

from supple import problems
from supple.errors import InvalidInputError
from supple.estimators._classifier import IGNORED, BaseClassifier
from supple.estimators._params import check_values, show
from supple.estimators._updates import ExactUpdates
from supple.locks import reads
from supple.memory import Memory


class SVC(BaseClassifier, ExactUpdates):
    """Classify by the maximum margin, and learn or forget examples exactly.

    For two classes y = +1, -1 the machine minimises::

        1/2 |w|^2 + sum_i C_i max(0, 1 - y_i f(x_i)),    f(x) = w'phi(x) + b,

    with C_i = C * sample_weight_i * class_weight[y_i], or the same with the square of the maximum
    (`loss`). After any sequence of `partial_fit`, `forget`, `reweight` and `retune` the model is
    the one that `fit` gives on the examples held. Parameters, attributes, shapes and signs are
    those of :class:`sklearn.svm.SVC`.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a margin error, > 0 and finite.
    kernel : str or callable, default="rbf"
        k(x, z) by name: "linear" x'z, "poly" (gamma x'z + coef0)^degree, "rbf"
        exp(-gamma |x - z|^2), "sigmoid" tanh(gamma x'z + coef0), "laplacian"
        exp(-gamma |x - z|_1), "matern32" (1 + a) exp(-a) with a = sqrt(6 gamma) |x - z|, "matern52"
        (1 + a + a^2 / 3) exp(-a) with a = sqrt(10 gamma) |x - z|;
        "precomputed", the matrix given as X (no updates);
        or a function that maps X (n, d) and Z (m, d), or sequences of n and m objects, to the
        matrix (n, m), dense or sparse.
    degree : int, default=3
        Degree of the polynomial kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        Kernel coefficient. "scale" is 1 / (n_features * X.var()) and "auto" is 1 / n_features,
        computed from the first batch and then constant. The variance is weighted by
        `sample_weight`.
    coef0 : float, default=0.0
        Constant in the polynomial and sigmoid kernels.
    shrinking : bool, default=True
        Whether the batch solver leaves out variables that stay at a bound.
    probability : bool, default="deprecated"
        Deprecated as in scikit-learn, and without effect:
        :class:`~supple.diagnostics.LeaveOneOutCalibrator` gives probabilities.
    tol : float, default=1e-3
        Tolerance of the batch solver, whose result is then made exact. Only with an indefinite
        kernel it is the tolerance of the model.
    cache_size : float, default=200
        Size of the kernel cache in MB.
    class_weight : dict or "balanced", default=None
        Factors on C by label, default 1. `partial_fit` accepts labels that have not occurred yet;
        `fit` refuses labels that are not in y unless all classes in y are named. "balanced" gives
        every class the same total and is for `fit` only.
    verbose : bool or int, default=False
        Print one line for each update and, about once a second, the progress of long ones.
    max_iter : int, default=-1
        Limit on the iterations of a solver, -1 for none. A model stopped early is not exact and
        gives a NotConvergedWarning.
    n_jobs : int, default=None
        Threads that large fits and predictions may use; None means 1, -1 all processors. The
        result does not depend on it. May be changed at any time.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        One column per class, or one per pair of classes. Ignored for two classes.
    break_ties : bool, default=False
        Whether `predict` breaks ties of votes by the decision function ("ovr").
    random_state : int, RandomState instance or None, default=None
        Ignored, as in scikit-learn without `probability`: nothing here is random.
    multi_class : {"ovo", "ovr"}, default="ovo"
        One machine per pair of classes, or one per class against the rest.
    memory : Memory, default=None
        Which examples to keep and which to forget: :class:`~supple.memory.Window`,
        :class:`~supple.memory.AdaptiveWindow`, :class:`~supple.memory.Budget`,
        :class:`~supple.memory.Decay` or :class:`~supple.memory.SupportVectors`. None keeps all.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        What a margin error xi_i = max(0, 1 - y_i f(x_i)) costs: C_i xi_i, or C_i xi_i^2 as in
        :class:`sklearn.svm.LinearSVC`, but with an intercept that costs nothing. Coefficients then
        have no upper bound: alpha_i = 2 C_i xi_i.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted labels of the classes that have examples with positive weight; both of two classes
        declared to `partial_fit`.
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
        Ids of the examples held (int64 or objects), and their groups or None.
    memory_ : Memory
        The memory in use and what it remembers, a copy.
    sample_weight_ : ndarray of shape (n_held,)
        Weights of the examples held, in the order of ``ids_``.
    n_samples_seen_ : int
        Examples learned since the last `fit`, forgotten ones included.
    n_kernel_evals_ : int
        Kernel values computed for learning since the last `fit`.
    kkt_violation_, dual_objective_ : float
        Largest violation of the optimality conditions, and value of the dual; computed on access.
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
    >>> from supple import SVC
    >>> model = SVC(kernel="linear").fit([[0.0], [1.0], [3.0], [4.0]], ["a", "a", "b", "b"])
    >>> model.predict([[1.5], [2.5]])
    array(['a', 'b'], dtype='<U1')
    >>> _ = model.partial_fit([[2.5]], ["a"]).forget(0)
    >>> model.ids_.size, model.n_samples_seen_
    (4, 5)
    """

    _parameter_constraints: dict[str, Any] = {
        **BaseClassifier._parameter_constraints,
        **ExactUpdates._parameter_constraints,
        **IGNORED,
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "loss": [StrOptions({"hinge", "squared_hinge"})],
    }
    _tunable = ("C", "class_weight", *BaseClassifier._tunable)
    _free = BaseClassifier._free | IGNORED.keys()

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: Any = "deprecated",
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: bool | int = False,
        max_iter: int = -1,
        n_jobs: int | None = None,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        multi_class: str = "ovo",
        memory: Memory | None = None,
        loss: str = "hinge",
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.multi_class = multi_class
        self.memory = memory
        self.loss = loss

    def _problem(self, params: Mapping[str, Any]) -> problems.CSVC:
        return problems.CSVC(float(params["C"]), squared=params.get("loss") == "squared_hinge")

    @reads
    def regularization_path(self, Cs: Iterable[float]) -> Iterator[Self]:
        """Yield the exact models for a sequence of C, each computed from the one before.

        Parameters
        ----------
        Cs : iterable of float
            Values of C > 0, in the order they are visited; sorted values are fastest.

        Yields
        ------
        model : SVC
            An independent model with that C. The model itself does not change.

        Examples
        --------
        >>> model = SVC(kernel="linear").fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
        >>> [(m.C, len(m.support_)) for m in model.regularization_path([0.1, 10.0])]
        [(0.1, 4), (10.0, 4)]
        """
        self._fitted()
        try:
            costs = list(Cs)
        except TypeError:
            raise InvalidInputError(
                f"'Cs' must be a sequence of values of C. Got {show(Cs)} instead. For a single "
                "value give [C], or call retune(C=C)."
            ) from None
        if not costs:
            raise InvalidInputError(
                "'Cs' must hold at least one value of C. Got none instead. Give, say, [0.1, 1, 10]."
            )
        for C in costs:
            check_values(type(self), self._parameter_constraints, {"C": C})
        # A copy: the path starts from the model as it is at this call.
        return _walk(copy.deepcopy(self), costs)


def _walk(walker: SVC, costs: list[float]) -> Iterator[SVC]:
    for C in costs:
        # A copy: the caller may change it without effect on the path.
        yield copy.deepcopy(walker.retune(C=C))
