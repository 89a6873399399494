"""The updates of exact machines: forget, reweight, retune."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from supple.engine import Engine, Step
from supple.errors import InvalidInputError, StaleGammaWarning, warn_user
from supple.estimators._base import BaseSVM
from supple.estimators._gamma import resolve_gamma
from supple.estimators._ids import IdsLike, check_groups, check_ids, check_missing
from supple.estimators._judge import Judge
from supple.estimators._model import Batch, Model, make_kernel
from supple.estimators._params import check_values, show
from supple.estimators._values import check_weight
from supple.interrupts import Shielded
from supple.locks import guards, writes
from supple.memory import KeepAll, Memory


class ExactUpdates(BaseSVM):
    """Exact removal and change of examples and parameters."""

    _parameter_constraints: dict[str, Any] = {
        **BaseSVM._parameter_constraints,
        "memory": [Memory, None],
    }
    memory: Memory | None = None  # not a parameter of presets

    def _memory(self, params: Mapping[str, Any]) -> Memory:
        memory = params.get("memory")
        if memory is None:
            return KeepAll()
        if params["kernel"] == "precomputed" and not memory.keeps_all:
            raise InvalidInputError(
                f"The 'memory' parameter of {type(self).__name__} cannot be {memory} with "
                "kernel='precomputed', which takes no updates. Pass the kernel as a callable."
            )
        return clone(memory)

    def _learn(self, model: Model, batch: Batch, *, whole: bool) -> Step:
        engine = self._exact(model)
        if engine.memory.estimate is not None:
            engine.run.judge = Judge(self, model, batch.labels, engine.memory)
        try:
            return super()._learn(model, batch, whole=whole)
        finally:
            engine.run.judge = None

    def _exact(self, model: Model) -> Engine:
        assert isinstance(model.engine, Engine)
        return model.engine

    @writes
    def forget(
        self,
        ids: IdsLike | None = None,
        *,
        groups: IdsLike | None = None,
        missing: str = "error",
        rescale: bool = False,
    ) -> Self:
        """Remove examples exactly, as if they had never been learned.

        Parameters
        ----------
        ids : int, str or other hashable, or iterable of these, default=None
            Ids of the examples, see the attribute ``ids_``. A tuple is several ids; an empty
            collection forgets nothing.
        groups : int, str or other hashable, or iterable of these, default=None
            Instead of `ids`: forget all examples held that were learned with these `groups`.
        missing : {"error", "ignore"}, default="error"
            Whether unknown ids or groups are an error or are ignored.
        rescale : bool, default=False
            Compute ``gamma="scale"`` again from the remaining examples, and fit anew with it. False
            leaves gamma as the first batch set it; a
            :class:`~supple.errors.StaleGammaWarning` says so once, when an example of that batch
            is forgotten. If gamma is a number, True is an error.

        Returns
        -------
        self : object
            The model that `fit` gives on the remaining examples (with the same gamma, unless
            `rescale`).
        """
        model = self._held()
        self._check_update(model, "forget")
        leaving = self._leaving(model, ids, groups, ignore=check_missing(missing))
        if rescale and not isinstance(model.params["gamma"], str):
            raise InvalidInputError(
                f"The 'gamma' parameter of {type(self).__name__} is {show(model.params['gamma'])}, "
                "which depends on no example. Call forget without rescale=True."
            )
        if not len(leaving):
            return self
        model.cache.clear()
        engine, state, gamma = self._exact(model), model.state, model.gamma
        stale = model.scaled and state.scaled_by(leaving)
        with Shielded():
            if rescale and model.scaled:
                gamma = self._gamma_without(model, leaving)
            try:
                if gamma == model.gamma:
                    step = engine.unlearn(leaving)
                else:
                    step = engine.restart_without(leaving, make_kernel(model.params, gamma))
            finally:
                # Also after an error of a listener, which comes when the examples are gone.
                if not state.holds(leaving):
                    model.gamma = gamma
                    if rescale:
                        state.note_scale()
        self._after(model, step, "forget")
        if stale and not rescale and engine.memory.keeps_all and state.n:
            state.forget_scale()
            warn_user(
                f"gamma='scale' stays {gamma:.6g}, which was computed from examples that are now "
                "forgotten. retune(gamma='scale') computes it from the examples held, and so does "
                "forget(ids, rescale=True) in the same step; a number for gamma never needs it.",
                StaleGammaWarning,
            )
        return self

    def _leaving(
        self, model: Model, ids: IdsLike | None, groups: IdsLike | None, *, ignore: bool
    ) -> NDArray[Any]:
        """Return the ids of the examples to be forgotten."""
        if (ids is None) == (groups is None):
            raise InvalidInputError(
                "forget takes either 'ids' or 'groups'. Got "
                f"{'none' if ids is None else 'both'} of them instead."
            )
        if groups is not None:
            if self._exact(model).memory.mixed:
                raise InvalidInputError(
                    "forget cannot tell groups apart any more: the memory has merged examples of "
                    "different groups. Exact unlearning needs a memory that keeps examples, such "
                    "as Window or KeepAll."
                )
            return model.state.members(check_groups(groups), ignore=ignore)
        given = check_ids(ids)
        return given[self._exact(model).holding(given)] if ignore else given

    def _gamma_without(self, model: Model, ids: NDArray[Any]) -> float:
        """Return gamma="scale" of the remaining examples, the present one if there are none."""
        remain = np.delete(np.arange(model.state.n), model.state.slots(ids))
        if not len(remain):
            return model.gamma
        points, weight = model.state.points(remain), model.state.weight[remain]
        return resolve_gamma(model.params, points, weight)

    @writes
    def reweight(self, ids: IdsLike, sample_weight: ArrayLike, *, missing: str = "error") -> Self:
        """Change the weights of examples exactly.

        Parameters
        ----------
        ids : int, str or other hashable, or iterable of these
            Ids of the examples, see the attribute ``ids_``. A tuple is several ids.
        sample_weight : float or array-like of float
            New weights >= 0, one for all or one per id. Weight 2 is the same as two copies of
            the example; weight 0 keeps it without effect.
        missing : {"error", "ignore"}, default="error"
            Whether unknown ids are an error or are ignored with their weights.

        Returns
        -------
        self : object
            The model that `fit` gives with these weights (with the same gamma).
        """
        model = self._held()
        self._check_update(model, "reweight")
        ignore = check_missing(missing)
        checked = check_ids(ids, paired=not isinstance(sample_weight, Real))
        weight = check_weight(sample_weight, len(checked))
        if ignore:
            known = model.state.holding(checked)
            checked, weight = checked[known], weight[known]
        if not len(checked):
            return self
        model.cache.clear()
        step = self._exact(model).reweight(checked, weight)
        return self._after(model, step, "reweight")

    @contextmanager
    def what_if(self) -> Iterator[Self]:
        """Try updates that are undone at the end of a ``with`` block.

        Within the block the model can be updated and used as usual. Afterwards it is restored to
        the last bit, also after an error or Ctrl-C. Blocks may be nested. Other threads wait for
        the end of the block.

        Yields
        ------
        trial : object
            The estimator itself.

        Examples
        --------
        >>> from supple import SVC
        >>> model = SVC(kernel="linear", C=10.0).fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
        >>> with model.what_if() as trial:
        ...     trial.partial_fit([[1.8]], [1]).predict([[1.5]])
        array([1])
        >>> model.predict([[1.5]])
        array([0])
        """
        with guards(self).writing:
            model = self._held()
            self._check_update(model, "what_if")
            own, kept = self.__dict__.copy(), vars(model).copy()
            kept["params"], kept["cache"] = dict(model.params), {}
            try:
                with self._exact(model).what_if():
                    yield self
            finally:
                with Shielded():
                    vars(model).update(kept)
                    self.__dict__.clear()
                    self.__dict__.update(own)

    @writes
    def retune(self, **params: Any) -> Self:
        """Move the model exactly to other values of its parameters.

        Parameters of the problem (C, nu, epsilon, class weights) follow the path of optimal
        solutions; for a new kernel parameter the present solution is a warm start.

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
        model = self._held()
        self._check_tunable(params)
        kernel = model.params["kernel"]
        check_values(type(self), self._parameter_constraints, {"kernel": kernel, **params})
        self._check_unchanged(model, "retune", but=params)
        model.engine.run.threads = self._threads()
        model.engine.run.progress = self._progress()
        new = {**model.params, **params}
        self._check_params(new)
        gamma = model.gamma
        if "gamma" in params:
            points = model.state.points(np.arange(model.state.n))
            gamma = resolve_gamma(new, points, model.state.weight)
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
                step = self._exact(model).retune(**changes) if changes else None
            finally:
                # Also after an error of a listener, which comes when the change is made.
                if all(getattr(model.state, key) == after for key, after in changes.items()):
                    self.set_params(**params)
                    model.params, model.gamma = self._current_params(), gamma
                    model.labels, model.class_weight = labels, class_weight
                    if "gamma" in params:
                        model.state.note_scale()
        return self if step is None else self._after(model, step, "retune")

    def _check_tunable(self, params: Mapping[str, Any]) -> None:
        """Raise if retune does not take a parameter, and name the way to change it."""
        unknown = [name for name in params if name not in self._tunable]
        if params and not unknown:
            return
        takes = f"retune of {type(self).__name__} takes {', '.join(self._tunable)}."
        if not unknown:
            raise InvalidInputError(f"{takes} Got nothing instead. Give one of them a value.")
        name = unknown[0]
        assignment = f"{name}={show(params[name])}"
        if name not in self._get_param_names():
            remedy = "That is no parameter of the estimator; get_params() lists them."
        elif name in self._free:
            remedy = f"The model does not depend on it: call set_params({assignment})."
        else:
            remedy = f"Call set_params({assignment}) and then fit, which starts again."
        raise InvalidInputError(f"{takes} Got {assignment} instead. {remedy}")
