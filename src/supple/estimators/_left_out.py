"""Leave-one-out decision values and winners, for any estimator."""

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
    """Leave-one-out predictions of a classifier."""

    values: NDArray[np.float64]  # of the machines, NaN where there is none
    winner: NDArray[np.intp]  # places among the classes
    correct: NDArray[np.bool_]


class LeftOut:
    """Solves each head without each of the examples at some slots, and restores the state.

    The caller holds the write lock and has shielded Ctrl-C.
    """

    def __init__(
        self, state: State, slots: NDArray[np.int64], threads: int, progress: Progress | None
    ) -> None:
        self._state, self._slots = state, slots
        self._threads, self._progress = threads, progress
        self.solved = np.zeros(len(slots), dtype=bool)  # removed by a solver
        self.n_inexact = 0  # solutions beyond the tolerance

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
        """Return the decision values of all examples in the only head, and their doubts."""
        (key,) = self._state.head_states
        value, doubt = self._head(key, np.ones(len(self._slots), dtype=bool))
        return value, doubt

    def classified(self, machines: Machines) -> LeftOutClasses:
        """Return the predictions of the machines of a classifier."""
        state, slots, classes = self._state, self._slots, machines.classes
        own, sole = machines.places(state.y[slots]), machines.sole(state, slots)
        member = np.column_stack([state.plan.members(key, state.y[slots]) for key in machines.keys])
        values = np.full(member.shape, np.nan)
        if not member.all():  # examples that are not in all machines
            values[~member] = machines.decision(state, slots, self._threads)[~member]
        for column, (key, side) in enumerate(zip(machines.keys, machines.sides, strict=True)):
            if self._progress is not None:
                self._progress.at("machine", column + 1, len(machines.keys))
            # Without the only example of a class there is no machine for it.
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
