"""A data set as the user gets it, and as its file has it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from supple.errors import InvalidInputError

# A matrix, a SciPy CSR matrix or a structured array; pandas objects if the user asked for them.
Features = Any
Labels = npt.NDArray[Any]

MISSING = "?"  # how a missing nominal value is written; a missing number is NaN


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A data set in memory.

    Attributes
    ----------
    name : str
        The name given to `load`.
    X : ndarray, CSR matrix or DataFrame of shape (n_samples, n_features)
        Prepared: numbers. Raw: the columns of the original, a structured array
        (``X["age"]``) for tables, the matrix of the original otherwise.
    y : ndarray or Series of shape (n_samples,)
        Labels: integers where the original has integers, strings otherwise.
    feature_names : tuple of str
        Names of the columns of `X`.
    target_names : tuple
        The distinct labels, sorted.
    description : str
        Title, source, citation, licence, and what was done to the original.
    n_train : int or None
        The first `n_train` rows are the training part where the authors of the set fixed one,
        the others the test part.

    Examples
    --------
    >>> from supple.datasets import load
    >>> X_train, X_test, y_train, y_test = load("monks1").split()
    >>> X_train.shape, X_test.shape
    ((124, 15), (432, 15))
    """

    name: str
    X: Features
    y: Any
    feature_names: tuple[str, ...]
    target_names: tuple[Any, ...]
    description: str
    n_train: int | None = None

    def split(self) -> tuple[Features, Features, Any, Any]:
        """Return ``X_train, X_test, y_train, y_test`` as the authors of the set divided it.

        Raises
        ------
        InvalidInputError
            If the set has no such division.
        """
        n = self.n_train
        if n is None:
            raise InvalidInputError(
                f"The data set {self.name!r} comes in one part. Divide it yourself, for example "
                "with sklearn.model_selection.train_test_split."
            )
        return self.X[:n], self.X[n:], self.y[:n], self.y[n:]

    def __repr__(self) -> str:
        parts = [f"{len(self.y)} examples"]
        if self.n_train is not None:
            parts[0] += f" ({self.n_train} for training)"
        parts.append(f"{len(self.feature_names)} features")
        k = len(self.target_names)
        parts.append(f"classes {self.target_names}" if k <= 10 else f"{k} classes")
        return f"<Dataset {self.name}: {', '.join(parts)}>"


@dataclass(frozen=True, eq=False)
class Raw:
    """What a file or a download holds, before anything is done to it.

    `X` is a structured array (tables; nominal columns are strings), a matrix or CSR.
    """

    X: Features
    y: Labels
    feature_names: tuple[str, ...]
    n_train: int | None = None


def from_columns(columns: dict[str, Any], y: Labels, n_train: int | None = None) -> Raw:
    """Return `columns` as one structured array."""
    dtype = np.dtype([(name, values.dtype) for name, values in columns.items()])
    table = np.empty(len(y), dtype=dtype)
    for name, values in columns.items():
        table[name] = values
    return Raw(table, y, tuple(columns), n_train)


def as_labels(values: list[str]) -> Labels:
    """Return integers if all labels are, else strings."""
    try:
        return np.array([int(label) for label in values], dtype=np.int64)
    except ValueError:
        return np.array(values)


def to_pandas(X: Features, y: Labels, names: tuple[str, ...]) -> tuple[Any, Any]:
    """Return a DataFrame and a Series; strings become categories, `MISSING` becomes missing."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            "as_frame=True needs pandas, which is not installed. Install it (pip install pandas) "
            "or leave as_frame out."
        ) from error
    if sp.issparse(X):
        frame = pd.DataFrame.sparse.from_spmatrix(X, columns=names)
    elif X.dtype.names is None:
        frame = pd.DataFrame(X, columns=list(names))
    else:
        frame = pd.DataFrame({name: _series(pd, X[name]) for name in names})
    return frame, pd.Series(y, name="class")


def _series(pd: Any, column: npt.NDArray[Any]) -> Any:
    if column.dtype.kind != "U":
        return column
    values, codes = np.unique(column, return_inverse=True)
    known = np.flatnonzero(values != MISSING)
    place = np.full(len(values), -1)  # pandas' code of a missing value
    place[known] = np.arange(len(known))
    return pd.Categorical.from_codes(place[codes], categories=values[known])
