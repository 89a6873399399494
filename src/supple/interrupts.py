"""Ctrl-C only where an update can be undone.

An update changes several tables. A KeyboardInterrupt between two of these changes would leave them
inconsistent. :class:`Shielded` therefore defers the signal to the end of its block; only the
solvers, which can be undone as a whole, let it through (:class:`Interruptible`).

Every update uses a shield. For speed it calls the C functions behind the module ``signal``, which
itself spends ten times as long on enum lookups, and it is a class instead of a generator.
"""

from __future__ import annotations

import _signal
import signal
import threading
from collections.abc import Callable
from contextlib import ExitStack
from types import FrameType
from typing import Any

__all__ = ["Interruptible", "Shielded", "Transaction"]


class _Shield:
    """The state of the only shield: signals reach the main thread only."""

    def __init__(self) -> None:
        self.handler: Callable[[int, FrameType | None], Any] | None = None  # the user's, while up
        self.waiting = False
        self.open = False

    def receive(self, signum: int, frame: FrameType | None) -> None:
        if self.open and self.handler is not None:
            self.open = False  # the rollback that follows is shielded again
            self.handler(signum, frame)
        else:
            self.waiting = True


_shield = _Shield()


class Shielded:
    """Defer Ctrl-C to the end of the block. Shields may be nested."""

    __slots__ = ("_handler",)

    def __enter__(self) -> None:
        handler = None
        if _shield.handler is None and threading.current_thread() is threading.main_thread():
            handler = _signal.getsignal(signal.SIGINT)
        self._handler = handler if callable(handler) else None
        if self._handler is not None:
            # In this order (and the reverse below) a Ctrl-C in between cannot leave the shield up:
            # without `handler` it is deferred.
            _shield.waiting = _shield.open = False
            _signal.signal(signal.SIGINT, _shield.receive)
            _shield.handler = self._handler

    def __exit__(self, *exc: object) -> None:
        if self._handler is None:
            return
        _shield.handler = None
        _signal.signal(signal.SIGINT, self._handler)
        if _shield.waiting:
            self._handler(signal.SIGINT, None)


class Interruptible:
    """Let Ctrl-C through a shield."""

    __slots__ = ("_opened",)

    def __enter__(self) -> None:
        self._opened = (
            _shield.handler is not None and threading.current_thread() is threading.main_thread()
        )
        if not self._opened:
            return
        if _shield.waiting and _shield.handler is not None:
            _shield.waiting = False
            _shield.handler(signal.SIGINT, None)
        _shield.open = True

    def __exit__(self, *exc: object) -> None:
        if self._opened:
            _shield.open = False


class Transaction:
    """Collect undo functions, and call them if the block fails or is interrupted.

    Ctrl-C interrupts the block only within `Interruptible`.

    Parameters
    ----------
    drop_derived : callable
        Drops values derived from the state. Called before the block and after it, since a kernel
        function written in Python may read the model during the block.
    """

    __slots__ = ("_drop_derived", "_shield", "_undo")

    def __init__(self, drop_derived: Callable[[], None]) -> None:
        self._drop_derived = drop_derived

    def __enter__(self) -> list[Callable[[], None]]:
        self._drop_derived()
        self._shield = Shielded()
        self._undo: list[Callable[[], None]] = []
        self._shield.__enter__()
        return self._undo

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        self._drop_derived()
        if kind is None:
            self._shield.__exit__(kind, *rest)
            return
        with ExitStack() as undoing:  # runs all undo functions even if one fails
            undoing.push(self._shield)
            for action in self._undo:
                undoing.callback(action)
