"""Relevance vector classification: logistic likelihood, Laplace's approximation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.progress import Progress
from supple.rvm._gaussian import Floats, Posterior, SparseGaussian, burst, left
from supple.rvm._laplace import Logistic, Mode

# Moves between two linearisations of the logistic likelihood. Fifteen gave the largest evidence,
# summed over seven embedded sets and the last 797 digits, of 1, 2, 5, 10, 15, 20, 30 and 50.
_BURST = 15
# Searches from many functions: their largest number, the squared distance of a column from the span
# of the earlier ones (relative to the largest diagonal value), and the initial precisions if the
# largest kernel value is 1 (besides 1 / n^2, Tipping's).
_COLUMNS = 450
_INDEPENDENT = 1e-8
_FIRST_ALPHA = (1.0, 1e-2)
# A search ends after this many sweeps, or when no precision changes by more than this factor.
_SWEEPS = 60
_STEADY = 1.1
# In a sweep a function is dropped whose parameter is determined by less than this share of the
# mean; the mode need not be found better than this.
_UNDETERMINED = 0.03
_ROUGH_GAIN = 1e-3


def classify(
    K: Floats,
    t: Floats,
    weight: Floats,
    tol: float,
    max_iter: int,
    progress: Progress | None = None,
) -> Posterior:
    """Maximise the Laplace approximation (28) of the evidence of a logistic model.

    The evidence has many maxima. One search starts from the bias alone, others from many functions
    of equal precision, and a last one from all functions that the others ended with; the end with
    the largest evidence is returned.

    Parameters
    ----------
    K : ndarray of shape (n, p)
        Kernel values k(x_n, x_j), one column for each basis function.
    t : ndarray of shape (n,)
        1 for the positive class, 0 for the other; both occur.
    weight : ndarray of shape (n,)
        Weights > 0.
    tol, max_iter, progress
        As for :func:`regress`; a change of all precisions at once counts as one move.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 20)
    >>> K = np.exp(-((x[:, None] - x) ** 2))
    >>> found = classify(K, (np.abs(x) < 0.6) * 1.0, np.ones(20), 1e-3, -1)
    >>> mean, variance = found.moments(K[:, found.members])
    >>> bool(((mean > 0) == (np.abs(x) < 0.6)).all())
    True
    """
    model = Logistic(K, t, weight)
    ends: list[Posterior] = []
    n_iter = 0
    converged = True
    for number, (members, alpha) in enumerate(_starts(model, ends), start=1):
        if progress is not None:
            progress.at("search", number, 1 + 2 * (len(_FIRST_ALPHA) + 1), alike=False)
        sweeps = left(max_iter, n_iter, _SWEEPS) if len(members) else 0
        begun = _sweep(model, members, alpha, sweeps, progress)
        if begun.mode is None:
            continue  # no mode in float64: no start
        n_iter += begun.n_iter
        rest = max_iter if max_iter < 0 else max_iter - n_iter
        end = _move(model, begun.mode, tol, rest, progress)
        ends.append(end)
        n_iter += end.n_iter
        converged = end.converged
        if not converged:
            break
    best = max(ends, key=lambda end: end.log_evidence)
    return replace(best, n_iter=n_iter, converged=converged)


def _starts(model: Logistic, ends: list[Posterior]) -> Iterator[tuple[NDArray[np.intp], Floats]]:
    """Yield initial members and precisions; `ends` grows meanwhile."""
    yield np.empty(0, dtype=np.intp), np.empty(0)
    sums = model.weight @ model.K
    columns = independent(model.K, sums, _COLUMNS)
    if not len(columns):
        return
    unit = float(np.abs(model.K).max()) ** 2
    firsts = (*_FIRST_ALPHA, float(model.weight.sum()) ** -2)
    for first in firsts:
        yield columns, np.full(len(columns), first * unit)
    union = np.unique(np.concatenate([end.members for end in ends]))
    if not len(union):
        return
    # Searches may have chosen different copies of a row.
    union = union[independent(model.K[np.ix_(union, union)], sums[union], len(union))]
    for first in firsts:
        yield union, np.full(len(union), first * unit)


def independent(K: Floats, sums: Floats, most: int) -> NDArray[np.intp]:
    """Return up to `most` nearly independent columns, by pivoted Cholesky.

    Of equal pivots (for the rbf kernel all first ones) the column with the largest of `sums` is
    taken, so that the choice does not depend on the order of the examples. Columns with a remainder
    that is not positive (indefinite kernels) are left out.
    """
    remainder = K.diagonal().copy()
    enough = _INDEPENDENT * float(remainder.max())
    rows = np.empty((min(most, len(K)), len(K)))
    columns: list[int] = []
    for k in range(len(rows)):
        largest = np.flatnonzero(remainder == remainder.max())
        j = int(largest[sums[largest].argmax()])
        if not remainder[j] > max(enough, 0.0):
            break
        rows[k] = (K[:, j] - rows[:k, j] @ rows[:k]) / np.sqrt(remainder[j])
        remainder -= rows[k] ** 2
        remainder[j] = 0.0
        rows[k, remainder <= 0.0] = 0.0  # never chosen; might grow without bound
        columns.append(j)
    return np.array(columns, dtype=np.intp)


class _Begun(NamedTuple):
    mode: Mode | None
    n_iter: int


def _sweep(
    model: Logistic,
    members: NDArray[np.intp],
    alpha: Floats,
    most: int,
    progress: Progress | None,
) -> _Begun:
    """Change all precisions at once (MacKay), and drop undetermined functions."""
    w, bias = np.zeros(len(members)), model.prior_bias
    Phi = np.ascontiguousarray(model.K[:, members])
    made = 0
    while made < most and len(members):
        if progress is not None:
            progress.say(f"dropping functions: {len(members):,} left after {made} sweeps")
        peak = model.climb(Phi, alpha, w, bias, _ROUGH_GAIN)
        if peak is None:
            return _Begun(None, made)
        w, bias = peak.w, peak.bias
        root = peak.root_covariance()
        determined = 1.0 - alpha * np.einsum("ij,ij->j", root, root)
        least = _UNDETERMINED * max(float(determined.mean()), 0.0)  # below 0: rounding
        keep = (determined > least) & (w != 0.0)
        before, alpha = alpha[keep], determined[keep] / w[keep] ** 2
        members, w = members[keep], w[keep]
        made += 1
        if not keep.all():
            Phi = np.ascontiguousarray(Phi[:, keep])
        elif np.abs(np.log(alpha / before)).max() < np.log(_STEADY):
            break
    return _Begun(model.mode(members, alpha, w, bias), made)


def _move(
    model: Logistic, state: Mode, tol: float, max_iter: int, progress: Progress | None
) -> Posterior:
    """Change one precision at a time.

    Every move is judged by (28) at its new mode and made only if it gains `tol`. The search ends
    where no move gains more.
    """
    n_iter = 0
    while True:
        linear = SparseGaussian(model.K, state.b, model.linearised(state))
        linear.begin(state.posterior.members, state.posterior.alpha)
        saved = linear.save()
        barred = np.zeros(model.K.shape[1], dtype=bool)
        most = _BURST
        while True:
            made = burst(linear, tol, left(max_iter, n_iter, most), barred, progress)
            if not made:
                converged = linear.best(barred).gain < tol
                return replace(state.posterior, n_iter=n_iter, converged=converged)
            old = state.posterior
            trial = model.mode(linear.members, linear.alpha, linear.mean, old.bias)
            if trial is not None and trial.posterior.log_evidence >= old.log_evidence + tol:
                n_iter += len(made)
                state = trial
                break
            # The linearisation promised too much: make the best single move that gains.
            if len(made) == 1:
                barred[made[0]] = True
            most = 1
            linear.restore(saved)
