"""Data sets without general position."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

N = 24


@dataclass(frozen=True)
class Case:
    """Examples, kernel and parameters; ``sharp``: decision values are determined above rounding."""

    X: np.ndarray
    y: np.ndarray  # labels -1 / +1
    kernel: str = "linear"
    kernel_params: dict = field(default_factory=dict)
    params: dict = field(default_factory=dict)
    sharp: bool = True


def labels(n: int) -> np.ndarray:
    return np.where(np.arange(n) % 2 == 0, 1.0, -1.0)


def noisy(n: int = N, d: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    y = labels(n)
    return np.random.default_rng(seed).normal(size=(n, d)) + 0.6 * y[:, None], y


def rbf(gamma):
    return {"kernel": "rbf", "kernel_params": {"gamma": gamma}}


def cases() -> dict[str, Case]:
    """All degenerate data sets by name."""
    X, y = noisy()
    grid = np.random.default_rng(1).integers(0, 3, size=(N, 2)).astype(float)
    poly = {"kernel": "poly", "kernel_params": {"gamma": 0.5, "degree": 3, "coef0": 1.0}}
    four = np.repeat(X[:6], 4, axis=0)
    pairs = np.repeat(X[: N // 2], 2, axis=0)
    flat = np.c_[X[:, 0], np.full(N, 5.0), np.zeros(N)]
    return {
        "duplicates linear": Case(four, np.repeat(y[:6], 4)),
        "duplicates rbf": Case(four, np.repeat(y[:6], 4), **rbf(0.5)),
        "opposite duplicates linear": Case(pairs, y),
        "opposite duplicates rbf": Case(pairs, y, **rbf(0.5)),
        "grid linear": Case(grid, y),
        "grid rbf": Case(grid, y, **rbf(0.5)),
        "grid poly": Case(grid, y, **poly),
        "constant features linear": Case(flat, y),
        "constant features rbf": Case(flat, y, **rbf(0.5)),
        "one point linear": Case(np.full((N, 2), 3.0), y),
        "one point rbf": Case(np.full((N, 2), 3.0), y, **rbf(0.5)),
        "origin only": Case(np.zeros((N, 2)), y),
        "on a line": Case(X[:, :1] * [[1.0, 2.0]], y),
        "ones": Case(X, y, **rbf(1e-300)),
        "nearly ones": Case(X, y, **rbf(1e-12), sharp=False),
        "identity": Case(X, y, **rbf(1e12)),
        "huge linear": Case(X * 1e6, y, params={"C": 1e-9}),
        "huge rbf": Case(X * 1e6, y, **rbf(0.5e-12)),
        "tiny linear": Case(X * 1e-6, y, params={"C": 1e9}),
        "tiny rbf": Case(X * 1e-6, y, **rbf(0.5e12)),
        "tiny at the bound": Case(X * 1e-6, y),
        "far from the origin linear": Case(X + 1000.0, y),
        "far from the origin rbf": Case(X + 1000.0, y, **rbf(0.5)),
    }
