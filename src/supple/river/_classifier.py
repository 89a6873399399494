"""Classifiers of supple for River."""

from __future__ import annotations

from collections.abc import Hashable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from river import base
from sklearn.exceptions import NotFittedError

from supple.diagnostics import LeaveOneOutCalibrator
from supple.errors import InfeasibleError, InvalidInputError
from supple.estimators import RVC, SVC
from supple.estimators._classifier import BaseClassifier
from supple.estimators._params import fits_float, show
from supple.memory import Window
from supple.river._base import Adapter
from supple.river._features import pandas

__all__ = ["Classifier"]


class Classifier(Adapter, base.MiniBatchClassifier):
    """Classify a stream of dictionaries by an exact support vector machine.

    After every example the model is the optimum on the examples held. Features and classes may
    appear and disappear at any time: a feature that an example lacks is 0.

    Parameters
    ----------
    estimator : classifier of supple, default=None
        SVC, NuSVC, SimpleSVC, BudgetSVC, SVIncrementalSVC, LASVC, RVC, or a LeaveOneOutCalibrator,
        which gives probabilities. It is cloned. Its `memory` bounds the number of examples held.
        None: ``SVC(gamma="auto", memory=Window(500))``.

    Attributes
    ----------
    estimator_ : object
        The model itself: ``estimator_.retune(C=10.0)``,
        ``estimator_.ids_``, ``estimator_.kkt_violation_``.

    Notes
    -----
    gamma="auto" is 1 / number of features of the first example or batch, and then constant.
    gamma="scale" needs the variance of a first batch; a stream that starts with `learn_one` raises.

    Scale the features. `river.preprocessing.StandardScaler` changes while it learns, and examples
    are held as they were scaled on arrival. `unlearn_one` through such a pipeline does not find
    them; it needs features that are scaled by constants.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from supple import SVC
    >>> from supple.memory import Window
    >>> from supple.river import Classifier
    >>> model = preprocessing.StandardScaler() | Classifier(
    ...     SVC(C=3.0, gamma=0.1, memory=Window(300))
    ... )
    >>> evaluate.progressive_val_score(datasets.Phishing().take(400), model, metrics.Accuracy())
    Accuracy: 8...%

    >>> exact = Classifier(SVC(kernel="linear"))
    >>> for x, y in [({"a": -1.0}, False), ({"a": 1.0}, True), ({"a": 0.1, "b": 9.0}, False)]:
    ...     exact.learn_one(x, y)
    >>> exact.predict_one({"a": 0.2}), exact.predict_proba_one({"b": 9.0})
    (True, {False: 1.0, True: 0.0})
    >>> exact.unlearn_one({"a": 0.1, "b": 9.0}, False)
    >>> len(exact.estimator_.ids_)
    2
    """

    _accepted = (BaseClassifier, RVC, LeaveOneOutCalibrator)

    def __init__(self, estimator: Any = None) -> None:
        super().__init__(SVC(gamma="auto", memory=Window(500)) if estimator is None else estimator)

    @property
    def _multiclass(self) -> bool:
        return True

    # ------------------------------------------------------------------ learning

    def learn_one(self, x: dict[Hashable, Any], y: Any, w: float = 1.0) -> None:
        """Learn an example exactly.

        Parameters
        ----------
        x : dict
            Features: finite numbers by name.
        y : bool, int or str
            Label.
        w : float, default=1.0
            Weight > 0; 2 is the same as two copies.
        """
        self._learn_one(x, _label(y), w)

    def learn_many(self, X: Any, y: Any, w: Any = None) -> None:
        """Learn the rows of a data frame, with the same result as one by one.

        Parameters
        ----------
        X : pandas.DataFrame
            Features, one column each.
        y : pandas.Series
            Labels.
        w : iterable of float, default=None
            Weights > 0.
        """
        self._learn_many(X, np.asarray(y), w)

    def unlearn_one(self, x: dict[Hashable, Any], y: Any) -> None:
        """Remove an example exactly, as if it had never been learned.

        Parameters
        ----------
        x : dict
            The features that it was learned with.
        y : bool, int or str
            Its label. Of several such examples the latest is removed, with its weight.
        """
        self._unlearn(x, _label(y))

    # ------------------------------------------------------------------ answers

    def predict_one(self, x: dict[Hashable, Any], **kwargs: Any) -> Any:
        """Predict the label of an example.

        Parameters
        ----------
        x : dict
            Features. Those that no example held has count as well: they increase all distances.
        **kwargs : dict
            Present by convention.

        Returns
        -------
        y_pred : bool, int, str or None
            None if nothing is held.
        """
        labels = None if self._machine() is None else self._labels(self._row(x, learn=False))
        return None if labels is None else labels.item(0)

    def predict_proba_one(self, x: dict[Hashable, Any], **kwargs: Any) -> dict[Any, float]:
        """Return the probability of each class held.

        Parameters
        ----------
        x : dict
            Features.
        **kwargs : dict
            Present by convention.

        Returns
        -------
        probability : dict
            By label; empty if nothing is held. Of an estimator without probabilities, or
            one that has too few examples for them: 1 for the predicted label, 0 for all others.
        """
        if self._machine() is None:
            return {}
        labels, shares = self._probabilities(self._row(x, learn=False))
        return dict(zip(labels, shares[0].tolist(), strict=True))

    def predict_many(self, X: Any) -> Any:
        """Predict the labels of the rows of a data frame.

        Parameters
        ----------
        X : pandas.DataFrame
            Features, one column each.

        Returns
        -------
        y_pred : pandas.Series
            Labels, None if nothing is held.
        """
        points = self._rows(X, learn=False)
        labels = None if self._machine() is None or not len(X) else self._labels(points)
        values = [None] * len(X) if labels is None else labels
        return pandas().Series(values, index=X.index, dtype=object if labels is None else None)

    def predict_proba_many(self, X: Any) -> Any:
        """Return the probability of each class for the rows of a data frame.

        Parameters
        ----------
        X : pandas.DataFrame
            Features, one column each.

        Returns
        -------
        probability : pandas.DataFrame
            One column for each label, as in `predict_proba_one`.
        """
        points = self._rows(X, learn=False)
        if self._machine() is None or not len(X):
            return pandas().DataFrame(index=X.index)
        labels, shares = self._probabilities(points)
        return pandas().DataFrame(shares, columns=labels, index=X.index)

    def _labels(self, X: NDArray[np.float64]) -> NDArray[Any] | None:
        """Return predicted labels, None if there is no model yet."""
        for estimator in (self.estimator_, self._machine()):
            try:
                return np.asarray(estimator.predict(X))
            except NotFittedError:
                return None
            except InfeasibleError:
                continue  # a calibrator needs more examples than its machine
        return None

    def _probabilities(self, X: NDArray[np.float64]) -> tuple[list[Any], NDArray[np.float64]]:
        """Return the classes and their probabilities, one row for each of X."""
        if hasattr(self.estimator_, "predict_proba"):
            try:
                shares = self.estimator_.predict_proba(X)
                return self.estimator_.classes_.tolist(), shares
            except NotFittedError:
                return [], np.empty((len(X), 0))
            except InfeasibleError:
                pass
        predicted = self._labels(X)
        if predicted is None:
            return [], np.empty((len(X), 0))
        classes = self.estimator_.classes_
        return classes.tolist(), (predicted[:, None] == classes).astype(np.float64)


def _label(y: Any) -> NDArray[Any]:
    number = isinstance(y, Real) and fits_float(y)
    if not number and not isinstance(y, str | np.bool_):
        raise InvalidInputError(
            f"The label 'y' must be a bool, an int or a string. Got {show(y)} "
            f"({type(y).__name__}) instead. Do not learn examples without label."
        )
    return np.array([y])
