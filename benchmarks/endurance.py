"""Endurance: 100,000 mixed adds, removes and reweights around n = 500 must not wear a model out.

Prints the KKT violation at checkpoints, recomputed from the public attributes with a dense kernel
matrix, and how many operations were handed to SMO instead of the exact path.

    python benchmarks/endurance.py --problem SVC --operations 100000 --size 500
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from ledger import KKT_BAR, MACHINES, Ledger

SMO_BAR = 1e-3  # fraction of operations
DIMENSION = 5
PARAMS = {
    "SVC": {"C": 1.0},
    "NuSVC": {"nu": 0.4},
    "SVR": {"C": 1.0, "epsilon": 0.1},
    "OneClassSVM": {"nu": 0.2},
    "SVDD": {"C": 0.01},
}


class Run:
    """One long random sequence on one model."""

    def __init__(self, name: str, size: int, seed: int):
        self.rng, self.size = np.random.default_rng(seed), size
        self.ledger = Ledger.new(name, "rbf", {"gamma": 1 / DIMENSION}, **PARAMS[name])
        self.steps: Counter[str] = Counter()
        self.ledger.add(*self.draw(size))
        self.ledger.model._model.engine.run.listeners.append(
            lambda step: self.steps.update([step.solver])
        )

    def draw(self, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Noisy two Gaussians (SVR: a noisy wave), weights between 0.2 and 2."""
        label = self.rng.choice([-1.0, 1.0], size=n)
        X = self.rng.normal(size=(n, DIMENSION)) + 0.5 * label[:, None]
        wave = np.sin(X[:, 0]) + 0.3 * self.rng.normal(size=n)
        y = wave if self.ledger.machine.name == "SVR" else label
        return X, y, self.rng.uniform(0.2, 2.0, n)

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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problem", choices=[*MACHINES, "all"], default="SVC")
    parser.add_argument("--operations", type=int, default=100_000)
    parser.add_argument("--size", type=int, default=500)
    parser.add_argument("--checkpoints", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    names = list(MACHINES) if args.problem == "all" else [args.problem]
    return max(endure(name, args) for name in names)


def endure(name: str, args: argparse.Namespace) -> int:
    run, done, worst, kkt = Run(name, args.size, args.seed), Counter(), 0.0, 0.0
    every = max(1, args.operations // args.checkpoints)
    seconds = 0.0
    print(f"{name}, {args.operations} operations around n = {args.size}")
    print(f"{'operations':>11}{'n':>6}{'KKT':>10}{'by SMO':>8}{'ms each':>9}", flush=True)
    for count in range(1, args.operations + 1):
        begin = time.perf_counter()
        done[run.operate()] += 1
        seconds += time.perf_counter() - begin
        if count % every == 0 or count == args.operations:
            kkt = run.ledger.kkt()
            worst = max(worst, kkt)
            n, smo = len(run.ledger.held), run.steps["smo"]
            print(f"{count:>11}{n:>6}{kkt:>10.1e}{smo:>8}{1e3 * seconds / count:>9.3f}", flush=True)
    fraction = run.steps["smo"] / args.operations
    print(f"operations: {dict(done)}; solvers: {dict(run.steps)}")
    print(f"final KKT {kkt:.1e}, largest {worst:.1e} (bar {KKT_BAR:g})")
    print(f"handed to SMO: {run.steps['smo']} = {100 * fraction:.4f} % (bar {100 * SMO_BAR:g} %)\n")
    return int(worst > KKT_BAR or fraction >= SMO_BAR)


if __name__ == "__main__":
    sys.exit(main())
