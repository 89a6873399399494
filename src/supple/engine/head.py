"""One head of an engine: the QP state in the core, and whether it has a solution yet."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from supple._core import Head
from supple.errors import InvalidInputError, SolverError
from supple.gram import Gram
from supple.problems import Problem
from supple.qp import NO_RIDGE, DecisionRule, HeadMembers, Move, Rows
from supple.solvers import Settings, SolveResult, solve, solve_first

__all__ = [
    "Examples",
    "HeadReader",
    "HeadState",
    "Key",
    "MemberValues",
    "Plan",
    "checked_rows",
    "effective_weight",
    "start_together",
]

Key = tuple[int, ...]
_NOTHING = np.empty(0)
_LARGEST = 1e100  # boxes and targets; products with kernel values must not overflow


class Plan(Protocol):
    """The heads of a model and the members of each (see supple.multiclass)."""

    def keys(self, labels: Sequence[int]) -> list[Key]: ...
    def members(self, key: Key, y: np.ndarray) -> np.ndarray: ...
    def members_of(self, keys: Sequence[Key], y: np.ndarray) -> HeadMembers: ...
    def targets(self, key: Key, y: np.ndarray) -> np.ndarray: ...


@dataclass(frozen=True)
class Examples:
    """The examples during an operation: labels, new weights, kernel matrix."""

    y: np.ndarray
    weight: np.ndarray
    class_weight: Mapping[int, float]
    gram: Gram
    plan: Plan

    def effective_weight(self, slots: np.ndarray) -> np.ndarray:
        """Return sample weight times class weight."""
        return effective_weight(self.y[slots], self.weight[slots], self.class_weight)

    def targets(self, key: Key, slots: np.ndarray) -> np.ndarray:
        """Return the targets of these examples in a head."""
        return self.plan.targets(key, self.y[slots])

    def rows(self, key: Key, slots: np.ndarray, problem: Problem) -> Rows:
        """Return what these examples add to the QP of a head."""
        t = self.targets(key, slots)
        diagonal = self.gram.diagonal(slots) if problem.needs_diagonal else t
        return checked_rows(problem, t, self.effective_weight(slots), diagonal)


def effective_weight(
    y: np.ndarray, weight: np.ndarray, class_weight: Mapping[int, float]
) -> np.ndarray:
    """Return sample weight times class weight."""
    if not class_weight:
        return weight
    factor = np.ones(len(y))
    for code, value in class_weight.items():
        factor[y == code] = value
    with np.errstate(over="ignore", invalid="ignore"):  # see checked_rows
        return np.asarray(weight * factor)


def checked_rows(problem: Problem, t: np.ndarray, weight: np.ndarray, diagonal: np.ndarray) -> Rows:
    """Return the rows of these examples; raise if their values are too large."""
    cost = "C (or nu) times sample_weight times class_weight"
    with np.errstate(over="ignore", divide="ignore"):
        rows = problem.rows(t, weight, diagonal)
        least, most = rows.lo, rows.hi
        if len(rows.ridge):  # of unbounded boxes
            cost += ", and its inverse with loss='squared_hinge',"
            least, most = rows.ridge, np.append(rows.ridge, 1.0 / rows.ridge[least < most])
    for name, low, high in ((cost, least, most), ("y plus or minus epsilon", rows.c, rows.c)):
        largest = max(-np.minimum.reduce(low, initial=0.0), np.maximum.reduce(high, initial=0.0))
        if not largest < _LARGEST:
            raise InvalidInputError(
                f"{name} must stay below {_LARGEST:g} for every example. Got {largest:g}. Scale "
                "the data, or choose smaller values."
            )
    return rows


@dataclass(slots=True)
class HeadState:
    """A head that is `ready`, or waits for examples; `reason` then says why.

    The members of a waiting head have empty boxes, so that x = 0.
    """

    key: Key
    core: Head
    ready: bool = False
    reason: str = "no examples yet. Add some by partial_fit."
    iterations: int = 0
    converged: bool = True

    @classmethod
    def empty(cls, key: Key, gram: Gram, problem: Problem) -> HeadState:
        return cls(key, Head(gram.core, problem.per, problem.groups))

    @property
    def record(self) -> tuple[bool, str, int, bool]:
        """All fields except the key and the state in the core."""
        return self.ready, self.reason, self.iterations, self.converged

    @record.setter
    def record(self, values: tuple[bool, str, int, bool]) -> None:
        self.ready, self.reason, self.iterations, self.converged = values

    @property
    def marginless(self) -> bool:
        """Whether two groups have no margin between them, up to rounding."""
        return self.core.scale(self.core.kx) == 0.0

    @property
    def inside(self) -> np.ndarray:
        """Mask of the variables strictly inside their boxes."""
        core = self.core
        return (core.lo < core.x) & (core.x < core.hi)

    def restorer(self) -> Callable[[], None]:
        """Return a function that restores the present state of the head."""
        return _Restorer(self, self.core.save(), *self.record)

    def to_arrays(self) -> dict[str, Any]:
        """Return what defines this head; Kx and the factor are derived from it."""
        names = ("slot", "c", "group", "x", "lo", "hi", "ridge", "mu", "target")
        return {name: getattr(self.core, name) for name in names} | {"record": self.record}

    @classmethod
    def from_arrays(
        cls, key: Key, gram: Gram, problem: Problem, arrays: dict[str, Any]
    ) -> HeadState:
        """Rebuild the head."""
        head = cls.empty(key, gram, problem)
        core = head.core
        core.admit(arrays["slot"], arrays["c"], arrays["group"])
        for name in ("x", "lo", "hi", "ridge", "mu", "target"):
            setattr(core, name, arrays[name])
        core.refresh()
        head.record = arrays["record"]
        return head

    def update(
        self,
        examples: Examples,
        slots: np.ndarray,
        problem: Problem,
        settings: Settings,
        *,
        other_kernel: bool,
    ) -> SolveResult:
        """Bring the head to the optimum; `slots` are the members that are new or have changed."""
        rows = examples.rows(self.key, slots, problem)
        # New members enter with empty boxes.
        had_members = self.core.members > 0
        self.core.admit(slots, rows.c, rows.group)
        variables = self.core.variables_at(slots)
        cold = other_kernel or not (self.ready and self.converged)
        if other_kernel:
            self.core.forget_factor()
            self.core.refresh()
        if had_members and len(slots) == self.core.members:
            cold = self._replace_c(variables, rows.c) or cold
        t = mass = _NOTHING
        if problem.needs_mass:
            t = examples.targets(self.key, self.core.slot)
            mass = examples.effective_weight(self.core.slot)
        reason = problem.obstacle(t, mass)
        if reason is not None:
            return self._wait(reason, problem.per)
        if not self.ready and len(slots) < self.core.members:
            # The head becomes ready: all boxes open, not only those of the changed examples.
            rows = examples.rows(self.key, self.core.slot, problem)
            variables = np.arange(self.core.members * problem.per)
        move = Move(variables, rows.lo, rows.hi, rows.ridge, problem.targets(t, mass))
        return self._note(solve(self.core, move, settings, cold=cold))

    def _note(self, result: SolveResult) -> SolveResult:
        if not result.kkt < math.inf:
            raise SolverError(
                "The solution overflows: kernel values of these examples are of too different "
                "sizes. Scale the features, or lower C, gamma or degree. The model is unchanged."
            )
        self.ready, self.reason = True, ""
        self.iterations = result.breakpoints + result.iterations
        self.converged = result.within_tolerance
        return result

    def close(self, slots: np.ndarray, problem: Problem, settings: Settings) -> SolveResult:
        """Bring the head to the optimum without these members, whose boxes close.

        The head must be ready, and the targets of its problem must not depend on the members.
        """
        variables = self.core.variables_at(slots)
        zero = np.zeros(len(variables))
        move = Move(variables, zero, zero, NO_RIDGE, problem.targets(_NOTHING, _NOTHING))
        return self._note(solve(self.core, move, settings, cold=not self.converged))

    def _replace_c(self, variables: np.ndarray, values: np.ndarray) -> bool:
        c = np.empty(len(variables))
        c[variables] = values
        if np.array_equal(c, self.core.c):
            return False
        self.core.c = c
        return True

    def _wait(self, reason: str, per: int) -> SolveResult:
        """Close all boxes."""
        zero = np.zeros(self.core.members * per)
        self.core.jump(np.arange(len(zero)), zero, zero, NO_RIDGE, [0.0, 0.0])
        self.core.forget_factor()
        self.record = (False, reason, 0, True)
        return SolveResult()


@dataclass(slots=True)
class _Restorer:
    """Restores a head.

    One object, where a closure is six: a model of many classes makes hundreds of them in every
    update, and Python's garbage collector starts a search after every 700 new objects.
    """

    head: HeadState
    snapshot: Any
    ready: bool
    reason: str
    iterations: int
    converged: bool

    def __call__(self) -> None:
        self.head.core.restore(self.snapshot)
        self.head.record = self.ready, self.reason, self.iterations, self.converged


def start_together(
    heads: Sequence[HeadState],
    parts: HeadMembers,
    examples: Examples,
    problem: Problem,
    settings: Settings,
) -> list[SolveResult]:
    """Bring empty heads to their first optimum.

    If one of them has to wait for more examples, do nothing and return an empty result.
    """
    weight = effective_weight(examples.y, examples.weight, examples.class_weight)[parts.places]
    diagonal = examples.gram.diagonal(parts.places) if problem.needs_diagonal else parts.t
    rows = checked_rows(problem, parts.t, weight, diagonal)
    masses = [(_NOTHING, _NOTHING)]  # shared by all heads
    if problem.needs_mass:
        masses = list(zip(parts.split(parts.t), parts.split(weight), strict=True))
    if any(problem.obstacle(*mass) for mass in masses):
        return []
    targets = [problem.targets(*mass) for mass in masses]
    results = solve_first(
        [head.core for head in heads],
        parts,
        rows,
        targets if problem.needs_mass else targets * len(heads),
        settings,
    )
    for head, result in zip(heads, results, strict=True):
        head._note(result)
    return results


class MemberValues(NamedTuple):
    """Coefficients and slacks of the members of a head.

    The slack of a variable is its gradient without the ridge, with the sign of y f - 1 for a class
    label y. A variable with a positive slack is 0. One with a negative slack is at its other
    bound, or where the ridge balances the slack. Members with an empty box have slack infinity.
    """

    slots: np.ndarray
    x: np.ndarray
    slack: np.ndarray


class HeadReader:
    """Read access to a head, valid until the next operation of the engine."""

    def __init__(self, head: HeadState, problem: Problem) -> None:
        self._head = head
        self._problem = problem

    @property
    def ready(self) -> bool:
        """Whether the head has a solution."""
        return self._head.ready

    @property
    def reason(self) -> str:
        """Why there is no solution yet."""
        return self._head.reason

    @property
    def decision_rule(self) -> DecisionRule:
        """The decision function in terms of Kx and k(z, z)."""
        core = self._head.core
        return self._problem.decision_rule(core.mu, core.rounding())

    def _expansion(self) -> tuple[np.ndarray, np.ndarray]:
        slots, x = self._head.core.support
        order = np.argsort(slots)
        return slots[order], x[order]

    @property
    def slots(self) -> np.ndarray:
        """Slots of the support vectors, ascending."""
        return self._expansion()[0]

    @property
    def coef(self) -> np.ndarray:
        """Coefficients of the support vectors in the decision function."""
        return self.decision_rule.scale * self._expansion()[1]

    def member_values(self) -> MemberValues:
        """Return coefficients and slacks of all members, from the current Kx."""
        core, per = self._head.core, self._problem.per
        if core.rough:
            core.refresh()
        x, lo, hi = core.x, core.lo, core.hi
        g = core.kx.repeat(per) - core.c + np.asarray(core.mu)[core.group]
        slack = np.where(hi > 0.0, g, np.where(lo < 0.0, -g, np.inf))
        return MemberValues(
            core.slot, x.reshape(-1, per).sum(axis=1), slack.reshape(-1, per).min(axis=1)
        )

    def bounding(self) -> np.ndarray:
        """Return the slots of members at 0 that bound mu of a group without margin variable.

        There mu is at least c - Kx of every variable that may rise, and at most that of every
        variable that may fall; without these members the bounds would change.
        """
        core = self._head.core
        if core.rough:
            core.refresh()
        per, x, group = self._problem.per, core.x, core.group
        limit = core.c - core.kx.repeat(per)
        rising, falling = (x == 0.0) & (core.hi > 0.0), (x == 0.0) & (core.lo < 0.0)
        found = []
        for e in range(self._problem.groups):
            if (group[self._head.inside] == e).any():
                continue
            for side, best in ((rising, np.argmax), (falling, np.argmin)):
                (at,) = np.nonzero(side & (group == e))
                if len(at):
                    found.append(at[best(limit[at])] // per)
        return np.asarray(core.slot[np.unique(np.array(found, dtype=np.int64))])

    @property
    def intercept(self) -> float:
        """Constant of the decision function."""
        return self.decision_rule.intercept

    @property
    def n_margin(self) -> int:
        """Number of variables strictly inside their box."""
        return int(np.count_nonzero(self._head.inside))

    def dual_objective(self) -> float:
        """Return c'x - 1/2 x'(K + D)x, from scratch."""
        core = self._head.core
        x, ridge = core.x, core.ridge
        return float(x @ (core.c - 0.5 * (core.expansion().repeat(self._problem.per) + ridge * x)))
