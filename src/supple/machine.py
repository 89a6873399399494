"""One head of an engine: the QP state in the core, and whether it has a solution yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from supple._core import Head
from supple.problems import Problem
from supple.qp import Readout

__all__ = ["HeadView", "Machine"]


@dataclass
class Machine:
    """A head that is `ready`, or waits for examples and then says why in `reason`.

    A waiting head holds its members with empty boxes, so that x = 0.
    """

    core: Any
    ready: bool = False
    reason: str = "no examples yet"
    iterations: int = 0
    converged: bool = True

    @classmethod
    def empty(cls, gram: Any, problem: Problem) -> Machine:
        return cls(Head(gram.core, problem.per, problem.groups))

    @property
    def record(self) -> tuple[bool, str, int, bool]:
        """Everything but the state in the core."""
        return self.ready, self.reason, self.iterations, self.converged

    @record.setter
    def record(self, values: tuple[bool, str, int, bool]) -> None:
        self.ready, self.reason, self.iterations, self.converged = values

    def to_arrays(self) -> dict[str, Any]:
        """Return what defines this machine; Kx and the factor are derived from it."""
        core = self.core
        names = ("slot", "c", "group", "x", "lo", "hi", "mu", "target")
        return {name: getattr(core, name) for name in names} | {"record": self.record}

    @classmethod
    def from_arrays(cls, gram: Any, problem: Problem, arrays: dict[str, Any]) -> Machine:
        """Build the machine again."""
        machine = cls.empty(gram, problem)
        core = machine.core
        core.append(arrays["slot"], arrays["c"], arrays["group"])
        core.assign(*(arrays[name] for name in ("x", "lo", "hi", "mu", "target")))
        machine.record = arrays["record"]
        return machine


class HeadView:
    """What readers see of a head. Valid until the next change of the engine."""

    def __init__(self, machine: Machine, problem: Problem) -> None:
        self._machine = machine
        self._problem = problem

    @property
    def ready(self) -> bool:
        """Whether the head has a solution."""
        return self._machine.ready

    @property
    def reason(self) -> str:
        """Why there is no solution yet."""
        return self._machine.reason

    @property
    def readout(self) -> Readout:
        """How the decision function reads the state."""
        mu: Sequence[float] = self._machine.core.mu
        return self._problem.readout(mu)

    def _expansion(self) -> tuple[np.ndarray, np.ndarray]:
        x = self._machine.core.x.reshape(-1, self._problem.per).sum(axis=1)
        support = np.flatnonzero(x)
        slots = self._machine.core.slot[support]
        order = np.argsort(slots)
        return slots[order], x[support][order]

    @property
    def slots(self) -> np.ndarray:
        """Slots of the support vectors, ascending."""
        return self._expansion()[0]

    @property
    def coef(self) -> np.ndarray:
        """Coefficients of the support vectors in the decision function."""
        return self.readout.scale * self._expansion()[1]

    @property
    def intercept(self) -> float:
        """Constant of the decision function."""
        return self.readout.intercept

    @property
    def margin_slots(self) -> np.ndarray:
        """Slots of the examples with a variable strictly inside its box, ascending."""
        core = self._machine.core
        return np.sort(core.slot[np.unique(core.inside() // self._problem.per)])

    @property
    def n_margin(self) -> int:
        """Number of variables strictly inside their box."""
        return len(self._machine.core.inside())

    def kkt_violation(self) -> float:
        """Return the largest KKT violation relative to the scale of c, from scratch."""
        return float(self._machine.core.kkt())

    def dual_objective(self) -> float:
        """Return c'x - 1/2 x'Kx, from scratch."""
        return -float(self._machine.core.objective())
