"""Kernel functions as frozen values; the core evaluates those of `KERNELS` on feature vectors.

A new one is an entry of the table in kernel.cpp and a class here.
"""

from __future__ import annotations

from collections.abc import Callable as CallableType
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

__all__ = [
    "KERNELS",
    "RBF",
    "Callable",
    "CoreKernel",
    "DistanceKernel",
    "Kernel",
    "Laplacian",
    "Linear",
    "Matern32",
    "Matern52",
    "Poly",
    "Precomputed",
    "Sigmoid",
    "all_finite",
    "as_double",
    "dense",
    "squared_norms",
]


@dataclass(frozen=True)
class Kernel:
    """What all kernels share.

    `definite`: whether every kernel matrix is positive semi-definite; None if this is known only
    after the margin system has been factored.
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

    name: ClassVar[str]  # for estimators and in the table of the core
    formula: ClassVar[str]

    @classmethod
    def of(cls, **params: Any) -> CoreKernel:
        """Return the kernel of these parameters, without those that it does not have."""
        return cls(**{own.name: params[own.name] for own in fields(cls)})

    def core_arguments(self) -> tuple[str, float, float, int]:
        """Return (name, gamma, coef0, degree) as the core takes them."""
        params = {"gamma": 1.0, "coef0": 0.0, "degree": 1} | vars(self)
        return self.name, params["gamma"], params["coef0"], params["degree"]

    def largest(self, squared_norm: float) -> float:
        """Return a bound on |k| for points whose squared norms are at most this."""
        return 1.0

    def roundings(self, terms: int, squared_norm: float) -> float:
        """Return a bound on the error of a value and its use in a sum, in roundings of the largest.

        `terms` is the number of products in a dot product, `squared_norm` the largest x'x.
        """
        raise TypeError(f"{type(self).__name__} has no bound on its rounding")

    def extended(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """Return the kernel matrix of the rows of A and B, in their precision."""
        raise TypeError(f"{type(self).__name__} is not a kernel of the core")


def as_double(X: Any) -> Any:
    """Return X, dense or sparse, in float64; objects without features stay as they are."""
    return X if X.dtype == object else X.astype(np.float64, copy=False)


def all_finite(values: np.ndarray) -> bool:
    """Return whether an array holds neither NaN nor infinity."""
    flat = values.ravel()
    with np.errstate(over="ignore", invalid="ignore"):
        squares = flat.dot(flat)  # finite unless a value is not, or the sum overflows
    return bool(np.isfinite(squares) or np.isfinite(flat).all())


def squared_norms(X: Any) -> np.ndarray:
    """Return x'x for the rows of X, dense or canonical CSR, in float64."""
    if sparse.issparse(X):
        row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        return np.bincount(row, np.square(X.data, dtype=np.float64), X.shape[0])
    X = np.asarray(X, dtype=np.float64)
    return np.asarray(np.einsum("ij,ij->i", X, X))


def dense(values: Any) -> Any:
    """Return kernel values as an array; products of CSR matrices are sparse."""
    return values.toarray() if sparse.issparse(values) else values


@dataclass(frozen=True)
class Linear(CoreKernel):
    """The inner product."""

    name: ClassVar[str] = "linear"
    formula: ClassVar[str] = "x'z"

    def largest(self, squared_norm: float) -> float:
        return squared_norm

    def roundings(self, terms: int, squared_norm: float) -> float:
        return terms + 4.0

    def extended(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return np.asarray(A @ B.T)

    def diagonal(self, X: Any) -> np.ndarray:
        return squared_norms(X)


@dataclass(frozen=True)
class Poly(CoreKernel):
    """The polynomial kernel."""

    gamma: float
    degree: int = 3
    coef0: float = 0.0

    name: ClassVar[str] = "poly"
    formula: ClassVar[str] = "(gamma x'z + coef0)^degree"

    @property
    def definite(self) -> bool | None:
        return self.coef0 >= 0.0

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
    """The hyperbolic tangent of an inner product, which is indefinite."""

    gamma: float
    coef0: float = 0.0

    name: ClassVar[str] = "sigmoid"
    formula: ClassVar[str] = "tanh(gamma x'z + coef0)"

    @property
    def definite(self) -> bool | None:
        return False

    def roundings(self, terms: int, squared_norm: float) -> float:
        return 8.0 + (terms + 4.0) * self.gamma * squared_norm

    def extended(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return np.asarray(np.tanh(self.gamma * (A @ B.T) + self.coef0))

    def diagonal(self, X: Any) -> np.ndarray:
        return np.asarray(np.tanh(self.gamma * squared_norms(X) + self.coef0))


@dataclass(frozen=True)
class DistanceKernel(CoreKernel):
    """A kernel that falls with the distance from 1 at equal points to 0 far away."""

    gamma: float

    def roundings(self, terms: int, squared_norm: float) -> float:
        # From differences; for sparse points from norms if the distance is at least a sixteenth of
        # these (from_sums in points.cpp). A relative error of the distance counts less than half.
        return 8.0 + 8.0 * (terms + 4.0)

    def extended(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return np.asarray(self._of_differences(A[:, None, :] - B[None, :, :]))

    def _of_differences(self, difference: np.ndarray) -> np.ndarray:
        """Return the values of pairs of points, whose features are along the last axis."""
        raise TypeError(f"{type(self).__name__} has no values")

    def diagonal(self, X: Any) -> np.ndarray:
        return np.ones(X.shape[0])


@dataclass(frozen=True)
class RBF(DistanceKernel):
    """The Gaussian kernel."""

    name: ClassVar[str] = "rbf"
    formula: ClassVar[str] = "exp(-gamma |x - z|^2)"

    def roundings(self, terms: int, squared_norm: float) -> float:
        # From |x|^2 + |z|^2 - 2 x'z if gamma |x|^2 is at most 16 (kernel_block in gram.cpp), else
        # from differences, whose relative error is multiplied by t exp(-t) < 1/2.
        longest = min(self.gamma * squared_norm, 16.0)
        return 8.0 + (terms + 4.0) * max(1.0, 4.0 * longest)

    def _of_differences(self, difference: np.ndarray) -> np.ndarray:
        return np.exp(-self.gamma * (difference * difference).sum(axis=-1))


@dataclass(frozen=True)
class Laplacian(DistanceKernel):
    """The kernel of the sum of absolute differences."""

    name: ClassVar[str] = "laplacian"
    formula: ClassVar[str] = "exp(-gamma |x - z|_1)"

    def _of_differences(self, difference: np.ndarray) -> np.ndarray:
        return np.exp(-self.gamma * np.abs(difference).sum(axis=-1))


@dataclass(frozen=True)
class Matern32(DistanceKernel):
    """Matern's kernel of smoothness nu = 3/2 and the width of the Gaussian kernel of gamma.

    That is 1 / l^2 = 2 gamma, so that a = sqrt(2 nu) |x - z| / l is sqrt(4 nu gamma) |x - z|.
    """

    name: ClassVar[str] = "matern32"
    formula: ClassVar[str] = "(1 + a) exp(-a) with a = sqrt(6 gamma) |x - z|"

    def _of_differences(self, difference: np.ndarray) -> np.ndarray:
        a = np.sqrt(6.0 * (self.gamma * (difference * difference).sum(axis=-1)))
        return (1.0 + a) * np.exp(-a)


@dataclass(frozen=True)
class Matern52(DistanceKernel):
    """Matern's kernel of smoothness nu = 5/2, else as `Matern32`."""

    name: ClassVar[str] = "matern52"
    formula: ClassVar[str] = "(1 + a + a^2 / 3) exp(-a) with a = sqrt(10 gamma) |x - z|"

    def _of_differences(self, difference: np.ndarray) -> np.ndarray:
        a = np.sqrt(10.0 * (self.gamma * (difference * difference).sum(axis=-1)))
        return (1.0 + a + a * a / 3.0) * np.exp(-a)


# The kernels that estimators take by name.
KERNELS: dict[str, type[CoreKernel]] = {
    kind.name: kind for kind in (RBF, Linear, Poly, Sigmoid, Laplacian, Matern32, Matern52)
}


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
