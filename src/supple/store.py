"""The examples held: label or target, weight, group, arrival and the table id <-> slot."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Hashable
from typing import Any

import numpy as np

from supple.errors import DuplicateIdError, InvalidInputError, UnknownIdError

__all__ = ["LAST_ID", "Store", "kind_of", "name_of_kind"]

LAST_ID = 2**63 - 1  # no larger number is left for the next example
_COLUMNS = ("_y", "_weight", "_id", "_group", "_arrival", "_scaling")
_NO_IDS = np.empty(0, dtype=np.int64)


def kind_of(identity: Hashable) -> type:
    """Return what an id is: an integer, a string, bytes, or an object of its own type."""
    return next((kind for kind in (int, str, bytes) if isinstance(identity, kind)), type(identity))


def name_of_kind(kind: type) -> str:
    """Return the name of a kind of ids in messages."""
    return {int: "integers", str: "strings", bytes: "bytes"}.get(kind, f"{kind.__name__} objects")


class Store:
    """Columns that grow by doubling. A slot is a position; an id stays with its example for ever.

    Removal moves the last example into the freed slot. Free slots are overwritten with zeros, and
    copies and pickles leave them out: nothing remains of a removed example.

    Integer ids are an int64 column, others a column of objects of one kind. An empty store takes
    ids of any kind.
    """

    def __init__(self) -> None:
        self._n = 0
        self._y = np.zeros(16)
        self._weight = np.zeros(16)
        self._id = np.zeros(16, dtype=np.int64)
        self._group = np.zeros(16, dtype=object)  # None: of no group
        self._arrival = np.zeros(16, dtype=np.int64)
        self._scaling = np.zeros(16, dtype=bool)
        self._known: dict[Hashable, int] | None = None  # see _slot_of
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
        return self._id[: self._n] if self._n else _NO_IDS

    @property
    def groups(self) -> np.ndarray:
        """Group of each example, None without a group."""
        return self._group[: self._n]

    @property
    def arrival(self) -> np.ndarray:
        """Number of examples that came before each."""
        return self._arrival[: self._n]

    @property
    def scaling(self) -> np.ndarray:
        """Whether the scale of the kernel depends on the example."""
        return self._scaling[: self._n]

    @property
    def _slot_of(self) -> dict[Hashable, int]:
        """The slot of each id, built at the first access and then maintained.

        A model that is never updated does not need it.
        """
        if self._known is None:
            self._known = dict(zip(self.ids.tolist(), range(self._n), strict=True))
        return self._known

    def copied(self) -> Store:
        """Return an independent copy."""
        return copy.copy(self)

    def part(self, slots: np.ndarray) -> Store:
        """Return an independent store with some of the examples, in this order."""
        other = self.copied()
        for name in _COLUMNS:
            setattr(other, name, getattr(self, name)[slots])
        other._n = len(slots)
        return other

    def __getstate__(self) -> dict[str, Any]:
        columns = {name: getattr(self, name)[: self._n].copy() for name in _COLUMNS}
        columns["_id"] = self.ids.copy()
        return self.__dict__ | columns | {"_known": None}

    def new_ids(self, count: int) -> np.ndarray:
        """Return the next free integers."""
        if self.ids.dtype == object:
            raise InvalidInputError(
                f"'ids' must be given, one per row of X: those of the examples held are "
                f"{name_of_kind(kind_of(self._id[0]))}, which cannot be continued by counting. "
                "Got None instead."
            )
        _check_limit(self.next_id + count - 1)
        return np.arange(self.next_id, self.next_id + count, dtype=np.int64)

    def _check_kind(self, ids: np.ndarray) -> None:
        """Raise if these ids, all of one kind, differ in kind from the ids held."""
        if not (self._n and len(ids)) or ids.dtype == self._id.dtype == np.int64:
            return
        own, given = kind_of(self._id.item(0)), kind_of(ids.item(0))
        if own is not given:
            raise InvalidInputError(
                f"'ids' must be {name_of_kind(own)}, as those of the examples held. Got "
                f"{ids.item(0)!r:.60} ({given.__name__}) instead. Convert the ids, or call fit to "
                f"start again with {name_of_kind(given)}."
            )

    def check_new(self, ids: np.ndarray) -> None:
        """Raise if an id repeats, is already taken, or is the largest integer."""
        self._check_kind(ids)
        if ids.dtype == np.int64:
            _check_limit(int(ids.max(initial=0)))
        values, slot_of = ids.tolist(), self._slot_of
        known = [i for i in values if i in slot_of]
        if known:
            raise DuplicateIdError(
                f"ids must be new. Already held: {_some(known)}. Forget those examples first, or "
                "give other ids."
            )
        _check_unique(values)

    def holds(self, identity: Hashable) -> bool:
        """Whether the example of this id is held."""
        return identity in self._slot_of

    def holding(self, ids: np.ndarray) -> np.ndarray:
        """Return which of these ids are held; they are of the kind of those held."""
        self._check_kind(ids)
        slot_of = self._slot_of
        return np.fromiter((i in slot_of for i in ids.tolist()), dtype=bool, count=len(ids))

    def slots(self, ids: np.ndarray) -> np.ndarray:
        """Return the slots of these ids, which must be known and must not repeat."""
        self._check_kind(ids)
        values, slot_of = ids.tolist(), self._slot_of
        missing = [i for i in values if i not in slot_of]
        if missing:
            raise UnknownIdError(
                f"Unknown ids: {_some(missing)}. The ids of the examples held are in 'ids_'; "
                "missing='ignore' passes over others."
            )
        _check_unique(values)
        return np.array([slot_of[i] for i in values], dtype=np.int64)

    def members(self, groups: np.ndarray, *, ignore: bool) -> np.ndarray:
        """Return the slots of all examples of these groups; `ignore` those without any."""
        wanted, held = dict.fromkeys(groups.tolist()), self.groups.tolist()
        missing = [] if ignore else [g for g in wanted if g not in set(held)]
        if missing:
            raise UnknownIdError(
                f"Unknown groups: {_some(missing)}. The groups of the examples held are in "
                "'groups_'; missing='ignore' passes over others."
            )
        return np.array([slot for slot, g in enumerate(held) if g in wanted], dtype=np.int64)

    def append(
        self,
        y: np.ndarray,
        weight: np.ndarray,
        ids: np.ndarray,
        groups: np.ndarray | None = None,
        arrival: np.ndarray | None = None,
    ) -> np.ndarray:
        """Add examples and return their slots; `arrival` defaults to now."""
        start, stop = self._n, self._n + len(ids)
        if not start and ids.dtype != self._id.dtype:
            self._id = np.zeros(len(self._id), dtype=ids.dtype)
        if stop > len(self._id):
            room = max(stop, 2 * len(self._id))
            # Grow all columns before any is replaced: memory may run out in between.
            wider = {name: np.zeros(room, dtype=getattr(self, name).dtype) for name in _COLUMNS}
            for name, new in wider.items():
                column = getattr(self, name)
                new[:start] = column[:start]
                setattr(self, name, new)
                column[:] = 0
        self._y[start:stop] = y
        self._weight[start:stop] = weight
        self._id[start:stop] = ids
        self._group[start:stop] = groups
        self._arrival[start:stop] = (
            np.arange(self.seen, self.seen + len(ids)) if arrival is None else arrival
        )
        self._scaling[start:stop] = False
        if self._known is not None:
            self._known |= zip(ids.tolist(), range(start, stop), strict=True)
        self._n = stop
        return np.arange(start, stop, dtype=np.int64)

    def count_arrivals(self, ids: np.ndarray) -> None:
        """Count the examples of these ids as learned."""
        self.seen += len(ids)
        if ids.dtype == np.int64:
            self.next_id = max(self.next_id, int(ids.max(initial=-1)) + 1)

    @property
    def arrivals(self) -> tuple[int, int]:
        """The fields that `count_arrivals` changes."""
        return self.seen, self.next_id

    @arrivals.setter
    def arrivals(self, numbers: tuple[int, int]) -> None:
        self.seen, self.next_id = numbers

    def record(self, slot: int) -> tuple[Any, ...]:
        """Return all columns of an example."""
        return tuple(getattr(self, name)[slot] for name in _COLUMNS)

    def insert(self, slot: int, record: tuple[Any, ...]) -> None:
        """Undo a removal: put an example into a slot and move its present one to the end."""
        values = dict(zip(_COLUMNS, record, strict=True))
        self.append(np.zeros(1), np.zeros(1), self._one_id(values["_id"]))
        last = self._n - 1
        for name, value in values.items():
            column = getattr(self, name)
            column[last] = column[slot]
            column[slot] = value
        self._known = None

    def _one_id(self, identity: Any) -> np.ndarray:
        ids = np.empty(1, dtype=np.int64 if isinstance(identity, np.integer) else object)
        ids[0] = identity
        return ids

    def expect_removals(self) -> None:
        """Build the table of ids now, so that the removals that follow need no memory."""
        _ = self._slot_of

    def truncate(self, size: int) -> None:
        """Undo the latest appends, including one that failed half-way."""
        self._known = None
        for name in _COLUMNS:
            getattr(self, name)[size:] = 0
        self._n = size

    def set_scaling(self, scaling: np.ndarray | bool) -> None:
        self._scaling[: self._n] = scaling

    def set_weight(self, slots: np.ndarray | slice, weight: np.ndarray | float) -> None:
        self._weight[slots] = weight

    def remove(self, slots: np.ndarray) -> None:
        """Remove examples in this order; each time the last one takes the freed slot."""
        slot_of = self._slot_of
        last = self._n
        for slot in slots.tolist():
            last -= 1
            del slot_of[self._id.item(slot)]
            if slot != last:
                for name in _COLUMNS:
                    column = getattr(self, name)
                    column[slot] = column[last]
                slot_of[self._id.item(slot)] = slot
        self._clear_from(last)

    def _clear_from(self, size: int) -> None:
        for name in _COLUMNS:
            getattr(self, name)[size : self._n] = 0
        self._n = size


def _check_limit(largest: int) -> None:
    if largest >= LAST_ID:
        raise InvalidInputError(f"ids must be below {LAST_ID}. Got {largest} instead.")


def _check_unique(values: list[Hashable]) -> None:
    if len(set(values)) < len(values):
        repeated = [i for i, count in Counter(values).items() if count > 1]
        raise DuplicateIdError(f"ids must not repeat. Repeated: {_some(repeated)}.")


def _some(values: list[Hashable], limit: int = 5) -> str:
    text = ", ".join(f"{v!r:.60}" for v in values[:limit])
    return text if len(values) <= limit else f"{text} and {len(values) - limit} more"
