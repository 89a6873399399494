"""The three kinds of estimators: what they learn from, and how their predictions are scored."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_outlier_detector, is_regressor
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets

from supple.errors import InvalidInputError

__all__ = ["Kind", "kind_of"]

Scores = dict[str, float | None]


class Kind(ABC):
    """What estimators of one kind have in common."""

    name: ClassVar[str]
    metrics: ClassVar[tuple[str, ...]]  # fields of a record, the most telling one first
    takes_targets: ClassVar[bool] = True  # to learn

    @abstractmethod
    def check_stream(self, y: NDArray[Any] | None) -> None:
        """Raise unless the stream has targets of the kind."""

    @abstractmethod
    def check_test(self, y_test: NDArray[Any] | None, y: NDArray[Any] | None) -> None:
        """Raise unless the test set has targets that can be met."""

    def classes(self, y: NDArray[Any] | None) -> NDArray[Any] | None:
        """Return what partial_fit must be told beforehand, None if nothing."""
        return None

    def answers(self, model: Any, X: Any, scored: bool) -> NDArray[Any]:
        """Return what the model says about X; `scored` if targets will be compared with it."""
        return np.asarray(model.predict(X))

    @abstractmethod
    def scores(self, answers: NDArray[Any], y: NDArray[Any] | None) -> Scores:
        """Return the metrics of all answers since the last record."""


class Classification(Kind):
    """Labels, and the share of those that are met."""

    name = "classifiers"
    metrics = ("accuracy",)

    def check_stream(self, y: NDArray[Any] | None) -> None:
        y = _required(y, "y", self.name)
        check_classification_targets(y)
        classes = np.unique(y)
        if len(classes) < 2:
            raise InvalidInputError(
                "compare needs a stream of two classes or more. Got only "
                f"{classes.tolist()[0]!r} in y. Give examples of another class, too."
            )

    def check_test(self, y_test: NDArray[Any] | None, y: NDArray[Any] | None) -> None:
        y_test = _required(y_test, "y_test", self.name)
        classes = np.unique(_required(y, "y", self.name))
        if not np.isin(y_test, classes).any():
            raise InvalidInputError(
                f"No label of y_test occurs in y: {np.unique(y_test)[:5]} and {classes[:5]}. Write "
                "the labels of both in the same way."
            )

    def classes(self, y: NDArray[Any] | None) -> NDArray[Any] | None:
        return np.unique(_required(y, "y", self.name))

    def scores(self, answers: NDArray[Any], y: NDArray[Any] | None) -> Scores:
        return {"accuracy": float(np.mean(answers == y))}


class Regression(Kind):
    """Numbers, and how far off the predictions are."""

    name = "regressors"
    metrics = ("r2", "mae")

    def check_stream(self, y: NDArray[Any] | None) -> None:
        _numbers(_required(y, "y", self.name), "y")

    def check_test(self, y_test: NDArray[Any] | None, y: NDArray[Any] | None) -> None:
        _numbers(_required(y_test, "y_test", self.name), "y_test")

    def scores(self, answers: NDArray[Any], y: NDArray[Any] | None) -> Scores:
        y = np.asarray(y, dtype=np.float64)
        missed = y - answers
        spread = float(np.sum((y - y.mean()) ** 2))
        r2 = 1.0 - float(missed @ missed) / spread if spread > 0.0 else None
        return {"r2": r2, "mae": float(np.abs(missed).mean())}


class Detection(Kind):
    """No targets to learn from; labels, if there are any, only say which examples are outliers."""

    name = "outlier detectors"
    metrics = ("auc", "inlier_share")
    takes_targets = False

    def check_stream(self, y: NDArray[Any] | None) -> None:
        _signs(y, "y")

    def check_test(self, y_test: NDArray[Any] | None, y: NDArray[Any] | None) -> None:
        _signs(y_test, "y_test")

    def answers(self, model: Any, X: Any, scored: bool) -> NDArray[Any]:
        """Return predictions beside decision values, NaN where these are not needed or unknown."""
        ranked = scored and hasattr(model, "decision_function")
        values = model.decision_function(X) if ranked else np.full(X.shape[0], np.nan)
        return np.column_stack([model.predict(X), values])

    def scores(self, answers: NDArray[Any], y: NDArray[Any] | None) -> Scores:
        inside, values = answers.T
        auc = None
        if y is not None and len(np.unique(y)) == 2 and not np.isnan(values).any():
            # Nothing else here needs it, and it is large.
            from sklearn.metrics import roc_auc_score

            auc = float(roc_auc_score(y, values))
        return {"auc": auc, "inlier_share": float(np.mean(inside == 1))}


def kind_of(estimators: Mapping[str, Any]) -> Kind:
    """Return the kind of all these estimators; raise if they are of several."""
    kinds = {name: _kind(estimator) for name, estimator in estimators.items()}
    known = {name: kind for name, kind in kinds.items() if kind is not None}
    found = set(known.values())
    if len(found) > 1:
        listed = ", ".join(f"{name!r} ({kind.name})" for name, kind in known.items())
        raise InvalidInputError(
            f"compare takes estimators of one kind, so that one score fits all. Got {listed}. "
            "Compare each kind by itself."
        )
    return (found.pop() if found else Classification)()


def _kind(estimator: Any) -> type[Kind] | None:
    try:
        if is_regressor(estimator):
            return Regression
        return Detection if is_outlier_detector(estimator) else Classification
    except AttributeError:  # it has scikit-learn's methods, but not its tags
        return None


def _required(y: NDArray[Any] | None, what: str, kind: str) -> NDArray[Any]:
    if y is None:
        raise InvalidInputError(f"compare needs {what} for {kind}. Pass the targets of X.")
    return y


def _numbers(y: NDArray[Any], what: str) -> None:
    check_array(y, ensure_2d=False, dtype="numeric", input_name=what)


def _signs(y: NDArray[Any] | None, what: str) -> None:
    if y is not None and not np.isin(y, [-1, 1]).all():
        raise InvalidInputError(
            f"For outlier detectors the labels in {what} must be 1 (inlier) or -1 (outlier), as "
            f"predict gives them. Got {np.unique(y)[:5]}. Translate them, or pass None."
        )
