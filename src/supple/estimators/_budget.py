"""A fixed number of examples in memory: what BudgetSVC and BudgetSVDD share."""

from __future__ import annotations

from abc import abstractmethod

from supple.engine import Step
from supple.estimators._chain import Chain
from supple.estimators._model import Batch, Model


class Budgeted:
    """Learn examples one by one; when more than `budget` are held, one of them is forgotten.

    Both steps are exact, so at any time the model is the optimum on the examples held. A call
    succeeds as a whole, or leaves the model as it was.
    """

    budget: int
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
                if engine.progress is not None:
                    engine.progress.at("example", i + 1, n)
                one = batch.rows(slice(i, i + 1))
                chain.add(engine.learn(one.X, one.targets, one.weight, one.ids, one.groups))
                if engine.n > self.budget:
                    leaver = self._leaver(model)
                    chain.add(engine.unlearn(engine.ids[leaver : leaver + 1]))
        assert chain.step is not None
        return chain.step._replace(ids=ids)
