"""Drive a model of supple, keep an own record of what it should hold, and audit it.

The audit reads only the public attributes, rebuilds the dual variables, and compares with the
oracle on the recorded examples: KKT violation, dual objective, decision values.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import oracle

KKT_BAR = 1e-8  # relative to the scale of c
OBJECTIVE_BAR = 1e-9  # relative
DECISION_BAR = 1e-6

KERNELS: dict[str, dict] = {
    "linear": {},
    "rbf": {"gamma": 0.5},
    "poly": {"gamma": 0.5, "degree": 3, "coef0": 1.0},
    "laplacian": {"gamma": 0.5},
    "matern32": {"gamma": 0.5},
    "matern52": {"gamma": 0.5},
}


def kernel_function(kernel: str, gamma=0.5, degree=3, coef0=0.0) -> Callable:
    """Return the oracle's kernel with the estimator's parameter names."""
    if kernel == "linear":
        return oracle.linear
    if kernel == "poly":
        return oracle.poly(gamma, degree, coef0)
    return getattr(oracle, kernel)(gamma)


@dataclass(frozen=True)
class Machine:
    """One of the problems: how to build its QP and how to read its model."""

    name: str
    builder: str
    defaults: dict

    def qp(self, K, y, w, params) -> oracle.QP:
        if self.name == "SVC":
            build = oracle.csvc if params.get("loss", "hinge") == "hinge" else oracle.squared_csvc
            return build(K, y, params["C"] * w)
        if self.name == "NuSVC":
            return oracle.nusvc(K, y, params["nu"], w)
        if self.name == "SVR":
            return oracle.epssvr(K, y, params["C"] * w, params["epsilon"])
        if self.name == "OneClassSVM":
            return oracle.oneclass(K, params["nu"], w)
        return oracle.svdd(K, params["C"] * w)

    def read(self, model, qp: oracle.QP) -> tuple[np.ndarray, np.ndarray]:
        """Rebuild (x, mu) of the dual from dual_coef_ and intercept_."""
        coef = model.dual_coef_
        coef = np.asarray(coef.toarray() if hasattr(coef, "toarray") else coef, dtype=float)
        b = float(np.ravel(model.intercept_)[0])
        full = np.zeros(len(model.ids_))
        full[model.support_] = coef.ravel()
        if self.name == "SVR":
            return np.r_[np.maximum(full, 0), np.minimum(full, 0)], np.array([b])
        if self.name == "SVDD":  # decision = 2 (Kx + mu) - k(z, z)
            return full / 2, np.array([b / 2])
        if self.name == "NuSVC":  # coefficients and intercept come divided by r
            r = qp.targets[0] / full[qp.groups == 0].sum()
            return full * r, np.array([b * r - r, b * r + r])
        return full, np.array([b])


MACHINES = {
    "SVC": Machine("SVC", "csvc", {"C": 1.0, "loss": "hinge"}),
    "squared SVC": Machine("SVC", "csvc", {"C": 1.0, "loss": "squared_hinge"}),
    "NuSVC": Machine("NuSVC", "nusvc", {"nu": 0.5}),
    "SVR": Machine("SVR", "epssvr", {"C": 1.0, "epsilon": 0.1}),
    "OneClassSVM": Machine("OneClassSVM", "oneclass", {"nu": 0.4}),
    "SVDD": Machine("SVDD", "svdd", {"C": 0.2}),
}


@dataclass
class Audit:
    """What one audit measured, all relative but ``sklearn``.

    The floors are what rounding K and x to float64 alone may cause; they count for something only
    where C max|K| is very large or the objective nearly 0.
    """

    kkt: float
    kkt_floor: float
    own_floor: float  # the same relative to what the model calls the scale
    objective: float
    objective_floor: float
    decision: float
    decision_floor: float
    sklearn: float = 0.0
    nothing: bool = False  # c = 0 and Kx = 0: a relative violation has no meaning


@dataclass
class Outcome:
    """What a model answers; ``floor`` is the part of the objective that rounding may change."""

    feasible: bool
    objective: float = 0.0
    floor: float = 0.0
    f: np.ndarray | None = None

    def assert_same(self, other: Outcome) -> None:
        assert self.feasible == other.feasible
        allowed = OBJECTIVE_BAR * abs(self.objective) + self.floor
        assert abs(self.objective - other.objective) <= allowed
        assert (self.f is None) == (other.f is None)
        if self.f is not None:
            size = max(1.0, np.abs(self.f).max())
            np.testing.assert_allclose(other.f, self.f, atol=DECISION_BAR * size, rtol=0)


@dataclass
class Ledger:
    """A model, the examples it should hold, and its parameters."""

    machine: Machine
    kernel: str
    params: dict
    kernel_params: dict
    model: object = None
    held: dict = field(default_factory=dict)  # id -> (x, y, weight)

    @classmethod
    def new(cls, name: str, kernel: str, kernel_params=None, **params) -> Ledger:
        import supple

        machine = MACHINES[name]
        ledger = cls(
            machine,
            kernel,
            machine.defaults | params,
            dict(KERNELS[kernel] if kernel_params is None else kernel_params),
        )
        ledger.model = getattr(supple, machine.name)(
            kernel=kernel, **ledger.params, **ledger.kernel_params
        )
        return ledger

    # ------------------------------------------------------------------- operations

    def _target(self, y) -> dict:
        return {"y": y} if self.machine.name in ("SVC", "NuSVC", "SVR") else {}

    def _record(self, X, y, w, ids) -> None:
        w = np.ones(len(X)) if w is None else w
        for key, row, target, weight in zip(ids, X, y, w, strict=True):
            self.held[int(key)] = (np.array(row, dtype=float), float(target), float(weight))

    def fit(self, X, y, w=None) -> Ledger:
        self.model.fit(X, **self._target(y), sample_weight=w)
        self.held.clear()
        self._record(X, y, w, range(len(X)))
        return self

    def add(self, X, y, w=None, ids=None) -> list[int]:
        """partial_fit; returns the ids of the new examples."""
        with quiet_until_ready():
            self.model.partial_fit(X, **self._target(y), sample_weight=w, ids=ids)
        if ids is None:
            ids = sorted(set(self.model.ids_.tolist()) - set(self.held))
        self._record(X, y, w, ids)
        return [int(i) for i in ids]

    def forget(self, ids) -> None:
        with quiet_until_ready():
            self.model.forget(ids)
        for i in np.atleast_1d(ids):
            del self.held[int(i)]

    def reweight(self, ids, w) -> None:
        with quiet_until_ready():
            self.model.reweight(ids, w)
        w = np.broadcast_to(w, np.shape(np.atleast_1d(ids)))
        for i, weight in zip(np.atleast_1d(ids), w, strict=True):
            x, y, _ = self.held[int(i)]
            self.held[int(i)] = (x, y, float(weight))

    def retune(self, **values) -> None:
        self.model.retune(**values)
        for name, value in values.items():
            (self.params if name in self.params else self.kernel_params)[name] = value

    # ------------------------------------------------------------------- what should be

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """X, y, w in the order of the model's ids_."""
        ids = self.model.ids_.tolist()
        assert len(ids) == len(set(ids))
        assert set(ids) == set(self.held)
        X, y, w = zip(*(self.held[i] for i in ids), strict=True)
        return np.array(X), np.array(y), np.array(w)

    @property
    def k(self) -> Callable:
        return kernel_function(self.kernel, **self.kernel_params)

    def qp(self) -> oracle.QP:
        X, y, w = self.arrays()
        if self.machine.name in ("SVC", "NuSVC"):
            y = np.where(y == max(y[w > 0]), 1.0, -1.0)
        return self.machine.qp(self.k(X, X), y, w, self.params)

    def feasible(self, held=None) -> bool:
        """Whether the examples (default: those held) make a machine at all."""
        held = self.held if held is None else held
        weights: dict[float, float] = {}
        for _, y, w in held.values():
            weights[y] = weights.get(y, 0.0) + w
        total = sum(weights.values())
        if self.machine.name in ("SVC", "NuSVC"):
            present = [w for w in weights.values() if w > 0]
            if len(present) < 2:
                return False
            return "nu" not in self.params or self.params["nu"] * total / 2 <= min(present)
        return total * self.params["C"] >= 1 if self.machine.name == "SVDD" else total > 0

    # ------------------------------------------------------------------- audit

    def decide(self, Z) -> np.ndarray:
        return (
            self.model.predict(Z) if self.machine.name == "SVR" else self.model.decision_function(Z)
        )

    def kkt(self, qp=None, scale=None) -> float:
        """KKT violation recomputed from dual_coef_ and intercept_, relative to the scale of c."""
        qp = self.qp() if qp is None else qp
        x, mu = self.machine.read(self.model, qp)
        return oracle.kkt_violation(qp.K, qp.c, qp.groups, qp.targets, qp.lo, qp.hi, x, mu, scale)

    def audit(self, probe, *, sklearn: bool = False) -> Audit:
        """Compare with the oracle (and scikit-learn) at the probe points."""
        qp = self.qp()
        best = qp.solve()
        x, _ = self.machine.read(self.model, qp)
        own = oracle.objective(qp.K, qp.c, x)
        apart = max(abs(own - best.objective), abs(self.model.dual_objective_ - best.objective))
        value = max(abs(best.objective), 1e-300)
        X, y, w = self.arrays()
        f = oracle.decision(
            self.machine.builder,
            self.k(probe, X),
            best,
            np.diagonal(self.k(probe, probe)) if self.machine.name == "SVDD" else None,
        )
        got = self.decide(probe)
        size = max(1.0, np.abs(f).max())
        unique = np.all(best.mu_high - best.mu_low <= 1e-9 * best.scale)
        other = peer(self, X, y, w, probe) if sklearn and unique else None
        noise = 8 * oracle.rounding(qp.K, qp.c, best.x)
        return Audit(
            kkt=self.kkt(qp, best.scale),
            kkt_floor=noise / best.scale,
            own_floor=noise
            / (0.5 * (best.mu[1] - best.mu[0]) if len(best.mu) == 2 else best.scale),
            objective=apart / value,
            objective_floor=objective_floor(qp, best.x) / value,
            decision=float(np.abs(got - f).max() / size),
            decision_floor=noise / size,
            sklearn=0.0 if other is None else float(np.abs(got - other).max()),
            nothing=qp.scale == 0 and bool(np.abs(qp.K @ best.x).max() <= 8 * noise),
        )

    def outcome(self, probe) -> Outcome:
        """What the model answers now, for comparison with another way to the same examples."""
        if not self.feasible():
            return Outcome(False)
        if self.machine.name == "NuSVC" and self.flat():
            return Outcome(True)
        qp = self.qp()
        floor = objective_floor(qp, self.machine.read(self.model, qp)[0])
        return Outcome(True, self.model.dual_objective_, floor, self.decide(probe))

    def flat(self) -> bool:
        """Whether the classes cannot be told apart: nu-SVC's margin r is 0, its decision undefined.

        The dual objective is then 0, too, and that much is asserted here.
        """
        qp = self.qp()
        best = qp.solve()
        floor = 8 * oracle.rounding(qp.K, qp.c, best.x)
        if best.mu[1] - best.mu[0] > 1e4 * floor:
            return False
        mass = np.abs(best.x).sum()
        assert abs(self.model.dual_objective_ - best.objective) <= 1e5 * floor * mass
        return True

    def check(self, probe, *, sharp: bool = True, sklearn: bool = False) -> None:
        """Assert that the model is the exact optimum on the examples held.

        Without ``sharp`` decision values are left out: rounding alone decides them.
        """
        if self.machine.name == "NuSVC" and self.flat():
            return
        found = self.audit(probe, sklearn=sklearn)
        assert self.model.exact_ or found.own_floor > KKT_BAR, found  # rounding may forbid it
        assert found.kkt <= KKT_BAR + found.kkt_floor, found
        if not found.nothing:
            assert self.model.kkt_violation_ <= KKT_BAR + found.own_floor, found
        assert found.objective <= OBJECTIVE_BAR + found.objective_floor, found
        if sharp:
            assert found.decision <= DECISION_BAR + found.decision_floor, found
            assert found.sklearn <= DECISION_BAR, found


def objective_floor(qp: oracle.QP, x) -> float:
    """Part of the objective that rounding K, x, the bounds and the sums may change."""
    box = oracle.EPS * qp.scale * (qp.hi - qp.lo).sum()
    sums = 1e-13 * float(np.abs(qp.c) @ np.abs(x))
    return box + sums + 8 * oracle.rounding(qp.K, qp.c, x) * float(np.abs(x).sum())


@contextmanager
def quiet_until_ready():
    """Silence the note that a machine is still infeasible; the ledger knows when it is."""
    from supple.errors import NotReadyWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotReadyWarning)
        yield


def peer(ledger: Ledger, X, y, w, probe):
    """scikit-learn's decision values at tol=1e-10, or None where it has no such machine."""
    import sklearn.svm

    cls = getattr(sklearn.svm, ledger.machine.name, None)
    params = {name: value for name, value in ledger.params.items() if name != "loss"}
    if cls is None or ledger.params.get("loss") == "squared_hinge":
        return None
    known = ledger.kernel in ("linear", "rbf", "poly")
    kernel = {"kernel": ledger.kernel, **ledger.kernel_params} if known else {"kernel": ledger.k}
    model = cls(tol=1e-10, max_iter=20_000_000, **params, **kernel)
    # Of a callable it mistakes the rows behind those without weight.
    X, y, w = (v[w > 0] for v in (X, y, w))
    model.fit(X, y, sample_weight=w)
    return model.predict(probe) if ledger.machine.name == "SVR" else model.decision_function(probe)
