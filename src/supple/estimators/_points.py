"""Checks of points: finite, of one kind and dtype. Nothing here changes an argument."""

from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length, validate_data

from supple.errors import InvalidInputError
from supple.estimators._advice import refuse, refuse_targets

# Points are an ndarray or a SciPy CSR array / matrix; SciPy has no common type for them. With a
# callable kernel they may also be a 1-D array of objects.
Points = Any

LARGEST_EXACT_INTEGER = 2**53
# Attributes that check_points sets if `reset`.
FEATURES = ("n_features_in_", "feature_names_in_")


def check_points(
    estimator: Any, X: Any, y: Any, *, reset: bool, sparse: bool, **y_check: Any
) -> tuple[Points, Any]:
    """Return X as finite, C-contiguous or canonical CSR points, and y checked by scikit-learn.

    Parameters
    ----------
    estimator : estimator
        Receives `n_features_in_` and `feature_names_in_` if `reset`, else X must agree with them.
    X : array-like or sparse
        float32 and float64 stay as they are, all else becomes float64.
    y : array-like, None or "no_validation"
        None is refused by estimators that need targets.
    reset : bool
        True for the first batch of a model.
    sparse : bool
        Whether sparse X is accepted.
    **y_check : dict
        Further keywords of scikit-learn's check of y.
    """
    try:
        checked = validate_data(
            estimator,
            X,
            y,
            reset=reset,
            dtype=[np.float64, np.float32],
            order="C",
            accept_sparse="csr" if sparse else False,
            ensure_all_finite=False,
            **y_check,
        )
    except OverflowError:
        raise InvalidInputError(
            "The input contains an integer too large for float64. Rescale the values."
        ) from None
    except (TypeError, ValueError) as error:
        refuse(error, estimator, X, y, reset=reset)
    points, y = checked if isinstance(checked, tuple) else (checked, None)
    if sp.issparse(points):
        points = _canonical(points)
        check_integers(X, points.data, "X")
    else:
        check_integers(X, points, "X")
    _check_finite(estimator, points)
    return points, y


def as_objects(X: Any, *, rows: bool) -> NDArray[Any] | None:
    """Return X as a 1-D array if it is a sequence of objects without features, else None.

    Only a callable kernel can compare these: strings, graphs, sequences of different lengths.
    With `rows`, a sequence of equally long sequences is a matrix.
    """
    if not (isinstance(X, list | tuple) or getattr(X, "ndim", 0) == 1):
        return None
    objects = np.fromiter(X, dtype=object, count=len(X))
    if any(isinstance(v, Real) for v in objects) or not objects.size:
        return None
    if rows:
        try:
            return None if np.asarray(X, dtype=object).ndim > 1 else objects
        except ValueError:  # arrays of different shapes
            pass
    return objects


def check_objects(estimator: Any, X: NDArray[Any], y: Any, **y_check: Any) -> Any:
    """Return y checked by scikit-learn, for points without features."""
    if isinstance(y, str) and y == "no_validation":
        return None
    try:
        checked = validate_data(estimator, "no_validation", y, **y_check)
        check_consistent_length(X, checked)
    except (TypeError, ValueError) as error:
        refuse_targets(error, estimator, X, y)
    return checked


def _canonical(X: Points) -> Points:
    """Return CSR with 32-bit, sorted, unique indices; the user's matrix is unchanged."""
    if max(X.nnz, *X.shape) > np.iinfo(np.int32).max:
        raise InvalidInputError(
            f"Sparse X of shape {X.shape} with {X.nnz} entries needs 64-bit indices; supple "
            "uses 32-bit ones. Pass fewer rows at a time to partial_fit."
        )
    indices = X.indices.astype(np.int32, copy=False)
    indptr = X.indptr.astype(np.int32, copy=False)
    # A new header: SciPy caches in the old one whether it is sorted.
    fresh = type(X)((X.data, indices, indptr), shape=X.shape)
    fresh.check_format(full_check=True)
    if not fresh.has_canonical_format:
        fresh = fresh.copy()
        fresh.sum_duplicates()
    return fresh


def check_integers(raw: Any, values: NDArray[Any], name: str) -> None:
    """Refuse integers in `raw` that became other numbers when converted to `values`."""
    kind = getattr(getattr(raw, "dtype", None), "kind", "O")
    if kind in "fb" or values.size == 0:
        return
    with np.errstate(invalid="ignore"):
        # Strictly below: the integer next to the limit was rounded to it.
        if values.max() < LARGEST_EXACT_INTEGER and values.min() > -LARGEST_EXACT_INTEGER:
            return
    items = raw.data if sp.issparse(raw) else np.asarray(raw)
    if items.dtype.kind not in "iu":
        if items.dtype.kind != "O":
            return
        items = np.array([v for v in items.ravel() if isinstance(v, Integral)], dtype=object)
    # Python integers: abs of the smallest int64 overflows.
    worst = max((int(v) for v in (items.max(), items.min())), key=abs) if items.size else 0
    if abs(worst) > LARGEST_EXACT_INTEGER:
        raise InvalidInputError(
            f"Input {name} contains the integer {worst}, beyond 2**53: float64 cannot hold such "
            "integers exactly. Rescale the values, or convert them to float yourself if rounding "
            "is acceptable."
        )


def _check_finite(estimator: Any, X: Points) -> None:
    values = X.data if sp.issparse(X) else X
    finite = np.isfinite(values)
    if finite.all():
        return
    if sp.issparse(X):
        entry = int(np.flatnonzero(~finite)[0])
        row = int(np.searchsorted(X.indptr, entry, side="right")) - 1
        column, value = int(X.indices[entry]), X.data[entry]
    else:
        row, column = (int(i) for i in np.argwhere(~finite)[0])
        value = X[row, column]
    what = "NaN" if np.isnan(value) else f"infinity or a value too large for {X.dtype}"
    raise InvalidInputError(
        f"Input X contains {what} (first at row {row}, column {column}). "
        f"{type(estimator).__name__} needs finite values: impute, clip or drop them first."
    )


def conform(X: Points, *, sparse: bool, dtype: np.dtype[Any], exact: bool) -> Points:
    """Convert checked points to the kind (dense or CSR) and dtype a model holds.

    With `exact`, a float32 model refuses values that float32 would round.
    """
    if sp.issparse(X) and not sparse:
        X = X.toarray()
    elif sparse and not sp.issparse(X):
        X = sp.csr_array(X)
    if X.dtype == dtype:
        return X
    with np.errstate(over="ignore"):
        converted = X.astype(dtype)
    new, old = (converted.data, X.data) if sparse else (converted, X)
    if exact and not np.array_equal(new, old):
        raise InvalidInputError(
            f"The model holds {dtype} points and X has {X.dtype} values that {dtype} would "
            "round. Convert X yourself if that is acceptable, or start the model with "
            f"{X.dtype} points."
        )
    if not np.isfinite(new).all():
        raise InvalidInputError(
            f"Input X contains values too large for {dtype}, the type of the points that the model "
            "holds. Rescale X, or start the model with float64 points."
        )
    return converted
