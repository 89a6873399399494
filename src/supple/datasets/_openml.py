"""Download a set from OpenML, through scikit-learn, which also keeps it in its cache.

The only file of this package that imports scikit-learn, and only when a set is downloaded: its
fetcher knows the protocol, checks checksums, retries and caches, none of which is worth a copy.
"""

from typing import Any
from urllib.error import URLError

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from supple.datasets._catalogue import OpenML
from supple.datasets._dataset import MISSING, Raw, as_labels, from_columns
from supple.errors import DamagedDataError, DataNotFoundError


def download(name: str, where: OpenML, remedy: str) -> Raw:
    """Return the set `where` says, or raise `DataNotFoundError` with the `remedy`."""
    from sklearn.datasets import fetch_openml

    try:
        # The parser that needs no pandas: it is slower, but it reads every set the same way,
        # while the other one leaves the types of values to the version of pandas.
        found = fetch_openml(**where.query, as_frame=False, parser="liac-arff")
    except (URLError, TimeoutError, ConnectionError, ValueError) as error:
        raise DataNotFoundError(
            f"The data set {name!r} could not be downloaded from OpenML ({error}). {remedy}"
        ) from error
    if found.target is None:
        raise DamagedDataError(
            f"What OpenML has for {name!r} ({where.query}) names no label column."
        )
    written = [str(label).removesuffix(".0") for label in found.target.tolist()]
    y = as_labels([where.labels.get(label, label).rstrip(".") for label in written])
    names = tuple(found.feature_names)
    if sp.issparse(found.data):
        return Raw(sp.csr_matrix(found.data), y, names, where.n_train)
    columns = {
        column: _typed(_decode(found.data[:, i], found.categories.get(column)))
        for i, column in enumerate(names)
    }
    if where.as_matrix:
        return Raw(np.column_stack(list(columns.values())), y, names, where.n_train)
    return from_columns(columns, y, where.n_train)


def _decode(column: npt.NDArray[Any], categories: list[str] | None) -> npt.NDArray[Any]:
    """Return the nominal values for which the parser wrote their numbers, a missing one as NaN."""
    if categories is None:
        return column
    values = np.array([*categories, np.nan], dtype=object)
    return values[np.where(np.isnan(column), -1, column).astype(np.intp)]


def _typed(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return integers, else floats (missing: NaN), else strings, as a table of a file has them."""
    try:
        numbers = column.astype(np.float64)
    except ValueError:
        return np.array([MISSING if value is np.nan else value for value in column])
    whole = np.isfinite(numbers).all() and (numbers == np.rint(numbers)).all()
    return numbers.astype(np.int64) if whole else numbers
