"""The state of a model: examples, kernel matrix, heads. Only operations change it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from supple.engine.audit import Audit, audit
from supple.engine.decision import DecisionFunctions, prepare
from supple.engine.head import HeadReader, HeadState, Key, Plan
from supple.gram import Gram, gram_for
from supple.kernels import Kernel
from supple.problems import Problem
from supple.solvers import Settings
from supple.store import Store

__all__ = ["State"]


class State:
    """The examples held and one head for each binary machine of the plan.

    Parameters
    ----------
    problem : Problem
        One of CSVC, NuSVC, EpsSVR, OneClass, SVDD.
    kernel : Kernel
    plan : Plan
    settings : Settings
        How the solvers run.
    cache_bytes : int
        Budget of the kernel values that all heads share.
    class_weight : mapping of class code to weight, optional
    keep_all_rows : bool
        Compute every kernel value once, when the later of its two examples arrives; the cache must
        have room for the rows of all examples.
    """

    def __init__(
        self,
        problem: Problem,
        kernel: Kernel,
        plan: Plan,
        settings: Settings,
        *,
        cache_bytes: int,
        class_weight: Mapping[int, float] | None = None,
        keep_all_rows: bool = False,
    ) -> None:
        self.problem = problem
        self.kernel = kernel
        self.plan = plan
        self.settings = settings
        self.class_weight = dict(class_weight or {})
        self.store = Store()
        self.gram: Gram | None = None
        self.head_states: dict[Key, HeadState] = {}
        self.per_class: Counter[int] = Counter()  # examples with positive weight
        self._cache_bytes = cache_bytes
        self._keep_all_rows = keep_all_rows
        self._evaluated = 0  # kernel values computed before the present Gram matrix was made
        # Derived after the latest operation.
        self._audited: list[Audit] | None = None
        self._functions: DecisionFunctions | None = None

    # ------------------------------------------------------------------ examples

    @property
    def n(self) -> int:
        """Number of examples held."""
        return len(self.store)

    @property
    def seen(self) -> int:
        """Number of examples ever learned."""
        return self.store.seen

    @property
    def ids(self) -> np.ndarray:
        """Ids in slot order."""
        return self.store.ids.copy()

    @property
    def groups(self) -> np.ndarray:
        """Groups in slot order, None for examples of no group."""
        return self.store.groups.copy()

    @property
    def y(self) -> np.ndarray:
        """Class codes or targets in slot order."""
        return self.store.y.copy()

    @property
    def weight(self) -> np.ndarray:
        """Sample weights in slot order."""
        return self.store.weight.copy()

    @property
    def n_classes(self) -> int:
        """Number of classes that have an example with positive weight."""
        return sum(count > 0 for count in self.per_class.values())

    def holds(self, ids: np.ndarray) -> bool:
        """Whether any of these examples is held."""
        return any(map(self.store.holds, ids.tolist()))

    def holding(self, ids: np.ndarray) -> np.ndarray:
        """Return which of these examples are held."""
        return self.store.holding(ids)

    def slots(self, ids: np.ndarray) -> np.ndarray:
        """Return the positions of these examples in `ids`."""
        return self.store.slots(ids)

    def members(self, groups: np.ndarray, *, ignore: bool) -> np.ndarray:
        """Return the ids of all examples of these groups; `ignore` groups that have none."""
        return np.asarray(self.store.ids[self.store.members(groups, ignore=ignore)])

    def number(self, ids: np.ndarray | None, count: int) -> np.ndarray:
        """Return ids for new examples: those given, if they are free, or the next ones."""
        if ids is None:
            return self.store.new_ids(count)
        self.store.check_new(ids)
        return ids

    # ------------------------------------------------------------------ scale of the kernel

    def scaled_by(self, ids: np.ndarray) -> bool:
        """Whether the scale of the kernel was computed from any of these examples."""
        return bool(self.store.scaling[self.store.slots(ids)].any())

    def note_scale(self) -> None:
        """Note that the scale of the kernel comes from the examples held that carry weight."""
        self.store.set_scaling(self.store.weight > 0.0)

    def forget_scale(self) -> None:
        """Note that the scale of the kernel comes from no example held."""
        self.store.set_scaling(False)

    # ------------------------------------------------------------------ kernel values

    @property
    def kernel_evaluations(self) -> int:
        """Kernel values computed so far to learn."""
        return self._evaluated + (0 if self.gram is None else int(self.gram.core.evaluations))

    def count_evaluations(self, number: int) -> None:
        """Set `kernel_evaluations`."""
        self._evaluated += number - self.kernel_evaluations

    def points(self, slots: np.ndarray) -> Any:
        """Return the feature vectors at these slots."""
        assert self.gram is not None
        return self.gram.rows(np.ascontiguousarray(slots, dtype=np.int64))

    def kernel_values(self, X: Any, slots: np.ndarray) -> np.ndarray:
        """Return k(z, x) of the rows z of X and the examples x at these slots."""
        assert self.gram is not None
        return self.gram.block(slots, X)

    def diagonal(self, slots: np.ndarray) -> np.ndarray:
        """Return k(x, x) of the examples at these slots."""
        assert self.gram is not None
        return self.gram.diagonal(slots)

    def empty_gram(self, X: Any) -> Gram:
        """Return an empty Gram matrix for points like those of X."""
        gram = gram_for(self.kernel, X, self._cache_bytes)
        gram.core.keep_all_rows = self._keep_all_rows
        return gram

    def replace_gram(self, X: Any) -> None:
        """Replace the points held by X, under the present kernel."""
        self._evaluated = self.kernel_evaluations
        self.gram = self.empty_gram(X)
        self.gram.append(X)

    def settings_for(self, kernel: Kernel) -> Settings:
        """Return the settings of the solvers for another kernel."""
        return self.settings._replace(
            exact=kernel.definite is not False, trusted=kernel.definite is True
        )

    # ------------------------------------------------------------------ heads

    @property
    def heads(self) -> dict[Key, HeadReader]:
        """Readers of the heads in plan order."""
        return {key: HeadReader(h, self.problem) for key, h in self.head_states.items()}

    @property
    def n_iter(self) -> dict[Key, int]:
        """Breakpoints or SMO iterations that the latest update took in each head."""
        return {key: head.iterations for key, head in self.head_states.items()}

    @property
    def converged(self) -> bool:
        """Whether the latest operation met its tolerance in all heads."""
        return all(head.converged for head in self.head_states.values())

    @property
    def waiting(self) -> str:
        """Why a head has no solution yet, "" if all have one."""
        return next((h.reason for h in self.head_states.values() if not h.ready), "")

    @property
    def exact(self) -> bool:
        """Whether an audit from scratch certifies every head as exact.

        Never with an indefinite kernel, whose optimum is not unique.
        """
        return self.settings.exact and all(found.exact for found in self._audits())

    @property
    def kkt_violation(self) -> float:
        """The largest KKT violation of a head relative to its scale, from scratch."""
        return max((found.kkt for found in self._audits()), default=0.0)

    def _audits(self) -> list[Audit]:
        """Return the audits of all heads, computed at the first call after an operation."""
        if self._audited is None:
            gram = self.gram
            assert gram is not None or not self.head_states
            self._audited = [
                audit(head.core, gram, self.kernel)
                for head in self.head_states.values()
                if gram is not None
            ]
        return self._audited

    def decision(self, X: Any, threads: int = 1) -> np.ndarray:
        """Return the decision values of the rows of X, one column per head.

        Columns of heads that are not ready are NaN. Several threads may call it at once; if two
        prepare the decision functions at the same time, these are equal and either is stored.
        """
        functions = self._functions
        if functions is None:
            functions = self._functions = self.decision_functions()
        return functions.decide(X, threads)

    def decision_functions(self) -> DecisionFunctions:
        """Return the decision functions of the present state."""
        assert self.gram is not None
        return prepare(
            self.head_states, self.problem, self.plan, self.store.y, self.gram, self.kernel
        )

    def drop_derived(self) -> None:
        """Drop derived values before the state changes."""
        self._audited = self._functions = None

    # ------------------------------------------------------------------ copies

    def restorer(self) -> Callable[[], None]:
        """Return a function that restores the references to the present tables."""
        tables, arrivals = self.__dict__.copy(), self.store.arrivals

        def restore() -> None:
            self.__dict__.update(tables)
            self.store.arrivals = arrivals

        return restore

    def __getstate__(self) -> dict[str, Any]:
        # Copies: the state may change before it is written to a file.
        own = self.__dict__ | {"_audited": None, "_functions": None}
        own["_evaluated"] = self.kernel_evaluations
        own["store"], own["per_class"] = self.store.copied(), self.per_class.copy()
        own["gram"] = None if self.gram is None else self.points(np.arange(self.n))
        own["head_states"] = {key: head.to_arrays() for key, head in self.head_states.items()}
        return own

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        X = state["gram"]
        if X is None:
            return
        self.gram = self.empty_gram(X)
        self.gram.append(X)
        self.head_states = {
            key: HeadState.from_arrays(key, self.gram, self.problem, arrays)
            for key, arrays in state["head_states"].items()
        }
