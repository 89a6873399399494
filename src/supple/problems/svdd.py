"""SVDD (Tax & Duin): the smallest ball around the data in feature space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from supple.qp import DecisionRule, Rows


@dataclass(frozen=True)
class SVDD:
    """c = 1/2 diag K, box [0, C_i], x sums to 1. With nu, C = 1 / (nu W), W the sum of the weights.

    The squared distance of z to the centre is k(z, z) - 2 (Kx)(z) + x'Kx and the squared radius
    is x'Kx + 2 mu, so that radius^2 - distance^2 = 2 (Kx)(z) - k(z, z) + 2 mu.
    """

    C: float
    nu: float | None = None
    per: ClassVar[int] = 1
    groups: ClassVar[int] = 1
    labelled: ClassVar[bool] = False
    needs_mass: ClassVar[bool] = True
    needs_diagonal: ClassVar[bool] = True

    def rows(self, t: np.ndarray, weight: np.ndarray, diagonal: np.ndarray) -> Rows:
        n = len(t)
        return Rows(
            c=0.5 * diagonal,
            lo=np.zeros(n),
            hi=self.C * weight,
            group=np.zeros(n, dtype=np.uint8),
        )

    def for_weight(self, weight: np.ndarray) -> SVDD:
        if self.nu is None:
            return self
        with np.errstate(over="ignore"):  # weights that are too large are refused later
            total = float(weight.sum())
        return replace(self, C=1.0 / (self.nu * total) if total > 0.0 else 0.0)

    def targets(self, t: np.ndarray, weight: np.ndarray) -> Sequence[float]:
        return (1.0,)

    def obstacle(self, t: np.ndarray, weight: np.ndarray) -> str | None:
        if self.nu is not None and not weight.any():
            return "all examples have weight 0. Add examples with a positive weight."
        mass = float((self.C * weight).sum())
        if mass >= 1.0 - 1e-12:
            return None
        return (
            f"C={self.C} times the total weight {float(weight.sum()):.6g} is {mass:.6g}, below 1, "
            "so that the weights of the description cannot sum to 1. Raise C or add examples."
        )

    def decision_rule(self, mu: Sequence[float], rounding: float) -> DecisionRule:
        return DecisionRule(2.0, 2.0 * mu[0], diagonal=-1.0)
