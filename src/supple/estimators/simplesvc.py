"""Support vector classification by SimpleSVM."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions

from supple import problems
from supple.estimators._classifier import BaseClassifier
from supple.estimators._docs import completed_by
from supple.estimators._updates import ExactUpdates
from supple.estimators.svc import SVC


@completed_by(SVC)
class SimpleSVC(BaseClassifier, ExactUpdates):
    """Classify by the maximum margin, found by an active-set method.

    The optimum is that of :class:`SVC`; the method is SimpleSVM (Vishwanathan, Smola and Murty,
    2003) with a soft margin and a box per example. The worst violator joins the margin set S. The
    equality system of S is solved with an updated factor; the step towards its solution ends where
    a variable meets its bound and leaves S. The method ends when there is no violator. Each support
    vector costs at least one pass over all examples, so that :class:`SVC` is faster on all but
    small problems. `cache_size` should hold the kernel rows of S.

    Parameters
    ----------
    tol : float, default=1e-3
        Examples that violate the conditions by more join S one at a time; the others at once.
    max_iter : int, default=-1
        Limit on the rounds, -1 for none.
    n_jobs : int, default=None
        Threads that predictions may use; None means 1, -1 all processors.

    Attributes
    ----------
    n_iter_ : ndarray of shape (n_machines,)
        Rounds of the last update.

    Examples
    --------
    >>> from supple import SVC, SimpleSVC
    >>> from supple.datasets import load
    >>> data = load("sonar")
    >>> simple, exact = SimpleSVC().fit(data.X, data.y), SVC().fit(data.X, data.y)
    >>> abs(simple.dual_objective_ - exact.dual_objective_) < 1e-9
    True
    """

    _parameter_constraints: dict[str, Any] = {
        **BaseClassifier._parameter_constraints,
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }
    _tunable = ("C", "class_weight", *BaseClassifier._tunable)
    _simple = True

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: bool | int = False,
        max_iter: int = -1,
        n_jobs: int | None = None,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        multi_class: str = "ovo",
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.multi_class = multi_class

    def _problem(self, params: Mapping[str, Any]) -> problems.CSVC:
        return problems.CSVC(float(params["C"]))
