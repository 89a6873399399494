"""Learning in batches: two of Gaussians, or the folds of a cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.experiments import data
from supple.experiments._declare import Cell
from supple.experiments._machines import classifier
from supple.experiments._store import Outcome

__all__ = ["divide", "draw", "folds", "removal", "two_batches"]

FIRST, SECOND = np.array([1.0, 1.0]), np.array([1.0, -1.0])
Batch = tuple[Any, NDArray[Any]]


def draw(rng: np.random.Generator, centre: NDArray[np.float64], n: int) -> Batch:
    """Return n / 2 examples around `centre` and n / 2 around its negative, shuffled."""
    y = rng.permutation(np.repeat([1, -1], n // 2))
    return rng.normal(size=(n, 2)) + y[:, None] * centre, y


def learn(model: Any, batches: list[Batch]) -> Any:
    """Let a machine learn the batches, one after the other."""
    for X, y in batches:
        model.partial_fit(X, y)
    return model


def two_batches(cell: Cell) -> list[Outcome]:
    """Learn two batches of 100 examples and test on 100, half from either distribution.

    With "share", C is this part of the cell's C: mySVM may divide it by the number of examples.
    """
    C = float(cell["C"]) * cell.get("share", 1.0)
    second = SECOND if cell["change"] else FIRST
    scores = []
    for repetition in range(cell["repetitions"]):
        rng = np.random.default_rng([cell["seed"], repetition])
        batches = [draw(rng, FIRST, 100), draw(rng, second, 100)]
        halves = draw(rng, FIRST, 50), draw(rng, second, 50)
        X, y = (np.concatenate(part) for part in zip(*halves, strict=True))
        scores.append(float(learn(classifier({**cell, "C": C}), batches).score(X, y)))
    return [{"labels": {}, "values": {"accuracy": scores}}]


def divide(n: int, parts: int, seed: int) -> list[NDArray[np.intp]]:
    """Return positions in random parts of nearly equal size."""
    return np.array_split(np.random.default_rng(seed).permutation(n), parts)


def folds(cell: Cell) -> list[Outcome]:
    """Cross-validate: for each tenth as the test set, learn the nine others as batches.

    With ``order="sorted"`` the examples for training come in the order of their first feature.
    With ``steps=True`` the accuracy and the share of support vectors are given after each batch.
    """
    X, y = data.table(cell["data"])
    parts = divide(len(y), 10, cell["seed"])
    accuracy, vectors = [], []
    for number in range(cell["folds"]):
        test = parts[number]
        rest = [part for k, part in enumerate(parts) if k != number]
        if cell["order"] == "sorted":
            rows = np.concatenate(rest)
            rest = np.array_split(rows[np.argsort(X[rows, 0], kind="stable")], 9)
        each, held = _course(cell, X, y, rest, test)
        accuracy.append(each)
        vectors.append(held)
    last = {"labels": {}, "values": _values(accuracy, vectors, -1)}
    if not cell.get("steps"):
        return [last]
    steps = [
        {"labels": {"step": k + 1}, "values": _values(accuracy, vectors, k)}
        for k in range(len(accuracy[0]))
    ]
    return [last, *steps]


def _values(accuracy: list[list[float]], vectors: list[list[float]], k: int) -> dict[str, Any]:
    return {"accuracy": [a[k] for a in accuracy], "vectors": [v[k] for v in vectors]}


def _course(
    cell: Cell, X: Any, y: NDArray[Any], batches: list[NDArray[np.intp]], test: NDArray[np.intp]
) -> tuple[list[float], list[float]]:
    """Return accuracy and share of support vectors, both in per cent, after the batches."""
    model = classifier(cell)
    if cell["machine"] == "batch" and not cell.get("steps"):
        batches = [np.concatenate(batches)]  # faster, with the same optimum
    accuracy, vectors, seen = [], [], 0
    for number, rows in enumerate(batches):
        # In sorted order the first batches may have one class: they wait for the other.
        model.partial_fit(X[rows], y[rows], **({} if number else {"classes": np.unique(y)}))
        seen += len(rows)
        if cell.get("steps") or number == len(batches) - 1:
            accuracy.append(100.0 * float(model.score(X[test], y[test])))
            vectors.append(100.0 * len(model.support_) / seen)
    return accuracy, vectors


def removal(cell: Cell) -> list[Outcome]:
    """Leave a tenth out, of all examples or of the support vectors; test on it or on others.

    "remove" is "nothing", "data" or "support vectors"; "test" is "removed" (as the paper does) or
    "others": a tenth of the data that is never learned. If nothing is removed and "test" is
    "removed", the examples learned are the test set.
    """
    X, y = data.table(cell["data"])
    tests = divide(len(y), 10, cell["seed"])
    scores, shares = [], []
    for number in range(cell["folds"] if cell["test"] == "others" else 1):
        held = np.arange(len(y))
        if cell["test"] == "others":
            held = np.setdiff1d(held, tests[number])
        model = classifier(cell).fit(X[held], y[held])
        shares.append(100.0 * len(model.support_) / len(held))
        if cell["remove"] == "nothing":
            test = tests[number] if cell["test"] == "others" else held
            scores.append(100.0 * float(model.score(X[test], y[test])))
            continue
        pool = held[model.support_] if cell["remove"] == "support vectors" else held
        for part in divide(len(pool), 10, cell["seed"])[: cell["folds"]]:
            away, kept = pool[part], np.delete(pool, part)
            test = away if cell["test"] == "removed" else tests[number]
            if len(np.unique(y[kept])) > 1:
                smaller = classifier(cell).fit(X[kept], y[kept])
                scores.append(100.0 * float(smaller.score(X[test], y[test])))
    return [{"labels": {}, "values": {"accuracy": scores, "vectors": shares}}]
