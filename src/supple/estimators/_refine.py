"""The base of SVIncrementalSVC and SVIncrementalSVR: flat parameters, and `refine`."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from supple.engine import Held, State
from supple.estimators._batch import check_batch
from supple.estimators._ids import IdsLike, check_ids
from supple.estimators._model import Batch, Names
from supple.estimators._params import KERNEL_OF_POINTS
from supple.estimators._updates import ExactUpdates
from supple.interrupts import Shielded
from supple.locks import reads, writes
from supple.memory import Change, SupportVectors

# Violations below this part of their scale are rounding errors.
_VIOLATED = 1e-9


class KeepsSupportVectors(ExactUpdates):
    """Flat parameters of a memory of support vectors, and `refine`, which makes it exact."""

    _parameter_constraints: dict[str, Any] = {
        "kernel": KERNEL_OF_POINTS,
        "sv_weight": [Interval(Real, 0.0, None, closed="neither"), StrOptions({"ruping"})],
        "factor": [Interval(Real, 0.0, None, closed="neither")],
        "reading": [StrOptions({"literal", "cumulative"})],
        "half_life": [Interval(Real, 0.0, None, closed="neither"), None],
    }

    def _memory(self, params: Mapping[str, Any]) -> SupportVectors:
        names = ("factor", "reading", "half_life")
        return SupportVectors(params["sv_weight"], **{name: params[name] for name in names})

    @writes
    def refine(
        self,
        X: Any,
        y: Any,
        *,
        ids: IdsLike,
        sample_weight: ArrayLike | None = None,
        groups: IdsLike | None = None,
    ) -> Self:
        """Make the model exact on examples that were learned before and are given again.

        Examples that are still held get their own weight back. Of the others, those that violate
        the optimality conditions are learned again, until there is none. The model is then the one
        that `fit` gives on these examples and all others held. Only support vectors are kept.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points.
        y : array-like of shape (n_samples,)
            Their labels or targets.
        ids : iterable of int, str or other hashable
            Ids under which the examples were learned. Of examples that are still held only the
            weight is used; their points and labels are not compared.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 that the examples have from now on, 1 by default.
        groups : iterable of int, str or other hashable, default=None
            What each example belongs to; used for those that are learned again.

        Returns
        -------
        self : object
            The refined model.
        """
        model = self._fitted()
        self._check_update(model, "refine")
        given = check_ids(ids, paired=True)
        batch = check_batch(self, X, y, sample_weight, Names(given, groups), model.labels, model)
        engine, state = self._exact(model), model.state
        known = state.holding(given)
        again = state.slots(given[known])  # this and the next line raise if ids repeat
        state.number(given[~known], int((~known).sum()))
        others = np.delete(state.ids, again).tolist()
        model.cache.clear()
        memory = engine.memory
        assert isinstance(memory, SupportVectors)
        with Shielded():
            with engine.operation() as op:
                engine.change(op, Change(again, batch.weight[known]))
                outside = np.flatnonzero(~known & (batch.weight > 0))
                while len(outside):
                    wrong = _slack(state, batch.rows(outside)) < -_VIOLATED
                    if not wrong.any():
                        break
                    part = batch.rows(outside[wrong])
                    names = given[outside[wrong]]
                    engine.add(op, part.X, part.targets, part.weight, names, part.groups)
                    outside = outside[~wrong]
                held = Held(op)
                kept = np.isin(held.slots, state.slots(np.array(others, dtype=given.dtype)))
                engine.obey(op, memory.refined(held, kept, float(batch.weight.sum())))
            model.labels = batch.labels
            step = engine.run.report(op.step("refine", given))
        return self._after(model, step, "refine")

    @property
    @reads
    def sv_weight_(self) -> dict[Any, float]:
        """Weights of the examples held in the present model, by id."""
        state = self._held().state
        return dict(zip(state.ids.tolist(), state.weight.tolist(), strict=True))

    @property
    @reads
    def n_batches_(self) -> int:
        """Number of batches learned since the last `fit`, which is the first."""
        memory = self._exact(self._held()).memory
        assert isinstance(memory, SupportVectors)
        return memory.n_batches_


def _slack(state: State, batch: Batch) -> NDArray[np.float64]:
    """Return the slack of each example, negative if it would become a support vector.

    Computed during an operation from the present decision functions.
    """
    t = batch.targets
    slack = np.full(len(t), np.inf)
    values = state.decision_functions().decide(batch.X, 1)
    for f, key in zip(values.T, state.heads, strict=True):
        members = state.plan.members(key, t)
        own = state.plan.targets(key, t[members])
        rows, per = state.problem.rows(own, np.ones(len(own)), own), state.problem.per
        g = f[members].repeat(per) - rows.c
        least = np.where(rows.hi > 0.0, g, -g).reshape(-1, per).min(axis=1)
        scale = float(np.abs(rows.c).max(initial=0.0)) or 1.0
        slack[members] = np.minimum(slack[members], least / scale)
    slack[np.isinf(slack)] = -np.inf  # no head knows its class yet
    return slack
