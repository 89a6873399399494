"""Ranks of scores among earlier ones, and a statistic that grows if they are not uniform."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right

import numpy as np
from numpy.typing import NDArray

__all__ = ["DIRECTIONS", "Ranks", "ShiryaevRoberts"]

# A bet wins if p is near 0, near 1, near both, or near 1/2.
DIRECTIONS = ("lower", "higher", "wider", "narrower")
# Against strong, middling and weak changes, see (53).
_POWERS = np.array([0.0, 0.5, 0.8])[:, None]
# Keeps a bet below 22, so that no single example raises an alarm.
_SHIFT = 0.01
_WHOLE = np.array(
    [np.log1p(1.0 / _SHIFT)] + [((1.0 + _SHIFT) ** e - _SHIFT**e) / e for e in (0.5, 0.8)]
)[:, None]
# Slope and intercept of the mean run length over the threshold of these bets, fitted to simulated
# run lengths from 100 to 30,000 by benchmarks/drift_watch.py --thresholds.
_SLOPE, _START = 1.5, -3.0


def bets(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the densities (53) at p, of shape (powers, directions, *p.shape); each has mean 1.

    Examples
    --------
    >>> bets(np.array([0.001, 0.5])).max(axis=0).argmax(axis=0).tolist()  # "lower", "narrower"
    [0, 3]
    """
    off_centre = np.abs(2.0 * p - 1.0)
    views = np.stack([p, 1.0 - p, 1.0 - off_centre, off_centre])
    extra = (1,) * p.ndim
    powers, whole = (each.reshape(-1, 1, *extra) for each in (_POWERS, _WHOLE))
    return (views + _SHIFT) ** (powers - 1.0) / whole


class Ranks:
    """Turn each score into its rank among those before it, as a smoothed p-value (52).

    If the scores are exchangeable, the p-values are independent and uniform on (0, 1], also with
    ties. Beyond `most` scores the later ones are compared with the first `most`, which bounds
    the memory; the p-values then depend on each other through these, by about 1 / sqrt(most).

    Examples
    --------
    >>> ranks = Ranks(most=100)
    >>> [round(ranks.p_value(score, tau=0.5), 3) for score in (5.0, 7.0, 6.0, 1.0)]
    [0.5, 0.75, 0.5, 0.125]
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._sorted = array("d")

    def __len__(self) -> int:
        return len(self._sorted)

    def copy(self) -> Ranks:
        other = Ranks(self.most)
        other._sorted = self._sorted[:]
        return other

    def p_value(self, score: float, tau: float) -> float:
        """Return the share of scores below `score`, ties by the part `tau`, and add the score."""
        below = bisect_left(self._sorted, score)
        equal = bisect_right(self._sorted, score, below) - below
        p = (below + tau * (equal + 1)) / (len(self._sorted) + 1)
        if len(self._sorted) < self.most:
            self._sorted.insert(below, score)
        return p


class ShiryaevRoberts:
    """The mean over all bets of the Shiryaev-Roberts statistic (54).

    Examples
    --------
    >>> statistic = ShiryaevRoberts()
    >>> statistic.value
    0.0
    >>> for _ in range(6):
    ...     statistic.update(0.001)
    >>> statistic.value > ShiryaevRoberts.threshold(10_000), statistic.direction
    (True, 'lower')
    """

    def __init__(self) -> None:
        self._each = np.zeros((len(_POWERS), len(DIRECTIONS)))

    def copy(self) -> ShiryaevRoberts:
        other = ShiryaevRoberts()
        other._each = self._each  # updates replace it, never change it
        return other

    @staticmethod
    def threshold(run_length: float) -> float:
        """Return the threshold with mean run length `run_length` for uniform p-values."""
        return (run_length - _START) / _SLOPE

    def update(self, p: float) -> None:
        """Process one p-value."""
        self._each = (1.0 + self._each) * bets(np.asarray(p))

    @property
    def value(self) -> float:
        """The statistic, 0 at the start; minus the number of p-values it is a martingale."""
        return float(self._each.mean())

    @property
    def direction(self) -> str:
        """The direction of the bets that have won most."""
        return DIRECTIONS[int(self._each.sum(axis=0).argmax())]
