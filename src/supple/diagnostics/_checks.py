"""Checks of the model and the ids given to an estimate, and warnings of inexact results."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.engine import State
from supple.errors import (
    InexactWarning,
    InfeasibleError,
    InvalidInputError,
    PrecomputedUpdateError,
    UnknownIdError,
    warn_user,
)
from supple.estimators._ids import check_ids
from supple.estimators._model import Model
from supple.estimators._params import show
from supple.estimators._updates import ExactUpdates


def check_kind(estimator: Any, action: str) -> None:
    """Raise unless `estimator` has exact updates."""
    if not isinstance(estimator, ExactUpdates):
        what = estimator.__name__ if isinstance(estimator, type) else type(estimator).__name__
        raise InvalidInputError(
            f"The 'model' given to {action} must be a fitted estimator of supple with exact "
            f"updates, such as SVC. Got {what} instead."
        )


def examine(estimator: ExactUpdates, ids: Any, action: str) -> tuple[Model, NDArray[np.int64]]:
    """Return the fitted model and the slots of the examples `ids`, all if None.

    The caller holds a guard of the estimator. Raises if the model is not exact.
    """
    name = type(estimator).__name__
    model = estimator._fitted()
    if model.params["kernel"] == "precomputed":
        raise PrecomputedUpdateError(
            f"{action} cannot work with kernel='precomputed', which takes no updates. Pass the "
            f"kernel to {name} as a callable, kernel=function(X, Y), and the points themselves."
        )
    estimator._require_ready(model, f"has nothing to estimate in {action} yet")
    slots = _slots(estimator, model, ids, action)
    if not model.state.exact:
        raise InvalidInputError(
            f"The 'model' given to {action} must be exact. Got a {name} with exact_=False: its "
            "kernel is indefinite, or its last update was stopped by max_iter or by rounding. "
            "Choose another kernel, raise max_iter, or scale the features, and fit again."
        )
    return model, slots


def _slots(estimator: ExactUpdates, model: Model, ids: Any, action: str) -> NDArray[np.int64]:
    if ids is None:
        return np.arange(model.state.n, dtype=np.int64)
    engine, given = estimator._exact(model), check_ids(ids)
    if not len(given):
        raise InvalidInputError(
            f"The 'ids' given to {action} must name at least one example. Got {show(ids)} instead. "
            "None stands for all examples held."
        )
    unknown = given[~engine.holding(given)]
    if len(unknown):
        raise UnknownIdError(
            f"Unknown 'ids' given to {action}: {show(unknown.tolist())}. The ids of the examples "
            "held are in 'ids_'."
        )
    return engine.slots(given)


def check_two(state: State, action: str) -> None:
    """Raise unless there is a model without any one of the examples."""
    if np.count_nonzero(state.weight) < 2:
        raise InfeasibleError(
            f"{action} needs two examples with weight: without the only one there is no model. Add "
            "examples by partial_fit."
        )


def warn_inexact(n: int, which: str) -> None:
    """Warn of machines, "without an example" or the like, that rounding or a limit has stopped."""
    if n:
        warn_user(
            f"{n} of the machines {which} meet the optimality conditions less well than promised: "
            "rounding or max_iter allows no better. Scale the features, lower C, or raise "
            "max_iter.",
            InexactWarning,
        )


def require_rows(X: Any, name: str, action: str, what: str) -> None:
    """Raise if X has no rows; the estimator checks the rest."""
    shape = getattr(X, "shape", None)
    n = shape[0] if shape else (len(X) if hasattr(X, "__len__") else 1)
    if n == 0:
        raise InvalidInputError(
            f"The '{name}' given to {action} must have at least one row. Got none. Give {what}."
        )
