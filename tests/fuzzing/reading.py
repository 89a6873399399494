"""Read the machines of a model from its public attributes: their QPs, x and mu."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from .certificate import Problem, certify
from .kernels import WIDE, diagonal, kernel_matrix

KINDS = {
    "SVC": "csvc",
    "SimpleSVC": "csvc",
    "BudgetSVC": "csvc",
    "SVIncrementalSVC": "csvc",
    "NuSVC": "nusvc",
    "SVR": "epssvr",
    "SVIncrementalSVR": "epssvr",
    "OneClassSVM": "oneclass",
    "SVDD": "svdd",
    "BudgetSVDD": "svdd",
}


@dataclass
class Held:
    """The examples that a model should hold, in the order of its ids_, and its parameters."""

    name: str  # of the estimator
    X: np.ndarray
    y: np.ndarray
    w: np.ndarray
    params: dict

    @property
    def kind(self) -> str:
        return KINDS[self.name]

    @property
    def labelled(self) -> bool:
        return self.kind in ("csvc", "nusvc")

    @property
    def kernel(self):
        return self.params["kernel"]

    def classes(self) -> list:
        """Labels of the classes that carry weight, sorted."""
        return sorted(set(self.y[self.w > 0].tolist()))

    def room(self) -> float:
        """How far inside the feasible region the problem is: negative means that it has none."""
        total = self.w.sum()
        if self.kind == "svdd":
            return self.params["C"] * total - 1.0
        if self.kind == "nusvc":
            rooms = [_nu_room(self, p) for p in splits(self)]
            return min(rooms, default=1.0)
        return 1.0 if total > 0 or self.kind != "oneclass" else -1.0


@dataclass(frozen=True)
class Split:
    """Who takes part in one machine, as +1 or -1, and where dual_coef_ has its coefficients."""

    members: np.ndarray
    t: np.ndarray
    rows: np.ndarray  # of dual_coef_, by member


def splits(held: Held) -> Iterator[Split]:
    """The machines of a classifier in scikit-learn's order, positive class first."""
    classes, y = held.classes(), held.y
    k = len(classes)
    if k < 2:
        return
    if held.params["multi_class"] == "ovr":
        for row, label in enumerate(classes[1:] if k == 2 else classes):
            yield Split(np.arange(len(y)), np.where(y == label, 1, -1), np.full(len(y), row))
        return
    for i in range(k):
        for j in range(i + 1, k):
            members = np.flatnonzero((y == classes[i]) | (y == classes[j]))
            first = y[members] == classes[i]
            if k == 2:
                yield Split(members, np.where(first, -1, 1), np.zeros(len(members), dtype=int))
            else:
                yield Split(members, np.where(first, 1, -1), np.where(first, j - 1, i))


def _nu_room(held: Held, split: Split) -> float:
    w = held.w[split.members]
    smaller = min(w[split.t > 0].sum(), w[split.t < 0].sum())
    return 2 * smaller / w.sum() - held.params["nu"]


def coefficients(model, n: int) -> np.ndarray:
    """dual_coef_ with a column for every example."""
    coef = model.dual_coef_
    coef = np.asarray(coef.toarray() if hasattr(coef, "toarray") else coef)
    full = np.zeros((len(coef), n), dtype=WIDE)
    full[:, model.support_] = coef
    return full


def problems(model, held: Held) -> list[Problem]:
    """Every machine of the model as its attributes tell it."""
    K, size = kernel_matrix(held.kernel, held.params, held.X, held.X)
    full, b = coefficients(model, len(held.X)), np.asarray(model.intercept_, dtype=WIDE).ravel()
    if not held.labelled:
        return [_single(held, K, size, full[0], b[0])]
    found = []
    for split, intercept in zip(splits(held), b, strict=True):
        m = split.members
        part = (K[np.ix_(m, m)], size[np.ix_(m, m)])
        found.append(_binary(held, split, *part, full[split.rows, m], intercept))
    return found


def _binary(held: Held, split: Split, K, size, coef, b) -> Problem:
    w = held.w[split.members].astype(WIDE)
    t = split.t.astype(WIDE)
    zero = np.zeros(len(t), dtype=WIDE)
    if held.kind == "csvc":
        weight = held.params.get("class_weight") or {}
        factor = np.array([weight.get(v, 1.0) for v in held.y[split.members].tolist()], dtype=WIDE)
        bound = held.params["C"] * w * factor
        if held.params.get("loss") == "squared_hinge":
            # alpha = 2 C xi has no bound: twice one that it never meets, as xi is best at w = 0.
            ridge = np.diag(np.divide(1, 2 * bound, out=zero.copy(), where=bound > 0))
            K, size, bound = K + ridge, size + ridge, 4 * np.sqrt(bound * bound.sum())
        lo, hi = np.where(t > 0, zero, -bound), np.where(t > 0, bound, zero)
        groups = np.zeros(len(t), dtype=int)
        return Problem(K, size, t, groups, zero[:1], lo, hi, coef, np.array([b]))
    lo, hi = np.where(t > 0, zero, -w), np.where(t > 0, w, zero)
    half = WIDE(held.params["nu"]) * w.sum() / 2
    groups, targets = (t < 0).astype(int), np.array([half, -half])
    # Coefficients and intercept come divided by half the width of the margin.
    total = coef[t > 0].sum()
    unit = half / total if total > 0 else WIDE(1)
    scaled = Problem(
        K, size, zero, groups, targets, lo, hi, coef * unit,
        np.array([b * unit - unit, b * unit + unit]), float(unit), reading=2.0,
    )  # fmt: skip
    if abs(unit - 1) > 1e-9:
        return scaled
    plain = replace(scaled, mu=np.array([b, b]))  # there is no margin to scale to
    return min(scaled, plain, key=lambda p: certify(p).own)


def _single(held: Held, K, size, coef, b) -> Problem:
    n, w = len(held.w), held.w.astype(WIDE)
    zero, groups = np.zeros(n, dtype=WIDE), np.zeros(n, dtype=int)
    if held.kind == "epssvr":
        t, bound = held.y.astype(WIDE), held.params["C"] * w
        epsilon = WIDE(held.params["epsilon"])
        return Problem(
            K, size, np.r_[t - epsilon, t + epsilon], np.r_[groups, groups], zero[:1],
            np.r_[zero, -bound], np.r_[bound, zero],
            np.r_[np.maximum(coef, 0), np.minimum(coef, 0)], np.array([b]),
            factors=np.r_[np.arange(n), np.arange(n)],
        )  # fmt: skip
    if held.kind == "oneclass":
        target = np.array([WIDE(held.params["nu"]) * w.sum()])
        return Problem(K, size, zero, groups, target, zero, w, coef, np.array([b]))
    hi = held.params["C"] * w
    # decision = 2 (Kx + mu) - k(z, z)
    return Problem(
        K, size, np.diagonal(K) / 2, groups, np.ones(1, dtype=WIDE), zero, hi,
        coef / 2, np.array([b / 2]), 0.5,
    )  # fmt: skip


def decisions(model, held: Held, Z) -> tuple[np.ndarray, np.ndarray]:
    """Decision values at Z, one column per machine, by the attributes; and the size of their terms.

    For one-vs-one machines as ``decision_function_shape="ovo"`` gives them.
    """
    K, size = kernel_matrix(held.kernel, held.params, Z, held.X)
    full, b = coefficients(model, len(held.X)), np.asarray(model.intercept_, dtype=WIDE).ravel()
    if held.labelled:
        columns, terms = [], []
        for split, intercept in zip(splits(held), b, strict=True):
            x = full[split.rows, split.members]
            columns.append(K[:, split.members] @ x + intercept)
            terms.append(size[:, split.members] @ np.abs(x) + abs(intercept))
        return np.array(columns).T, np.array(terms).T
    f, terms = K @ full[0] + b[0], size @ np.abs(full[0]) + abs(b[0])
    if held.kind == "svdd":
        kzz = diagonal(held.kernel, held.params, Z)
        f, terms = f - kzz, terms + np.abs(kzz)
    return f[:, None], terms[:, None]
