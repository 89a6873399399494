"""The data of the experiments: embedded, from the user's folder, or generated."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes, load_digits, make_friedman1, make_friedman3

from supple.datasets import load, names

__all__ = ["collection", "digits", "numeric", "present", "regression", "series", "table"]

Data = tuple[Any, NDArray[Any]]

GENERATED_TEXT = "generated text"
GENERATED_SERIES = "generated series"
SMALL_DIGITS = "digits of scikit-learn"

# The code of nucleotides that Matlab's nt2int gives, ambiguous letters included.
_NUCLEOTIDES = {
    letter: number
    for number, letter in enumerate("ACGT", 1)
} | {letter: number for number, letter in enumerate("RYKMSWBDHVN", 5)}  # fmt: skip

_CATEGORIES = {
    "text_20newsgroups": (
        "sci.space", "sci.med", "rec.autos", "sci.electronics", "talk.politics.misc",
    ),
    "text_reuters_r52": ("earn", "acq", "crude", "trade", "money-fx"),
}  # fmt: skip
_LARGEST_CATEGORY = 520  # Reuters has thousands of the first two


def present(name: str) -> bool:
    """Return whether a large set is in the folder SUPPLE_DATA."""
    return name in names("folder")


@lru_cache(maxsize=4)
def table(name: str) -> Data:
    """Return an embedded set, nominal columns as 0 and 1, scaled to mean 0 and variance 1."""
    data = load(name)
    return np.asarray(data.X, dtype=float), np.asarray(data.y)


@lru_cache(maxsize=4)
def numeric(name: str, order: str, seed: int, look: str = "plain") -> Data:
    """Return a set as numbers: letters of sequences as codes, missing as 0.

    `order` is "file", "class" (stable, by class) or "shuffled". `look` is "plain" (no scaling),
    "unit" (features scaled to [0, 1]) or "one-hot" (nominal values as columns of 0 and 1).
    """
    data = load(name, prepared=False)
    columns = []
    for feature in data.feature_names:
        if feature in ("id", "name"):
            continue
        values = data.X[feature]
        if values.dtype.kind == "U" and set(np.char.upper(values)) <= set(_NUCLEOTIDES):
            codes = [_NUCLEOTIDES[letter] for letter in np.char.upper(values)]
            columns.append(np.array(codes, dtype=float))
        elif values.dtype.kind == "U":
            columns.append(np.array([0.0 if v == "?" else float(v) for v in values]))
        else:
            columns.append(np.nan_to_num(values.astype(float)))
    X, y = np.column_stack(columns), np.asarray(data.y)
    if look == "unit":
        X = (X - X.min(0)) / np.maximum(np.ptp(X, axis=0), 1e-12)
    elif look == "one-hot":
        X = np.asarray(load(name, scaled=False).X, dtype=float)
    rows = np.arange(len(y))
    if order == "class":
        rows = np.argsort(y, kind="stable")
    elif order == "shuffled":
        rows = np.random.default_rng(seed).permutation(len(y))
    return X[rows], y[rows]


@lru_cache(maxsize=4)
def regression(name: str) -> Data:
    """Return a set for regression, features and targets scaled to mean 0 and variance 1."""
    if name == "friedman1":
        X, y = make_friedman1(600, noise=1.0, random_state=0)
    elif name == "friedman3":
        X, y = make_friedman3(600, noise=0.1, random_state=0)
    else:
        X, y = load_diabetes(return_X_y=True)
    return (X - X.mean(0)) / X.std(0), (y - y.mean()) / y.std()


@lru_cache(maxsize=2)
def _whole_collection(name: str) -> Data:
    data = load(name, download_if_missing=False)
    return data.X, np.asarray(data.y)


def collection(name: str, seed: int) -> tuple[Any, NDArray[Any], tuple[str, ...]]:
    """Return documents as sparse vectors of unit length, their categories, and five of these."""
    if name == GENERATED_TEXT:
        return _generated_text(seed)
    X, labels = _whole_collection(name)
    rng = np.random.default_rng(seed)
    categories = _CATEGORIES[name]
    rows = [rng.permutation(np.flatnonzero(labels == each)) for each in categories]
    if name == "text_reuters_r52":
        rows = [own[:_LARGEST_CATEGORY] for own in rows]
    chosen = np.concatenate(rows)
    return X[chosen], labels[chosen], categories


def _generated_text(seed: int) -> tuple[Any, NDArray[Any], tuple[str, ...]]:
    """Draw documents of five categories: words by Zipf's law, some of them typical of one."""
    rng = np.random.default_rng(seed)
    n, words, typical = 2608, 3000, 150
    categories = tuple(f"category {k}" for k in range(1, 6))
    common = 1.0 / np.arange(1, words + 1)
    labels = rng.integers(0, 5, size=n)
    counts = np.zeros((n, words))
    for k in range(5):
        own = np.zeros(words)
        own[rng.choice(np.arange(100, words), typical, replace=False)] = 1.0
        share = 0.85 * common / common.sum() + 0.15 * own / own.sum()
        rows = np.flatnonzero(labels == k)
        lengths = rng.integers(40, 160, size=len(rows))
        counts[rows] = [rng.multinomial(length, share) for length in lengths]
    occurs = np.maximum((counts > 0).sum(0), 1)
    X = np.log1p(counts) * np.log(n / occurs)
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)
    return sp.csr_matrix(X), np.array(categories)[labels], categories


def digits(name: str) -> tuple[Any, NDArray[Any], Any, NDArray[Any]]:
    """Return training and test images in [-1, 1], and their digits."""
    if name == SMALL_DIGITS:
        X, y = load_digits(return_X_y=True)
        X = X / 8.0 - 1.0
        return X[:1200], y[:1200], X[1200:], y[1200:]
    data = load(name, download_if_missing=False)
    X, X_test, y, y_test = data.split()
    return np.asarray(X, float), np.asarray(y), np.asarray(X_test, float), np.asarray(y_test)


@lru_cache(maxsize=1)
def series(name: str, seed: int) -> Data:
    """Return a multichannel series in order of time, and its state, 0 or 1."""
    if name == GENERATED_SERIES:
        return _generated_series(seed)
    data = load(name, scaled=False, download_if_missing=False)
    return np.asarray(data.X, dtype=float), np.asarray(data.y).astype(int)


def _generated_series(seed: int) -> Data:
    """Draw eight channels that drift, with short events in which two of them jump."""
    rng = np.random.default_rng(seed)
    n, channels = 4000, 8
    t = np.arange(n)[:, None]
    phase = rng.uniform(0, 2 * np.pi, size=channels)
    drift = np.cumsum(rng.normal(scale=0.03, size=(n, channels)), axis=0)
    X = np.sin(t / 40.0 + phase) + drift + rng.normal(scale=0.3, size=(n, channels))
    y = np.zeros(n, dtype=int)
    for start in rng.choice(np.arange(700, n - 60, 100), 20, replace=False):
        y[start : start + 40] = 1
        X[start : start + 40, :2] += 1.5
    return X, y
