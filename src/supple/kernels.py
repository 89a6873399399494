"""Kernel functions as frozen values; the core evaluates the first four on feature vectors."""

from __future__ import annotations

from collections.abc import Callable as CallableType
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

__all__ = [
    "RBF",
    "Callable",
    "CoreKernel",
    "Kernel",
    "Linear",
    "Poly",
    "Precomputed",
    "Sigmoid",
    "as_double",
    "dense",
    "squared_norms",
]


@dataclass(frozen=True)
class Kernel:
    """What all kernels share.

    `definite` says whether every kernel matrix is positive semi-definite: True, False, or None
    when nobody knows before the margin system has been factored.
    """

    @property
    def definite(self) -> bool | None:
        return True

    def diagonal(self, X: Any) -> np.ndarray:
        """Return k(x, x) for the rows of X."""
        raise TypeError(f"{type(self).__name__} has no diagonal of its own")


@dataclass(frozen=True)
class CoreKernel(Kernel):
    """A kernel that the compiled core evaluates."""

    def core_arguments(self) -> tuple[str, float, float, int]:
        """Return (kind, gamma, coef0, degree) as the core takes them."""
        raise TypeError(f"{type(self).__name__} is not a kernel of the core")

    bounded: ClassVar[bool] = True  # |k| <= 1

    def largest(self, squared_norm: float) -> float:
        """Return a bound on |k| for points whose squared norms are at most this."""
        return 1.0

    def roundings(self, terms: int, squared_norm: float) -> float:
        """Return how many roundings of the largest value a value and its use in a sum may be off.

        `terms` is the number of products in a dot product, `squared_norm` the largest of a point.
        """
        raise TypeError(f"{type(self).__name__} has no bound on its rounding")

    def extended(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """Return the kernel matrix of the rows of A and B, in their precision."""
        raise TypeError(f"{type(self).__name__} is not a kernel of the core")


def as_double(X: Any) -> Any:
    """Return X, dense or sparse, in float64; objects without features stay as they are."""
    return X if X.dtype == object else X.astype(np.float64, copy=False)


def squared_norms(X: Any) -> np.ndarray:
    """Return x'x for the rows of X, in float64."""
    if sparse.issparse(X):
        X = X.astype(np.float64)
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    X = np.asarray(X, dtype=np.float64)
    return np.asarray(np.einsum("ij,ij->i", X, X))


def dense(values: Any) -> Any:
    """Return kernel values that came as a sparse matrix, as products of CSR do, as an array."""
    return values.toarray() if sparse.issparse(values) else values


@dataclass(frozen=True)
class Linear(CoreKernel):
    """k(x, z) = x'z."""

    def core_arguments(self) -> tuple[str, float, float, int]:
        return "linear", 1.0, 0.0, 1

    bounded: ClassVar[bool] = False

    def largest(self, squared_norm: float) -> float:
        return squared_norm

    def roundings(self, terms: int, squared_norm: float) -> float:
        return terms + 4.0

    def extended(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return np.asarray(A @ B.T)

    def diagonal(self, X: Any) -> np.ndarray:
        return squared_norms(X)


@dataclass(frozen=True)
class RBF(CoreKernel):
    """k(x, z) = exp(-gamma ||x - z||^2)."""

    gamma: float

    def core_arguments(self) -> tuple[str, float, float, int]:
        return "rbf", self.gamma, 0.0, 1

    def roundings(self, terms: int, squared_norm: float) -> float:
        # By |x|^2 + |z|^2 - 2 x'z where gamma |x|^2 is at most 16 (kernel_block in gram.cpp), else
        # by differences, whose relative error counts for t exp(-t) < 1/2.
        longest = min(self.gamma * squared_norm, 16.0)
        return 8.0 + (terms + 4.0) * max(1.0, 4.0 * longest)

    def extended(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        difference = A[:, None, :] - B[None, :, :]
        return np.asarray(np.exp(-self.gamma * (difference * difference).sum(axis=2)))

    def diagonal(self, X: Any) -> np.ndarray:
        return np.ones(X.shape[0])


@dataclass(frozen=True)
class Poly(CoreKernel):
    """k(x, z) = (gamma x'z + coef0)^degree."""

    gamma: float
    degree: int = 3
    coef0: float = 0.0

    @property
    def definite(self) -> bool | None:
        return self.coef0 >= 0.0

    def core_arguments(self) -> tuple[str, float, float, int]:
        return "poly", self.gamma, self.coef0, self.degree

    bounded: ClassVar[bool] = False

    def largest(self, squared_norm: float) -> float:
        return float(np.float64(self.gamma * squared_norm + abs(self.coef0)) ** self.degree)

    def roundings(self, terms: int, squared_norm: float) -> float:
        return self.degree * (terms + self.degree + 4.0)

    def extended(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return np.asarray((self.gamma * (A @ B.T) + self.coef0) ** self.degree)

    def diagonal(self, X: Any) -> np.ndarray:
        return np.asarray((self.gamma * squared_norms(X) + self.coef0) ** self.degree)


@dataclass(frozen=True)
class Sigmoid(CoreKernel):
    """k(x, z) = tanh(gamma x'z + coef0), which is indefinite."""

    gamma: float
    coef0: float = 0.0

    @property
    def definite(self) -> bool | None:
        return False

    def core_arguments(self) -> tuple[str, float, float, int]:
        return "sigmoid", self.gamma, self.coef0, 1

    def roundings(self, terms: int, squared_norm: float) -> float:
        return 8.0 + (terms + 4.0) * self.gamma * squared_norm

    def extended(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return np.asarray(np.tanh(self.gamma * (A @ B.T) + self.coef0))

    def diagonal(self, X: Any) -> np.ndarray:
        return np.asarray(np.tanh(self.gamma * squared_norms(X) + self.coef0))


@dataclass(frozen=True)
class Callable(Kernel):
    """A function of two sample matrices that returns the matrix of kernel values, maybe sparse."""

    function: CallableType[[Any, Any], Any]

    @property
    def definite(self) -> bool | None:
        return None

    def diagonal(self, X: Any) -> np.ndarray:
        X = as_double(X)
        rows = (X[i : i + 1] for i in range(X.shape[0]))
        values = (np.asarray(dense(self.function(row, row))) for row in rows)
        return np.array([float(value.ravel()[0]) for value in values])


@dataclass(frozen=True)
class Precomputed(Kernel):
    """The caller passes kernel matrices in place of samples."""

    @property
    def definite(self) -> bool | None:
        return None
