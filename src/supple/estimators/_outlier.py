"""Outlier detection: what OneClassSVM and SVDD share."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OutlierMixin

from supple.estimators._model import Model
from supple.estimators._updates import ExactUpdates
from supple.kernels import Linear, Poly
from supple.locks import reads, replaces, writes

# Decision values smaller than this part of the offset are rounding errors of zero.
_BOUNDARY = 1e-12


class BaseOutlier(OutlierMixin, ExactUpdates):
    """Base of OneClassSVM and SVDD: positive inside the boundary, negative outside."""

    _y_check = None

    @property
    @abstractmethod
    def offset_(self) -> Any:
        """Value of `score_samples` at the boundary."""

    @replaces
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the boundary to a training set, replacing what was learned before.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points.
        y : Ignored
            Present by convention.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0. Weight 2 is the same as two copies of an example.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return self._begin(X, None, sample_weight, whole=True)

    @writes
    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        *,
        ids: ArrayLike | None = None,
    ) -> Self:
        """Add examples to the model exactly; start a model if there is none.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            New points.
        y : Ignored
            Present by convention.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0. An example of weight 0 is stored but has no effect.
        ids : array-like of int, default=None
            Names for the examples, for `forget` and `reweight`; unique among those held.
            None numbers the examples in order of arrival.

        Returns
        -------
        self : object
            The model that `fit` gives on all examples held (with gamma as it was resolved at
            the first batch).
        """
        return self._learn_more(X, None, sample_weight, ids)

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
        decision = self._decide(X, model)[:, 0]
        # A plane through the origin has no offset, but its values have rounding errors.
        unknown = np.maximum(_BOUNDARY * np.abs(self.offset_).max(), self._rounding(X, model))
        decision[np.abs(decision) <= unknown] = 0.0
        return decision

    def _rounding(self, X: Any, model: Model) -> Any:
        """Return what the terms of a decision value lose, by |k(z, x)|^2 <= k(z, z) k(x, x)."""
        kernel = model.engine.kernel
        if not isinstance(kernel, Linear | Poly):
            return 0.0  # of bounded kernels less than what the offset allows for
        (head,) = model.engine.heads.values()
        size = np.sqrt(np.abs(kernel.diagonal(model.engine.points(head.slots))))
        with np.errstate(over="ignore"):
            own = np.sqrt(np.abs(kernel.diagonal(self._query(X, model))))
            unknown = np.finfo(np.float64).eps * own * float(np.abs(head.coef) @ size)
        return np.where(np.isfinite(unknown), unknown, 0.0)

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
