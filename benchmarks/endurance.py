"""Endurance: 100,000 mixed adds, removes and reweights around n = 500 must not wear a model out.

Prints the KKT violation at checkpoints, recomputed from the public attributes with a dense kernel
matrix, and how many operations were handed to SMO instead of the exact path.

With a memory, examples come one by one, now and then a few, and some of those held are removed or
re-weighted by name; who is held, with which weight, is read from the model.

    python benchmarks/endurance.py --problem SVC --operations 100000 --size 500
    python benchmarks/endurance.py --memory all
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import oracle
from ledger import KKT_BAR, MACHINES, Ledger, kernel_function

import supple
from supple.memory import Budget, Decay, Memory, Window

SMO_BAR = 1e-3  # fraction of operations
DIMENSION = 5
PARAMS = {
    "SVC": {"C": 1.0},
    "squared SVC": {"C": 1.0, "loss": "squared_hinge"},
    "NuSVC": {"nu": 0.4},
    "SVR": {"C": 1.0, "epsilon": 0.1},
    "OneClassSVM": {"nu": 0.2},
    "SVDD": {"C": 0.01},
}
MEMORIES = {"budget": Budget(300), "window": Window(500), "decay": Decay(60.0)}


class Run:
    """One long random sequence on one model."""

    def __init__(self, name: str, size: int, seed: int):
        self.rng, self.size = np.random.default_rng(seed), size
        self.ledger = Ledger.new(name, "rbf", {"gamma": 1 / DIMENSION}, **PARAMS[name])
        self.steps: Counter[str] = Counter()
        self.ledger.add(*self.draw(size))
        self.ledger.model._model.engine.run.listeners.append(
            lambda step: self.steps.update([step.route])
        )

    def draw(self, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Noisy two Gaussians (SVR: a noisy wave), weights between 0.2 and 2."""
        label = self.rng.choice([-1.0, 1.0], size=n)
        X = self.rng.normal(size=(n, DIMENSION)) + 0.5 * label[:, None]
        wave = np.sin(X[:, 0]) + 0.3 * self.rng.normal(size=n)
        y = wave if self.ledger.machine.name == "SVR" else label
        return X, y, self.rng.uniform(0.2, 2.0, n)

    @property
    def n(self) -> int:
        return len(self.ledger.held)

    def kkt(self) -> float:
        return self.ledger.kkt()

    def operate(self) -> str:
        """Add, remove or reweight one example, or now and then a few."""
        ledger, rng = self.ledger, self.rng
        n = 1 if rng.random() < 0.9 else int(rng.integers(2, 6))
        what = rng.choice(["add", "remove", "reweight"])
        if what != "reweight":  # keep the number of examples near the size
            what = (
                "add"
                if rng.random() < 0.5 + (self.size - len(ledger.held)) / self.size
                else "remove"
            )
        if what == "add":
            ledger.add(*self.draw(n))
        else:
            held = list(ledger.held)
            ids = [held[i] for i in rng.choice(len(held), size=n, replace=False)]
            if what == "remove":
                ledger.forget(ids)
            else:
                ledger.reweight(ids, rng.choice([0.0, 0.3, 1.0, 3.0], size=n))
        return str(what)


class Remembering:
    """One long stream through a model with a memory."""

    def __init__(self, name: str, memory: Memory, seed: int):
        self.rng, self.name, self.steps = np.random.default_rng(seed), name, Counter()
        estimator = getattr(supple, MACHINES[name].name)
        self.model = estimator(gamma=1 / DIMENSION, memory=memory, **PARAMS[name])
        self.learn(200)
        self.model._model.engine.run.listeners.append(lambda step: self.steps.update([step.route]))

    def learn(self, n: int) -> None:
        label = self.rng.choice([-1.0, 1.0], size=n)
        X = self.rng.normal(size=(n, DIMENSION)) + 0.5 * label[:, None]
        y = np.sin(X[:, 0]) + 0.3 * self.rng.normal(size=n) if self.name == "SVR" else label
        named = () if self.name in ("OneClassSVM", "SVDD") else (y,)
        self.model.partial_fit(X, *named, sample_weight=self.rng.uniform(0.2, 2.0, n))

    def operate(self) -> str:
        what = self.rng.choice(["add", "remove", "reweight"], p=[0.9, 0.05, 0.05])
        if what == "add":
            self.learn(1 if self.rng.random() < 0.9 else int(self.rng.integers(2, 6)))
            return "add"
        one = self.rng.choice(self.model.ids_)
        if what == "remove":
            self.model.forget(one)
        else:
            self.model.reweight(one, self.rng.choice([0.3, 1.0, 3.0]))
        return str(what)

    @property
    def n(self) -> int:
        return len(self.model.ids_)

    def kkt(self) -> float:
        """KKT violation recomputed from the public attributes with a dense kernel matrix."""
        state, machine = self.model._model.state, MACHINES[self.name]
        X, y = state.points(np.arange(state.n)), state.y
        if machine.name in ("SVC", "NuSVC"):
            y = np.array([self.model._model.labels.label(int(code)) for code in y])
        k = kernel_function("rbf", 1 / DIMENSION)
        qp = machine.qp(k(X, X), y, self.model.sample_weight_, PARAMS[self.name])
        x, mu = machine.read(self.model, qp)
        return oracle.kkt_violation(qp.K, qp.c, qp.groups, qp.targets, qp.lo, qp.hi, x, mu)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problem", choices=[*MACHINES, "all"], default="SVC")
    parser.add_argument("--operations", type=int, default=100_000)
    parser.add_argument("--size", type=int, default=500)
    parser.add_argument("--memory", choices=[*MEMORIES, "all"])
    parser.add_argument("--checkpoints", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    names = list(MACHINES) if args.problem == "all" else [args.problem]
    if args.memory is None:
        return max(endure(name, Run(name, args.size, args.seed), args) for name in names)
    chosen = MEMORIES if args.memory == "all" else {args.memory: MEMORIES[args.memory]}
    return max(
        endure(f"{name}, {memory}", Remembering(name, memory, args.seed), args)
        for name in names
        for memory in chosen.values()
    )


def endure(title: str, run: Run | Remembering, args: argparse.Namespace) -> int:
    done, worst, kkt = Counter(), 0.0, 0.0
    every = max(1, args.operations // args.checkpoints)
    seconds = 0.0
    print(f"{title}: {args.operations} operations")
    print(f"{'operations':>11}{'n':>6}{'KKT':>10}{'by SMO':>8}{'ms each':>9}", flush=True)
    for count in range(1, args.operations + 1):
        begin = time.perf_counter()
        done[run.operate()] += 1
        seconds += time.perf_counter() - begin
        if count % every == 0 or count == args.operations:
            kkt = run.kkt()
            worst = max(worst, kkt)
            n, smo = run.n, run.steps["smo"]
            print(f"{count:>11}{n:>6}{kkt:>10.1e}{smo:>8}{1e3 * seconds / count:>9.3f}", flush=True)
    fraction = run.steps["smo"] / args.operations
    print(f"operations: {dict(done)}; solvers: {dict(run.steps)}")
    print(f"final KKT {kkt:.1e}, largest {worst:.1e} (bar {KKT_BAR:g})")
    print(f"handed to SMO: {run.steps['smo']} = {100 * fraction:.4f} % (bar {100 * SMO_BAR:g} %)\n")
    # Weights that all fall at once are more than a path is meant for.
    return int(worst > KKT_BAR or (fraction >= SMO_BAR and "Decay" not in title))


if __name__ == "__main__":
    sys.exit(main())
