"""Checks of weights, timestamps and targets of regression."""

from datetime import UTC, datetime
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.errors import InvalidInputError
from supple.estimators._params import show
from supple.estimators._points import check_integers

HEAVIEST = 1e290


def _not_a_number(values: NDArray[Any]) -> str:
    """Describe values that NumPy would convert though they are not numbers, "" if none."""
    if values.dtype.kind != "O":
        return "" if values.dtype.kind in "biuf" else f"dtype {values.dtype}"
    bad = (v for v in values.ravel() if not isinstance(v, Real | Decimal | np.bool_))
    return next((f"{show(v)} ({type(v).__name__})" for v in bad), "")


def as_moments(times: Any) -> NDArray[Any]:
    """Return timestamps as numbers or datetime64; those with a time zone in UTC.

    Raise TypeError or ValueError for objects that are neither.

    Examples
    --------
    >>> from datetime import datetime, timedelta, timezone
    >>> as_moments([datetime(2024, 1, 1, tzinfo=timezone(timedelta(hours=1)))])
    array(['2023-12-31T23:00:00.000000'], dtype='datetime64[us]')
    """
    given = np.asarray(times)
    if given.dtype != object:
        return given
    values = given.ravel().tolist()
    if values and all(isinstance(v, Real | Decimal) for v in values):
        return given.astype(np.float64)  # as datetimes they would be microseconds
    zoned = [isinstance(v, datetime) and v.tzinfo is not None for v in values]
    if any(zoned):
        missing = [v != v for v in values]  # NaT of pandas
        if not all(np.logical_or(zoned, missing)):
            raise TypeError("Only some of the timestamps have a time zone.")
        # NumPy converts them, too, but warns about the zone.
        values = [
            None if gone else v.astimezone(UTC).replace(tzinfo=None)
            for v, gone in zip(values, missing, strict=True)
        ]
    return np.array(values, dtype="datetime64[us]").reshape(given.shape)


def check_times(times: Any, n: int) -> NDArray[Any]:
    """Return `n` timestamps as finite numbers or datetime64."""
    try:
        given = as_moments(times)
    except (TypeError, ValueError):
        raise InvalidInputError(
            f"'timestamps' must be numbers or datetimes of shape ({n},), all of one kind. Got "
            f"{show(times)} instead. Convert them, for example by numpy.asarray(...)."
        ) from None
    if given.shape != (n,):
        raise InvalidInputError(
            f"'timestamps' must have shape ({n},), one for each row of X. Got shape {given.shape} "
            "instead."
        )
    dated = given.dtype.kind == "M"
    if not dated and (wrong := _not_a_number(given)):
        raise InvalidInputError(
            f"'timestamps' must be numbers or datetimes. Got {wrong} instead. Convert them first."
        )
    result = given if dated else np.asarray(given, dtype=np.float64)
    infinite = np.flatnonzero(~np.isfinite(result))
    if len(infinite):
        raise InvalidInputError(
            f"'timestamps' must be finite. Got {result[infinite[0]]} in row {infinite[0]}. Leave "
            "such examples out."
        )
    return result


def check_weight(weight: Any, n: int) -> NDArray[np.float64]:
    """Return `n` finite weights >= 0 as a new array; a single number is repeated."""
    try:
        given = np.asarray(weight)
    except ValueError:
        raise InvalidInputError(
            f"'sample_weight' must be a number or have shape ({n},). Got a sequence whose "
            "elements differ in length instead. Give one weight per example, or one for all."
        ) from None
    wrong = _not_a_number(given)
    if wrong:
        raise InvalidInputError(
            f"'sample_weight' must be numbers >= 0. Got {wrong} instead. Give one weight per "
            "example, or one for all."
        )
    if given.ndim > 1 or (given.ndim == 1 and given.shape[0] != n):
        raise InvalidInputError(
            f"'sample_weight' must be a number or have shape ({n},). Got shape {given.shape} "
            "instead. Give one weight per example, or one for all."
        )
    result = np.empty(n)
    try:
        with np.errstate(over="ignore"):
            result[...] = given
    except OverflowError:
        worst = max(given.ravel(), key=abs)
        raise InvalidInputError(
            f"'sample_weight' must fit into float64. Got {show(worst)} instead. Scale the "
            "weights down."
        ) from None
    if not (result >= 0).all() or np.isinf(result).any():
        bad = result[~((result >= 0) & np.isfinite(result))][0]
        raise InvalidInputError(
            f"'sample_weight' must be finite and >= 0. Got {bad} instead. Use 0 to take the weight "
            "from an example, forget to remove it."
        )
    if not result.max(initial=0.0) < HEAVIEST:
        raise InvalidInputError(
            f"'sample_weight' must stay below {HEAVIEST:g}, so that sums of weights do not "
            f"overflow. Got {result.max():g} instead. Give smaller weights."
        )
    return result


def check_numeric(y: Any) -> None:
    """Refuse regression targets such as dates and strings, which NumPy would convert."""
    try:
        given = np.asarray(y)
    except ValueError:
        return  # scikit-learn explains this case and the others
    wrong = "" if given.ndim == 0 or given.dtype.kind == "c" else _not_a_number(given)
    if wrong:
        raise InvalidInputError(
            f"Input y must be numbers. Got {wrong} instead. Convert the targets to float yourself, "
            "and drop the examples that have none."
        )
    if given.dtype.kind == "O":
        try:
            given.astype(np.float64)
        except OverflowError:
            worst = show(max(given.ravel(), key=abs))
            raise InvalidInputError(
                f"Input y must fit into float64. Got {worst} instead. Rescale the targets."
            ) from None


def check_targets(raw: Any, y: NDArray[Any]) -> NDArray[np.float64]:
    """Return regression targets as float64; `raw` is what the user gave, `y` is checked."""
    with np.errstate(over="ignore"):
        targets = np.ascontiguousarray(y, dtype=np.float64)
    check_integers(raw, targets, "y")
    finite = np.isfinite(targets)
    if not finite.all():
        row = int(np.flatnonzero(~finite)[0])
        raise InvalidInputError(
            f"Input y contains NaN, infinity or a value too large for float64 (first at row {row})."
            " Targets must be finite: impute, clip or drop them first."
        )
    return targets
