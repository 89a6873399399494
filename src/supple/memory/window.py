"""The latest examples only: a sliding window."""

from __future__ import annotations

from datetime import timedelta

import numpy as np

from supple.memory._base import Change, Held, Memory
from supple.memory._clock import UNITS, Clock, in_seconds

__all__ = ["Window", "oldest"]


def oldest(arrival: np.ndarray, count: int) -> np.ndarray:
    """Return the positions of the `count` examples that came first.

    Examples
    --------
    >>> oldest(np.array([7, 4, 9]), 1)
    array([1])
    """
    return np.argpartition(arrival, count - 1)[:count]


class Window(Memory):
    """Keep the latest examples and forget the older ones, exactly.

    The model is that of `fit` on the window::

        { i : now - size < t_i <= now },

    t_i the number of example i, the number of its batch, or its timestamp. Each new example costs
    one learned and one forgotten example. Tax & Laskov (2003) detect novelties in this way.
    :class:`AdaptiveWindow` chooses its size by itself.

    Parameters
    ----------
    size : int, float or timedelta, default=500
        Number of examples or batches, or span of time: in the unit of the timestamps, in seconds if
        these are datetimes.
    unit : {"examples", "batches", "time"}, default="examples"
        What `size` counts. A batch is what one call of `fit` or `partial_fit` learns. For "time"
        these must be given `timestamps`, which never run backwards.

    Examples
    --------
    >>> from supple import SVR
    >>> from supple.memory import Window
    >>> model = SVR(kernel="linear", C=100.0, epsilon=0.0, memory=Window(size=3))
    >>> _ = model.fit([[0.0], [1.0], [2.0], [3.0], [4.0]], [9.0, 9.0, 2.0, 3.0, 4.0])
    >>> sorted(model.ids_.tolist()), model.predict([[10.0]]).round(6).tolist()
    ([2, 3, 4], [10.0])

    The last ten seconds:

    >>> model = SVR(kernel="linear", memory=Window(size=10.0, unit="time"))
    >>> _ = model.fit([[0.0], [1.0]], [0.0, 1.0], timestamps=[100.0, 104.5])
    >>> model.partial_fit([[2.0]], [2.0], timestamps=[112.0]).ids_
    array([2, 1])
    """

    def __init__(self, size: float | timedelta = 500, unit: str = "examples") -> None:
        self.size = size
        self.unit = unit
        self._clock = Clock(unit)

    def check(self) -> None:
        self._check_choice("unit", UNITS)
        if self.unit == "time":
            self._check_positive("size", in_seconds(self.size))
        else:
            self._check_count("size", 1)

    @property
    def capacity(self) -> int | None:  # type: ignore[override]
        """Most examples held after an update, if that is known."""
        return int(in_seconds(self.size)) if self.unit == "examples" else None

    def arrives(self, seen: int, n: int, times: np.ndarray | None) -> None:
        self._clock = self._clock.arrived(seen, n, times)

    def portions(self, held: int, n: int) -> list[slice]:
        if self.capacity is None:
            return [slice(0, n)]
        # All at once until the window is full, then a quarter of it at a time, to bound the excess.
        room, step = max(self.capacity - held, 0), max(1, self.capacity // 4)
        starts = [0, *range(room, n, step)] if room else [*range(0, n, step)]
        return [slice(a, b) for a, b in zip(starts, [*starts[1:], n], strict=True)]

    def after(self, held: Held) -> Change | None:
        if self.capacity is not None:
            excess = len(held) - self.capacity
            return Change(forget=held.slots[oldest(held.arrival, excess)]) if excess > 0 else None
        arrival, span = held.arrival, float(in_seconds(self.size))
        stale = self._clock.moments(arrival) <= self._clock.now(held.seen) - span
        # The arrivals held do not suffice: the last example may have been forgotten.
        left = arrival[~stale]
        self._clock = self._clock.without(int(left.min()) if len(left) else held.seen - 1)
        return Change(forget=held.slots[stale]) if stale.any() else None
