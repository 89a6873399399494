"""The engine of LASVM: one look at each example, and only the current expansion is kept."""

from __future__ import annotations

import copy
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.engine import Engine, Step
from supple.errors import warn_user
from supple.gram import Feeder, Gram
from supple.interrupts import Interruptible, Transaction
from supple.machine import Key, Machine, checked_rows, effective_weight
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
    before: int  # examples held when the batch came
    dismissed: list[int]  # their slots, of those who have left the heads since


class OnlineEngine(Engine):
    """LASVM machines: PROCESS and REPROCESS instead of exact optima.

    The examples held are those that some head uses or may soon use; all others are gone.
    """

    def __init__(self, *parts: Any, schedule: Schedule, seed: int | None, **settings: Any) -> None:
        super().__init__(*parts, shrinking=True, **settings)
        self.schedule = schedule
        self.processed = 0  # examples that PROCESS has seen
        self._random = np.random.default_rng(seed)
        self._copied = False  # since the last operation

    @property
    def exact(self) -> bool:
        """An online machine is never claimed to be exact."""
        return False

    def __getstate__(self) -> dict[str, Any]:
        # Kx is not saved. Computed afresh before the next operation here as well, it is the same
        # to the last bit in both, and so is what they do then.
        self._copied = True
        own = {"_copied": False, "_random": copy.deepcopy(self._random)}
        return super().__getstate__() | own

    def learn(
        self,
        X: Any,
        y: np.ndarray,
        weight: np.ndarray,
        ids: np.ndarray | None,
        groups: np.ndarray | None = None,
    ) -> Step:
        """Work through a batch."""
        start = time.perf_counter()
        ids = self.number(ids, X.shape[0])
        with Transaction(self._drop_derived) as undo:
            gram = self._gram_for(X, undo)
            gram.core.threads = self.threads
            self._remember(undo)
            work = self._prepare(gram, X, y, weight, ids, groups)
            to_do = self._to_do(work)
            for visited, k in enumerate(self._order(work), start=1):
                if self.progress is not None:
                    self.progress.at("example", visited, to_do)
                with Interruptible():
                    pass
                self._visit(work, k)
                if visited % _SWEEP == 1:
                    self._sweep(work)
            self._store.count_arrivals(ids)
            self._conclude(work.dismissed)  # the last step: who has left cannot be called back
        return self._report("learn", ids, [Outcome("lasvm", iterations=self._steps())], start)

    def finish(self, *, after_learning: bool = False) -> Step:
        """Step until no pair of examples held violates the conditions by more than `tol`.

        The model warns if the limit on the steps comes first.

        Parameters
        ----------
        after_learning : bool
            This is the end of the latest operation, whose steps count as well.
        """
        start, steps = time.perf_counter(), 0
        with Transaction(self._drop_derived) as undo:
            self._remember(undo)
            if self.progress is not None:
                self.progress.restart()
            for number, machine in enumerate(self._machines.values(), start=1):
                if self.progress is not None:
                    self.progress.at("machine", number, len(self._machines))
                own = self._finish(machine.core)
                machine.iterations = own + (machine.iterations if after_learning else 0)
                steps += own
            self._conclude([])
        if not self.converged:
            self._warn_of_limit()
        return self._report("finish", self.ids, [Outcome("lasvm", iterations=steps)], start)

    # ------------------------------------------------------------------ parts of an operation

    def _finish(self, head: Any) -> int:
        tol, limit = self._settings.tol, self._settings.max_iter
        if limit < 0:
            limit = most_iterations(head)
        converged, steps = False, 0
        try:
            with Interruptible(), self.progress or SILENCE:
                if self._settings.trusted and head.has_blocks:
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
        limit = self._settings.max_iter
        cause = f"max_iter={limit}" if limit >= 0 else "The built-in limit on steps"
        warn_user(
            f"{cause} was reached before all pairs met tol={self._settings.tol:g}; "
            "'kkt_violation_' tells how far the model is from the optimum. Raise max_iter, scale "
            "the features, or lower C.",
            self.not_converged,
        )

    def _gram_for(self, X: Any, undo: list[Callable[[], None]]) -> Gram:
        """Return the Gram matrix, which will have its present size again if the operation fails."""
        before = self.n
        if self._gram is None:
            self._gram = self._empty_gram(X)
            undo.append(self._drop_gram)
        else:
            gram = self._gram
            undo.append(lambda: gram.truncate(before))
        self._gram.refuse_updates()
        return self._gram

    def _remember(self, undo: list[Callable[[], None]]) -> None:
        """Note how to get back to the present state, but for the Gram matrix.

        That works as long as no example that is held now leaves its slot, as none does before
        `_conclude`.
        """
        machines, counts, processed = self._machines, self._per_class.copy(), self.processed
        before, bits = self.n, self._random.bit_generator
        state, arrivals = bits.state, self._store.arrivals

        def back() -> None:
            self._machines, self._per_class, self.processed = machines, counts, processed
            bits.state = state
            self._store.truncate(before)
            self._store.arrivals = arrivals

        undo.append(back)
        for machine in machines.values():
            if self._copied:
                machine.core.refresh()
            undo.append(machine.restorer())
        self._copied = False

    def _steps(self) -> int:
        return sum(machine.iterations for machine in self._machines.values())

    def _prepare(
        self,
        gram: Gram,
        X: Any,
        y: np.ndarray,
        weight: np.ndarray,
        ids: np.ndarray,
        groups: np.ndarray | None,
    ) -> _Work:
        """Open heads for new classes and compute the rows of the batch in every head."""
        feed = gram.feeder(X)
        labels = self._classes() | set(y[weight > 0.0].astype(int).tolist())
        effective = effective_weight(y, weight, self.class_weight)
        heads = {}
        for key in self.plan.keys(sorted(labels)):
            members = np.flatnonzero(self.plan.members(key, y) & (effective > 0.0))
            t = self.plan.targets(key, y[members])
            place = {k: i for i, k in enumerate(members.tolist())}
            heads[key] = place, checked_rows(self.problem, t, effective[members], t)
        self._machines = {key: self._machines.get(key) or self._open(key) for key in heads}
        for machine in self._machines.values():
            machine.iterations = 0
        return _Work(X, y, weight, ids, groups, feed, heads, self.n, [])

    def _classes(self) -> set[int]:
        """Return the codes of the classes that have an example here."""
        return {code for code, count in self._per_class.items() if count > 0}

    def _open(self, key: Key) -> Machine:
        """Return a head with the examples held so far as members at 0."""
        assert self._gram is not None
        machine = Machine.empty(key, self._gram, self.problem)
        slots = np.flatnonzero(self.plan.members(key, self._store.y))
        y = self._store.y[slots]
        weight = effective_weight(y, self._store.weight[slots], self.class_weight)
        rows = checked_rows(self.problem, self.plan.targets(key, y), weight, y)
        machine.core.admit(slots, rows.c, rows.group)
        machine.core.jump(np.arange(len(slots)), rows.lo, rows.hi, [0.0, 0.0])
        machine.record = (True, "", 0, False)
        return machine

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
        if selection == "random" or not self._machines:
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
        for machine in self._machines.values():
            machine.core.settle_mu()
        f = self._make_rule().decide(work.X[candidates], self.threads)
        if self.schedule.selection != "gradient":
            return np.abs(f).min(axis=1)
        y = work.y[candidates]
        scores = np.full(len(candidates), np.inf)
        for column, key in zip(f.T, self._machines, strict=True):
            members = self.plan.members(key, y)
            margin = column * self.plan.targets(key, y)
            scores[members] = np.minimum(scores[members], margin[members])
        return scores

    def _visit(self, work: _Work, k: int) -> None:
        """PROCESS one example in all its heads, then REPROCESS."""
        gram, tol = self._gram, self._settings.tol
        assert gram is not None
        concerned = [
            (machine, *work.heads[key])
            for key, machine in self._machines.items()
            if k in work.heads[key][0]
        ]
        if not self._store.holds(work.ids.item(k)):
            slot = gram.size
            work.feed(k)
            used = not concerned  # the only class so far: it will be needed
            for machine, place, rows in concerned:
                i = place[k]
                used |= machine.core.process(slot, rows.c[i], rows.lo[i], rows.hi[i], tol)
                machine.iterations += 1
            self._decide(work, k, slot, concerned, used)
            self.processed += 1
        for machine, _, _ in concerned:
            for _ in range(self.schedule.reprocess):
                if not machine.core.reprocess(tol):
                    break
                machine.iterations += 1

    def _decide(self, work: _Work, k: int, slot: int, concerned: list[Any], keep: bool) -> None:
        """Note example k, which is in the last slot, or take it back."""
        assert self._gram is not None
        if keep:
            one = slice(k, k + 1)
            groups = None if work.groups is None else work.groups[one]
            self._store.append(work.y[one], work.weight[one], work.ids[one], groups)
            self._per_class[int(work.y[k])] += 1
            return
        last = np.array([slot])
        for machine, _, _ in concerned:
            machine.core.take_out(last, slot + 1)
        self._gram.remove(last)

    def _sweep(self, work: _Work) -> None:
        """Let go the examples that are idle in all their heads.

        Those that were there before the batch only leave the heads for now: should the operation
        fail, they are still in their slots.
        """
        leaving = self._leaving()
        if not len(leaving):
            return
        old = leaving[leaving < work.before]
        if len(old):
            for machine in self._machines.values():
                machine.core.dismiss(old)
            work.dismissed.extend(old.tolist())
        new = leaving[leaving >= work.before]
        if len(new):
            self._take_out(new[::-1].copy())

    def _leaving(self) -> np.ndarray:
        """Return the slots of examples that are idle in all their heads, ascending."""
        idle = np.zeros(self.n, dtype=np.int64)
        heads = np.zeros(self.n, dtype=np.int64)
        for machine in self._machines.values():
            idle[machine.core.idle()] += 1
            heads[machine.core.slot] += 1
        leaving = (idle == heads) & (heads > 0)
        # Of every class one example stays, whatever happens.
        for code, count in Counter(self._store.y[leaving].astype(int).tolist()).items():
            if count == self._per_class[code]:
                leaving[np.flatnonzero(leaving & (self._store.y == code))[0]] = False
        slots = np.flatnonzero(leaving)
        self._per_class.subtract(self._store.y[slots].astype(int).tolist())
        return slots

    def _conclude(self, dismissed: list[int]) -> None:
        """Set the constants of the decision functions; let go who is idle or was `dismissed`.

        Heads without examples of a class go.
        """
        slots = np.sort(np.concatenate([self._leaving(), np.array(dismissed, dtype=np.int64)]))
        keys = set(self.plan.keys(sorted(self._classes())))
        self._machines = {key: m for key, m in self._machines.items() if key in keys}
        for machine in self._machines.values():
            machine.converged = machine.core.settle_mu() <= self._settings.tol
        if len(slots):
            self._take_out(slots[::-1].copy())
