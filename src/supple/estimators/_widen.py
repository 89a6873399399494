"""More features for a fitted model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from supple.estimators._model import Model, widened
from supple.estimators._rvm import Relevance
from supple.interrupts import Shielded
from supple.locks import guards


def widen(estimator: Any, n_features: int) -> None:
    """Give a fitted estimator more features, which are zero in all examples held.

    Columns of zeros change no inner product and no distance, so that the solution remains the
    optimum; only caches are lost. Ids, weights, gamma and what the memory remembers are unchanged.
    A callable kernel gets the wider points.

    Parameters
    ----------
    estimator : estimator of supple
        Fitted to points with features; not within `what_if`.
    n_features : int
        New number of features, at least the present one.

    Examples
    --------
    >>> from supple import SVC
    >>> model = SVC(kernel="linear").fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> widen(model, 2)
    >>> model.predict([[1.5, 9.0], [2.5, -9.0]])
    array([0, 1])
    """
    with guards(estimator).writing, Shielded():
        model: Model | Relevance = estimator._model
        if isinstance(model, Relevance):
            estimator._model = replace(model, X=widened(model.X, n_features))
        else:
            estimator._model = model.still().widened(n_features).revive()
            estimator._model.cache.clear()
        estimator.n_features_in_ = n_features
