"""The problems of the batch benchmark, and the one function that judges every system's solution."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_digits, make_classification

NEW_ROWS = 2000  # test rows of the generated problems
NAMES = [
    "digits odd/even",
    "digits 10 classes",
    *(f"{n}x{d} C={C}" for n in (5000, 20000) for d in (20, 100) for C in (1, 100)),
    "a9a",
    "MNIST 10000",
]
FILES = {"a9a": "a9a.npz", "MNIST 10000": "mnist.npz"}  # not shipped
SCALING = ["20000x100 C=1", "20000x100 C=100", "MNIST 10000", "a9a"]  # unless a run knows better


@dataclass
class Case:
    """Train and test rows with the parameters that every system gets."""

    name: str
    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray
    C: float
    gamma: float
    params: dict = field(init=False)

    def __post_init__(self) -> None:
        self.params = {"C": self.C, "gamma": self.gamma, "tol": 1e-3, "cache_size": 200}

    def facts(self) -> dict:
        return {"case": self.name, "n": self.X.shape[0], "features": self.X.shape[1],
                "test_rows": self.X_test.shape[0], "classes": len(np.unique(self.y)),
                "sparse": sp.issparse(self.X), **self.params}  # fmt: skip


def scale(X: np.ndarray) -> float:
    """Return scikit-learn's gamma="scale" as a number."""
    return float(1.0 / (X.shape[1] * X.var()))


def unavailable(name: str) -> str | None:
    """Return why a case cannot run here, None if it can."""
    if name not in FILES:
        return None
    folder = os.environ.get("SUPPLE_DATA")
    if not folder:
        return "skipped: set SUPPLE_DATA"
    path = Path(folder) / FILES[name]
    return None if path.is_file() else f"skipped: no {FILES[name]} in SUPPLE_DATA"


@lru_cache(maxsize=1)
def load(name: str) -> Case:
    """Build the case `name`; the same arrays in every process."""
    if name.startswith("digits"):
        X, y = load_digits(return_X_y=True)
        X, y = X / 16.0, (y % 2 if "odd" in name else y).astype(np.int64)
        return Case(name, X[:1347], y[:1347], X[1347:], y[1347:], C=10.0, gamma=0.05)
    if name == "a9a":
        with np.load(Path(os.environ["SUPPLE_DATA"]) / FILES[name]) as file:
            parts = [binary_rows(file, part) for part in ("train", "test")]
            labels = [file[f"y_{part}"].astype(np.int64) for part in ("train", "test")]
        return Case(name, parts[0], labels[0], parts[1], labels[1], C=1.0, gamma=0.05)
    if name.startswith("MNIST"):
        with np.load(Path(os.environ["SUPPLE_DATA"]) / FILES[name]) as file:
            X, X_test = file["X_train"][:10000] / 255.0, file["X_test"][:NEW_ROWS] / 255.0
            y, y_test = (file[f"y_{part}"].astype(np.int64) for part in ("train", "test"))
        return Case(name, X, y[:10000], X_test, y_test[:NEW_ROWS], C=10.0, gamma=scale(X))
    return generated(*map(int, re.fullmatch(r"(\d+)x(\d+) C=(\d+)", name).groups()))


def generated(n: int, d: int, C: int) -> Case:
    """make_classification with seed 0; the last rows are for testing."""
    X, y = make_classification(n + NEW_ROWS, d, n_informative=d // 2, random_state=0)
    name = f"{n}x{d} C={C}"
    return Case(name, X[:n], y[:n], X[n:], y[n:], C=float(C), gamma=scale(X[:n]))


def binary_rows(file, part: str) -> sp.csr_matrix:
    indptr = file[f"{part}_indptr"].astype(np.int32)
    indices = file[f"{part}_indices"].astype(np.int32)
    shape = (len(indptr) - 1, int(file["n_features"]))
    return sp.csr_matrix((np.ones(len(indices)), indices, indptr), shape=shape)


def quadratic_form(X, a: np.ndarray, gamma: float, block: int = 1000) -> float:
    """Return a'Ka for the Gaussian kernel in float64, without storing K."""
    X = X.toarray() if sp.issparse(X) else X
    norms = np.einsum("ij,ij->i", X, X)
    total = 0.0
    for i in range(0, len(a), block):
        rows = slice(i, i + block)
        distance = norms[rows, None] + norms[None, :] - 2.0 * (X[rows] @ X.T)
        total += a[rows] @ (np.exp(-gamma * np.maximum(distance, 0.0)) @ a)
    return float(total)


def dual_objective(X, y, support, dual, C: float, gamma: float) -> tuple[float, float]:
    """Return (1/2 a'Ka - sum |a|, violation of the constraints), summed over pairs of classes.

    `dual` has LIBSVM's layout: of the pair (i, j), i < j, row j - 1 holds the coefficients of
    the support vectors of class i and row i those of class j. Classes count in the order in
    which they come in `support`. The violation is that of |a| <= C relative to C, and of sum a = 0
    and of the signs relative to sum |a|.
    """
    labels, value, violation = y[support], 0.0, 0.0
    order = list(dict.fromkeys(labels.tolist()))
    rows = X[support]
    for j in range(len(order)):
        for i in range(j):
            first, second = labels == order[i], labels == order[j]
            a = np.where(first, dual[j - 1], np.where(second, dual[i], 0.0))
            used = np.flatnonzero(a)
            value += 0.5 * quadratic_form(rows[used], a[used], gamma) - np.abs(a).sum()
            mixed = min(np.abs(a[first].sum() + s * np.abs(a[first]).sum()) for s in (1, -1))
            total = max(np.abs(a).sum(), 1e-300)
            violation = max(violation, np.abs(a).max(initial=0.0) / C - 1.0,
                            abs(a.sum()) / total, mixed / total)  # fmt: skip
    return float(value), float(violation)


def objective_of(case: Case, reply: dict) -> tuple[float, float]:
    return dual_objective(case.X, case.y, reply["support"], reply["dual"], case.C, case.gamma)
