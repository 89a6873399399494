"""Small heads have a kernel matrix of their own: the same machines as without it."""

import numpy as np
import pytest

import supple

# The decision function of such data is 0, which NuSVC says.
pytestmark = pytest.mark.filterwarnings("ignore:NuSVC.* leaves no margin")

TINY_CACHE = 0.1  # MB: no room for the matrix of a head
N = 500
KERNELS = {
    "rbf": {"gamma": 0.2},
    "linear": {},
    "poly": {"degree": 2, "gamma": 0.2, "coef0": 1.0},
    "laplacian": {"gamma": 0.2},
    "matern52": {"gamma": 0.2},
}


def classes(n=N, k=5, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    return rng.normal(size=(n, 6)) + np.eye(k, 6)[y] * 1.5, y


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", ["SVC", "NuSVC"])
def test_same_machines_without_the_matrix(name, kernel, multi_class):
    X, y = classes()
    params = {"kernel": kernel, **KERNELS[kernel], "multi_class": multi_class}
    if name == "NuSVC":
        # With a much smaller nu the margin is 0 and all values are rounding.
        params["nu"] = {"ovo": 0.6, "ovr": 0.3}[multi_class]
    model = getattr(supple, name)(**params).fit(X, y)
    without = getattr(supple, name)(**params, cache_size=TINY_CACHE).fit(X, y)
    for found in (model, without):
        # Some machines of one class against the rest have no margin: their values are rounding.
        assert found.kkt_violation_ < 1e-9 or (name, multi_class) == ("NuSVC", "ovr")
    np.testing.assert_allclose(
        model.decision_function(X), without.decision_function(X), rtol=1e-7, atol=1e-7
    )


def test_examples_that_have_changed_places():
    """After forgetting, members are in another order than their examples; some weigh nothing."""
    X, y = classes()
    weight = np.where(np.arange(N) % 7, 1.0, 0.0)
    model = supple.SVC(C=3.0, gamma=0.1).fit(X, y, weight).forget(np.arange(0, N, 3))
    model.retune(gamma=0.4)
    left = np.arange(N) % 3 > 0
    again = supple.SVC(C=3.0, gamma=0.4).fit(X[left], y[left], weight[left])
    assert model.kkt_violation_ < 1e-11
    np.testing.assert_allclose(model.decision_function(X), again.decision_function(X), atol=1e-9)


def test_pairs_of_points_on_each_side_of_a_panel():
    """The mirror image of the matrix has an edge that is no multiple of a vector."""
    for n in (63, 64, 65, 79, 80, 81, 129, 145):
        X, y = classes(n, k=2, seed=n)
        model = supple.SVC(C=5.0, gamma=0.3).fit(X, y)
        assert model.kkt_violation_ < 1e-12
