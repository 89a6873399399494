"""Support vector classification with a fixed memory."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions

from supple.estimators._docs import completed_by
from supple.estimators._params import KERNEL_OF_POINTS
from supple.estimators.svc import SVC
from supple.memory import Budget


@completed_by(SVC)
class BudgetSVC(SVC):
    """Classify by the maximum margin with at most `budget` examples in memory.

    This is :class:`SVC` with ``memory=Budget(budget, rule)``. The examples are learned one by one;
    when more than `budget` are held, :class:`~supple.memory.Budget` chooses two to merge or one to
    remove. All steps are exact: the model is always the optimum on the examples held. It equals
    :class:`SVC` until the budget is met and depends on the order of the examples afterwards. All
    kernel values are kept, in about 20 budget^2 bytes whatever `cache_size` (up to 256 MB).

    Parameters
    ----------
    budget : int, default=500
        Most examples held between two examples of the stream, at least 2. With fewer examples than
        classes, classes are forgotten.
    rule : {"merge", "relevance", "oldest"}, default="merge"
        How to reduce them: remove an example that no machine needs, or else merge the closest two
        of one class; remove the least relevant one (Tax & Laskov 2003); or remove the oldest.
    kernel : str or callable, default="rbf"
        As in :class:`SVC`, except "precomputed", which takes no updates.

    Attributes
    ----------
    memory_ : Budget
        The memory in use; its ``stands_for_`` lists merged examples.

    Examples
    --------
    >>> import numpy as np
    >>> from supple import BudgetSVC
    >>> X = np.arange(20.0)[:, None]
    >>> model = BudgetSVC(budget=4, kernel="linear", C=10.0).fit(X, X[:, 0] > 9.5)
    >>> sorted(model.support_ids_.tolist()), model.ids_.size, model.n_samples_seen_
    ([9, 10], 4, 20)
    """

    _parameter_constraints: dict[str, Any] = {
        **SVC._parameter_constraints,
        "kernel": KERNEL_OF_POINTS,
        "budget": [Interval(Integral, 2, None, closed="left")],
        "rule": [StrOptions({"merge", "relevance", "oldest"})],
    }

    def __init__(
        self,
        *,
        budget: int = 500,
        rule: str = "merge",
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
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
        super().__init__(
            C=C,
            kernel=kernel,
            degree=degree,
            gamma=gamma,
            coef0=coef0,
            shrinking=shrinking,
            tol=tol,
            cache_size=cache_size,
            class_weight=class_weight,
            verbose=verbose,
            max_iter=max_iter,
            n_jobs=n_jobs,
            decision_function_shape=decision_function_shape,
            break_ties=break_ties,
            multi_class=multi_class,
        )
        self.budget = budget
        self.rule = rule

    def _memory(self, params: Mapping[str, Any]) -> Budget:
        return Budget(params["budget"], params["rule"])
