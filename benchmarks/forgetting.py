"""What it costs to forget many examples at once, beside learning as many.

Data: make_classification with 20 features, 10 of them informative, 5 % of the labels flipped,
seed 0, standardised; C = 1, gamma = 1 / 20. Examples that are forgotten are drawn from all that
are held. Process time of one thread; the median of the rounds.

    python benchmarks/forgetting.py [--sizes 5000 20000 50000] [--batch 300] [--rounds 5]
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import time

import numpy as np
from sklearn.datasets import make_classification

from supple import SVC


def seconds(action) -> float:
    """Return the process time of an action."""
    start = time.process_time()
    action()
    return time.process_time() - start


def measure(n: int, batch: int, rounds: int) -> tuple[float, float, float]:
    """Return the seconds to learn and to forget a batch at n examples, and the KKT violation."""
    X, y = make_classification(
        n + (rounds + 1) * batch, 20, n_informative=10, flip_y=0.05, random_state=0
    )
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = SVC(C=1.0, gamma=1 / 20).fit(X[:n], y[:n])
    rng = np.random.default_rng(0)
    learning, forgetting = [], []
    for k in range(rounds + 1):
        new = slice(n + k * batch, n + (k + 1) * batch)
        learning.append(seconds(lambda new=new: model.partial_fit(X[new], y[new])))
        leaving = rng.choice(model.ids_, batch, replace=False)
        forgetting.append(seconds(lambda leaving=leaving: model.forget(leaving)))
    # The first round warms the caches up.
    return float(np.median(learning[1:])), float(np.median(forgetting[1:])), model.kkt_violation_


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[5000, 20_000, 50_000])
    parser.add_argument("--batch", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print(f"{'examples':>9} {'learn':>10} {'forget':>10} {'ratio':>6} {'KKT':>8}")
    for n in options.sizes:
        learn, forget, kkt = measure(n, options.batch, options.rounds)
        print(
            f"{n:9d} {1e3 * learn:7.1f} ms {1e3 * forget:7.1f} ms {forget / learn:6.2f} {kkt:8.1e}",
            flush=True,
        )


if __name__ == "__main__":
    main()
