"""Only support vectors are kept: what SVIncrementalSVC and SVIncrementalSVR share."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from supple.engine import Engine, Step
from supple.estimators._chain import Chain
from supple.estimators._ids import IdsLike, check_ids
from supple.estimators._model import Batch, Model, Names
from supple.interrupts import Shielded
from supple.locks import reads, writes
from supple.policies import Past, SupportPolicy

if TYPE_CHECKING:
    from supple.estimators._updates import ExactUpdates as _Base
else:
    _Base = object

# Violations of the optimality conditions below this part of their scale are rounding errors.
_VIOLATED = 1e-9


class KeepsSupportVectors(_Base):
    """Train on the new batch and the old support vectors, then keep the support vectors only."""

    _parameter_constraints: dict[str, Any] = {
        "kernel": [StrOptions({"linear", "poly", "rbf", "sigmoid"}), callable],
        "sv_weight": [Interval(Real, 0.0, None, closed="neither"), StrOptions({"ruping"})],
        "factor": [Interval(Real, 0.0, None, closed="neither")],
        "reading": [StrOptions({"literal", "cumulative"})],
        "half_life": [Interval(Real, 0.0, None, closed="neither"), None],
    }
    _keeps_all = False
    sv_weight: Any
    factor: float
    reading: str
    half_life: float | None

    @abstractmethod
    def _slack(self, model: Model, batch: Batch) -> NDArray[np.float64]:
        """Return how far each example is from becoming a support vector, negative if it would."""

    @abstractmethod
    def _pillars(self, engine: Engine, key: tuple[int, ...]) -> list[int]:
        """Return the slots of the examples that bound the constant of a head without margin."""

    # ------------------------------------------------------------------ a batch

    def _learn(self, model: Model, batch: Batch, *, whole: bool) -> Step:
        engine, past = model.engine, model.past or Past()
        ids = engine.number(batch.ids, batch.X.shape[0])
        held = engine.ids
        support = held[_support(engine)]  # retune or forget may have changed them
        past = replace(
            past, support=float(past.own_weight(support, engine.weight_of(support)).sum())
        )
        own = past.own_weight(held, engine.weight)
        factors = self._policy().factors(past, held)
        with Chain(model) as chain:
            with np.errstate(over="ignore"):  # the engine refuses weights that are too large
                weight = own * factors
            _reweight(chain, engine, held, weight)
            chain.add(engine.learn(batch.X, batch.targets, batch.weight, ids, batch.groups))
            support = self._drop(chain, engine)
        fresh = dict.fromkeys(ids.tolist(), past.batches)
        now = Past(
            batches=past.batches + 1,
            trained=float(own.sum() + batch.weight.sum()),
            seen=past.seen + float(batch.weight.sum()),
            born={**past.born, **fresh},
            factor=dict(zip(held.tolist(), factors.tolist(), strict=True)),
        )
        model.past = now.only(engine.ids, support, engine.weight_of(support))
        assert chain.step is not None
        return chain.step._replace(action="learn", ids=ids)

    def _policy(self) -> SupportPolicy:
        return SupportPolicy(
            level=None if self.sv_weight == "ruping" else float(self.sv_weight),
            factor=float(self.factor),
            cumulative=self.reading == "cumulative",
            half_life=None if self.half_life is None else float(self.half_life),
        )

    def _drop(self, chain: Chain, engine: Engine) -> NDArray[Any]:
        """Forget what no machine needs, which changes none; return the ids of support vectors.

        Before there is a machine, every example may become a support vector.
        """
        heads, ids = engine.heads, engine.ids
        if not heads:
            return ids
        support = _support(engine)
        pillars = [self._pillars(engine, key) for key, head in heads.items() if not head.n_margin]
        others = np.delete(ids, np.concatenate([support, *pillars]).astype(np.int64))
        if len(others):
            chain.add(engine.unlearn(others))
        return ids[support]

    def _own_weight(self, model: Model, ids: NDArray[Any]) -> NDArray[np.float64]:
        weight = model.engine.weight_of(ids)
        return weight if model.past is None else model.past.own_weight(ids, weight)

    def _forgot(self, model: Model, own_weight: NDArray[np.float64]) -> None:
        if model.past is not None:
            model.past = model.past.without(own_weight, model.engine.ids)

    @writes
    def reweight(self, ids: IdsLike, sample_weight: ArrayLike, *, missing: str = "error") -> Self:
        """Change the weights of examples exactly.

        Parameters
        ----------
        ids : int, str or other hashable, or iterable of these
            Ids of examples held. A tuple is several ids.
        sample_weight : float or array-like of float
            The weights that they have from now on, >= 0. With the next batch they are old support
            vectors again, and the factor of the policy comes on top of these weights.
        missing : {"error", "ignore"}, default="error"
            Whether an id that no example held has is an error, or is passed over with its weight.

        Returns
        -------
        self : object
            The model with these weights.
        """
        return super().reweight(ids, sample_weight, missing=missing)

    def _reweighted(self, model: Model, ids: NDArray[Any]) -> None:
        if model.past is not None:
            given = set(ids.tolist())
            kept = {i: f for i, f in model.past.factor.items() if i not in given}
            model.past = replace(model.past, factor=kept)

    # ------------------------------------------------------------------ exact refinement

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
        """Make the model exact on examples that it has seen before and that are given again.

        Examples of `ids` that are still held get their own weight back. The others are checked:
        those that violate the optimality conditions are learned again, and so on until none does.
        The model then is the one that `fit` gives on these examples and all others held, on
        everything seen if everything is given. Support vectors alone are kept.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points.
        y : array-like of shape (n_samples,)
            Their labels or targets.
        ids : iterable of int, str or other hashable
            The ids under which the examples were learned; they tell which are still held. Of
            these only the weight is taken, their points and labels are not compared.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 that the examples have from now on, 1 by default.
        groups : iterable of int, str or other hashable, default=None
            What each example belongs to; taken of those that are learned again.

        Returns
        -------
        self : object
            The refined model.
        """
        model = self._fitted()
        self._check_update(model, "refine")
        given = check_ids(ids, paired=True)
        batch = self._check_batch(X, y, sample_weight, Names(given, groups), model.labels, model)
        engine, past = model.engine, model.past or Past()
        known = engine.holding(given)
        others = np.ones(engine.n, dtype=bool)
        others[engine.slots(given[known])] = False  # this and the next line refuse repeated ids
        engine.number(given[~known], int((~known).sum()))
        model.cache.clear()

        trained = past.own_weight(engine.ids, engine.weight)[others].sum() + batch.weight.sum()
        factor = {i: past.factor.get(i, 1.0) for i in engine.ids[others].tolist()}
        with Shielded():
            with Chain(model) as chain:
                _reweight(chain, engine, given[known], batch.weight[known])
                outside = np.flatnonzero(~known & (batch.weight > 0))
                while len(outside):
                    wrong = np.ones(len(outside), dtype=bool)  # before there is a machine
                    if engine.heads:
                        wrong = self._slack(model, batch.rows(outside)) < -_VIOLATED
                    if not wrong.any():
                        break
                    part = batch.rows(outside[wrong])
                    chain.add(
                        engine.learn(part.X, part.targets, part.weight, part.ids, part.groups)
                    )
                    outside = outside[~wrong]
                support = self._drop(chain, engine)
            model.labels = batch.labels
            now = Past(past.batches, float(trained), past.seen, born=past.born, factor=factor)
            model.past = now.only(engine.ids, support, engine.weight_of(support))
        return self if chain.step is None else self._after(model, chain.step, "refine")

    @property
    @reads
    def sv_weight_(self) -> dict[Any, float]:
        """Weights of the examples held in the present model, by id."""
        engine = self._held().engine
        return dict(zip(engine.ids.tolist(), engine.weight.tolist(), strict=True))

    @property
    @reads
    def n_batches_(self) -> int:
        """Number of batches learned since the last `fit`, which is the first."""
        past = self._held().past
        return 0 if past is None else past.batches


def _support(engine: Engine) -> NDArray[np.int64]:
    """Return the slots of the support vectors of all machines; of all examples without one."""
    heads = engine.heads.values()
    if not heads:
        return np.arange(engine.n, dtype=np.int64)
    return np.unique(np.concatenate([head.slots for head in heads]))


def _reweight(chain: Chain, engine: Engine, ids: NDArray[Any], weight: NDArray[np.float64]) -> None:
    """Give examples other weights, if these are others."""
    if not np.array_equal(engine.weight_of(ids), weight):
        chain.add(engine.reweight(ids, weight))
