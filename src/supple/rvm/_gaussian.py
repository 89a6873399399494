"""Sparse Bayesian learning with Gaussian noise of fixed precision: one change at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from scipy.linalg.lapack import dpstrf

from supple.progress import Progress

Floats = NDArray[np.float64]

# Share of its squared length that a basis function must have outside the span of the bias and the
# members. Below it the function is a combination of what is there already, up to rounding.
_DEPENDENT = 1e-10
_BLOCK_ROWS = 256


@dataclass(frozen=True)
class Posterior:
    """Relevant functions and the Gaussian posterior of their weights (19).

    `members` are columns of the kernel matrix, `centre` their weighted means, which the posterior
    of the bias is independent of; `noise` is the variance of the targets around f (0 for classes).
    """

    members: NDArray[np.intp]
    alpha: Floats
    mean: Floats
    covariance: Floats
    bias: float
    bias_variance: float
    centre: Floats
    noise: float
    log_evidence: float
    n_iter: int
    converged: bool

    def among(self, columns: NDArray[np.intp]) -> Posterior:
        """Return the same posterior with other column numbers."""
        return replace(self, members=columns[self.members])

    @property
    def determined(self) -> float:
        """Number of parameters that the targets determine, gamma of (26)."""
        return 1.0 + float((1.0 - self.alpha * self.covariance.diagonal()).sum())

    def moments(self, block: Floats) -> tuple[Floats, Floats]:
        """Return mean and variance (29) of f where `block` has the values k(x, x_members)."""
        away = block - self.centre
        variance = self.bias_variance + np.einsum("ij,ij->i", away @ self.covariance, away)
        return block @ self.mean + self.bias, variance


class Move(NamedTuple):
    """The change of one precision that raises the evidence most; alpha = inf takes it out."""

    gain: float
    column: int
    alpha: float


class SparseGaussian:
    """Sparse Bayesian learning with Gaussian noise of fixed precisions b, equations (18)-(24).

    Inner products of columns are <u, v> = u'Bv - (u'b)(b'v) / sum(b), which integrates the bias
    out. `S` and `Q` (20) are carried from move to move; :meth:`refresh` computes them anew.

    Parameters
    ----------
    K : ndarray of shape (n, p)
        Basis functions as columns.
    b : ndarray of shape (n,)
        Precisions of the targets, not all zero.
    bz : ndarray of shape (n,)
        Precisions times targets: a target whose precision vanishes may be infinite.
    """

    def __init__(self, K: Floats, b: Floats, bz: Floats) -> None:
        self._K, self._b = K, b
        self.total = float(b.sum())
        self._sums = b @ K
        raw = _weighted_squares(K, b)
        self.d = raw - self._sums**2 / self.total
        self.h = bz @ K - self._sums * (bz.sum() / self.total)
        self._able = self.d > _DEPENDENT * raw
        self._dependent = np.zeros(K.shape[1], dtype=bool)  # on the present members
        self.members = np.empty(0, dtype=np.intp)
        self.alpha = np.empty(0)
        self._G = np.empty((0, K.shape[1]))  # <phi_m, phi_j> by member and column
        self.refresh()

    def begin(self, members: NDArray[np.intp], alpha: Floats) -> None:
        """Start from these members."""
        Phi = self._K[:, members]
        self._G = (Phi * self._b[:, None]).T @ self._K
        self._G -= np.outer(self._sums[members] / self.total, self._sums)
        self.members, self.alpha = members.copy(), alpha.copy()
        self._dependent[:] = False
        self.refresh()

    def save(self) -> tuple[NDArray[Any], ...]:
        """Return the present state, for :meth:`restore`."""
        return (
            self.members,
            self.alpha.copy(),
            self._G,
            self.mean,
            self.covariance,
            self.S.copy(),
            self.Q.copy(),
        )

    def restore(self, state: tuple[NDArray[Any], ...]) -> None:
        """Restore a state, which can be restored again."""
        self.members, alpha, self._G, self.mean, self.covariance, S, Q = state
        # Moves change these in place and replace the others.
        self.alpha, self.S, self.Q = alpha.copy(), S.copy(), Q.copy()
        self._dependent[:] = False

    def rescale(self, factor: float) -> None:
        """Multiply all precisions by a factor."""
        self._b = self._b * factor
        self.total *= factor
        self._sums *= factor
        self.d *= factor
        self.h *= factor
        self._G *= factor
        self.refresh()

    def refresh(self) -> None:
        """Compute covariance, mean (19) and S, Q (20) from the inner products."""
        H = self._G[:, self.members]
        precision = H + np.diag(self.alpha)
        try:
            L = cholesky(precision, lower=True, check_finite=False)
        except LinAlgError:
            self._leave_out_dependent(H)
            return
        # Rounding decides whether a singular matrix fails or leaves a pivot that is only rounding.
        rounding = 8.0 * len(L) * np.finfo(float).eps
        if (L.diagonal() ** 2 <= rounding * precision.diagonal()).any():
            self._leave_out_dependent(H)
            return
        V = solve_triangular(L, self._G, lower=True, check_finite=False)
        half = solve_triangular(L, np.eye(len(L)), lower=True, check_finite=False)
        y = half @ self.h[self.members]
        self.covariance = half.T @ half
        self.mean = half.T @ y
        self.S = self.d - np.einsum("ij,ij->j", V, V)
        self.Q = self.h - y @ V
        self.log_det = 2.0 * float(np.log(L.diagonal()).sum())

    def _leave_out_dependent(self, H: Floats) -> None:
        """Drop members that have become linear combinations of the others."""
        scale = np.sqrt(np.maximum(H.diagonal(), np.finfo(float).tiny))
        _, order, rank, _ = dpstrf(H / np.outer(scale, scale), tol=_DEPENDENT)  # counts from 1
        keep = np.sort(order[: min(rank, len(H) - 1)] - 1)
        self.members, self.alpha, self._G = self.members[keep], self.alpha[keep], self._G[keep]
        self._dependent[:] = False
        self.refresh()

    def best(self, barred: NDArray[np.bool_] | None = None) -> Move:
        """Return the move (21)-(22) with the largest gain among columns not barred."""
        s, q, now = self.S.copy(), self.Q.copy(), np.zeros(len(self.S))
        at = self.members
        variance = self.covariance.diagonal()
        s[at] = 1.0 / variance - self.alpha
        q[at] = self.mean / variance
        now[at] = 0.5 * (np.log(self.alpha * variance) + self.mean**2 / variance)
        relevance = q * q - s
        candidate = self._able & (relevance > 0.0) & (s > 0.0)
        gain = -now
        s, relevance = s[candidate], relevance[candidate]
        gain[candidate] += 0.5 * (np.log(s / (s + relevance)) + relevance / s)
        gain[self._dependent if barred is None else barred | self._dependent] = -np.inf
        column = int(gain.argmax())
        alpha = np.inf
        if candidate[column]:
            i = int(np.count_nonzero(candidate[:column]))
            alpha = float(s[i] ** 2 / relevance[i])
        return Move(float(gain[column]), column, alpha)

    def apply(self, column: int, alpha: float) -> bool:
        """Set a precision, by (23) or (24); False if the column depends on the members."""
        inside = np.flatnonzero(self.members == column)
        if inside.size:
            if alpha != self.alpha[inside[0]]:
                self._change(int(inside[0]), alpha)
        elif self._depends(column):
            self._dependent[column] = True
            return False
        else:
            self._add(column, alpha)
        return True

    def _depends(self, column: int) -> bool:
        """Whether a column is a combination of bias and members."""
        try:
            factor = cholesky(self._G[:, self.members], lower=True, check_finite=False)
        except LinAlgError:
            return True  # undecidable in float64
        inside = solve_triangular(factor, self._G[:, column], lower=True, check_finite=False)
        return bool(self.d[column] - inside @ inside <= _DEPENDENT * self.d[column])

    def _add(self, column: int, alpha: float) -> None:
        g = self._G[:, column]
        row = (self._b * self._K[:, column]) @ self._K
        row -= self._sums * (self._sums[column] / self.total)
        v = self.covariance @ g
        variance = 1.0 / (alpha + self.S[column])
        mean = variance * self.Q[column]
        e = row - v @ self._G
        corner = np.append(-v, 1.0)
        covariance = variance * np.outer(corner, corner)
        covariance[:-1, :-1] += self.covariance
        self.covariance = covariance
        self.mean = np.append(self.mean - mean * v, mean)
        self.S -= variance * e * e
        self.Q -= mean * e
        self.members = np.append(self.members, column)
        self.alpha = np.append(self.alpha, alpha)
        self._G = np.vstack([self._G, row])

    def _change(self, i: int, alpha: float) -> None:
        column = self.covariance[:, i].copy()
        u = column @ self._G
        kappa = 1.0 / (column[i] + 1.0 / (alpha - self.alpha[i]))  # 1 / inf = 0: removed
        self.S += kappa * u * u
        self.Q += kappa * self.mean[i] * u
        self.mean = self.mean - kappa * self.mean[i] * column
        self.covariance = self.covariance - kappa * np.outer(column, column)
        self.alpha[i] = alpha
        if np.isinf(alpha):
            keep = np.arange(len(self.members)) != i
            self.members, self.alpha, self._G = self.members[keep], self.alpha[keep], self._G[keep]
            self.mean, self.covariance = self.mean[keep], self.covariance[np.ix_(keep, keep)]
            self._dependent[:] = False

    def centre(self) -> Floats:
        """Return the weighted means of the members."""
        return self._sums[self.members] / self.total


def _weighted_squares(K: Floats, b: Floats) -> Floats:
    """Return sum_n b_n K_nj^2 by blocks, without a second matrix of the size of K."""
    out = np.zeros(K.shape[1])
    for start in range(0, len(K), _BLOCK_ROWS):
        rows = K[start : start + _BLOCK_ROWS]
        out += b[start : start + _BLOCK_ROWS] @ (rows * rows)
    return out


def left(max_iter: int, n_iter: int, most: int) -> int:
    """Return how many moves may be made at once."""
    return most if max_iter < 0 else min(most, max_iter - n_iter)


def burst(
    model: SparseGaussian,
    tol: float,
    most: int,
    barred: NDArray[np.bool_] | None = None,
    progress: Progress | None = None,
) -> list[int]:
    """Make up to `most` moves that gain `tol` each; return their columns."""
    made: list[int] = []
    while len(made) < most:
        move = model.best(barred)
        if progress is not None:
            progress.say(
                f"searching: {len(model.members):,} relevance vectors, the next move gains "
                f"{move.gain:.0e}"
            )
        if move.gain < tol:
            break
        if model.apply(move.column, move.alpha):
            made.append(move.column)
    return made
