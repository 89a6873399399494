"""Find a set by its name: in the package, in the folder of data sets, on OpenML."""

import csv
import difflib
import gzip
import json
import os
import zipfile
import zlib
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import numpy as np

from supple.datasets._catalogue import ALIASES, BUILT, RECIPES, SOURCES, Source
from supple.datasets._dataset import Dataset, Raw, to_pandas
from supple.datasets._files import check_shape, read_table
from supple.datasets._openml import download
from supple.datasets._prepare import PLAIN, prepare
from supple.errors import DamagedDataError, DataNotFoundError, InvalidInputError

FOLDER_VARIABLE = "SUPPLE_DATA"

_SHIPPED = files("supple.datasets").joinpath("data")

# What readers raise on a file that is cut short, garbled, or not what its name says.
_DAMAGE = (
    EOFError,
    IndexError,
    KeyError,
    ValueError,
    csv.Error,
    gzip.BadGzipFile,
    zipfile.BadZipFile,
    zlib.error,
)


@cache
def _provenance() -> dict[str, dict[str, Any]]:
    text = _SHIPPED.joinpath("PROVENANCE.json").read_text(encoding="utf-8")
    return {name: entry for name, entry in json.loads(text).items() if name != "_about"}


def names(where: Literal["embedded", "folder", "openml"] = "embedded") -> list[str]:
    """Names that `load` takes, sorted.

    Parameters
    ----------
    where : {"embedded", "folder", "openml"}, default="embedded"
        The sets that come with supple, those found in the folder that the environment variable
        SUPPLE_DATA names, or those that can be downloaded.

    Examples
    --------
    >>> from supple.datasets import names
    >>> names()[:4]
    ['australian', 'banana', 'bupa', 'credit']
    >>> "mnist" in names("openml")
    True
    """
    if where == "embedded":
        return sorted(_provenance())
    if where == "folder":
        return sorted(name for name, source in SOURCES.items() if _path(source) is not None)
    if where == "openml":
        return sorted(name for name, source in SOURCES.items() if source.openml)
    raise InvalidInputError(
        f"The 'where' parameter of names must be 'embedded', 'folder' or 'openml'. Got {where!r} "
        "instead."
    )


def load(
    name: str,
    *,
    prepared: bool = True,
    scaled: bool = True,
    as_frame: bool = False,
    download_if_missing: bool = True,
) -> Dataset:
    """Load a data set by its name.

    A set that does not come with supple is looked for in the folder that the environment variable
    SUPPLE_DATA names, then downloaded from OpenML if it is there; scikit-learn keeps the download
    in its cache.

    Parameters
    ----------
    name : str
        One of `names()`, `names("folder")` or `names("openml")`.
    prepared : bool, default=True
        True: numbers, as the papers use them. Missing values are filled (numbers by the mean of
        their column, nominal values by the most frequent one), nominal columns become columns of 0
        and 1, texts become TF/IDF weights. False: the columns and values of the original.
    scaled : bool, default=True
        Whether prepared features are scaled to mean 0 and variance 1 over all rows (grey values of
        images: divided by 255). Sparse features and those that were scaled by their makers
        stay as they are. Ignored if `prepared` is False. To scale with the training rows only,
        pass False and put a scaler into a pipeline.
    as_frame : bool, default=False
        Whether `X` and `y` are a pandas DataFrame and Series.
    download_if_missing : bool, default=True
        False: raise an error rather than download.

    Returns
    -------
    Dataset
        Fresh arrays at every call; changing them changes nothing else. Its `description` says
        what was done.

    Raises
    ------
    InvalidInputError
        If no data set of this name is known.
    DataNotFoundError
        If it is neither in the folder nor can be downloaded.
    DamagedDataError
        If its file is not what it should be.

    Examples
    --------
    >>> from supple.datasets import load
    >>> load("sonar")
    <Dataset sonar: 208 examples, 60 features, classes ('M', 'R')>
    >>> load("heart").X.shape, load("heart", prepared=False).X["age"][:3]
    ((270, 20), array([70, 67, 57]))
    """
    if not isinstance(name, str):
        raise InvalidInputError(_unknown(name))
    name = ALIASES.get(name, name)
    if name in _provenance():
        entry = _provenance()[name]
        raw, facts, recipe = _embedded(name, entry), _describe(entry), RECIPES.get(name, PLAIN)
    elif name in SOURCES:
        raw, facts = _outside(name, SOURCES[name], download_if_missing)
        recipe = SOURCES[name].recipe
    else:
        raise InvalidInputError(_unknown(name))
    X, y, features = raw.X, raw.y, raw.feature_names
    if recipe.remark:
        facts.append(recipe.remark)
    if prepared:
        X, features, done = prepare(raw, recipe, scaled)
        facts += done
    classes = tuple(np.unique(y).tolist())
    if as_frame:
        X, y = to_pandas(X, y, features)
    return Dataset(name, X, y, features, classes, "\n".join(facts), raw.n_train)


def _unknown(name: Any) -> str:
    known = sorted([*names(), *SOURCES, *ALIASES])
    near = difflib.get_close_matches(str(name), known, n=1)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    return f"There is no data set named {name!r}. {hint}Known are: {', '.join(known)}."


def _embedded(name: str, entry: dict[str, Any]) -> Raw:
    if name in BUILT:
        return BUILT[name]()
    packed = _SHIPPED.joinpath(entry["file"]).read_bytes()
    return read_table(gzip.decompress(packed).decode().splitlines())


def _describe(entry: dict[str, Any]) -> list[str]:
    licence = entry["uci_license"] or f"that of the package it was taken from, {entry['package']}"
    counts = ", ".join(f"{label}: {count}" for label, count in entry["class_counts"].items())
    return [
        entry["title"],
        f"{entry['rows']} examples, {entry['features']} features; classes {counts}.",
        f"Cite: {entry['citation']}",
        f"Licence: {licence}.",
        f"Row order: {entry['row_order']}.",
        entry["note"],
    ]


def _path(source: Source) -> Path | None:
    """Return where the folder of data sets has the set, None if it has not."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder:
        return None
    path = Path(folder) / source.file
    return path if path.is_file() else None


def _outside(name: str, source: Source, download_if_missing: bool) -> tuple[Raw, list[str]]:
    facts = [
        source.title,
        f"{source.rows} examples, {source.columns} features, {source.classes} classes.",
        f"Origin: {source.origin}",
        f"Licence: {source.terms}.",
    ]
    folder = os.environ.get(FOLDER_VARIABLE)
    path = _path(source)
    if path is not None:
        facts.append(f"Read from {path}.")
        return _read(path, source), facts
    looked = f"{folder} ({FOLDER_VARIABLE})" if folder else f"{FOLDER_VARIABLE}, which is not set"
    remedy = (
        f"Put the file {source.file} into a folder and let the environment variable "
        f"{FOLDER_VARIABLE} name that folder; it looked in {looked}. Origin: {source.origin}. "
        "docs/datasets.md says what the file must hold."
    )
    if source.openml is None:
        raise DataNotFoundError(
            f"The data set {name!r} does not come with supple and OpenML does not have it. {remedy}"
        )
    if not download_if_missing:
        raise DataNotFoundError(
            f"The data set {name!r} does not come with supple. Allow the download from OpenML "
            f"(download_if_missing=True), or: {remedy}"
        )
    raw = download(name, source.openml, remedy)
    facts[1] = f"{source.openml.rows} examples, {source.openml.columns} features."
    facts.append(f"Downloaded from OpenML ({source.openml.query}).")
    return check_shape(raw, source.openml.rows, source.openml.columns, "The download"), facts


def _read(path: Path, source: Source) -> Raw:
    try:
        raw = source.read(path)
    except _DAMAGE as error:
        raise DamagedDataError(
            f"{path} cannot be read as the data set it is named after: {error}. "
            "It is damaged or another set; remove it and get it again."
        ) from error
    return check_shape(raw, source.rows, source.columns, str(path))
