"""A fixed number of examples (Tax & Laskov 2003), without collapse where classes overlap."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

import numpy as np

from supple.memory._base import Change, Held, Memory
from supple.memory.window import oldest

__all__ = ["Budget", "least_relevant"]

_NAMES = 100  # of merged examples that are remembered, the latest


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


class _Merged(NamedTuple):
    """What a merged example stands for."""

    number: int
    names: tuple[Hashable, ...]  # the latest of these


class Budget(Memory):
    """Keep at most `size` examples: merge the two closest, or let one go.

    The examples are learned one by one. When more than `size` are held, `rule` reduces them. Both
    steps are exact, so that the model is always the optimum on the examples held:

    - "merge": of a classifier, an example that no machine needs (x_i = 0) leaves, the one with the
      largest margin. If there is none, and for other estimators always, the two examples of one
      class (any two, if there are no classes) become one that have the least::

          |phi(x_i) - phi(x_j)|^2 w_i w_j / (w_i + w_j),

      which is the resulting growth of the variance around class means (Ward 1963). The new example
      is their weighted mean, with the sum of their weights and an id of its own: -1, -2 and so
      on, or "merged-1" where ids are strings. If the examples are objects without a mean, or ids
      have no continuation, the heavier of the two stays, with the weight of both.
    - "relevance": the example with the smallest weight leaves, max_h |x_hi| over the machines h,
      among equals the one with the largest margin, then the oldest (Tax & Laskov 2003). Where
      classes overlap, examples on the wrong side have the largest weights and fill the memory.
    - "oldest": the example that came first leaves, as in a :class:`Window`.

    Merged examples cannot be forgotten by id: `forget` raises and names the example that stands for
    them. Exact unlearning needs a memory that keeps examples.

    Parameters
    ----------
    size : int, default=500
        Most examples held between two examples of the stream, at least 2. With fewer examples than
        classes, classes are forgotten.
    rule : {"merge", "relevance", "oldest"}, default="merge"
        How to reduce them, see above.

    Attributes
    ----------
    n_merged_ : int
        Number of mergers so far.
    stands_for_ : dict
        The ids that each merged example held stands for, of more than 100 the latest.

    Examples
    --------
    >>> from supple import SVC
    >>> from supple.memory import Budget
    >>> model = SVC(gamma=0.5, memory=Budget(size=4))
    >>> _ = model.fit([[0.0], [0.1], [2.0], [1.0], [2.1], [3.0]], [0, 0, 0, 1, 1, 1])
    >>> sorted(model.ids_.tolist()), model.memory_.stands_for_
    ([-1, 1, 2, 3], {-1: (4, 5)})
    """

    def __init__(self, size: int = 500, rule: str = "merge") -> None:
        self.size = size
        self.rule = rule
        self.n_merged_ = 0
        self._merged: dict[Hashable, _Merged] = {}

    def check(self) -> None:
        self._check_count("size", 2)
        self._check_choice("rule", ("merge", "relevance", "oldest"))

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
            return Change(forget=held.slots[oldest(held.arrival, 1)])
        idle = not held.weight.all()
        if self.rule == "relevance" or held.labelled or idle:
            size, slack = held.relevance()
            leaving = least_relevant(size, slack, held.arrival)
            if self.rule == "relevance" or size[leaving] == 0.0:
                return self._without(held, leaving)
        pair = held.closest_pair()
        if pair is None:  # fewer examples than classes
            return self._without(held, int(oldest(held.arrival, 1)[0]))
        return Change(join=pair)

    def _without(self, held: Held, position: int) -> Change:
        slots = held.slots[[position]]
        self._drop(held.ids[[position]])
        return Change(forget=slots)

    # ------------------------------------------------------------------ what was merged

    def name_of_next(self, ids: np.ndarray) -> Hashable | None:
        if not isinstance(ids.item(0), int | str):
            return None
        taken, number = set(ids.tolist()), self.n_merged_ + 1
        while True:
            name = -number if isinstance(ids.item(0), int) else f"merged-{number}"
            if name not in taken:
                return name
            number += 1

    def joined(self, ids: tuple[Hashable, Hashable], name: Hashable, *, mixed: bool) -> None:
        parts = [self._merged.get(i, _Merged(1, (i,))) for i in ids]
        number, names = sum(p.number for p in parts), parts[0].names + parts[1].names
        self._merged = {i: m for i, m in self._merged.items() if i not in ids}
        self._merged[name] = _Merged(number, names[-_NAMES:])
        self.n_merged_ += 1
        self.mixed = self.mixed or mixed

    def forgets(self, held: Held, ids: np.ndarray) -> None:
        self._drop(ids)

    def _drop(self, ids: np.ndarray) -> None:
        leaving = set(ids.tolist())
        if leaving & self._merged.keys():
            self._merged = {i: m for i, m in self._merged.items() if i not in leaving}

    @property
    def stands_for_(self) -> dict[Hashable, tuple[Hashable, ...]]:
        """The ids that each merged example held stands for, of more than 100 the latest."""
        return {i: merged.names for i, merged in self._merged.items()}

    def fate(self, ids: np.ndarray) -> str:
        for name, merged in self._merged.items():
            for i in ids.tolist():
                if i in merged.names and i != name:
                    return (
                        f" Example {i!r} was merged into {name!r}, which stands for "
                        f"{merged.number} examples and can only be forgotten as a whole. Exact "
                        "unlearning needs a memory that keeps examples, such as Window or KeepAll."
                    )
        if any(merged.number > len(merged.names) for merged in self._merged.values()):
            return (
                f" {self} merges examples and has not kept all their ids: these may be parts of "
                "others. Exact unlearning needs a memory that keeps examples."
            )
        return ""
