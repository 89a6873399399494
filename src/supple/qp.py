"""The rows that an example adds to the signed QP, and a change of its boxes and targets.

    minimise  1/2 x'(K + D)x - c'x   subject to   lo <= x <= hi,  sum of x over group e = target_e

K is the raw kernel matrix; labels enter through c and the boxes. D is the diagonal ridge. The
state of a QP (x, Kx, mu, the margin set and its factor) is a ``Head`` of the compiled core.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

__all__ = ["NO_RIDGE", "DecisionRule", "HeadMembers", "Move", "Rows"]


NO_RIDGE = np.empty(0)


class Rows(NamedTuple):
    """c, lo, hi, group and ridge of the variables of some examples, example by example."""

    c: np.ndarray
    lo: np.ndarray
    hi: np.ndarray
    group: np.ndarray
    ridge: np.ndarray = NO_RIDGE  # empty: 0 for all


class HeadMembers(NamedTuple):
    """The members of several heads, one head after the other, with their targets."""

    counts: list[int]  # examples of each head
    places: np.ndarray  # of the members among the examples given
    t: np.ndarray  # targets of the members in their head

    def split(self, values: np.ndarray) -> list[np.ndarray]:
        """Return the part of each head; `values` has as many entries for each place."""
        per = len(values) // max(1, len(self.places))
        ends = itertools.accumulate(per * n for n in self.counts)
        return [values[end - per * n : end] for n, end in zip(self.counts, ends, strict=True)]


class Move(NamedTuple):
    """New boxes of some variables, their new ridge, and the new targets of all groups."""

    variables: np.ndarray
    lo: np.ndarray
    hi: np.ndarray
    ridge: np.ndarray  # empty: as it is
    targets: Sequence[float]


class DecisionRule(NamedTuple):
    """The decision function f(z) = scale * (Kx)(z) + diagonal * k(z, z) + intercept."""

    scale: float
    intercept: float
    diagonal: float = 0.0
