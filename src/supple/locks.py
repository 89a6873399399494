"""Threads: many may read a model at a time, one may change it.

A method says by a decorator how it uses the model. :func:`reads` lets threads in together, and none
while the model changes. :func:`writes` is for changes of the model itself, made alone.
:func:`replaces` is for methods that build another model first: other changes wait, and
readers go on with the present model until the method swaps it within ``guards(self).writing``.

A thread may read within its own reading and writing and write within its own writing. To write
within a reading is an error. The lock is in the core (lock.hpp), which is where waiting threads can
be woken by Ctrl-C and where no Ctrl-C comes between the lock and the block it guards.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple, TypeVar, cast

from supple._core import model_lock
from supple.errors import explain_misfit

__all__ = ["LOCK", "guards", "reads", "replaces", "writes"]

LOCK = "_guards"  # the attribute; no part of the model's state

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
    # Of several threads that come first, setdefault gives all the same.
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
    """Let `method` see the model before or after a change, never between."""
    return _within(0, method)


def replaces(method: _Method) -> _Method:
    """Let `method` build another model while others read the present one."""
    return _within(1, method)


def writes(method: _Method) -> _Method:
    """Let `method` change the model while no other thread uses it."""
    return _within(2, method)
