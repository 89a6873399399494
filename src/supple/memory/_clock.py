"""When examples arrived: in examples, in batches, or by timestamps."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import numpy as np

from supple.errors import InvalidInputError

__all__ = ["UNITS", "Clock", "in_seconds", "refuse_times"]

UNITS = ("examples", "batches", "time")


def in_seconds(span: Any) -> Any:
    """Return a timedelta as a number of seconds, and all else as it is."""
    if isinstance(span, np.timedelta64):
        return float(span / np.timedelta64(1, "s"))
    return span.total_seconds() if isinstance(span, timedelta) else span


@dataclass(frozen=True, eq=False)
class Clock:
    """Maps arrivals (the number of examples before) to moments in a unit. Immutable.

    Examples
    --------
    >>> clock = Clock("batches").arrived(0, 3, None).arrived(3, 2, None)
    >>> clock.moments(np.arange(5))
    array([0., 0., 0., 1., 1.])
    """

    unit: str
    # Batches: the arrival at which each begins. Time: the timestamps from arrival `first` on.
    marks: np.ndarray = field(default_factory=lambda: np.empty(0))
    first: int = 0
    dropped: int = 0  # batches without an example held
    dated: bool | None = None  # whether the timestamps are datetimes; None before the first

    def arrived(self, seen: int, n: int, times: np.ndarray | None) -> Clock:
        """Return the clock after `n` examples that follow `seen` others."""
        if self.unit != "time":
            refuse_times(times, f"a memory with unit={self.unit!r}")
            marks = np.append(self.marks, seen) if self.unit == "batches" else self.marks
            return replace(self, marks=marks)
        if times is None:
            raise InvalidInputError(
                "'timestamps' must be given, one for each row of X: the memory goes by time "
                "(unit='time'). Got None instead. unit='examples' or 'batches' needs none."
            )
        times, dated = self._checked(times)
        last = self.marks[-1:] if len(self.marks) else times[:1]
        fall = np.flatnonzero(np.diff(np.concatenate([last, times])) < 0.0)
        if len(fall):
            before = times[fall[0] - 1] if fall[0] else last[0]
            raise InvalidInputError(
                f"'timestamps' must not run backwards. Got {times[fall[0]]:.17g} in row {fall[0]} "
                f"after {before:.17g}. Sort the examples by time."
            )
        first = self.first if len(self.marks) else seen
        return replace(self, marks=np.concatenate([self.marks, times]), first=first, dated=dated)

    def _checked(self, times: np.ndarray) -> tuple[np.ndarray, bool]:
        """Return timestamps as numbers, and whether they are datetimes; raise if kinds mix."""
        dated = times.dtype.kind == "M"
        if self.dated not in (None, dated):
            kinds = {True: "datetimes", False: "numbers"}
            raise InvalidInputError(
                f"'timestamps' must be {kinds[not dated]}, as those of earlier calls. Got "
                f"{kinds[dated]} instead. Convert them, or call fit to start again."
            )
        return (times.astype("datetime64[us]").astype(np.int64) / 1e6 if dated else times), dated

    def moments(self, arrival: np.ndarray) -> np.ndarray:
        """Return the moments of these arrivals, which have not been dropped."""
        if self.unit == "examples":
            return np.asarray(arrival, dtype=np.float64)
        if self.unit == "time":
            return np.asarray(self.marks[arrival - self.first])
        number = np.searchsorted(self.marks, arrival, side="right") - 1
        return np.asarray(number + self.dropped, dtype=np.float64)

    def now(self, seen: int) -> float:
        """Return the moment of the latest of `seen` examples."""
        return float(self.moments(np.array([seen - 1]))[0])

    def without(self, arrival: int) -> Clock:
        """Return a clock without the moments before this arrival."""
        if self.unit == "time":
            return replace(self, marks=self.marks[arrival - self.first :], first=arrival)
        number = max(int(np.searchsorted(self.marks, arrival, side="right")) - 1, 0)
        return replace(self, marks=self.marks[number:], dropped=self.dropped + number)


def refuse_times(times: np.ndarray | None, why: str) -> None:
    """Raise if there are timestamps that the memory does not use."""
    if times is not None:
        raise InvalidInputError(
            f"'timestamps' have no meaning for {why}. Leave them out, or choose a "
            "memory that goes by time, such as Window(size=3600, unit='time')."
        )
