"""A second opinion: Clarabel, an interior-point solver, made feasible and evaluated exactly."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from .certificate import Problem
from .kernels import WIDE


def better_objective(p: Problem) -> float | None:
    """-W at the feasible point that Clarabel leads to, in extended precision; None: it has none."""
    import clarabel

    free = np.flatnonzero(p.lo < p.hi)
    if len(free) == 0:
        return None
    member = p.member[free]
    P = np.asarray(p.K[np.ix_(member, member)], dtype=float)
    lo, hi, c = (np.asarray(v[free], dtype=float) for v in (p.lo, p.hi, p.c))
    peak = float(np.abs(P).max())
    width = float((hi - lo).max())
    if not np.isfinite(peak * width * width):
        return None
    live = [e for e in range(len(p.targets)) if (p.groups[free] == e).any()]
    sums = np.array([p.groups[free] == e for e in live], dtype=float)
    eye = sparse.identity(len(free), format="csc")
    A = sparse.vstack([sparse.csc_matrix(sums), eye, -eye], format="csc")
    b = np.r_[np.asarray(p.targets[live], dtype=float), hi, -lo]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    settings.max_iter = 100
    cones = [clarabel.ZeroConeT(len(live)), clarabel.NonnegativeConeT(2 * len(free))]
    P = sparse.triu(sparse.csc_matrix((P + P.T) / 2), format="csc")
    found = clarabel.DefaultSolver(P, -c, A, b, cones, settings).solve()
    x = np.array(found.x, dtype=WIDE)
    if len(x) != len(free) or not np.isfinite(x).all():
        return None
    return _objective(p, free, _made_feasible(p, free, x))


def _made_feasible(p: Problem, free, x) -> np.ndarray:
    """Clip to the boxes, and spread over the room that is left what the sums then miss."""
    lo, hi, groups = p.lo[free], p.hi[free], p.groups[free]
    x = np.clip(x, lo, hi)
    for e, target in enumerate(p.targets):
        own = groups == e
        missing = target - x[own].sum()
        room = hi[own] - x[own] if missing > 0 else x[own] - lo[own]
        if missing != 0 and room.sum() > 0:
            x[own] += missing * room / room.sum()
    return np.clip(x, lo, hi)


def _objective(p: Problem, free, x) -> float:
    folded = np.zeros(len(p.K), dtype=WIDE)
    np.add.at(folded, p.member[free], x)
    return float(p.c[free] @ x - folded @ (p.K @ folded) / 2)
