"""Outlier detection: what OneClassSVM and SVDD share."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OutlierMixin

from supple.estimators._batch import check_query
from supple.estimators._classifier import BaseClassifier
from supple.estimators._docs import completed_by
from supple.estimators._ids import IdsLike
from supple.estimators._model import Model, Names
from supple.estimators._updates import ExactUpdates
from supple.kernels import Linear, Poly
from supple.locks import reads, replaces, writes

# Decision values below this part of the offset are rounding errors of zero.
BOUNDARY = 1e-12
_ROUNDINGS = 16.0 * np.finfo(np.float64).eps


class BaseOutlier(OutlierMixin, ExactUpdates):
    """Base of OneClassSVM and SVDD: positive inside the boundary, negative outside."""

    @property
    @abstractmethod
    def offset_(self) -> Any:
        """Value of `score_samples` at the boundary."""

    @completed_by(BaseClassifier.fit)
    @replaces
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        *,
        ids: IdsLike | None = None,
        groups: IdsLike | None = None,
        timestamps: ArrayLike | None = None,
    ) -> Self:
        """Fit the boundary to a training set, replacing what was learned before.

        Parameters
        ----------
        y : Ignored
            Present by convention.
        """
        return self._begin(X, None, sample_weight, Names(ids, groups, timestamps), whole=True)

    @completed_by(BaseClassifier.partial_fit)
    @writes
    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        *,
        ids: IdsLike | None = None,
        groups: IdsLike | None = None,
        timestamps: ArrayLike | None = None,
    ) -> Self:
        """Add examples to the model exactly; start a model if there is none.

        Parameters
        ----------
        y : Ignored
            Present by convention.
        """
        return self._learn_more(X, None, sample_weight, Names(ids, groups, timestamps))

    @reads
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Evaluate the decision function: ``score_samples(X) - offset_``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Query points.

        Returns
        -------
        decision : ndarray of shape (n_samples,)
            Positive for inliers, negative for outliers, exactly zero for points that rounding
            cannot tell from the boundary, such as the support vectors on it.
        """
        model = self._fitted()
        points = check_query(self, X, model)
        self._require_ready(model, "cannot predict yet")
        decision = model.state.decision(points, self._threads())[:, 0]
        zero = np.abs(decision) <= BOUNDARY * np.abs(self.offset_).max()
        # For a plane through the origin the offset gives no scale for rounding errors.
        decision[zero | self._lost_in_rounding(points, decision, model)] = 0.0
        return decision

    def _lost_in_rounding(
        self, points: Any, decision: NDArray[np.float64], model: Model
    ) -> NDArray[np.bool_]:
        """Return which decision values are within the rounding error of their terms."""
        kernel, lost = model.state.kernel, np.zeros(len(decision), dtype=np.bool_)
        if not isinstance(kernel, Linear | Poly):
            return lost  # the offset suffices for bounded kernels
        (head,) = model.state.heads.values()
        support = model.state.points(head.slots)
        with np.errstate(over="ignore", invalid="ignore"):
            # Upper bound on the terms, by |k(z, x)|^2 <= k(z, z) k(x, x).
            size = np.sqrt(np.abs(kernel.diagonal(points))) * float(
                np.abs(head.coef) @ np.sqrt(np.abs(kernel.diagonal(support)))
            )
            close = np.flatnonzero(np.abs(decision) <= _ROUNDINGS * size)
        for k in close.tolist():
            terms = head.coef * model.state.kernel_values(points[k : k + 1], head.slots)[0]
            lost[k] = np.abs(decision[k]) <= _ROUNDINGS * np.abs(terms).sum()
        return lost

    @reads
    def predict(self, X: Any) -> NDArray[np.intp]:
        """Tell inliers from outliers.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Query points.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            +1 for inliers (decision function >= 0), -1 for outliers.
        """
        return np.where(self.decision_function(X) >= 0, 1, -1)

    @reads
    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Evaluate the decision function without its offset.

        OneClassSVM: w'phi(x). SVDD: minus the squared distance to the centre of the ball.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Query points.

        Returns
        -------
        score : ndarray of shape (n_samples,)
            The higher, the more ordinary.
        """
        return self.decision_function(X) + self.offset_
