"""What a user passes in becomes a checked batch, whichever machine learns from it."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Protocol, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions

from supple._core import all_finite
from supple.errors import InvalidInputError, worded
from supple.estimators._ids import check_groups, check_ids
from supple.estimators._labels import LabelTable, as_labels
from supple.estimators._model import Batch, Names
from supple.estimators._params import ANY_KERNEL, resolve_threads, show
from supple.estimators._validation import (
    FEATURES,
    Points,
    as_objects,
    check_numeric,
    check_objects,
    check_points,
    check_targets,
    check_times,
    check_weight,
    conform,
)
from supple.interrupts import Shielded
from supple.locks import LOCK, guards, reads, writes


class Held(Protocol):
    """What a check must know of the model that a batch joins."""

    @property
    def params(self) -> dict[str, Any]:
        """The parameters it was built with."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the points it holds."""

    @property
    def sparse(self) -> bool:
        """Whether the model holds CSR points."""


class BatchChecks(BaseEstimator):
    """Checks of batches and queries for every estimator that has a kernel."""

    _parameter_constraints: dict[str, Any] = {
        "kernel": ANY_KERNEL,
        "degree": [Interval(Integral, 0, 2**31 - 1, closed="both")],
        "gamma": [
            StrOptions({"scale", "auto"}),
            Interval(Real, 0.0, None, closed="left"),
        ],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "verbose": ["verbose"],
        "n_jobs": "no_validation",  # see resolve_threads, which also looks before predictions
        "max_iter": [Interval(Integral, -1, 2**63 - 1, closed="both")],
    }
    # Keywords of scikit-learn's check of y; None if y is ignored.
    _y_check: dict[str, Any] | None = {}
    n_features_in_: int
    kernel: Any
    n_jobs: int | None

    def _threads(self) -> int:
        return resolve_threads(type(self).__name__, self.n_jobs)

    # ------------------------------------------------------------------ parameters and state

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__init__" in cls.__dict__:
            cls.__init__ = worded(cls.__init__)  # type: ignore[method-assign]

    @reads
    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; with `deep`, also those of parameters that have some.

        Parameters
        ----------
        deep : bool, default=True
            Whether a kernel that is an object with parameters shows these, too.

        Returns
        -------
        params : dict
            Values by name.
        """
        return super().get_params(deep)

    @writes
    def set_params(self, **params: Any) -> Self:
        """Set parameters, which take effect at the next `fit`.

        Parameters
        ----------
        **params : dict
            Values by name.

        Returns
        -------
        self : object
            The estimator.
        """
        return super().set_params(**params)

    @reads
    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())  # which may be the estimator's own dictionary
        state.pop(LOCK, None)
        return state

    def _unfitted(self) -> Self:
        """Return an estimator with these parameters and nothing learned, to check a batch with."""
        twin = type(self).__new__(type(self))
        fitted = {LOCK, "_model", *FEATURES}
        twin.__dict__.update((k, v) for k, v in self.__dict__.items() if k not in fitted)
        return twin

    def _swap(self, model: Any, twin: Self) -> None:
        """Put a new model in the place of the present one, if any, with the features of `twin`."""
        new = {name: twin.__dict__[name] for name in FEATURES if name in twin.__dict__}
        with guards(self).writing, Shielded():
            for name in FEATURES:
                self.__dict__.pop(name, None)
            self.__dict__.update(new, _model=model)

    # ------------------------------------------------------------------ batches and queries

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags

    def _plain_targets(self, y: Any, n: int) -> bool:
        """Whether y needs no conversion: the short way."""
        return True

    def _targets(
        self, y: Any, n: int, labels: LabelTable
    ) -> tuple[NDArray[np.float64], LabelTable]:
        """Return the engine's targets and the label table that knows them."""
        return np.zeros(n), labels

    def _check_batch(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None,
        names: Names,
        labels: LabelTable,
        model: Held | None,
    ) -> Batch:
        """Check a batch against the model it joins (None: it starts one)."""
        plain = self._plain_first(X) if model is None else self._plain(X, model)
        if not (plain and self._plain_targets(y, len(X))):
            X, y = self._check_points(X, y, model)
        elif model is None:  # as validate_data does for an array
            self.n_features_in_ = X.shape[1]
            self.__dict__.pop("feature_names_in_", None)
        n = X.shape[0]
        weight = np.ones(n)
        if sample_weight is not None:
            weight = check_weight(sample_weight, n)
            if model is None and not weight.any():
                raise InvalidInputError(
                    "Invalid input - all samples have zero or negative weights. Sample weights "
                    f"must contain at least one non-zero number: a model cannot start from {n} "
                    "examples whose weights are all zero. Give some of them a positive weight."
                )
        ids = None if names.ids is None else check_ids(names.ids, n)
        groups = None if names.groups is None else check_groups(names.groups, n)
        times = None if names.timestamps is None else check_times(names.timestamps, n)
        targets, labels = self._targets(y, n, labels)
        return Batch(X, targets, weight, ids, groups, labels, times)

    def _check_points(self, X: Any, y: Any, model: Held | None) -> tuple[Points, Any]:
        y = "no_validation" if self._y_check is None else y
        objects = self._objects(X, model)
        if objects is not None:
            if model is None:  # features of an earlier model
                self.__dict__.pop("n_features_in_", None)
            return objects, check_objects(self, objects, y, **(self._y_check or {}))
        precomputed = self.kernel == "precomputed"
        if precomputed and sp.issparse(X):
            raise TypeError("Sparse precomputed kernels are not supported. Pass X.toarray().")
        X, y = check_points(
            self,
            X,
            y,
            reset=model is None,
            sparse=not precomputed,
            **(self._y_check or {}),
        )
        if model is not None:
            X = conform(X, sparse=model.sparse, dtype=model.dtype, exact=True)
        elif precomputed and X.shape[0] != X.shape[1]:
            raise InvalidInputError(
                "Precomputed matrix must be a square matrix."
                f" Input is a {X.shape[0]}x{X.shape[1]} matrix. Give fit the kernel values of the "
                "training points with each other, kernel(X, X)."
            )
        return X, y

    def _objects(self, X: Any, model: Held | None) -> NDArray[Any] | None:
        """Return X as objects if they suit the kernel and the model, None if X has features."""
        held = None if model is None else model.dtype == object
        if not callable(self.kernel) or held is False:
            return None
        objects = as_objects(X, rows=not held)
        if held and objects is None:
            raise InvalidInputError(
                "X must be a one-dimensional sequence of objects like those that the model holds, "
                f"which its kernel compares. Got {show(X)} instead."
            )
        return objects

    def _plain_first(self, X: Any) -> bool:
        """Whether X is as a model keeps its points, so that it can start one: the short way."""
        return (
            type(X) is np.ndarray
            and X.ndim == 2
            and (X.dtype == np.float64 or X.dtype == np.float32)
            and X.flags.c_contiguous
            and X.size > 0
            and self.kernel != "precomputed"
            and all_finite(X)
        )

    def _plain(self, X: Any, model: Held) -> bool:
        """Whether X is as the model keeps its points already: the short way for single rows."""
        return (
            type(X) is np.ndarray
            and X.ndim == 2
            and X.dtype == model.dtype
            and model.dtype.kind == "f"
            and not model.sparse
            and X.flags.c_contiguous
            and X.shape[0] > 0
            and X.shape[1] == self.n_features_in_
            and "feature_names_in_" not in self.__dict__
            and all_finite(X)
        )

    def _query(self, X: Any, model: Held) -> Points:
        if self._plain(X, model):
            return X
        objects = self._objects(X, model)
        if objects is not None:
            return objects
        precomputed = model.params["kernel"] == "precomputed"
        X, _ = check_points(self, X, "no_validation", reset=False, sparse=not precomputed)
        return conform(X, sparse=model.sparse, dtype=model.dtype, exact=False)


class RegressionTargets(BatchChecks):
    """Targets that are numbers."""

    _y_check = {"y_numeric": True}

    def _plain_targets(self, y: Any, n: int) -> bool:
        plain = type(y) is np.ndarray and y.dtype == np.float64 and y.shape == (n,)
        return plain and bool(np.isfinite(y).all())

    def _check_points(self, X: Any, y: Any, model: Held | None) -> tuple[Points, Any]:
        check_numeric(y)
        points, checked = super()._check_points(X, y, model)
        return points, check_targets(y, checked)

    def _targets(
        self, y: Any, n: int, labels: LabelTable
    ) -> tuple[NDArray[np.float64], LabelTable]:
        return np.ascontiguousarray(y), labels


class ClassTargets(BatchChecks):
    """Targets that are class labels."""

    # NuSVC has no such parameter.
    class_weight: Any = None

    def _first_labels(self, classes: ArrayLike | None) -> tuple[LabelTable, dict[int, float]]:
        given = self.class_weight if isinstance(self.class_weight, dict) else None
        weights, labels = LabelTable().weights(given)
        return labels.declare(classes, ()), weights

    def _plain_targets(self, y: Any, n: int) -> bool:
        if type(y) is not np.ndarray or y.shape != (n,):
            return False
        kind = y.dtype.kind
        return kind in "biuU" or (kind == "f" and bool(np.isfinite(y).all()))

    def _targets(
        self, y: Any, n: int, labels: LabelTable
    ) -> tuple[NDArray[np.float64], LabelTable]:
        return labels.encode(as_labels(y))
