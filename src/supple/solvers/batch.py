"""The batch way: warm-started SMO finds the active set, the Newton polish makes it exact."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import cython_lapack, lapack

from supple._core import use_dpotrf

__all__ = ["factor_margin", "looks_definite", "polish"]

use_dpotrf(cython_lapack.__pyx_capi__["dpotrf"])

_SAMPLE = 512  # support vectors on which a kernel of unknown kind is tested


def factor_margin(head: Any) -> None:
    """Factor the margin system anew (pivoted Cholesky) when many variables joined or left it."""
    if head.nearly_factored or head.build_factor():
        return
    inside = head.inside()
    if not len(inside):
        return
    # Nearly singular. Variables that depend on others are left out by pivoting, and the polish
    # slides them to a bound. The transpose of a C array is what LAPACK calls an array; its lower
    # triangle is our upper one.
    sigma = head.mean_diagonal(inside) or 1.0
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
