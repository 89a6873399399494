"""Regressors of supple for River."""

from __future__ import annotations

from collections.abc import Hashable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from river import base
from sklearn.exceptions import NotFittedError

from supple.errors import InfeasibleError, InvalidInputError
from supple.estimators import RVR, SVR
from supple.estimators._params import fits_float, show
from supple.memory import Window
from supple.river._base import Adapter
from supple.river._features import pandas

__all__ = ["Regressor"]


class Regressor(Adapter, base.MiniBatchRegressor):
    """Predict numbers for a stream of dictionaries by exact support vector regression.

    After every example the model is the optimum on the examples held. Features may appear and
    disappear at any time: a feature that an example lacks is 0.

    Parameters
    ----------
    estimator : regressor of supple, default=None
        SVR, SVIncrementalSVR or RVR. It is cloned. Its `memory` bounds the number of examples held.
        None: ``SVR(gamma="auto", memory=Window(500))``.

    Attributes
    ----------
    estimator_ : object
        The model itself: ``estimator_.retune(C=10.0)``,
        ``estimator_.ids_``, ``estimator_.kkt_violation_``.

    Notes
    -----
    gamma and scaling: see :class:`Classifier`. Scale the targets, too: `epsilon` and `C` are in
    their units. `river.preprocessing.TargetStandardScaler` changes while it learns; examples are
    held as they were scaled on arrival.

    Examples
    --------
    >>> from supple import SVR
    >>> from supple.river import Regressor
    >>> model = Regressor(SVR(kernel="linear", C=100.0, epsilon=0.0))
    >>> for x, y in [({"a": 0.0}, 1.0), ({"a": 1.0}, 3.0), ({"a": 2.0, "b": 1.0}, 7.0)]:
    ...     model.learn_one(x, y)
    >>> round(model.predict_one({"a": 10.0}), 6)
    21.0
    >>> model.unlearn_one({"a": 1.0}, 3.0)
    >>> len(model.estimator_.ids_)
    2
    """

    _accepted = (SVR, RVR)
    _kind = "a regressor"
    _example = "SVR()"

    def __init__(self, estimator: Any = None) -> None:
        super().__init__(SVR(gamma="auto", memory=Window(500)) if estimator is None else estimator)

    def learn_one(self, x: dict[Hashable, Any], y: float, w: float = 1.0) -> None:
        """Learn an example exactly.

        Parameters
        ----------
        x : dict
            Features: finite numbers by name.
        y : float
            Target.
        w : float, default=1.0
            Weight > 0; 2 is the same as two copies.
        """
        self._learn_one(x, _target(y), w)

    def learn_many(self, X: Any, y: Any, w: Any = None) -> None:
        """Learn the rows of a data frame, with the same result as one by one.

        Parameters
        ----------
        X : pandas.DataFrame
            Features, one column each.
        y : pandas.Series
            Targets.
        w : iterable of float, default=None
            Weights > 0.
        """
        self._learn_many(X, np.asarray(y), w)

    def unlearn_one(self, x: dict[Hashable, Any], y: float) -> None:
        """Remove an example exactly, as if it had never been learned.

        Parameters
        ----------
        x : dict
            The features that it was learned with.
        y : float
            Its target. Of several such examples the latest is removed, with its weight.
        """
        self._unlearn(x, _target(y))

    def predict_one(self, x: dict[Hashable, Any]) -> float:
        """Predict the target of an example.

        Parameters
        ----------
        x : dict
            Features. Those that no example held has count as well: they increase all distances.

        Returns
        -------
        y_pred : float
            0.0 if nothing is held.
        """
        if self._machine() is None:
            return 0.0
        return float(self._predict(self._row(x, learn=False))[0])

    def predict_many(self, X: Any) -> Any:
        """Predict the targets of the rows of a data frame.

        Parameters
        ----------
        X : pandas.DataFrame
            Features, one column each.

        Returns
        -------
        y_pred : pandas.Series
            Targets, 0.0 if nothing is held.
        """
        points = self._rows(X, learn=False)
        learned = self._machine() is not None and len(X) > 0
        values = self._predict(points) if learned else np.zeros(len(X))
        return pandas().Series(values, index=X.index)

    def _predict(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        try:
            return np.asarray(self.estimator_.predict(X))
        except (NotFittedError, InfeasibleError):
            return np.zeros(len(X))


def _target(y: Any) -> NDArray[np.float64]:
    if not isinstance(y, Real) or not fits_float(y):
        raise InvalidInputError(
            f"The target 'y' must be a finite number. Got {show(y)} ({type(y).__name__}) instead. "
            "Do not learn examples without target."
        )
    return np.array([y], dtype=np.float64)
