"""Learners on a stream: with scikit-learn's API, and with River's."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import deepcopy
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from supple.errors import InfeasibleError, InvalidInputError
from supple.estimators._base import BaseSVM
from supple.streams._measure import attribute, first_options, machine_of, seeded
from supple.streams._metrics import Detection, Kind, is_river

__all__ = ["Learner", "make_learner"]


class Learner(ABC):
    """One learner, with answers in the form that its kind scores.

    Attributes
    ----------
    model : object
        The fitted model, None if nothing has been learned.
    """

    def __init__(self, kind: Kind, classes: NDArray[Any] | None) -> None:
        self._kind = kind
        self._classes = classes
        self._codes = {} if classes is None else {c: i for i, c in enumerate(classes.tolist())}
        self.model: Any = None

    @abstractmethod
    def rows(self, X: Any) -> Any:
        """Return points in the form that the learner takes; its time is not measured."""

    @abstractmethod
    def predict(self, rows: Any) -> NDArray[Any]:
        """Return an answer for every row."""

    @abstractmethod
    def learn(self, rows: Any, y: NDArray[Any] | None, timestamps: NDArray[Any] | None) -> None:
        """Learn examples; y is None if there are no targets to learn from."""

    def _coded(self, answers: Sequence[Any]) -> NDArray[Any]:
        """Return labels as positions among the classes, -1 for anything else."""
        return np.array([self._codes.get(answer, -1) for answer in answers], dtype=np.intp)

    def told(self, name: str) -> Any:
        """Return the value of an attribute or a method without arguments, None if there is none."""
        value = attribute(machine_of(self.model), name)
        try:
            return value() if callable(value) else value
        except Exception:  # computed attributes may raise anything
            return None


class ScikitLearner(Learner):
    """An estimator with partial_fit and predict."""

    def __init__(
        self, estimator: Any, kind: Kind, classes: NDArray[Any] | None, seed: int | None
    ) -> None:
        super().__init__(kind, classes)
        self._template = seeded(estimator, seed)
        self._timed = False

    def rows(self, X: Any) -> Any:
        return X

    def predict(self, rows: Any) -> NDArray[Any]:
        if self.model is None:
            return self._kind.silence(rows.shape[0])
        try:
            answers = self._kind.answers(self.model, rows, scored=True)
        except (NotFittedError, InfeasibleError):  # it has not learned enough yet
            return self._kind.silence(rows.shape[0])
        return self._coded(answers.tolist()) if self._codes else answers

    def learn(self, rows: Any, y: NDArray[Any] | None, timestamps: NDArray[Any] | None) -> None:
        options: dict[str, Any] = {}
        model = self.model
        if model is None:
            model = clone(self._template)
            options = first_options(model, self._classes)
            self._timed = timestamps is not None and _asks_for_times(model)
        if self._timed:
            options["timestamps"] = timestamps
        data = (rows,) if y is None else (rows, y)
        model.partial_fit(*data, **options)
        self.model = model


def _asks_for_times(estimator: Any) -> bool:
    """Return whether examples are learned with their timestamps."""
    if "timestamps" not in inspect.signature(estimator.partial_fit).parameters:
        return False
    # Those of supple refuse timestamps that their memory does not use.
    return not isinstance(estimator, BaseSVM) or estimator._goes_by_time()


class RiverLearner(Learner):
    """A model of River: learn_one, and predict_one or score_one, of features in a dict."""

    def __init__(
        self, model: Any, kind: Kind, classes: NDArray[Any] | None, names: Sequence[Any] | None
    ) -> None:
        super().__init__(kind, classes)
        self._names = names
        self._place = self._codes  # of the labels in the stream
        self._labels: list[Any] = list(self._codes)  # as passed to the model
        if self._labels and not getattr(model, "_multiclass", True):
            if len(self._labels) > 2:
                raise InvalidInputError(
                    f"{type(model).__name__} of River takes two classes. Got {len(self._labels)} "
                    "in y. Wrap it into river.multiclass.OneVsRestClassifier."
                )
            # Binary models of River take only these labels.
            self._labels = [False, True]
            self._codes = {False: 0, True: 1}
        self.model = model.clone() if hasattr(model, "clone") else deepcopy(model)

    def rows(self, X: Any) -> list[Any]:
        if X.ndim != 2:  # texts, for River's own extractors of features
            return list(X)
        names = range(X.shape[1]) if self._names is None else self._names
        if not sp.issparse(X):
            return [dict(zip(names, row, strict=True)) for row in X.tolist()]
        ends = X.indptr.tolist()
        keys, values = [names[i] for i in X.indices.tolist()], X.data.tolist()
        return [dict(zip(keys[a:b], values[a:b], strict=True)) for a, b in pairwise(ends)]

    def predict(self, rows: Any) -> NDArray[Any]:
        if isinstance(self._kind, Detection):
            return np.array([self._judged(row) for row in rows])
        answers = [self.model.predict_one(row) for row in rows]
        if self._codes:
            return self._coded(answers)
        return np.array([np.nan if a is None else a for a in answers], dtype=np.float64)

    def _judged(self, row: dict[Any, float]) -> tuple[float, float]:
        """Return the decision, 1 or -1, if there is one, and a value that is large for inliers."""
        score = self.model.score_one(row)
        if not hasattr(self.model, "classify"):
            return np.nan, -score
        return -1.0 if self.model.classify(score) else 1.0, -score

    def learn(self, rows: Any, y: NDArray[Any] | None, timestamps: NDArray[Any] | None) -> None:
        if y is None:
            for row in rows:
                self.model.learn_one(row)
            return
        targets = y.tolist()
        if self._labels:
            targets = [self._labels[self._place[label]] for label in targets]
        for row, target in zip(rows, targets, strict=True):
            self.model.learn_one(row, target)


def make_learner(
    name: str,
    given: Any,
    kind: Kind,
    classes: NDArray[Any] | None,
    seed: int | None,
    names: Sequence[Any] | None,
) -> Learner:
    """Return a learner for a copy of the model that the user gave."""
    if is_river(given):
        return RiverLearner(given, kind, classes, names)
    if not (hasattr(given, "partial_fit") and hasattr(given, "predict")):
        raise InvalidInputError(
            "prequential takes learners with partial_fit and predict, or River's with learn_one. "
            f"The one named {name!r} is {given!r}. supple.compare fits those without partial_fit "
            "anew at growing sizes."
        )
    return ScikitLearner(given, kind, classes, seed)
