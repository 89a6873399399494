"""Checks of the data of a stream."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from supple.errors import InvalidInputError
from supple.estimators._values import as_moments

__all__ = ["check_count", "check_data", "check_share", "check_timestamps", "is_count"]


def check_data(
    X: Any, y: Any, suffix: str = "", width: int | None = None
) -> tuple[Any, NDArray[Any] | None]:
    """Return finite points, dense or CSR, and their targets if there are any."""
    try:
        X = check_array(X, accept_sparse="csr", input_name=f"X{suffix}")
        y = None if y is None else check_targets(y, f"y{suffix}")
        if y is not None:
            check_consistent_length(X, y)
    except ValueError as error:
        raise InvalidInputError(str(error)) from error
    if width is not None and X.shape[1] != width:
        raise InvalidInputError(
            f"X{suffix} has {X.shape[1]} features; expected are {width}, as many as X has."
        )
    return X, y


def check_targets(y: Any, what: str) -> NDArray[Any]:
    """Return targets as a 1-D array without missing values."""
    y = check_array(y, ensure_2d=False, dtype=None, input_name=what)
    return column_or_1d(y, warn=True)


def check_timestamps(timestamps: Any, n: int) -> NDArray[Any]:
    """Return timestamps, one per example, in non-decreasing order."""
    try:
        moments = as_moments(timestamps)
    except (TypeError, ValueError):
        moments = np.asarray(timestamps, dtype=object)
    if moments.shape != (n,) or moments.dtype.kind not in "iufM":
        raise InvalidInputError(
            f"'timestamps' must be {n} numbers or datetimes of one kind, one per row of X. Got "
            f"shape {moments.shape} of {moments.dtype} instead."
        )
    missing = np.isnat(moments) if moments.dtype.kind == "M" else ~np.isfinite(moments)
    if missing.any():
        raise InvalidInputError(
            f"'timestamps' has no finite value at position {int(np.argmax(missing))}. Give every "
            "example a moment."
        )
    backwards = moments[1:] < moments[:-1]
    if backwards.any():
        i = int(np.argmax(backwards))
        raise InvalidInputError(
            f"'timestamps' runs backwards: {moments[i + 1]} at position {i + 1} comes after "
            f"{moments[i]}. Sort the stream by time."
        )
    return moments


def is_count(value: Any, least: int = 1) -> bool:
    """Return whether a value is an int, of `least` or more."""
    is_int = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return is_int and bool(value >= least)


def check_count(value: Any, name: str, owner: str, least: int = 1) -> int:
    """Return an int of `least` or more."""
    if not is_count(value, least):
        raise InvalidInputError(
            f"The '{name}' parameter of {owner} must be an int >= {least}. Got {value!r} instead."
        )
    return int(value)


def check_share(value: Any, name: str, owner: str) -> float:
    """Return a number from 0 to 1."""
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not number or not 0.0 <= value <= 1.0:
        raise InvalidInputError(
            f"The '{name}' parameter of {owner} must be a number from 0 to 1. Got {value!r} "
            "instead."
        )
    return float(value)
