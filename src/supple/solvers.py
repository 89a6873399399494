"""Bring a head to the optimum of its QP after a move of boxes and targets.

The core chooses the route (exact path, batch solvers and polish, SimpleSVM); all routes lead to the
same optimum. Python adds the test for definiteness of a kernel of unknown kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from supple._core import Phase, Reason, Route, SolveResult, send
from supple._core import solve as _solve
from supple.errors import SolverError
from supple.qp import HeadMembers, Move, Rows

__all__ = [
    "Reason",
    "Route",
    "Settings",
    "SolveResult",
    "solve",
    "solve_first",
]

_SAMPLE = 512  # support vectors on which a kernel of unknown kind is tested


class Settings(NamedTuple):
    """How the solvers run."""

    tol: float
    max_iter: int
    shrinking: bool
    exact: bool  # the kernel is not known to be indefinite
    trusted: bool  # it is known to be positive semi-definite
    simple: bool = False  # SimpleSVM instead of path, SMO and polish

    @property
    def can_batch_start(self) -> bool:
        """Whether new heads may begin by `solve_first`."""
        return self.exact and self.trusted and not self.simple


def solve(head: Any, move: Move, settings: Settings, *, cold: bool) -> SolveResult:
    """Bring `head` to the optimum with the boxes and targets of `move`.

    Parameters
    ----------
    head : Head
        State of the QP, optimal before the move unless `cold`.
    cold : bool
        The state is not optimal (first fit, other kernel or epsilon): only the batch route applies.
    """
    result = _solve(head, *move, settings, cold, _looks_definite)
    if result.reason is Reason.infeasible:
        raise SolverError("no feasible point for the new boxes and targets")
    return result


def solve_first(
    heads: Sequence[Any],
    parts: HeadMembers,
    rows: Rows,
    targets: Sequence[Sequence[float]],
    settings: Settings,
) -> list[SolveResult]:
    """Bring heads without members to their first optimum.

    Parameters
    ----------
    heads : sequence of Head
    parts : HeadMembers
        The members of each head.
    rows : Rows
        Their rows of the QPs, head by head.
    targets : sequence of sequence of float
        Sums over the groups of each head.
    """
    results: list[SolveResult] = []
    columns = map(parts.split, (parts.places, *rows))
    for head, target, slots, c, lo, hi, group, ridge in zip(heads, targets, *columns, strict=True):
        send(Phase.machine, len(results) + 1, len(heads))
        head.admit(slots, c, group)
        move = Move(np.arange(len(c)), lo, hi, ridge, target)
        results.append(solve(head, move, settings, cold=True))
    return results


def _looks_definite(head: Any) -> bool:
    """Return whether the kernel matrix among (some) support vectors has no negative eigenvalue."""
    support = np.flatnonzero(head.x)[:_SAMPLE]
    if not len(support):
        return True
    slots = head.slot[support // (len(head.x) // head.members)]
    eigenvalues = np.linalg.eigvalsh(head.kernel_among(slots))
    return bool(eigenvalues[0] >= -1e-8 * max(abs(eigenvalues[-1]), abs(eigenvalues[0])))
