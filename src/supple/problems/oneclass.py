"""One-class SVM (Schölkopf): the smallest cap that holds all but a fraction nu of the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from supple.problems._base import FixedBoxes
from supple.qp import DecisionRule, Rows


@dataclass(frozen=True)
class OneClass(FixedBoxes):
    """c = 0, box [0, w_i], x sums to nu W, W the sum of the weights."""

    nu: float
    per: ClassVar[int] = 1
    groups: ClassVar[int] = 1
    labelled: ClassVar[bool] = False
    needs_mass: ClassVar[bool] = True
    needs_diagonal: ClassVar[bool] = False

    def rows(self, t: np.ndarray, weight: np.ndarray, diagonal: np.ndarray) -> Rows:
        n = len(t)
        return Rows(
            c=np.zeros(n), lo=np.zeros(n), hi=weight.copy(), group=np.zeros(n, dtype=np.uint8)
        )

    def targets(self, t: np.ndarray, weight: np.ndarray) -> Sequence[float]:
        return (self.nu * float(weight.sum()),)

    def obstacle(self, t: np.ndarray, weight: np.ndarray) -> str | None:
        if float(weight.sum()) > 0.0:
            return None
        return "all examples have weight 0. Add examples with a positive weight."

    def decision_rule(self, mu: Sequence[float], rounding: float) -> DecisionRule:
        return DecisionRule(1.0, mu[0])
