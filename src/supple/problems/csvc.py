"""C-SVC: hinge loss, x_i = y_i alpha_i."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from supple.problems._base import FixedBoxes
from supple.qp import DecisionRule, Rows


@dataclass(frozen=True)
class CSVC(FixedBoxes):
    """c = y, box [0, C_i] for y = +1 and [-C_i, 0] for y = -1, sum of x = 0."""

    C: float
    per: ClassVar[int] = 1
    groups: ClassVar[int] = 1
    labelled: ClassVar[bool] = True
    needs_mass: ClassVar[bool] = False
    needs_diagonal: ClassVar[bool] = False

    def rows(self, t: np.ndarray, weight: np.ndarray, diagonal: np.ndarray) -> Rows:
        bound = self.C * weight * t
        return Rows(
            c=t,
            lo=np.minimum(bound, 0.0),
            hi=np.maximum(bound, 0.0),
            group=np.zeros(len(t), dtype=np.uint8),
        )

    def targets(self, t: np.ndarray, weight: np.ndarray) -> Sequence[float]:
        return (0.0,)

    def obstacle(self, t: np.ndarray, weight: np.ndarray) -> str | None:
        return None

    def decision_rule(self, mu: Sequence[float], rounding: float) -> DecisionRule:
        return DecisionRule(1.0, mu[0])
