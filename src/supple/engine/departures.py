"""One head without each of its members in turn; the head is then restored to the last bit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple._core import Head, make_ready_for_paths
from supple.engine.head import Examples, HeadState
from supple.engine.state import State
from supple.errors import InfeasibleError
from supple.interrupts import Interruptible
from supple.progress import SILENCE, Progress
from supple.qp import NO_RIDGE, Move
from supple.solvers import solve


class Departures(NamedTuple):
    """Members that leave, each alone, and the QP of the remaining members."""

    slots: NDArray[np.int64]
    targets: NDArray[np.float64]  # of the groups, one row for each
    stretch: NDArray[np.float64]  # of the boxes of all others


class Answers(NamedTuple):
    """Decision values at the members that left, and how they were found."""

    value: NDArray[np.float64]
    doubt: NDArray[np.float64]  # values no larger than this may be 0
    solved: NDArray[np.bool_]  # by a solver
    within_tolerance: NDArray[np.bool_]


def departures(state: State, head: HeadState, slots: NDArray[np.int64]) -> Departures:
    """Return the QPs without each of these members of a head."""
    problem, present = state.problem, np.array(head.core.target[: state.problem.groups])
    targets, stretch = np.tile(present, (len(slots), 1)), np.ones(len(slots))
    if not problem.needs_mass:
        return Departures(slots, targets, stretch)
    assert state.gram is not None
    store = state.store
    examples = Examples(store.y, store.weight, state.class_weight, state.gram, state.plan)
    members = head.core.slot
    t, mass = examples.targets(head.key, members), examples.effective_weight(members)
    place = np.empty(state.n, dtype=np.intp)
    place[members] = np.arange(len(members))
    width = _width(problem.for_weight(mass))
    for k, slot in enumerate(slots.tolist()):
        if mass[place[slot]] == 0.0:
            continue  # nothing depends on it
        t_left, mass_left = np.delete(t, place[slot]), np.delete(mass, place[slot])
        left = problem.for_weight(mass_left)
        reason = left.obstacle(t_left, mass_left)
        if reason is not None:
            raise InfeasibleError(
                f"There is no model without example {store.ids.item(slot)!r}: {reason}"
            )
        targets[k] = left.targets(t_left, mass_left)
        stretch[k] = 1.0 if left is problem else _width(left) / width
    return Departures(slots, targets, stretch)


def _width(problem: Any) -> float:
    """Return the width of the box of an example of weight 1."""
    one = np.ones(1)
    rows = problem.rows(one, one, one)
    return float(rows.hi[0] - rows.lo[0])


def move_without(core: Head, leaving: Departures, k: int) -> Move:
    """Return the move of a head in which the k-th of these members leaves."""
    own = core.variables_at(leaving.slots[k : k + 1])
    stretch, targets = float(leaving.stretch[k]), leaving.targets[k].tolist()
    if stretch == 1.0:
        zero = np.zeros(len(own))
        return Move(own, zero, zero, NO_RIDGE, targets)
    lo, hi = stretch * core.lo, stretch * core.hi
    lo[own] = hi[own] = 0.0
    return Move(np.arange(len(lo)), lo, hi, NO_RIDGE, targets)


def answers(
    state: State, head: HeadState, leaving: Departures, progress: Progress | None
) -> Answers:
    """Return the decision values of a head at these members, each computed without the member.

    The caller holds the write lock and has shielded Ctrl-C.
    """
    core, n = head.core, len(leaving.slots)
    saved = core.save(for_trials=True)
    try:
        with Interruptible(), progress or SILENCE:
            make_ready_for_paths(core)
            if core.rough:
                core.refresh()
        ready = core.save(for_trials=True)
        place = np.empty(state.n, dtype=np.intp)
        place[core.slot] = np.arange(core.members)
        own = place[leaving.slots]
        F, rounding = core.kx[own], np.full(n, core.rounding())
        mu = np.tile(core.mu[: state.problem.groups], (n, 1))
        solved, within_tolerance = _dependent(core, leaving, own), np.ones(n, dtype=bool)
        for k in np.flatnonzero(solved).tolist():
            if progress is not None:
                progress.at("example", k + 1, n)
            with Interruptible(), progress or SILENCE:
                result = solve(core, move_without(core, leaving, k), state.settings, cold=False)
                if core.rough:
                    core.refresh()
            F[k], mu[k], rounding[k] = core.kx[own[k]], core.mu[: mu.shape[1]], core.rounding()
            within_tolerance[k] = result.within_tolerance
            core.restore(ready)
    finally:
        core.restore(saved)
    rules = [
        state.problem.decision_rule(m, r)
        for m, r in zip(mu.tolist(), rounding.tolist(), strict=True)
    ]
    scale, intercept, diagonal = np.array(rules).T
    value = scale * F + diagonal * state.diagonal(leaving.slots) + intercept
    doubt = 16.0 * np.abs(scale) * rounding
    return Answers(value, doubt, solved, within_tolerance)


def _dependent(core: Head, leaving: Departures, own: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return which of these members the optimum depends on.

    The other members' x do not depend on a member whose x is 0, and mu does so only if no margin
    variable of a group fixes it.
    """
    groups = leaving.targets.shape[1]
    if len(np.unique(core.group[core.margin])) < groups:
        return np.ones(len(own), dtype=bool)
    used = core.x.reshape(core.members, -1)[own].any(axis=1)
    return used | (leaving.stretch != 1.0) | (leaving.targets != core.target[:groups]).any(axis=1)
