"""The engine of LASVM: one look at each example, and only the current expansion is kept."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.engine.head import HeadState, Key, checked_rows, effective_weight
from supple.engine.operation import Operation
from supple.engine.state import State
from supple.engine.step import Run, Step
from supple.errors import warn_user
from supple.gram import Feeder
from supple.interrupts import Interruptible
from supple.progress import SILENCE
from supple.qp import Rows
from supple.solvers import Outcome, most_iterations

__all__ = ["OnlineEngine", "Schedule"]

_SEEDS = 5  # examples of a new class that are processed before all others
_SAMPLE = 50  # candidates looked at by a selection
_DULL = 5  # autoactive: so many candidates within the margin are enough
_SWEEP = 50  # examples between two looks for idle ones


@dataclass(frozen=True)
class Schedule:
    """How a batch is worked through."""

    selection: str  # random, gradient, active or autoactive
    epochs: int
    share: float  # of the examples that is processed in an epoch
    reprocess: int  # steps after each example


@dataclass(frozen=True)
class _Work:
    """A batch on its way: points, labels, weights, ids, groups and their rows in each head."""

    X: Any
    y: np.ndarray
    weight: np.ndarray
    ids: np.ndarray
    groups: np.ndarray | None
    feed: Feeder
    heads: dict[Key, tuple[dict[int, int], Rows]]  # place of example k in the rows


class OnlineEngine:
    """LASVM machines: PROCESS and REPROCESS instead of exact optima.

    The examples held are those that some head uses or may soon use; all others are gone.

    Parameters
    ----------
    state : State
    schedule : Schedule
    seed : int or None
        Of the order of the examples.
    """

    def __init__(self, state: State, schedule: Schedule, seed: int | None) -> None:
        self.state = state
        self.schedule = schedule
        self.run = Run()
        self.processed = 0  # examples that PROCESS has seen
        self._random = np.random.default_rng(seed)
        self._copied = False  # since the last operation

    def __getstate__(self) -> dict[str, Any]:
        # Kx is not saved. Computed afresh before the next operation here as well, it is the same
        # to the last bit in both, and so is what they do then.
        self._copied = True
        return self.__dict__ | {
            "state": self.state.__getstate__(),
            "run": self.run.alone(),
            "_copied": False,
            "_random": copy.deepcopy(self._random),
        }

    def __setstate__(self, parts: dict[str, Any]) -> None:
        self.__dict__.update(parts)
        self.state = State.__new__(State)
        self.state.__setstate__(parts["state"])

    # ------------------------------------------------------------------ operations

    def learn(
        self,
        X: Any,
        y: np.ndarray,
        weight: np.ndarray,
        ids: np.ndarray | None,
        groups: np.ndarray | None = None,
    ) -> Step:
        """Work through a batch."""
        ids = self.state.number(ids, X.shape[0])
        with self._operation() as op:
            op.open_gram(X)
            gram = self.state.gram
            assert gram is not None
            gram.refuse_updates()
            gram.core.threads = self.run.threads
            work = self._prepare(op, X, y, weight, ids, groups)
            to_do = self._to_do(work)
            for visited, k in enumerate(self._order(work), start=1):
                if self.run.progress is not None:
                    self.run.progress.at("example", visited, to_do)
                with Interruptible():
                    pass
                self._visit(work, k)
                if visited % _SWEEP == 1:
                    self._sweep(op)
            self.state.store.count_arrivals(ids)
            self._conclude(op)
            op.outcomes.append(Outcome("lasvm", iterations=self._steps()))
        return self.run.report(op.step("learn", ids))

    def finish(self, *, after: Step | None = None) -> Step:
        """Step until no pair of examples held violates the conditions by more than `tol`.

        The model warns if the limit on the steps comes first.

        Parameters
        ----------
        after : Step, optional
            The operation that this is the end of; its steps count as well.
        """
        steps, heads = 0, self.state.head_states
        with self._operation() as op:
            if self.run.progress is not None:
                self.run.progress.restart()
            for number, head in enumerate(heads.values(), start=1):
                if self.run.progress is not None:
                    self.run.progress.at("machine", number, len(heads))
                op.protect(head)
                own = self._finish(head.core)
                head.iterations = own + (0 if after is None else head.iterations)
                steps += own
            self._conclude(op)
            op.outcomes.append(Outcome("lasvm", iterations=steps))
        if not self.state.converged:
            self._warn_of_limit()
        step = op.step("finish", self.state.ids)
        if after is not None:
            seconds, total = after.seconds + step.seconds, after.iterations + step.iterations
            step = step._replace(ids=after.ids, iterations=total, seconds=seconds)
        return self.run.report(step)

    def _operation(self) -> Operation:
        """Return a transaction; all heads may change in it."""
        op = Operation(self.state, self.run)
        processed, bits = self.processed, self._random.bit_generator
        state = bits.state

        def restore() -> None:
            self.processed, bits.state = processed, state

        op.also_restore(restore)
        for head in self.state.head_states.values():
            if self._copied:
                head.core.refresh()
        self._copied = False
        return op

    # ------------------------------------------------------------------ parts of an operation

    def _finish(self, head: Any) -> int:
        tol, limit = self.state.settings.tol, self.state.settings.max_iter
        if limit < 0:
            limit = most_iterations(head)
        converged, steps = False, 0
        try:
            with Interruptible(), self.run.progress or SILENCE:
                if self.state.settings.trusted and head.has_blocks:
                    # In single precision a small tolerance may never be met: half of the steps.
                    half = limit // 2
                    converged, steps = head.block_smo(tol, half, True, False)
                    if not converged:
                        head.refresh()
                if not converged and steps < limit:
                    steps += head.smo(tol, limit - steps, True)[1]
        finally:
            head.release()
        return int(steps)

    def _warn_of_limit(self) -> None:
        limit = self.state.settings.max_iter
        cause = f"max_iter={limit}" if limit >= 0 else "The built-in limit on steps"
        warn_user(
            f"{cause} was reached before all pairs met tol={self.state.settings.tol:g}; "
            "'kkt_violation_' tells how far the model is from the optimum. Raise max_iter, scale "
            "the features, or lower C.",
            self.run.not_converged,
        )

    def _steps(self) -> int:
        return sum(head.iterations for head in self.state.head_states.values())

    def _prepare(
        self,
        op: Operation,
        X: Any,
        y: np.ndarray,
        weight: np.ndarray,
        ids: np.ndarray,
        groups: np.ndarray | None,
    ) -> _Work:
        """Open heads for new classes and compute the rows of the batch in every head."""
        assert self.state.gram is not None
        feed = self.state.gram.feeder(X)
        labels = self._classes() | set(y[weight > 0.0].astype(int).tolist())
        effective = effective_weight(y, weight, self.state.class_weight)
        heads = {}
        for key in self.state.plan.keys(sorted(labels)):
            members = np.flatnonzero(self.state.plan.members(key, y) & (effective > 0.0))
            t = self.state.plan.targets(key, y[members])
            place = {k: i for i, k in enumerate(members.tolist())}
            heads[key] = place, checked_rows(self.state.problem, t, effective[members], t)
        self.state.per_class = self.state.per_class.copy()  # counted on; the other one is kept
        known = self.state.head_states
        for head in known.values():
            op.protect(head)
        self.state.head_states = {key: known.get(key) or self._open(key) for key in heads}
        for head in self.state.head_states.values():
            head.iterations = 0
        return _Work(X, y, weight, ids, groups, feed, heads)

    def _classes(self) -> set[int]:
        """Return the codes of the classes that have an example here."""
        return {code for code, count in self.state.per_class.items() if count > 0}

    def _open(self, key: Key) -> HeadState:
        """Return a head with the examples held so far as members at 0."""
        assert self.state.gram is not None
        head = HeadState.empty(key, self.state.gram, self.state.problem)
        slots = np.flatnonzero(self.state.plan.members(key, self.state.store.y))
        y = self.state.store.y[slots]
        weight = effective_weight(y, self.state.store.weight[slots], self.state.class_weight)
        rows = checked_rows(self.state.problem, self.state.plan.targets(key, y), weight, y)
        head.core.admit(slots, rows.c, rows.group)
        head.core.jump(np.arange(len(slots)), rows.lo, rows.hi, [0.0, 0.0])
        head.record = (True, "", 0, False)
        return head

    def _to_do(self, work: _Work) -> int:
        usable = sum(1 for w in work.weight.tolist() if w > 0.0)
        share = max(1, round(self.schedule.share * usable)) if usable else 0
        return self.schedule.epochs * share

    def _order(self, work: _Work) -> Iterator[int]:
        """Yield the positions to visit: seeds of new classes first, then by the selection."""
        usable = np.flatnonzero(work.weight > 0.0)
        per_epoch = self._to_do(work) // self.schedule.epochs
        for _ in range(self.schedule.epochs):
            waiting = self._random.permutation(usable).tolist()
            for k in self._seeds(work, waiting):
                waiting.remove(k)
                yield k
            for _ in range(per_epoch - (len(usable) - len(waiting))):
                yield self._choose(work, waiting)

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

    def _choose(self, work: _Work, waiting: list[int]) -> int:
        """Take the next position out of those waiting, which are in random order."""
        selection = self.schedule.selection
        if selection == "random" or not self.state.head_states:
            return waiting.pop()
        best, smallest, inside = 1, np.inf, 0
        step = 10 if selection == "autoactive" else _SAMPLE
        for first in range(0, min(2 * _SAMPLE if step == 10 else _SAMPLE, len(waiting)), step):
            # Positions are counted from the end, so that the chosen one is cheap to take out.
            places = list(range(first + 1, min(first + step, len(waiting)) + 1))
            scores = self._scores(work, [waiting[-p] for p in places])
            inside += int((scores < 1.0).sum())
            if scores.min() < smallest:
                smallest, best = float(scores.min()), places[int(scores.argmin())]
            if inside >= _DULL and step == 10:
                break
        waiting[-best], waiting[-1] = waiting[-1], waiting[-best]
        # Candidates that were not chosen go back to a random place.
        k = waiting.pop()
        for p in range(1, min(step, len(waiting)) + 1):
            q = int(self._random.integers(1, len(waiting) + 1))
            waiting[-p], waiting[-q] = waiting[-q], waiting[-p]
        return k

    def _scores(self, work: _Work, candidates: list[int]) -> np.ndarray:
        """Return how far each is from the boundary; for gradient selection on its right side."""
        for head in self.state.head_states.values():
            head.core.settle_mu()
        f = self.state.make_rule().decide(work.X[candidates], self.run.threads)
        if self.schedule.selection != "gradient":
            return np.abs(f).min(axis=1)
        y = work.y[candidates]
        scores = np.full(len(candidates), np.inf)
        for column, key in zip(f.T, self.state.head_states, strict=True):
            members = self.state.plan.members(key, y)
            margin = column * self.state.plan.targets(key, y)
            scores[members] = np.minimum(scores[members], margin[members])
        return scores

    def _visit(self, work: _Work, k: int) -> None:
        """PROCESS one example in all its heads, then REPROCESS."""
        gram, tol = self.state.gram, self.state.settings.tol
        assert gram is not None
        concerned = [
            (head, *work.heads[key])
            for key, head in self.state.head_states.items()
            if k in work.heads[key][0]
        ]
        if not self.state.store.holds(work.ids.item(k)):
            slot = gram.size
            work.feed(k)
            used = not concerned  # the only class so far: it will be needed
            for head, place, rows in concerned:
                i = place[k]
                used |= head.core.process(slot, rows.c[i], rows.lo[i], rows.hi[i], tol)
                head.iterations += 1
            self._decide(work, k, slot, concerned, used)
            self.processed += 1
        for head, _, _ in concerned:
            for _ in range(self.schedule.reprocess):
                if not head.core.reprocess(tol):
                    break
                head.iterations += 1

    def _decide(self, work: _Work, k: int, slot: int, concerned: list[Any], keep: bool) -> None:
        """Note example k, which is in the last slot, or take it back."""
        assert self.state.gram is not None
        if keep:
            one = slice(k, k + 1)
            groups = None if work.groups is None else work.groups[one]
            self.state.store.append(work.y[one], work.weight[one], work.ids[one], groups)
            self.state.per_class[int(work.y[k])] += 1
            return
        last = np.array([slot])
        for head, _, _ in concerned:
            head.core.take_out(last, slot + 1)
        self.state.gram.remove(last)

    def _sweep(self, op: Operation) -> None:
        """Let go the examples that are idle in all their heads."""
        leaving = self._leaving()
        if len(leaving):
            op.dismiss(leaving)

    def _leaving(self) -> np.ndarray:
        """Return the slots of examples that are idle in all their heads, ascending."""
        n = self.state.n
        idle, heads = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        for head in self.state.head_states.values():
            idle[head.core.idle()] += 1
            heads[head.core.slot] += 1
        leaving = (idle == heads) & (heads > 0)
        # Of every class one example stays, whatever happens.
        for code, count in Counter(self.state.store.y[leaving].astype(int).tolist()).items():
            if count == self.state.per_class[code]:
                leaving[np.flatnonzero(leaving & (self.state.store.y == code))[0]] = False
        slots = np.flatnonzero(leaving)
        self.state.per_class = self.state.per_class.copy()
        self.state.per_class.subtract(self.state.store.y[slots].astype(int).tolist())
        return slots

    def _conclude(self, op: Operation) -> None:
        """Set the constants of the decision functions; heads without examples of a class go."""
        leaving, state = self._leaving(), self.state
        keys = set(state.plan.keys(sorted(self._classes())))
        state.head_states = {key: h for key, h in state.head_states.items() if key in keys}
        for head in state.head_states.values():
            head.converged = head.core.settle_mu() <= state.settings.tol
        if len(leaving):
            op.let_go(leaving)
