"""The base of conformal predictors, and checks of their parameters."""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone

from supple.errors import InvalidInputError, PrecomputedUpdateError
from supple.estimators._estimator import not_fitted
from supple.estimators._ids import IdsLike
from supple.estimators._params import refuse_balanced, show
from supple.estimators._updates import ExactUpdates
from supple.problems import Problem


def check_level(owner: Any, level: Any) -> float:
    """Return the level of confidence as a number between 0 and 1."""
    good = isinstance(level, Real) and not isinstance(level, bool | np.bool_)
    if not (good and 0.0 < float(level) < 1.0):
        raise InvalidInputError(
            f"The 'level' given to {type(owner).__name__} must be a number between 0 and 1, both "
            f"excluded. Got {show(level)} instead. 0.9 asks for one error in ten at most."
        )
    return float(level)


def fresh(owner: Any, default: type[ExactUpdates], problem: type[Problem]) -> Any:
    """Return an unfitted copy of the estimator that a conformal predictor was given."""
    given = default() if owner.estimator is None else owner.estimator
    name = type(owner).__name__
    if isinstance(given, type) or not isinstance(given, ExactUpdates):
        what = given.__name__ if isinstance(given, type) else show(given)
    elif not isinstance(given._problem(given._current_params()), problem):
        what = show(given)
    else:
        if given.kernel == "precomputed":
            raise PrecomputedUpdateError(
                f"The 'estimator' parameter of {name} cannot have kernel='precomputed', which "
                "takes no updates. Pass the kernel as a callable, kernel=function(X, Y), and the "
                "points themselves."
            )
        refuse_balanced(given._current_params(), name)
        return clone(given)
    raise InvalidInputError(
        f"The 'estimator' parameter of {name} must be a {default.__name__} of supple or another "
        f"exact estimator of the same problem. Got {what} instead. None stands for "
        f"{default.__name__}()."
    )


def held(owner: Any) -> Any:
    """Return the fitted estimator of a conformal predictor or a calibrator."""
    estimator = getattr(owner, "estimator_", None)
    if estimator is None:
        raise not_fitted(owner)
    return estimator


class ConformalPredictor(BaseEstimator):
    """Base of the conformal predictors: an estimator whose examples can be forgotten."""

    def forget(self, ids: IdsLike) -> Self:
        """Remove examples exactly, as if they had never been learned.

        Parameters
        ----------
        ids : int, str or other hashable, or iterable of these
            Their ids, see ``estimator_.ids_``.

        Returns
        -------
        self : object
        """
        held(self).forget(ids)
        return self
