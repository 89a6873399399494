"""The three kinds of learners, and the scores of their answers."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_outlier_detector, is_regressor
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets

from supple.errors import InvalidInputError

__all__ = ["Classification", "Detection", "Kind", "Regression", "Scores", "is_river", "kind_of"]


@dataclass(frozen=True)
class Scores:
    r"""The metrics of a run of answers; those of other kinds of learners are None.

    With p_0 the share of correct predictions, all kappas are (p_0 - p_e) / (1 - p_e). They differ
    in the reference classifier with the share p_e::

        kappa     p_e = sum_c P(y = c) P(answer = c), a guess with the frequencies of the answers
        kappa_t   p_e = share of the no-change classifier, which repeats the latest label
        kappa_m   p_e = share of the majority classifier, which gives the most frequent label

    The last two use only labels that have reached the learner. A kappa is 1 for perfect answers, 0
    for answers as good as the reference, and None if the reference makes no errors.

    Attributes
    ----------
    accuracy, kappa, kappa_t, kappa_m : float or None
        Classifiers. Cohen (1960); Zliobaite et al. (2015); Bifet et al. (2015). Shares, where
        CapyMOA gives per cent.
    mae, rmse, r2 : float or None
        Regressors: mean absolute error, root of the mean squared error, and coefficient of
        determination (None if all targets are equal).
    auc : float or None
        Outlier detectors with labels of both kinds: area under the ROC curve of the decision
        values.
    alarm_share : float or None
        Outlier detectors: share of the examples that are called outliers.

    Examples
    --------
    >>> from supple.streams import Scores
    >>> Scores(accuracy=0.9).kappa is None
    True
    """

    accuracy: float | None = None
    kappa: float | None = None
    kappa_t: float | None = None
    kappa_m: float | None = None
    mae: float | None = None
    rmse: float | None = None
    r2: float | None = None
    auc: float | None = None
    alarm_share: float | None = None


class Kind(ABC):
    """Learners of one kind.

    Parameters
    ----------
    caller : str
        The function that the user has called, for messages.
    """

    name: ClassVar[str]
    metrics: ClassVar[tuple[str, ...]]  # of compare, the most telling one first
    stream_metrics: ClassVar[tuple[str, ...]]  # fields of Scores, the most telling one first
    takes_targets: ClassVar[bool] = True  # to learn

    def __init__(self, caller: str = "compare") -> None:
        self.caller = caller

    @abstractmethod
    def check_stream(self, y: NDArray[Any] | None) -> None:
        """Raise unless the stream has targets of the kind."""

    @abstractmethod
    def check_test(self, y_test: NDArray[Any] | None, y: NDArray[Any] | None) -> None:
        """Raise unless the test set has possible targets."""

    def classes(self, y: NDArray[Any] | None) -> NDArray[Any] | None:
        """Return the classes for the first partial_fit, None if there are none."""
        return None

    def answers(self, model: Any, X: Any, scored: bool) -> NDArray[Any]:
        """Return the answers of the model for X; `scored` if there are targets."""
        return np.asarray(model.predict(X))

    def silence(self, n: int) -> NDArray[Any]:
        """Return `n` missing answers."""
        return np.full(n, np.nan)

    def count_silent(self, answers: NDArray[Any]) -> int:
        """Return the number of missing answers."""
        return int(np.isnan(answers).sum())

    @abstractmethod
    def scores(self, answers: NDArray[Any], y: NDArray[Any] | None) -> dict[str, float | None]:
        """Return the metrics of compare."""

    @abstractmethod
    def stream_scores(
        self, answers: NDArray[Any], y: NDArray[Any] | None, hits: NDArray[Any]
    ) -> Scores:
        """Return the metrics of a stream.

        `hits` has two columns: whether the no-change and the majority classifier were right. The
        labels of classifiers are codes >= 0. Answers may be missing.
        """

    def _required(self, y: NDArray[Any] | None, what: str) -> NDArray[Any]:
        if y is None:
            raise InvalidInputError(
                f"{self.caller} needs {what} for {self.name}. Pass the targets of X."
            )
        return y


class Classification(Kind):
    """Classifiers, scored by the share of correct labels."""

    name = "classifiers"
    metrics = ("accuracy",)
    stream_metrics = ("accuracy", "kappa", "kappa_t", "kappa_m")

    def check_stream(self, y: NDArray[Any] | None) -> None:
        y = self._required(y, "y")
        check_classification_targets(y)
        classes = np.unique(y)
        if len(classes) < 2:
            raise InvalidInputError(
                f"{self.caller} needs a stream of two classes or more. Got only "
                f"{classes.tolist()[0]!r} in y. Give examples of another class, too."
            )

    def check_test(self, y_test: NDArray[Any] | None, y: NDArray[Any] | None) -> None:
        y_test = self._required(y_test, "y_test")
        classes = np.unique(self._required(y, "y"))
        if not np.isin(y_test, classes).any():
            raise InvalidInputError(
                f"No label of y_test occurs in y: {np.unique(y_test)[:5]} and {classes[:5]}. Write "
                "the labels of both in the same way."
            )

    def classes(self, y: NDArray[Any] | None) -> NDArray[Any] | None:
        return np.unique(self._required(y, "y"))

    def scores(self, answers: NDArray[Any], y: NDArray[Any] | None) -> dict[str, float | None]:
        return {"accuracy": float(np.mean(answers == y))}

    def silence(self, n: int) -> NDArray[Any]:
        return np.full(n, -1, dtype=np.intp)

    def count_silent(self, answers: NDArray[Any]) -> int:
        return int(np.sum(answers < 0))

    def stream_scores(
        self, answers: NDArray[Any], y: NDArray[Any] | None, hits: NDArray[Any]
    ) -> Scores:
        assert y is not None
        share = float(np.mean(answers == y))
        guess = sum(np.mean(y == c) * np.mean(answers == c) for c in np.unique(y))
        no_change, majority = hits.mean(axis=0)
        return Scores(
            accuracy=share,
            kappa=_beyond(share, guess),
            kappa_t=_beyond(share, no_change),
            kappa_m=_beyond(share, majority),
        )


def _beyond(share: float, reference: float) -> float | None:
    """Return the kappa of a share of correct answers beside that of a reference."""
    return None if reference >= 1.0 else float((share - reference) / (1.0 - reference))


class Regression(Kind):
    """Regressors, scored by their residuals."""

    name = "regressors"
    metrics = ("r2", "mae")
    stream_metrics = ("mae", "rmse", "r2")

    def check_stream(self, y: NDArray[Any] | None) -> None:
        _numbers(self._required(y, "y"), "y")

    def check_test(self, y_test: NDArray[Any] | None, y: NDArray[Any] | None) -> None:
        _numbers(self._required(y_test, "y_test"), "y_test")

    def scores(self, answers: NDArray[Any], y: NDArray[Any] | None) -> dict[str, float | None]:
        y = np.asarray(y, dtype=np.float64)
        missed = y - answers
        spread = float(np.sum((y - y.mean()) ** 2))
        r2 = 1.0 - float(missed @ missed) / spread if spread > 0.0 else None
        return {"r2": r2, "mae": float(np.abs(missed).mean())}

    def stream_scores(
        self, answers: NDArray[Any], y: NDArray[Any] | None, hits: NDArray[Any]
    ) -> Scores:
        assert y is not None
        known = ~np.isnan(answers)
        if not known.any():
            return Scores()
        answers, y = answers[known], y[known]
        rmse = float(np.sqrt(np.mean((np.asarray(y, dtype=np.float64) - answers) ** 2)))
        return Scores(rmse=rmse, **self.scores(answers, y))


class Detection(Kind):
    """Outlier detectors, which learn without targets; labels, if given, are for scoring only."""

    name = "outlier detectors"
    metrics = ("auc", "inlier_share")
    stream_metrics = ("auc", "alarm_share")
    takes_targets = False

    def check_stream(self, y: NDArray[Any] | None) -> None:
        _signs(y, "y")

    def check_test(self, y_test: NDArray[Any] | None, y: NDArray[Any] | None) -> None:
        _signs(y_test, "y_test")

    def answers(self, model: Any, X: Any, scored: bool) -> NDArray[Any]:
        """Return predictions and decision values, NaN if these are not needed or unknown."""
        ranked = scored and hasattr(model, "decision_function")
        values = model.decision_function(X) if ranked else np.full(X.shape[0], np.nan)
        return np.column_stack([model.predict(X), values])

    def silence(self, n: int) -> NDArray[Any]:
        return np.full((n, 2), np.nan)

    def count_silent(self, answers: NDArray[Any]) -> int:
        return int(np.isnan(answers).all(axis=1).sum())

    def scores(self, answers: NDArray[Any], y: NDArray[Any] | None) -> dict[str, float | None]:
        inside, values = answers.T
        return {"auc": _auc(values, y), "inlier_share": float(np.mean(inside == 1))}

    def stream_scores(
        self, answers: NDArray[Any], y: NDArray[Any] | None, hits: NDArray[Any]
    ) -> Scores:
        inside, values = answers.T
        ranked, called = ~np.isnan(values), ~np.isnan(inside)
        return Scores(
            auc=_auc(values[ranked], None if y is None else y[ranked]),
            alarm_share=float(np.mean(inside[called] == -1)) if called.any() else None,
        )


def _auc(values: NDArray[Any], y: NDArray[Any] | None) -> float | None:
    if y is None or len(np.unique(y)) < 2 or np.isnan(values).any():
        return None
    # A large module that nothing else here needs.
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(y, values))


def is_river(learner: Any) -> bool:
    """Return whether a learner has the methods of River: one example, a dict, at a time."""
    return hasattr(learner, "learn_one")


def kind_of(estimators: Mapping[str, Any], caller: str = "compare") -> Kind:
    """Return the kind of all these estimators; raise if they are of several."""
    kinds = {name: _kind(estimator) for name, estimator in estimators.items()}
    known = {name: kind for name, kind in kinds.items() if kind is not None}
    found = set(known.values())
    if len(found) > 1:
        listed = ", ".join(f"{name!r} ({kind.name})" for name, kind in known.items())
        raise InvalidInputError(
            f"{caller} takes estimators of one kind, so that one score fits all. Got {listed}. "
            "Compare each kind by itself."
        )
    return (found.pop() if found else Classification)(caller)


def _kind(estimator: Any) -> type[Kind] | None:
    if is_river(estimator):
        return _kind_in_river(estimator)
    try:
        if is_regressor(estimator):
            return Regression
        return Detection if is_outlier_detector(estimator) else Classification
    except AttributeError:  # it has scikit-learn's methods, but not its tags
        return None


def _kind_in_river(model: Any) -> type[Kind]:
    # A pipeline has the methods of all kinds; its last step is decisive.
    while isinstance(getattr(model, "steps", None), Mapping):
        model = list(model.steps.values())[-1]
    if hasattr(model, "predict_proba_one"):
        return Classification
    return Detection if hasattr(model, "score_one") else Regression


def _numbers(y: NDArray[Any], what: str) -> None:
    check_array(y, ensure_2d=False, dtype="numeric", input_name=what)


def _signs(y: NDArray[Any] | None, what: str) -> None:
    if y is not None and not np.isin(y, [-1, 1]).all():
        raise InvalidInputError(
            f"For outlier detectors the labels in {what} must be 1 (inlier) or -1 (outlier), as "
            f"predict gives them. Got {np.unique(y)[:5]}. Translate them, or pass None."
        )
