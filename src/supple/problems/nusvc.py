"""nu-SVC: nu bounds the fraction of margin errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from supple.problems._base import FixedBoxes
from supple.qp import DecisionRule, Rows


@dataclass(frozen=True)
class NuSVC(FixedBoxes):
    """c = 0, box [0, w_i] / [-w_i, 0]; x sums to nu W / 2 over one class, -nu W / 2 over the other.

    W is the sum of the weights. The two sums are equivalent to y'alpha = 0 and 1'alpha = nu W.
    """

    nu: float
    per: ClassVar[int] = 1
    groups: ClassVar[int] = 2
    labelled: ClassVar[bool] = True
    needs_mass: ClassVar[bool] = True
    needs_diagonal: ClassVar[bool] = False

    def rows(self, t: np.ndarray, weight: np.ndarray, diagonal: np.ndarray) -> Rows:
        positive = t > 0
        return Rows(
            c=np.zeros(len(t)),
            lo=np.where(positive, 0.0, -weight),
            hi=np.where(positive, weight, 0.0),
            group=np.where(positive, 0, 1).astype(np.uint8),
        )

    def targets(self, t: np.ndarray, weight: np.ndarray) -> Sequence[float]:
        half = 0.5 * self.nu * float(weight.sum())
        return (half, -half)

    def obstacle(self, t: np.ndarray, weight: np.ndarray) -> str | None:
        smaller = min(float(weight[t > 0].sum()), float(weight[t <= 0].sum()))
        largest = 2.0 * smaller / float(weight.sum())
        if self.nu <= largest * (1.0 + 1e-12):
            return None
        return (
            f"specified nu is infeasible: nu={self.nu} exceeds {largest:.6g}, twice the smaller "
            "class's share of the weight. Lower nu, or add examples of the smaller class."
        )

    def decision_rule(self, mu: Sequence[float], rounding: float) -> DecisionRule:
        # The margin is at (Kx) = -mu of either class; LIBSVM scales it to +1 / -1. If its width is
        # within rounding, nu leaves no margin: Kx = 0, and there is nothing to scale.
        half_width = 0.5 * (mu[1] - mu[0])
        scale = 1.0 / half_width if half_width > 16.0 * rounding else 1.0
        return DecisionRule(scale, 0.5 * (mu[0] + mu[1]) * scale)
