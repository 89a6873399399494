"""Read the data sets embedded in the package."""

import csv
import gzip
import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

from supple.errors import InvalidInputError

_FOLDER = files("supple.datasets").joinpath("data")


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A data set in memory.

    Attributes
    ----------
    name : str
        The name given to `load`.
    X : ndarray of shape (n_samples, n_features), float64
        Features, in the row order of the original.
    y : ndarray of shape (n_samples,)
        Labels: integers where the original has integers, strings otherwise.
    feature_names : tuple of str
        Names of the columns of `X`.
    target_names : tuple
        The distinct labels, sorted.
    description : str
        Title, source, citation, licence and remarks.
    """

    name: str
    X: npt.NDArray[np.float64]
    y: npt.NDArray[Any]
    feature_names: tuple[str, ...]
    target_names: tuple[Any, ...]
    description: str

    def __repr__(self) -> str:
        n, d = self.X.shape
        return f"<Dataset {self.name}: {n} examples, {d} features, classes {self.target_names}>"


@cache
def _provenance() -> dict[str, dict[str, Any]]:
    text = _FOLDER.joinpath("PROVENANCE.json").read_text(encoding="utf-8")
    return {name: entry for name, entry in json.loads(text).items() if name != "_about"}


def names() -> list[str]:
    """Names of the embedded data sets, sorted.

    Examples
    --------
    >>> from supple.datasets import names
    >>> names()
    ['banana', 'ionosphere', 'pima', 'sonar']
    """
    return sorted(_provenance())


def load(name: str) -> Dataset:
    """Load an embedded data set.

    Parameters
    ----------
    name : str
        One of `names()`.

    Returns
    -------
    Dataset
        Fresh arrays at every call; changing them changes nothing else.

    Raises
    ------
    InvalidInputError
        If there is no data set of this name.

    Examples
    --------
    >>> from supple.datasets import load
    >>> load("sonar")
    <Dataset sonar: 208 examples, 60 features, classes ('M', 'R')>
    """
    if name not in names():
        raise InvalidInputError(
            f"There is no embedded data set named {name!r}. Choose one of: {', '.join(names())}."
        )
    entry = _provenance()[name]
    text = gzip.decompress(_FOLDER.joinpath(entry["file"]).read_bytes()).decode()
    header, *rows = csv.reader(text.splitlines())
    y = _labels([row[-1] for row in rows])
    return Dataset(
        name=name,
        X=np.array([row[:-1] for row in rows], dtype=np.float64),
        y=y,
        feature_names=tuple(header[:-1]),
        target_names=tuple(np.unique(y).tolist()),
        description=_describe(entry),
    )


def _labels(column: list[str]) -> npt.NDArray[Any]:
    try:
        return np.array([int(label) for label in column], dtype=np.int64)
    except ValueError:
        return np.array(column)


def _describe(entry: dict[str, Any]) -> str:
    licence = entry["uci_license"] or f"that of the package it was taken from, {entry['package']}"
    counts = ", ".join(f"{label}: {count}" for label, count in entry["class_counts"].items())
    return "\n".join(
        [
            entry["title"],
            f"{entry['rows']} examples, {entry['features']} features; classes {counts}.",
            f"Cite: {entry['citation']}",
            f"Licence: {licence}.",
            entry["note"],
        ]
    )
