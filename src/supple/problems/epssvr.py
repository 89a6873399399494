"""eps-SVR: epsilon-insensitive regression, two variables per example."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from supple.problems._base import FixedBoxes
from supple.qp import DecisionRule, Rows


@dataclass(frozen=True)
class EpsSVR(FixedBoxes):
    """c = t - epsilon on [0, C_i] and c = t + epsilon on [-C_i, 0], sum of x = 0."""

    C: float
    epsilon: float
    per: ClassVar[int] = 2
    groups: ClassVar[int] = 1
    labelled: ClassVar[bool] = False
    needs_mass: ClassVar[bool] = False
    needs_diagonal: ClassVar[bool] = False

    def rows(self, t: np.ndarray, weight: np.ndarray, diagonal: np.ndarray) -> Rows:
        n = 2 * len(t)
        c, lo, hi = np.empty(n), np.zeros(n), np.zeros(n)
        width = self.C * weight
        np.subtract(t, self.epsilon, out=c[::2])
        np.add(t, self.epsilon, out=c[1::2])
        hi[::2] = width
        np.negative(width, out=lo[1::2])
        return Rows(c, lo, hi, np.zeros(n, dtype=np.uint8))

    def targets(self, t: np.ndarray, weight: np.ndarray) -> Sequence[float]:
        return (0.0,)

    def obstacle(self, t: np.ndarray, weight: np.ndarray) -> str | None:
        return None

    def decision_rule(self, mu: Sequence[float], rounding: float) -> DecisionRule:
        return DecisionRule(1.0, mu[0])
