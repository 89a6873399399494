"""The base of the estimators: parameters, and the life cycle of the engine.

An estimator owns its hyper-parameters and its label table; everything learned belongs to the
engine. `fit` builds a new model and swaps it in at the end, so a fit that fails or is
interrupted leaves the earlier model. Updates check all arguments first and then call the
engine once, as one transaction.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from functools import cache
from numbers import Real
from typing import Any, Self

import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval

from supple.engine import Engine, OnlineEngine, State, Step
from supple.errors import (
    InvalidInputError,
    NotReadyWarning,
    PrecomputedUpdateError,
    warn_user,
)
from supple.estimators._batch import check_batch
from supple.estimators._fitted import FittedAttributes
from supple.estimators._gamma import resolve_gamma
from supple.estimators._labels import LabelTable
from supple.estimators._model import Batch, Model, Names, make_kernel
from supple.estimators._params import (
    check_constraints,
    check_values,
    refuse_balanced,
    show,
    takes_gamma,
)
from supple.estimators._warnings import NotConvergedWarning
from supple.interrupts import Shielded
from supple.kernels import Kernel
from supple.memory import KeepAll, Memory, refuse_times
from supple.multiclass import Plan, Single
from supple.progress import Progress
from supple.solvers import Settings

_MEBIBYTE = 2**20
_ALWAYS_KEPT = 2**28  # bytes that a bounded memory may use to keep all kernel values


def _row_bytes(memory: Memory) -> int:
    """Return the bytes for all kernel values of a bounded memory; 0 if it has no bound.

    Rows grow by a quarter at a time, and during a call there may be twice as many examples.
    """
    return 0 if memory.capacity is None else 20 * (memory.capacity + 32) ** 2


class BaseSVM(FittedAttributes, ABC):
    """Base of the exact estimators; subclasses define the problem and the shape of predictions."""

    _parameter_constraints: dict[str, Any] = {
        **FittedAttributes._parameter_constraints,
        "shrinking": ["boolean"],
        "cache_size": [Interval(Real, 0, None, closed="neither")],
    }
    # Parameters that `retune` may change.
    _tunable: tuple[str, ...] = ("gamma", "coef0", "degree")
    # Parameters without influence on the model; they may change at any time.
    _free = frozenset({"n_jobs", "verbose", "decision_function_shape", "break_ties"})
    # Whether few examples may leave the problem without a solution.
    _may_wait = False
    # Whether SimpleSVM solves instead of path, SMO and polish.
    _simple = False

    # ------------------------------------------------------------------ for subclasses

    @abstractmethod
    def _problem(self, params: Mapping[str, Any]) -> Any:
        """Return the problem object for these parameters."""

    def _plan(self) -> Plan:
        return Single()

    def _check_params(self, params: Mapping[str, Any]) -> None:
        """Check combinations of parameters."""

    def _first_labels(self, classes: ArrayLike | None) -> tuple[LabelTable, dict[int, float]]:
        """Return the label table before the first batch, and class weights by code."""
        return LabelTable(), {}

    def _later_labels(self, model: Model, classes: ArrayLike | None) -> LabelTable:
        """Return the label table before a later batch."""
        return model.labels

    def _new_class_weight(
        self, model: Model, class_weight: Any
    ) -> tuple[LabelTable, dict[int, float]]:
        """Return table and weights by code for a class weight given to `retune`."""
        return model.labels, model.class_weight

    def _check_whole(self, batch: Batch, class_weight: dict[int, float]) -> dict[int, float]:
        """Check the examples of `fit` as a whole; return the class weights to use."""
        return class_weight

    def _memory(self, params: Mapping[str, Any]) -> Memory:
        """Return an empty memory for a new model."""
        return KeepAll()

    def _goes_by_time(self) -> bool:
        """Return whether the memory needs timestamps."""
        params = self._current_params()
        check_constraints(type(self), self._parameter_constraints, params)
        return self._memory(params).unit == "time"

    def _engine(
        self, params: Mapping[str, Any], state: State, memory: Memory
    ) -> Engine | OnlineEngine:
        """Return an engine for this state."""
        return Engine(state, memory)

    # ------------------------------------------------------------------ learning

    def _begin(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None,
        names: Names,
        classes: ArrayLike | None = None,
        *,
        whole: bool,
    ) -> Self:
        """Build a model from its first batch; `whole` in `fit`, where it is the only one."""
        params = self._current_params()
        check_constraints(type(self), self._parameter_constraints, params)
        self._check_params(params)
        action = "fit" if whole else "partial_fit"
        if not whole:
            refuse_balanced(params, action)
        twin = self._unfitted()  # the present model keeps its description of the features
        labels, class_weight = self._first_labels(classes)
        batch = check_batch(twin, X, y, sample_weight, names, labels, None)
        if whole:
            class_weight = self._check_whole(batch, class_weight)
        model = self._build(params, batch, class_weight)
        step = self._learn(model, batch, whole=whole)
        if whole and self._may_wait:
            self._require_ready(model, f"cannot be fitted on n_samples={model.state.n}")
        model.state.note_scale()
        self._swap(model, twin)
        return self._after(model, step, action)

    def _build(self, params: dict[str, Any], batch: Batch, class_weight: dict[int, float]) -> Model:
        """Return a model with an empty engine for the kind of points in `batch`."""
        gamma = resolve_gamma(params, batch.X, batch.weight)
        kernel = make_kernel(params, gamma)
        memory = self._memory(params)
        memory.check()
        cache_bytes = int(min(params["cache_size"] * _MEBIBYTE, 2**62))
        rows = _row_bytes(memory)
        keep_all_rows = 0 < rows <= max(cache_bytes, _ALWAYS_KEPT)
        state = State(
            self._problem(params),
            kernel,
            self._plan(),
            self._settings(params, kernel),
            cache_bytes=max(cache_bytes, rows) if keep_all_rows else cache_bytes,
            class_weight=class_weight,
            keep_all_rows=keep_all_rows,
        )
        engine = self._engine(params, state, memory)
        engine.run.threads = self._threads()
        engine.run.not_converged = NotConvergedWarning
        engine.run.progress = self._progress()
        container = type(batch.X) if sp.issparse(batch.X) else None
        return Model(engine, params, gamma, container, batch.X.dtype, batch.labels, class_weight)

    def _settings(self, params: Mapping[str, Any], kernel: Kernel) -> Settings:
        """Return how the solvers run."""
        return Settings(
            float(params["tol"]),
            int(params["max_iter"]),
            bool(params.get("shrinking", not self._simple)),
            exact=kernel.definite is not False,
            trusted=kernel.definite is True,
            simple=self._simple,
        )

    def _learn(self, model: Model, batch: Batch, *, whole: bool) -> Step:
        """Add checked examples to the model as one transaction; `whole` if these are all."""
        columns = batch.X, batch.targets, batch.weight, batch.ids, batch.groups
        if isinstance(model.engine, Engine):
            return model.engine.learn(*columns, batch.times)
        refuse_times(batch.times, f"{type(self).__name__}")
        return model.engine.learn(*columns)

    def _learn_more(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None,
        names: Names,
        classes: ArrayLike | None = None,
    ) -> Self:
        """Add a batch to the model; start one if there is none."""
        model: Model | None = self.__dict__.get("_model")
        if model is None:
            return self._begin(X, y, sample_weight, names, classes, whole=False)
        self._check_update(model, "partial_fit")
        labels = self._later_labels(model, classes)
        batch = check_batch(self, X, y, sample_weight, names, labels, model)
        model.cache.clear()
        before, gamma = model.state.seen, model.gamma
        with Shielded():
            first = model.scaled and model.state.n == 0  # all examples were forgotten
            if first:
                self._set_gamma(model, resolve_gamma(model.params, batch.X, batch.weight))
            try:
                step = self._learn(model, batch, whole=False)
            finally:
                # Also after an error of a listener, which comes when the examples are in.
                if model.state.seen > before:
                    model.labels = batch.labels
                    if first:
                        model.state.note_scale()
                elif first:
                    self._set_gamma(model, gamma)
        return self._after(model, step, "partial_fit")

    def _set_gamma(self, model: Model, gamma: float) -> None:
        """Give a model without examples another gamma."""
        assert isinstance(model.engine, Engine)
        model.engine.retune(kernel=make_kernel(model.params, gamma))
        model.gamma = gamma

    def _progress(self) -> Progress | None:
        """Return the progress of an operation that begins now, None unless `verbose`."""
        return Progress(type(self).__name__) if self.verbose else None

    def _after(self, model: Model, step: Step, action: str) -> Self:
        """Drop unused labels, report the step, and warn if the model has to wait."""
        model.drop_labels()
        if self.verbose:
            print(
                f"[{type(self).__name__}] {action} {len(step.ids)}: {step.route}, "
                f"{step.breakpoints} breakpoints, {step.iterations} iterations, "
                f"{step.n_margin} on the margin, KKT {step.kkt:.1e}, {1e3 * step.seconds:.2f} ms"
            )
        if self._may_wait and (reason := model.state.waiting) and model.state.n:
            warn_user(
                f"{type(self).__name__} stores the examples and waits for more: {reason}",
                NotReadyWarning,
            )
        return self

    # ------------------------------------------------------------------ parameters

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        return super()._get_param_names()  # cached: inspecting the signature is slow

    def _current_params(self) -> dict[str, Any]:
        """Return the parameters, with copies of the values that can be edited in place."""
        params = {name: getattr(self, name) for name in self._get_param_names()}
        for name in ("class_weight", "memory"):
            if params.get(name) is not None:
                params[name] = copy.copy(params[name])
        return params

    def _check_unchanged(self, model: Model, action: str, but: Collection[str] = ()) -> None:
        """Raise if parameters differ from those that the model was built with."""
        own = self.__dict__
        for name, built in model.params.items():
            value = own[name]
            if value is built or value == built or name in but:
                continue
            idle = name == "gamma" and not takes_gamma(model.params["kernel"])
            if idle or name in self._free:
                if not idle:
                    check_values(type(self), self._parameter_constraints, {name: value})
                model.params[name] = value
                continue
            back = f"set_params({name}={show(built)})"
            try:
                new = {**model.params, name: value}
                check_values(type(self), self._parameter_constraints, new)
                self._check_params(new)
            except InvalidInputError as error:
                raise InvalidInputError(f"{error} {back} goes back to the model's.") from None
            remedy = "call fit to start again with it"
            if name in self._tunable and not (isinstance(value, str) and value == "balanced"):
                remedy = f"call retune({name}={show(value)}) to move the model there"
            raise InvalidInputError(
                f"The '{name}' parameter of {type(self).__name__} is {show(value)}, but the model "
                f"was built with {show(built)}. {action} does not apply the change silently: "
                f"{remedy}, or {back} to go back."
            )

    def _check_update(self, model: Model, action: str) -> None:
        self._check_unchanged(model, action)
        model.engine.run.threads = self._threads()
        model.engine.run.progress = self._progress()
        if model.params["kernel"] == "precomputed":
            raise PrecomputedUpdateError(
                f"{action} needs kernel values that a precomputed matrix does not have. Pass the "
                "kernel as a callable, kernel=function(X, Y), and the points themselves as X."
            )
        refuse_balanced(model.params, action)
