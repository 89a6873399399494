"""Plans: how one labelled data set is split into binary machines ("heads").

A plan is stateless. It gives the heads that a set of classes needs, the examples of each head and
their targets there. All heads share the examples and the kernel rows. Classes are integer codes;
their order has no meaning here.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain, combinations
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from supple.qp import HeadMembers

__all__ = ["OneVsOne", "OneVsRest", "Plan", "Single"]

Key = tuple[int, ...]


class Plan(Protocol):
    """The interface of a plan to the engine."""

    def keys(self, labels: Sequence[int]) -> list[Key]:
        """Return the heads needed for the class codes `labels`."""

    def members(self, key: Key, y: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return the mask of the examples that head `key` is trained on."""

    def members_of(self, keys: Sequence[Key], y: NDArray[np.float64]) -> HeadMembers:
        """Return the places of those examples, and their targets, for several heads at once."""

    def targets(self, key: Key, y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the targets of these examples in head `key`."""


class Single:
    """One machine on all examples, targets as given (regression, one-class).

    Examples
    --------
    >>> Single().keys([])
    [()]
    """

    def keys(self, labels: Sequence[int]) -> list[Key]:
        """Return the one head, whatever `labels` holds."""
        return [()]

    def members(self, key: Key, y: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return a mask that is true for every example."""
        return np.ones(len(y), dtype=bool)

    def members_of(self, keys: Sequence[Key], y: NDArray[np.float64]) -> HeadMembers:
        """Return the places of all examples, for the one head."""
        return HeadMembers([len(y)], np.arange(len(y)), y)

    def targets(self, key: Key, y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return `y` itself."""
        return y


class OneVsOne:
    """One machine per pair of classes; head ``(a, b)`` is positive on class ``a``.

    A class that appears later adds heads and leaves the others untouched.

    Examples
    --------
    >>> OneVsOne().keys([0, 1, 2])
    [(0, 1), (0, 2), (1, 2)]
    >>> OneVsOne().keys([0])
    []
    """

    def keys(self, labels: Sequence[int]) -> list[Key]:
        """Return the pairs of `labels`; none if there is only one class."""
        return list(_pairs(tuple(labels)))

    def members(self, key: Key, y: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return the mask of the examples of the two classes of `key`."""
        return (y == key[0]) | (y == key[1])

    def members_of(self, keys: Sequence[Key], y: NDArray[np.float64]) -> HeadMembers:
        """Return for each pair the places of its first class, then those of the other.

        The examples of a single pair stay in order.
        """
        if len(keys) == 1:
            (places,) = self.members(keys[0], y).nonzero()
            return HeadMembers([len(places)], places, self.targets(keys[0], y[places]))
        labels = list(chain.from_iterable(keys))
        own = {label: (y == label).nonzero()[0] for label in set(labels)}
        sides = [own[label] for label in labels]
        sizes = [len(side) for side in sides]
        return HeadMembers(
            [a + b for a, b in zip(sizes[::2], sizes[1::2], strict=True)],
            np.concatenate(sides),
            np.array([1.0, -1.0] * len(keys)).repeat(sizes),
        )

    def targets(self, key: Key, y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return +1 for the first class of `key`, -1 for the other."""
        return np.where(y == key[0], 1.0, -1.0)


@lru_cache(maxsize=64)
def _pairs(labels: tuple[int, ...]) -> tuple[Key, ...]:
    # Cached: every update uses them, see supple.engine.head on the garbage collector.
    return tuple(combinations(labels, 2))


class OneVsRest:
    """One machine per class against all others; head ``(a,)`` is positive on class ``a``.

    Two classes need one head only, which is the same machine with either sign.

    Examples
    --------
    >>> OneVsRest().keys([0, 1, 2])
    [(0,), (1,), (2,)]
    >>> OneVsRest().keys([0, 1])
    [(0,)]
    """

    def keys(self, labels: Sequence[int]) -> list[Key]:
        """Return one head per class; one for two classes, none for one class."""
        if len(labels) < 3:
            return [(label,) for label in labels[: len(labels) - 1]]
        return [(label,) for label in labels]

    def members(self, key: Key, y: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return a mask that is true for every example."""
        return np.ones(len(y), dtype=bool)

    def members_of(self, keys: Sequence[Key], y: NDArray[np.float64]) -> HeadMembers:
        """Return the places of all examples, once for each head."""
        places = np.concatenate([np.arange(len(y))] * len(keys))
        t = np.concatenate([self.targets(key, y) for key in keys])
        return HeadMembers([len(y)] * len(keys), places, t)

    def targets(self, key: Key, y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return +1 for the class of `key`, -1 for the rest."""
        return np.where(y == key[0], 1.0, -1.0)
