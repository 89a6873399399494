"""Maps from decision values to probabilities, fitted to decisions whose classes are known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_softmax, logit, softmax
from sklearn.isotonic import IsotonicRegression

Floats = NDArray[np.float64]
Map = Callable[[Floats], Floats]

_MOST_STEPS = 100
_LOG_INVERSE_TEMPERATURE = (-10.0, 10.0)


class Fit(Protocol):
    """Fits a map to decision values (n, columns), classes as places 0..k-1, and weights."""

    def __call__(self, values: Floats, own: NDArray[np.intp], weight: Floats, k: int) -> Map:
        """Return the map from decision values (m, columns) to probabilities (m, k)."""


@dataclass(frozen=True)
class _Sigmoid:
    """Platt's curve (40)."""

    slope: float
    intercept: float

    def __call__(self, value: Floats) -> Floats:
        return np.asarray(expit(self.slope * value + self.intercept))


def _sigmoid(value: Floats, positive: NDArray[np.bool_], weight: Floats) -> _Sigmoid:
    """Minimise the cross-entropy (41) with a slope >= 0, by Newton's method."""
    n_positive, n_negative = float(weight[positive].sum()), float(weight[~positive].sum())
    high, low = (n_positive + 1.0) / (n_positive + 2.0), 1.0 / (n_negative + 2.0)
    target = np.where(positive, high, low)
    centre = float(np.average(value, weights=weight))
    spread = float(np.sqrt(np.average((value - centre) ** 2, weights=weight)))
    constant = float(logit(np.average(target, weights=weight)))
    # The loss is convex: unless it falls to the right of slope 0, the best slope >= 0 is 0.
    if spread == 0.0 or np.sum(weight * (target - expit(constant)) * (value - centre)) <= 0.0:
        return _Sigmoid(0.0, constant)
    design = np.column_stack([(value - centre) / spread, np.ones(len(value))])

    def loss(at: Floats) -> float:
        score = design @ at
        return float(np.sum(weight * (np.logaddexp(0.0, score) - target * score)))

    at = np.array([0.0, constant])
    present = loss(at)
    for _ in range(_MOST_STEPS):
        p = expit(design @ at)
        gradient = design.T @ (weight * (p - target))
        hessian = (design.T * (weight * p * (1.0 - p))) @ design
        hessian[np.diag_indices(2)] += 1e-12 * weight.sum()
        step = np.linalg.solve(hessian, gradient)
        while (after := loss(at - step)) > present and np.abs(step).max() > 1e-12:
            step /= 2.0
        if after > present:
            break
        at, present = at - step, after
        if np.abs(step).max() <= 1e-12 * max(1.0, np.abs(at).max()):
            break
    slope = float(at[0]) / spread
    return _Sigmoid(slope, float(at[1]) - slope * centre)


def _isotonic(value: Floats, positive: NDArray[np.bool_], weight: Floats) -> Map:
    """Return the nondecreasing step function, joined by lines, with the least squares."""
    curve = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
    return curve.fit(value, positive.astype(np.float64), sample_weight=weight).predict


@dataclass(frozen=True)
class _Columns:
    """One map for each class against the rest (42), or a single one for two classes."""

    maps: list[Map]

    def __call__(self, values: Floats) -> Floats:
        if len(self.maps) == 1:
            p = self.maps[0](values[:, 0])
            return np.column_stack([1.0 - p, p])
        each = np.column_stack([self.maps[i](values[:, i]) for i in range(len(self.maps))])
        total = each.sum(axis=1, keepdims=True)
        # All maps give 0: the classes are equally likely.
        return np.where(total > 0.0, each / np.where(total > 0.0, total, 1.0), 1.0 / each.shape[1])


@dataclass(frozen=True)
class _Softmax:
    """The softmax of decision values over a temperature (43)."""

    inverse_temperature: float

    def __call__(self, values: Floats) -> Floats:
        return np.asarray(softmax(self.inverse_temperature * _logits(values), axis=1))


def _logits(values: Floats) -> Floats:
    """Return one column for each class, also for two."""
    return np.hstack([np.zeros_like(values), values]) if values.shape[1] == 1 else values


def _by_column(
    fit: Callable[[Floats, NDArray[np.bool_], Floats], Map],
    values: Floats,
    own: NDArray[np.intp],
    weight: Floats,
    k: int,
) -> Map:
    classes = [1] if k == 2 else range(k)
    return _Columns([fit(values[:, i], own == c, weight) for i, c in enumerate(classes)])


def _temperature(values: Floats, own: NDArray[np.intp], weight: Floats, k: int) -> Map:
    """Minimise the log loss, which is convex in the inverse of the temperature."""
    logits, rows = _logits(values), np.arange(len(own))

    def loss(log_inverse: float) -> float:
        log_p = log_softmax(np.exp(log_inverse) * logits, axis=1)
        return -float(np.average(log_p[rows, own], weights=weight))

    found = minimize_scalar(
        loss, bounds=_LOG_INVERSE_TEMPERATURE, method="bounded", options={"xatol": 1e-9}
    )
    return _Softmax(float(np.exp(found.x)))


FITS: dict[str, Fit] = {
    "sigmoid": partial(_by_column, _sigmoid),
    "isotonic": partial(_by_column, _isotonic),
    "temperature": _temperature,
}
