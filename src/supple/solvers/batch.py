"""The batch way: warm-started SMO finds the active set, the Newton polish makes it exact."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import cython_lapack, lapack

from supple._core import use_dpotrf

__all__ = ["factor_margin", "looks_definite", "margin_changes", "polish"]

use_dpotrf(cython_lapack.__pyx_capi__["dpotrf"])

# A change of the margin set costs two passes over the factor; beyond this many, and a share of its
# size, it is cheaper to factor anew.
_FEW_CHANGES = 8
_SHARE = 128
_SAMPLE = 512  # support vectors on which a kernel of unknown kind is tested


def margin_changes(head: Any) -> int:
    """Return how many variables joined or left the margin set since it was factored."""
    return len(np.setxor1d(head.inside(), head.margin, assume_unique=True))


def factor_margin(head: Any) -> None:
    """Factor the margin system anew (pivoted Cholesky) when many variables joined or left it."""
    inside = head.inside()
    if len(head.margin) and margin_changes(head) <= _FEW_CHANGES + len(inside) // _SHARE:
        return
    if not len(inside):
        return
    # Any order will do, but the end of the factor is where a removal is cheap, and the examples
    # that came first are mostly the first to go.
    inside = inside[::-1].copy()
    sigma = head.mean_diagonal(inside) or 1.0
    if head.build_factor(inside, sigma):
        return
    # Nearly singular. Variables that depend on others are left out by pivoting, and the polish
    # slides them to a bound. The transpose of a C array is what LAPACK calls an array; its lower
    # triangle is our upper one.
    groups = head.groups_of(inside)
    system = head.kernel_among(inside) + sigma * (groups[:, None] == groups[None, :])
    rounding = 8.0 * np.finfo(np.float64).eps * (len(inside) + 4) * float(system.diagonal().max())
    lower, pivots, rank, _ = lapack.dpstrf(system.T, lower=1, tol=rounding, overwrite_a=1)
    chosen = np.ascontiguousarray(inside[pivots[:rank] - 1])
    head.assign_factor(chosen, np.ascontiguousarray(lower.T[:rank, :rank]), sigma)


def polish(head: Any) -> None:
    """Make the state exact, to rounding if possible, and never worse than it was."""
    violation, scale, rounding, _ = head.audit()
    state = head.save()
    factor_margin(head)
    goal = min(4.0 * rounding, 1e-10 * scale)
    head.polish(goal, 16.0 * rounding, 100 + head.members // 10, False)
    # On a margin system that is singular to rounding the active set may wander.
    if head.audit()[0] > max(violation, 16.0 * rounding):
        head.restore(state)
        head.catch_up()


def looks_definite(head: Any) -> bool:
    """Whether the kernel matrix among (some) support vectors has no negative eigenvalue."""
    support = np.flatnonzero(head.x)[:_SAMPLE]
    if not len(support):
        return True
    eigenvalues = np.linalg.eigvalsh(head.kernel_among(support))
    return bool(eigenvalues[0] >= -1e-8 * max(abs(eigenvalues[-1]), abs(eigenvalues[0])))
