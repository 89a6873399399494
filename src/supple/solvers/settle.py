"""The choice of the solver: the exact path, or warm SMO and polish. The optimum is the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from supple.errors import SolverError
from supple.qp import Move
from supple.solvers.batch import polish, smo_tolerance

__all__ = ["Outcome", "Settings", "settle"]

GOAL = 1e-10  # KKT violation, relative to the scale of c, that the polish aims at
ACCEPTED = 1e-9  # and the one that an update may leave behind without another attempt
_REFRESH_AFTER = 4000  # changes of Kx before it is computed from scratch


@dataclass(frozen=True)
class Settings:
    """How the solvers run."""

    tol: float
    max_iter: int
    shrinking: bool
    exact: bool


@dataclass(frozen=True)
class Outcome:
    """What a solver did."""

    solver: str
    breakpoints: int = 0
    iterations: int = 0
    converged: bool = True
    indefinite: bool = False


def settle(head: Any, move: Move, settings: Settings, *, cold: bool, block_bytes: int) -> Outcome:
    """Bring `head` to the optimum with the boxes and targets of `move`.

    Parameters
    ----------
    head : Head
        State of the QP, optimal before the move unless `cold`.
    cold : bool
        The state is not optimal (first fit, other kernel or epsilon): only the batch way applies.
    block_bytes : int
        Memory that the path may use for the kernel values of the margin set.
    """
    breakpoints = 0
    if settings.exact and not cold and _path_is_cheaper(head, move, block_bytes):
        if not head.factored:  # restored or unpickled: the factor is built again
            polish(head, GOAL)
        finished, breakpoints = head.path(move.variables, move.lo, move.hi, list(move.targets))
        if finished and _accepted(head):
            return Outcome("path", breakpoints)
    if not head.jump(move.variables, move.lo, move.hi, list(move.targets)):
        raise SolverError("no feasible point for the new boxes and targets")
    return _batch(head, settings, breakpoints)


def _accepted(head: Any) -> bool:
    if head.updates > _REFRESH_AFTER:
        head.refresh()
    if head.violation() <= ACCEPTED:
        return True
    polish(head, GOAL)
    return bool(head.violation() <= ACCEPTED)


def _path_is_cheaper(head: Any, move: Move, block_bytes: int) -> bool:
    n_margin, members = len(head.margin), head.members
    if 8 * members * (n_margin + 16) > block_bytes:
        return False
    return len(move.variables) <= 16 or members <= 300


def _batch(head: Any, settings: Settings, breakpoints: int) -> Outcome:
    eps = smo_tolerance(head, settings.tol)
    iterations = 0
    for _ in range(6):
        left = settings.max_iter - iterations if settings.max_iter >= 0 else -1
        converged, spent = head.smo(eps, left, settings.shrinking)
        iterations += spent
        if not settings.exact:
            return Outcome("smo", breakpoints, iterations, converged)
        if not converged and settings.max_iter >= 0:
            return Outcome("smo", breakpoints, iterations, False)
        if head.updates > _REFRESH_AFTER:
            head.refresh()
        _, indefinite = polish(head, GOAL)
        if indefinite:
            head.forget_factor()
            return Outcome("smo", breakpoints, iterations, converged, indefinite=True)
        if head.violation() <= ACCEPTED:
            return Outcome("smo", breakpoints, iterations)
        head.refresh()
        eps *= 1e-2
    return Outcome("smo", breakpoints, iterations, converged=False)
