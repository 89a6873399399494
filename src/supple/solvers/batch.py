"""The batch way: warm-started SMO finds the active set, the Newton polish makes it exact."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import lapack

__all__ = ["factor_margin", "looks_definite", "polish"]

# Up to this many changes of the margin set, the factor is updated one by one.
_FEW_CHANGES = 32
_SAMPLE = 512  # support vectors on which a kernel of unknown kind is tested


def factor_margin(head: Any) -> None:
    """Factor the margin system anew (pivoted Cholesky) when many variables joined or left it."""
    inside = head.inside()
    changes = len(np.setxor1d(inside, head.margin, assume_unique=True))
    if changes <= max(_FEW_CHANGES, len(inside) // 8):
        return
    kernel = head.kernel_among(inside)
    groups = head.groups_of(inside)
    sigma = float(kernel.diagonal().mean()) or 1.0
    kernel += sigma * (groups[:, None] == groups[None, :])
    rounding = 8.0 * np.finfo(np.float64).eps * (len(inside) + 4)
    upper, pivots, rank, _ = lapack.dpstrf(kernel, tol=rounding * float(kernel.diagonal().max()))
    # The variables left out depend on the others; the polish slides them to a bound.
    chosen = np.ascontiguousarray(inside[pivots[:rank] - 1])
    head.assign_factor(chosen, np.ascontiguousarray(np.triu(upper[:rank, :rank])), sigma)


def polish(head: Any) -> None:
    """Make the state exact, to rounding if possible, and never worse than it was."""
    violation, scale, rounding, _ = head.audit()
    state = head.save()
    factor_margin(head)
    goal = min(4.0 * rounding, 1e-10 * scale)
    head.polish(goal, 16.0 * rounding, 100 + head.members // 10)
    # On a margin system that is singular to rounding the active set may wander.
    if head.audit()[0] > max(violation, 16.0 * rounding):
        head.restore(state)


def looks_definite(head: Any) -> bool:
    """Whether the kernel matrix among (some) support vectors has no negative eigenvalue."""
    support = np.flatnonzero(head.x)[:_SAMPLE]
    if not len(support):
        return True
    eigenvalues = np.linalg.eigvalsh(head.kernel_among(support))
    return bool(eigenvalues[0] >= -1e-8 * max(abs(eigenvalues[-1]), abs(eigenvalues[0])))
