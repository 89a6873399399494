"""No general position, extreme parameters: right answers by every way, and never a hang.

Every case is learned at once, one by one, and forgotten down to nothing.
"""

import numpy as np
import pytest
from degenerate_data import N, cases, labels, noisy
from ledger import KERNELS, KKT_BAR, MACHINES, OBJECTIVE_BAR, Ledger
from sklearn.exceptions import NotFittedError

from supple.errors import InfeasibleError

# The decision function of such data is 0, which NuSVC says.
pytestmark = pytest.mark.filterwarnings("ignore:NuSVC.* leaves no margin")

CASES = cases()
PROBE = np.random.default_rng(7).normal(size=(10, 3))
SWEEP = [1e-6, 1e-4, 1e-2, 1.0, 1e2, 1e4, 1e6]


def judge(ledger, *, sharp=True):
    """The model must be what the examples held make of it: nothing, one class, waiting or exact."""
    d = len(next(iter(ledger.held.values()))[0]) if ledger.held else 2
    probe = PROBE[:, :d]
    if not ledger.held:
        with pytest.raises(NotFittedError):
            ledger.model.predict(probe)
    elif ledger.feasible():
        ledger.check(probe, sharp=sharp)
    elif len({y for _, y, _ in ledger.held.values()}) == 1 and "SVC" in ledger.machine.name:
        only = next(iter(ledger.held.values()))[1]
        assert set(ledger.model.predict(probe)) == {only}
    else:
        with pytest.raises(InfeasibleError):
            ledger.model.predict(probe)


def at_once(ledger, X, y, w=None, *, sharp=True):
    ledger.fit(X, y, w)
    judge(ledger, sharp=sharp)


def one_by_one(ledger, X, y, w=None, *, sharp=True):
    for i in range(len(X)):
        ledger.add(X[i : i + 1], y[i : i + 1], None if w is None else w[i : i + 1])
        if i < 4 or i % 5 == 0:
            judge(ledger, sharp=sharp)
    judge(ledger, sharp=sharp)


def down_to_nothing(ledger, X, y, w=None, *, sharp=True):
    ledger.add(X, y, w)
    order = np.random.default_rng(3).permutation(len(X)).tolist()
    for count, i in enumerate(order):
        ledger.forget([i])
        if count % 5 == 0 or count > len(X) - 5:
            judge(ledger, sharp=sharp)
    ledger.add(X[:3], y[:3])  # and it goes on learning
    judge(ledger, sharp=sharp)


WAYS = [at_once, one_by_one, down_to_nothing]


# "nearly ones" makes the whole of nu-SVC's problem rounding error, and the model may say so.
@pytest.mark.filterwarnings("default::supple.errors.NotConvergedWarning")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", MACHINES)
def test_case(name, case, way):
    data = CASES[case]
    params = {} if name in ("NuSVC", "OneClassSVM", "SVDD") else data.params
    ledger = Ledger.new(name, data.kernel, data.kernel_params, **params)
    y = data.y * 1.5 + data.X[:, 0] if name == "SVR" else data.y
    way(ledger, data.X, y, sharp=data.sharp)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("C", SWEEP)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", ["SVC", "SVR"])
def test_bound_from_tiny_to_huge(name, kernel, C, way):
    X, y = noisy(30, seed=5)
    way(Ledger.new(name, kernel, C=C), X, X[:, 0] + y if name == "SVR" else y)


@pytest.mark.parametrize("kernel", KERNELS)
def test_retune_across_the_whole_range(kernel):
    X, y = noisy(30, seed=6)
    ledger = Ledger.new("SVC", kernel).fit(X, y)
    for C in [*SWEEP, *SWEEP[::-1]]:
        ledger.retune(C=C)
        judge(ledger)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", ["SVC", "SVR"])
def test_wildly_different_weights(name, kernel):
    X, y = noisy(30, seed=8)
    w = 10.0 ** np.random.default_rng(9).integers(-8, 5, len(y))
    for way in WAYS:
        way(Ledger.new(name, kernel), X, X[:, 0] + y if name == "SVR" else y, w)


@pytest.mark.parametrize("way", WAYS)
def test_all_points_at_their_bound(way):
    X, y = noisy(20, seed=10)
    ledger = Ledger.new("SVC", "rbf", C=1e-4)
    way(ledger, X, y)
    ledger = Ledger.new("SVC", "rbf", C=1e-4).fit(X, y)
    np.testing.assert_allclose(np.abs(ledger.model.dual_coef_), 1e-4, rtol=1e-12)
    # Nothing is free: adding and removing at the bound must go on working.
    new = ledger.add(X[:1] + 0.1, y[:1])
    judge(ledger)
    ledger.forget(new)
    judge(ledger)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", ["SVC", "NuSVC"])
def test_one_example_per_class(name, kernel, way):
    way(Ledger.new(name, kernel), np.array([[0.0, 1.0], [1.0, -1.0]]), np.array([1.0, -1.0]))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", ["duplicates linear", "grid rbf", "one point rbf", "identity"])
def test_svr_without_a_tube(case, way):
    data = CASES[case]
    ledger = Ledger.new("SVR", data.kernel, data.kernel_params, epsilon=0.0)
    way(ledger, data.X, np.round(data.X[:, 0]) + data.y)


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_linear_in_the_plane_with_500_points(C):
    X, y = noisy(500, seed=11)
    ledger = Ledger.new("SVC", "linear", C=C).fit(X, y)
    judge(ledger)
    new = ledger.add(X[:40] + 0.3, y[:40])
    judge(ledger)
    ledger.forget(new + list(range(0, 200, 2)))
    judge(ledger)
    for i in range(1, 60, 2):
        ledger.forget([i])
    judge(ledger)


@pytest.mark.parametrize("name", ["SVC", "SVR"])
def test_linear_in_the_plane_one_by_one(name):
    X, y = noisy(500, seed=12)
    y = X @ [1.0, 2.0] + y if name == "SVR" else y
    ledger = Ledger.new(name, "linear")
    for i in range(500):
        ledger.add(X[i : i + 1], y[i : i + 1])
        if i % 100 == 99:
            judge(ledger)
    for i in range(450):
        ledger.forget([i])
        if i % 150 == 149:
            judge(ledger)
    assert ledger.kkt() <= KKT_BAR


def test_the_same_point_a_hundred_times():
    ledger = Ledger.new("SVC", "rbf")
    ledger.add(np.zeros((1, 2)), np.array([1.0]))
    for i in range(100):
        ledger.add(np.ones((1, 2)), labels(i + 1)[-1:])
    judge(ledger)
    ledger.forget(list(range(1, 101, 2)))
    judge(ledger)


def test_zero_weights_only_in_one_class():
    X, y = noisy(N)
    ledger = Ledger.new("SVC", "rbf")
    ledger.add(X, y, np.where(y > 0, 1.0, 0.0))
    assert set(ledger.model.predict(X)) == {1.0}
    ledger.reweight(np.flatnonzero(y < 0).tolist(), np.ones((y < 0).sum()))
    judge(ledger)
    before = ledger.model.dual_objective_
    ledger.reweight(np.flatnonzero(y < 0).tolist(), np.zeros((y < 0).sum()))
    ledger.reweight(np.flatnonzero(y < 0).tolist(), np.ones((y < 0).sum()))
    assert ledger.model.dual_objective_ == pytest.approx(before, rel=OBJECTIVE_BAR)


def test_bound_within_rounding_of_a_free_variable():
    """The sum fixes x_0 = 0.005; its bound comes down to 0.005, and then nothing is free.

    A variable one rounding inside its box must not count as free, or mu stays at the end of its
    interval instead of the middle, where fit puts it.
    """
    X = np.array([-0.381, -0.381, 0.565, 0.565, 0.1, -2.0, -2.0, -0.153])[:, None]
    y = np.array([-0.142, -0.025, -0.381, 0.404, -0.358, 0.1, -0.786, -0.966])
    w = np.array([1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 1.0, 0.5])
    ledger = Ledger.new("SVR", "rbf", C=0.01)
    ledger.add(X, y, w)
    ledger.reweight([0], [0.5])
    ledger.check(PROBE[:, :1])


def test_heavy_examples_leave_no_trace():
    """Two coincident opposites, then neighbours up to 1000 times heavier come and go."""
    first = np.array([-1.0, -1.0, -1.0, 2.0, -1.0, -1.0, 2.0, 1.0, 0.0, -2.0])
    X = np.c_[first, np.full(10, -1.0)]
    y = np.array([1.0, -1.0, 1.0, -1.0, -1.0, 1.0, -1.0, 1.0, 1.0, 1.0])
    w = np.array([1.0, 1.0, 1e3, 30.0, 0.0, 0.0, 1e-6, 30.0, 1e-6, 0.0])
    ledger = Ledger.new("SVC", "poly", C=0.01)
    ledger.add(X[:2], y[:2], w[:2])
    before = ledger.outcome(PROBE[:, :2])
    ledger.add(X[2:], y[2:], w[2:])
    ledger.forget([6, 3, 8, 4, 9, 7, 5, 2])
    before.assert_same(ledger.outcome(PROBE[:, :2]))
