"""Estimates of the error of an estimator during an operation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.errors import InfeasibleError, InvalidInputError
from supple.estimators._base import BaseSVM
from supple.estimators._classifier import BaseClassifier
from supple.estimators._labels import LabelTable
from supple.estimators._left_out import LeftOut
from supple.estimators._machines import Machines
from supple.estimators._model import Model
from supple.estimators._xi_alpha import XiAlphaTest
from supple.memory import Memory
from supple.problems import CSVC


class Judge:
    """Estimates the error on some examples by the estimate that a memory names.

    Parameters
    ----------
    estimator : BaseSVM
    model : Model
        Model of the estimator; it may change between calls within one operation.
    labels : LabelTable
        Table that includes the labels of the examples being learned.
    memory : Memory
    """

    def __init__(
        self, estimator: BaseSVM, model: Model, labels: LabelTable, memory: Memory
    ) -> None:
        self._estimator, self._model, self._labels = estimator, model, labels
        self._classifies = isinstance(estimator, BaseClassifier)
        self._test: Any = None
        if memory.estimate == "xi_alpha":
            self._test = XiAlphaTest(float(memory.rho))
        if not (self._classifies or estimator._targets.y_check):
            raise InvalidInputError(
                f"The 'memory' parameter of {type(estimator).__name__} cannot be {memory}: without "
                "labels or targets there is no error to choose a window by. Choose Window."
            )
        problem = model.state.problem
        hinge = self._classifies and isinstance(problem, CSVC)
        if self._test is not None and isinstance(problem, CSVC) and problem.squared:
            raise InvalidInputError(
                f"The 'memory' parameter of {type(estimator).__name__} cannot be {memory} with "
                "loss='squared_hinge': the xi-alpha estimate is for the hinge loss. Choose "
                "estimate='leave_one_out', or loss='hinge'."
            )
        if self._test is not None and not hinge:
            raise InvalidInputError(
                f"The 'memory' parameter of {type(estimator).__name__} cannot be {memory}: the "
                "xi-alpha estimate is for classifiers with the hinge loss, such as SVC. Choose "
                "estimate='leave_one_out'."
            )

    def __call__(self, slots: NDArray[np.int64]) -> float:
        """Return the estimated error on these examples; NaN without a machine."""
        state = self._model.state
        if state.waiting or not state.head_states:
            return math.nan
        state.drop_derived()  # derived values may be older than the operation
        try:
            return self._error(slots)
        except InfeasibleError:  # no model without some of them
            return math.nan
        finally:
            state.drop_derived()

    def _error(self, slots: NDArray[np.int64]) -> float:
        state, threads = self._model.state, self._model.engine.run.threads
        if isinstance(self._estimator, BaseClassifier):
            machines = Machines.found(self._estimator, self._model, self._labels)
            if not machines.keys:
                return math.nan
            if self._test is not None:
                return float(self._test.of(state, machines, slots).wrong.mean())
            left = LeftOut(state, slots, threads, None).classified(machines)
            return float(np.mean(~left.correct))
        if np.count_nonzero(state.weight) < 2:
            return math.nan
        values, _ = LeftOut(state, slots, threads, None).single()
        return float(np.abs(state.y[slots] - values).mean())
