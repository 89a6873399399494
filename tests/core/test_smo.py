"""SMO by itself: with an indefinite kernel it is the only solver, and stops by (13)."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import sigmoid_kernel

import supple


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(150, 4))
    return X, np.where(X[:, 0] + 0.7 * rng.normal(size=150) > 0, 1, -1)


def gap(model, X, y):
    """The left side of (13), from the kernel and the coefficients."""
    x = np.zeros(len(X))
    x[model.support_] = model.dual_coef_[0]
    F = sigmoid_kernel(X, X, gamma=0.3, coef0=-1.0) @ x - y
    lo, hi = np.minimum(y * model.C, 0.0), np.maximum(y * model.C, 0.0)
    assert abs(x.sum()) <= 1e-12 * np.abs(x).sum()
    assert (x >= lo).all()
    assert (x <= hi).all()
    return (-F)[x < hi].max() - (-F)[x > lo].min()


@pytest.mark.parametrize("tol", [1e-2, 1e-3, 1e-6])
@pytest.mark.parametrize("C", [0.1, 1.0, 20.0])
def test_it_stops_at_the_tolerance(data, C, tol):
    X, y = data
    model = supple.SVC(kernel="sigmoid", gamma=0.3, coef0=-1.0, C=C, tol=tol).fit(X, y)
    assert gap(model, X, y) <= tol * (1 + 1e-6)
    assert not model.exact_


def test_it_goes_on_from_where_it_is(data):
    X, y = data
    model = supple.SVC(kernel="sigmoid", gamma=0.3, coef0=-1.0, C=1.0).fit(X, y)
    before = model.dual_coef_.copy()
    model.retune(C=1.0)
    assert np.array_equal(model.dual_coef_, before)
