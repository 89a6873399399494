"""Loading and preparation of the data of a study."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from supple import datasets, streams
from supple.datasets._dataset import as_labels, from_columns
from supple.datasets._prepare import PLAIN, prepare
from supple.errors import DataNotFoundError, InvalidInputError
from supple.study._spec import DataSpec
from supple.study._table import Column, Table, read_table

__all__ = ["GENERATORS", "Data", "data_of", "load"]

GENERATORS = ("rotating_gaussians", "shifting_gaussians", "sea", "stagger", "hyperplane")
_MOST_CLASSES = 100
_NAMES_ROWS = 0.5  # a nominal column with a larger share of different values is an id


@dataclass(frozen=True, eq=False)
class Data:
    """Features, classes, and the columns that rows can be sorted by.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Features; missing values are filled, nominal columns are columns of 0 and 1.
    y : ndarray of shape (n_samples,)
        Classes, two or more.
    names : tuple of str
        Names of the features.
    keys : mapping of str to ndarray
        Columns of the original.
    notes : tuple of str
        Sentences about changes of the original.
    """

    X: Any
    y: NDArray[Any]
    names: tuple[str, ...]
    keys: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def sorted_by(self, name: str) -> NDArray[np.intp]:
        """Return the order of the rows by growing values of a column, equal ones as they are."""
        if name not in self.keys:
            raise InvalidInputError(
                f"The data have no column {name!r} to sort by. Their columns are: "
                f"{', '.join(list(self.keys)[:20])}{', ...' if len(self.keys) > 20 else ''}."
            )
        return np.argsort(self.keys[name], kind="stable")


def load(
    spec: DataSpec, folder: str | Path | None = None, *, table: Table | None = None, seed: int = 0
) -> tuple[Any, NDArray[Any], tuple[str, ...]]:
    """Return features, classes and the names of the features of a `DataSpec`.

    Missing values are filled and nominal columns are made columns of 0 and 1, as in
    `supple.datasets`; features are not scaled yet, and rows are in the order of the source.

    Parameters
    ----------
    spec : DataSpec
        Which data.
    folder : str or Path, default=None
        Folder of relative paths; None is the working folder.
    table : Table, default=None
        The table, if it has been read already.
    seed : int, default=0
        Seed of a generator.

    Examples
    --------
    >>> from supple.study import DataSpec, load
    >>> X, y, names = load(DataSpec("embedded", "heart"))
    >>> X.shape, len(names)
    ((270, 20), 20)
    """
    data = data_of(spec, folder, table=table, seed=seed)
    return data.X, data.y, data.names


def data_of(
    spec: DataSpec, folder: str | Path | None = None, *, table: Table | None = None, seed: int = 0
) -> Data:
    """Return the data as `load` does, with information on the original."""
    spec.check()
    if spec.source == "file":
        if table is None:
            table = read_table(Path(folder or ".") / spec.name)
        data = _from_table(table, spec.target)
    else:
        data = _embedded(spec.name) if spec.source == "embedded" else _generated(spec, seed)
    _check_classes(data.y, spec.name if table is None else table.name)
    return data


def _embedded(name: str) -> Data:
    try:
        data = datasets.load(name, scaled=False, download_if_missing=False)
        raw = datasets.load(name, prepared=False, download_if_missing=False)
    except DataNotFoundError as error:
        raise InvalidInputError(
            f"The data set {name!r} does not come with supple and is not in the folder that "
            "SUPPLE_DATA names. 'supple data list' shows the sets that are there."
        ) from error
    if raw.X.dtype.names is None:
        keys = _by_name(data.X, data.feature_names)
    else:
        keys = {each: raw.X[each] for each in raw.feature_names}
    return Data(data.X, data.y, data.feature_names, {**keys, "class": data.y})


def _by_name(X: Any, names: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    return {} if sp.issparse(X) else {name: X[:, i] for i, name in enumerate(names)}


def _generated(spec: DataSpec, seed: int) -> Data:
    if spec.name not in GENERATORS:
        raise InvalidInputError(
            f"There is no generator named {spec.name!r}. Known are: {', '.join(GENERATORS)}."
        )
    options = dict(spec.params) if spec.rows is None else {**spec.params, "n_samples": spec.rows}
    try:
        stream = getattr(streams, spec.name)(**{"random_state": seed, **options})
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"{spec.name} cannot be drawn: {error}") from error
    names = stream.metadata.get("feature_names", [f"x{i + 1}" for i in range(stream.X.shape[1])])
    keys = {**_by_name(stream.X, tuple(names)), "class": stream.y}
    return Data(stream.X, stream.y, tuple(names), keys)


def _from_table(table: Table, target: str | None) -> Data:
    label = table.columns[-1] if target is None else table.column(target)
    y = _labels(label, table)
    if table.features is not None:
        names = tuple(f"x{i + 1}" for i in range(table.features.shape[1]))
        return Data(table.features, y, names, {**_by_name(table.features, names), "label": y})
    features, notes = _features(table, label)
    filled = {each.name: _known(each) for each in features}
    X, names, done = prepare(from_columns(filled, y), PLAIN, scaled=False)
    keys = {each.name: each.values for each in table.columns}
    return Data(X, y, names, {**keys, label.name: y}, (*notes, *done))


def _features(table: Table, label: Column) -> tuple[list[Column], list[str]]:
    """Return the feature columns, and sentences about the others."""
    kept, notes = [], []
    for column in table.columns:
        if column is label:
            continue
        if column.missing == table.rows:
            notes.append(f"Column {column.name!r} is left out: it is empty.")
        elif column.kind == "nominal" and column.distinct > max(20, _NAMES_ROWS * table.rows):
            notes.append(
                f"Column {column.name!r} is left out: with {column.distinct} different texts in "
                f"{table.rows} rows it names the rows."
            )
        else:
            kept.append(column)
    if not kept:
        raise InvalidInputError(
            f"{table.name} has no features beside the target {label.name!r}. It needs a column of "
            "numbers or of classes. " + " ".join(notes)
        )
    return kept, notes


def _known(column: Column) -> NDArray[Any]:
    """Return a nominal column in the type that `prepare` takes for one."""
    return column.values if column.kind == "number" else column.values.astype(str)


def _labels(column: Column, table: Table) -> NDArray[Any]:
    values = column.values
    missing = np.isnan(values) if column.kind == "number" else values == "?"
    if missing.any():
        raise InvalidInputError(
            f"{table.name}, {table.where(int(np.argmax(missing)))}, column {column.name!r}: the "
            "class is missing. Fill it in or leave the row out."
        )
    if column.kind == "number" and column.distinct > _MOST_CLASSES:
        raise InvalidInputError(
            f"Column {column.name!r} of {table.name} has {column.distinct} different numbers, so "
            "it tells no classes. Choose the column with the classes as target; there are: "
            f"{', '.join(each.name for each in table.columns[:20])}."
        )
    if column.kind == "number":
        # Beyond 2^53 all floats are whole.
        whole = np.equal(np.mod(values, 1), 0).all() and np.abs(values).max() <= 2.0**53
        return values.astype(np.int64) if whole else as_labels([str(each) for each in values])
    return values


def _check_classes(y: NDArray[Any], name: str) -> None:
    classes = np.unique(y)
    if len(classes) < 2:
        raise InvalidInputError(
            f"{name} has examples of one class only, {classes[0]!s:.60}. To compare classifiers "
            "takes two or more; is another column the target?"
        )
    if len(classes) > _MOST_CLASSES:
        raise InvalidInputError(
            f"{name} has {len(classes)} classes; at most {_MOST_CLASSES} can be compared. Is "
            "another column the target?"
        )
