"""The batch way: warm-started SMO finds the active set, the Newton polish makes it exact."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import lapack

__all__ = ["factor_margin", "polish", "smo_tolerance"]

# Up to this many changes of the margin set, the factor is updated one by one.
_FEW_CHANGES = 32


def smo_tolerance(head: Any, tol: float) -> float:
    """Return the stopping gap of SMO: LIBSVM's, but relative where the problem's scale is small."""
    return tol * min(1.0, float(head.scale()))


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
    upper, pivots, rank, _ = lapack.dpstrf(kernel, tol=1e-12 * float(kernel.diagonal().max()))
    # The variables left out depend on the others; the polish slides them to a bound.
    chosen = np.ascontiguousarray(inside[pivots[:rank] - 1])
    head.assign_factor(chosen, np.ascontiguousarray(np.triu(upper[:rank, :rank])), sigma)


def polish(head: Any, goal: float, rounds: int = 60) -> tuple[bool, bool]:
    """Make the state exact; return (reached the goal, the kernel turned out to be indefinite)."""
    factor_margin(head)
    finished, indefinite, _ = head.polish(goal * float(head.scale()), rounds)
    return finished, indefinite
