"""C-SVC: hinge or squared hinge loss, x_i = y_i alpha_i."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from supple.problems._base import FixedBoxes
from supple.qp import NO_RIDGE, DecisionRule, Rows


@dataclass(frozen=True)
class CSVC(FixedBoxes):
    """c = y, box [0, C_i] for y = +1 and [-C_i, 0] for y = -1, sum of x = 0.

    With the squared hinge loss the boxes are unbounded, and 1 / (2 C_i) is added to the diagonal of
    K: the cost C_i xi_i^2 has the slope alpha_i at xi_i = alpha_i / (2 C_i).
    """

    C: float
    squared: bool = False
    per: ClassVar[int] = 1
    groups: ClassVar[int] = 1
    labelled: ClassVar[bool] = True
    needs_mass: ClassVar[bool] = False
    needs_diagonal: ClassVar[bool] = False

    def rows(self, t: np.ndarray, weight: np.ndarray, diagonal: np.ndarray) -> Rows:
        cost = self.C * weight
        bound, ridge = cost * t, NO_RIDGE
        if self.squared:
            takes_part = cost > 0.0
            bound = np.where(takes_part, np.copysign(np.inf, t), 0.0)
            ridge = np.divide(0.5, cost, out=np.zeros(len(t)), where=takes_part)
        return Rows(
            c=t,
            lo=np.minimum(bound, 0.0),
            hi=np.maximum(bound, 0.0),
            group=np.zeros(len(t), dtype=np.uint8),
            ridge=ridge,
        )

    def targets(self, t: np.ndarray, weight: np.ndarray) -> Sequence[float]:
        return (0.0,)

    def obstacle(self, t: np.ndarray, weight: np.ndarray) -> str | None:
        return None

    def decision_rule(self, mu: Sequence[float], rounding: float) -> DecisionRule:
        return DecisionRule(1.0, mu[0])
