"""A fixed number of examples in memory: what BudgetSVC and BudgetSVDD share."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from supple.engine import Step
from supple.estimators._chain import Chain
from supple.estimators._model import Batch, Model

_PROGRESS = 1000  # examples after which verbose says how far it has come


class Budgeted:
    """Learn examples one by one; when more than `budget` are held, one of them is forgotten.

    Both steps are exact, so at any time the model is the optimum on the examples held. A call
    succeeds as a whole, or leaves the model as it was.
    """

    budget: int
    verbose: Any
    _lasting = True
    _keeps_all = False

    @abstractmethod
    def _leaver(self, model: Model) -> int:
        """Return the position of the example to be forgotten."""

    def _least_cache(self) -> int:
        # Rows grow by a quarter at a time.
        return 10 * (int(self.budget) + 32) ** 2

    def _learn(self, model: Model, batch: Batch, *, whole: bool) -> Step:
        engine, n = model.engine, batch.X.shape[0]
        ids = engine.number(batch.ids, n)
        batch = batch._replace(ids=ids)
        with Chain(model) as chain:
            for i in range(n):
                one = batch.rows(slice(i, i + 1))
                chain.add(engine.learn(one.X, one.targets, one.weight, one.ids, one.groups))
                if engine.n > self.budget:
                    leaver = self._leaver(model)
                    chain.add(engine.unlearn(engine.ids[leaver : leaver + 1]))
                if self.verbose and (i + 1) % _PROGRESS == 0 and i + 1 < n:
                    print(f"[{type(self).__name__}] {i + 1} of {n} examples, {chain.seconds:.1f} s")
        assert chain.step is not None
        return chain.step._replace(ids=ids)
