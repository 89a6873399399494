"""The engine of LASVM: it visits each example once and keeps only the current expansion."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from supple._core import Head, finish
from supple.engine.head import HeadState, Key, checked_rows, effective_weight
from supple.engine.held import Held
from supple.engine.state import State
from supple.engine.step import Run, Step
from supple.engine.team import Team, TeamOperation, gather, merge_closest
from supple.errors import warn_user
from supple.interrupts import Interruptible
from supple.memory import Memory
from supple.progress import SILENCE

__all__ = ["OnlineEngine", "Schedule"]

_SEEDS = 5  # examples of a new class that are processed before all others
_SAMPLE = 50  # candidates of one selection
_DULL = 5  # autoactive: stop after this many candidates within the margin
_CHUNK = 50  # examples passed to the core at a time
_SWEEP = 200  # examples between two searches for idle ones


@dataclass(frozen=True)
class Schedule:
    """How a batch is processed."""

    selection: str  # random, gradient, active or autoactive
    epochs: int
    share: float  # of the examples, processed in an epoch
    reprocess: int  # steps after each example


@dataclass(frozen=True)
class _Work:
    """A batch in progress."""

    X: Any
    y: np.ndarray
    codes: np.ndarray
    weight: np.ndarray
    bound: np.ndarray  # of the variables: C times the weights
    ids: np.ndarray
    groups: np.ndarray | None


class OnlineEngine:
    """LASVM machines: PROCESS and REPROCESS instead of exact optima.

    Only examples that some head uses or may soon use are held.

    Parameters
    ----------
    state : State
    schedule : Schedule
    seed : int or None
        Determines the order of the examples.
    memory : Memory
        Sets how many examples may be held; beyond that the closest two are merged.
    """

    def __init__(self, state: State, schedule: Schedule, seed: int | None, memory: Memory) -> None:
        self.state = state
        self.schedule = schedule
        self.memory = memory
        self.run = Run()
        self.processed = 0  # examples that PROCESS has seen
        self._random = np.random.default_rng(seed)
        self._copied = False  # pickled or copied since the last operation
        self._unswept = 0  # examples visited since the last search for idle ones
        self._team: Team | None = None  # derived from the heads
        self._counted: list[HeadState] = []  # heads that took steps in the last operation

    def __getstate__(self) -> dict[str, Any]:
        # Kx is not saved. It is computed afresh here as well before the next operation, so that the
        # original and the copy continue identically.
        self._copied = True
        return self.__dict__ | {
            "state": self.state.__getstate__(),
            "run": self.run.alone(),
            "memory": self.memory.copied(),
            "_copied": False,
            "_random": copy.deepcopy(self._random),
            "_team": None,
            "_counted": [],
        }

    def __setstate__(self, parts: dict[str, Any]) -> None:
        self.__dict__.update(parts)
        self.state = State.__new__(State)
        self.state.__setstate__(parts["state"])
        self._counted = list(self.state.head_states.values())

    # ------------------------------------------------------------------ operations

    def learn(
        self,
        X: Any,
        y: np.ndarray,
        weight: np.ndarray,
        ids: np.ndarray | None,
        groups: np.ndarray | None = None,
    ) -> Step:
        """Process a batch."""
        ids = self.state.number(ids, X.shape[0])
        with self._operation() as op:
            op.open_gram(X)
            work = self._prepare(op, X, y, weight, ids, groups)
            self._work_through(op, work)
            self.state.store.count_arrivals(ids)
            steps = self._set_constants(op, {})
            if self._unswept >= min(_SWEEP, len(op.team.heads)):
                self._sweep(op)
        return self.run.report(op.record("learn", ids, steps))

    def finish(self, *, after: Step | None = None) -> Step:
        """Step until no pair of examples held violates the conditions by more than `tol`.

        Warns if the limit on the steps is reached first.

        Parameters
        ----------
        after : Step, optional
            The operation that this call completes; its steps are added.
        """
        steps = {}
        with self._operation() as op:
            if self.run.progress is not None:
                self.run.progress.restart()
            op.use(self._assembled(self._classes()), all_heads=True)
            with Interruptible(), self.run.progress or SILENCE:
                gather(self.state, op.team.heads)
            for number, head in enumerate(op.team.heads):
                if self.run.progress is not None:
                    self.run.progress.at("machine", number + 1, len(op.team.heads))
                own = self._finish(head.core)
                steps[number] = own + (0 if after is None else head.iterations)
            total = self._set_constants(op, steps)
            self._sweep(op)
        if not self.state.converged:
            self._warn_of_limit()
        step = op.record("finish", self.state.ids, total)
        if after is not None:
            step = step._replace(ids=after.ids, seconds=after.seconds + step.seconds)
        return self.run.report(step)

    def _operation(self) -> TeamOperation:
        """Return a transaction."""
        op = TeamOperation(self.state, self.run)
        own, bits = self.__dict__.copy(), self._random.bit_generator
        state = bits.state

        def restore() -> None:
            self.__dict__.update(own)
            bits.state = state

        op.also_restore(restore)
        op.also_restore(self.memory.restorer())
        if self._copied:
            for head in self.state.head_states.values():
                head.core.refresh()
        self._copied = False
        return op

    # ------------------------------------------------------------------ parts of an operation

    def _finish(self, head: Head) -> int:
        settings = self.state.settings
        with Interruptible(), self.run.progress or SILENCE:
            return finish(head, settings.tol, settings.max_iter, settings.trusted)

    def _warn_of_limit(self) -> None:
        limit = self.state.settings.max_iter
        cause = f"max_iter={limit}" if limit >= 0 else "The built-in limit on steps"
        warn_user(
            f"{cause} was reached before all pairs met tol={self.state.settings.tol:g}; "
            "'kkt_violation_' tells how far the model is from the optimum. Raise max_iter, scale "
            "the features, or lower C.",
            self.run.not_converged,
        )

    def _prepare(
        self,
        op: TeamOperation,
        X: Any,
        y: np.ndarray,
        weight: np.ndarray,
        ids: np.ndarray,
        groups: np.ndarray | None,
    ) -> _Work:
        """Open heads for new classes and compute the boxes of the batch."""
        gram = self.state.gram
        assert gram is not None
        gram.refuse_updates()
        gram.core.threads = self.run.threads
        codes = y.astype(np.int64)
        effective = effective_weight(y, weight, self.state.class_weight)
        one = np.ones(len(y))
        rows = checked_rows(self.state.problem, one, effective, one)
        former = self._team
        team = self._assembled(self._classes() | set(codes[weight > 0.0].tolist()))
        op.use(team, all_heads=team is not former)
        return _Work(X, y, codes, weight, rows.hi, ids, groups)

    def _assembled(self, labels: set[int]) -> Team:
        """Return the heads of these classes."""
        if self._team is None or not self._team.serves(self.state, labels):
            known = self.state.head_states
            keys = self.state.plan.keys(sorted(labels))
            heads = known | self._open([key for key in keys if key not in known])
            self.state.head_states = {key: heads[key] for key in keys}
            self._team = Team(self.state, sorted(labels))
        return self._team

    def _classes(self) -> set[int]:
        """Return the codes of the classes that have an example."""
        return {code for code, count in self.state.per_class.items() if count > 0}

    def _open(self, keys: Sequence[Key]) -> dict[Key, HeadState]:
        """Return heads with the examples held so far as members at 0."""
        gram, problem = self.state.gram, self.state.problem
        assert gram is not None
        heads = {key: HeadState.empty(key, gram, problem) for key in keys}
        gather(self.state, list(heads.values()))
        for head in heads.values():
            head.record = (True, "", 0, False)
        return heads

    def _work_through(self, op: TeamOperation, work: _Work) -> None:
        """Visit examples, and sweep out idle ones from time to time."""
        usable = np.flatnonzero(work.weight > 0.0)
        share = max(1, round(self.schedule.share * len(usable))) if len(usable) else 0
        done, to_do, progress = 0, self.schedule.epochs * share, self.run.progress
        if progress is not None:
            progress.at("example", 1, to_do)
        for run in self._runs(op, work, usable, share):
            for start in range(0, len(run), _CHUNK):
                part = np.array(run[start : start + _CHUNK], dtype=np.int64)
                self._visit(op, work, part, fresh=done < share)
                merge_closest(op, self.memory, self.state.settings.tol, self.schedule.reprocess)
                done += len(part)
                if progress is not None:
                    progress.at("example", done, to_do)
                if self._unswept >= _SWEEP:
                    self._sweep(op)
                self._unswept += len(part)

    def _runs(
        self, op: TeamOperation, work: _Work, usable: np.ndarray, share: int
    ) -> Iterator[list[int]]:
        """Yield the positions to visit: seeds of new classes first, then by the selection."""
        for _ in range(self.schedule.epochs):
            waiting = self._random.permutation(usable).tolist()
            seeds = self._seeds(work, waiting)
            if seeds:
                chosen = set(seeds)
                waiting = [k for k in waiting if k not in chosen]
            if self.schedule.selection == "random":
                yield seeds + waiting[::-1][: max(0, share - len(seeds))]
                continue
            yield seeds
            for _ in range(share - len(seeds)):
                yield [self._choose(op, work, waiting)]

    def _seeds(self, work: _Work, order: list[int]) -> list[int]:
        known = self._classes()
        room = {code: _SEEDS for code in set(work.y[order].tolist()) if code not in known}
        seeds = []
        for k in order if room else ():
            code = float(work.y[k])
            if room.get(code, 0) > 0:
                room[code] -= 1
                seeds.append(k)
        return seeds

    def _choose(self, op: TeamOperation, work: _Work, waiting: list[int]) -> int:
        """Remove the next position from `waiting`, which is in random order, and return it."""
        selection = self.schedule.selection
        if not self.state.head_states:
            return waiting.pop()
        best, smallest, inside = 1, np.inf, 0
        step = 10 if selection == "autoactive" else _SAMPLE
        for first in range(0, min(2 * _SAMPLE if step == 10 else _SAMPLE, len(waiting)), step):
            # Counted from the end, where the chosen position is cheap to remove.
            places = list(range(first + 1, min(first + step, len(waiting)) + 1))
            scores = self._scores(op, work, [waiting[-p] for p in places])
            inside += int((scores < 1.0).sum())
            if scores.min() < smallest:
                smallest, best = float(scores.min()), places[int(scores.argmin())]
            if inside >= _DULL and step == 10:
                break
        waiting[-best], waiting[-1] = waiting[-1], waiting[-best]
        # The other candidates go back to random places.
        k = waiting.pop()
        for p in range(1, min(step, len(waiting)) + 1):
            q = int(self._random.integers(1, len(waiting) + 1))
            waiting[-p], waiting[-q] = waiting[-q], waiting[-p]
        return k

    def _scores(self, op: TeamOperation, work: _Work, candidates: list[int]) -> np.ndarray:
        """Return the distance of each from the boundary, with a sign for gradient selection."""
        op.team.core.settle()
        f = self.state.decision_functions().decide(work.X[candidates], self.run.threads)
        if self.schedule.selection != "gradient":
            return np.abs(f).min(axis=1)
        y = work.y[candidates]
        scores = np.full(len(candidates), np.inf)
        for column, key in zip(f.T, self.state.head_states, strict=True):
            members = self.state.plan.members(key, y)
            margin = column * self.state.plan.targets(key, y)
            scores[members] = np.minimum(scores[members], margin[members])
        return scores

    def _visit(self, op: TeamOperation, work: _Work, part: np.ndarray, *, fresh: bool) -> None:
        """PROCESS examples in their heads, then REPROCESS, one after the other.

        Unless all are `fresh`, examples that are already held only make their heads REPROCESS.
        """
        store, gram = self.state.store, self.state.gram
        assert gram is not None
        new, slots = np.ones(len(part), dtype=bool), np.empty(len(part), dtype=np.int64)
        if not fresh:
            new = ~store.holding(work.ids[part])
            slots[~new] = store.slots(work.ids[part[~new]])
        for code in np.unique(work.codes[part]).tolist():
            op.protect_joined(code)
        tol, reprocess = self.state.settings.tol, self.schedule.reprocess
        with self.run.progress or SILENCE:
            if new.any():
                gram.append(work.X[part[new]])
                slots[new] = self._store(work, part[new])
            with Interruptible():
                used = op.team.core.visit(slots, work.codes[part], work.bound[part], tol, reprocess)
        self.processed += int(np.count_nonzero(new))
        used = new & used.astype(bool)
        self.state.per_class.update(work.codes[part[used]].tolist())
        if (new & ~used).any():
            op.let_go(slots[new & ~used])

    def _store(self, work: _Work, part: np.ndarray) -> np.ndarray:
        """Add examples to the table and return their slots."""
        groups = None if work.groups is None else work.groups[part]
        return self.state.store.append(work.y[part], work.weight[part], work.ids[part], groups)

    def _sweep(self, op: TeamOperation) -> None:
        """Remove idle members, and the examples that are then in no head."""
        self._unswept = 0
        op.protect_all()
        slots, state = op.team.core.sweep(), self.state
        if not len(slots):
            return
        # Every class keeps one example.
        codes = state.store.y[slots].astype(np.int64)
        for code, count in Counter(codes.tolist()).items():
            if count == state.per_class[code]:
                first = int(np.flatnonzero(codes == code)[0])
                slots, codes = np.delete(slots, first), np.delete(codes, first)
        if len(slots):
            state.per_class.subtract(codes.tolist())
            self.memory.forgets(Held(op), state.store.ids[slots])
            op.let_go(slots)

    def _set_constants(self, op: TeamOperation, finished: Mapping[int, int]) -> int:
        """Set the constants of the decision functions; return the steps of all heads.

        The steps of heads that were `finished` are given.
        """
        heads, tol = op.team.heads, self.state.settings.tol
        records = op.team.core.settle()
        concerned = [heads[number] for number, _, _ in records]
        before = [(h, h.iterations, h.converged) for h in [*self._counted, *concerned]]

        def restore() -> None:
            for head, iterations, converged in before:
                head.iterations, head.converged = iterations, converged

        op.undo.append(restore)
        for head in self._counted:
            head.iterations = 0
        total = 0
        for head, (number, steps, gap) in zip(concerned, records, strict=True):
            head.iterations = finished.get(number, steps)
            head.converged = gap <= tol
            total += head.iterations
        self._counted = concerned
        return total
