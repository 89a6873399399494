"""Joachims' test of examples in the machines of a classifier."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.engine import State
from supple.engine.head import Key
from supple.engine.radius import Radius
from supple.estimators._classifier import _votes
from supple.estimators._machines import Machines


class Tested(NamedTuple):
    """Which examples the machines may misclassify if trained without them."""

    own: NDArray[np.intp]  # places of their classes
    against: NDArray[np.bool_]  # a column for each machine
    wrong: NDArray[np.bool_]  # may lose the vote


class XiAlphaTest:
    """The test rho alpha_i R^2 + xi_i >= 1, for a model that may grow between calls."""

    def __init__(self, rho: float) -> None:
        self._rho = rho
        self._known: dict[Key, Radius] = {}
        self.radii: dict[Key, tuple[float, bool]] = {}  # R^2 of the machines, whether it is exact

    def of(self, state: State, machines: Machines, slots: NDArray[np.int64]) -> Tested:
        """Return the outcome for the examples at these slots."""
        own, sole = machines.places(state.y[slots]), machines.sole(state, slots)
        decision = machines.decision(state, slots, 1)
        against = np.zeros(decision.shape, dtype=bool)
        self._measure(state, machines)
        for column, (key, (positive, negative)) in enumerate(
            zip(machines.keys, machines.sides, strict=True)
        ):
            y = np.where(own == positive, 1.0, -1.0)
            alpha = _alpha(state, key)[slots]
            xi = np.maximum(0.0, 1.0 - y * decision[:, column])
            member = (own == positive) | (own == negative) | (negative is None)
            failed = self._rho * alpha * self.radii[key][0] + xi >= 1.0
            against[:, column] = member & (failed | sole)
        wrong = _voted_down(machines, own, decision, against) | (own < 0)
        return Tested(own, against, wrong)

    def _measure(self, state: State, machines: Machines) -> None:
        """Compute R^2 of each machine; one-vs-rest machines share it."""
        y, weighty = state.y, state.weight > 0.0
        keys = machines.keys if machines.pairwise else machines.keys[:1]
        for key in keys:
            members = np.flatnonzero(state.plan.members(key, y) & weighty)
            self.radii[key] = self._known.setdefault(key, Radius()).squared(state, members)
        if not machines.pairwise:
            self.radii = dict.fromkeys(machines.keys, self.radii[keys[0]])


def _alpha(state: State, key: Key) -> NDArray[np.float64]:
    """Return the dual variables of all examples in a head."""
    alpha, head = np.zeros(state.n), state.heads[key]
    alpha[head.slots] = np.abs(head.coef)
    return alpha


def _voted_down(
    machines: Machines,
    own: NDArray[np.intp],
    decision: NDArray[np.float64],
    against: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Return which examples may lose the vote if these machines turn against them."""
    k = machines.n_classes
    if k == 2 or not machines.pairwise:
        return np.asarray(against.any(axis=1))
    first = decision > 0
    for column, (one, other) in enumerate(machines.sides):
        for side, place in ((True, one), (False, other)):
            mine = own == place
            first[mine, column] = against[mine, column] ^ side
    votes = _votes(first, k)
    if not machines.break_ties:
        return np.asarray(np.argmax(votes, axis=1) != own)
    rows = np.arange(len(own))
    mine = votes[rows, own].copy()
    votes[rows, own] = -1.0
    return np.asarray(votes.max(axis=1) >= mine)
