"""Outlier detectors of supple for River."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from supple.errors import InfeasibleError
from supple.estimators import OneClassSVM
from supple.estimators._outlier import BaseOutlier
from supple.memory import Window
from supple.river._base import Adapter

try:
    from river.base import AnomalyDetector as RiverDetector
except ImportError:  # River before 0.26
    from river.anomaly.base import AnomalyDetector as RiverDetector  # type: ignore[no-redef]

__all__ = ["AnomalyDetector"]


class AnomalyDetector(Adapter, RiverDetector):
    """Score the anomalies of a stream of dictionaries by an exact one-class machine.

    After every example the model is the optimum on the examples held. Features may appear and
    disappear at any time: a feature that an example lacks is 0.

    Parameters
    ----------
    estimator : outlier detector of supple, default=None
        OneClassSVM, SVDD or BudgetSVDD. It is cloned. Its `memory` bounds the number of examples
        held. None: ``OneClassSVM(gamma="auto", memory=Window(500))``.

    Attributes
    ----------
    estimator_ : object
        The model itself: ``estimator_.retune(nu=0.2)``,
        ``estimator_.ids_``, ``estimator_.kkt_violation_``.

    Notes
    -----
    The score is 1/2 - f / (4 |offset| + 2 |f|) of the decision function f and the offset of the
    machine: it ranks examples as f does, but its scale does not depend on the number of examples.
    River's `metrics.ROCAUC` needs scores from 0 to 1.

    gamma and scaling: see :class:`Classifier`. To learn no anomalies, put
    `river.anomaly.QuantileFilter` or `ThresholdFilter` around the detector.

    Examples
    --------
    >>> from supple import OneClassSVM
    >>> from supple.river import AnomalyDetector
    >>> model = AnomalyDetector(OneClassSVM(nu=0.2, gamma=0.5))
    >>> for a in [0.0, 0.1, -0.1, 0.2, -0.2]:
    ...     model.learn_one({"a": a, "b": 1.0})
    >>> model.score_one({"a": 0.0, "b": 1.0}) < 0.5 < model.score_one({"a": 0.0, "b": 3.0})
    True
    """

    _accepted = (BaseOutlier,)
    _kind = "an outlier detector"
    _example = "OneClassSVM()"

    def __init__(self, estimator: Any = None) -> None:
        if estimator is None:
            estimator = OneClassSVM(gamma="auto", memory=Window(500))
        super().__init__(estimator)

    def learn_one(self, x: dict[Hashable, Any], w: float = 1.0) -> None:
        """Learn an example exactly.

        Parameters
        ----------
        x : dict
            Features: finite numbers by name.
        w : float, default=1.0
            Weight > 0; 2 is the same as two copies.
        """
        self._learn_one(x, None, w)

    def learn_many(self, X: Any, w: Any = None) -> None:
        """Learn the rows of a data frame, with the same result as one by one.

        Parameters
        ----------
        X : pandas.DataFrame
            Features, one column each.
        w : iterable of float, default=None
            Weights > 0.
        """
        self._learn_many(X, None, w)

    def unlearn_one(self, x: dict[Hashable, Any]) -> None:
        """Remove an example exactly, as if it had never been learned.

        Parameters
        ----------
        x : dict
            The features that it was learned with. Of several such examples the latest is removed,
            with its weight.
        """
        self._unlearn(x, None)

    def score_one(self, x: dict[Hashable, Any]) -> float:
        """Return the anomaly score of an example.

        Parameters
        ----------
        x : dict
            Features. Those that no example held has count as well: they increase all distances.

        Returns
        -------
        score : float
            From 0 to 1: less than 0.5 inside the boundary, more outside. 0.0 without a boundary.
        """
        if self._machine() is None:
            return 0.0
        try:
            decision = float(self.estimator_.decision_function(self._row(x, learn=False))[0])
        except (NotFittedError, InfeasibleError):
            return 0.0
        scale = 2.0 * abs(float(np.max(self.estimator_.offset_))) + abs(decision)
        return 0.5 - 0.5 * decision / scale if scale else 0.5
