"""Checks of ids and groups."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from numbers import Integral, Number
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from supple.errors import InvalidInputError
from supple.estimators._params import show
from supple.store import LAST_ID, kind_of, name_of_kind

IdsLike = Hashable | Iterable[Hashable]

# Types of a single name; some of them have a length.
_SINGLE = (str, bytes, Integral, np.generic)


def check_ids(ids: Any, n: int | None = None, *, paired: bool = False) -> NDArray[Any]:
    """Return ids as a 1-D array: int64 if they are integers, else objects of one kind.

    Parameters
    ----------
    ids : object or iterable of these
        One id, or several in a sequence, set, generator, array, pandas Index or Series. A tuple is
        a sequence of ids.
    n : int, optional
        Number of rows.
    paired : bool, default=False
        Whether another argument has the same order, as with `n`.
    """
    if type(ids) is int and 0 <= ids < LAST_ID and n is None:
        return np.array([ids], dtype=np.int64)  # short cut for one example
    return _names(ids, "ids", n, paired or n is not None)


def check_groups(groups: Any, n: int | None = None) -> NDArray[Any]:
    """Return groups as a 1-D array of objects; `n` is the number of rows."""
    return _names(groups, "groups", n, n is not None).astype(object)


def check_missing(missing: Any) -> bool:
    """Return whether to ignore unknown ids or groups."""
    if not isinstance(missing, str) or missing not in ("error", "ignore"):
        raise InvalidInputError(
            f"'missing' must be 'error' or 'ignore'. Got {show(missing)} instead."
        )
    return missing == "ignore"


def _names(given: Any, what: str, n: int | None, ordered: bool) -> NDArray[Any]:
    dtype = getattr(given, "dtype", None)
    if not isinstance(given, _SINGLE) and getattr(given, "ndim", 1) != 1:
        raise InvalidInputError(
            f"'{what}' must be one of them or a one-dimensional sequence. Got shape "
            f"{tuple(given.shape)} instead."
        )
    if ordered and isinstance(given, set | frozenset) and len(given) > 1:
        raise InvalidInputError(
            f"'{what}' must be in order, because each belongs to one row or weight. Got a set of "
            f"{len(given)} instead, which has no order. Give a list."
        )
    if isinstance(dtype, np.dtype) and dtype.kind in "iu" and not isinstance(given, _SINGLE):
        array = np.asarray(given)
        names = _integers(array, [int(array.max()), int(array.min())] if array.size else [], what)
    else:
        values = _checked(_listed(given, what), what)
        if not values or type(values[0]) is int:
            names = _integers(values, [max(values), min(values)] if values else [], what)
        else:
            names = np.fromiter(values, dtype=object, count=len(values))
    if n is not None and len(names) != n:
        raise InvalidInputError(
            f"'{what}' must have one {what[:-1]} per row of X, {n}. Got {len(names)} instead."
        )
    return names


def _listed(given: Any, what: str) -> list[Any]:
    """Return the names in a container, or a single name as a list."""
    if isinstance(given, Mapping):
        _refuse(given, what)
    if isinstance(given, _SINGLE):
        return [given]
    if isinstance(given, np.ndarray) and given.dtype.kind in "OSTU":
        return list(given.tolist())  # Python strings
    try:
        names = iter(given)
    except TypeError:
        return [given]
    return list(names)


def _checked(values: list[Any], what: str) -> list[Any]:
    """Return names of one kind, with NumPy integers and strings as Python's."""
    if set(map(type, values)) in ({int}, {str}):
        return values
    values = [_plain(value, what) for value in values]
    first: dict[type, Hashable] = {}
    for value in values:
        first.setdefault(kind_of(value), value)
    if len(first) > 1:
        (one, a), (other, b), *_ = first.items()
        raise InvalidInputError(
            f"'{what}' must be of one kind. Got {name_of_kind(one)} and {name_of_kind(other)} "
            f"instead, such as {show(a)} and {show(b)}. Convert all to strings, or all to integers."
        )
    return values


def _plain(value: Any, what: str) -> Hashable:
    """Return a name that equals itself and nothing of another kind."""
    if isinstance(value, np.str_ | np.bytes_):
        return value.item()
    # bool is an Integral, but a bool among ids is a mask by mistake.
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    if value is None or isinstance(value, Number | np.bool_):
        _refuse(value, what)
    try:
        hash(value)
        same = bool(value == value)  # false for NaT
    except TypeError:
        same = False
    if not same:
        _refuse(value, what)
    return value


def _refuse(value: Any, what: str) -> NoReturn:
    raise InvalidInputError(
        f"'{what}' must be integers, strings or other hashable objects, alone or in a "
        f"one-dimensional sequence. Got {show(value)} ({type(value).__name__}) instead. Neither "
        "None nor NaN, True or a number with a fraction names an example; of a list make a tuple."
    )


def _integers(values: Any, extremes: list[int], what: str) -> NDArray[np.int64]:
    for worst in extremes:
        if not -(2**63) <= worst < LAST_ID:
            raise InvalidInputError(
                f"'{what}' must be int64 numbers below 2**63 - 1. Got {show(worst)} instead. "
                f"Number otherwise, give strings, or leave out '{what}'."
            )
    return np.array(values, dtype=np.int64)
