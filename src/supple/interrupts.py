"""Ctrl-C, at the right moments only.

An update changes several tables. A KeyboardInterrupt between two of these changes would leave them
apart, so within :func:`shielded` the signal waits, and only the solvers, which can be undone as a
whole, let it through (:func:`interruptible`). What has waited is raised when the shield ends.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

__all__ = ["interruptible", "shielded"]


class _Shield:
    """The state of the shield; there is one, as signals reach the main thread only."""

    def __init__(self) -> None:
        self.handler: Callable[[int, FrameType | None], Any] | None = None  # the user's, while up
        self.waiting = False
        self.open = False

    def receive(self, signum: int, frame: FrameType | None) -> None:
        if self.open and self.handler is not None:
            self.open = False  # the undo that follows is shielded again
            self.handler(signum, frame)
        else:
            self.waiting = True


_shield = _Shield()


@contextmanager
def shielded() -> Iterator[None]:
    """Hold back Ctrl-C until the block has ended. Shields may be nested."""
    if _shield.handler is not None or threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler):
        yield
        return
    _shield.handler, _shield.waiting, _shield.open = handler, False, False
    signal.signal(signal.SIGINT, _shield.receive)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        _shield.handler = None
        if _shield.waiting:
            handler(signal.SIGINT, None)


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C through a shield."""
    if _shield.handler is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    if _shield.waiting:
        _shield.waiting = False
        _shield.handler(signal.SIGINT, None)
    _shield.open = True
    try:
        yield
    finally:
        _shield.open = False
