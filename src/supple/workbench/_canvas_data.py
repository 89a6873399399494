"""Points for a canvas: drawn at random, or two features of an embedded set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.datasets import Dataset, load, names
from supple.errors import InvalidInputError

__all__ = ["GENERATORS", "CanvasData", "describe", "draw", "embedded"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class CanvasData:
    """Points in the plane with labels 0 and 1.

    Attributes
    ----------
    X : ndarray of shape (n, 2)
    y : ndarray of shape (n,)
        0 or 1.
    axes : tuple of str
        Names of the two features.
    classes : tuple of str
        Names of the labels 0 and 1.
    note : str
        What was left out, "" if nothing was.
    """

    X: Floats
    y: NDArray[np.int64]
    axes: tuple[str, str] = ("x", "y")
    classes: tuple[str, str] = ("class 0", "class 1")
    note: str = ""

    @property
    def gamma(self) -> float:
        """1 / (2 Var X), scikit-learn's gamma="scale"."""
        spread = float(self.X.var()) if len(self.X) else 0.0
        return float(np.clip(0.5 / spread, 1e-3, 1e3)) if spread > 0.0 else 1.0


def _blobs(y: NDArray[np.int64], rng: np.random.Generator) -> Floats:
    return (2 * y - 1)[:, None] * np.array([1.1, 0.6]) + rng.normal(scale=0.8, size=(len(y), 2))


def _moons(y: NDArray[np.int64], rng: np.random.Generator) -> Floats:
    turn = rng.uniform(0.0, np.pi, size=len(y)) + np.pi * y
    middle = np.column_stack([y - 0.5, 0.25 - 0.5 * y])
    moons = np.column_stack([np.cos(turn), np.sin(turn)]) + middle
    return 1.5 * moons + rng.normal(scale=0.25, size=(len(y), 2))


def _rings(y: NDArray[np.int64], rng: np.random.Generator) -> Floats:
    turn = rng.uniform(0.0, 2.0 * np.pi, size=len(y))
    ring = np.column_stack([np.cos(turn), np.sin(turn)]) * (0.7 + 1.2 * y)[:, None]
    return ring + rng.normal(scale=0.25, size=(len(y), 2))


def _squares(y: NDArray[np.int64], rng: np.random.Generator) -> Floats:
    X = rng.uniform(-2.0, 2.0, size=(len(y), 2))
    X[:, 1] = np.abs(X[:, 1]) * np.where(y == 1, 1.0, -1.0) * np.sign(X[:, 0])
    return X + rng.normal(scale=0.15, size=X.shape)


def _spirals(y: NDArray[np.int64], rng: np.random.Generator) -> Floats:
    along = np.sqrt(rng.uniform(0.02, 1.0, size=len(y)))
    turn = 3.0 * np.pi * along + np.pi * y
    spiral = 2.2 * along[:, None] * np.column_stack([np.cos(turn), np.sin(turn)])
    return spiral + rng.normal(scale=0.08, size=(len(y), 2))


GENERATORS: dict[str, Callable[[NDArray[np.int64], np.random.Generator], Floats]] = {
    "two clouds": _blobs,
    "two moons": _moons,
    "rings": _rings,
    "chessboard": _squares,
    "spirals": _spirals,
}


def draw(name: str, n: int, seed: int) -> CanvasData:
    """Draw `n` points by one of GENERATORS.

    Examples
    --------
    >>> draw("two moons", 6, seed=0).X.shape
    (6, 2)
    """
    if name not in GENERATORS:
        raise InvalidInputError(
            f"'name' must be one of {', '.join(GENERATORS)}. Got {name!r} instead."
        )
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n, dtype=np.int64) % 2)
    return CanvasData(GENERATORS[name](y, rng), y)


def describe(name: str) -> dict[str, Any]:
    """Return the features and classes of an embedded set.

    Examples
    --------
    >>> describe("wbc")["classes"]
    ['benign', 'malignant']
    """
    data = _load(name)
    return {
        "name": name,
        "rows": len(data.y),
        "features": list(data.feature_names),
        "classes": [str(label) for label in data.target_names],
    }


def embedded(
    name: str, features: tuple[int, int], positive: str | None, n: int, seed: int
) -> CanvasData:
    """Return two features of at most `n` rows of an embedded set; one class against the others.

    Examples
    --------
    >>> data = embedded("wbc", (0, 1), None, 100, seed=0)
    >>> data.classes, data.note
    (('benign', 'malignant'), '100 of 699 rows, drawn at random')
    """
    data = _load(name)
    width = len(data.feature_names)
    for place in features:
        if not 0 <= place < width:
            raise InvalidInputError(
                f"'features' must be two numbers from 0 to {width - 1} for {name!r}. "
                f"Got {place} instead."
            )
    labels = [str(label) for label in data.target_names]
    chosen = labels[-1] if positive is None else positive
    if chosen not in labels:
        raise InvalidInputError(
            f"'positive' must be a class of {name!r}: {', '.join(labels)}. Got {chosen!r} instead."
        )
    rest = next(label for label in labels if label != chosen) if len(labels) == 2 else "the others"
    rows = np.random.default_rng(seed).permutation(len(data.y))[:n]
    y = (data.y[rows].astype(str) == chosen).astype(np.int64)
    left_out = f"{len(rows)} of {len(data.y)} rows, drawn at random"
    return CanvasData(
        np.asarray(data.X[rows][:, list(features)], dtype=np.float64),
        y,
        (data.feature_names[features[0]], data.feature_names[features[1]]),
        (rest, chosen),
        left_out if len(rows) < len(data.y) else "",
    )


@lru_cache(maxsize=4)
def _load(name: str) -> Dataset:
    if name not in names():
        raise InvalidInputError(
            f"'name' must be an embedded set: {', '.join(names())}. Got {name!r} instead."
        )
    return load(name)
