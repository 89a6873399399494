"""Conversion of named features to columns of a matrix."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.errors import InvalidInputError
from supple.estimators._params import fits_float, show
from supple.kernels import all_finite

__all__ = ["as_points", "check_row", "frame_values", "pandas"]


def pandas() -> Any:
    """Return the module pandas."""
    try:
        import pandas as module
    except ModuleNotFoundError as error:
        raise ImportError(
            "The methods learn_many and predict_many of supple.river need pandas. Call pip install "
            "pandas, or use learn_one and predict_one."
        ) from error
    return module


def as_points(row: list[Any]) -> NDArray[np.float64] | None:
    """Return a matrix with this row; None unless all its entries are finite numbers.

    Examples
    --------
    >>> as_points([2.5, True, 1])
    array([[2.5, 1. , 1. ]])
    >>> as_points(["1"])
    """
    try:
        points = np.array([row])
    except ValueError:  # sequences of different lengths
        return None
    if points.dtype != np.float64:
        if points.dtype.kind not in "biuf":  # strings would be read as numbers
            return None
        points = points.astype(np.float64)
    return points if points.ndim == 2 and all_finite(points) else None


def check_row(x: Any) -> dict[Hashable, float]:
    """Return features as floats; raise and name the first that is not a finite number."""
    if not isinstance(x, Mapping):
        raise InvalidInputError(
            f"'x' must be a dict of features, such as {{'age': 31.0}}. Got {show(x)} "
            f"({type(x).__name__}) instead."
        )
    for name, given in x.items():
        value: Any = given
        if not isinstance(given, Real | np.bool_):
            raise InvalidInputError(
                f"Feature {show(name)} must be a number. Got {show(value)} "
                f"({type(value).__name__}) instead. Encode it first, for instance by River's "
                "OneHotEncoder, or leave it out by compose.SelectType(Number)."
            )
        if not fits_float(value):
            raise InvalidInputError(
                f"Feature {show(name)} must be finite. Got {show(value)} instead. Impute it, for "
                "instance by River's StatImputer; a feature that is left out counts as 0."
            )
    return {name: float(value) for name, value in x.items()}


def frame_values(X: Any) -> tuple[list[Hashable], NDArray[np.float64]]:
    """Return the names and values of the columns of a pandas DataFrame, all finite numbers."""
    if not isinstance(X, pandas().DataFrame):
        raise InvalidInputError(
            f"'X' must be a pandas DataFrame with one column for each feature. Got "
            f"{type(X).__name__} instead."
        )
    names = list(X.columns)
    if len(set(names)) < len(names):
        raise InvalidInputError("The columns of 'X' must have different names.")
    values = np.empty((len(X), len(names)))
    for k, name in enumerate(names):
        column = np.asarray(X[name])
        if column.dtype.kind not in "biuf":
            for value in column:
                check_row({name: value})
        values[:, k] = column
        if not np.isfinite(values[:, k]).all():
            check_row({name: values[~np.isfinite(values[:, k]), k][0]})
    return names, values
