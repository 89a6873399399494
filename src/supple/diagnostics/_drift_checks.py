"""Checks of the parameters and the input of a DriftWatch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.errors import InvalidInputError
from supple.estimators._params import show

# Shorter run lengths were not simulated.
_SHORTEST_RUN = 100


def check_parameters(watch: Any) -> None:
    """Raise if a parameter has a value that is not allowed."""
    _check_estimator(watch.estimator)
    run = watch.run_length
    if not (_is_number(run, Real) and _SHORTEST_RUN <= run < np.inf):
        _refuse(
            "run_length",
            f"a finite number >= {_SHORTEST_RUN}",
            run,
            "10,000 allows one false alarm in 10,000 examples on average.",
        )
    for name, least in (("n_fit", 1), ("n_reference", 1), ("random_state", 0)):
        value = getattr(watch, name)
        if not (_is_number(value, Integral) and value >= least):
            _refuse(name, f"an integer >= {least}", value, "Leave it out for the default.")
    hooks = listeners(watch.on_drift)
    if not all(callable(each) for each in hooks):
        _refuse(
            "on_drift",
            "a function of one argument, a sequence of such, or None",
            watch.on_drift,
            "print shows the alarms.",
        )


def listeners(on_drift: Any) -> Sequence[Callable[[Any], Any]]:
    """Return the callbacks as a sequence."""
    if on_drift is None:
        return ()
    return on_drift if isinstance(on_drift, list | tuple) else (on_drift,)


def check_rows(watch: Any, X: Any, width: int | None) -> NDArray[np.float64]:
    """Return the rows as a matrix of finite numbers with `width` columns, if that is known."""
    if watch.estimator is None:
        raise InvalidInputError(
            "This DriftWatch has no 'estimator' that could score the 'X' given to update. Make "
            "one with DriftWatch(SVDD(nu=0.1)), or give scores to update_scores."
        )
    rows = _numbers("X", X, "a matrix of numbers, one row for each example")
    if rows.ndim != 2 or 0 in rows.shape:
        raise InvalidInputError(
            "The 'X' given to DriftWatch must be a matrix of numbers, one row for each example. "
            f"Got an array of shape {rows.shape} instead. A single example is X.reshape(1, -1)."
        )
    if width is not None and rows.shape[1] != width:
        raise InvalidInputError(
            f"The 'X' given to DriftWatch must have {width} features as before. Got "
            f"{rows.shape[1]} instead. Use another DriftWatch for another stream."
        )
    return rows


def check_scores(watch: Any, scores: Any, *, found: bool = False) -> NDArray[np.float64]:
    """Return scores, given by the user or `found` by the detector, as finite numbers."""
    if found:
        return _numbers("scores of the estimator", scores, "numbers")
    if watch.estimator is not None:
        raise InvalidInputError(
            "This DriftWatch scores rows by its 'estimator' and takes no scores. Give rows to "
            "update, or make one without an estimator: DriftWatch()."
        )
    values = np.atleast_1d(_numbers("scores", scores, "a number or a sequence of numbers"))
    if values.ndim != 1 or not len(values):
        raise InvalidInputError(
            "The 'scores' given to DriftWatch must be a number or a sequence of numbers. Got an "
            f"array of shape {values.shape} instead. score_samples returns such a sequence."
        )
    return values


def _numbers(name: str, values: Any, wanted: str) -> NDArray[np.float64]:
    """Return finite floats; refuse dates and times, which NumPy would convert."""
    try:
        given = np.asarray(values)
        numbers = given.astype(np.float64) if given.dtype.kind in "biufO" else None
    except (TypeError, ValueError):
        numbers = None
    if numbers is None:
        raise InvalidInputError(
            f"The {name!r} given to DriftWatch must be {wanted}. Got {show(values)} instead. "
            "Turn dates, texts and categories into numbers, and sparse matrices into dense ones."
        )
    if not np.isfinite(numbers).all():
        raise InvalidInputError(
            f"The {name!r} given to DriftWatch must be finite. Got NaN or infinity in "
            f"{show(values)}. Remove or impute what is missing."
        )
    return numbers


def _check_estimator(estimator: Any) -> None:
    fits = all(callable(getattr(estimator, name, None)) for name in ("fit", "score_samples"))
    if estimator is not None and (isinstance(estimator, type) or not fits):
        what = estimator.__name__ if isinstance(estimator, type) else estimator
        _refuse(
            "estimator",
            "an outlier detector with fit and score_samples, or None",
            what,
            "SVDD(nu=0.1) is one; None stands for scores that you give.",
        )


def _is_number(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool | np.bool_)


def _refuse(name: str, wanted: str, value: Any, remedy: str) -> None:
    raise InvalidInputError(
        f"The {name!r} parameter of DriftWatch must be {wanted}. Got {show(value)} instead. "
        f"{remedy}"
    )
