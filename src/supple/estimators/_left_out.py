"""Each example left out in turn, whatever the estimator: values, winners, residuals."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.engine import State
from supple.engine.departures import answers, departures
from supple.engine.head import Key
from supple.estimators._machines import Machines
from supple.progress import Progress


class LeftOutClasses(NamedTuple):
    """What a classifier says of examples that it has never seen."""

    values: NDArray[np.float64]  # of the machines, NaN where there is none
    winner: NDArray[np.intp]  # places among the classes
    correct: NDArray[np.bool_]


class LeftOut:
    """The heads of a state, one after the other, without each of the examples at some slots.

    For the holder of the write lock, with Ctrl-C held back. The state is afterwards as it was.
    """

    def __init__(
        self, state: State, slots: NDArray[np.int64], threads: int, progress: Progress | None
    ) -> None:
        self._state, self._slots = state, slots
        self._threads, self._progress = threads, progress
        self.solved = np.zeros(len(slots), dtype=bool)  # which were removed by a solver
        self.n_inexact = 0  # models that are not optimal as promised

    def _head(self, key: Key, which: NDArray[np.bool_]) -> tuple[Any, Any]:
        """Return decision values of some of the examples in a head, and their doubts."""
        state = self._state
        assert state.gram is not None
        before = state.gram.core.threads
        state.gram.core.threads = self._threads
        try:
            head = state.head_states[key]
            leaving = departures(state, head, self._slots[which])
            found = answers(state, head, leaving, self._progress)
        finally:
            state.gram.core.threads = before
            state.gram.core.release()
        self.solved[which] |= found.solved
        self.n_inexact += int(np.sum(~found.within_tolerance))
        return found.value, found.doubt

    def single(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the same of all examples in the only head there is."""
        (key,) = self._state.head_states
        value, doubt = self._head(key, np.ones(len(self._slots), dtype=bool))
        return value, doubt

    def classified(self, machines: Machines) -> LeftOutClasses:
        """Return what the machines of a classifier say."""
        state, slots, classes = self._state, self._slots, machines.classes
        own, sole = machines.places(state.y[slots]), machines.sole(state, slots)
        member = np.column_stack([state.plan.members(key, state.y[slots]) for key in machines.keys])
        values = np.full(member.shape, np.nan)
        if not member.all():  # some machines have never seen some of the examples
            values[~member] = machines.decision(state, slots, self._threads)[~member]
        for column, (key, side) in enumerate(zip(machines.keys, machines.sides, strict=True)):
            if self._progress is not None:
                self._progress.at("machine", column + 1, len(machines.keys))
            # Without the only example of a class its machines do not exist.
            sides = [place for place in side if place is not None]
            gone = sole & (np.isin(own, sides) | (machines.n_classes == 2))
            which = member[:, column] & ~gone
            if which.any():
                values[which, column] = self._head(key, which)[0] * classes.signs[column]
        winner = machines.winners(values)
        for place in np.unique(own[sole]).tolist():
            lone = sole & (own == place)
            winner[lone] = machines.winners_without(place, values[lone])
        return LeftOutClasses(values, winner, (winner == own) & ~sole)
