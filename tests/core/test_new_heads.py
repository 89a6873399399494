"""Heads that begin together: the same machines as each on its own."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from supple import SVC, NotConvergedWarning, NuSVC


def classes(n=240, k=5, d=6, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    return rng.normal(size=(n, d)) + np.eye(k, d)[y] * 1.5, y


def pairs(model, X, y, make):
    """Yield the values of each machine, and those of a machine fitted to its two classes alone."""
    values = model.decision_function(X)
    labels = np.unique(y)
    column = iter(values.T)
    for i, first in enumerate(labels):
        for second in labels[i + 1 :]:
            part = np.isin(y, [first, second])
            # With two classes, scikit-learn's sign is positive on the second.
            alone = make().fit(X[part], y[part])
            yield next(column), -alone.decision_function(X)


@pytest.mark.parametrize("order", ["mixed", "sorted", "backwards"])
@pytest.mark.parametrize("k", [3, 6])
def test_each_machine_is_that_of_its_two_classes(k, order):
    X, y = classes(k=k)
    if order != "mixed":
        places = np.argsort(y, kind="stable")[:: 1 if order == "sorted" else -1]
        X, y = np.ascontiguousarray(X[places]), y[places]

    def make():
        return SVC(C=4.0, gamma=0.2, decision_function_shape="ovo")

    model = make().fit(X, y)
    assert model.kkt_violation_ < 1e-12
    for together, alone in pairs(model, X, y, make):
        np.testing.assert_allclose(together, alone, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "params",
    [
        {"gamma": 0.2},
        {"kernel": "linear"},
        {"kernel": "poly", "degree": 2, "gamma": 0.2, "coef0": 1.0},
        {"gamma": 0.2, "multi_class": "ovr"},
        {"gamma": 0.2, "C": 1e4},  # nearly all support vectors are on the margin
    ],
    ids=str,
)
def test_a_batch_is_a_sequence_of_updates(params, dtype):
    X, y = classes(n=120, k=4)
    X = X.astype(dtype)
    model = SVC(**params).fit(X, y)
    grown = SVC(**params).partial_fit(X[:40], y[:40])
    for k in range(40, 120, 8):
        grown.partial_fit(X[k : k + 8], y[k : k + 8])
    assert max(model.kkt_violation_, grown.kkt_violation_) < 1e-9
    scale = np.abs(model.dual_coef_).max()
    np.testing.assert_allclose(
        model.decision_function(X), grown.decision_function(X), atol=1e-8 * max(1.0, scale)
    )


def test_new_classes_beside_old_ones():
    """Some heads begin while others are moved; then a class goes, and comes again."""
    X, y = classes(k=5)
    early = y < 3
    model = SVC(C=2.0, gamma=0.2).partial_fit(X[early], y[early])
    model.partial_fit(X[~early], y[~early])
    whole = SVC(C=2.0, gamma=0.2).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), whole.decision_function(X), atol=1e-9)
    gone = model.ids_[np.concatenate([y[early], y[~early]]) == 1]
    model.forget(gone).partial_fit(X[y == 1], y[y == 1])
    assert model.kkt_violation_ < 1e-11
    np.testing.assert_allclose(model.decision_function(X), whole.decision_function(X), atol=1e-9)


def test_a_limit_on_iterations_holds_for_each_head():
    X, y = classes()
    with pytest.warns(NotConvergedWarning, match="max_iter=3"):
        model = SVC(C=10.0, gamma=0.2, max_iter=3).fit(X, y)
    assert max(model.n_iter_) == 3
    assert not model.exact_
    assert SVC(C=10.0, gamma=0.2, max_iter=100_000).fit(X, y).exact_


def test_examples_that_depend_on_each_other():
    """More margin vectors than dimensions: the factor is found by pivoting."""
    X, y = classes(n=150, k=3, d=4)
    X, y = np.vstack([X, X[:60]]), np.concatenate([y, y[:60]])
    model = SVC(kernel="linear", C=100.0).fit(X, y)
    assert model.kkt_violation_ < 1e-10


def test_one_head_that_has_no_solution():
    """nu is too large for the rarest class; the message names it, and nothing is left behind."""
    X, y = classes(k=3)
    rare = (y != 2) | (np.cumsum(y == 2) <= 3)
    model = NuSVC(nu=0.2, gamma=0.2).fit(X, y)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match="nu"):
        model.fit(X[rare], y[rare])
    np.testing.assert_array_equal(model.decision_function(X), before)


def test_fits_in_several_threads_at_once():
    """They share the room that is kept for the kernel matrix."""
    sets = [classes(n=200 + 20 * k, k=4, seed=k) for k in range(6)]

    def values(data):
        X, y = data
        return SVC(C=2.0, gamma=0.2).fit(X, y).decision_function(X)

    expected = [values(data) for data in sets]
    with ThreadPoolExecutor(3) as pool:
        for found, wanted in zip(pool.map(values, sets), expected, strict=True):
            np.testing.assert_allclose(found, wanted, atol=1e-9)
