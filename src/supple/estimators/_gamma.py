"""The value of gamma="scale" or "auto"."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from supple.errors import InvalidInputError
from supple.estimators._params import takes_gamma
from supple.estimators._points import Points


def resolve_gamma(params: Mapping[str, Any], X: Points, weight: NDArray[np.float64]) -> float:
    """Return gamma as a number: "scale" is 1 / (n_features * Var(X)), "auto" 1 / n_features.

    It is 0 if the kernel does not use gamma. The variance is weighted, so that weight 2 is the same
    as two copies of a row; with equal weights it is scikit-learn's.
    """
    gamma = params["gamma"]
    if not takes_gamma(params["kernel"]):
        return 0.0
    if not isinstance(gamma, str):
        return float(gamma)
    if gamma == "auto":
        return 1.0 / X.shape[1]
    if not weight.any():
        raise InvalidInputError(
            "gamma='scale' needs examples that carry weight. Give gamma as a number."
        )
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        variance = _variance(X, weight)
        scale = 1.0 / (X.shape[1] * variance) if variance != 0 else 1.0
    if not (np.isfinite(variance) and np.isfinite(scale)):
        raise InvalidInputError(
            "gamma='scale' cannot be computed: the variance of X is too large or too small for "
            "float64. Standardise X, or give gamma as a number."
        )
    return float(scale)


def _variance(X: Points, weight: NDArray[np.float64]) -> np.float64:
    """Weighted variance over all entries of X, two-pass (zeros of CSR included)."""
    uniform = weight.min() == weight.max()
    if not sp.issparse(X):
        if uniform:
            return X.var(dtype=np.float64)
        mean = np.average(X.mean(axis=1, dtype=np.float64), weights=weight)
        return np.average(((X - mean) ** 2).mean(axis=1), weights=weight)
    share = weight / weight.sum() / X.shape[1]
    rows = np.repeat(share, np.diff(X.indptr))
    values = X.data.astype(np.float64, copy=False)
    mean = rows @ values
    return rows @ (values - mean) ** 2 + (1.0 - rows.sum()) * mean**2
