"""What if: operations that are undone together."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Self

from supple.interrupts import Shielded

if TYPE_CHECKING:
    from supple.engine.engine import Engine

__all__ = ["Trial"]


class Trial:
    """A context that undoes its operations at its end, to the last bit.

    Points and columns of examples that left go back to their slots, and heads are restored from
    snapshots. Trials may be nested.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.undo: list[Callable[[], None]] = []

    def __enter__(self) -> Self:
        state = self._engine.state
        self._before = state.kernel_evaluations
        self._scaling = state.store.scaling.copy()
        self._engine.trials.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        state = self._engine.state
        with Shielded():
            self._engine.trials.remove(self)
            with ExitStack() as undoing:  # runs all undo functions even if one fails
                undoing.callback(state.drop_derived)
                undoing.callback(lambda: state.count_evaluations(self._before))
                undoing.callback(lambda: state.store.set_scaling(self._scaling))
                for action in self.undo:
                    undoing.callback(action)
