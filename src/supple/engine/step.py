"""The record of one operation, and the listeners that receive it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from supple.errors import NotConvergedWarning
from supple.progress import Progress

__all__ = ["Run", "Step"]

NOTHING = np.empty(0, dtype=np.int64)


class Step(NamedTuple):
    """What one operation did, including the orders of the memory."""

    action: str
    ids: np.ndarray  # the examples named in the call
    route: str  # of the machine with the most work; see supple.solvers.Route
    breakpoints: int
    iterations: int
    n_margin: int
    kkt: float
    seconds: float
    forgotten: np.ndarray = NOTHING  # ids of the examples that the memory let go


@dataclass
class Run:
    """Threads, progress and listeners of the operations of an engine."""

    threads: int = 1
    not_converged: type[Warning] = NotConvergedWarning
    progress: Progress | None = None  # of the present operation
    # The error of the model on the examples at some slots, by the estimate of the memory.
    judge: Callable[[np.ndarray], float] | None = None
    listeners: list[Callable[[Step], None]] = field(default_factory=list)

    def report(self, step: Step) -> Step:
        """Pass the record to the listeners."""
        for listener in self.listeners:
            listener(step)
        return step

    def alone(self) -> Run:
        """Return the same without listeners and progress, for a copy of the engine."""
        return Run(self.threads, self.not_converged)
