"""The order of events on a stream: batches, labels that arrive late or never, records."""

from collections import Counter
from datetime import timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.errors import InvalidInputError
from supple.streams._checks import is_count
from supple.streams._metrics import Classification, Kind
from supple.streams._stream import Stream

__all__ = ["Arrival", "Plan"]


class Arrival:
    """When labels arrive: label i is known before example j if clock_j > clock_i + delay."""

    def __init__(self, stream: Stream, delay: Any) -> None:
        n = len(stream)
        self.late = bool(delay)
        if is_count(delay, 0):
            due: Any = np.arange(n) + int(delay)
            self._clock: Any = np.arange(n + 1)
        else:
            due = _add_span(stream.timestamps, delay)
            self._clock = np.append(stream.timestamps, stream.timestamps[-1:])
        self._due = due

    def known(self, n_seen: int) -> int:
        """Return the number of labels that are known before the next prediction."""
        return min(int(np.searchsorted(self._due, self._clock[n_seen], side="left")), n_seen)


def _add_span(timestamps: NDArray[Any] | None, delay: Any) -> NDArray[Any]:
    span = np.timedelta64(delay) if isinstance(delay, timedelta) else delay
    dated = isinstance(span, np.timedelta64)
    if not dated and not isinstance(span, float | np.floating):
        wanted = "an int >= 0, a float or a timedelta"
    elif timestamps is None:
        raise InvalidInputError(
            f"A 'delay' of {delay!r} is a span of time, and the stream has no timestamps. Pass "
            "'timestamps', or an int to count examples."
        )
    elif dated != (timestamps.dtype.kind == "M"):
        wanted = f"a span of timestamps of {timestamps.dtype}"
    elif not span >= (np.timedelta64(0) if dated else 0.0):
        wanted = "a span >= 0"
    else:
        return timestamps + span
    raise InvalidInputError(
        f"The 'delay' parameter of prequential must be {wanted}. Got {delay!r} instead."
    )


class Plan:
    """The stream, and its order of predictions, labels and records."""

    def __init__(
        self,
        stream: Stream,
        kind: Kind,
        arrival: Arrival,
        labelled: NDArray[np.bool_],
        batch_size: int,
        window: int,
        every: int,
    ) -> None:
        self.stream = stream
        self.labels = kind.takes_targets
        self._arrival = arrival
        self.labelled = labelled
        self.window = window
        self._batch_size = batch_size
        self._every = every
        self.truth = stream.y
        self.hits = np.zeros((len(stream), 2))
        if isinstance(kind, Classification):
            self.truth = np.searchsorted(np.unique(stream.y), stream.y)
            self.hits = self._references()

    def batches(self) -> list[tuple[int, int]]:
        """Return the starts and ends of batches."""
        n, size = len(self.stream), self._batch_size
        return [(start, min(start + size, n)) for start in range(0, n, size)]

    def closes(self, start: int, stop: int) -> bool:
        """Return whether there is a record after this batch."""
        return start // self._every < stop // self._every or stop == len(self.stream)

    def known(self, n_seen: int) -> int:
        """Return the number of examples whose labels may be known after n_seen examples."""
        return self._arrival.known(n_seen) if self.labels else n_seen

    def arrived(self, first: int, n_seen: int) -> NDArray[np.intp]:
        """Return positions, from `first` on, of examples that can be learned after n_seen."""
        return first + np.flatnonzero(self.labelled[first : self.known(n_seen)])

    def _references(self) -> NDArray[np.float64]:
        """Return whether the no-change and the majority classifier are right about each label."""
        hits = np.zeros((len(self.stream), 2))
        counts: Counter[int] = Counter()
        latest, majority, known = -1, -1, 0
        for start, stop in self.batches():
            hits[start:stop, 0] = self.truth[start:stop] == latest
            hits[start:stop, 1] = self.truth[start:stop] == majority
            for i in self.arrived(known, stop):
                latest = int(self.truth[i])
                counts[latest] += 1
                if counts[latest] > counts[majority]:
                    majority = latest
            known = self.known(stop)
        return hits
