"""The exact engine: the only writer of the state of an exact model.

Learning opens the boxes of new variables, unlearning closes them, re-weighting and retuning move
them; a solver then brings every head back to the optimum. The memory chooses which examples
are re-weighted and which leave. Each operation, with all that the memory orders, succeeds as a
whole or leaves the model as it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from supple.engine.audit import PROMISED
from supple.engine.head import Examples, HeadState, Key, start_together
from supple.engine.held import Held
from supple.engine.operation import Operation
from supple.engine.state import State
from supple.engine.step import Run, Step
from supple.engine.trial import Trial
from supple.errors import InexactWarning, InfeasibleError, UnknownIdError, warn_user
from supple.interrupts import Interruptible
from supple.kernels import Kernel
from supple.memory import Change, KeepAll, Memory
from supple.problems import Problem
from supple.progress import SILENCE
from supple.qp import HeadMembers
from supple.solvers import SolveResult

__all__ = ["Engine"]

_NOBODY = np.empty(0, dtype=np.int64)


class Engine:
    """Exact operations on a state.

    Parameters
    ----------
    state : State
    memory : Memory, optional
        Owned by this engine from now on. Default: KeepAll().
    """

    def __init__(self, state: State, memory: Memory | None = None) -> None:
        self.state = state
        self.memory = KeepAll() if memory is None else memory
        self.run = Run()
        self.trials: list[Trial] = []  # open ones, the innermost last

    def what_if(self) -> Trial:
        """Return a context that undoes all its operations at its end."""
        return Trial(self)

    def __getstate__(self) -> dict[str, Any]:
        return {
            "state": self.state.__getstate__(),
            "memory": self.memory.copied(),
            "run": self.run.alone(),
        }

    def __setstate__(self, parts: dict[str, Any]) -> None:
        self.state = State.__new__(State)
        self.state.__setstate__(parts["state"])
        self.memory, self.run, self.trials = parts["memory"], parts["run"], []

    # ------------------------------------------------------------------ operations

    def learn(
        self,
        X: Any,
        y: np.ndarray,
        weight: np.ndarray,
        ids: np.ndarray | None,
        groups: np.ndarray | None = None,
        times: np.ndarray | None = None,
    ) -> Step:
        """Add examples, and do what the memory orders."""
        n = X.shape[0]
        ids = self.state.number(ids, n)
        with self.operation() as op:
            self.memory.arrives(self.state.seen, n, times)
            self.obey(op, self.memory.before(Held(op)))
            portions = self.memory.portions(self.state.n, n)
            noun = "example" if len(portions) == n else "part of the batch"
            for number, part in enumerate(portions, start=1):
                if self.run.progress is not None:
                    self.run.progress.at(noun, number, len(portions))
                if len(portions) == 1:
                    self.add(op, X, y, weight, ids, groups)
                else:
                    own = None if groups is None else groups[part]
                    self.add(op, X[part], y[part], weight[part], ids[part], own)
                self.obey(op, self.memory.after(Held(op)))
            for change in self.memory.search(Held(op)):
                self.obey(op, change)
        return self.run.report(op.step("learn", ids))

    def unlearn(self, ids: np.ndarray) -> Step:
        """Remove examples, exactly as if they had never been learned."""
        slots = self.slots(ids)
        self._refuse_precomputed()
        with self.operation() as op:
            self.memory.forgets(Held(op), ids)
            self.change(op, Change(forget=slots))
        return self.run.report(op.step("unlearn", ids))

    def restart_without(self, ids: np.ndarray, kernel: Kernel) -> Step:
        """Remove examples, and learn the remaining ones anew with another kernel."""
        state = self.state
        leaving = self.slots(ids)
        self._refuse_precomputed()
        store = state.store
        counts = self._recount(store.y[leaving], store.weight[leaving], -1)
        staying = np.delete(np.arange(state.n, dtype=np.int64), leaving)
        X = state.points(staying)
        with self.operation() as op:
            self.memory.forgets(Held(op), ids)
            state.kernel = kernel
            state.settings = state.settings_for(kernel)
            state.replace_gram(X)
            state.store = store.part(staying)
            state.head_states = {}
            slots = np.arange(state.n, dtype=np.int64)
            self._reconcile(op, slots, state.store.weight, counts)
        if not self.trials:
            store.truncate(0)  # which overwrites it
        return self.run.report(op.step("unlearn", ids))

    def reweight(self, ids: np.ndarray, weight: np.ndarray) -> Step:
        """Give examples other weights."""
        slots = self.slots(ids)
        self._refuse_precomputed()
        with self.operation() as op:
            self.change(op, Change(slots, self.memory.reweights(ids, weight)))
        return self.run.report(op.step("reweight", ids))

    def retune(
        self,
        problem: Problem | None = None,
        kernel: Kernel | None = None,
        class_weight: Mapping[int, float] | None = None,
    ) -> Step:
        """Change hyper-parameters, starting from the present optimum.

        Raises if a head that has a solution would have none with the new values.
        """
        state = self.state
        with self.operation() as op:
            other_kernel = kernel is not None and kernel != state.kernel
            if kernel is not None and other_kernel:
                if state.gram is not None:
                    gram, old = state.gram, state.kernel
                    op.undo.append(lambda: gram.set_kernel(old))
                    gram.set_kernel(kernel)
                state.kernel, state.settings = kernel, state.settings_for(kernel)
            state.problem = problem or state.problem
            if class_weight is not None:
                state.class_weight = dict(class_weight)
            slots = np.arange(state.n, dtype=np.int64)
            ready = {key for key, head in state.head_states.items() if head.ready}
            if state.gram is not None:
                self._reconcile(
                    op, slots, state.store.weight, state.per_class, other_kernel=other_kernel
                )
            for key in ready & set(state.head_states):
                if not state.head_states[key].ready:
                    raise InfeasibleError(
                        f"These parameters have no solution: {state.head_states[key].reason}"
                    )
        return self.run.report(op.step("retune", state.ids))

    # ------------------------------------------------------------------ parts of an operation

    def operation(self) -> Operation:
        """Return a transaction in which `add`, `change` and `obey` may be called."""
        op = Operation(self.state, self.run, self.trials[-1].undo if self.trials else None)
        op.also_restore(self.memory.restorer())
        return op

    def slots(self, ids: np.ndarray) -> np.ndarray:
        """Return the slots of these examples; the memory explains why some are not held."""
        try:
            return self.state.slots(ids)
        except UnknownIdError as error:
            missing = ids[~self.state.holding(ids)]
            raise UnknownIdError(f"{error}{self.memory.fate(missing)}") from None

    def holding(self, ids: np.ndarray) -> np.ndarray:
        """Return which of these examples are held; raise if the memory has merged some of them."""
        held = self.state.holding(ids)
        if fate := self.memory.fate(ids[~held]):
            raise UnknownIdError(f"Not all of these ids are held.{fate}")
        return held

    def add(
        self,
        op: Operation,
        X: Any,
        y: np.ndarray,
        weight: np.ndarray,
        ids: np.ndarray,
        groups: np.ndarray | None,
    ) -> None:
        """Let examples join the heads."""
        slots = op.append(X, y, weight, ids, groups)
        counts = self._recount(y, weight, +1)
        self._reconcile(op, slots, self.state.store.weight, counts)

    def obey(self, op: Operation, change: Change | None) -> None:
        """Do what the memory has ordered."""
        if change is None:
            return
        if change.join is not None:
            change = Change(*op.merge(self.memory, change.join))
        op.forgotten += self.state.store.ids[change.forget].tolist()
        self.change(op, change)

    def change(self, op: Operation, change: Change) -> None:
        """Give examples other weights and let others go, in one move of the heads."""
        store, slots, leaving = self.state.store, change.slots, change.forget
        weight = store.weight.copy()
        weight[slots], weight[leaving] = change.weight, 0.0
        concerned = np.concatenate([slots, leaving]) if len(slots) else leaving
        concerned = np.sort(concerned)  # makes the result independent of the order of a set
        counts = self._recount(store.y[concerned], store.weight[concerned], -1)
        if len(slots):
            counts = self._recount(store.y[slots], change.weight, +1, counts)
        self._reconcile(op, concerned, weight, counts, leaving=leaving)
        if len(slots):
            op.set_weight(slots, change.weight)
        if len(leaving):
            op.let_go(leaving)

    def _refuse_precomputed(self) -> None:
        assert self.state.gram is not None
        self.state.gram.refuse_updates()

    def _recount(
        self, y: np.ndarray, weight: np.ndarray, sign: int, counts: Counter[int] | None = None
    ) -> Counter[int]:
        """Return the examples with positive weight per class after adding or removing some."""
        counts = self.state.per_class if counts is None else counts
        if not self.state.problem.labelled:
            return counts
        counts = counts.copy()
        for code, number in enumerate(np.bincount(y[weight > 0.0].astype(np.intp)).tolist()):
            if number:
                counts[code] += sign * number
        return counts

    def _reconcile(
        self,
        op: Operation,
        slots: np.ndarray,
        weight: np.ndarray,
        counts: Counter[int],
        *,
        leaving: np.ndarray = _NOBODY,
        other_kernel: bool = False,
    ) -> None:
        """Bring all heads to the optimum for these weights; `slots` are the changed examples."""
        state, settings = self.state, self.state.settings
        labels = sorted(code for code, count in counts.items() if count > 0)
        keys = state.plan.keys(labels) if op.n_present > len(leaving) else []
        assert state.gram is not None
        examples = Examples(state.store.y, weight, state.class_weight, state.gram, state.plan)
        state.gram.core.threads = self.run.threads
        problem = state.problem.for_weight(weight)
        moving = slots if problem is state.problem else op.present()
        y_moving = state.store.y[moving]
        heads: dict[Key, HeadState] = {}
        fresh: dict[Key, HeadState] = {}
        concerned: dict[Key, np.ndarray] = {}
        for key in keys:
            head = state.head_states.get(key)
            if head is None:
                head = fresh[key] = HeadState.empty(key, state.gram, state.problem)
            else:
                concerned[key] = moving[state.plan.members(key, y_moving)]
            heads[key] = head
        results: dict[Key, SolveResult] = {}
        try:
            if fresh:  # rare in a stream
                parts = self._members_of_new(op, list(fresh), leaving)
                results = self._start(fresh, parts, examples, problem)
                if not results:
                    concerned |= zip(fresh, parts.split(parts.places), strict=True)
            for number, (key, members) in enumerate(concerned.items(), start=1):
                if not (len(members) or problem.needs_mass):
                    continue
                if self.run.progress is not None:
                    self.run.progress.at("machine", number, len(concerned))
                head = heads[key]
                op.protect(head)
                only_leave = len(leaving) == len(slots) and head.ready and not problem.needs_mass
                with Interruptible(), self.run.progress or SILENCE:
                    if only_leave and len(leaving):
                        results[key] = head.close(members, problem, settings)
                    else:
                        results[key] = head.update(
                            examples, members, problem, settings, other_kernel=other_kernel
                        )
        finally:
            state.gram.core.release()
        state.head_states = heads
        if any(result.indefinite for result in results.values()):
            self._go_on_inexactly(op, slots, weight, counts, leaving)
            return
        state.per_class = counts
        op.note(results)
        self._warn(max((r.kkt for r in results.values() if not r.within_tolerance), default=0.0))

    def _start(
        self,
        fresh: Mapping[Key, HeadState],
        parts: HeadMembers,
        examples: Examples,
        problem: Problem,
    ) -> dict[Key, SolveResult]:
        """Bring all new heads to their first optimum, or none if one has to wait."""
        if not self.state.settings.can_batch_start:
            return {}
        with Interruptible(), self.run.progress or SILENCE:
            results = start_together(
                list(fresh.values()), parts, examples, problem, self.state.settings
            )
        return dict(zip(fresh, results, strict=True)) if results else {}

    def _members_of_new(self, op: Operation, keys: list[Key], leaving: np.ndarray) -> HeadMembers:
        """Return the slots of the examples that take part in these heads, and their targets."""
        staying = op.present()
        if len(leaving):
            staying = staying[~np.isin(staying, leaving)]
        y = self.state.store.y
        if len(staying) == len(y):
            return self.state.plan.members_of(keys, y)
        parts = self.state.plan.members_of(keys, y[staying])
        return parts._replace(places=staying[parts.places])

    def _go_on_inexactly(
        self,
        op: Operation,
        slots: np.ndarray,
        weight: np.ndarray,
        counts: Counter[int],
        leaving: np.ndarray,
    ) -> None:
        """Solve again by SMO alone, not exactly: the kernel is indefinite."""
        warn_user(
            "The kernel matrix is not positive semi-definite: the model is a stationary point "
            "found by SMO, with no claim of exactness (exact_ is False).",
            InexactWarning,
        )
        self.state.settings = self.state.settings._replace(exact=False)
        self._reconcile(op, slots, weight, counts, leaving=leaving)

    def _warn(self, kkt: float) -> None:
        """Warn if the KKT violation `kkt` is too large, or if an optimum has no margin."""
        settings = self.state.settings
        limit = settings.max_iter
        if kkt > 0.0 and (limit >= 0 or not settings.exact):
            cause = f"max_iter={limit}" if limit >= 0 else "built-in limit on iterations"
            warn_user(  # in scikit-learn's words, by which users filter warnings
                f"Solver terminated early ({cause}).  Consider pre-processing your data "
                "with StandardScaler or MinMaxScaler. The largest violation of the optimality "
                f"conditions is {kkt:.1e} of the problem's scale (see 'kkt_violation_'): raise "
                "max_iter, or lower C.",
                self.run.not_converged,
            )
        elif kkt > 0.0:
            warn_user(
                f"The optimality conditions hold to {kkt:.1e} of the problem's scale, not to "
                f"{PROMISED:g} as promised (see 'kkt_violation_'; exact_ is False): rounding "
                "allows no better. Scale the features, or lower C.",
                self.run.not_converged,
            )
        heads = self.state.head_states.values()
        if self.state.problem.groups == 2 and any(
            head.ready and head.converged and head.marginless for head in heads
        ):
            warn_user(
                f"{self.state.problem} leaves no margin between the classes: the decision "
                "function is 0 up to rounding, and predictions mean nothing (exact_ is False). "
                "Lower nu, or choose a kernel that separates the classes better.",
                InexactWarning,
            )
