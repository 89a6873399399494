"""The choice of the solver: the exact path, or warm SMO and polish. The optimum is the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from supple._core import (
    PROMISED,
    CoreSettings,
    begin,
    descend,
    factor_margin,
    make_exact,
    patience,
    quality,
    refine,
)
from supple.errors import SolverError
from supple.qp import Move, Parts, Rows
from supple.solvers.batch import looks_definite

__all__ = ["Outcome", "Settings", "most_iterations", "settle", "settle_first"]

_INFEASIBLE = "no feasible point for the new boxes and targets"
_SMALL = 1000  # members
_SINGLY = 5000  # members up to which violators may be admitted singly as a last resort
_WALKING = 20_000  # the same before that, where it is cheap
_ROUNDING = 1e-6  # relative to the scale of c: beyond it no more iterations help
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

    @property
    def together(self) -> bool:
        """Whether new heads may begin by `settle_first`."""
        return self.exact and self.trusted and not self.simple

    def for_core(self, tol: float, limit: int) -> Any:
        """Return what the core wants to know for a round with this tolerance and limit."""
        return CoreSettings(tol, limit, self.shrinking, self.exact, self.trusted)


class Outcome(NamedTuple):
    """What a solver did."""

    solver: str
    breakpoints: int = 0
    iterations: int = 0
    kkt: float = 0.0
    kept: bool = True  # the optimality conditions hold as promised
    indefinite: bool = False


# Whether SMO converged, its iterations, and the quality that the polish reached, if it was made.
_Round = tuple[bool, int, tuple[float, bool, bool, bool] | None]


def settle_first(
    heads: Sequence[Any],
    parts: Parts,
    rows: Rows,
    targets: Sequence[Sequence[float]],
    settings: Settings,
) -> list[Outcome]:
    """Bring heads without members to their first optimum, all in one call of the core.

    Parameters
    ----------
    heads : sequence of Head
    parts : Parts
        The members of each head.
    rows : Rows
        What these add to the programmes, head by head.
    targets : sequence of sequence of float
        For each head the sums over its groups.
    settings : Settings
        With `together`: that a polish is right must be known beforehand.
    """
    rounds = begin(
        list(heads),
        parts.counts,
        parts.places,
        *rows,
        list(targets),
        settings.for_core(settings.tol, settings.max_iter),
    )
    outcomes = []
    for head, begun in zip(heads, rounds, strict=True):
        if begun is None:
            raise SolverError(_INFEASIBLE)
        _, spent, found = begun
        if found is not None and found[2]:  # sharp at once, as nearly always
            outcomes.append(Outcome("smo", 0, spent, found[0], found[1]))
            continue
        try:
            outcomes.append(_batch(head, settings, 0, begun))
        finally:
            head.release()
    return outcomes


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
    by_path = settings.exact and not settings.simple and not cold
    if by_path and _path_is_cheaper(head, move) and _ready_for_path(head):
        finished, breakpoints = head.path(move.variables, move.lo, move.hi, move.targets)
        if finished and breakpoints == 0:
            return Outcome("path")  # only bounds that nobody touches have moved
        if finished:
            found = _mend(head)
            if found.settled and found.kept:
                return Outcome("path", breakpoints, kkt=found.kkt, kept=found.kept)
    if not head.jump(move.variables, move.lo, move.hi, move.targets):
        raise SolverError(_INFEASIBLE)
    try:
        if settings.simple and settings.exact:
            return _simple(head, settings)
        outcome = _batch(head, settings, breakpoints)
        if outcome.kept or outcome.indefinite or settings.max_iter >= 0 or not settings.exact:
            return outcome
        return _afresh(head, move, settings, outcome)
    finally:
        head.release()  # the copy of the examples that blocks are computed from


def _afresh(head: Any, move: Move, settings: Settings, reached: Outcome) -> Outcome:
    """Solve from x = 0, as a fit would, and keep the better of both states."""
    state = head.save()
    head.clear()
    if head.jump(move.variables, move.lo, move.hi, move.targets):
        outcome = _batch(head, settings, reached.breakpoints)
        total = reached.iterations + outcome.iterations
        if outcome.kkt < reached.kkt or outcome.indefinite:
            return outcome._replace(iterations=total)
        reached = reached._replace(iterations=total)
    head.restore(state)
    return reached


class _Quality(NamedTuple):
    """How good the state of a head is."""

    kkt: float  # relative to the scale of c
    kept: bool  # no more than was promised
    sharp: bool  # optimal to a few roundings
    settled: bool  # good enough, or rounding allows no better


def _mend(head: Any) -> _Quality:
    """Polish after a path if need be."""
    head.renew()
    found = _Quality(*quality(head))
    if found.sharp:
        return found
    make_exact(head)
    return _Quality(*quality(head))


def _ready_for_path(head: Any) -> bool:
    """Return whether the factor holds the margin set; it is built again if need be."""
    if not head.factored:  # restored or unpickled
        make_exact(head)
    return bool(head.factored)  # it cannot where the margin system is singular to rounding


def _path_is_cheaper(head: Any, move: Move) -> bool:
    # The kernel values of the margin set must fit into memory as the row cache does.
    if head.block_bytes > head.cache_bytes:
        return False
    return len(move.variables) <= 16 or head.members <= 300


def _admit_singly(head: Any, settings: Settings, limit: int) -> tuple[bool, int]:
    """Let violators of more than `tol` join the margin set one after the other, from any x."""
    if head.rough:
        head.refresh()
    factor_margin(head)
    tolerance = settings.tol * min(1.0, head.audit()[1])
    finished, rounds = head.polish(tolerance, tolerance, limit, True)
    head.refresh()  # the rows added step by step have left rounding errors
    return bool(finished), int(rounds)


def _walks(head: Any) -> bool:
    """Return whether the margin set is so small that to admit one costs but a look at all."""
    return bool(head.members <= _WALKING and head.n_margin**2 <= 16 * head.members)


def _within_reach(head: Any) -> bool:
    """Return whether rounding lets more iterations come closer to what is promised."""
    _, scale, rounding, _ = head.audit()
    return bool(rounding <= _ROUNDING * scale)


def most_iterations(head: Any) -> int:
    """Return the SMO iterations after which a head that nothing else can solve is given up.

    At an indefinite kernel, or at a tolerance beyond rounding, SMO may never end by itself.
    """
    return 1_000_000 + 100 * int(head.members)


def _many_rounds(head: Any) -> int:
    return 100 + 20 * int(head.members)


def _simple(head: Any, settings: Settings) -> Outcome:
    """SimpleSVM: the worst violator joins the margin set, one after the other."""
    limit = settings.max_iter if settings.max_iter >= 0 else _many_rounds(head)
    finished, rounds = _admit_singly(head, settings, limit)
    if not finished and settings.max_iter >= 0:
        return Outcome("simple", iterations=rounds, kkt=quality(head)[0], kept=False)
    if not (settings.trusted or looks_definite(head)):
        head.forget_factor()
        return Outcome("simple", iterations=rounds, indefinite=True)
    make_exact(head)
    found = _Quality(*quality(head))
    if found.settled:
        return Outcome("simple", iterations=rounds, kkt=found.kkt, kept=found.kept)
    outcome = _batch(head, settings, 0)  # a margin system that is singular to rounding
    return outcome._replace(iterations=outcome.iterations + rounds)


def _batch(head: Any, settings: Settings, breakpoints: int, begun: _Round | None = None) -> Outcome:
    """SMO, then the polish; again from there, with a tighter tolerance, if need be.

    `begun` is the first round, where it has been made.
    """
    tol, iterations = settings.tol, 0
    limited = settings.max_iter >= 0
    waiting = patience(head) if settings.exact else most_iterations(head)
    best: _Quality | None = None
    for _ in range(5):
        limit = settings.max_iter - iterations if limited else waiting
        converged, spent, found = begun or _descend(head, settings, tol, limit, first=best is None)
        begun = None
        iterations += spent
        if not settings.exact or (limited and not converged):
            return Outcome("smo", breakpoints, iterations, quality(head)[0], converged)
        if not (settings.trusted or looks_definite(head)):
            head.forget_factor()
            return Outcome("smo", breakpoints, iterations, indefinite=True)
        now = _Quality(*(found or refine(head)))
        if now.sharp:
            return Outcome("smo", breakpoints, iterations, now.kkt, now.kept)
        first = best is None
        if best is None or now.kkt < best.kkt:
            best, state = now, head.save()
        if first and not best.kept and not settings.simple and _walks(head):
            # Features of very different scales, a linear kernel: SMO would crawl.
            now = _settle_singly(head, settings, 4 * int(head.members))
            if now.kkt < best.kkt:
                best, state = now, head.save()
        if best.settled or (best is not now and best.kkt <= PROMISED):
            # Good, or further rounds only change the rounding. Where the whole problem is near
            # rounding (a kernel of almost equal values), a small one deserves another try.
            if head.members > _SMALL or tol == 0.0:
                break
            tol = 0.0
        else:
            tol *= 1e-2
        head.refresh()
        if _within_reach(head):
            waiting = max(waiting, min(3 * waiting, _PATIENCE))
    assert best is not None
    if best is not now:
        head.restore(state)
    if not best.kept and head.members <= _SINGLY and not settings.simple:
        now = _settle_singly(head, settings, _many_rounds(head))
        if now.kkt < best.kkt:
            best = now
        else:
            head.restore(state)
    return Outcome("smo", breakpoints, iterations, best.kkt, best.kept)


def _descend(head: Any, settings: Settings, tol: float, limit: int, *, first: bool) -> _Round:
    converged, spent = descend(head, settings.for_core(tol, limit), first)
    return converged, spent, None


def _settle_singly(head: Any, settings: Settings, limit: int) -> _Quality:
    _admit_singly(head, settings, limit)
    make_exact(head)
    return _Quality(*quality(head))
