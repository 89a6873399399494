"""The model of an estimator, and a checked batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from supple.engine import Engine, OnlineEngine, State
from supple.estimators._labels import LabelTable
from supple.estimators._points import Points
from supple.kernels import KERNELS, Callable, Precomputed


@dataclass
class Model:
    """The engine of a fitted estimator and what it was built from."""

    engine: Engine | OnlineEngine
    params: dict[str, Any]
    gamma: float
    container: Any  # the CSR class of the points, None if they are dense
    dtype: np.dtype[Any]
    labels: LabelTable
    class_weight: dict[int, float]
    # Values derived from the engine, emptied before every update. They are stored here because
    # predictions must not change the estimator's attributes.
    cache: dict[str, Any] = field(default_factory=dict)

    @property
    def state(self) -> State:
        """What the engine has learned; only the engine changes it."""
        return self.engine.state

    @property
    def sparse(self) -> bool:
        """Whether the model holds CSR points."""
        return self.container is not None

    @property
    def scaled(self) -> bool:
        """Whether the kernel depends on a gamma that was computed from examples."""
        return self.params["gamma"] == "scale" and hasattr(self.state.kernel, "gamma")

    def drop_labels(self) -> None:
        """Drop the labels of classes without examples, unless declared or weighted."""
        if len(self.labels) > self.state.n_classes:
            held = np.unique(self.state.y).astype(np.intp).tolist()  # also those of weight 0
            self.labels = self.labels.only({*held, *self.class_weight})

    def still(self) -> StillModel:
        """Return a copy for a file or another estimator; the model may change meanwhile."""
        others = vars(self) | {"params": dict(self.params), "cache": dict(self.cache)}
        del others["engine"]
        return StillModel(type(self.engine), self.engine.__getstate__(), others)


class StillModel(NamedTuple):
    """The state of a model at one moment."""

    kind: type[Engine | OnlineEngine]
    engine: dict[str, Any]
    others: dict[str, Any]

    def revive(self) -> Model:
        """Return a model in this state."""
        engine = self.kind.__new__(self.kind)
        engine.__setstate__(self.engine)
        return Model(engine, **self.others)

    def widened(self, n_features: int) -> StillModel:
        """Return this state with columns of zeros appended to the points."""
        state: dict[str, Any] = self.engine["state"]
        if state["gram"] is None:
            return self
        wide = state | {"gram": widened(state["gram"], n_features)}
        return self._replace(engine=self.engine | {"state": wide})


def widened(X: Points, n_features: int) -> Points:
    """Return a copy of points with columns of zeros appended.

    Examples
    --------
    >>> widened(np.array([[1.0], [2.0]]), 3)
    array([[1., 0., 0.],
           [2., 0., 0.]])
    """
    if sp.issparse(X):
        return type(X)((X.data, X.indices, X.indptr), shape=(X.shape[0], n_features))
    wide = np.zeros((X.shape[0], n_features), dtype=X.dtype)
    wide[:, : X.shape[1]] = X
    return wide


class Names(NamedTuple):
    """Ids, groups and timestamps that the user gives for a batch."""

    ids: Any = None
    groups: Any = None
    timestamps: Any = None  # for memories with unit="time"


class Batch(NamedTuple):
    """Checked examples, ready for the engine."""

    X: Points
    targets: NDArray[np.float64]
    weight: NDArray[np.float64]
    ids: NDArray[Any] | None
    groups: NDArray[Any] | None
    labels: LabelTable
    times: NDArray[Any] | None = None

    def rows(self, which: Any) -> Batch:
        """Return a part of the examples."""
        return self._replace(
            X=self.X[which],
            targets=self.targets[which],
            weight=self.weight[which],
            ids=None if self.ids is None else self.ids[which],
            groups=None if self.groups is None else self.groups[which],
            times=None if self.times is None else self.times[which],
        )


def make_kernel(params: Mapping[str, Any], gamma: float) -> Any:
    """Return the kernel object for the kernel parameters of an estimator."""
    name = params["kernel"]
    if callable(name):
        return Callable(name)
    if name == "precomputed":
        return Precomputed()
    return KERNELS[name].of(gamma=gamma, degree=int(params["degree"]), coef0=float(params["coef0"]))
