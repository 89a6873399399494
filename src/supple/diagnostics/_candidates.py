"""Nonconformity scores of queries with candidate labels.

The queries are guests in every head: members with an empty box, which do not change the solution.
Trying a label opens one box along the exact path; then the head is restored to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from supple._core import Head, make_ready_for_paths
from supple.diagnostics._checks import warn_inexact
from supple.diagnostics._solutions import Solution, solution
from supple.engine import State
from supple.engine.head import HeadState, Key, effective_weight
from supple.interrupts import Interruptible
from supple.qp import Move
from supple.solvers import solve

_TIE = 1e-9  # scores closer than this are equal up to rounding


class Scores(NamedTuple):
    """Nonconformity scores of the examples by slot, -inf if undefined, and of a newcomer."""

    held: NDArray[np.float64]
    new: float

    def p_value(self, among: NDArray[np.bool_], tau: float | None) -> float:
        """Return the share of scores at least as large as the newcomer's, itself included.

        If `tau` is given, equal scores count by this share.
        """
        held, tie = self.held[among], _TIE * max(1.0, abs(self.new))
        larger = np.count_nonzero(held > self.new + tie)
        equal = np.count_nonzero(held >= self.new - tie) - larger + 1
        return float((larger + (equal if tau is None else tau * equal)) / (len(held) + 1))


def first_equals(X: Any) -> NDArray[np.intp]:
    """Return for each row the index of the first row that equals it."""
    numbers = np.arange(X.shape[0])
    if sparse.issparse(X):
        X = sparse.csr_matrix(X, copy=True)
        X.sum_duplicates()
        X.eliminate_zeros()
        ends = zip(X.indptr[:-1].tolist(), X.indptr[1:].tolist(), strict=True)
        keys = [X.indices[a:b].tobytes() + X.data[a:b].tobytes() for a, b in ends]
        maybe = numbers
    elif X.dtype == object:
        return numbers
    else:
        X = X + 0.0  # no negative zeros
        maybe = _repeated(_digests(X))
        keys = [X[row].tobytes() for row in maybe.tolist()]
    first: dict[bytes, int] = {}
    numbers[maybe] = [first.setdefault(*one) for one in zip(keys, maybe.tolist(), strict=True)]
    return numbers


def _digests(X: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Return a hash of each row."""
    bits = np.ascontiguousarray(X).view(np.uint64)
    factors = np.random.default_rng(0).integers(2**64, size=X.shape[1], dtype=np.uint64)
    mixed: NDArray[np.uint64] = (bits ^ (bits >> np.uint64(32))) @ (factors | np.uint64(1))
    return mixed


def _repeated(values: NDArray[np.uint64]) -> NDArray[np.intp]:
    """Return the places of values that occur more than once, in ascending order."""
    order = np.argsort(values)
    again = values[order[1:]] == values[order[:-1]]
    repeated = np.zeros(len(values), dtype=bool)
    repeated[order[1:][again]] = repeated[order[:-1][again]] = True
    return np.flatnonzero(repeated)


class _Reader:
    """Reads the scores (44) of a fixed set of members of a C-SVC head."""

    def __init__(self, core: Head, size: int) -> None:
        self._core, self._size = core, size
        self._slots, self._sides = core.slot, core.c
        self._width = core.hi - core.lo
        self._in_place = np.array_equal(self._slots, np.arange(size))

    def take(self, member: int, side: float, width: float) -> None:
        """Set the side of a member and the width of its box."""
        self._sides[member], self._width[member] = side, width

    def scores(self, rows: NDArray[np.intp] | None) -> NDArray[np.float64]:
        """Return the scores by slot, -inf for non-members and members with an empty box.

        Without an upper bound the first term of (44) is 0. `rows` number the feature vectors by
        slot if some are equal: the division of coefficients among equal vectors is not unique, so
        that each gets the mean.
        """
        core = self._core
        if core.rough:
            core.refresh()
        x: NDArray[Any] = np.abs(core.x)
        width: NDArray[Any] = self._width
        slack = self._sides * (core.kx + core.mu[0]) - 1.0
        slack[(x > 0.0) & (x < width) & (width < np.inf)] = 0.0
        if rows is not None:
            key = 2 * rows[self._slots] + (self._sides > 0.0)
            x = np.bincount(key, x)[key].astype(np.float64, copy=False)
            width = np.bincount(key, width)[key].astype(np.float64, copy=False)
        score = np.full(len(x), -np.inf)
        np.divide(x, width, out=score, where=self._width > 0.0)
        score -= slack
        if self._in_place:
            return score
        out = np.full(self._size, -np.inf)
        out[self._slots] = score
        return out


def score_all(state: State, size: int, rows: NDArray[np.intp] | None) -> NDArray[np.float64]:
    """Return for each slot the largest score in a head."""
    out = np.full(size, -np.inf)
    for head in state.head_states.values():
        np.maximum(out, _Reader(head.core, size).scores(rows), out=out)
    return out


class _Rows:
    """Which feature vectors of examples and guests are equal."""

    def __init__(self, held: Any, guests: Any) -> None:
        both = [held, guests]
        joined = sparse.vstack(both, "csr") if sparse.issparse(held) else np.concatenate(both)
        self._numbers, n = first_equals(joined), held.shape[0]
        self.size = len(self._numbers)
        self.of_held = None if (self._numbers[:n] == np.arange(n)).all() else self._numbers
        self._twin = self._numbers[n:] < n

    def with_guest(self, guest: int) -> NDArray[np.intp] | None:
        """Return the numbers by slot, None if all examples and the guest differ."""
        return self._numbers if self._twin[guest] else self.of_held


class _TrialHead:
    """A head with guests."""

    def __init__(self, state: State, head: HeadState) -> None:
        self._state, self._head = state, head
        self._before = head.core.save(for_trials=True)
        self._ready: Any = None
        self.n_inexact = 0

    def admit(self, guests: NDArray[np.int64], rows: _Rows) -> None:
        """Admit guests with empty boxes."""
        core, self._guests, self._rows = self._head.core, guests, rows
        make_ready_for_paths(core)
        count = len(guests)
        core.admit(guests, np.ones(count), np.zeros(count, dtype=np.uint8))
        self._members = core.variables_at(guests)
        if core.rough:
            core.refresh()
        self._ready, self._c = core.save(for_trials=True), core.c
        self._target = core.target[:1]
        self._decision = core.kx[self._members] + core.mu[0]
        self._rounding = core.rounding()
        self._reader = _Reader(core, rows.size)
        self.base = self._reader.scores(rows.of_held)
        self.present = solution(self._state, core)

    def scores(self, guest: int, side: float, weight: float) -> Scores:
        """Return the scores with a guest of this weight on a side."""
        if self._idle(guest, side):
            return Scores(self.base, 1.0 - float(side * self._decision[guest]))
        with self._opened(guest, side, weight) as (at, width):
            self._reader.take(at, side, width)
            found = self._reader.scores(self._rows.with_guest(guest))
            self._reader.take(at, side, 0.0)
            return Scores(found, float(found[self._guests[guest]]))

    def solution(self, guest: int, side: float, weight: float) -> Solution | None:
        """Return the solution with a guest of this weight on a side, None if it is unchanged."""
        if self._idle(guest, side):
            return None
        with self._opened(guest, side, weight):
            return solution(self._state, self._head.core)

    def _idle(self, guest: int, side: float) -> bool:
        """Whether a guest is optimal at 0, so that opening its box changes nothing."""
        slack = float(side * self._decision[guest] - 1.0)
        return slack > self._rounding and bool(self._head.core.n_margin)

    @contextmanager
    def _opened(self, guest: int, side: float, weight: float) -> Iterator[tuple[int, float]]:
        """Open the box of a guest within the context; yield its place and the width of its box."""
        state, core = self._state, self._head.core
        sides = np.array([side])
        rows = state.problem.rows(sides, np.array([weight]), sides)
        at = self._members[guest : guest + 1]
        move = Move(at, rows.lo, rows.hi, rows.ridge, self._target)
        try:
            self._c[at] = side
            core.c = self._c
            with Interruptible():
                result = solve(core, move, state.settings, cold=False)
            self.n_inexact += not result.within_tolerance
            yield at[0], float(rows.hi[0] - rows.lo[0])
        finally:
            core.restore(self._ready)

    def leave(self, guests: NDArray[np.int64]) -> None:
        """Restore the head as it was before the guests were admitted."""
        core = self._head.core
        if self._ready is not None:
            core.restore(self._ready)
        core.take_out(guests[::-1].copy(), int(guests[-1]) + 1)
        core.restore(self._before)


class Candidates:
    """A context in which queries can be tried with candidate classes.

    All heads, of a C-SVC, must be ready. The caller holds the write lock and has shielded Ctrl-C.

    Parameters
    ----------
    state : State
    points : ndarray or CSR matrix
        The queries, in the form of the points held.
    threads : int
    """

    def __init__(self, state: State, points: Any, threads: int) -> None:
        self._state, self._points, self._threads = state, points, threads
        self._parts: dict[int, tuple[float, dict[Key, float]]] = {}

    def __enter__(self) -> Self:
        state, gram = self._state, self._state.gram
        assert gram is not None
        self._threads, gram.core.threads = gram.core.threads, self._threads
        self._guests = state.n + np.arange(self._points.shape[0], dtype=np.int64)
        # First: they save the count of computed kernel values.
        self._heads = {k: _TrialHead(state, head) for k, head in state.head_states.items()}
        try:
            rows = _Rows(state.points(np.arange(state.n)), self._points)
            gram.append(self._points)
            for head in self._heads.values():
                with Interruptible():
                    head.admit(self._guests, rows)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        state, gram = self._state, self._state.gram
        assert gram is not None
        n_inexact = sum(head.n_inexact for head in self._heads.values())
        for head in reversed(self._heads.values()):
            head.leave(self._guests)
        gram.truncate(state.n)
        gram.core.threads = self._threads
        gram.core.release()
        if kind is None:
            warn_inexact(n_inexact, "with a candidate")

    def scores(self, guest: int, codes: Sequence[int]) -> list[Scores]:
        """Return the scores of all examples with one query, for each of its possible classes.

        The score of an example is the largest in a machine that was trained on it.
        """
        tried: dict[tuple[Key, float], Scores] = {}
        found = []
        for code in codes:
            weight, sides = self._part(code)
            held, new = [], []
            for key, head in self._heads.items():
                side = sides.get(key)
                if side is None:
                    held.append(head.base)
                    continue
                if self._state.class_weight or (key, side) not in tried:
                    tried[key, side] = head.scores(guest, side, weight)
                held.append(tried[key, side].held)
                new.append(tried[key, side].new)
            joint = held[0] if len(held) == 1 else np.maximum.reduce(held)
            found.append(Scores(joint[: self._state.n], max(new)))
        return found

    def members(self, key: Key) -> NDArray[np.int64]:
        """Return the slots of the examples and guests in a head."""
        return np.asarray(self._state.head_states[key].core.slot)

    def present(self, key: Key) -> Solution:
        """Return the solution of a head without any of the queries."""
        return self._heads[key].present

    def solutions(self, guest: int, codes: Sequence[int]) -> list[dict[Key, Solution]]:
        """Return for each class the solutions of the heads that one query changes."""
        tried: dict[tuple[Key, float], Solution | None] = {}
        found: list[dict[Key, Solution]] = []
        for code in codes:
            weight, sides = self._part(code)
            found.append({})
            for key, side in sides.items():
                if self._state.class_weight or (key, side) not in tried:
                    tried[key, side] = self._heads[key].solution(guest, side, weight)
                changed = tried[key, side]
                if changed is not None:
                    found[-1][key] = changed
        return found

    def _part(self, code: int) -> tuple[float, dict[Key, float]]:
        """Return the weight of an example of a class, and its sides in its heads."""
        if code not in self._parts:
            y, plan = np.array([float(code)]), self._state.plan
            weight = effective_weight(y, np.ones(1), self._state.class_weight)
            keys = [key for key in self._heads if plan.members(key, y)[0]]
            sides = {key: float(plan.targets(key, y)[0]) for key in keys}
            self._parts[code] = float(weight[0]), sides
        return self._parts[code]
