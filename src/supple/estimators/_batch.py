"""Checks of batches and queries, for every estimator that has a kernel."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from supple.errors import InvalidInputError
from supple.estimators._estimator import KernelEstimator
from supple.estimators._ids import check_groups, check_ids
from supple.estimators._labels import LabelTable
from supple.estimators._model import Batch, Names
from supple.estimators._params import show
from supple.estimators._points import Points, as_objects, check_objects, check_points, conform
from supple.estimators._values import check_times, check_weight
from supple.kernels import all_finite


class Held(Protocol):
    """The part of a model that checks of batches need."""

    @property
    def params(self) -> dict[str, Any]:
        """The parameters it was built with."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the points it holds."""

    @property
    def sparse(self) -> bool:
        """Whether the model holds CSR points."""


def check_batch(
    estimator: KernelEstimator,
    X: Any,
    y: Any,
    sample_weight: ArrayLike | None,
    names: Names,
    labels: LabelTable,
    model: Held | None,
) -> Batch:
    """Check a batch against the model it joins (None: it starts one)."""
    targets = estimator._targets
    plain = _starts_plainly(estimator, X) if model is None else _is_plain(estimator, X, model)
    if not (plain and targets.plain(y, len(X))):
        X, y = _check_points(estimator, X, y, model)
    elif model is None:  # as validate_data does for an array
        estimator.n_features_in_ = X.shape[1]
        estimator.__dict__.pop("feature_names_in_", None)
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
    codes, labels = targets.encode(y, n, labels)
    return Batch(X, codes, weight, ids, groups, labels, times)


def _check_points(
    estimator: KernelEstimator, X: Any, y: Any, model: Held | None
) -> tuple[Points, Any]:
    """Return points and targets after a full check and conversion."""
    targets, raw = estimator._targets, y
    targets.check_raw(raw)
    y = "no_validation" if targets.y_check is None else y
    y_check = targets.y_check or {}
    objects = _objects(estimator, X, model)
    if objects is not None:
        if model is None:  # features of an earlier model
            estimator.__dict__.pop("n_features_in_", None)
        checked = check_objects(estimator, objects, y, **y_check)
        return objects, targets.converted(raw, checked)
    precomputed = estimator.kernel == "precomputed"
    if precomputed and sp.issparse(X):
        raise TypeError("Sparse precomputed kernels are not supported. Pass X.toarray().")
    X, y = check_points(estimator, X, y, reset=model is None, sparse=not precomputed, **y_check)
    if model is not None:
        X = conform(X, sparse=model.sparse, dtype=model.dtype, exact=True)
    elif precomputed and X.shape[0] != X.shape[1]:
        raise InvalidInputError(
            "Precomputed matrix must be a square matrix."
            f" Input is a {X.shape[0]}x{X.shape[1]} matrix. Give fit the kernel values of the "
            "training points with each other, kernel(X, X)."
        )
    return X, targets.converted(raw, y)


def _objects(estimator: KernelEstimator, X: Any, model: Held | None) -> NDArray[Any] | None:
    """Return X as objects if they suit the kernel and the model, None if X has features."""
    held = None if model is None else model.dtype == object
    if not callable(estimator.kernel) or held is False:
        return None
    objects = as_objects(X, rows=not held)
    if held and objects is None:
        raise InvalidInputError(
            "X must be a one-dimensional sequence of objects like those that the model holds, "
            f"which its kernel compares. Got {show(X)} instead."
        )
    return objects


def _starts_plainly(estimator: KernelEstimator, X: Any) -> bool:
    """Whether X can start a model without conversion: a short cut."""
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and (X.dtype == np.float64 or X.dtype == np.float32)
        and X.flags.c_contiguous
        and X.size > 0
        and estimator.kernel != "precomputed"
        and all_finite(X)
    )


def _is_plain(estimator: KernelEstimator, X: Any, model: Held) -> bool:
    """Whether X can join the model without conversion: a short cut for single rows."""
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype == model.dtype
        and model.dtype.kind == "f"
        and not model.sparse
        and X.flags.c_contiguous
        and X.shape[0] > 0
        and X.shape[1] == estimator.n_features_in_
        and "feature_names_in_" not in estimator.__dict__
        and all_finite(X)
    )


def check_query(estimator: KernelEstimator, X: Any, model: Held) -> Points:
    """Return points to predict, of the kind and dtype that the model holds."""
    if _is_plain(estimator, X, model):
        return X
    objects = _objects(estimator, X, model)
    if objects is not None:
        return objects
    precomputed = model.params["kernel"] == "precomputed"
    X, _ = check_points(estimator, X, "no_validation", reset=False, sparse=not precomputed)
    return conform(X, sparse=model.sparse, dtype=model.dtype, exact=False)
