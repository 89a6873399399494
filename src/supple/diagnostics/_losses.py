"""Losses on a test set, from the decision values of the machines."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.engine.head import Key
from supple.errors import InvalidInputError
from supple.estimators._classifier import BaseClassifier
from supple.estimators._machines import Machines
from supple.estimators._model import Model
from supple.estimators._outlier import BaseOutlier
from supple.estimators._params import show
from supple.estimators._updates import ExactUpdates
from supple.estimators._values import check_numeric, check_targets


class Loss(ABC):
    """The mean loss on a test set.

    Values of the machines have a row for each test point; those no larger than `doubt` may be 0.
    The class at the place `gone` has no examples.
    """

    names: tuple[str, ...]  # of the losses, the default first
    keys: list[Key]  # of the heads that are the machines
    signs: NDArray[np.float64]  # of the machines in terms of the heads

    @abstractmethod
    def targets(self, y: Any) -> NDArray[Any]:
        """Return the targets that `of` compares with."""

    @abstractmethod
    def of(self, values: NDArray[np.float64], doubt: float = 0.0, gone: int | None = None) -> float:
        """Return the mean loss."""

    def prepare(self, action: str, name: Any, y: Any, n: int) -> None:
        """Set the loss by its name, and the targets of the n test points."""
        self.action = action
        self.name = self.names[0] if name is None else name
        if not isinstance(self.name, str) or self.name not in self.names:
            raise InvalidInputError(
                f"The 'loss' parameter of {action} must be one of {show(list(self.names))} for "
                f"this model. Got {show(name)} instead."
            )
        try:
            given = np.asarray(y)
        except ValueError:
            given = np.empty(())
        if given.shape != (n,):
            raise InvalidInputError(
                f"The 'y_test' given to {action} must have one target for each of the {n} rows of "
                f"'X_test'. Got shape {given.shape} instead."
            )
        self.y = self.targets(given)


class ClassLoss(Loss):
    """Share of wrong predictions, or the hinge loss of the margins (48)."""

    names = ("hinge", "error")

    def __init__(self, machines: Machines) -> None:
        self.machines = machines
        self.keys, self.signs = machines.keys, machines.classes.signs

    def targets(self, y: Any) -> NDArray[Any]:
        place = {label: k for k, label in enumerate(self.machines.classes.labels.tolist())}
        unknown = sorted({label for label in y.tolist() if label not in place}, key=repr)
        if unknown:
            raise InvalidInputError(
                f"The 'y_test' given to {self.action} must have labels of the model, which are "
                f"{show(list(place))}. Got {show(unknown)} as well. Leave these rows out, or let "
                "the model learn examples of these classes."
            )
        return np.array([place[label] for label in y.tolist()], dtype=np.intp)

    def of(self, values: NDArray[np.float64], doubt: float = 0.0, gone: int | None = None) -> float:
        if self.name == "hinge":
            margin = self.machines.margins(values, gone)[np.arange(len(self.y)), self.y]
            return float(np.maximum(0.0, 1.0 - margin).mean())
        if gone is None:
            return float(np.mean(self.machines.winners(values) != self.y))
        return float(np.mean(self.machines.winners_without(gone, values) != self.y))


class _Single(Loss):
    """A model with one machine."""

    def __init__(self, model: Model) -> None:
        self.keys, self.signs = list(model.state.head_states), np.ones(1)


class RegressionLoss(_Single):
    """Absolute or squared residuals."""

    names = ("absolute", "squared")

    def targets(self, y: Any) -> NDArray[Any]:
        check_numeric(y)
        return check_targets(y, y)

    def of(self, values: NDArray[np.float64], doubt: float = 0.0, gone: int | None = None) -> float:
        residual = self.y - values[:, 0]
        return float(np.mean(np.abs(residual) if self.name == "absolute" else residual**2))


class OutlierLoss(_Single):
    """Share of inliers and outliers that are misclassified."""

    names = ("error",)

    def targets(self, y: Any) -> NDArray[Any]:
        wrong = [value for value in y.tolist() if value not in (1, -1)]
        if wrong:
            raise InvalidInputError(
                f"The 'y_test' given to {self.action} must be 1 for inliers and -1 for outliers. "
                f"Got {show(wrong[0])} instead."
            )
        return np.asarray(y > 0)

    def of(self, values: NDArray[np.float64], doubt: float = 0.0, gone: int | None = None) -> float:
        return float(np.mean((values[:, 0] >= -doubt) != self.y))


def loss_for(estimator: ExactUpdates, model: Model, action: str) -> Loss:
    """Return the loss for an estimator."""
    if isinstance(estimator, BaseClassifier):
        return ClassLoss(Machines.of(estimator, model, action))
    return OutlierLoss(model) if isinstance(estimator, BaseOutlier) else RegressionLoss(model)
