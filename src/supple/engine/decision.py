"""The decision functions of all heads, prepared once for many queries.

Every operation drops them; the first query after it prepares them again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from supple.engine.head import HeadReader, HeadState, Key, Plan
from supple.errors import InvalidInputError
from supple.gram import Decisions, Gram, Terms
from supple.kernels import Kernel, all_finite
from supple.problems import Problem
from supple.qp import DecisionRule

__all__ = ["DecisionFunctions", "prepare"]


class DecisionFunctions(NamedTuple):
    """The decision functions of all heads at one moment, immutable."""

    expansions: Decisions
    kernel: Kernel
    intercept: np.ndarray
    diagonal: np.ndarray
    waiting: np.ndarray  # heads that have no solution yet

    def decide(self, X: Any, threads: int) -> np.ndarray:
        """Return the decision values of the rows of X, one column per head, NaN if it waits."""
        out = self.expansions(X, threads)
        with np.errstate(over="ignore", invalid="ignore"):
            out += self.intercept
            if self.diagonal.any():
                out += np.multiply.outer(self.kernel.diagonal(X), self.diagonal)
        if not all_finite(out):
            first = int(np.flatnonzero(~np.isfinite(out).all(axis=1))[0])
            raise InvalidInputError(
                f"The decision function overflows at row {first} of X. Scale the features as those "
                "of the examples."
            )
        out[:, self.waiting] = np.nan
        return out


def prepare(
    machines: Mapping[Key, HeadState],
    problem: Problem,
    plan: Plan,
    y: np.ndarray,
    gram: Gram,
    kernel: Kernel,
) -> DecisionFunctions:
    """Return the decision functions of these heads; `y` are the labels in slot order."""
    heads = list(machines.values())
    # A head that waits has coefficients 0.
    idle = DecisionRule(1.0, 0.0)
    rules = [HeadReader(m, problem).decision_rule if m.ready else idle for m in heads]
    scale, intercept, diagonal = np.array(rules).reshape(-1, 3).T
    labels = y if problem.labelled else np.zeros(len(y))
    return DecisionFunctions(
        gram.decisions(len(heads), _terms(machines, scale, plan, labels)),
        kernel,
        intercept.copy(),
        diagonal.copy(),
        np.flatnonzero([not m.ready for m in heads]),
    )


def _terms(
    machines: Mapping[Key, HeadState], scale: np.ndarray, plan: Plan, y: np.ndarray
) -> list[Terms]:
    """Return the support vectors grouped by the heads that use them, with their coefficients.

    With k classes a vector is in k - 1 of the k (k - 1) / 2 machines for pairs.
    """
    if not machines:
        return []
    slots, x = zip(*(m.core.support for m in machines.values()), strict=True)
    head = np.arange(len(slots)).repeat([len(own) for own in slots])
    slot, coef = np.concatenate(slots), scale[head] * np.concatenate(x)
    labels, label = np.unique(y[slot], return_inverse=True)
    member = np.array([plan.members(key, labels) for key in machines]).T
    member, group = np.unique(member, axis=0, return_inverse=True)
    group = group.ravel()[label]
    terms = []
    for own, takes_part in enumerate(member):
        (here,) = np.nonzero(group == own)
        support, column = np.unique(slot[here], return_inverse=True)
        row = np.cumsum(takes_part) - 1
        values = np.zeros((np.count_nonzero(takes_part), len(support)))
        values[row[head[here]], column] = coef[here]
        terms.append(Terms(support, np.flatnonzero(takes_part), values))
    return terms
