"""Several operations of an engine as one update."""

from __future__ import annotations

import time
from collections import Counter

from supple.engine import Step
from supple.estimators._model import Model


class Chain:
    """A context in which operations succeed together, or leave the model as it was.

    Within it Ctrl-C must be shielded, as it is in all updates.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._step: Step | None = None
        self._iterations: Counter[tuple[int, ...]] = Counter()
        self._start = time.perf_counter()

    def __enter__(self) -> Chain:
        self._undo = self._model.engine.checkpoint()
        return self

    def add(self, step: Step) -> None:
        """Note that the engine has done another operation."""
        self._step = step if self._step is None else self._step.and_then(step)
        self._iterations.update(self._model.engine.n_iter)

    def __exit__(self, kind: object, *error: object) -> None:
        if kind is not None:
            self._undo()
        else:
            self._model.engine.note_iterations(self._iterations)

    @property
    def step(self) -> Step | None:
        """The record of all operations as one, None if there was none."""
        return self._step and self._step._replace(seconds=self.seconds)

    @property
    def seconds(self) -> float:
        """Time since the first operation."""
        return time.perf_counter() - self._start
