"""Feature vectors and their kernel matrix: one class for each way to hold them.

All offer the same few calls: ``append``, ``remove`` (the last example moves into the freed slot),
``truncate``, ``rows``, ``decisions`` and ``core`` (the rows as the compiled solvers read them).
"""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable as Function
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from supple._core import FunctionGram, Phase, PointsGram, tell
from supple.errors import InvalidInputError, PrecomputedUpdateError
from supple.interrupts import Interruptible
from supple.kernels import (
    Callable,
    CoreKernel,
    Kernel,
    Precomputed,
    as_double,
    dense,
    squared_norms,
)

__all__ = ["Decisions", "Gram", "Terms", "gram_for"]

Decisions = Function[[Any, int], np.ndarray]  # (queries, threads) -> decision values
_NO_UPDATES = (
    "kernel='precomputed' cannot take updates: the kernel values of other examples are unknown. "
    "Pass a callable kernel that computes them."
)
_FORM = (
    "The 'kernel' function must be of the form (n, d), (m, d) -> (n, m): it gets two sets of "
    "points and returns the matrix of their kernel values, such as A @ B.T for the linear kernel."
)
_LARGEST = 1e150  # kernel values; their products with dual variables must not overflow either
_LONGEST = 1e300  # squared norms
_BLOCK_BYTES = 1 << 25  # kernel values held at a time while predicting
_BLOCK_COLUMNS = 32  # computed at a time
_QUERIES = 8192  # that the core holds at a time


class Terms(NamedTuple):
    """Examples that have coefficients in the same heads."""

    slots: np.ndarray
    heads: np.ndarray
    coef: np.ndarray  # heads x slots


class Gram(ABC):
    """What all Gram matrices share."""

    core: PointsGram | FunctionGram
    takes_updates: ClassVar[bool] = True

    @property
    def size(self) -> int:
        return self.core.size

    def refuse_updates(self) -> None:
        """Raise if the examples held cannot change."""
        if not self.takes_updates:
            raise PrecomputedUpdateError(_NO_UPDATES)

    def diagonal(self, slots: np.ndarray) -> np.ndarray:
        """Return k(x, x) of the examples at these slots."""
        return np.asarray(self.core.diagonal()[slots])

    def remove(self, slots: np.ndarray) -> None:
        """Remove examples in this order; each time the last one takes the freed slot."""
        self.core.remove(slots)

    def truncate(self, size: int) -> None:
        self.core.truncate(size)

    @abstractmethod
    def append(self, X: Any, diagonal: np.ndarray | None = None) -> None:
        """Add examples, whose k(x, x) are in `diagonal` if they are known."""

    @abstractmethod
    def rows(self, slots: np.ndarray) -> Any:
        """Return the feature vectors at these slots."""

    @abstractmethod
    def decisions(self, heads: int, terms: Sequence[Terms]) -> Decisions:
        """Return a function of queries and threads: the sum of terms, one column per head.

        It holds copies of the examples, so that later changes do not affect it, and works in
        bounded memory. Several threads may call it at once.
        """

    def block(self, slots: np.ndarray, X: Any) -> np.ndarray:
        """Return the matrix k(X, examples at slots)."""
        out = np.empty((X.shape[0], len(slots)))
        # Expansions with unit vectors, few at a time: they cost less than the kernel values.
        for start in range(0, len(slots), _BLOCK_COLUMNS):
            part = slots[start : start + _BLOCK_COLUMNS]
            unit = Terms(part, np.arange(len(part)), np.eye(len(part)))
            out[:, start : start + len(part)] = self.decisions(len(part), [unit])(X, 1)
        return out

    @abstractmethod
    def set_kernel(self, kernel: Kernel) -> None:
        """Change the parameters of the kernel."""


class CoreGram(Gram):
    """Feature vectors in the core, which evaluates the kernel."""

    core: PointsGram

    def __init__(self, kernel: CoreKernel) -> None:
        self._kernel = kernel

    def append(self, X: Any, diagonal: np.ndarray | None = None) -> None:
        _check_magnitude(self._kernel, X)
        self._append(X)

    @abstractmethod
    def _append(self, X: Any) -> None:
        """Hand examples to the core."""

    def set_kernel(self, kernel: Kernel) -> None:
        assert isinstance(kernel, CoreKernel)
        _check_magnitude(kernel, self.rows(np.arange(self.size)))
        self.core.set_kernel(*kernel.core_arguments())
        self._kernel = kernel


def _check_magnitude(kernel: CoreKernel, X: Any) -> None:
    """Raise if inner products, squared distances or kernel values may overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        squared = float(squared_norms(X).max(initial=0.0))
        largest = kernel.largest(squared)
    if not largest < _LARGEST:
        others = ", or lower gamma or degree" if hasattr(kernel, "gamma") else ""
        raise InvalidInputError(
            f"The kernel {kernel} overflows on these examples. Scale the features (for instance "
            f"to mean 0 and variance 1){others}."
        )
    if not squared < _LONGEST:
        raise InvalidInputError(
            f"The squared norms of the examples must stay below {_LONGEST:g}. Got {squared:g}. "
            "Scale the features (for instance to mean 0 and variance 1)."
        )


def _in_parts(decide: Decisions) -> Decisions:
    """Return `decide` for any number of queries, of which the core holds copies."""

    def values(X: Any, threads: int) -> np.ndarray:
        if X.shape[0] <= _QUERIES:
            return decide(X, threads)
        starts = range(0, X.shape[0], _QUERIES)
        return np.concatenate([decide(X[start : start + _QUERIES], threads) for start in starts])

    return values


class DenseGram(CoreGram):
    """Dense float64 or float32 rows; kernel values are always computed in float64."""

    def __init__(self, kernel: CoreKernel, X: np.ndarray, cache_bytes: int) -> None:
        super().__init__(kernel)
        self._single = X.dtype == np.float32
        make = PointsGram.float32 if self._single else PointsGram.float64
        self.core = make(*kernel.core_arguments(), X.shape[1], cache_bytes)

    def _append(self, X: np.ndarray) -> None:
        self.core.append(X)

    def rows(self, slots: np.ndarray) -> np.ndarray:
        take = self.core.rows_f32 if self._single else self.core.rows_f64
        return np.asarray(take(slots))

    def decisions(self, heads: int, terms: Sequence[Terms]) -> Decisions:
        core = self.core.decisions(heads, terms)
        return _in_parts(lambda X, threads: core.decide(np.ascontiguousarray(X), threads))


class CsrGram(CoreGram):
    """Sparse rows."""

    def __init__(self, kernel: CoreKernel, X: sparse.csr_matrix, cache_bytes: int) -> None:
        super().__init__(kernel)
        self._dtype = X.dtype
        self._n_features = X.shape[1]
        self._kind = type(X)
        self.core = PointsGram.csr(*kernel.core_arguments(), X.shape[1], cache_bytes)

    @staticmethod
    def _arrays(X: sparse.csr_matrix) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return (
            np.ascontiguousarray(X.indptr, dtype=np.int64),
            np.ascontiguousarray(X.indices, dtype=np.int64),
            np.ascontiguousarray(X.data, dtype=np.float64),
        )

    def _append(self, X: sparse.csr_matrix) -> None:
        self.core.append_csr(*self._arrays(X))

    def rows(self, slots: np.ndarray) -> sparse.csr_matrix:
        data, indices, indptr = self.core.rows_csr(slots)
        shape = (len(slots), self._n_features)
        return self._kind((data.astype(self._dtype), indices, indptr), shape=shape)

    def decisions(self, heads: int, terms: Sequence[Terms]) -> Decisions:
        core = self.core.decisions(heads, terms)
        return _in_parts(lambda X, threads: core.decide_csr(*CsrGram._arrays(X), threads))


def _weak(gram: CallableGram | PrecomputedGram) -> Any:
    """Return gram.row for the core without a reference cycle through it."""
    reference = weakref.ref(gram)

    def row(slot: int, start: int, stop: int) -> np.ndarray:
        alive = reference()
        assert alive is not None
        return alive.row(slot, start, stop)

    return row


class CallableGram(Gram):
    """Rows of any kind, kernel values from a Python function.

    The function always gets float64: with values rounded to float32 the matrix need not be positive
    semi-definite, and the solvers take many times as long.
    """

    def __init__(self, kernel: Callable, X: Any, cache_bytes: int) -> None:
        self._kernel = kernel
        self._dtype = X.dtype
        self._X = as_double(X[:0])
        self.core = FunctionGram(_weak(self), cache_bytes)

    def _evaluate(self, A: Any, B: Any) -> np.ndarray:
        try:
            values = np.asarray(dense(self._kernel.function(A, B)), dtype=np.float64)
        except (IndexError, TypeError, ValueError) as error:
            trace = error.__traceback__
            if trace is not None and trace.tb_next is None:
                # Raised outside the function: its signature differs, or it returned no numbers.
                raise InvalidInputError(f"{_FORM} The call failed: {error}.") from None
            error.add_note(f"{_FORM} It was called with shapes {A.shape} and {B.shape}.")
            raise
        if values.shape != (A.shape[0], B.shape[0]):
            raise InvalidInputError(
                f"{_FORM} For inputs of shape {A.shape} and {B.shape} it must return "
                f"{A.shape[0], B.shape[0]}. Got shape {values.shape} instead."
            )
        if not np.isfinite(values).all():
            raise InvalidInputError(
                "The 'kernel' function returned NaN or infinity. Check the function on these "
                "inputs, or scale the features."
            )
        return values

    def row(self, slot: int, start: int, stop: int) -> np.ndarray:
        values = self._evaluate(self._X[slot : slot + 1], self._X[start:stop])
        return np.ascontiguousarray(values[0])

    def append(self, X: Any, diagonal: np.ndarray | None = None) -> None:
        X = as_double(X)
        if diagonal is None:
            diagonal = self._diagonal_of(X)
        if sparse.issparse(X):
            self._X = sparse.vstack([self._X, X], format="csr")
        else:
            self._X = np.concatenate([self._X, X])
        self.core.append(diagonal)

    def _diagonal_of(self, X: Any) -> np.ndarray:
        """Return k(x, x) of new points; interruptible, since nothing has changed yet."""
        out = np.empty(X.shape[0])
        with Interruptible():
            for i in range(len(out)):
                tell(Phase.kernel, i, len(out))
                out[i] = self._evaluate(X[i : i + 1], X[i : i + 1])[0, 0]
        return out

    def remove(self, slots: np.ndarray) -> None:
        keep = np.arange(self.size)
        for removed, slot in enumerate(slots.tolist(), start=1):
            keep[slot] = keep[self.size - removed]
        staying = self._X[keep[: self.size - len(slots)]]
        super().remove(slots)
        self._X = staying

    def truncate(self, size: int) -> None:
        self._X = self._X[:size]
        super().truncate(size)

    def rows(self, slots: np.ndarray) -> Any:
        return self._X[slots].astype(self._dtype, copy=False)

    def decisions(self, heads: int, terms: Sequence[Terms]) -> Decisions:
        ends = np.cumsum([len(own.slots) for own in terms])
        n = int(ends[-1]) if len(ends) else 0
        points = self._X[np.concatenate([own.slots for own in terms])] if n else self._X[:0]
        step = max(1, _BLOCK_BYTES // (8 * max(1, n)))

        def values(X: Any, threads: int) -> np.ndarray:
            X = as_double(X)
            out = np.zeros((X.shape[0], heads))
            for start in range(0, X.shape[0] if n else 0, step):
                K = self._evaluate(X[start : start + step], points)
                for own, end in zip(terms, ends, strict=True):
                    part = K[:, end - len(own.slots) : end] @ own.coef.T
                    out[start : start + step, own.heads] += part
            return out

        return values

    def block(self, slots: np.ndarray, X: Any) -> np.ndarray:
        return self._evaluate(as_double(X), self._X[slots])

    def set_kernel(self, kernel: Kernel) -> None:
        raise InvalidInputError(
            "A callable kernel has no parameters to retune. Fit a new model with another function."
        )


class PrecomputedGram(Gram):
    """A kernel matrix given by the caller, for one fit without updates."""

    takes_updates: ClassVar[bool] = False

    def __init__(self, X: np.ndarray, cache_bytes: int) -> None:
        self._matrix = np.zeros((0, 0))
        self.core = FunctionGram(_weak(self), cache_bytes)

    def row(self, slot: int, start: int, stop: int) -> np.ndarray:
        return np.ascontiguousarray(self._matrix[slot, start:stop])

    def append(self, X: np.ndarray, diagonal: np.ndarray | None = None) -> None:
        if self.size:
            self.refuse_updates()
        if X.shape[0] != X.shape[1]:
            raise InvalidInputError(
                f"Precomputed matrix must be a square matrix. Input is a {X.shape[0]}x{X.shape[1]} "
                "matrix."
            )
        self._matrix = np.array(X, dtype=np.float64, order="C")
        self.core.append(np.ascontiguousarray(self._matrix.diagonal()))

    def set_kernel(self, kernel: Kernel) -> None:
        self.refuse_updates()

    def rows(self, slots: np.ndarray) -> np.ndarray:
        return self._matrix[slots]

    def decisions(self, heads: int, terms: Sequence[Terms]) -> Decisions:
        size = self.size

        def values(X: np.ndarray, threads: int) -> np.ndarray:
            if X.shape[1] != size:
                raise InvalidInputError(
                    f"A precomputed kernel matrix for prediction needs one column for each of the "
                    f"{size} examples of the fit. Got {X.shape[1]} columns instead."
                )
            out = np.zeros((X.shape[0], heads))
            for own in terms:
                out[:, own.heads] += X[:, own.slots] @ own.coef.T
            return out

        return values


def gram_for(kernel: Kernel, X: Any, cache_bytes: int) -> Gram:
    """Return the empty Gram matrix that suits this kernel and this kind of X."""
    if isinstance(kernel, Precomputed):
        return PrecomputedGram(X, cache_bytes)
    if isinstance(kernel, Callable):
        return CallableGram(kernel, X, cache_bytes)
    assert isinstance(kernel, CoreKernel)
    if sparse.issparse(X):
        return CsrGram(kernel, X, cache_bytes)
    return DenseGram(kernel, X, cache_bytes)
