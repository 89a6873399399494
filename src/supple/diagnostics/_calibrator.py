"""Probabilities of a classifier, calibrated on its exact leave-one-out decisions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Tags, get_tags

from supple.diagnostics._conformal_base import held
from supple.diagnostics._leave_one_out import leave_one_out
from supple.diagnostics._probabilities import FITS, Map
from supple.errors import InfeasibleError, InvalidInputError, PrecomputedUpdateError
from supple.estimators import SVC
from supple.estimators._classifier import BaseClassifier
from supple.estimators._docs import completed_by
from supple.estimators._ids import IdsLike
from supple.estimators._machines import Machines
from supple.estimators._model import Model
from supple.estimators._params import show
from supple.estimators._updates import ExactUpdates
from supple.locks import guards

__all__ = ["LeaveOneOutCalibrator"]


@dataclass(frozen=True)
class _Calibration:
    """The machines of a model and the map from their values to probabilities."""

    machines: Machines
    map: Map

    def answer(
        self, estimator: BaseClassifier, model: Model, X: Any
    ) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Return probabilities and the labels of their columns."""
        classes = self.machines.classes
        values = estimator._machines(X, model, classes)
        return self.map(self.machines.per_class(values)), classes.labels


class LeaveOneOutCalibrator(ClassifierMixin, BaseEstimator):
    r"""Give an exact classifier probabilities, calibrated on its leave-one-out decisions.

    Decision values at training examples are too confident. Platt's remedy is cross-validation: k
    more fits, that is, decision values of other models than the one in use. Here the curve is
    fitted to the exact leave-one-out decisions :math:`f_i = f^{\setminus i}(x_i)` of the model
    itself, see :func:`leave_one_out`. For two classes
    ``method="sigmoid"`` is

    .. math:: P(y = +1 \mid x) = \frac{1}{1 + \exp(-a f(x) - b)}, \qquad a \ge 0,

    where a and b minimise the cross-entropy with smoothed targets,

    .. math::
        \min_{a, b} -\sum_i w_i \bigl(t_i \log p_i + (1 - t_i) \log(1 - p_i)\bigr), \qquad
        t_i = \frac{n_+ + 1}{n_+ + 2} \text{ or } \frac{1}{n_- + 2} .

    After an update of the model the next prediction fits the curve again, so that it is always that
    of a fresh fit on the examples held.

    Parameters
    ----------
    estimator : SVC, NuSVC, SimpleSVC, BudgetSVC or SVIncrementalSVC, default=None
        A classifier with exact updates; it is cloned. None: ``SVC()``.
    method : {"sigmoid", "isotonic", "temperature"}, default="sigmoid"
        Platt's curve; a nondecreasing function with least squares, for some 1000 examples or more;
        or the softmax of the decision values over a temperature. With more than two classes the
        first two calibrate each class against the rest and divide by the sum. May be changed at
        any time.

    Attributes
    ----------
    estimator_ : object
        The fitted classifier. It may be updated directly, say by `reweight` or `retune`.
    classes_ : ndarray of shape (n_classes,)
        Labels, in the order of the columns of `predict_proba`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had string column names.

    Notes
    -----
    Examples are weighted. The slope a of a sigmoid is never negative: if the data have no
    structure, leave-one-out decisions point away from the label, and the probability is constant.
    The only example of a class has no leave-one-out decision and does not count.
    Parameters of `estimator` that are changed after `fit` take effect in the next `fit`.

    References
    ----------
    J. Platt: Probabilistic outputs for support vector machines. Advances in Large Margin
    Classifiers, 1999.

    Examples
    --------
    >>> from supple import SVC
    >>> from supple.datasets import load
    >>> from supple.diagnostics import LeaveOneOutCalibrator
    >>> data = load("ionosphere")
    >>> model = LeaveOneOutCalibrator(SVC(gamma=0.03)).fit(data.X[:300], data.y[:300])
    >>> model.predict_proba(data.X[300:]).shape
    (51, 2)
    >>> _ = model.partial_fit(data.X[300:], data.y[300:]).forget(ids=range(50))
    >>> p = model.predict_proba(data.X[:50])
    >>> bool((model.classes_[p.argmax(axis=1)] == model.predict(data.X[:50])).all())
    True
    """

    def __init__(self, estimator: Any = None, method: str = "sigmoid") -> None:
        self.estimator = estimator
        self.method = method

    @completed_by(BaseClassifier.fit)
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        *,
        ids: IdsLike | None = None,
        groups: IdsLike | None = None,
    ) -> Self:
        """Fit a clone of the estimator, replacing what was learned before.

        Parameters
        ----------
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0, in the model and in the calibration.

        Returns
        -------
        self : object
            The fitted calibrator.
        """
        estimator = self._new_estimator()
        self.estimator_ = estimator.fit(X, y, sample_weight, ids=ids, groups=groups)
        return self

    @completed_by(BaseClassifier.partial_fit)
    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        ids: IdsLike | None = None,
        groups: IdsLike | None = None,
    ) -> Self:
        """Add examples to the model exactly; start a model if there is none.

        Parameters
        ----------
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0, in the model and in the calibration.

        Returns
        -------
        self : object
            The calibrator that `fit` gives on all examples held.
        """
        self._check_method()
        estimator = self.estimator_ if hasattr(self, "estimator_") else self._new_estimator()
        self.estimator_ = estimator.partial_fit(
            X, y, classes, sample_weight, ids=ids, groups=groups
        )
        return self

    @completed_by(ExactUpdates.forget)
    def forget(
        self,
        ids: IdsLike | None = None,
        *,
        groups: IdsLike | None = None,
        missing: str = "error",
        rescale: bool = False,
    ) -> Self:
        """Remove examples exactly, from the model and from the calibration.

        Parameters
        ----------
        ids : int, str or other hashable, or iterable of these, default=None
            Ids of the examples, see ``estimator_.ids_``.

        Returns
        -------
        self : object
            The calibrator that `fit` gives on the remaining examples.
        """
        held(self).forget(ids, groups=groups, missing=missing, rescale=rescale)
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Give the probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Query points.

        Returns
        -------
        probability : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``; rows sum to 1.
        """
        return self._answer(X)[0]

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Give the logarithm of the probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Query points.

        Returns
        -------
        log_probability : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``; -inf for probability 0, possible with isotonic curves.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the most probable class of each point.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Query points.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            Labels. ``estimator_.predict`` uses the sign of the decision function instead.
        """
        probability, labels = self._answer(X)
        return labels.take(np.argmax(probability, axis=1))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Evaluate the decision function of the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Query points.

        Returns
        -------
        decision : ndarray of shape (n_samples,) or (n_samples, n_columns)
            As given by ``estimator_``.
        """
        return held(self).decision_function(X)

    @property
    def classes_(self) -> NDArray[Any]:
        """Labels of the classes that have examples with positive weight, sorted."""
        return self.estimator_.classes_

    @property
    def n_features_in_(self) -> int:
        """Number of features."""
        return int(self.estimator_.n_features_in_)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the features, if X had string column names."""
        return self.estimator_.feature_names_in_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_") and self.estimator_.__sklearn_is_fitted__()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(self._template()).input_tags.sparse
        return tags

    # ------------------------------------------------------------------ calibration

    def _answer(self, X: Any) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Return probabilities and the labels of their columns, calibrating if necessary."""
        self._check_method()
        estimator = held(self)
        key = f"calibration by {self.method}"
        with guards(estimator).reading:
            model = estimator._fitted()
            # The next update empties the cache of the model.
            calibration = model.cache.get(key)
            if calibration is not None:
                return calibration.answer(estimator, model, X)
        with guards(estimator).writing:
            model = estimator._fitted()
            if key not in model.cache:  # another thread may have been first
                model.cache[key] = _calibrate(estimator, model, self.method)
            return model.cache[key].answer(estimator, model, X)

    def _template(self) -> Any:
        return SVC() if self.estimator is None else self.estimator

    def _new_estimator(self) -> Any:
        """Return an unfitted classifier after checks of the parameters."""
        self._check_method()
        given = self._template()
        name = type(self).__name__
        if not (isinstance(given, BaseClassifier) and isinstance(given, ExactUpdates)):
            raise InvalidInputError(
                f"The 'estimator' parameter of {name} must be a classifier of supple with exact "
                f"updates, such as SVC(). Got {show(given)} instead. For other classifiers there "
                "is CalibratedClassifierCV of sklearn.calibration."
            )
        if isinstance(given.kernel, str) and given.kernel == "precomputed":
            raise PrecomputedUpdateError(
                f"{name} cannot work with kernel='precomputed', which takes no updates. Pass the "
                "kernel as a callable, kernel=function(X, Y), and the points themselves as X."
            )
        return clone(given)

    def _check_method(self) -> None:
        if not isinstance(self.method, str) or self.method not in FITS:
            raise InvalidInputError(
                f"The 'method' parameter of {type(self).__name__} must be one of "
                f"{', '.join(map(repr, FITS))}. Got {show(self.method)} instead."
            )


def _calibrate(estimator: Any, model: Model, method: str) -> _Calibration:
    """Fit the map to the leave-one-out decisions; the caller holds the writing guard."""
    classes = estimator._classes(model)
    if not len(classes.columns):
        raise InfeasibleError(
            "Probabilities need examples of two classes with weight. This "
            f"{type(estimator).__name__} has only {show(classes.labels.tolist())}. Add examples "
            "of another class by partial_fit; 'estimator_.predict' answers without."
        )
    machines = Machines.of(estimator, model, "LeaveOneOutCalibrator")
    decision = leave_one_out(estimator, n_jobs=estimator.n_jobs).decision
    values = machines.per_class(decision.reshape(len(decision), -1))
    weight = model.state.weight
    known = (weight > 0.0) & np.isfinite(values).all(axis=1)
    if not known.any():
        raise InfeasibleError(
            "Probabilities need a class with two examples. All examples of this "
            f"{type(estimator).__name__} are the only ones of their classes. Add more by "
            "partial_fit; 'estimator_.predict' answers without."
        )
    own = machines.places(model.state.y[known])
    fitted = FITS[method](values[known], own, weight[known], machines.n_classes)
    return _Calibration(machines, fitted)
