"""What the five estimators share: parameters and the life of the engine.

An estimator owns its hyper-parameters and its label table; everything learned belongs to the
engine. `fit` builds a new model and swaps it in at the end, so a fit that fails or is
interrupted leaves the earlier model. Updates check all arguments first and then call the
engine once, which either succeeds or stays as it was.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from numbers import Real
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, validate_parameter_constraints

from supple.engine import Engine, Step
from supple.errors import (
    InvalidInputError,
    NotReadyWarning,
    PrecomputedUpdateError,
    warn_user,
)
from supple.estimators._fitted import FittedAttributes
from supple.estimators._labels import LabelTable
from supple.estimators._model import Batch, Model, make_kernel
from supple.estimators._params import check_numbers, refuse_balanced
from supple.estimators._validation import (
    check_ids,
    check_weight,
    features_restored,
    resolve_gamma,
)
from supple.interrupts import Shielded
from supple.multiclass import Plan, Single

# Parameters that say how results are shown; they may change at any time.
_FREE = frozenset({"n_jobs", "verbose", "decision_function_shape", "break_ties"})
_MEBIBYTE = 2**20


class BaseSVM(FittedAttributes, ABC):
    """Base of the exact estimators; subclasses name a problem and the shape of its answers."""

    _parameter_constraints: dict[str, Any] = {
        **FittedAttributes._parameter_constraints,
        "shrinking": ["boolean"],
        "cache_size": [Interval(Real, 0, None, closed="neither")],
        "n_jobs": "no_validation",  # see resolve_threads, which also looks before predictions
    }
    # What retune may change.
    _tunable: tuple[str, ...] = ("gamma", "coef0", "degree")
    # Whether the examples may be too few for the problem to have a solution.
    _may_wait = False

    # ------------------------------------------------------------------ for subclasses

    @abstractmethod
    def _problem(self, params: Mapping[str, Any]) -> Any:
        """Return the problem object for these parameters."""

    def _plan(self) -> Plan:
        return Single()

    def _check_params(self, params: Mapping[str, Any]) -> None:
        """Check what the declared constraints of single parameters cannot say."""

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

    # ------------------------------------------------------------------ learning

    def _begin(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None,
        ids: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        *,
        whole: bool,
    ) -> Self:
        """Build a model from its first batch; `whole` if that is all there is (fit)."""
        params = self._current_params()
        self._validate_params()
        check_numbers(type(self).__name__, params)
        self._check_params(params)
        action = "fit" if whole else "partial_fit"
        if not whole:
            refuse_balanced(params, action)
        with features_restored(self):
            labels, class_weight = self._first_labels(classes)
            batch = self._check_batch(X, y, sample_weight, ids, labels, None)
            if whole:
                class_weight = self._check_whole(batch, class_weight)
            model = self._build(params, batch, class_weight)
            with Shielded():
                step = model.engine.learn(batch.X, batch.targets, batch.weight, batch.ids)
                if whole and self._may_wait:
                    self._require_ready(model, f"cannot be fitted on n_samples={model.engine.n}")
                self._model = model
        return self._after(model, step, action)

    def _build(self, params: dict[str, Any], batch: Batch, class_weight: dict[int, float]) -> Model:
        """Return a model with an empty engine, made for the kind of points in `batch`."""
        gamma = resolve_gamma(params["gamma"], batch.X, batch.weight)
        engine = Engine(
            self._problem(params),
            make_kernel(params, gamma),
            self._plan(),
            cache_bytes=int(min(params["cache_size"] * _MEBIBYTE, 2**62)),
            tol=float(params["tol"]),
            max_iter=int(params["max_iter"]),
            shrinking=bool(params["shrinking"]),
            class_weight=class_weight,
        )
        engine.threads = self._threads()
        container = type(batch.X) if sp.issparse(batch.X) else None
        return Model(engine, params, gamma, container, batch.X.dtype, batch.labels, class_weight)

    def _learn_more(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None,
        ids: ArrayLike | None,
        classes: ArrayLike | None = None,
    ) -> Self:
        """Add a batch to the model; start one if there is none."""
        model: Model | None = self.__dict__.get("_model")
        if model is None:
            return self._begin(X, y, sample_weight, ids, classes, whole=False)
        self._check_update(model, "partial_fit")
        labels = self._later_labels(model, classes)
        batch = self._check_batch(X, y, sample_weight, ids, labels, model)
        model.cache.clear()
        before = model.engine.n
        with Shielded():
            try:
                step = model.engine.learn(batch.X, batch.targets, batch.weight, batch.ids)
            finally:
                # Also after an error that came when the examples were in, say from a listener.
                if model.engine.n > before:
                    model.labels = batch.labels
        return self._after(model, step, "partial_fit")

    def _after(self, model: Model, step: Step, action: str) -> Self:
        """Report the step, warn if the model has to wait."""
        if self.verbose:
            print(
                f"[{type(self).__name__}] {action} {len(step.ids)}: {step.solver}, "
                f"{step.breakpoints} breakpoints, {step.iterations} iterations, "
                f"{step.n_margin} on the margin, KKT {step.kkt:.1e}, {1e3 * step.seconds:.2f} ms"
            )
        if self._may_wait and (reason := self._waiting(model)) and model.engine.n:
            warn_user(
                f"{type(self).__name__} stores the examples and waits for more: {reason}",
                NotReadyWarning,
            )
        return self

    # ------------------------------------------------------------------ updates

    def forget(self, ids: ArrayLike) -> Self:
        """Remove examples exactly, as if they had never been learned.

        Parameters
        ----------
        ids : int or array-like of int
            Ids of the examples, see the attribute ``ids_``.

        Returns
        -------
        self : object
            The model that `fit` gives on the remaining examples.
        """
        model = self._held()
        self._check_update(model, "forget")
        checked = check_ids(ids)
        model.cache.clear()
        return self._after(model, model.engine.unlearn(checked), "forget")

    def reweight(self, ids: ArrayLike, sample_weight: ArrayLike) -> Self:
        """Change the weights of examples exactly.

        Parameters
        ----------
        ids : int or array-like of int
            Ids of the examples, see the attribute ``ids_``.
        sample_weight : float or array-like of float
            New weights >= 0, one for all or one per id. Weight 2 is the same as two copies of
            the example; weight 0 keeps it without effect.

        Returns
        -------
        self : object
            The model that `fit` gives with these weights.
        """
        model = self._held()
        self._check_update(model, "reweight")
        checked = check_ids(ids)
        weight = check_weight(sample_weight, len(checked))
        model.cache.clear()
        return self._after(model, model.engine.reweight(checked, weight), "reweight")

    def retune(self, **params: Any) -> Self:
        """Move the model exactly to other values of its parameters.

        Parameters of the problem (C, nu, epsilon, class weights) are followed along the path of
        optimal solutions; a new kernel parameter is a warm start from the present solution.

        Parameters
        ----------
        **params : dict
            New values, by name: ``gamma``, ``coef0``, ``degree`` and, where the estimator has
            them, ``C``, ``nu``, ``epsilon`` and ``class_weight``.

        Returns
        -------
        self : object
            The model that `fit` gives with these parameters on the examples held.
        """
        name = type(self).__name__
        model = self._held()
        unknown = sorted(set(params) - set(self._tunable))
        if unknown or not params:
            raise InvalidInputError(
                f"retune of {name} takes {', '.join(self._tunable)}. Got "
                f"{', '.join(unknown) or 'nothing'} instead. Other parameters take effect at fit."
            )
        validate_parameter_constraints(self._parameter_constraints, params, caller_name=name)
        check_numbers(name, params)
        self._check_unchanged(model, "retune", but=params)
        model.engine.threads = self._threads()
        new = {**model.params, **params}
        self._check_params(new)
        gamma = model.gamma
        if "gamma" in params:
            points = model.engine.points(np.arange(model.engine.n))
            gamma = resolve_gamma(params["gamma"], points, model.engine.weight)
        labels, class_weight = model.labels, model.class_weight
        if "class_weight" in params:
            labels, class_weight = self._new_class_weight(model, params["class_weight"])
        changes: dict[str, Any] = {
            "problem": (self._problem(model.params), self._problem(new)),
            "kernel": (make_kernel(model.params, model.gamma), make_kernel(new, gamma)),
            "class_weight": (model.class_weight, class_weight),
        }
        changes = {key: after for key, (before, after) in changes.items() if before != after}
        model.cache.clear()
        with Shielded():
            try:
                step = model.engine.retune(**changes) if changes else None
            finally:
                # Also after an error that came when the change was made, say from a listener.
                if all(getattr(model.engine, key) == after for key, after in changes.items()):
                    self.set_params(**params)
                    model.params, model.gamma = self._current_params(), gamma
                    model.labels, model.class_weight = labels, class_weight
        return self if step is None else self._after(model, step, "retune")

    # ------------------------------------------------------------------ parameters

    def _current_params(self) -> dict[str, Any]:
        """Return the parameters; a class_weight is copied, as the user may edit it in place."""
        params = {name: getattr(self, name) for name in self._get_param_names()}
        if isinstance(params.get("class_weight"), dict):
            params["class_weight"] = dict(params["class_weight"])
        return params

    def _check_unchanged(self, model: Model, action: str, but: Collection[str] = ()) -> None:
        """Refuse to work on a model whose parameters were changed behind its back."""
        own = self.__dict__
        for name, built in model.params.items():
            value = own[name]
            if value is built or value == built or name in but:
                continue
            if name in _FREE:
                self._validate_params()
                model.params[name] = value
                continue
            remedy = "call fit to start again with it"
            if name in self._tunable:
                remedy = f"call retune({name}={value!r}) to move the model there"
            raise InvalidInputError(
                f"The '{name}' parameter of {type(self).__name__} is {value!r}, but the model "
                f"was built with {built!r}. {action} does not apply the change silently: "
                f"{remedy}, or set it back."
            )

    def _check_update(self, model: Model, action: str) -> None:
        self._check_unchanged(model, action)
        model.engine.threads = self._threads()
        if model.params["kernel"] == "precomputed":
            raise PrecomputedUpdateError(
                f"{action} needs kernel values that a precomputed matrix does not have. Pass the "
                "kernel as a callable, kernel=function(X, Y), and the points themselves as X."
            )
        refuse_balanced(model.params, action)
