"""Slow, dense solver of the quadratic program behind every machine of supple, and its measures.

    minimise  W(x) = 1/2 x'Kx - c'x   subject to  lo <= x <= hi,  sum of x over group e = target_e

Nothing here imports supple. ``solve`` runs a primal-dual interior-point method (Mehrotra's
predictor and corrector), which copes with a singular K because the barrier makes the system
definite, and finishes with a primal active-set method that puts variables exactly on their bounds
and the gradient to rounding level.

Signs: g = Kx - c + mu[group]; optimal means g >= 0 at lo, g = 0 inside, g <= 0 at hi.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh
from threadpoolctl import ThreadpoolController

EPS = np.finfo(np.float64).eps


class InfeasibleQPError(ValueError):
    """The box and the group sums contradict each other."""


@dataclass(frozen=True)
class QP:
    """The data of one quadratic program; ``groups[i]`` is the index of variable i's equation."""

    K: np.ndarray
    c: np.ndarray
    groups: np.ndarray
    targets: np.ndarray
    lo: np.ndarray
    hi: np.ndarray

    @property
    def scale(self) -> float:
        """Scale of the linear term (0 for nu-SVC and one-class, which have none)."""
        return float(np.abs(self.c).max(initial=0.0))

    def sums(self, x: np.ndarray) -> np.ndarray:
        return np.bincount(self.groups, weights=x, minlength=len(self.targets))

    def solve(self) -> Solution:
        return solve(self.K, self.c, self.groups, self.targets, self.lo, self.hi)


@dataclass(frozen=True)
class Solution:
    """Optimal x, mu with the interval of all optimal values, -W(x), relative KKT violation.

    ``scale``, to which ``kkt`` is relative, is max|c|, or max|Kx| when c = 0.
    """

    x: np.ndarray
    mu: np.ndarray
    objective: float
    kkt: float
    mu_low: np.ndarray
    mu_high: np.ndarray
    scale: float


# --------------------------------------------------------------------------- measures


def gradient(K, c, x) -> np.ndarray:
    """Kx - c, accumulated in extended precision where the platform has it."""
    used = np.flatnonzero(x)
    wide = K[:, used].astype(np.longdouble) @ x[used].astype(np.longdouble)
    return np.asarray(wide - c, dtype=np.float64)


def objective(K, c, x) -> float:
    """-W(x) = c'x - 1/2 x'Kx: the dual objective, larger is better."""
    x = np.asarray(x, dtype=np.longdouble)
    used = np.flatnonzero(x)
    inner = K[np.ix_(used, used)].astype(np.longdouble) @ x[used]
    return float(np.asarray(c, dtype=np.longdouble) @ x - x[used] @ inner / 2)


def rounding(K, c, x) -> float:
    """Bound on the gradient error from rounding K and x to float64: no solver can promise less."""
    return EPS * float(np.abs(K).max(initial=0.0) * np.abs(x).sum() + np.abs(c).max(initial=0.0))


def scale_of(K, c, x) -> float:
    """max|c|, or max|Kx| for problems without a linear term."""
    scale = float(np.abs(c).max(initial=0.0)) or float(np.abs(gradient(K, c, x)).max(initial=0.0))
    noise = rounding(K, c, x)
    return scale if scale > 8 * noise else noise / EPS or 1.0  # Kx = 0: the terms of its sums


def sides(x, lo, hi) -> tuple[np.ndarray, np.ndarray]:
    """Masks (at lo, at hi); a zero-width box is both. A few roundings of x count as equal."""
    slack = 1e-12 * (hi - lo) + 4 * EPS * np.maximum(np.abs(lo), np.abs(hi))
    slack += 2 * EPS * np.abs(x).max(initial=0.0)
    return x - lo <= slack, hi - x <= slack


def mu_intervals(qp: QP, x, raw) -> tuple[np.ndarray, np.ndarray]:
    """Per group: mu >= -raw_i where x_i may grow, mu <= -raw_i where it may shrink."""
    at_lo, at_hi = sides(x, qp.lo, qp.hi)
    low, high = np.full(len(qp.targets), -np.inf), np.full(len(qp.targets), np.inf)
    np.maximum.at(low, qp.groups[~at_hi], -raw[~at_hi])
    np.minimum.at(high, qp.groups[~at_lo], -raw[~at_lo])
    return low, high


def middle(low, high) -> np.ndarray:
    """Return each interval's middle, its finite end if only one is finite, 0 if none is."""
    ends = np.stack([low, high])
    finite = np.isfinite(ends)
    total = np.where(finite, ends, 0.0).sum(axis=0)
    return total / np.maximum(finite.sum(axis=0), 1)


def kkt_violation(K, c, groups, targets, lo, hi, x, mu=None, scale=None) -> float:
    """Largest violation of the optimality conditions, relative to the scale.

    With ``mu`` the gradient is judged at that mu, else at the best one. Box and sums count too,
    relative to the largest variable.
    """
    qp = QP(K, c, groups, np.atleast_1d(np.asarray(targets, dtype=float)), lo, hi)
    raw = gradient(K, c, x)
    low, high = mu_intervals(qp, x, raw)
    mu = middle(low, high) if mu is None else np.atleast_1d(mu)
    with np.errstate(invalid="ignore"):
        dual = max(np.max(low - mu, initial=0.0), np.max(mu - high, initial=0.0), 0.0)
    size = max(np.abs(x).max(initial=0.0), np.abs(qp.targets).max(initial=0.0), 1e-300)
    size = max(size, 1e-4 * (hi - lo).max(initial=0.0))  # a solution near 0 in a large box
    box = max(float((lo - x).max(initial=0.0)), float((x - hi).max(initial=0.0)), 0.0)
    sums = float(np.abs(qp.sums(x) - qp.targets).max(initial=0.0))
    scale = scale_of(K, c, x) if scale is None else scale
    return max(dual / scale, box / size, sums / size)


# --------------------------------------------------------------------------- solver


@ThreadpoolController().wrap(limits=1)  # BLAS threads of parallel test processes would collide
def solve(K, c, groups, targets, lo, hi) -> Solution:
    """Solve the program to rounding accuracy; ArithmeticError rather than a poor answer."""
    c, targets, lo, hi = (np.array(a, dtype=float, ndmin=1) for a in (c, targets, lo, hi))
    qp = QP(np.asarray(K, dtype=np.float64), c, np.asarray(groups, dtype=np.intp), targets, lo, hi)
    x, free = _presolve(qp)
    if free.any():
        rest = ~free
        part = QP(
            np.ascontiguousarray(qp.K[np.ix_(free, free)]),
            c[free] - qp.K[np.ix_(free, rest)] @ x[rest],
            qp.groups[free],
            targets - np.bincount(qp.groups[rest], weights=x[rest], minlength=len(targets)),
            lo[free],
            hi[free],
        )
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # judged by the result
            x[free] = _interior_point(part)
            x = _active_set(qp, x, free)
    raw = gradient(qp.K, c, x)
    low, high = mu_intervals(qp, x, raw)
    kkt = kkt_violation(qp.K, c, qp.groups, targets, lo, hi, x)
    scale = scale_of(qp.K, c, x)
    if kkt > 1e-11 + 8 * rounding(qp.K, c, x) / scale:
        raise ArithmeticError(f"the oracle failed: KKT violation {kkt:.2e}")
    return Solution(x, middle(low, high), objective(qp.K, c, x), kkt, low, high, scale)


def _presolve(qp: QP) -> tuple[np.ndarray, np.ndarray]:
    """Fix variables without freedom: zero-width boxes, groups with a sum only a corner reaches."""
    if np.any(qp.lo > qp.hi):
        raise InfeasibleQPError("lo > hi")
    x, free = qp.lo.copy(), qp.hi > qp.lo
    for e, target in enumerate(qp.targets):
        member = qp.groups == e
        least, most = qp.lo[member].sum(), qp.hi[member].sum()
        slack = 1e-12 * max(abs(least), abs(most), abs(target))
        if target < least - slack or target > most + slack:
            raise InfeasibleQPError(f"group {e}: the sum {target} is outside [{least}, {most}]")
        if target >= most - slack:
            x[member], free[member] = qp.hi[member], False
        elif target <= least + slack:
            x[member], free[member] = qp.lo[member], False
    return x, free


def _definite_factor(H):
    """Cholesky factor of H, shifted by the least power of ten that makes it succeed."""
    shift = 0.0
    peak = float(np.diagonal(H).max())
    for _ in range(20):
        try:
            return cho_factor(H + shift * np.eye(len(H)), lower=True, check_finite=False)
        except LinAlgError:
            shift = 10 * shift if shift else EPS * peak
    raise ArithmeticError("no shift makes the barrier system definite")


def _interior_point(qp: QP, max_iter: int = 120) -> np.ndarray:
    """Mehrotra's predictor-corrector: a point near the analytic centre of the optimal face."""
    n, width = len(qp.c), qp.hi - qp.lo
    A = np.zeros((len(qp.targets), n))
    A[qp.groups, np.arange(n)] = 1.0
    live = A.any(axis=1)
    A, b = A[live], qp.targets[live]
    least, most = A @ qp.lo, A @ qp.hi
    x = qp.lo + width * (A.T @ ((b - least) / (most - least)))  # meets the sums, strictly inside
    mu = np.zeros(len(b))
    start = np.abs(qp.K @ x - qp.c).max() + 1e-8 * (np.abs(qp.K).max() * width.max() + 1e-300)
    zl, zu = np.full(n, start), np.full(n, start)
    best, best_gap = x, np.inf
    for _ in range(max_iter):
        sl, su = np.maximum(x - qp.lo, 1e-300), np.maximum(qp.hi - x, 1e-300)
        dual = qp.K @ x - qp.c + A.T @ mu - zl + zu
        gap = float(sl @ zl + su @ zu)
        value = abs(objective(qp.K, qp.c, x)) + 1e-300
        if gap < best_gap and np.all(np.isfinite(x)):
            best, best_gap = x.copy(), gap
        if gap <= 1e-15 * value and np.abs(dual).max() <= 1e-14 * (start + np.abs(qp.c).max()):
            break
        try:
            factor = _definite_factor(qp.K + np.diag(zl / sl + zu / su))
            step = _mehrotra_step(qp, A, b, factor, (x, mu, zl, zu, sl, su, dual))
        except (ArithmeticError, ValueError, LinAlgError):
            break
        if step is None:
            break
        x, mu, zl, zu = step
    return best


def _mehrotra_step(qp, A, b, factor, point):
    """One predictor and corrector; None when no progress is possible any more."""
    x, mu, zl, zu, sl, su, dual = point
    solved_A = cho_solve(factor, A.T, check_finite=False)
    schur = A @ solved_A
    primal = b - A @ x

    def direction(target_l, target_u):
        # sl zl + zl dx + sl dzl = target_l and su zu - zu dx + su dzu = target_u, eliminated
        rhs = -dual + (target_l - sl * zl) / sl - (target_u - su * zu) / su
        y = cho_solve(factor, rhs, check_finite=False)
        dmu = np.linalg.solve(schur, A @ y - primal)
        dx = y - solved_A @ dmu
        return dx, dmu, (target_l - sl * zl - zl * dx) / sl, (target_u - su * zu + zu * dx) / su

    def longest(pairs):
        room = [(-v[d < 0] / d[d < 0]).min(initial=np.inf) for v, d in pairs]
        return min(room)

    gap = (sl @ zl + su @ zu) / (2 * len(x))
    dx, _, dzl, dzu = direction(0.0, 0.0)
    step = min(1.0, longest([(sl, dx), (su, -dx), (zl, dzl), (zu, dzu)]))
    after = ((sl + step * dx) @ (zl + step * dzl) + (su - step * dx) @ (zu + step * dzu)) / (
        2 * len(x)
    )
    centre = gap * (after / gap) ** 3
    dx, dmu, dzl, dzu = direction(centre - dx * dzl, centre + dx * dzu)
    step = min(1.0, 0.995 * longest([(sl, dx), (su, -dx), (zl, dzl), (zu, dzu)]))
    if not (np.isfinite(step) and np.all(np.isfinite(dx)) and step > 1e-10):
        return None
    return x + step * dx, mu + step * dmu, zl + step * dzl, zu + step * dzu


def _snap(qp: QP, x, free) -> np.ndarray:
    """Guess the free set at an interior point and move everything else to its bound."""
    raw = gradient(qp.K, qp.c, x)
    width = np.where(free, qp.hi - qp.lo, 1.0)
    inside = np.minimum(x - qp.lo, qp.hi - x) / width
    margin = np.zeros(len(x), dtype=bool)
    for e in range(len(qp.targets)):
        member = free & (qp.groups == e)
        if not member.any():
            continue
        mu = -np.average(raw[member], weights=np.maximum(inside[member], 1e-300))
        price = np.abs(raw + mu) / max(np.abs(raw).max(), 1e8 * rounding(qp.K, qp.c, x), 1e-300)
        margin |= member & (inside > 1e-11) & (inside >= price * 1e-3)
        if not (margin & member).any():
            margin[np.flatnonzero(member)[np.argmax(inside[member])]] = True
    outside = free & ~margin
    upper = qp.hi - x < x - qp.lo
    x[outside] = np.where(upper, qp.hi, qp.lo)[outside]
    return margin


def _newton(qp: QP, x, S, noise, *, polish=False):
    """Minimiser over the free variables S, as (direction, longest sensible step).

    Directions with slope but without curvature come alone, with an infinite step: they end at a
    bound. ``polish`` leaves the nearly flat directions alone instead.
    """
    groups = qp.groups[S]
    A = (groups[None, :] == np.unique(groups)[:, None]).astype(float)
    counts = A.sum(axis=1)

    def project(v):
        return v - A.T @ ((A @ v).T / counts).T

    short = (qp.targets - qp.sums(x))[np.unique(groups)]
    repair = A.T @ (short / counts)
    K = qp.K[np.ix_(S, S)]
    slope = project(-gradient(qp.K, qp.c, x)[S] - K @ repair)
    values, vectors = eigh(project(project(K).T))
    along = vectors.T @ slope
    along[np.abs(along) <= noise] = 0.0
    flat = values <= len(S) * EPS * max(values[-1], np.abs(K).max())
    if polish:
        flat = values <= 1e-10 * values[-1]
    elif np.any(along[flat]):
        return project(vectors[:, flat] @ along[flat]), np.inf
    step = np.divide(along, values, out=np.zeros_like(along), where=~flat)
    return repair + project(vectors @ step), 1.0


def _advance(qp: QP, x, S, direction, longest) -> tuple[bool, np.ndarray]:
    """Move x along the direction until a bound: was the whole step possible, who met a bound."""
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(direction > 0, qp.hi[S] - x[S], x[S] - qp.lo[S]) / np.abs(direction)
    room[direction == 0] = np.inf
    step = min(longest, room.min())
    x[S] = np.clip(x[S] + step * direction, qp.lo[S], qp.hi[S])
    met = S[room <= step * (1 + 1e-12)]
    met = met[np.minimum(x[met] - qp.lo[met], qp.hi[met] - x[met]) <= 1e-9 * (qp.hi - qp.lo)[met]]
    x[met] = np.where(qp.hi[met] - x[met] < x[met] - qp.lo[met], qp.hi[met], qp.lo[met])
    return step == longest, met


def _active_set(qp: QP, x, free) -> np.ndarray:
    """Primal active-set method from a nearly optimal point, until nothing gets better."""
    x = x.copy()
    scale = qp.scale or rounding(qp.K, qp.c, x) / EPS or 1.0  # fixed: max|Kx| may fall to 0
    margin = _snap(qp, x, free)
    best, best_kkt, idle = x.copy(), np.inf, 0
    for count in range(20 * len(x) + 100):
        noise = 4 * rounding(qp.K, qp.c, x)
        S = np.flatnonzero(margin)
        full = True
        if len(S):
            full, met = _advance(qp, x, S, *_newton(qp, x, S, noise))
            margin[met] = False
        kkt = kkt_violation(qp.K, qp.c, qp.groups, qp.targets, qp.lo, qp.hi, x, scale=scale)
        if kkt < best_kkt:
            best, best_kkt = x.copy(), kkt
        if kkt <= max(1e-14 * (qp.scale > 0), noise / scale) or idle > 3:
            break
        entered = full and _enter(qp, x, free, margin, bland=count > 4 * len(x))
        idle = 0 if entered or not full else idle + 1
    return _polish(qp, best, best_kkt, scale)


def _polish(qp: QP, x, kkt, scale) -> np.ndarray:
    """Newton steps below the noise level of the active-set method, kept only when they help."""
    for _ in range(3):
        S = np.flatnonzero((x > qp.lo) & (x < qp.hi))
        if not len(S):
            break
        direction, _ = _newton(qp, x, S, 0.0, polish=True)
        better = x.copy()
        better[S] += direction
        inside = np.all((better > qp.lo) & (better < qp.hi) | (better == x))
        now = kkt_violation(qp.K, qp.c, qp.groups, qp.targets, qp.lo, qp.hi, better, scale=scale)
        if not inside or now >= kkt:
            break
        x, kkt = better, now
    return x


def _enter(qp: QP, x, free, margin, *, bland) -> bool:
    """Free the variable that violates most (``bland``: the first, against cycling).

    A group without free variables gives its most violating pair, or whoever can mend its sum.
    """
    raw, short = gradient(qp.K, qp.c, x), qp.targets - qp.sums(x)
    at_lo, at_hi = sides(x, qp.lo, qp.hi)
    noise, mass = rounding(qp.K, qp.c, x), EPS * np.abs(x).sum()
    wrong = np.zeros(len(x))
    for e in range(len(qp.targets)):
        member = free & (qp.groups == e)
        up = np.where(member & ~at_hi, raw, np.inf)
        down = np.where(member & ~at_lo, raw, -np.inf)
        if (margin & member).any():
            away = (raw - raw[margin & member].mean()) * np.where(at_lo, -1.0, 1.0)
            wrong = np.where(member & ~margin & (away > noise), away, wrong)
        elif member.any() and down.max() - up.min() > noise:
            margin[[np.argmin(up), np.argmax(down)]] = True
            return True
        elif member.any() and abs(short[e]) > 8 * mass:
            margin[np.argmin(up) if short[e] > 0 else np.argmax(down)] = True
            return True
    if not wrong.any():
        return False
    margin[np.flatnonzero(wrong)[0] if bland else np.argmax(wrong)] = True
    return True
