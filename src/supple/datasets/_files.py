"""Read the two kinds of files: tables (gzip CSV) and arrays (npz)."""

import csv
import gzip
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from supple.datasets._dataset import MISSING, Features, Raw, as_labels, from_columns
from supple.errors import DamagedDataError

Reader = Callable[[Path], Raw]

_LONG = 256  # longer strings are kept as objects: a fixed width would be that of the longest


def read_table(
    lines: Iterable[str],
    label: str = "class",
    header: tuple[str, ...] | None = None,
    label_ends: str = "",
    n_train: int | None = None,
) -> Raw:
    """Read CSV: a header (unless `header` is given), the column `label`, perhaps a column split.

    `label_ends` are characters to be cut off the end of a label, `n_train` rows are the training
    part where the file has no column split but its documentation says so.
    """
    rows = list(csv.reader(lines))
    names = header or tuple(rows.pop(0))
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    y = as_labels([value.rstrip(label_ends) for value in columns.pop(label)])
    if "split" in columns:
        n_train = _n_train(columns.pop("split"))
    return from_columns({name: _typed(values) for name, values in columns.items()}, y, n_train)


def _n_train(split: tuple[str, ...]) -> int:
    n = split.count("train")
    if split != ("train",) * n + ("test",) * (len(split) - n):
        raise ValueError("the rows marked train do not come before those marked test")
    return n


def _typed(values: tuple[str, ...]) -> npt.NDArray[Any]:
    """Return integers, else floats (missing: NaN), else strings."""
    try:
        return np.array(list(map(int, values)), dtype=np.int64)
    except ValueError:
        pass
    try:
        return np.array([float("nan") if v == MISSING else float(v) for v in values])
    except ValueError:
        return np.array(values, dtype=object if max(map(len, values)) > _LONG else None)


def table(**options: Any) -> Reader:
    """Return the reader of a gzip CSV file; `options` are those of `read_table`."""

    def read(path: Path) -> Raw:
        with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
            return read_table(lines, **options)

    return read


def matrix(path: Path) -> Raw:
    """Read an npz file with X and y, or with X_train, y_train, X_test and y_test."""
    with path.open("rb") as opened, np.load(opened) as file:
        if "X" in file:
            return _numbered(file["X"], file["y"].astype(np.int64))
        X = np.concatenate([file["X_train"], file["X_test"]])
        y = np.concatenate([file["y_train"], file["y_test"]]).astype(np.int64)
        return _numbered(X, y, len(file["y_train"]))


def binary_rows(path: Path) -> Raw:
    """Read an npz file with indptr and indices of CSR rows whose values are all 1."""
    with path.open("rb") as opened, np.load(opened) as file:
        width = int(file["n_features"])
        if "indptr" in file:
            return _numbered(_ones(file, "", width), file["y"].astype(np.int64))
        X = sp.vstack([_ones(file, "train_", width), _ones(file, "test_", width)], format="csr")
        y = np.concatenate([file["y_train"], file["y_test"]]).astype(np.int64)
        return _numbered(X, y, len(file["y_train"]))


def _ones(file: Any, prefix: str, width: int) -> Any:
    indptr = file[f"{prefix}indptr"].astype(np.int32)
    indices = file[f"{prefix}indices"].astype(np.int32)
    X = sp.csr_matrix((np.ones(len(indices)), indices, indptr), shape=(len(indptr) - 1, width))
    X.check_format()
    return X


def covertype(path: Path) -> Raw:
    """Read an npz file with 10 numbers and two codes, which become 4 and 40 columns of 0 and 1."""
    with path.open("rb") as opened, np.load(opened) as file:
        numbers = file["X_num"]
        X = np.zeros((len(numbers), 54), dtype=numbers.dtype)
        X[:, :10] = numbers
        rows = np.arange(len(numbers))
        X[rows, 10 + file["wilderness"]] = 1
        X[rows, 14 + file["soil"]] = 1
        return _numbered(X, file["y"].astype(np.int64))


def _numbered(X: Features, y: npt.NDArray[Any], n_train: int | None = None) -> Raw:
    return Raw(X, y, tuple(f"x{i}" for i in range(1, X.shape[1] + 1)), n_train)


def check_shape(raw: Raw, rows: int, columns: int, where: str) -> Raw:
    """Return `raw`, or say that it is not the set it should be."""
    found = (raw.X.shape[0], len(raw.feature_names))
    if found != (rows, columns) or len(raw.y) != rows:
        raise DamagedDataError(
            f"{where} holds {found[0]} rows of {found[1]} columns with {len(raw.y)} labels, "
            f"expected are {rows} rows of {columns} columns. It is damaged or another set; "
            "remove it and get it again."
        )
    return raw
