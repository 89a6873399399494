"""The interface of a problem to the engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Protocol, Self

import numpy as np

from supple.qp import DecisionRule, Rows


class Problem(Protocol):
    """Hyper-parameters, and the QP that they define.

    `t` holds the targets of the examples (+1 / -1, or a number), `weight` their non-negative
    weights, `diagonal` their k(x, x).
    """

    per: ClassVar[int]  # variables per example
    groups: ClassVar[int]  # equality constraints
    labelled: ClassVar[bool]  # targets are classes
    needs_mass: ClassVar[bool]  # targets or feasibility depend on all weights
    needs_diagonal: ClassVar[bool]  # c depends on k(x, x)

    def rows(self, t: np.ndarray, weight: np.ndarray, diagonal: np.ndarray) -> Rows:
        """Return c, lo, hi and group of the variables of these examples."""

    def for_weight(self, weight: np.ndarray) -> Problem:
        """Return the problem for these weights: itself unless its boxes depend on their sum."""

    def targets(self, t: np.ndarray, weight: np.ndarray) -> Sequence[float]:
        """Return the sum that the variables of each group must have."""

    def obstacle(self, t: np.ndarray, weight: np.ndarray) -> str | None:
        """Return why these examples admit no feasible point, and the remedy; None if they do."""

    def decision_rule(self, mu: Sequence[float], rounding: float) -> DecisionRule:
        """Return the decision function in terms of Kx; mu is known up to `rounding`."""


class FixedBoxes:
    """A problem whose boxes depend on no other example."""

    def for_weight(self, weight: np.ndarray) -> Self:
        return self
