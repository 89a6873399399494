"""The view of the examples held that a memory gets."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from supple.engine.head import HeadReader
from supple.engine.operation import Operation

__all__ = ["Held"]

_LIGHTEST = float(np.finfo(np.float64).tiny)  # avoids 0 / 0 for two examples without weight


class Held:
    """The examples that have not left, in the order of `slots`; columns are computed on access.

    Valid until the next change of the state.
    """

    def __init__(self, op: Operation) -> None:
        self._op = op
        self._state = op.state

    def __len__(self) -> int:
        return self._op.n_present

    @cached_property
    def slots(self) -> np.ndarray:
        """Positions of the examples, ascending."""
        return self._op.present()

    @property
    def ids(self) -> np.ndarray:
        """Permanent ids."""
        return np.asarray(self._state.store.ids[self.slots])

    @property
    def y(self) -> np.ndarray:
        """Class codes or targets."""
        return np.asarray(self._state.store.y[self.slots])

    @property
    def weight(self) -> np.ndarray:
        """Sample weights in force."""
        return np.asarray(self._state.store.weight[self.slots])

    @property
    def arrival(self) -> np.ndarray:
        """Number of examples that came before each."""
        return np.asarray(self._state.store.arrival[self.slots])

    @property
    def seen(self) -> int:
        """Number of examples learned so far."""
        return self._state.seen

    @property
    def labelled(self) -> bool:
        """Whether `y` holds classes."""
        return self._state.problem.labelled

    @property
    def depends_on_mass(self) -> bool:
        """Whether the problem depends on the sum of all weights, idle examples included."""
        return self._state.problem.needs_mass

    def _mask(self, slots: np.ndarray) -> np.ndarray:
        chosen = np.zeros(self._state.n, dtype=bool)
        chosen[slots] = True
        return np.asarray(chosen[self.slots])

    def _readers(self) -> Iterable[HeadReader]:
        """Return readers of heads; they refresh Kx if its error bound is too large."""
        for head in self._state.head_states.values():
            self._op.protect(head)
        return self._state.heads.values()

    def support(self) -> np.ndarray:
        """Return which examples are support vectors of a head; all if there is no head."""
        heads = self._state.heads.values()
        if not heads:
            return np.ones(len(self), dtype=bool)
        return self._mask(np.concatenate([head.slots for head in heads]))

    def needed(self) -> np.ndarray:
        """Return which examples some head needs: its support vectors, and those that bound mu."""
        bounding = [head.bounding() for head in self._readers()]
        return self.support() | self._mask(np.concatenate([np.empty(0, dtype=np.int64), *bounding]))

    def relevance(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the size of each example's coefficient, and its slack.

        With several heads the largest size and the smallest slack; 0 and infinity without a head.
        """
        size, slack = np.zeros(self._state.n), np.full(self._state.n, np.inf)
        for head in self._readers():
            values = head.member_values()
            size[values.slots] = np.maximum(size[values.slots], np.abs(values.x))
            slack[values.slots] = np.minimum(slack[values.slots], values.slack)
        return size[self.slots], slack[self.slots]

    def closest_pair(self) -> tuple[int, int] | None:
        """Return the slots of the two examples of one class that cost least to merge.

        The earlier one comes first; None if every example is the only one of its class.
        """
        gram, order = self._state.gram, np.argsort(self.arrival, kind="stable")
        assert gram is not None
        label = self.y if self.labelled else np.zeros(len(self))
        first, second = gram.core.closest_pair(
            self.slots[order], label[order], np.maximum(self.weight[order], _LIGHTEST)
        )
        if first == second:
            return None
        return int(self.slots[order[first]]), int(self.slots[order[second]])

    def error(self, slots: np.ndarray) -> float:
        """Return an estimate of the error on some examples, NaN if there is no machine."""
        judge = self._op.run.judge
        assert judge is not None
        return judge(slots)
