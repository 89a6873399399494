"""Sparse rbf kernels of examples far from the origin: no digit of a distance is lost."""

import numpy as np
import pytest
import scipy.sparse as sp

import supple
from supple.gram import gram_for
from supple.kernels import RBF

OFFSETS = [0.0, 1e3, 1e5, 1e6, 1e7]
GAMMAS = [1e-8, 1e-3, 0.2, 10.0, 2e8]


def rbf(A, B, gamma):
    """Kernel values by differences in long double."""
    A, B = A.astype(np.longdouble), B.astype(np.longdouble)
    squared = sum((A[:, f, None] - B[None, :, f]) ** 2 for f in range(A.shape[1]))
    return np.exp(-np.longdouble(gamma) * squared)


def points(offset, n=90, d=6, seed=0):
    """Patterns that overlap in part, some of them copies; the offset is on the non-zeros."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[rng.random((n, d)) < 0.3] = 0.0
    X[n // 2 :, :2] = X[: n - n // 2, :2]
    X[-3:] = X[:3]
    X[5] = 0.0
    return np.where(X == 0.0, 0.0, X + offset), (X[:, 0] + X[:, 1] > 0.0).astype(int)


def violation(model, X, y, C, gamma):
    """KKT violation of a classifier, and how far its decision values are off."""
    coef = model.dual_coef_.toarray()[0]
    x = np.zeros(len(X), dtype=np.longdouble)
    x[model.support_] = coef
    f = rbf(X, X, gamma) @ x + model.intercept_[0]
    sign = np.where(y == model.classes_[1], 1.0, -1.0)
    slack, alpha = sign * f - 1.0, sign * x
    found = np.where(alpha < C, np.maximum(-slack, 0.0), 0.0)
    found = np.maximum(found, np.where(alpha > 0.0, np.maximum(slack, 0.0), 0.0))
    return found.max(), np.abs(model.decision_function(sp.csr_matrix(X)) - f).max()


@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("offset", OFFSETS)
def test_kernel_values(offset, gamma):
    X, _ = points(offset)
    Z, _ = points(offset, seed=1)
    gram = gram_for(RBF(gamma), sp.csr_matrix(X), 1 << 22)
    gram.append(sp.csr_matrix(X))
    values = gram.block(np.arange(len(X)), sp.csr_matrix(np.vstack([Z, X])))
    assert np.abs(values - rbf(np.vstack([Z, X]), X, gamma)).max() <= 2e-14


@pytest.mark.parametrize("C", [1.0, 100.0])
@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("offset", OFFSETS)
def test_models(offset, gamma, C):
    X, y = points(offset)
    model = supple.SVC(C=C, gamma=gamma).fit(sp.csr_matrix(X), y)
    kkt, off = violation(model, X, y, C, gamma)
    assert model.exact_
    assert kkt <= 1e-8
    assert off <= 1e-9
    dense = supple.SVC(C=C, gamma=gamma).fit(X, y)
    assert model.dual_objective_ == pytest.approx(dense.dual_objective_, rel=1e-9)


@pytest.mark.parametrize("offset", [1e5, 1e7])
def test_updates_row_by_row(offset):
    X, y = points(offset)
    model = supple.SVC(gamma=0.5, C=10.0).fit(sp.csr_matrix(X[:40]), y[:40])
    for k in range(40, len(X)):
        model.partial_fit(sp.csr_matrix(X[k : k + 1]), y[k : k + 1])
    model.forget([0, 10])
    kept = np.delete(np.arange(len(X)), [0, 10])
    order = np.searchsorted(kept, model.ids_)
    kkt, off = violation(model, X[kept][order], y[kept][order], 10.0, 0.5)
    assert max(kkt, off) <= 1e-9


def test_a_large_gamma():
    rng = np.random.default_rng(0)
    X, y = 2e3 * rng.normal(size=(200, 5)), rng.integers(0, 2, 200)
    model = supple.SVC(gamma=2e8).fit(sp.csr_matrix(X), y)
    assert max(violation(model, X, y, 1.0, 2e8)) <= 1e-12


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("filled", [0.05, 0.5, 1.0])
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e5])
@pytest.mark.parametrize("d", [30, 64, 300])
def test_single_precision_is_as_good_as_it_says(d, offset, filled, form):
    rng = np.random.default_rng(d)
    for spread in (1.0, 1e-3):
        X = spread * rng.normal(size=(60, d)) + offset
        X[rng.random(X.shape) > filled] = 0.0
        for gamma in (1.0 / d, 10.0 / d, 1.0 / d / max(offset, 1.0) ** 2):
            gram = gram_for(RBF(gamma), form(X), 1 << 22)
            gram.append(form(X))
            values, error, _ = gram.core.rough_values(np.arange(len(X)), np.ones(len(X)), 0)
            assert np.abs(values - rbf(X, X, gamma)).max() <= error
