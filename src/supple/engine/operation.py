"""One change of a state, as a transaction."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from types import TracebackType
from typing import Any, Self

import numpy as np
from scipy import sparse

from supple.engine.head import HeadState, Key
from supple.engine.state import State
from supple.engine.step import Run, Step
from supple.interrupts import Transaction
from supple.memory import Memory
from supple.progress import SILENCE
from supple.solvers import Route, SolveResult

__all__ = ["Operation"]


class Operation:
    """A transaction on the tables of a state.

    The examples held at its beginning stay in their slots until it has succeeded. Until then,
    those that leave have empty boxes or are in no head. New examples are appended. A rollback
    therefore truncates the tables to their former length and restores each head from a snapshot,
    without computing any kernel value.

    Parameters
    ----------
    state : State
    run : Run
    keep : list of callable, optional
        Receives the undo functions of a successful operation, in the order of its changes.
    """

    def __init__(
        self, state: State, run: Run, keep: list[Callable[[], None]] | None = None
    ) -> None:
        self.state = state
        self.run = run
        self._keep = keep
        self.before = state.n
        self.results: list[SolveResult] = []
        self.forgotten: list[Any] = []  # ids of examples that the memory let go
        self._kkt = 0.0
        self._iterations: Counter[Key] = Counter()
        self._leaving: list[int] = []  # slots of old examples that have left, still members
        self._dismissed: list[int] = []  # the same, members no longer
        self._protected: set[Key] = set()
        self._appended = self._weight_saved = False
        self._others: list[Callable[[], None]] = []

    # ------------------------------------------------------------------ begin and end

    def also_restore(self, restore: Callable[[], None]) -> None:
        """Also call `restore` if the operation fails."""
        self._others.append(restore)

    def __enter__(self) -> Self:
        self._start = time.perf_counter()
        self._transaction = Transaction(self.state.drop_derived)
        self.undo = self._transaction.__enter__()
        self.undo += [self.state.restorer(), *self._others]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            try:
                self._conclude()
            except BaseException:
                self._transaction.__exit__(*sys.exc_info())
                raise
            if self._keep is not None:
                self._keep += self.undo
        self._transaction.__exit__(kind, error, trace)

    def _conclude(self) -> None:
        """Remove the examples that have left: the last step, since it cannot be undone."""
        for key, number in self._iterations.items():
            if key in self.state.head_states:
                self.state.head_states[key].iterations = number
        if self._leaving or self._dismissed:
            leaving = np.sort([*self._leaving, *self._dismissed])
            if self._keep is not None:
                self._expect_return(leaving)
            self._take_out(leaving)

    def _expect_return(self, slots: np.ndarray) -> None:
        """Record how the examples at these ascending slots, which will leave, come back."""
        state, gram, store = self.state, self.state.gram, self.state.store
        assert gram is not None
        for head in state.head_states.values():
            self.protect(head)
        rows, records = state.points(slots), [store.record(slot) for slot in slots.tolist()]

        def put_back() -> None:
            # Each removal moves the last example into the freed slot: undo in reverse order.
            for k, slot in enumerate(slots.tolist()):
                if slot == gram.size:
                    gram.append(rows[k : k + 1])
                else:  # the one in its slot becomes the last again
                    gram.append(gram.rows(np.array([slot])))
                    gram.append(rows[k : k + 1])
                    gram.remove(np.array([slot]))
                store.insert(slot, records[k])

        self.undo.append(put_back)

    def step(self, action: str, ids: np.ndarray) -> Step:
        """Return the record of the operation."""
        heads = self.state.head_states.values()
        step = Step(
            action=action,
            ids=ids,
            route=max((r.route for r in self.results), default=Route.none).name,
            breakpoints=sum(r.breakpoints for r in self.results),
            iterations=sum(r.iterations for r in self.results),
            n_margin=sum(head.core.n_margin for head in heads),
            kkt=self._kkt,
            seconds=time.perf_counter() - self._start,
        )
        if self.forgotten:
            step = step._replace(forgotten=np.array(self.forgotten))
        return step

    # ------------------------------------------------------------------ examples

    def present(self) -> np.ndarray:
        """Return the slots of the examples that have not left, ascending."""
        slots = np.arange(self.state.n, dtype=np.int64)
        gone = [*self._leaving, *self._dismissed]
        return np.delete(slots, gone) if gone else slots

    @property
    def n_present(self) -> int:
        """Number of examples that have not left."""
        return self.state.n - len(self._leaving) - len(self._dismissed)

    def append(
        self,
        X: Any,
        y: np.ndarray,
        weight: np.ndarray,
        ids: np.ndarray,
        groups: np.ndarray | None,
    ) -> np.ndarray:
        """Add examples to the tables, not yet to the heads, and return their slots."""
        self._dismiss_leaving()
        state = self.state
        self.open_gram(X)
        assert state.gram is not None
        with self.run.progress or SILENCE:
            state.gram.append(X)
        slots = state.store.append(y, weight, ids, groups)
        state.store.count_arrivals(ids)
        return slots

    def merge(
        self, memory: Memory, slots: tuple[int, int]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Replace two examples of one class by one in the tables, not yet in the heads.

        The new one is their mean; if there is no mean or no id for it, the heavier one stays, of
        equal ones the later. Return its slot, its new weight, and the slots that leave.
        """
        store, pair = self.state.store, np.array(slots)
        weight, (one, other) = store.weight[pair], store.ids[pair].tolist()
        mixed = bool(store.groups[pair[0]] != store.groups[pair[1]])
        name, X = memory.name_of_next(store.ids), self.state.points(pair)
        if name is None or X.dtype == object:
            stays = int(weight[1] >= weight[0])
            into, leaving = pair[[stays]], pair[[1 - stays]]
        else:
            into, leaving = self._append_mean(X, pair, name), pair
        memory.joined((one, other), store.ids.item(into[0]), mixed=mixed)
        return into, weight.sum(keepdims=True), leaving

    def _append_mean(self, X: Any, pair: np.ndarray, name: Hashable) -> np.ndarray:
        """Add the weighted mean of two examples, with weight 0, and return its slot."""
        store = self.state.store
        weight = store.weight[pair]
        share = weight / weight.sum() if weight.any() else np.full(2, 0.5)
        y, groups = store.y[pair], store.groups[pair]
        group = groups[0] if groups[0] == groups[1] else None
        one = np.empty(1, dtype=store.ids.dtype)
        one[0] = name
        self._dismiss_leaving()
        self.open_gram(X)
        assert self.state.gram is not None
        self.state.gram.append(_mean(X, share))
        mean = y[:1] if y[0] == y[1] else np.array([share @ y])
        arrival = store.arrival[pair].max(keepdims=True)
        return store.append(mean, np.zeros(1), one, np.array([group], dtype=object), arrival)

    def open_gram(self, X: Any) -> None:
        """Make a Gram matrix for points like X if there is none; a rollback truncates it."""
        state, before = self.state, self.before
        if state.gram is None:
            state.gram = state.empty_gram(X)
        elif not self._appended:
            gram = state.gram
            self.undo.append(lambda: gram.truncate(before))
        if not self._appended:
            self.undo.append(lambda: state.store.truncate(before))
        self._appended = True

    def set_weight(self, slots: np.ndarray, weight: np.ndarray | float) -> None:
        """Give examples other weights in the table."""
        store = self.state.store
        if not self._weight_saved:
            self._weight_saved, values = True, store.weight[: self.before].copy()
            self.undo.append(lambda: store.set_weight(slice(0, len(values)), values))
        store.set_weight(slots, weight)

    def let_go(self, slots: np.ndarray) -> None:
        """Remove examples that are in no head, or have empty boxes and x = 0."""
        self.set_weight(slots, 0.0)
        new = slots >= self.before
        if not new.any():
            self._leaving += slots.tolist()
            return
        self._leaving += slots[~new].tolist()
        self._take_out(np.sort(slots[new]))

    def _dismiss_leaving(self) -> None:
        """Take examples that have left out of the heads before the operation goes on."""
        if not self._leaving:
            return
        slots = np.array(self._leaving, dtype=np.int64)
        for head in self.state.head_states.values():
            self.protect(head)
            head.core.dismiss(slots)
        self._dismissed += self._leaving
        self._leaving = []

    def _take_out(self, slots: np.ndarray) -> None:
        """Remove examples at ascending slots; each time the last one takes the freed slot."""
        state, falling = self.state, slots[::-1].copy()
        assert state.gram is not None
        state.store.expect_removals()
        self._take_out_of_heads(falling)
        state.gram.remove(falling)
        state.store.remove(falling)

    def _take_out_of_heads(self, slots: np.ndarray) -> None:
        for head in self.state.head_states.values():
            head.core.take_out(slots, self.state.n)

    # ------------------------------------------------------------------ heads

    def protect(self, head: HeadState) -> None:
        """Take a snapshot of a head, once, before it changes."""
        if head.key not in self._protected:
            self._protected.add(head.key)
            self.undo.append(head.restorer())

    def note(self, results: Mapping[Key, SolveResult]) -> None:
        """Record what the solvers did in heads, which are all optimal again."""
        self.results += results.values()
        self._kkt = max((r.kkt for r in results.values()), default=0.0)
        for key, result in results.items():
            self._iterations[key] += result.breakpoints + result.iterations


def _mean(X: Any, share: np.ndarray) -> Any:
    """Return the mean of two rows with these shares, in the form and precision of X."""
    if sparse.issparse(X):
        return (X[[0]] * share[0] + X[[1]] * share[1]).astype(X.dtype)
    return (share @ X.astype(np.float64)).astype(X.dtype)[None]
