"""Support vector data description of the latest examples."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any

from sklearn.utils._param_validation import Interval

from supple.estimators._docs import completed_by
from supple.estimators.svdd import SVDD
from supple.memory import Window


@completed_by(SVDD)
class BudgetSVDD(SVDD):
    """Describe the latest `budget` examples of a stream by the smallest ball that holds most.

    Online novelty detection (Tax & Laskov 2003): every example is learned exactly, and beyond
    `budget` examples the oldest is forgotten exactly. The model is that of :class:`SVDD` on
    the window::

        min  R^2 + sum_{i in the last budget examples} C_i max(0, |phi(x_i) - a|^2 - R^2),

    at the cost of one kernel row for each example. There is a solution once C times the weights
    in the window reach 1; until then `partial_fit` stores the examples and waits.

    Parameters
    ----------
    budget : int, default=500
        Length of the window.

    Examples
    --------
    >>> from supple import BudgetSVDD
    >>> model = BudgetSVDD(budget=3, kernel="linear", C=1.0)
    >>> _ = model.partial_fit([[9.0], [-1.0], [0.0], [1.0]])
    >>> model.ids_.tolist(), round(model.radius_, 6)
    ([3, 1, 2], 1.0)
    >>> model.predict([[0.5], [9.0]])
    array([ 1, -1])
    """

    _parameter_constraints: dict[str, Any] = {
        **SVDD._parameter_constraints,
        "budget": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        *,
        budget: int = 500,
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
    ) -> None:
        super().__init__(
            kernel=kernel,
            degree=degree,
            gamma=gamma,
            coef0=coef0,
            tol=tol,
            C=C,
            nu=nu,
            shrinking=shrinking,
            cache_size=cache_size,
            verbose=verbose,
            max_iter=max_iter,
            n_jobs=n_jobs,
        )
        self.budget = budget

    def _memory(self, params: Mapping[str, Any]) -> Window:
        return Window(params["budget"])
