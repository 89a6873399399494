"""Windows on streams whose concept changes (Klinkenberg & Joachims)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.estimators import SVC, WindowedSVC
from supple.experiments import data
from supple.experiments._declare import Cell
from supple.experiments._store import Outcome
from supple.memory import Decay
from supple.streams import Stream, relevance_change

__all__ = ["relevance"]

_WINDOWS: dict[str, Any] = {"full": "full", "none": "last", "fixed": 3, "adaptive": "adaptive"}
_BATCH = 130  # examples in a batch of the paper


def relevance(cell: Cell) -> list[Outcome]:
    """Predict and then learn each batch; return means from batch 2 on, and the curves.

    "size" is the number of examples in a batch, 130 in the paper; the stream has as many examples
    for every size. With "n_estimated" the adaptive window is judged on that many examples.
    """
    runs = [_run(cell, repetition) for repetition in range(cell["repetitions"])]
    measures = ("error", "recall", "precision")
    means = {name: [_mean(run[name]) for run in runs] for name in measures}
    if runs[0]["length"]:
        means["length"] = [float(np.mean(run["length"])) for run in runs]
    found: list[Outcome] = [{"labels": {}, "values": means}]
    if not cell.get("course"):
        return found
    for k in range(len(runs[0]["error"])):
        values = {"error": [run["error"][k] for run in runs]}
        found.append({"labels": {"batch": k + 2}, "values": values})
    for k in range(len(runs[0]["start"])):
        values = {"window start": [run["start"][k] for run in runs]}
        found.append({"labels": {"batch": k + 1}, "values": values})
    if cell["scenario"] == "A":
        for k in range(len(runs[0]["estimates"])):
            for back in range(k + 1):
                values = {"estimate": [run["estimates"][k][back] for run in runs]}
                labels = {"batch": k + 1, "window from": k + 1 - back}
                found.append({"labels": labels, "values": values})
    return found


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _stream(cell: Cell, seed: int) -> Stream:
    X, labels, categories = data.collection(cell["data"], seed)
    total = min(20 * _BATCH, len(labels))
    size = cell.get("size", total // 20)
    return relevance_change(
        X,
        labels,
        cell["scenario"],
        relevant=(categories[0], categories[1]),
        n_batches=total // size,
        batch_size=size,
        random_state=seed,
    )


def _run(cell: Cell, repetition: int) -> dict[str, list[Any]]:
    """Return the outcomes of one repetition, in per cent."""
    stream = _stream(cell, 1000 * cell["seed"] + repetition)
    size = stream.metadata["batch_size"]
    window = _WINDOWS.get(cell["window"])
    model: Any = WindowedSVC(
        window=window, kernel="linear", C=1.0, n_estimated=cell.get("n_estimated"), longest=None
    )
    if cell["window"] == "decay":
        model = SVC(memory=Decay(half_life=1.5, unit="batches"), kernel="linear", C=1.0)
    run: dict[str, list[Any]] = {
        name: [] for name in ("error", "recall", "precision", "start", "length", "estimates")
    }
    for number, (X, y) in enumerate(stream.batches(size)):
        if number:
            _score(run, y == 1, model.predict(X) == 1)
        model.partial_fit(X, y, **({} if number else {"classes": np.array([-1, 1])}))
        if cell["window"] == "adaptive":
            first = model.window_start_ // size
            run["start"].append(float(first + 1))
            run["length"].append(float((number + 1 - first) * size))
            run["estimates"].append([100.0 * c.estimate for c in model.window_search_])
    return run


def _score(run: dict[str, list[Any]], true: NDArray[np.bool_], found: NDArray[np.bool_]) -> None:
    both = int(np.sum(true & found))
    run["error"].append(100.0 * float(np.mean(true != found)))
    run["recall"].append(100.0 * both / int(true.sum()) if true.any() else None)
    run["precision"].append(100.0 * both / int(found.sum()) if found.any() else None)
