"""A fixed number of examples, of which the least relevant leaves (Tax & Laskov 2003)."""

from __future__ import annotations

import numpy as np

from supple.memory._base import Change, Held, Memory
from supple.memory.window import oldest

__all__ = ["Budget", "least_relevant"]


def least_relevant(size: np.ndarray, slack: np.ndarray, arrival: np.ndarray) -> int:
    """Return the position of the example with the smallest coefficient.

    Among equals, as all non-support vectors are, the one with the largest slack (margin), and
    among those the one that came first.

    Parameters
    ----------
    size : ndarray
        |x_i| of each example; with several heads the largest.
    slack : ndarray
        y_i f(x_i) - 1; with several heads the smallest.
    arrival : ndarray
        Order of arrival.

    Examples
    --------
    >>> least_relevant(np.array([1.0, 0.0, 0.0]), np.array([0.9, 1.2, 1.5]), np.array([0, 1, 2]))
    2
    """
    tied = np.flatnonzero(size == size.min())
    if len(tied) > 1:
        values = slack[tied]
        tied = tied[values == values.max()]
    return int(tied[np.argmin(arrival[tied])])


class Budget(Memory):
    """Keep at most `size` examples.

    Parameters
    ----------
    size : int, default=500
        Most examples held between two examples of the stream.
    rule : {"relevance", "oldest"}, default="relevance"
        Who leaves.
    """

    def __init__(self, size: int = 500, rule: str = "relevance") -> None:
        self.size = size
        self.rule = rule

    def check(self) -> None:
        self._check_count("size", 2)
        self._check_choice("rule", ("relevance", "oldest"))

    @property
    def capacity(self) -> int:  # type: ignore[override]
        """Most examples held after an update."""
        return int(self.size)

    def portions(self, held: int, n: int) -> list[slice]:
        return [slice(i, i + 1) for i in range(n)]

    def after(self, held: Held) -> Change | None:
        if len(held) <= self.size:
            return None
        if self.rule == "oldest":
            leaving = int(oldest(held.arrival, 1)[0])
        else:
            leaving = least_relevant(*held.relevance(), held.arrival)
        return Change(forget=held.slots[[leaving]])
