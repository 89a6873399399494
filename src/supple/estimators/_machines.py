"""The machines of a classifier in scikit-learn's order and signs, for diagnostics."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from supple.engine import State
from supple.engine.head import Key
from supple.errors import InvalidInputError
from supple.estimators._classifier import (
    BaseClassifier,
    Classes,
    _one_per_class,
    _sides,
    _votes,
)
from supple.estimators._labels import LabelTable
from supple.estimators._model import Model


@dataclass(frozen=True)
class Machines:
    """Which machine decides between which classes, and how they vote."""

    classes: Classes
    keys: list[Key]  # of the heads, in the order of the machines
    pairwise: bool
    break_ties: bool

    @classmethod
    def of(cls, estimator: BaseClassifier, model: Model, action: str) -> Machines:
        """Return the machines of a classifier; raise if it holds fewer than two classes."""
        machines = cls.found(estimator, model, model.labels)
        if not machines.keys:
            classes = machines.classes
            raise InvalidInputError(
                f"The 'model' given to {action} must hold examples of two classes with weight. Got "
                f"a {type(estimator).__name__} with {classes.labels.tolist()} instead. Add "
                "examples of another class by partial_fit."
            )
        return machines

    @classmethod
    def found(cls, estimator: BaseClassifier, model: Model, labels: LabelTable) -> Machines:
        """Return the machines of a classifier; none if it has fewer than two classes."""
        # Not estimator._classes, which would cache the result in the model.
        classes = estimator._find_classes(model, labels)
        heads = list(model.state.head_states)
        pairwise = model.params["multi_class"] == "ovo"
        keys = [heads[column] for column in classes.columns.tolist()]
        return cls(classes, keys, pairwise, bool(estimator.break_ties))

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes.codes)

    @property
    def sides(self) -> list[tuple[int, int | None]]:
        """The classes that each machine is positive and negative on; None: all others."""
        k = self.n_classes
        if k == 2:
            return [(1, 0)]
        return list(combinations(range(k), 2)) if self.pairwise else [(i, None) for i in range(k)]

    def places(self, codes: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return the places of classes in `labels`, -1 for those without weight."""
        out = np.full(len(codes), -1, dtype=np.intp)
        for place, code in enumerate(self.classes.codes):
            out[codes == code] = place
        return out

    def sole(self, state: State, slots: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which of these examples are the only ones with weight in their class."""
        counts = np.bincount(self.places(state.y[state.weight > 0.0]), minlength=self.n_classes)
        own = self.places(state.y[slots])
        return np.asarray((counts[own] == 1) & (state.weight[slots] > 0.0))

    def decision(self, state: State, slots: NDArray[np.int64], threads: int) -> Any:
        """Return the decision values at these slots, one column per machine."""
        decision = state.decision(state.points(slots), threads).take(self.classes.columns, axis=1)
        return decision * self.classes.signs

    def label(self, place: int | None) -> Any:
        """Return the label of a class as a plain value."""
        return None if place is None else self.classes.labels[place : place + 1].tolist()[0]

    def winners(self, values: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return the predicted class for each row of decision values."""
        if self.n_classes == 2:
            return (values[:, 0] >= 0).astype(np.intp)
        return self._chosen(values, self.n_classes)

    def per_class(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return one column for each class, or a single one for two."""
        if self.n_classes == 2 or not self.pairwise:
            return values
        return _one_per_class(values, self.n_classes)

    def winners_without(self, place: int, values: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return the predicted classes if the class `place` has no examples."""
        others = np.delete(np.arange(self.n_classes), place)
        if len(others) == 1:
            return np.full(len(values), others[0])
        own = [place not in side for side in self.sides]
        return others[self._chosen(values[:, own], len(others))]

    def margins(self, values: NDArray[np.float64], gone: int | None = None) -> NDArray[np.float64]:
        """Return the lead of each class over the best of the others (48), one column for each.

        The class `gone` has no examples: all others lead it by 1.
        """
        k = self.n_classes
        if k == 2:
            f = np.full(len(values), 2.0 * (1 - gone) - 1.0) if gone is not None else values[:, 0]
            return np.column_stack([-f, f])
        places = [place for place in range(k) if place != gone]
        out = np.full((len(values), k), np.inf if gone is None else 1.0)
        if gone is not None:
            out[:, gone] = -1.0
        if self.pairwise:
            for f, (one, other) in zip(values.T, self.sides, strict=True):
                if one != gone and other != gone and other is not None:
                    np.minimum(out[:, one], f, out=out[:, one])
                    np.minimum(out[:, other], -f, out=out[:, other])
            return out
        for place in places:
            others = [other for other in places if other != place]
            lead = (values[:, place] - values[:, others].max(axis=1)) / 2.0
            np.minimum(out[:, place], lead, out=out[:, place])
        return out

    def probabilities(self, values: NDArray[np.float64], slope: float) -> NDArray[np.float64]:
        """Return a sigmoid of the values (50), one column for each class."""
        k = self.n_classes
        if k == 2:
            scores = values * np.array([[-0.5, 0.5]])
        else:
            scores = values @ _sides(k) / k if self.pairwise else values / 2.0
        out: NDArray[np.float64] = softmax(slope * scores, axis=1)
        return out

    def _chosen(self, values: NDArray[np.float64], k: int) -> NDArray[np.intp]:
        if not self.pairwise:
            return np.argmax(values, axis=1)
        votes = _votes(values > 0, k)
        if self.break_ties and k > 2:
            votes = _one_per_class(values, k)
        return np.argmax(votes, axis=1)
