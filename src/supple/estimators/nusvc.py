"""Support vector classification with nu, a bound on the share of margin errors."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

from sklearn.utils._param_validation import Interval

from supple import problems
from supple.estimators._classifier import IGNORED, BaseClassifier
from supple.estimators._docs import completed_by
from supple.estimators._updates import ExactUpdates
from supple.estimators.svc import SVC
from supple.memory import Memory


@completed_by(SVC)
class NuSVC(BaseClassifier, ExactUpdates):
    """Classify by the maximum margin with a given share of margin errors, exactly updatable.

    For two classes y = +1, -1 the machine minimises::

        1/2 |w|^2 - nu W rho + sum_i w_i max(0, rho - y_i f(x_i)),    W = sum_i w_i,

    over w, b and rho >= 0, with w_i = sample_weight_i; f is then scaled to rho = 1. nu is an
    upper bound on the share of margin errors and a lower bound on the share of support vectors.
    There is a solution only if nu <= 2 min(W+, W-) / W with the weights W+ and W- of the two
    classes: otherwise `fit` raises, and `partial_fit` stores the examples and waits. Parameters,
    attributes, shapes and signs are those of :class:`sklearn.svm.NuSVC`, without
    `class_weight`, which has no effect there: use `sample_weight`.

    Parameters
    ----------
    nu : float, default=0.5
        Share of margin errors, in (0, 1].

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
