"""Little memory, and novelty in a stream that drifts (Tax & Laskov)."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter
from sklearn.metrics import roc_auc_score

from supple.estimators import SVC, SVDD, BudgetSVC
from supple.experiments import data
from supple.experiments._declare import Cell
from supple.experiments._store import Outcome
from supple.memory import Window

__all__ = ["NU", "SIZE", "budget", "judge_novelty", "novelty", "prepare", "scale_by_start"]

_SMOOTHING = 0.75  # width of the Gaussian in pixels
SIZE, NU = 500, 0.1  # of the SVDDs
_NEAR, _DETECTION = 64, 0.8
_DRAWN, _EVERY = slice(1500, 4000), 10


@lru_cache(maxsize=2)
def _images(name: str, look: str) -> tuple[Any, NDArray[Any], Any, NDArray[Any]]:
    X, y, X_test, y_test = data.digits(name)
    return prepare(X, look), y, prepare(X_test, look), y_test


def prepare(X: NDArray[np.float64], look: str) -> NDArray[np.float64]:
    """Return images as they are in [-1, 1], in [0, 1], or smoothed (background -1)."""
    if look == "unit":
        return (X + 1.0) / 2.0
    if look == "smooth":
        side = math.isqrt(X.shape[1])
        width = (0.0, _SMOOTHING, _SMOOTHING)
        smooth = gaussian_filter(X.reshape(-1, side, side), width, mode="constant", cval=-1.0)
        return smooth.reshape(len(X), -1)
    return X


def budget(cell: Cell) -> list[Outcome]:
    """Learn each digit against the rest with M examples in memory, or with all.

    "reading" is how the images are prepared and how sigma^2 = 0.3 times their pixels enters the
    kernel: "raw", "unit" or "smooth", with exp(-d^2 / sigma^2) ("s") or exp(-d^2 / (2 sigma^2))
    ("2s"). The images come in the order of the file, or in several random "orders".
    """
    look, width = cell["reading"].split("-")
    X, y, X_test, y_test = _images(cell["data"], look)
    gamma = 1.0 / ((2.0 if width == "2s" else 1.0) * 0.3 * X.shape[1])
    found: dict[str, list[float]] = {"error": [], "standard error": [], "vectors": []}
    for order in range(cell.get("orders", 0)) or [None]:
        rows = np.arange(len(y))
        if order is not None:
            rows = np.random.default_rng([cell["seed"], order]).permutation(rows)
        models = [_digit(cell["M"], gamma, X[rows], y[rows] == digit) for digit in range(10)]
        decisions = [model.decision_function(X_test) for model in models]
        wrong = float(np.mean(np.argmax(decisions, axis=0) != y_test))
        found["error"].append(100.0 * wrong)
        found["standard error"].append(100.0 * math.sqrt(wrong * (1.0 - wrong) / len(y_test)))
        found["vectors"] += [float(len(model.support_)) for model in models]
    return [{"labels": {}, "values": found}]


def _digit(M: str, gamma: float, X: NDArray[np.float64], target: NDArray[np.bool_]) -> Any:
    """Return a machine for one digit, with M examples in memory or "all"."""
    if M == "all":
        return SVC(C=100.0, gamma=gamma).fit(X, target)
    model = BudgetSVC(budget=int(M), rule="relevance", C=100.0, gamma=gamma)
    return model.partial_fit(X, target)


def novelty(cell: Cell) -> list[Outcome]:
    """Score each row of a series by an SVDD of its first 500 rows, or of the latest 500.

    Two targets: rows within 64 of a change of state, and rows in the other state. False alarms are
    the share of other rows above the threshold at which 80 % of the target is found.
    """
    X, y = data.series(cell["data"], cell["seed"])
    X, gamma = scale_by_start(X)
    if cell["machine"] == "fixed":
        scores = -SVDD(nu=NU, gamma=gamma).fit(X[:SIZE]).decision_function(X[SIZE:])
    else:
        # In a full window this C is the share nu, and updates are cheaper: no box changes.
        model = SVDD(C=1.0 / (NU * SIZE), gamma=gamma, memory=Window(SIZE)).fit(X[:SIZE])
        scores = np.empty(len(X) - SIZE)
        for i in range(len(scores)):
            row = X[SIZE + i : SIZE + i + 1]
            scores[i] = -model.decision_function(row)[0]
            model.partial_fit(row)
    return _outcomes(scores, y[SIZE:])


def scale_by_start(X: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Return rows scaled by median and quartiles of the first 500, and gamma = 1 / (d Var X)."""
    low, middle, high = np.percentile(X[:SIZE], [25, 50, 75], axis=0)
    X = (X - middle) / (high - low)
    return X, float(1.0 / (X.shape[1] * X[:SIZE].var()))


def judge_novelty(
    scores: NDArray[np.float64], y: NDArray[Any]
) -> tuple[NDArray[np.int64], dict[str, dict[str, float]]]:
    """Return the changes of state, and measures of each target in per cent.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        Novelty of the rows, above 0 outside the boundary.
    y : ndarray of shape (n,)
        State of each row, 0 or 1.
    """
    changes = np.flatnonzero(np.diff(y)) + 1
    near = np.zeros(len(y), dtype=bool)
    events = [slice(max(0, c - _NEAR), c + _NEAR) for c in changes]
    for each in events:
        near[each] = True
    peaks = {"changes": np.array([scores[e].max() for e in events]), "state": scores[y == 1]}
    measures = {}
    for target, rows in {"changes": near, "state": y == 1}.items():
        threshold = np.quantile(peaks[target], 1.0 - _DETECTION, method="lower")
        measures[target] = {
            "false alarms": 100.0 * float(np.mean(scores[~rows] >= threshold)),
            "AUC": 100.0 * float(roc_auc_score(rows, scores)),
            "outside": 100.0 * float(np.mean(scores > 0)),
        }
    return changes, measures


def _outcomes(scores: NDArray[np.float64], y: NDArray[Any]) -> list[Outcome]:
    changes, measures = judge_novelty(scores, y)
    found: list[Outcome] = [
        {"labels": {"target": target}, "values": {name: [value] for name, value in own.items()}}
        for target, own in measures.items()
    ]
    start, stop = _DRAWN.start, min(_DRAWN.stop, len(y))
    for t in range(start, stop, _EVERY):
        values = {"novelty": [float(scores[t])]}
        found.append({"labels": {"t": t, "target": "all"}, "values": values})
    for t in changes[(changes >= start) & (changes < stop)].tolist():
        found.append({"labels": {"t": t, "target": "all"}, "values": {"change": [1.0]}})
    return found
