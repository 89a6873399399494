"""Decision values of many solutions of one machine at new points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple._core import Head
from supple.engine import State
from supple.qp import DecisionRule

_AT_A_TIME = 2**22  # kernel values


class Solution(NamedTuple):
    """The coefficients of the members of a head, and its decision function."""

    x: NDArray[np.float64]
    decision_rule: DecisionRule
    doubt: float  # decision values that are no larger are 0 up to rounding


def solution(state: State, core: Head) -> Solution:
    """Return the present solution of a head."""
    if core.rough:
        core.refresh()
    rounding = core.rounding()
    rule = state.problem.decision_rule(core.mu, rounding)
    x = core.x.reshape(-1, state.problem.per).sum(axis=1)
    return Solution(x, rule, 16.0 * abs(rule.scale) * rounding)


def decide(
    state: State, points: Any, members: NDArray[np.int64], solutions: Sequence[Solution]
) -> NDArray[np.float64]:
    """Return the decision values of points, one row for each solution of a head."""
    x = np.array([one.x for one in solutions])
    used = np.flatnonzero(x.any(axis=0))
    slots, x = np.ascontiguousarray(members[used]), np.ascontiguousarray(x[:, used])
    scale, intercept, diagonal = np.array([one.decision_rule for one in solutions]).T
    out = np.empty((len(solutions), points.shape[0]))
    step = max(1, _AT_A_TIME // max(1, len(slots)))
    for start in range(0, points.shape[0], step):
        part = slice(start, start + step)
        out[:, part] = x @ state.kernel_values(points[part], slots).T
    out = scale[:, None] * out + intercept[:, None]
    if diagonal.any():
        out += np.multiply.outer(diagonal, state.kernel.diagonal(points))
    return out
