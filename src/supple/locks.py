"""Threads: many may read a model at a time, one may change it.

Decorators declare how a method uses the model. Methods with :func:`reads` may run at the same
time, but not during a change. A method with :func:`writes` changes the model and runs alone.
:func:`replaces` is for methods that build another model first: other changes wait, and
readers use the present model until the method swaps it within ``guards(self).writing``.

The lock is reentrant, except that a thread that reads must not write. It is in the core
(lock.cpp): there Ctrl-C can wake waiting threads, and cannot strike between taking the lock and
entering the guarded block.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple, TypeVar, cast

from supple._core import model_lock
from supple.errors import explain_misfit

__all__ = ["LOCK", "guards", "reads", "replaces", "writes"]

LOCK = "_guards"  # name of the attribute, which is not part of the state

_Method = TypeVar("_Method", bound=Callable[..., Any])


class _Guards(NamedTuple):
    """The ways to hold one lock, each a context manager."""

    reading: Any
    preparing: Any
    writing: Any


def guards(owner: Any) -> _Guards:
    """Return the guards of an object, made at the first call."""
    own = owner.__dict__
    found: _Guards | None = own.get(LOCK)
    # setdefault gives threads that arrive at the same time the same object.
    return own.setdefault(LOCK, _Guards(*model_lock())) if found is None else found


def _within(side: int, method: _Method) -> _Method:
    """Return `method` with one of the guards around it."""

    @wraps(method)
    def guarded(self: Any, *args: Any, **kwargs: Any) -> Any:
        with guards(self)[side]:
            try:
                return method(self, *args, **kwargs)
            except TypeError as error:
                explain_misfit(error, method, type(self))
                raise

    return cast(_Method, guarded)


def reads(method: _Method) -> _Method:
    """Run `method` before or after a change of the model, never during one."""
    return _within(0, method)


def replaces(method: _Method) -> _Method:
    """Run `method`, which builds another model, while others read the present one."""
    return _within(1, method)


def writes(method: _Method) -> _Method:
    """Run `method`, which changes the model, while no other thread uses it."""
    return _within(2, method)
