"""Remedies for points and targets that scikit-learn refuses."""

from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp

from supple.errors import InvalidInputError


def refuse(error: Exception, estimator: Any, X: Any, y: Any, *, reset: bool) -> NoReturn:
    """Raise scikit-learn's `error` with a remedy.

    `estimator` knows the features that X must have, unless X starts a model (`reset`).
    """
    remedy = _about_points(estimator, X, reset)
    if remedy or isinstance(y, str):  # "no_validation"
        _refuse(error, remedy)
    refuse_targets(error, estimator, X, y)


def refuse_targets(error: Exception, estimator: Any, X: Any, y: Any) -> NoReturn:
    """Raise scikit-learn's `error` with a remedy for y."""
    _refuse(error, _about_targets(estimator, X, y))


def _refuse(error: Exception, remedy: str) -> NoReturn:
    text = str(error).rstrip()
    stop = "" if text.endswith((".", "?")) else "."
    kind = TypeError if isinstance(error, TypeError) else InvalidInputError
    raise kind(f"{text}{stop} {remedy}".rstrip()) from None


def _about_points(estimator: Any, X: Any, reset: bool) -> str:
    """Return a remedy for X, "" if X is valid."""
    if not sp.issparse(X):
        try:
            array = np.asarray(X)
        except ValueError:
            return "X must have shape (n_samples, n_features). Give all rows the same length."
    else:
        array = X
    if array.dtype.kind == "c":
        return "Input X must be real. Give real and imaginary parts as features of their own."
    if array.ndim < 2:
        return f"X must have shape (n_samples, n_features). Got {array.shape} instead."
    if array.ndim > 2:
        return (
            f"X must have shape (n_samples, n_features). Got {array.shape} instead; "
            "X.reshape(len(X), -1) makes one row of each sample."
        )
    n, width = array.shape
    if not n:
        return "X has no rows. Give one at least, and leave out empty batches."
    if not width:
        return "X has no columns. Give one feature at least."
    if array.dtype.kind not in "biuf" and not _numeric(array):
        return (
            "Input X must be numbers. Encode other values first, for instance by "
            "sklearn.preprocessing.OneHotEncoder."
        )
    return "" if reset else _about_features(estimator, X, width)


def _numeric(array: Any) -> bool:
    try:
        array.astype(np.float64)
    except (TypeError, ValueError):
        return False
    return True


def _about_features(estimator: Any, X: Any, width: int) -> str:
    if width != estimator.n_features_in_:
        return (
            f"Give X the {estimator.n_features_in_} features that the model was fitted with, or "
            "call fit to start again with others."
        )
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None and hasattr(X, "columns") and list(X.columns) != list(names):
        return f"Give X the columns {', '.join(names[:5])}{', ...' * (len(names) > 5)}, in order."
    return ""


def _about_targets(estimator: Any, X: Any, y: Any) -> str:
    """Return a remedy for y, "" if y is valid."""
    if y is None:
        return f"Give one target for each row, {type(estimator).__name__}.fit(X, y)."
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    try:
        array = np.asarray(y)
    except ValueError:
        return f"y must have shape ({n},). Give one target for each row."
    if array.shape != (n,):
        return f"y must have shape ({n},), one target for each row. Got {array.shape} instead."
    if array.dtype.kind in "fO":
        return "Targets must be known and finite: impute them or drop their rows."
    return ""
