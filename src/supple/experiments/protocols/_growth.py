"""Machines on growing parts of a training set (Morgado & Pereira)."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.experiments import data
from supple.experiments._declare import Cell
from supple.experiments._machines import classifier
from supple.experiments._store import Outcome

__all__ = ["growth"]


def _split(n: int, rule: str) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return rows to train and to test: the first two thirds, or numbers divisible by 2 or 3."""
    rows = np.arange(n)
    if rule == "multiples":
        numbers = rows + 1
        train = (numbers % 2 == 0) | (numbers % 3 == 0)
    else:
        train = rows < round(n * 2 / 3)
    return rows[train], rows[~train]


def growth(cell: Cell) -> list[Outcome]:
    """Train on growing parts of the training set and test on the other third.

    Each part is learned from nothing, as in the paper; "C&P" gets its examples one by one. Times
    are seconds of processor time.
    """
    X, y = data.numeric(cell["data"], cell["order"], cell["seed"], cell.get("look", "plain"))
    train, test = _split(len(y), cell["split"])
    steps = cell["steps"]
    sizes = sorted({round(len(train) * (k + 1) / steps) for k in range(steps)})
    found: list[Outcome] = []
    for size in sizes:
        rows = train[:size]
        if len(np.unique(y[rows])) < 2:
            continue
        values = _measured(cell, X[rows], y[rows], X[test], y[test])
        found.append({"labels": {"n": size}, "values": values})
    return [{"labels": {}, "values": found[-1]["values"]}, *found]


def _measured(
    cell: Cell, X: Any, y: NDArray[Any], X_test: Any, y_test: NDArray[Any]
) -> dict[str, list[float]]:
    model = classifier(cell)
    start = time.process_time()
    if cell["machine"] == "C&P":
        for i in range(len(y)):
            options = {} if i else {"classes": np.unique(y)}
            model.partial_fit(X[i : i + 1], y[i : i + 1], **options)
    else:
        model.fit(X, y)
    seconds = time.process_time() - start
    vectors = model.relevance_ if hasattr(model, "relevance_") else model.support_
    accuracy = 100.0 * float(np.mean(model.predict(X_test) == y_test))
    return {"accuracy": [accuracy], "vectors": [float(len(vectors))], "seconds": [seconds]}
