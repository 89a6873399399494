"""A certificate of optimality in extended precision, from public attributes and the raw rows.

    minimise  W(x) = 1/2 x'Kx - c'x   subject to  lo <= x <= hi,  sum of x over group e = target_e

It shares no code with supple. ``problems`` reads x and mu of every machine of a model from
``dual_coef_``, ``support_`` and ``intercept_``; ``certify`` measures how far they are from optimal.
Signs: g = Kx - c + mu[group]; optimal means g >= 0 at lo, g = 0 inside, g <= 0 at hi.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .kernels import WIDE

EPS = float(np.finfo(np.float64).eps)
WIDE_EPS = float(np.finfo(WIDE).eps)
SUMS = 2e-12  # part of its terms by which the sum over a group may miss its target
BAR = 1e-8  # KKT violation relative to the scale that an exact model may have


@dataclass(frozen=True)
class Problem:
    """One machine: its QP on the examples, and the x and mu that the model claims to be optimal."""

    K: np.ndarray
    size: np.ndarray  # of the terms of K
    c: np.ndarray
    groups: np.ndarray
    targets: np.ndarray
    lo: np.ndarray
    hi: np.ndarray
    x: np.ndarray
    mu: np.ndarray
    unit: float = 1.0  # decision values are (Kx + mu) / unit
    reading: float = 0.0  # roundings that reading x from dual_coef_ has cost
    factors: np.ndarray | None = None  # row of K to which each variable belongs, None: its own

    @property
    def member(self) -> np.ndarray:
        return np.arange(len(self.c)) if self.factors is None else self.factors


@dataclass(frozen=True)
class Certificate:
    """All violations are relative; see ``certify``."""

    scale: float
    best: float  # KKT violation at the best mu
    own: float  # at the mu that the intercept tells
    feasible: float  # violation of boxes and sums
    own_rounding: float  # of this certificate
    rounding: float  # of Kx in float64
    gap: float  # duality gap, absolute
    objective: float  # -W(x)
    objective_rounding: float  # of the terms of W in float64
    mu_middle: np.ndarray  # what the intercept must be in groups without margin variables, or NaN
    mu_width: np.ndarray  # of the intervals of optimal mu
    F: np.ndarray

    @property
    def allowed(self) -> float:
        """The bar, and what reading the attributes and this arithmetic lose.

        The float64 rounding of Kx is no excuse: a model that cannot measure its violation to the
        bar must not say that it is exact.
        """
        return BAR + self.own_rounding

    @property
    def violation(self) -> float:
        return max(self.best, self.feasible)


def margin_of(problem: Problem) -> float:
    """Half the width of the margin of a nu-SVC, 0 where that is no more than rounding."""
    half_width = (problem.mu[1] - problem.mu[0]) / 2
    return half_width if half_width > 16 * EPS * _sum_of_terms(problem) else WIDE(0)


def scale_of(problem: Problem, F) -> float:
    """To what violations are relative, as docs/theory.md says.

    The largest |c| over open boxes. Where c = 0 and there are two groups, half the width of the
    margin; else the largest |F|, or a share of its terms should they cancel. 1 if all of that is 0.
    """
    open_boxes = problem.lo < problem.hi
    value = np.abs(problem.c[open_boxes]).max(initial=WIDE(0))
    if value == 0 and len(problem.targets) == 2:
        value = margin_of(problem)
    if value == 0:
        largest = np.abs(F[problem.member[open_boxes]]).max(initial=WIDE(0))
        value = max(largest, WIDE(1e-6) * _sum_of_terms(problem))
    return value if value > 0 else WIDE(1)


def _sum_of_terms(problem: Problem) -> float:
    member = problem.member[problem.lo < problem.hi]
    diagonal = np.abs(np.diagonal(problem.K)[member]).max(initial=WIDE(0))
    return np.abs(problem.x).sum() * diagonal


def sides(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Masks (at lo, at hi). Bounds are products of up to three numbers, each product rounded.

    Where x has to be read by dividing through a sum (nu-SVC), it is as inexact as that sum.
    """
    share = SUMS if problem.reading else 4 * EPS
    slack = share * np.maximum(np.abs(problem.lo), np.abs(problem.hi))
    return problem.x - problem.lo <= slack, problem.hi - problem.x <= slack


def mu_intervals(problem: Problem, raw) -> tuple[np.ndarray, np.ndarray]:
    """Per group: mu >= -raw_i where x_i may grow, mu <= -raw_i where it may shrink."""
    at_lo, at_hi = sides(problem)
    grows, shrinks = ~at_hi, ~at_lo
    groups = len(problem.targets)
    low, high = np.full(groups, WIDE(-np.inf)), np.full(groups, WIDE(np.inf))
    np.maximum.at(low, problem.groups[grows], -raw[grows])
    np.minimum.at(high, problem.groups[shrinks], -raw[shrinks])
    return low, high


def middle(low, high) -> np.ndarray:
    """Return each interval's middle, its finite end if only one is finite, NaN if none is."""
    both = np.isfinite(low) & np.isfinite(high)
    one = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high, WIDE(np.nan)))
    with np.errstate(invalid="ignore"):
        return np.where(both, (low + high) / 2, one)


def infeasibility(p: Problem) -> float:
    """Largest violation of a box relative to its width, of a sum relative to its terms."""
    bound = np.maximum(np.abs(p.lo), np.abs(p.hi))
    outside = np.maximum(np.maximum(p.lo - p.x, p.x - p.hi), 0)
    wrong = outside > (SUMS if p.reading else 4 * EPS) * bound
    box = (outside[wrong] / np.maximum(bound[wrong], np.abs(p.x[wrong]))).max(initial=WIDE(0))
    sums = WIDE(0)
    for e, target in enumerate(p.targets):
        x = p.x[p.groups == e]
        mass = max(np.abs(x).sum(), abs(target))
        if mass > 0:
            sums = max(sums, abs(x.sum() - target) / mass)
    return float(max(box, sums))


def certify(p: Problem) -> Certificate:
    """Measure the KKT violation at the best mu and at the model's, and the duality gap."""
    member = p.member
    used = np.flatnonzero(p.x)
    folded = np.zeros(len(p.K), dtype=WIDE)
    np.add.at(folded, member[used], p.x[used])
    support = np.flatnonzero(folded)
    F = p.K[:, support] @ folded[support]
    terms = p.size[:, support] @ np.abs(folded[support])
    raw = F[member] - p.c
    scale = scale_of(p, F)
    low, high = mu_intervals(p, raw)
    with np.errstate(invalid="ignore"):
        best = max(WIDE(0), ((low - high) / 2).max())
        own = max(WIDE(0), (low - p.mu).max(), (p.mu - high).max())
        mu = middle(low, high)
    g = raw + np.where(np.isnan(mu), WIDE(0), mu)[p.groups]
    gap = np.maximum(g, 0) @ np.maximum(p.x - p.lo, 0) + np.maximum(-g, 0) @ np.maximum(
        p.hi - p.x, 0
    )
    at_lo, at_hi = sides(p)
    pinned = np.isin(np.arange(len(p.targets)), p.groups[~at_lo & ~at_hi])
    largest_terms = (terms[member] + np.abs(p.c)).max(initial=WIDE(0))
    return Certificate(
        scale=float(scale),
        best=float(best / scale),
        own=float(own / scale),
        feasible=infeasibility(p),
        own_rounding=float((8 * WIDE_EPS + p.reading * EPS) * largest_terms / scale),
        rounding=float(EPS * largest_terms / scale),
        gap=float(gap),
        objective=float(p.c @ p.x - folded @ F / 2),
        objective_rounding=float(EPS * (np.abs(p.c) @ np.abs(p.x) + np.abs(folded) @ terms / 2)),
        mu_middle=np.where(pinned, WIDE(np.nan), mu),
        mu_width=high - low,
        F=F,
    )
