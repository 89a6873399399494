"""The choice of the solver: the exact path, or warm SMO and polish. The optimum is the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from supple.errors import SolverError
from supple.qp import Move
from supple.solvers.batch import looks_definite, polish

__all__ = ["Outcome", "Settings", "settle"]

ACCEPTED = 1e-9  # KKT violation, relative to the scale of c, that ends the search for a better x
PROMISED = 1e-8  # and the one above which the user is told
_REFRESH_AFTER = 50_000  # changes of Kx, each a rounding, before it is computed from scratch


@dataclass(frozen=True)
class Settings:
    """How the solvers run."""

    tol: float
    max_iter: int
    shrinking: bool
    exact: bool  # the kernel is not known to be indefinite
    trusted: bool  # it is known to be positive semi-definite


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
            polish(head)
        finished, breakpoints = head.path(move.variables, move.lo, move.hi, list(move.targets))
        if finished and _accepted(head):
            return Outcome("path", breakpoints, converged=_kept(head))
    if not head.jump(move.variables, move.lo, move.hi, list(move.targets)):
        raise SolverError("no feasible point for the new boxes and targets")
    return _batch(head, settings, breakpoints)


def _accepted(head: Any) -> bool:
    if head.updates > _REFRESH_AFTER:
        head.refresh()
    if not _sharp(head):
        polish(head)
    return _optimal(head)


def _sharp(head: Any) -> bool:
    """Whether the state is optimal to a few roundings."""
    return bool(head.violation() * head.scale() <= 16.0 * head.rounding() and head.balanced())


def _kept(head: Any) -> bool:
    """Whether the promise holds; where K and C are huge, rounding may not allow it."""
    if 16.0 * head.rounding() > PROMISED * head.scale():
        head.refresh()  # the Kx carried along says little here
    return bool(head.violation() <= PROMISED)


def _optimal(head: Any) -> bool:
    """Whether going on makes sense no more."""
    violation = head.violation() * head.scale()
    return bool(violation <= max(ACCEPTED * head.scale(), 16.0 * head.rounding()))


def _path_is_cheaper(head: Any, move: Move, block_bytes: int) -> bool:
    n_margin, members = len(head.margin), head.members
    if 8 * members * (n_margin + 16) > block_bytes:
        return False
    return len(move.variables) <= 16 or members <= 300


def _batch(head: Any, settings: Settings, breakpoints: int) -> Outcome:
    """SMO, then the polish; tighter and longer if that was not enough."""
    tol, patience = settings.tol, 10_000 + 20 * head.members
    iterations = 0
    for _ in range(6):
        # LIBSVM's stopping gap, but relative where the scale of the problem is small.
        eps = max(tol * min(1.0, head.scale()), 4.0 * head.rounding())
        if settings.max_iter >= 0:
            limit = settings.max_iter - iterations
        else:
            limit = patience if settings.exact else -1
        converged, spent = head.smo(eps, limit, settings.shrinking)
        iterations += spent
        if not settings.exact or (settings.max_iter >= 0 and not converged):
            return Outcome("smo", breakpoints, iterations, converged)
        if head.updates > _REFRESH_AFTER:
            head.refresh()
        if polish(head) or not (settings.trusted or looks_definite(head)):
            head.forget_factor()
            return Outcome("smo", breakpoints, iterations, converged, indefinite=True)
        if _optimal(head):
            return Outcome("smo", breakpoints, iterations, converged=_kept(head))
        head.refresh()
        tol, patience = tol * 1e-2, patience * 4
    return Outcome("smo", breakpoints, iterations, converged=False)
