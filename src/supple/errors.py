"""Exceptions and warnings of supple.

Every exception derives from :class:`SuppleError` and also from the built-in class that
scikit-learn would raise, so ``except ValueError`` works as it does there.
"""

import inspect
import os
import sys
import warnings
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

__all__ = [
    "DamagedDataError",
    "DataNotFoundError",
    "DuplicateIdError",
    "InexactWarning",
    "InfeasibleError",
    "InvalidInputError",
    "NotConvergedWarning",
    "NotReadyWarning",
    "OverfitWarning",
    "PrecomputedUpdateError",
    "SolverError",
    "StaleGammaWarning",
    "SuppleError",
    "UnknownIdError",
]


class SuppleError(Exception):
    """Base of all exceptions raised by supple."""


class InvalidInputError(SuppleError, ValueError):
    """Data, weights, ids or parameters that cannot be used; the model is unchanged."""


class UnknownIdError(SuppleError, ValueError):
    """An id or a group that no example held by the model has; the model is unchanged."""


class DuplicateIdError(SuppleError, ValueError):
    """An id given twice, or one that the model already holds; the model is unchanged."""


class InfeasibleError(SuppleError, ValueError):
    """The constraints of the problem admit no solution on the examples held."""


class PrecomputedUpdateError(SuppleError, ValueError):
    """An update of a model whose kernel is precomputed; pass a callable kernel instead."""


class SolverError(SuppleError, RuntimeError):
    """A solver could not reach the optimum; the model is unchanged."""


class DataNotFoundError(SuppleError, OSError):
    """A known data set that is neither in the folder of data sets nor can be downloaded."""


class DamagedDataError(SuppleError, OSError):
    """A file or a download that is not the data set it should be."""


class NotConvergedWarning(UserWarning):
    """The optimality conditions do not hold as promised: ``max_iter``, or rounding.

    ``supple.NotConvergedWarning``, which the estimators give, derives from this class and from
    scikit-learn's ConvergenceWarning.
    """


class NotReadyWarning(UserWarning):
    """The examples are stored, but so far they admit no solution (nu, or SVDD's C)."""


class OverfitWarning(UserWarning):
    """The model has nearly as many free parameters as targets: its error bars mean nothing."""


class InexactWarning(UserWarning):
    """The kernel is indefinite: the model makes no claim of exactness."""


class StaleGammaWarning(UserWarning):
    """gamma="scale" was computed from examples that are now forgotten; it is unchanged."""


_Function = TypeVar("_Function", bound=Callable[..., Any])


def explain_misfit(error: TypeError, method: Callable[..., Any], owner: type) -> None:
    """Replace `error` by a clearer one if the arguments of a call do not fit `method`.

    To be called in an except clause. Python names the class that defines the method; the text here
    names `owner`, the class that the user has called, and the arguments.
    """
    trace = error.__traceback__
    if trace is None or trace.tb_next is not None:
        return  # raised within the method
    name = owner.__name__
    if method.__name__ != "__init__":
        name += f".{method.__name__}"
    bare = [
        argument.replace(annotation=argument.empty)
        for argument in list(inspect.signature(method).parameters.values())[1:]
    ]
    text = str(error).replace(f"{method.__qualname__}()", f"{name}()").rstrip("?.")
    raise TypeError(f"{text}. Call it as {name}{inspect.Signature(bare)}.") from None


def worded(init: _Function) -> _Function:
    """Return a constructor that explains wrong arguments by :func:`explain_misfit`."""

    @wraps(init)
    def constructor(self: Any, *args: Any, **kwargs: Any) -> None:
        try:
            init(self, *args, **kwargs)
        except TypeError as error:
            explain_misfit(error, init, type(self))
            raise

    return cast(_Function, constructor)


_PACKAGE = str(Path(__file__).parent) + os.sep


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the line that called supple, however many frames of supple lie between."""
    level = 1
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)
