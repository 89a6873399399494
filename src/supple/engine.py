"""The engine: the only writer of a model's state.

Learning opens the boxes of new variables, unlearning closes them, re-weighting and retuning move
them; a solver then brings every head back to the optimum. Each operation succeeds as a whole or
leaves the model as it was.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable as CallableType
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from supple.audit import PROMISED, Audit, audit
from supple.decision import Rule, prepare
from supple.errors import InexactWarning, InfeasibleError, NotConvergedWarning, warn_user
from supple.gram import Gram, gram_for
from supple.interrupts import Interruptible, Transaction
from supple.kernels import Kernel
from supple.machine import Examples, HeadView, Key, Machine, Plan, start_together
from supple.problems import Problem
from supple.progress import SILENCE, Progress
from supple.qp import Parts
from supple.solvers import Outcome, Settings
from supple.store import Store

__all__ = ["Engine", "HeadView", "Step"]

_RESERVE = 1 << 20  # bytes set aside for going back to a checkpoint, beside those for the points


class Step(NamedTuple):
    """The record of one operation."""

    action: str
    ids: np.ndarray
    solver: str
    breakpoints: int
    iterations: int
    n_margin: int
    kkt: float
    seconds: float

    def and_then(self, other: Step) -> Step:
        """Return the record of this operation and `other` as one."""
        return self._replace(
            solver=max(self.solver, other.solver),  # "smo" says more than "path" than "none"
            breakpoints=self.breakpoints + other.breakpoints,
            iterations=self.iterations + other.iterations,
            n_margin=other.n_margin,
            kkt=other.kkt,
            seconds=self.seconds + other.seconds,
        )


class Engine:
    """Exact machines on the examples held, one per head of the plan.

    Parameters
    ----------
    problem : Problem
        One of CSVC, NuSVC, EpsSVR, OneClass, SVDD.
    kernel : Kernel
    plan : Plan
    cache_bytes : int
        Budget of the kernel rows that all heads share.
    tol : float
        Gap at which SMO hands over to the polish, or stops if the kernel is indefinite.
    max_iter : int
        Limit on SMO iterations per head and operation, -1 for none.
    shrinking : bool
    class_weight : mapping of class code to weight, optional
    simple : bool
        Whether SimpleSVM solves instead of path, SMO and polish.
    lasting : bool
        Compute every kernel value once, when the later of its two examples arrives; the cache must
        have room for the rows of all examples.
    """

    def __init__(
        self,
        problem: Problem,
        kernel: Kernel,
        plan: Plan,
        *,
        cache_bytes: int,
        tol: float,
        max_iter: int,
        shrinking: bool,
        class_weight: Mapping[int, float] | None = None,
        simple: bool = False,
        lasting: bool = False,
    ) -> None:
        self.problem = problem
        self.kernel = kernel
        self.plan = plan
        self.class_weight = dict(class_weight or {})
        self.threads = 1  # that operations may use from now on
        self.not_converged: type[Warning] = NotConvergedWarning  # how to warn of it
        self.listeners: list[CallableType[[Step], None]] = []
        self.progress: Progress | None = None  # of the present operation, if somebody looks on
        self._cache_bytes = cache_bytes
        self._lasting = lasting
        self._evaluated = 0  # kernel values, before the present Gram matrix was made
        self._settings = Settings(
            tol,
            max_iter,
            shrinking,
            kernel.definite is not False,
            kernel.definite is True,
            simple,
        )
        self._store = Store()
        self._gram: Gram | None = None
        self._machines: dict[Key, Machine] = {}
        self._per_class: Counter[int] = Counter()  # examples with positive weight
        self._audited: list[Audit] | None = None  # since the latest operation
        self._rule: Rule | None = None  # the same

    # ------------------------------------------------------------------ reading

    @property
    def n(self) -> int:
        """Number of examples held."""
        return len(self._store)

    @property
    def seen(self) -> int:
        """Number of examples ever learned."""
        return self._store.seen

    @property
    def ids(self) -> np.ndarray:
        """Ids in slot order."""
        return self._store.ids.copy()

    @property
    def groups(self) -> np.ndarray:
        """Groups in slot order, None for examples of no group."""
        return self._store.groups.copy()

    @property
    def y(self) -> np.ndarray:
        """Class codes or targets in slot order."""
        return self._store.y.copy()

    @property
    def weight(self) -> np.ndarray:
        """Sample weights in slot order."""
        return self._store.weight.copy()

    @property
    def n_classes(self) -> int:
        """Number of classes that have an example with positive weight."""
        return sum(count > 0 for count in self._per_class.values())

    def weight_of(self, ids: np.ndarray) -> np.ndarray:
        """Return the sample weights of these examples."""
        return np.asarray(self._store.weight[self._store.slots(ids)])

    @property
    def arrival(self) -> np.ndarray:
        """How many examples had come before each, in slot order."""
        return self._store.arrival.copy()

    def holds(self, ids: np.ndarray) -> bool:
        """Whether any of these examples is held."""
        return any(map(self._store.holds, ids.tolist()))

    def holding(self, ids: np.ndarray) -> np.ndarray:
        """Return which of these examples are held."""
        return self._store.holding(ids)

    def slots(self, ids: np.ndarray) -> np.ndarray:
        """Return the positions of these examples in `ids`."""
        return self._store.slots(ids)

    def members(self, groups: np.ndarray, *, ignore: bool) -> np.ndarray:
        """Return the ids of all examples of these groups; `ignore` groups that have none."""
        return np.asarray(self._store.ids[self._store.members(groups, ignore=ignore)])

    def scaled_by(self, ids: np.ndarray) -> bool:
        """Whether the scale of the kernel was computed from any of these examples."""
        return bool(self._store.scaling[self._store.slots(ids)].any())

    @property
    def kernel_evaluations(self) -> int:
        """Kernel values computed so far to learn."""
        return self._evaluated + (0 if self._gram is None else int(self._gram.core.evaluations))

    @property
    def exact(self) -> bool:
        """Whether every head is known to be at its exact optimum, by an audit from scratch.

        Never with an indefinite kernel, whose optimum is not unique.
        """
        return self._settings.exact and all(found.exact for found in self._audits())

    @property
    def kkt_violation(self) -> float:
        """The largest KKT violation of a head relative to its scale, from scratch."""
        return max((found.kkt for found in self._audits()), default=0.0)

    def _audits(self) -> list[Audit]:
        """Return the audit of every head, made at the first question after an operation."""
        if self._audited is None:
            gram = self._gram
            assert gram is not None or not self._machines
            self._audited = [
                audit(machine.core, gram, self.kernel)
                for machine in self._machines.values()
                if gram is not None
            ]
        return self._audited

    @property
    def converged(self) -> bool:
        """Whether the latest operation met the optimality conditions as promised."""
        return all(machine.converged for machine in self._machines.values())

    @property
    def waiting(self) -> str:
        """Why a head has no solution yet, "" if all have one."""
        return next((m.reason for m in self._machines.values() if not m.ready), "")

    @property
    def heads(self) -> dict[Key, HeadView]:
        """Views of the heads in plan order."""
        return {key: HeadView(m, self.problem) for key, m in self._machines.items()}

    @property
    def n_iter(self) -> dict[Key, int]:
        """Breakpoints or SMO iterations that the latest update took in each head."""
        return {key: machine.iterations for key, machine in self._machines.items()}

    def points(self, slots: np.ndarray) -> Any:
        """Return the feature vectors at these slots."""
        assert self._gram is not None
        return self._gram.rows(np.ascontiguousarray(slots, dtype=np.int64))

    def kernel_values(self, X: Any, slots: np.ndarray) -> np.ndarray:
        """Return k(z, x) of the rows z of X and the examples x at these slots."""
        assert self._gram is not None
        return self._gram.block(slots, X)

    def diagonal(self, slots: np.ndarray) -> np.ndarray:
        """Return k(x, x) of the examples at these slots."""
        assert self._gram is not None
        return self._gram.diagonal(slots)

    def decision(self, X: Any, threads: int = 1) -> np.ndarray:
        """Return the decision values of the rows of X, one column per head.

        Columns of heads that are not ready are NaN. Several may ask at once: of rules that they
        prepare at the same time, which are the same, one is kept.
        """
        rule = self._rule
        if rule is None:
            rule = self._rule = self._make_rule()
        return rule.decide(X, threads)

    def _make_rule(self) -> Rule:
        """Return the decision rule of the present state."""
        assert self._gram is not None
        return prepare(
            self._machines, self.problem, self.plan, self._store.y, self._gram, self.kernel
        )

    def __getstate__(self) -> dict[str, Any]:
        # A copy throughout: the engine may go on before the state is written to a file.
        # Those who listen or look on belong to this engine only.
        state = self.__dict__ | {"listeners": [], "progress": None, "_audited": None}
        state["_rule"] = None
        state["_evaluated"] = self.kernel_evaluations
        state["_store"], state["_per_class"] = self._store.copied(), self._per_class.copy()
        state["_gram"] = None if self._gram is None else self.points(np.arange(self.n))
        state["_machines"] = {key: m.to_arrays() for key, m in self._machines.items()}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        X = state["_gram"]
        if X is None:
            return
        self._gram = self._empty_gram(X)
        self._gram.append(X)
        self._machines = {
            key: Machine.from_arrays(key, self._gram, self.problem, arrays)
            for key, arrays in state["_machines"].items()
        }

    def checkpoint(self) -> CallableType[[], None]:
        """Return a function that puts the engine back to its present state.

        For a sequence of operations that is to succeed or fail as a whole. What has failed may be
        a kernel written in Python, or memory that is short: the way back needs neither.
        """
        state = self.__getstate__() | {"_machines": {}}
        machines = [(key, m.core.save(), m.record) for key, m in self._machines.items()]
        X, state["_gram"] = state["_gram"], None
        size = 0 if X is None else X.data.nbytes
        diagonal = None if self._gram is None else self._gram.diagonal(np.arange(self.n))
        reserve: np.ndarray | None = np.empty(_RESERVE + 4 * size, dtype=np.uint8)

        def back() -> None:
            nonlocal reserve
            reserve = None
            self.__dict__.update(state | {"listeners": self.listeners, "progress": self.progress})
            if X is None:
                return
            gram = self._empty_gram(X)
            gram.core.lasting = False  # rows are computed when they are needed again
            gram.append(X, diagonal)
            gram.core.lasting = self._lasting
            self._gram = gram
            self._evaluated -= int(gram.core.evaluations)
            for key, snapshot, record in machines:
                machine = self._machines[key] = Machine.empty(key, gram, self.problem)
                machine.core.restore(snapshot)
                machine.record = record

        return back

    # ------------------------------------------------------------------ writing

    def note_iterations(self, numbers: Mapping[Key, int]) -> None:
        """Let `n_iter` tell of several operations: what they took in each head together."""
        for key, machine in self._machines.items():
            machine.iterations = numbers.get(key, 0)

    def number(self, ids: np.ndarray | None, count: int) -> np.ndarray:
        """Return ids for new examples: those given, if they are free, or the next ones."""
        if ids is None:
            return self._store.new_ids(count)
        self._store.check_new(ids)
        return ids

    def learn(
        self,
        X: Any,
        y: np.ndarray,
        weight: np.ndarray,
        ids: np.ndarray | None,
        groups: np.ndarray | None = None,
    ) -> Step:
        """Add examples."""
        start = time.perf_counter()
        ids = self.number(ids, X.shape[0])
        first = self._gram is None
        with Transaction(self._drop_derived) as undo:
            if self._gram is None:
                self._gram = self._empty_gram(X)
                undo.append(self._drop_gram)
            gram, before = self._gram, len(self._store)
            if not first:
                undo.append(lambda: gram.truncate(before))
            with self.progress or SILENCE:
                gram.append(X)
            undo.append(lambda: self._store.truncate(before))
            slots = self._store.append(y, weight, ids, groups)
            counts = self._recount(y, weight, +1)
            outcomes = self._reconcile(slots, self._store.weight, counts, undo)
            self._store.count_arrivals(ids)
            self._per_class = counts
        return self._report("learn", ids, outcomes, start)

    def unlearn(self, ids: np.ndarray) -> Step:
        """Remove examples, exactly as if they had never been learned."""
        start = time.perf_counter()
        slots = np.sort(self._store.slots(ids))  # the order of a set changes no last digit
        self._refuse_precomputed()
        weight = self._store.weight.copy()
        weight[slots] = 0.0
        counts = self._recount(self._store.y[slots], self._store.weight[slots], -1)
        with Transaction(self._drop_derived) as undo:
            outcomes = self._reconcile(slots, weight, counts, undo, leaving=True)
            self._take_out(slots[::-1].copy())
            self._per_class = counts
        return self._report("unlearn", ids, outcomes, start)

    def restart_without(self, ids: np.ndarray, kernel: Kernel) -> Step:
        """Remove examples, and learn those that are left anew with another kernel."""
        start = time.perf_counter()
        leaving = self._store.slots(ids)
        self._refuse_precomputed()
        counts = self._recount(self._store.y[leaving], self._store.weight[leaving], -1)
        staying = np.delete(np.arange(self.n, dtype=np.int64), leaving)
        X = self.points(staying)
        with Transaction(self._drop_derived) as undo:
            before = self.__dict__.copy()
            undo.append(lambda: self.__dict__.update(before))
            self._evaluated = self.kernel_evaluations
            self.kernel = kernel
            self._settings = self._settings_for(kernel)
            self._gram = self._empty_gram(X)
            self._gram.append(X)
            self._store = self._store.part(staying)
            self._machines = {}
            slots = np.arange(self.n, dtype=np.int64)
            outcomes = self._reconcile(slots, self._store.weight, counts, undo)
            self._per_class = counts
        before["_store"].truncate(0)  # which overwrites it
        return self._report("unlearn", ids, outcomes, start)

    def note_scale(self) -> None:
        """Note that the scale of the kernel comes from the examples held that carry weight."""
        self._store.set_scaling(self._store.weight > 0.0)

    def forget_scale(self) -> None:
        """Forget where the scale of the kernel comes from."""
        self._store.set_scaling(False)

    def reweight(self, ids: np.ndarray, weight: np.ndarray) -> Step:
        """Give examples other weights."""
        start = time.perf_counter()
        slots = self._store.slots(ids)
        order = np.argsort(slots)
        slots, weight = slots[order], weight[order]
        self._refuse_precomputed()
        before = self._store.weight[slots]
        y = self._store.y[slots]
        changed = self._store.weight.copy()
        changed[slots] = weight
        counts = self._recount(y, before, -1)
        counts.update(self._recount(y, weight, +1) - self._per_class)
        with Transaction(self._drop_derived) as undo:
            outcomes = self._reconcile(slots, changed, counts, undo)
            self._store.set_weight(slots, weight)
            self._per_class = counts
        return self._report("reweight", ids, outcomes, start)

    def retune(
        self,
        problem: Problem | None = None,
        kernel: Kernel | None = None,
        class_weight: Mapping[int, float] | None = None,
    ) -> Step:
        """Change hyper-parameters, starting from the present optimum.

        Values for which a machine that works now would have no solution are refused.
        """
        start = time.perf_counter()
        with Transaction(self._drop_derived) as undo:
            before = (self.problem, self.kernel, self.class_weight, self._settings)
            undo.append(lambda: self._set_parameters(*before))
            if kernel is not None and kernel != self.kernel and self._gram is not None:
                gram, old = self._gram, self.kernel
                undo.append(lambda: gram.set_kernel(old))
                gram.set_kernel(kernel)
            other_kernel = kernel is not None and kernel != self.kernel
            settings = self._settings
            if other_kernel and kernel is not None:
                settings = self._settings_for(kernel)
            self._set_parameters(
                problem or self.problem,
                kernel or self.kernel,
                self.class_weight if class_weight is None else dict(class_weight),
                settings,
            )
            slots = np.arange(self.n, dtype=np.int64)
            ready = {key for key, machine in self._machines.items() if machine.ready}
            outcomes = self._reconcile(
                slots, self._store.weight, self._per_class, undo, other_kernel=other_kernel
            )
            for key in ready & set(self._machines):
                if not self._machines[key].ready:
                    raise InfeasibleError(
                        f"These parameters have no solution: {self._machines[key].reason}"
                    )
        return self._report("retune", self.ids, outcomes, start)

    # ------------------------------------------------------------------ parts of an operation

    def _empty_gram(self, X: Any) -> Gram:
        gram = gram_for(self.kernel, X, self._cache_bytes)
        gram.core.lasting = self._lasting
        return gram

    def _drop_gram(self) -> None:
        self._gram = None

    def _refuse_precomputed(self) -> None:
        assert self._gram is not None
        self._gram.refuse_updates()

    def _drop_derived(self) -> None:
        self._audited = self._rule = None

    def _set_parameters(
        self,
        problem: Problem,
        kernel: Kernel,
        class_weight: dict[int, float],
        settings: Settings,
    ) -> None:
        self.problem, self.kernel = problem, kernel
        self.class_weight, self._settings = class_weight, settings

    def _settings_for(self, kernel: Kernel) -> Settings:
        return replace(
            self._settings, exact=kernel.definite is not False, trusted=kernel.definite is True
        )

    def _recount(self, y: np.ndarray, weight: np.ndarray, sign: int) -> Counter[int]:
        """Return the examples with positive weight per class after adding or removing some."""
        if not self.problem.labelled:
            return self._per_class
        counts = self._per_class.copy()
        for code, number in enumerate(np.bincount(y[weight > 0.0].astype(np.intp)).tolist()):
            if number:
                counts[code] += sign * number
        return counts

    def _reconcile(
        self,
        slots: np.ndarray,
        weight: np.ndarray,
        counts: Counter[int],
        undo: list[CallableType[[], None]],
        *,
        leaving: bool = False,
        other_kernel: bool = False,
    ) -> list[Outcome]:
        """Bring all heads to the optimum for these weights; `slots` are the examples concerned."""
        labels = sorted(code for code, count in counts.items() if count > 0)
        left = self.n - (len(slots) if leaving else 0)
        keys = self.plan.keys(labels) if left else []
        machines, fresh, concerned = {}, {}, {}
        previous = self._machines
        assert self._gram is not None
        examples = Examples(self._store.y, weight, self.class_weight, self._gram, self.plan)
        self._gram.core.threads = self.threads
        problem = self.problem.for_weight(weight)
        moving = slots if problem is self.problem else np.arange(self.n, dtype=np.int64)
        y_changed = self._store.y[moving]
        for key in keys:
            machine = self._machines.get(key)
            if machine is None:
                machine = fresh[key] = Machine.empty(key, self._gram, self.problem)
            else:
                concerned[key] = moving[self.plan.members(key, y_changed)]
                undo.append(machine.restorer())
            machines[key] = machine
        if fresh:  # which is rare in a stream
            parts = self._parts_of_new(list(fresh), slots if leaving else None)
        try:
            outcomes: list[Outcome] = []
            if fresh and self._settings.together:
                with Interruptible(), self.progress or SILENCE:
                    outcomes = start_together(
                        list(fresh.values()), parts, examples, problem, self._settings
                    )
            if fresh and not outcomes:
                concerned |= zip(fresh, parts.split(parts.places), strict=True)
            for number, (key, members) in enumerate(concerned.items(), start=1):
                machine = machines[key]
                if len(members) or problem.needs_mass:
                    if self.progress is not None:
                        self.progress.at("machine", number, len(concerned))
                    with Interruptible(), self.progress or SILENCE:
                        if leaving and machine.ready and not problem.needs_mass:
                            outcome = machine.close(members, problem, self._settings)
                        else:
                            outcome = machine.update(
                                examples,
                                members,
                                problem,
                                self._settings,
                                other_kernel=other_kernel,
                            )
                    outcomes.append(outcome)
        finally:
            self._gram.core.release()
        undo.append(lambda: setattr(self, "_machines", previous))
        self._machines = machines
        if any(outcome.indefinite for outcome in outcomes):
            return self._go_on_inexactly(slots, weight, counts, undo, leaving)
        self._warn(max((o.kkt for o in outcomes if not o.kept), default=0.0))
        return outcomes

    def _parts_of_new(self, keys: list[Key], leaving: np.ndarray | None) -> Parts:
        """Return the slots of the examples that take part in these heads, and their targets."""
        if leaving is None:
            return self.plan.parts(keys, self._store.y)
        staying = np.delete(np.arange(self.n), leaving)
        parts = self.plan.parts(keys, self._store.y[staying])
        return parts._replace(places=staying[parts.places])

    def _go_on_inexactly(
        self,
        slots: np.ndarray,
        weight: np.ndarray,
        counts: Counter[int],
        undo: list[CallableType[[], None]],
        leaving: bool,
    ) -> list[Outcome]:
        """Solve again by SMO alone, without a claim of exactness: the kernel is indefinite."""
        warn_user(
            "The kernel matrix is not positive semi-definite: the model is a stationary point "
            "found by SMO, with no claim of exactness (exact_ is False).",
            InexactWarning,
        )
        settings = self._settings
        undo.append(lambda: setattr(self, "_settings", settings))
        self._settings = replace(settings, exact=False)
        return self._reconcile(slots, weight, counts, undo, leaving=leaving)

    def _take_out(self, slots: np.ndarray) -> None:
        """Remove examples whose variables are all 0; each time the last one takes the slot."""
        assert self._gram is not None
        self._store.expect_removals()
        for machine in self._machines.values():
            machine.core.take_out(slots, self.n)
        self._gram.remove(slots)
        self._store.remove(slots)

    def _warn(self, kkt: float) -> None:
        """Warn if a head has ended `kkt` from its optimum, or has an optimum without a margin."""
        limit = self._settings.max_iter
        if kkt > 0.0 and (limit >= 0 or not self._settings.exact):
            cause = f"max_iter={limit}" if limit >= 0 else "built-in limit on iterations"
            warn_user(  # in scikit-learn's words, by which users filter warnings
                f"Solver terminated early ({cause}).  Consider pre-processing your data "
                "with StandardScaler or MinMaxScaler. The largest violation of the optimality "
                f"conditions is {kkt:.1e} of the problem's scale (see 'kkt_violation_'): raise "
                "max_iter, or lower C.",
                self.not_converged,
            )
        elif kkt > 0.0:
            warn_user(
                f"The optimality conditions hold to {kkt:.1e} of the problem's scale, not to "
                f"{PROMISED:g} as promised (see 'kkt_violation_'; exact_ is False): rounding "
                "allows no better. Scale the features, or lower C.",
                self.not_converged,
            )
        if self.problem.groups == 2 and any(
            m.ready and m.converged and m.core.marginless for m in self._machines.values()
        ):
            warn_user(
                f"{self.problem} leaves no margin between the classes: the decision function is 0 "
                "up to rounding, and predictions mean nothing (exact_ is False). Lower nu, or "
                "choose a kernel that separates the classes better.",
                InexactWarning,
            )

    def _report(self, action: str, ids: np.ndarray, outcomes: list[Outcome], start: float) -> Step:
        solvers, breakpoints, iterations, kkt, *_ = zip(*outcomes or [Outcome("none")], strict=True)
        step = Step(
            action=action,
            ids=ids,
            solver=next((s for s in ("smo", "path", "simple", "lasvm") if s in solvers), "none"),
            breakpoints=sum(breakpoints),
            iterations=sum(iterations),
            n_margin=sum(m.core.n_margin for m in self._machines.values()),
            kkt=max(kkt),
            seconds=time.perf_counter() - start,
        )
        for listener in self.listeners:
            listener(step)
        return step
