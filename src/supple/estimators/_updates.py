"""The updates that only exact machines can offer: forget, reweight, retune."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import validate_parameter_constraints

from supple.errors import InvalidInputError
from supple.estimators._base import BaseSVM
from supple.estimators._model import make_kernel
from supple.estimators._params import check_numbers
from supple.estimators._validation import check_ids, check_weight, resolve_gamma
from supple.interrupts import Shielded


class ExactUpdates(BaseSVM):
    """Examples can leave and change as if it had been so from the start."""

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
