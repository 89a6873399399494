"""The example of Rüping's figures 1 to 3, and the questions that his paper leaves open."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.estimators import SVC, SVIncrementalSVC
from supple.experiments import data
from supple.experiments._declare import Cell
from supple.experiments._machines import classifier, regressor
from supple.experiments._store import Outcome
from supple.experiments.protocols._batches import Batch, divide, learn
from supple.streams import Stream, hyperplane, rotating_gaussians, sea, shifting_gaussians, stagger

__all__ = ["drift", "example", "lines", "normal", "regression"]


def example(seed: int, draw: int = 0) -> tuple[list[Batch], Batch]:
    """Return 200 examples, those with x < 0 as the first of two batches, and 2000 others.

    The boundary bends at x = 0, so that each half alone suggests another line; the labels of the
    right half are noisy.
    """
    rng = np.random.default_rng([seed, draw])

    def sample(n: int) -> Batch:
        X = rng.uniform(-1.0, 1.0, size=(n, 2))
        left = X[:, 0] < 0
        noise = rng.normal(size=n) * np.where(left, 0.05, 0.4)
        return X, np.where(X[:, 1] > np.where(left, 0.8, -0.2) * X[:, 0] + noise, 1, -1)

    X, y = sample(200)
    left = X[:, 0] < 0
    return [(X[left], y[left]), (X[~left], y[~left])], sample(2000)


def normal(cell: Cell, batches: list[Batch]) -> tuple[NDArray[np.float64], float, Any]:
    """Return the normal of the line that a machine learns, its offset, and the machine."""
    model = learn(classifier(cell), batches)
    return model.coef_[0], float(model.intercept_[0]), model


def lines(cell: Cell) -> list[Outcome]:
    """Learn the example and return the angle of the line to that of all data."""
    found: dict[str, list[float]] = {"angle": [], "accuracy": [], "vectors": []}
    for repetition in range(cell["repetitions"]):
        batches, test = example(cell["seed"], repetition)
        whole, _, _ = normal({**cell, "machine": "batch"}, batches)
        own, _, model = normal(cell, batches)
        cosine = own @ whole / np.linalg.norm(own) / np.linalg.norm(whole)
        found["angle"].append(float(np.degrees(np.arccos(min(1.0, cosine)))))
        found["accuracy"].append(100.0 * float(model.score(*test)))
        found["vectors"].append(float(len(classifier(cell).fit(*batches[0]).support_)))
    return [{"labels": {}, "values": found}]


def _stream(name: str, n: int, seed: int) -> Stream:
    makers = {
        "rotating": lambda: rotating_gaussians(n, angle=90.0, random_state=seed),
        "shifting": lambda: shifting_gaussians(n, random_state=seed),
        "sea": lambda: sea(n, random_state=seed),
        "stagger": lambda: stagger(n, random_state=seed),
        "hyperplane": lambda: hyperplane(n, random_state=seed),
        "no drift": lambda: rotating_gaussians(n, n_concepts=1, random_state=seed),
    }
    return makers[name]()


def drift(cell: Cell) -> list[Outcome]:
    """Predict and then learn 40 batches of a stream that changes.

    "weight" is that of the old support vectors: a number, "L" for Rüping's, "none" to forget them,
    "all" for a machine that keeps all examples, or "half-life h" for weights that halve every h
    batches.
    """
    accuracy = []
    for repetition in range(cell["repetitions"]):
        seed = 1000 * cell["seed"] + repetition
        stream = _stream(cell["data"], cell["n_samples"], seed)
        model, right, tested = _of_weight(cell), 0, 0
        for number, (X, y) in enumerate(stream.batches(cell["batch_size"])):
            if number:
                right, tested = right + int(np.sum(model.predict(X) == y)), tested + len(y)
            if cell["weight"] == "none":
                model = _of_weight(cell)
            model.partial_fit(X, y, **_classes(model, stream.y))
        accuracy.append(100.0 * right / tested)
    return [{"labels": {}, "values": {"accuracy": accuracy}}]


def _classes(model: Any, y: NDArray[Any]) -> dict[str, Any]:
    return {} if hasattr(model, "classes_") else {"classes": np.unique(y)}


def _of_weight(cell: Cell) -> Any:
    kind, weight = {"C": cell["C"], "gamma": cell["gamma"]}, cell["weight"]
    if weight in ("all", "none"):
        return SVC(**kind)
    if weight == "L":
        return SVIncrementalSVC(sv_weight="ruping", **kind)
    if weight.startswith("half-life"):
        return SVIncrementalSVC(half_life=float(weight.split()[1]), **kind)
    return SVIncrementalSVC(sv_weight=float(weight), **kind)


def regression(cell: Cell) -> list[Outcome]:
    """Cross-validate a machine for regression that learns the other nine tenths as batches."""
    X, y = data.regression(cell["data"])
    parts = divide(len(y), 10, cell["seed"])
    scores = []
    for number in range(cell["folds"]):
        rows = np.concatenate([part for k, part in enumerate(parts) if k != number])
        if cell["order"] == "sorted":
            rows = rows[np.argsort(X[rows, 0], kind="stable")]
        batches = [(X[part], y[part]) for part in np.array_split(rows, 9)]
        model = learn(regressor(cell), batches)
        scores.append(float(model.score(X[parts[number]], y[parts[number]])))
    return [{"labels": {}, "values": {"R2": scores}}]
