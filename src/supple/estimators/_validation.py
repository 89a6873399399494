"""Checks of what the user passes in: points, weights and the scale of gamma.

Nothing here changes an argument. Everything raises before the engine is touched.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length, validate_data

from supple.errors import InvalidInputError
from supple.estimators._advice import refuse, refuse_targets
from supple.estimators._params import show, takes_gamma

# Points are an ndarray or a SciPy CSR array / matrix; SciPy has no common type for them. With a
# callable kernel they may also be a 1-D array of objects.
Points = Any

LARGEST_EXACT_INTEGER = 2**53
HEAVIEST = 1e290
# What check_points with `reset` writes on an estimator.
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
    """Return X as a 1-D array if it is a sequence of things without features, None if it is not.

    Only a callable kernel can compare these: strings, graphs, sequences of different lengths.
    With `rows`, a sequence of equally long sequences is none of them, but a matrix.
    """
    if not (isinstance(X, list | tuple) or getattr(X, "ndim", 0) == 1):
        return None
    objects = np.fromiter(X, dtype=object, count=len(X))
    if any(isinstance(v, Real) for v in objects) or not objects.size:
        return None
    if rows:
        try:
            return None if np.asarray(X, dtype=object).ndim > 1 else objects
        except ValueError:  # arrays whose shapes differ in part
            pass
    return objects


def check_objects(estimator: Any, X: NDArray[Any], y: Any, **y_check: Any) -> Any:
    """Return y checked by scikit-learn, for points that have no features to be checked."""
    if isinstance(y, str) and y == "no_validation":
        return None
    try:
        checked = validate_data(estimator, "no_validation", y, **y_check)
        check_consistent_length(X, checked)
    except (TypeError, ValueError) as error:
        refuse_targets(error, estimator, X, y)
    return checked


def _canonical(X: Points) -> Points:
    """Return CSR with 32-bit, sorted, unique indices; the user's matrix is not touched."""
    if max(X.nnz, *X.shape) > np.iinfo(np.int32).max:
        raise InvalidInputError(
            f"Sparse X of shape {X.shape} with {X.nnz} entries needs 64-bit indices; supple "
            "uses 32-bit ones. Pass fewer rows at a time to partial_fit."
        )
    indices = X.indices.astype(np.int32, copy=False)
    indptr = X.indptr.astype(np.int32, copy=False)
    # A new header, because SciPy remembers on the old one whether it was sorted once.
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
        # Not beyond, because the integer next to the limit has been rounded to it.
        if values.max() < LARGEST_EXACT_INTEGER and values.min() > -LARGEST_EXACT_INTEGER:
            return
    items = raw.data if sp.issparse(raw) else np.asarray(raw)
    if items.dtype.kind not in "iu":
        if items.dtype.kind != "O":
            return
        items = np.array([v for v in items.ravel() if isinstance(v, Integral)], dtype=object)
    # Python integers, because abs of the smallest int64 overflows.
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


def _not_a_number(values: NDArray[Any]) -> str:
    """Describe what NumPy would turn into numbers though it is none, "" if there is nothing."""
    if values.dtype.kind != "O":
        return "" if values.dtype.kind in "biuf" else f"dtype {values.dtype}"
    bad = (v for v in values.ravel() if not isinstance(v, Real | Decimal | np.bool_))
    return next((f"{show(v)} ({type(v).__name__})" for v in bad), "")


def as_moments(times: Any) -> NDArray[Any]:
    """Return timestamps as numbers or datetime64, those with a time zone in UTC.

    Raise TypeError or ValueError for objects that are neither.

    Examples
    --------
    >>> from datetime import datetime, timedelta, timezone
    >>> as_moments([datetime(2024, 1, 1, tzinfo=timezone(timedelta(hours=1)))])
    array(['2023-12-31T23:00:00.000000'], dtype='datetime64[us]')
    """
    given = np.asarray(times)
    if given.dtype != object:
        return given
    values = given.ravel().tolist()
    if values and all(isinstance(v, Real | Decimal) for v in values):
        return given.astype(np.float64)  # as datetimes they would be microseconds
    zoned = [isinstance(v, datetime) and v.tzinfo is not None for v in values]
    if any(zoned):
        missing = [v != v for v in values]  # NaT of pandas
        if not all(np.logical_or(zoned, missing)):
            raise TypeError("Only some of the timestamps have a time zone.")
        # NumPy converts them, too, but warns that it keeps no zone.
        values = [
            None if gone else v.astimezone(UTC).replace(tzinfo=None)
            for v, gone in zip(values, missing, strict=True)
        ]
    return np.array(values, dtype="datetime64[us]").reshape(given.shape)


def check_times(times: Any, n: int) -> NDArray[Any]:
    """Return `n` timestamps as finite numbers or datetime64."""
    try:
        given = as_moments(times)
    except (TypeError, ValueError):
        raise InvalidInputError(
            f"'timestamps' must be numbers or datetimes of shape ({n},), all of one kind. Got "
            f"{show(times)} instead. Convert them, for example by numpy.asarray(...)."
        ) from None
    if given.shape != (n,):
        raise InvalidInputError(
            f"'timestamps' must have shape ({n},), one for each row of X. Got shape {given.shape} "
            "instead."
        )
    dated = given.dtype.kind == "M"
    if not dated and (wrong := _not_a_number(given)):
        raise InvalidInputError(
            f"'timestamps' must be numbers or datetimes. Got {wrong} instead. Convert them first."
        )
    result = given if dated else np.asarray(given, dtype=np.float64)
    infinite = np.flatnonzero(~np.isfinite(result))
    if len(infinite):
        raise InvalidInputError(
            f"'timestamps' must be finite. Got {result[infinite[0]]} in row {infinite[0]}. Leave "
            "such examples out."
        )
    return result


def check_weight(weight: Any, n: int) -> NDArray[np.float64]:
    """Return `n` finite weights >= 0 as a new array; a number is for all."""
    try:
        given = np.asarray(weight)
    except ValueError:
        raise InvalidInputError(
            f"'sample_weight' must be a number or have shape ({n},). Got a sequence whose "
            "elements differ in length instead. Give one weight per example, or one for all."
        ) from None
    wrong = _not_a_number(given)
    if wrong:
        raise InvalidInputError(
            f"'sample_weight' must be numbers >= 0. Got {wrong} instead. Give one weight per "
            "example, or one for all."
        )
    if given.ndim > 1 or (given.ndim == 1 and given.shape[0] != n):
        raise InvalidInputError(
            f"'sample_weight' must be a number or have shape ({n},). Got shape {given.shape} "
            "instead. Give one weight per example, or one for all."
        )
    result = np.empty(n)
    try:
        with np.errstate(over="ignore"):
            result[...] = given
    except OverflowError:
        worst = max(given.ravel(), key=abs)
        raise InvalidInputError(
            f"'sample_weight' must fit into float64. Got {show(worst)} instead. Scale the "
            "weights down."
        ) from None
    if not (result >= 0).all() or np.isinf(result).any():
        bad = result[~((result >= 0) & np.isfinite(result))][0]
        raise InvalidInputError(
            f"'sample_weight' must be finite and >= 0. Got {bad} instead. Use 0 to take the weight "
            "from an example, forget to remove it."
        )
    if not result.max(initial=0.0) < HEAVIEST:
        raise InvalidInputError(
            f"'sample_weight' must stay below {HEAVIEST:g}, so that sums of weights do not "
            f"overflow. Got {result.max():g} instead. Give smaller weights."
        )
    return result


def check_numeric(y: Any) -> None:
    """Refuse regression targets such as dates and strings, which NumPy would convert."""
    try:
        given = np.asarray(y)
    except ValueError:
        return  # scikit-learn words this, and the other cases that are left out here
    wrong = "" if given.ndim == 0 or given.dtype.kind == "c" else _not_a_number(given)
    if wrong:
        raise InvalidInputError(
            f"Input y must be numbers. Got {wrong} instead. Convert the targets to float yourself, "
            "and drop the examples that have none."
        )
    if given.dtype.kind == "O":
        try:
            given.astype(np.float64)
        except OverflowError:
            worst = show(max(given.ravel(), key=abs))
            raise InvalidInputError(
                f"Input y must fit into float64. Got {worst} instead. Rescale the targets."
            ) from None


def check_targets(raw: Any, y: NDArray[Any]) -> NDArray[np.float64]:
    """Return regression targets as float64; `raw` is what the user gave, `y` is checked."""
    with np.errstate(over="ignore"):
        targets = np.ascontiguousarray(y, dtype=np.float64)
    check_integers(raw, targets, "y")
    finite = np.isfinite(targets)
    if not finite.all():
        row = int(np.flatnonzero(~finite)[0])
        raise InvalidInputError(
            f"Input y contains NaN, infinity or a value too large for float64 (first at row {row})."
            " Targets must be finite: impute, clip or drop them first."
        )
    return targets


def resolve_gamma(params: Mapping[str, Any], X: Points, weight: NDArray[np.float64]) -> float:
    """Return gamma as a number: "scale" is 1 / (n_features * Var(X)), "auto" 1 / n_features.

    It is 0 if the kernel does not take gamma, whatever its value.

    The variance counts every row as often as its weight says, so that weight 2 is the same
    as two copies of a row. With equal weights it is scikit-learn's.
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
