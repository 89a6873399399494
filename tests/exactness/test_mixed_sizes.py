"""Large and small updates in turn: what the batch solver leaves behind must suit the path."""

import numpy as np
import pytest

import supple

MODELS = {
    "SVC": lambda: supple.SVC(gamma=0.2),
    "NuSVC": lambda: supple.NuSVC(nu=0.4, gamma=0.2),
    "SVR": lambda: supple.SVR(gamma=0.2),
    "OneClassSVM": lambda: supple.OneClassSVM(nu=0.3, gamma=0.2),
    "SVDD": lambda: supple.SVDD(C=0.02, gamma=0.2),
}


def stream(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, (X[:, 0] + rng.normal(size=n) > 0).astype(int)


@pytest.mark.parametrize("name", MODELS)
def test_single_updates_after_a_batch_of_forgetting(name):
    X, y = stream(460)
    model = MODELS[name]().fit(X[:400], y[:400])
    for i in range(400, 403):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    model.forget(np.arange(0, 400, 10))
    for i in range(403, 430):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    model.forget([1, 2, 3])
    assert model.kkt_violation_ <= 1e-10
    kept = model.ids_
    again = MODELS[name]().fit(X[kept], y[kept])
    assert model.dual_objective_ == pytest.approx(again.dual_objective_, rel=1e-9)


@pytest.mark.parametrize("name", MODELS)
def test_a_window_that_leaves_all_of_the_fit_behind(name):
    # Every variable of the first factor goes, and with it what is derived from it.
    X, y = stream(260, seed=1)
    model = MODELS[name]().fit(X[:80], y[:80])
    for i in range(80, 260):
        model.partial_fit(X[i : i + 1], y[i : i + 1]).forget(i - 80)
        if i % 30 == 0:
            assert model.kkt_violation_ <= 1e-11
    again = MODELS[name]().fit(X[180:], y[180:])
    assert model.dual_objective_ == pytest.approx(again.dual_objective_, rel=1e-9)


@pytest.mark.parametrize("weight", [1e6, 1e10, 1e14])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_one_huge_weight_among_small_ones(kernel, weight):
    X, y = stream(46, seed=3)
    w = np.ones(6)
    w[0] = weight
    model = supple.SVC(kernel=kernel, gamma=0.5).fit(X[:40], y[:40])
    model.partial_fit(X[40:], y[40:], sample_weight=w)
    again = supple.SVC(kernel=kernel, gamma=0.5).fit(X, y, sample_weight=np.r_[np.ones(40), w])
    assert again.exact_
    assert model.kkt_violation_ <= 1e-8
    np.testing.assert_allclose(model.decision_function(X), again.decision_function(X), atol=1e-6)


def test_a_definite_kernel_of_low_rank_stays_exact():
    rng = np.random.default_rng(51)
    X = rng.normal(size=(40, 3))
    y = (X[:, 0] + 0.8 * rng.normal(size=40) > 0).astype(int)
    X[rng.random(X.shape) < 0.5] = 0
    model = supple.SVC(kernel="poly", gamma=2.0, coef0=1.0, degree=2, C=100.0).fit(X, y)
    assert model.exact_
    assert model.kkt_violation_ <= 1e-8


def test_a_kernel_with_negative_diagonal_is_found_out():
    X, y = stream(40)
    model = supple.SVC(kernel=lambda A, B: A @ B.T - 3.0)
    with pytest.warns(supple.InexactWarning):
        model.fit(X, y)
    assert not model.exact_
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize(
    ("model", "change"),
    [(supple.NuSVC(nu=0.3), {"nu": 1.0}), (supple.SVDD(C=0.1), {"C": 0.001})],
    ids=["NuSVC", "SVDD"],
)
def test_a_retune_without_solution_is_refused(model, change):
    X, y = stream(30)
    model.fit(X, y)
    before = model.decision_function(X)
    with pytest.raises(supple.InfeasibleError):
        model.retune(**change)
    np.testing.assert_array_equal(model.decision_function(X), before)
    model.partial_fit(X[:1] + 0.1, y[:1])  # and it goes on


@pytest.mark.parametrize("name", ["SVC", "SVR"])
def test_boxes_beyond_all_measure_are_refused(name):
    X, y = stream(30)
    model = MODELS[name]().fit(X, y)
    before = model.dual_objective_
    for update in (
        lambda: model.retune(C=1e308),
        lambda: model.reweight([0], 1e308),
        lambda: model.partial_fit(X[:1], y[:1], sample_weight=[1e200]),
    ):
        with pytest.raises(ValueError, match="smaller"):
            update()
    assert model.dual_objective_ == before
