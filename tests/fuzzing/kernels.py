"""Kernel values in extended precision, straight from the rows, and kernels written in Python."""

from __future__ import annotations

import numpy as np

WIDE = np.longdouble
DISTANCES = ("rbf", "laplacian", "matern32", "matern52")  # kernels of these
# The core takes exp(-t) for 0 where it is near or below the smallest normal number. As sizes are
# multiplied by the rounding of float64, this size allows for an error of exp(-708) or 3e-308.
FLUSHED = np.exp(WIDE(-708)) / np.finfo(float).eps


class KernelFailure(Exception):
    """What a failing kernel of a user raises; supple must let it pass and undo its operation."""


class PythonKernel:
    """A kernel as a user writes it; values do not depend on how calls are cut into blocks.

    ``fuse`` is the number of calls after which it fails (None: never).
    """

    def __init__(self, name: str, gamma: float):
        self.name, self.gamma, self.fuse = name, gamma, None

    def __call__(self, A, B):
        if self.fuse is not None:
            self.fuse -= 1
            if self.fuse < 0:
                raise KernelFailure("the kernel failed")
        with np.errstate(over="ignore"):
            return self._values(np.asarray(A, dtype=float), np.asarray(B, dtype=float))

    def _values(self, A, B):
        total = np.zeros((len(A), len(B)))
        for a, b in zip(A.T, B.T, strict=True):
            if self.name == "laplace":
                total += np.abs(a[:, None] - b[None, :])
            else:
                total += a[:, None] * b[None, :]
        return np.exp(-self.gamma * total) if self.name == "laplace" else self.gamma * total + 1.0


def kernel_matrix(kernel, params: dict, A, B) -> tuple[np.ndarray, np.ndarray]:
    """K(A, B) and the size of the terms that each value is computed from, which bounds rounding.

    A kernel written in Python is defined by the float64 numbers that it returns.
    """
    A, B = np.asarray(A, dtype=WIDE), np.asarray(B, dtype=WIDE)
    if callable(kernel):
        K = np.asarray(kernel(A, B), dtype=WIDE)
        return K, np.abs(K)
    if kernel in DISTANCES:
        distances = np.zeros((len(A), len(B)), dtype=WIDE)
        for a, b in zip(A.T, B.T, strict=True):
            distances += np.abs(a[:, None] - b[None, :]) ** (1 if kernel == "laplacian" else 2)
        t = WIDE(params["gamma"]) * distances
        if kernel.startswith("matern"):
            t = np.sqrt(2 * int(kernel[-2]) * t)
        K = np.exp(-t) * {"matern32": 1 + t, "matern52": 1 + t + t * t / 3}.get(kernel, 1)
        return K, np.maximum(K * (1 + t), FLUSHED)
    inner, size = A @ B.T, np.abs(A) @ np.abs(B).T
    if kernel == "linear":
        return inner, size
    gamma, coef0 = WIDE(params["gamma"]), WIDE(params["coef0"])
    inner, size = gamma * inner + coef0, gamma * size + abs(coef0)
    if kernel == "sigmoid":
        K = np.tanh(inner)
        return K, np.abs(K) + (1 - K * K) * size
    degree = int(params["degree"])
    return inner**degree, size**degree * max(degree, 1)


def diagonal(kernel, params: dict, A) -> np.ndarray:
    """k(a, a) for the rows of A."""
    if callable(kernel) or kernel in DISTANCES:
        return np.array([kernel_matrix(kernel, params, a[None], a[None])[0][0, 0] for a in A])
    inner = (np.asarray(A, dtype=WIDE) ** 2).sum(axis=1)
    if kernel == "linear":
        return inner
    inner = WIDE(params["gamma"]) * inner + WIDE(params["coef0"])
    return np.tanh(inner) if kernel == "sigmoid" else inner ** int(params["degree"])
