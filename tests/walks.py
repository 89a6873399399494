"""Random sequences of mixed operations on a ledger: add, forget, reweight, retune."""

from __future__ import annotations

import math

import numpy as np
from ledger import KERNELS, Ledger

# LIBSVM keeps kernel values in float32, which costs it 1e-7 C max|K| and more in its decision
# values. On these lattices every kernel value is a float32 number (of distances: a power of two),
# so that a comparison at 1e-6 tells something about supple. Matern's kernels have none.
LATTICE = {
    "linear": (4, {}),
    "rbf": (1, {"gamma": math.log(2)}),
    "poly": (2, {"gamma": 0.5, "degree": 3, "coef0": 1.0}),
    "laplacian": (1, {"gamma": math.log(2)}),
}
SPREAD = {"linear": 1.0, "rbf": 2.0, "poly": 1.0, "laplacian": 2.0}

RETUNE = {
    "SVC": {"C": (0.05, 0.3, 1.0, 4.0, 20.0)},
    "NuSVC": {"nu": (0.45, 0.5, 0.6, 0.7)},
    "SVR": {"C": (0.05, 0.3, 1.0, 4.0, 20.0), "epsilon": (0.0, 0.05, 0.2, 0.5)},
    "OneClassSVM": {"nu": (0.1, 0.3, 0.5, 0.8, 1.0)},
    "SVDD": {"C": (0.05, 0.1, 0.3, 1.0)},
}
# Half the distance between the classes; nu-SVC has no margin when they overlap more than nu.
APART = {"SVC": 0.8, "NuSVC": 1.5}
OPERATIONS = ("add one", "add batch", "forget one", "forget batch", "reweight", "retune")
CHANCES = (0.30, 0.15, 0.20, 0.10, 0.15, 0.10)


class Walk:
    """One random sequence; ``step`` performs an operation that leaves a feasible problem."""

    def __init__(self, name: str, kernel: str, seed: int, *, lattice: bool = False, size: int = 40):
        self.rng = np.random.default_rng([seed, len(name), len(kernel), lattice])
        self.kernel, self.lattice, self.size = kernel, lattice, size
        kernel_params = LATTICE[kernel][1] if lattice else KERNELS[kernel]
        self.ledger = Ledger.new(name, kernel, kernel_params)
        self.shift = 2.0 if name == "OneClassSVM" else 0.0  # keeps the origin outside the data
        self.count = 0
        X, y, w = self.draw(size)
        self.ledger.add(X, y, w)

    def draw(self, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Two overlapping Gaussians (SVR: a noisy plane); a few weights tiny, zero or large."""
        rng, name = self.rng, self.ledger.machine.name
        sign = np.where((np.arange(n) + self.count) % 2 == 0, 1.0, -1.0)
        self.count += n
        X = self.shift + rng.normal(size=(n, 2)) + APART.get(name, 0.0) * sign[:, None]
        if self.lattice:
            step = LATTICE[self.kernel][0]
            X = np.round(X * SPREAD[self.kernel] * step) / step
        y = X @ [1.0, -0.5] + 0.5 * rng.normal(size=n) if name == "SVR" else sign
        w = rng.uniform(0.2, 2.0, n)
        odd = rng.random(n)
        w = np.select([odd < 0.05, odd < 0.08, odd < 0.10], [0.0, 1e-3, 10.0], w)
        return X, y, w

    def some(self, n: int) -> list[int]:
        held = sorted(self.ledger.held)
        return self.rng.choice(held, size=min(n, len(held)), replace=False).tolist()

    def step(self) -> str:
        """Do one random operation; returns its name."""
        ledger, rng = self.ledger, self.rng
        while True:
            what = rng.choice(OPERATIONS, p=CHANCES)
            n = 1 if what.endswith("one") else int(rng.integers(2, 9))
            full = len(ledger.held) > 1.5 * self.size
            if what.startswith("add") and not full:
                X, y, w = self.draw(n)
                if self.allowed(added=zip(X, y, w, strict=True)):
                    ledger.add(X, y, w)
                    return what
            elif what.startswith("forget") and len(ledger.held) > self.size // 2:
                ids = self.some(n)
                if self.allowed(gone=ids):
                    ledger.forget(ids)
                    return what
            elif what == "reweight":
                ids = self.some(n)
                w = self.draw(len(ids))[2]
                if self.allowed(changed=dict(zip(ids, w, strict=True))):
                    ledger.reweight(ids, w)
                    return what
            elif what == "retune" and self.retune():
                return what

    def allowed(self, added=(), gone=(), changed=None) -> bool:
        """Whether the problem stays feasible, with some room, after such a change."""
        changed = changed or {}
        after = {i: (x, y, changed.get(i, w)) for i, (x, y, w) in self.ledger.held.items()}
        after = {i: v for i, v in after.items() if i not in gone}
        after |= {-1 - i: v for i, v in enumerate(added)}
        return self.ledger.feasible(after)

    def retune(self) -> bool:
        ledger, rng = self.ledger, self.rng
        choices = dict(RETUNE[ledger.machine.name])
        if self.kernel not in ("linear", "poly") and not self.lattice:
            choices["gamma"] = (0.2, 0.5, 1.5)
        name = str(rng.choice(sorted(choices)))
        value = float(rng.choice(choices[name]))
        before = dict(ledger.params)
        if name in ledger.params:
            ledger.params[name] = value
            possible = ledger.feasible()
            ledger.params.update(before)
            if not possible:
                return False
        ledger.retune(**{name: value})
        return True

    def probe(self, n: int = 30) -> np.ndarray:
        """Points at which decisions are compared: between and around the examples."""
        X = self.shift + 1.3 * self.rng.normal(size=(n, 2))
        return X * SPREAD[self.kernel] if self.lattice else X
