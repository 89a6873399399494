"""Checks of parameters: declared constraints and further ones."""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import _param_validation

from supple.errors import InvalidInputError
from supple.kernels import KERNELS

# Constraints of the kernel: for machines that evaluate it after the fit, and for all.
KERNEL_OF_POINTS = [_param_validation.StrOptions(set(KERNELS)), callable]
ANY_KERNEL = [_param_validation.StrOptions({*KERNELS, "precomputed"}), callable]
_MOST_THREADS = 4096
_PLAIN = frozenset({bool, float, int, str, type(None)})
_MOST_PASSED = 256
_passed: set[tuple[Any, ...]] = set()  # valid parameters
_LONGEST_TEXT = 60


class InvalidParameterError(InvalidInputError, _param_validation.InvalidParameterError):
    """A parameter outside its range: what scikit-learn raises, with a remedy."""


def check_constraints(
    owner: type, constraints: Mapping[str, Any], params: Mapping[str, Any]
) -> None:
    """Check each parameter by itself.

    Valid plain values are cached, since the checks take as long as a small fit.
    """
    values = tuple(params.values())
    kinds = tuple(map(type, values))
    key = (owner, *params, kinds, values) if _PLAIN.issuperset(kinds) else None
    if key in _passed:
        return
    check_values(owner, constraints, params)
    if key is not None:
        if len(_passed) >= _MOST_PASSED:
            _passed.clear()
        _passed.add(key)


def check_values(owner: type, constraints: Mapping[str, Any], params: Mapping[str, Any]) -> None:
    """Check each parameter by itself, except a gamma that the kernel does not use."""
    idle = "kernel" in params and not takes_gamma(params["kernel"])
    for name, value in params.items():
        if name == "gamma" and idle:
            continue
        try:
            _param_validation.validate_parameter_constraints(
                constraints, {name: value}, caller_name=owner.__name__
            )
        except _param_validation.InvalidParameterError as error:
            rule = str(error).partition(". Got ")[0]
            default = inspect.signature(owner).parameters[name].default
            raise InvalidParameterError(
                f"{rule}. Got {show(value)} instead. Give such a value, for instance the default, "
                f"{name}={show(default)}."
            ) from None
        _check_number(owner.__name__, name, value)


def takes_gamma(kernel: Any) -> bool:
    """Whether a kernel depends on gamma."""
    if isinstance(kernel, str) and kernel in KERNELS:
        return "gamma" in KERNELS[kernel].__dataclass_fields__
    return not (callable(kernel) or (isinstance(kernel, str) and kernel == "precomputed"))


def show(value: Any) -> str:
    """Return a short text for a value in a message; Python refuses to print huge integers."""
    if isinstance(value, Integral) and abs(int(value)) >= 10**50:
        return f"an integer of {int(value).bit_length()} bits"
    text = repr(_plain(value))
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 3]}..."


def _plain(value: Any) -> Any:
    """Return NumPy scalars as Python's, which print without the name of their type."""
    if isinstance(value, np.generic):
        return value.item()
    if type(value) in (list, tuple):
        return type(value)(map(_plain, value))
    if type(value) is dict:
        return {_plain(key): _plain(item) for key, item in value.items()}
    return value


def fits_float(value: Real) -> bool:
    """Whether float64 can represent a number other than as infinity or zero."""
    try:
        number = float(value)
    except OverflowError:
        return False
    return math.isfinite(number) and (number != 0.0 or value == 0)


def _check_number(owner: str, name: str, value: Any) -> None:
    """Refuse numbers beyond float64, such as 10**400, which the declared ranges admit."""
    number = isinstance(value, Real) and not isinstance(value, np.timedelta64)
    if number and not fits_float(value):
        raise InvalidParameterError(
            f"The '{name}' parameter of {owner} must fit into float64. Got {show(value)} "
            "instead. Give a number between 1e-300 and 1e300."
        )


def check_class_weight(owner: str, class_weight: Mapping[Any, Any]) -> None:
    """Refuse keys that cannot be labels, and weights that are not finite and positive."""
    strings = [isinstance(label, str) for label in class_weight]
    for label, weight in class_weight.items():
        fine = isinstance(label, str | np.bool_) or (isinstance(label, Real) and fits_float(label))
        if not fine or any(strings) != all(strings):
            raise InvalidInputError(
                f"The 'class_weight' parameter of {owner} must have class labels as keys, all "
                f"numbers or all strings. Got the key {show(label)} instead. Name the classes as "
                "they are in y."
            )
        if not (isinstance(weight, Real) and fits_float(weight) and float(weight) > 0):
            raise InvalidInputError(
                f"The 'class_weight' parameter of {owner} must have finite weights > 0. "
                f"Got {show(weight)} for class {show(label)} instead. Give a number such as 1.0."
            )


def resolve_threads(owner: str, n_jobs: Any) -> int:
    """Return the number of threads; None is 1, and -1 all processors this process may use."""
    if n_jobs is None:
        return 1
    if not isinstance(n_jobs, Integral) or n_jobs == 0 or abs(int(n_jobs)) > _MOST_THREADS:
        raise InvalidInputError(
            f"The 'n_jobs' parameter of {owner} must be None or an integer other than 0, at most "
            f"{_MOST_THREADS} in size. Got {show(n_jobs)} instead. Give the number of threads, -1 "
            "for all processors, or None for one."
        )
    if int(n_jobs) > 0:
        return int(n_jobs)
    affinity = getattr(os, "sched_getaffinity", None)  # not on every system
    available = len(affinity(0)) if affinity else os.cpu_count() or 1
    return max(1, available + 1 + int(n_jobs))


def refuse_balanced(params: Mapping[str, Any], action: str) -> None:
    """Refuse class_weight="balanced" in an update."""
    if params.get("class_weight") == "balanced":
        raise InvalidInputError(
            f"class_weight='balanced' is for fit only: {action} would change the weight of every "
            "example. Give the weights as a dict, class_weight={label: weight}."
        )
