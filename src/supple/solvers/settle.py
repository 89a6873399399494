"""The choice of the solver: the exact path, or warm SMO and polish. The optimum is the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from supple.errors import SolverError
from supple.qp import Move
from supple.solvers.batch import factor_margin, looks_definite, margin_changes, polish

__all__ = ["Outcome", "Settings", "settle"]

ACCEPTED = 1e-9  # KKT violation, relative to the scale of c, that ends the search for a better x
PROMISED = 1e-8  # and the one above which the user is told; where rounding forbids it: 1e-6
_AT_WORST = 1e-6
_HANDOVER = 0.005  # gap from which the polish needs only few changes of the margin set
_SHARE = 64  # part of the margin set: fewer violators than that are left to the polish
_SMALL = 1000  # members
_SINGLY = 5000  # members up to which violators may be admitted singly as a last resort
_PATIENCE = 1_000_000  # SMO iterations that a hard problem may take between two polishes


@dataclass(frozen=True)
class Settings:
    """How the solvers run."""

    tol: float
    max_iter: int
    shrinking: bool
    exact: bool  # the kernel is not known to be indefinite
    trusted: bool  # it is known to be positive semi-definite
    simple: bool = False  # SimpleSVM instead of path, SMO and polish
    report: Callable[[int, float], None] | None = None  # hears of iterations and gap now and then


class Outcome(NamedTuple):
    """What a solver did."""

    solver: str
    breakpoints: int = 0
    iterations: int = 0
    kkt: float = 0.0
    kept: bool = True  # the optimality conditions hold as promised
    indefinite: bool = False


def settle(head: Any, move: Move, settings: Settings, *, cold: bool) -> Outcome:
    """Bring `head` to the optimum with the boxes and targets of `move`.

    Parameters
    ----------
    head : Head
        State of the QP, optimal before the move unless `cold`.
    cold : bool
        The state is not optimal (first fit, other kernel or epsilon): only the batch way applies.
    """
    breakpoints = 0
    if settings.exact and not settings.simple and not cold and _path_is_cheaper(head, move):
        if head.rough:
            head.refresh()
        if not head.factored:  # restored or unpickled: the factor is built again
            polish(head)
        finished, breakpoints = head.path(move.variables, move.lo, move.hi, move.targets)
        if finished and breakpoints == 0:
            return Outcome("path")  # only bounds that nobody touches have moved
        if finished:
            quality = _mend(head)
            if quality.settled:
                return Outcome("path", breakpoints, kkt=quality.kkt, kept=quality.kept)
    if not head.jump(move.variables, move.lo, move.hi, move.targets):
        raise SolverError("no feasible point for the new boxes and targets")
    try:
        if settings.simple and settings.exact:
            return _simple(head, settings)
        return _batch(head, settings, breakpoints)
    finally:
        head.release()  # the copy of the examples that blocks are computed from


class _Quality:
    """How good the state of a head is."""

    def __init__(self, head: Any) -> None:
        violation, scale, rounding, balanced = head.audit()
        # Where K and C are huge, the Kx carried along says little: look again.
        if 16.0 * rounding > PROMISED * scale:
            head.refresh()
            violation, scale, rounding, balanced = head.audit()
        self.kkt: float = violation / scale
        self.kept: bool = self.kkt <= max(PROMISED, min(_AT_WORST, 4.0 * rounding / scale))
        # Optimal to a few roundings.
        self.sharp: bool = balanced and violation <= 16.0 * rounding
        # Good enough, or rounding allows no better.
        self.settled: bool = violation <= max(ACCEPTED * scale, 16.0 * rounding)


def _mend(head: Any) -> _Quality:
    """Polish after a path if need be."""
    if head.worn:
        head.refresh()
    quality = _Quality(head)
    if quality.sharp:
        return quality
    polish(head)
    return _Quality(head)


def _path_is_cheaper(head: Any, move: Move) -> bool:
    n_margin, members = head.n_margin, head.members
    # The kernel values of the margin set must fit into memory as the row cache does.
    if 8 * members * (n_margin + 16) > head.cache_bytes:
        return False
    return len(move.variables) <= 16 or members <= 300


def _descend(
    head: Any, eps: float, limit: int, settings: Settings, *, first: bool
) -> tuple[bool, int]:
    """Lower the gap to `eps`, or as far as it takes for the polish to do the rest."""
    spent = 0
    if first and settings.exact and head.has_blocks:
        goal = max(eps, _HANDOVER * min(1.0, head.audit()[1])) if settings.trusted else eps
        converged, spent = head.block_smo(
            goal, limit, settings.shrinking, settings.trusted, settings.report
        )
        if converged or spent == limit:
            return converged, spent
        head.refresh()  # single precision leads no further
    left = limit - spent if limit >= 0 else -1
    converged, more = head.smo(eps, left, settings.shrinking, settings.report)
    return converged, spent + more


def _admit_singly(head: Any, settings: Settings) -> tuple[bool, int]:
    """Let violators of more than `tol` join the margin set one after the other, from any x."""
    if head.rough:
        head.refresh()
    factor_margin(head)
    tolerance = settings.tol * min(1.0, head.audit()[1])
    limit = settings.max_iter if settings.max_iter >= 0 else 100 + 20 * head.members
    finished, rounds = head.polish(tolerance, tolerance, limit, True)
    head.refresh()  # the rows added step by step have left rounding errors
    return bool(finished), int(rounds)


def _simple(head: Any, settings: Settings) -> Outcome:
    """SimpleSVM: the worst violator joins the margin set, one after the other."""
    finished, rounds = _admit_singly(head, settings)
    if not finished and settings.max_iter >= 0:
        return Outcome("simple", iterations=rounds, kkt=_Quality(head).kkt, kept=False)
    if not (settings.trusted or looks_definite(head)):
        head.forget_factor()
        return Outcome("simple", iterations=rounds, indefinite=True)
    polish(head)
    quality = _Quality(head)
    if quality.settled:
        return Outcome("simple", iterations=rounds, kkt=quality.kkt, kept=quality.kept)
    outcome = _batch(head, settings, 0)  # a margin system that is singular to rounding
    return outcome._replace(iterations=outcome.iterations + rounds)


def _nearly_optimal(head: Any, eps: float) -> bool:
    """Whether the polish alone is cheaper: few variables are to enter a margin set at hand."""
    n_margin = head.n_margin
    return n_margin > 0 and head.violators(eps) + margin_changes(head) <= n_margin // _SHARE


def _batch(head: Any, settings: Settings, breakpoints: int) -> Outcome:
    """SMO, then the polish; again from there, with a tighter tolerance, if need be."""
    tol, iterations = settings.tol, 0
    patience = 10_000 + 20 * head.members if settings.exact else -1
    best: _Quality | None = None
    for _ in range(5):
        _, scale, rounding, _ = head.audit()
        # LIBSVM's stopping gap, but relative where the scale of the problem is small.
        eps = max(tol * min(1.0, scale), 4.0 * rounding)
        limit = settings.max_iter - iterations if settings.max_iter >= 0 else patience
        converged, spent = True, 0
        if best is not None or not _nearly_optimal(head, eps):
            converged, spent = _descend(head, eps, limit, settings, first=best is None)
        iterations += spent
        if not settings.exact or (settings.max_iter >= 0 and not converged):
            return Outcome("smo", breakpoints, iterations, _Quality(head).kkt, converged)
        if not (settings.trusted or looks_definite(head)):
            head.forget_factor()
            return Outcome("smo", breakpoints, iterations, indefinite=True)
        if head.worn:
            head.refresh()
        polish(head)
        quality = _Quality(head)
        if best is None or quality.kkt < best.kkt:
            best, state = quality, head.save()
        if best.settled or (best is not quality and best.kkt <= PROMISED):
            # Good, or further rounds only change the rounding. Where the whole problem is near
            # rounding (a kernel of almost equal values), a small one deserves another try.
            if best.sharp or head.members > _SMALL or tol == 0.0:
                break
            tol = 0.0
        else:
            tol *= 1e-2
        head.refresh()
        patience = max(patience, min(3 * patience, _PATIENCE))
    assert best is not None
    if best is not quality:
        head.restore(state)
    if not best.kept and head.members <= _SINGLY and not settings.simple:
        # Features of very different scales, a linear kernel: SMO crawls where an active set walks.
        quality = _settle_singly(head, settings)
        if quality.kkt < best.kkt:
            best = quality
        else:
            head.restore(state)
    return Outcome("smo", breakpoints, iterations, best.kkt, best.kept)


def _settle_singly(head: Any, settings: Settings) -> _Quality:
    _admit_singly(head, settings)
    polish(head)
    return _Quality(head)
