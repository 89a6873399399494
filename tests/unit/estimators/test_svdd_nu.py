"""SVDD with a share of outliers instead of an absolute cost."""

import numpy as np
import pytest

from supple import SVDD, BudgetSVDD, OneClassSVM
from supple.errors import InfeasibleError, InvalidInputError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(240, 3))
W = RNG.uniform(0.5, 2.0, 240)
KERNELS = [
    {"kernel": "rbf", "gamma": 0.3},
    {"kernel": "linear"},
    {"kernel": "poly", "gamma": 0.3, "coef0": 1.0, "degree": 2},
    {"kernel": "laplacian", "gamma": 0.3},
]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k["kernel"])
def test_any_way_gives_the_cost_of_the_examples_held(kernel):
    weight = W.copy()
    model = SVDD(nu=0.1, **kernel)
    for i in range(0, 240, 40):
        model.partial_fit(X[i : i + 40], sample_weight=weight[i : i + 40])
    model.forget(np.arange(20)).partial_fit(X[:1], sample_weight=weight[:1], ids=[0])
    model.reweight([30, 31], [0.0, 3.0]).retune(nu=0.2)
    weight[[30, 31]] = 0.0, 3.0
    kept = model.ids_
    C = 1.0 / (0.2 * weight[kept].sum())
    fresh = SVDD(C=C, **kernel).fit(X[kept], sample_weight=weight[kept])
    assert model.exact_
    np.testing.assert_allclose(model.decision_function(X), fresh.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(model.radius_, fresh.radius_)


def test_the_share_of_outliers_does_not_shrink():
    model = SVDD(nu=0.2, kernel="rbf", gamma=0.3)
    for n in (40, 80, 160, 240):
        model.partial_fit(X[len(getattr(model, "ids_", ())) : n])
        outside = float((model.predict(X[:n]) < 0).mean())
        assert 0.05 <= outside <= 0.2


def test_the_one_class_machine_of_the_same_nu():
    model = SVDD(nu=0.3, gamma=0.3).fit(X, sample_weight=W)
    peer = OneClassSVM(nu=0.3, gamma=0.3).fit(X, sample_weight=W)
    np.testing.assert_array_equal(model.predict(X), peer.predict(X))


def test_all_on_the_bound():
    many = np.random.default_rng(1).normal(size=(20_000, 2))
    assert SVDD(nu=1.0, gamma=0.3).fit(many).exact_


def test_in_a_window():
    model = BudgetSVDD(budget=60, nu=0.2, gamma=0.3).partial_fit(X)
    fresh = SVDD(nu=0.2, gamma=0.3).fit(X[-60:])
    np.testing.assert_allclose(model.decision_function(X), fresh.decision_function(X), atol=1e-9)


def test_bad_values():
    for nu in (0.0, 1.5, -1.0, "scale"):
        with pytest.raises(ValueError, match="'nu' parameter of SVDD"):
            SVDD(nu=nu).fit(X)
    with pytest.raises((InfeasibleError, InvalidInputError), match="weight"):
        SVDD(nu=0.5).fit(X, sample_weight=np.zeros(240))
    model = SVDD(nu=0.5, gamma=0.3).fit(X)
    with pytest.raises(ValueError, match="'nu' parameter of SVDD"):
        model.retune(nu=2.0)
    assert model.nu == 0.5
