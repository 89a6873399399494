"""The optimality conditions of a head, computed from scratch with a bound on the rounding error.

Kx is computed anew in double precision. If its rounding error is too large to decide whether a
variable meets its condition, the kernel values of that variable are computed in extended precision.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from supple._core import Head
from supple.gram import CoreGram, Gram
from supple.kernels import CoreKernel, Kernel

__all__ = ["PROMISED", "Audit", "audit"]

PROMISED = 1e-8  # largest violation of an exact model, relative to the scale of the problem
_UNIT = float(np.finfo(np.float64).eps) / 2.0
_EXTENDED = float(np.finfo(np.longdouble).eps) / 2.0
_SUMS = 1e-12  # largest error of the sums over groups, relative to the sum of |x|
_BLOCK = 1 << 21  # numbers in extended precision held at a time


class Audit(NamedTuple):
    """The largest KKT violation relative to the scale, and an upper bound on it."""

    kkt: float
    at_most: float

    @property
    def exact(self) -> bool:
        """Whether the upper bound is within the promise."""
        return self.at_most <= PROMISED


def audit(core: Head, gram: Gram, kernel: Kernel) -> Audit:
    """Return how far the head `core` is from the optimum of its programme.

    The scale is that of `Head::scale`: the largest |c| of open boxes, or its substitute.
    """
    F = core.expansion()
    scale = core.scale(F)
    lo, hi, x = core.lo, core.hi, core.x
    if not len(x) or not (lo < hi).any():
        return Audit(0.0, 0.0)
    if not (np.isfinite(F).all() and scale > 0.0):
        return Audit(math.inf, math.inf)
    per = len(x) // len(F)
    shift = np.asarray(core.mu)[core.group] - core.c
    shift += core.ridge * x
    may_rise, may_fall = (lo < hi) & (x < hi), (lo < hi) & (x > lo)

    def violations(kx: np.ndarray, members: np.ndarray) -> np.ndarray:
        """Return the violation of each of these members."""
        variables = (members[:, None] * per + np.arange(per)).ravel()
        g = np.repeat(kx, per) + shift[variables]
        worst = np.maximum(np.where(may_rise[variables], -g, 0.0), 0.0)
        worst = np.maximum(worst, np.where(may_fall[variables], g, 0.0))
        return np.asarray(worst.reshape(-1, per).max(axis=1), dtype=np.float64)

    coef = x.reshape(-1, per).sum(axis=1)
    support = np.flatnonzero(coef)
    found = violations(F, np.arange(len(F)))
    is_open = (lo < hi).reshape(-1, per).any(axis=1)
    largest = float(np.abs(gram.diagonal(core.slot[is_open])).max())
    terms = largest * float(np.abs(coef).sum())
    roundings = _roundings(kernel, gram, core.slot[support])
    error = np.where(is_open, _UNIT * roundings * terms, 0.0)
    unsure = np.flatnonzero(is_open & (found + error > PROMISED * scale))
    if len(unsure) and _EXTENDED < _UNIT and isinstance(kernel, CoreKernel):
        values = _expansion(kernel, gram, core.slot[unsure], core.slot[support], coef[support])
        found[unsure] = violations(values, unsure)
        error[unsure] = _EXTENDED * (roundings + len(support)) * terms
    kkt = float(found.max()) / scale
    at_most = float((found + error).max()) / scale
    return Audit(kkt, at_most if _balanced(core, x) else math.inf)


def _balanced(core: Head, x: np.ndarray) -> bool:
    """Return whether the sums of x over the groups meet their targets."""
    mass = float(np.abs(x).sum())
    return all(
        abs(math.fsum(x[core.group == e]) - core.target[e])
        <= _SUMS * max(mass, abs(core.target[e]))
        for e in range(int(core.group.max(initial=0)) + 1)
    )


def _roundings(kernel: Kernel, gram: Gram, slots: np.ndarray) -> float:
    """Return the error bound of each term of Kx in roundings of the largest kernel value."""
    if not (isinstance(kernel, CoreKernel) and isinstance(gram, CoreGram)):
        return 4.0  # the values of the caller count as exact
    rows = gram.rows(slots)
    terms = int(np.diff(rows.indptr).max(initial=0)) if sparse.issparse(rows) else rows.shape[1]
    return kernel.roundings(terms, float(gram.core.largest_norm))


def _expansion(
    kernel: CoreKernel, gram: Gram, members: np.ndarray, slots: np.ndarray, coef: np.ndarray
) -> np.ndarray:
    """Return Kx at these members in extended precision."""
    out = np.zeros(len(members), dtype=np.longdouble)
    width = max(1, gram.rows(members[:1]).shape[1])
    many = max(1, min(len(slots), _BLOCK // width))
    few = max(1, min(64, _BLOCK // (width * many)))
    for begin in range(0, len(slots), many):
        part = slice(begin, begin + many)
        support = gram.rows(slots[part])
        for start in range(0, len(members), few):
            rows = gram.rows(members[start : start + few])
            values = kernel.extended(*_dense(rows, support))
            out[start : start + few] += values @ coef[part].astype(np.longdouble)
    return out


def _dense(A: Any, B: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows in extended precision; of sparse rows only the columns in use."""
    if sparse.issparse(A):
        used = np.union1d(A.indices, B.indices)
        A, B = A[:, used].toarray(), B[:, used].toarray()
    return A.astype(np.longdouble), B.astype(np.longdouble)
