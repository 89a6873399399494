"""The examples held: label or target, weight, arrival and the table id <-> slot."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from supple.errors import DuplicateIdError, InvalidInputError, UnknownIdError

__all__ = ["Store"]

_LAST_ID = 2**63 - 1
_COLUMNS = ("_y", "_weight", "_id", "_arrival", "_scaling")


class Store:
    """Columns that grow by doubling. A slot is a position; an id stays with its example for ever.

    Removal moves the last example into the freed slot. Slots without an example hold zeros, and a
    copy or a pickle has none of them: nothing of an example is left when it has gone.
    """

    def __init__(self) -> None:
        self._n = 0
        self._y = np.zeros(16)
        self._weight = np.zeros(16)
        self._id = np.zeros(16, dtype=np.int64)
        self._arrival = np.zeros(16, dtype=np.int64)
        self._scaling = np.zeros(16, dtype=bool)
        self._known: dict[int, int] | None = None  # see _slot_of
        self.next_id = 0
        self.seen = 0

    def __len__(self) -> int:
        return self._n

    @property
    def y(self) -> np.ndarray:
        return self._y[: self._n]

    @property
    def weight(self) -> np.ndarray:
        return self._weight[: self._n]

    @property
    def ids(self) -> np.ndarray:
        return self._id[: self._n]

    @property
    def arrival(self) -> np.ndarray:
        """How many examples had come before each."""
        return self._arrival[: self._n]

    @property
    def scaling(self) -> np.ndarray:
        """Whether the scale of the kernel was computed from each."""
        return self._scaling[: self._n]

    @property
    def _slot_of(self) -> dict[int, int]:
        """The slot of each id: from the columns at the first question, and kept from then on.

        A model that is fitted and never updated does without.
        """
        if self._known is None:
            self._known = dict(zip(self.ids.tolist(), range(self._n), strict=True))
        return self._known

    def copied(self) -> Store:
        """Return a store of its own with the same examples."""
        return copy.copy(self)

    def part(self, slots: np.ndarray) -> Store:
        """Return a store of its own with some of the examples, in this order."""
        other = self.copied()
        for name in _COLUMNS:
            setattr(other, name, getattr(self, name)[slots])
        other._n = len(slots)
        return other

    def __getstate__(self) -> dict[str, Any]:
        columns = {name: getattr(self, name)[: self._n].copy() for name in _COLUMNS}
        return self.__dict__ | columns | {"_known": None}

    def new_ids(self, count: int) -> np.ndarray:
        """Return the next free ids."""
        _check_limit(self.next_id + count - 1)
        return np.arange(self.next_id, self.next_id + count, dtype=np.int64)

    def check_new(self, ids: np.ndarray) -> None:
        """Raise when an id repeats, is already taken, or leaves none for the next example."""
        values = ids.tolist()
        _check_limit(max(values, default=0))
        known = [i for i in values if i in self._slot_of]
        if known:
            raise DuplicateIdError(
                f"ids must be new. Already held: {_some(known)}. Forget those examples first, or "
                "give other ids."
            )
        _check_unique(ids)

    def holds(self, identity: int) -> bool:
        """Whether the example of this id is held."""
        return identity in self._slot_of

    def slots(self, ids: np.ndarray) -> np.ndarray:
        """Return the slots of these ids, which must be known and must not repeat."""
        values = ids.tolist()
        missing = [i for i in values if i not in self._slot_of]
        if missing:
            raise UnknownIdError(
                f"Unknown ids: {_some(missing)}. The ids of the examples held are in 'ids_'."
            )
        _check_unique(ids)
        return np.array([self._slot_of[i] for i in values], dtype=np.int64)

    def append(self, y: np.ndarray, weight: np.ndarray, ids: np.ndarray) -> np.ndarray:
        """Add examples and return their slots."""
        start, stop = self._n, self._n + len(ids)
        if stop > len(self._id):
            room = max(stop, 2 * len(self._id))
            for name in _COLUMNS:
                column = getattr(self, name)
                wider = np.zeros(room, dtype=column.dtype)
                wider[:start] = column[:start]
                setattr(self, name, wider)
                column[:] = 0
        self._y[start:stop] = y
        self._weight[start:stop] = weight
        self._id[start:stop] = ids
        self._arrival[start:stop] = np.arange(self.seen, self.seen + len(ids))
        self._scaling[start:stop] = False
        if self._known is not None:
            self._known |= zip(ids.tolist(), range(start, stop), strict=True)
        self._n = stop
        return np.arange(start, stop, dtype=np.int64)

    def count_arrivals(self, count: int, largest: int) -> None:
        """Note that `count` examples with ids up to `largest` have been learned for good."""
        self.seen += count
        self.next_id = max(self.next_id, largest + 1)

    def truncate(self, size: int) -> None:
        """Take back the latest appends, also one that has failed on its way."""
        self._known = None
        for name in _COLUMNS:
            getattr(self, name)[size:] = 0
        self._n = size

    def set_scaling(self, scaling: np.ndarray | bool) -> None:
        self._scaling[: self._n] = scaling

    def set_weight(self, slots: np.ndarray, weight: np.ndarray) -> None:
        self._weight[slots] = weight

    def remove(self, slots: np.ndarray) -> None:
        """Remove examples in this order; each time the last one takes the freed slot."""
        slot_of = self._slot_of
        last = self._n
        for slot in slots.tolist():
            last -= 1
            del slot_of[int(self._id[slot])]
            if slot != last:
                for name in _COLUMNS:
                    column = getattr(self, name)
                    column[slot] = column[last]
                slot_of[int(self._id[slot])] = slot
        self._clear_from(last)

    def _clear_from(self, size: int) -> None:
        for name in _COLUMNS:
            getattr(self, name)[size : self._n] = 0
        self._n = size


def _check_limit(largest: int) -> None:
    if largest >= _LAST_ID:
        raise InvalidInputError(f"ids must be below {_LAST_ID}. Got {largest} instead.")


def _check_unique(ids: np.ndarray) -> None:
    if len(ids) < 2:
        return
    values, counts = np.unique(ids, return_counts=True)
    if len(values) < len(ids):
        raise DuplicateIdError(
            f"ids must not repeat. Repeated: {_some(values[counts > 1].tolist())}."
        )


def _some(values: list[int], limit: int = 5) -> str:
    text = ", ".join(str(v) for v in values[:limit])
    return text if len(values) <= limit else f"{text} and {len(values) - limit} more"
