"""The latest examples only: a sliding window."""

from __future__ import annotations

import numpy as np

from supple.memory._base import Change, Held, Memory

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
    """Keep the latest `size` examples and forget the oldest, exactly.

    The model is that of `fit` on the window::

        { i : n - size <= arrival_i < n },    n examples so far,

    so it follows a world that changes, at the price of one learned and one forgotten example each.
    This is how Tax & Laskov (2003) detect novelties online.

    Parameters
    ----------
    size : int, default=500
        Number of examples.

    Examples
    --------
    >>> from supple import SVR
    >>> from supple.memory import Window
    >>> model = SVR(kernel="linear", C=100.0, epsilon=0.0, memory=Window(size=3))
    >>> _ = model.fit([[0.0], [1.0], [2.0], [3.0], [4.0]], [9.0, 9.0, 2.0, 3.0, 4.0])
    >>> sorted(model.ids_.tolist()), model.predict([[10.0]]).round(6).tolist()
    ([2, 3, 4], [10.0])
    """

    def __init__(self, size: int = 500) -> None:
        self.size = size

    def check(self) -> None:
        self._check_count("size", 1)

    @property
    def capacity(self) -> int:  # type: ignore[override]
        """Most examples held after an update."""
        return int(self.size)

    def portions(self, held: int, n: int) -> list[slice]:
        # Until the window is full at once, then a quarter of it, so that it holds little more.
        room, step = max(self.size - held, 0), max(1, self.size // 4)
        starts = [0, *range(room, n, step)] if room else [*range(0, n, step)]
        return [slice(a, b) for a, b in zip(starts, [*starts[1:], n], strict=True)]

    def after(self, held: Held) -> Change | None:
        excess = len(held) - self.size
        return Change(forget=held.slots[oldest(held.arrival, excess)]) if excess > 0 else None
