"""From the columns of the original to the numbers that a kernel takes.

Three steps: missing values are filled, nominal columns become columns of 0 and 1, features are
scaled to mean 0 and variance 1. Each says in words what it did, for the description of the set.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from supple.datasets._dataset import MISSING, Features, Raw

Floats = npt.NDArray[Any]
Scaling = Callable[[Floats], tuple[Floats, str]]


@dataclass(frozen=True)
class Recipe:
    """How a set is prepared.

    Attributes
    ----------
    nominal : tuple of str
        Columns whose numbers are codes; columns of strings are nominal anyhow.
    leave_out : tuple of str
        Columns that are no features.
    why : str
        Why they are left out.
    scale : callable
        What `scaled=True` does to dense features; sparse ones stay as they are.
    remark : str
        What a user of the set should know.
    """

    nominal: tuple[str, ...] = ()
    leave_out: tuple[str, ...] = ()
    why: str = ""
    scale: Scaling | None = None
    remark: str = ""


PLAIN = Recipe()


def prepare(raw: Raw, recipe: Recipe, scaled: bool) -> tuple[Features, tuple[str, ...], list[str]]:
    """Return the features, their names, and what was done, one sentence for each step."""
    done: list[str] = []
    if raw.X.dtype.names is None:
        X, names = _as_float(raw.X), raw.feature_names
    elif raw.feature_names == ("text",):
        X, names, done = _bag_of_words(raw.X["text"].tolist(), raw.n_train)
    else:
        X, names, done = _tabulate(raw, recipe)
    if scaled and not sp.issparse(X):
        X, words = (recipe.scale or standardise)(X)
        done.append(words)
    return X, names, done


def _as_float(X: Features) -> Features:
    """Return float32 if it holds every value of the type of X, else float64."""
    return X.astype(np.float32 if np.can_cast(X.dtype, np.float32) else np.float64)


def _tabulate(raw: Raw, recipe: Recipe) -> tuple[Floats, tuple[str, ...], list[str]]:
    columns: list[Floats] = []
    names: list[str] = []
    filled = {"mean": 0, "most frequent value": 0}
    kept = [name for name in raw.feature_names if name not in recipe.leave_out]
    for name in kept:
        values = raw.X[name]
        if values.dtype.kind == "U" or name in recipe.nominal:
            values, n_filled = _fill_nominal(values)
            filled["most frequent value"] += n_filled
            indicators, labels = _binarise(values)
            columns.extend(indicators)
            names.extend(f"{name}={label}" for label in labels)
        else:
            values, n_filled = _fill_numeric(values)
            filled["mean"] += n_filled
            columns.append(values)
            names.append(name)
    done = [f"{' and '.join(recipe.leave_out)} left out: {recipe.why}."] if recipe.why else []
    done += [
        f"{n} missing values replaced by the {rule} of their column."
        for rule, n in filled.items()
        if n
    ]
    if len(names) != len(kept) or any("=" in name for name in names):
        done.append(
            "Nominal columns made binary: one column for each value, a single one where the "
            "original codes two values by numbers."
        )
    return np.column_stack(columns).astype(np.float64, copy=False), tuple(names), done


def _fill_numeric(values: npt.NDArray[Any]) -> tuple[Floats, int]:
    missing = np.isnan(values)
    return np.where(missing, values[~missing].mean(), values), int(missing.sum())


def _fill_nominal(values: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], int]:
    missing = values == MISSING if values.dtype.kind == "U" else np.isnan(values)
    known, counts = np.unique(values[~missing], return_counts=True)
    return np.where(missing, known[counts.argmax()], values), int(missing.sum())


def _binarise(values: npt.NDArray[Any]) -> tuple[list[Floats], list[Any]]:
    """Return one indicator for each value; for two numbers, which are binary already, only one."""
    known = np.unique(values).tolist()
    if len(known) == 2 and values.dtype.kind != "U":
        known = known[1:]
    return [(values == value).astype(np.float64) for value in known], known


def standardise(X: Floats) -> tuple[Floats, str]:
    """Scale each column to mean 0 and variance 1 over all rows; a constant column becomes 0."""
    mean = X.mean(axis=0, dtype=np.float64)
    deviation = X.std(axis=0, dtype=np.float64)
    # Compared by value: the deviation of a constant that binary fractions miss is not quite 0.
    constant = X.min(axis=0) == X.max(axis=0)
    deviation[constant] = 1.0
    X = ((X - mean) / deviation).astype(X.dtype, copy=False)
    X[:, constant] = 0.0
    return X, "Features scaled to mean 0 and variance 1 over all rows, constant ones to 0."


def grey_to_unit(X: Floats) -> tuple[Floats, str]:
    """Divide grey values 0 ... 255 by 255."""
    return X / X.dtype.type(255), "Grey values divided by 255."


def as_it_is(X: Floats) -> tuple[Floats, str]:
    """Leave features unchanged that are already scaled in the source."""
    return X, "Features left as their makers scaled them."


def _bag_of_words(
    texts: list[str], n_train: int | None
) -> tuple[Features, tuple[str, ...], list[str]]:
    """Return ltc-TF/IDF weights (1 + ln tf) ln(N / df), rows of unit length, as CSR.

    The words are those that occur three times or more in the training part, which also gives N
    and df (Klinkenberg and Joachims 2000, without their list of stop words).
    """
    bags = [Counter(text.split()) for text in texts]
    training = bags[:n_train]
    total: Counter[str] = Counter()
    documents: Counter[str] = Counter()
    for bag in training:
        total.update(bag)
        documents.update(bag.keys())
    words = sorted(word for word, n in total.items() if n >= 3)
    place = {word: i for i, word in enumerate(words)}
    entries = [
        (i, place[word], n)
        for i, bag in enumerate(bags)
        for word, n in bag.items()
        if word in place
    ]
    rows, columns, counts = np.array(entries, dtype=np.int64).reshape(-1, 3).T
    rarity = np.log(len(training) / np.array([documents[word] for word in words], dtype=float))
    weights = (1.0 + np.log(counts)) * rarity[columns]
    X = sp.csr_matrix((weights, (rows, columns)), shape=(len(texts), len(words)))
    length = np.sqrt(X.multiply(X).sum(axis=1)).A1
    length[length == 0.0] = 1.0
    return (
        sp.csr_matrix(sp.diags(1.0 / length) @ X),
        tuple(words),
        ["Words that occur three times or more in the training part, TF/IDF weights, unit length."],
    )
