"""How long after Ctrl-C an operation ends, at random moments of long ones.

    python benchmarks/interrupts.py [--trials 12] [--only NAME ...]

Each operation is timed once without a signal, then interrupted at random moments between its
beginning and its end. The table shows the mean and the largest time from the signal to the
KeyboardInterrupt, undo included.
"""

from __future__ import annotations

import argparse
import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

import supple

Operation = Callable[[], Any]


def noisy(n: int, d: int = 20, share: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    """Return two classes that overlap; with share=0 the labels are noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    if share == 0.0:
        return X, rng.integers(0, 2, n)
    return X, (X[:, 0] + share * rng.normal(size=n) > 0.0).astype(int)


def fit_easy() -> Operation:
    """Block solver, then a factor of some thousand margin vectors."""
    X, y = noisy(20_000)
    return lambda: supple.SVC(gamma=0.05).fit(X, y)


def fit_hard() -> Operation:
    """The same with a large margin set and a long exact finish."""
    X, y = noisy(20_000)
    return lambda: supple.SVC(C=100.0, gamma=0.05).fit(X, y)


def fit_noise() -> Operation:
    """Nearly all examples are margin vectors: the largest factors."""
    X, y = noisy(8_000, share=0.0)
    return lambda: supple.SVC(C=1000.0, gamma=0.05).fit(X, y)


def fit_regression() -> Operation:
    """Two variables per example."""
    X, _ = noisy(20_000, 10)
    y = np.sin(X).sum(axis=1)
    return lambda: supple.SVR(C=10.0, gamma=0.1).fit(X, y)


def fit_sigmoid() -> Operation:
    """An indefinite kernel: SMO alone, in double precision."""
    X, y = noisy(20_000, 10)
    return lambda: supple.SVC(kernel="sigmoid", gamma=0.05).fit(X, y)


def fit_callable() -> Operation:
    """Rows from a function in Python."""
    X, y = noisy(3_000, 10)
    return lambda: supple.SVC(kernel=rbf_kernel).fit(X, y)


def fit_copies() -> Operation:
    """A singular margin system, which is factored with pivots."""
    X, y = noisy(4_000, 10, share=0.0)
    X, y = np.concatenate([X, X]), np.concatenate([y, y])
    return lambda: supple.SVC(C=1000.0, gamma=0.2).fit(X, y)


def fit_many_classes() -> Operation:
    """45 machines."""
    X, _ = noisy(20_000)
    y = np.random.default_rng(1).integers(0, 10, len(X))
    return lambda: supple.SVC(gamma=0.05).fit(X, y)


def partial_fit() -> Operation:
    """18,000 examples for a model of 2,000."""
    X, y = noisy(20_000)
    model = supple.SVC(C=10.0, gamma=0.05).fit(X[:2000], y[:2000])
    return lambda: model.partial_fit(X[2000:], y[2000:])


def forget_and_learn() -> Operation:
    """Paths of single examples in a large model."""
    X, y = noisy(6_000)
    model = supple.SVC(C=10.0, gamma=0.05, cache_size=1000).fit(X, y)

    def operation() -> None:
        for i in range(100):
            model.forget(model.ids_[:1]).partial_fit(X[i : i + 1], y[i : i + 1])

    return operation


def retune() -> Operation:
    """All boxes move."""
    X, y = noisy(20_000)
    model = supple.SVC(gamma=0.05).fit(X, y)
    return lambda: model.retune(C=20.0)


def simple() -> Operation:
    """Violators enter one by one."""
    X, y = noisy(20_000, 5)
    return lambda: supple.SimpleSVC(gamma=0.5).fit(X, y)


def budget() -> Operation:
    """A stream, one by one."""
    X, y = noisy(20_000, 5)
    return lambda: supple.BudgetSVC(budget=300, gamma=0.5).fit(X, y)


def lasvc() -> Operation:
    """LASVM and its finish."""
    X, y = noisy(20_000)
    return lambda: supple.LASVC(C=10.0, gamma=0.05).fit(X, y)


def rvc() -> Operation:
    """Linear algebra in numpy."""
    X, y = noisy(2_000, 5)
    return lambda: supple.RVC(gamma=0.5).fit(X, y)


def rvr() -> Operation:
    """The same for regression."""
    X, _ = noisy(2_000, 5)
    y = np.sin(X).sum(axis=1) + 0.1 * np.random.default_rng(1).normal(size=len(X))
    return lambda: supple.RVR(gamma=0.5).fit(X, y)


def predict() -> Operation:
    """Many rows and many support vectors."""
    X, y = noisy(8_000, share=0.0)
    model = supple.SVC(gamma=0.05).fit(X, y)
    many = np.random.default_rng(1).normal(size=(100_000, X.shape[1]))
    return lambda: model.predict(many)


def predict_threads() -> Operation:
    """The same by two threads."""
    X, y = noisy(8_000, share=0.0)
    model = supple.SVC(gamma=0.05, n_jobs=2).fit(X, y)
    many = np.random.default_rng(1).normal(size=(200_000, X.shape[1]))
    return lambda: model.predict(many)


def audit() -> Operation:
    """Optimality conditions from scratch."""
    X, y = noisy(20_000)
    model = supple.SVC(gamma=0.05).fit(X, y)

    def operation() -> None:
        for _ in range(5):
            model._model.state._audited = None
            _ = model.kkt_violation_

    return operation


OPERATIONS = [
    fit_easy, fit_hard, fit_noise, fit_regression, fit_sigmoid, fit_callable, fit_copies,
    fit_many_classes, partial_fit, forget_and_learn, retune, simple, budget, lasvc, rvc, rvr,
    predict, predict_threads, audit,
]  # fmt: skip


def latency(operation: Operation, delay: float) -> float | None:
    """Return the seconds from a signal to the end of the operation; None if it ended before."""
    sent = [float("inf")]

    def send() -> None:
        sent[0] = time.perf_counter()
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(delay, send)
    try:
        timer.start()
        operation()
        timer.cancel()
        timer.join()
    except KeyboardInterrupt:
        return time.perf_counter() - sent[0]
    return None


def main() -> None:
    """Interrupt each operation several times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=12)
    parser.add_argument("--only", nargs="*", default=[])
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    print(f"{'operation':18}{'seconds':>9}{'trials':>8}{'mean ms':>9}{'max ms':>9}", flush=True)
    for make in OPERATIONS:
        if arguments.only and make.__name__ not in arguments.only:
            continue
        operation = make()
        start = time.perf_counter()
        operation()
        whole = time.perf_counter() - start
        # A model that an operation has changed is made anew; interrupted ones are as they were.
        operation = make()
        found = [latency(operation, whole * at) for at in rng.uniform(0.02, 0.95, arguments.trials)]
        times = [1e3 * t for t in found if t is not None] or [float("nan")]
        print(
            f"{make.__name__:18}{whole:9.2f}{len(times):8}{np.mean(times):9.0f}{max(times):9.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
