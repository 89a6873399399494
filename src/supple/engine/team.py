"""The heads of LASVM, which the core updates in one call."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from supple._core import Lasvm
from supple.engine.head import HeadState, checked_rows, effective_weight
from supple.engine.held import Held
from supple.engine.operation import Operation
from supple.engine.state import State
from supple.engine.step import Step
from supple.memory import Memory
from supple.qp import NO_RIDGE

__all__ = ["Team", "TeamOperation", "gather", "merge_closest"]


class Team:
    """The heads of a state, valid until heads are added or removed.

    Parameters
    ----------
    state : State
    labels : sequence of int
        Codes of all classes that may occur.
    """

    def __init__(self, state: State, labels: Sequence[int]) -> None:
        assert state.gram is not None
        self._of = state.head_states
        self.heads: list[HeadState] = list(state.head_states.values())
        self._codes = frozenset(labels)
        codes = np.arange(max(labels, default=-1) + 1, dtype=np.float64)
        targets = np.zeros((len(codes), len(self.heads)), dtype=np.int8)  # 0: no member
        for number, key in enumerate(state.head_states):
            members = state.plan.members(key, codes)
            targets[members, number] = state.plan.targets(key, codes[members])
        self.joined = [[self.heads[k] for k in np.flatnonzero(own)] for own in targets]  # by class
        self.core = Lasvm(state.gram.core, [head.core for head in self.heads], targets)

    def serves(self, state: State, labels: set[int]) -> bool:
        """Whether these are the heads of the state and suffice for these classes."""
        return self._of is state.head_states and labels <= self._codes


def gather(state: State, heads: Sequence[HeadState]) -> None:
    """Make all examples held members of these heads; new members start at 0."""
    if not heads:
        return
    store = state.store
    parts = state.plan.members_of([head.key for head in heads], store.y)
    weight = effective_weight(store.y, store.weight, state.class_weight)[parts.places]
    rows = checked_rows(state.problem, parts.t, weight, parts.t)
    columns = (parts.places, rows.c, rows.group, rows.lo, rows.hi)
    for head, slots, c, group, lo, hi in zip(heads, *map(parts.split, columns), strict=True):
        head.core.admit(slots, c, group)
        head.core.jump(head.core.variables_at(slots), lo, hi, NO_RIDGE, [0.0, 0.0])


class TeamOperation(Operation):
    """An operation on the heads of a team; examples are in no head when they leave."""

    team: Team

    def use(self, team: Team, *, all_heads: bool) -> None:
        """Take the team into the transaction, with `all_heads` as concerned."""
        self.team = team
        # A copy: a rollback restores the former counts.
        self.state.per_class = self.state.per_class.copy()
        team.core.begin(all_heads)
        if all_heads:
            self.protect_all()

    def protect_all(self) -> None:
        """Take a snapshot of each head."""
        for head in self.team.heads:
            self.protect(head)

    def protect_joined(self, code: int) -> None:
        """Take a snapshot of each head that the examples of a class may join."""
        for head in self.team.joined[code]:
            self.protect(head)

    def _dismiss_leaving(self) -> None:
        self._dismissed += self._leaving
        self._leaving = []

    def record(self, action: str, ids: np.ndarray, steps: int) -> Step:
        """Return the record of the operation; heads of LASVM have no margin set."""
        seconds = time.perf_counter() - self._start
        return Step(action, ids, "lasvm", 0, steps, 0, 0.0, seconds)


def merge_closest(op: TeamOperation, memory: Memory, tau: float, reprocess: int) -> None:
    """Merge the closest two examples of a class until the limit of the memory is met.

    The mean takes over both coefficients, whose sum is unchanged; REPROCESS follows. Every class
    keeps one example.
    """
    state, store = op.state, op.state.store
    while memory.capacity is not None and op.n_present > memory.capacity:
        pair = Held(op).closest_pair()
        if pair is None:
            return
        into, total, leaving = op.merge(memory, pair)
        label = store.y[into]
        code = int(label[0])
        effective = effective_weight(label, total, state.class_weight)
        (bound,) = checked_rows(state.problem, np.ones(1), effective, effective).hi
        op.protect_joined(code)
        for slot in leaving.tolist():  # no step before all coefficients are in place
            steps = reprocess if slot == leaving[-1] else 0
            op.team.core.absorb(slot, int(into[0]), code, float(bound), tau, steps)
        op.set_weight(into, total)
        state.per_class[code] -= 1
        op.forgotten += store.ids[leaving].tolist()
        op.let_go(leaving)
