"""Tiny machines whose answers follow on paper; the derivation stands beside each."""

import numpy as np
import pytest
from ledger import quiet_until_ready

import supple

Z = np.array([[-2.0], [-1.0], [0.0], [0.25], [1.0], [3.0]])
z = Z[:, 0]


def at_once(model, X, y=None, w=None):
    return model.fit(X, **({} if y is None else {"y": y}), sample_weight=w)


def one_by_one(model, X, y=None, w=None):
    w = np.ones(len(X)) if w is None else w
    with quiet_until_ready():
        for i in range(len(X)):
            target = {} if y is None else {"y": y[i : i + 1]}
            model.partial_fit(X[i : i + 1], **target, sample_weight=w[i : i + 1])
    return model


ways = pytest.mark.parametrize("learn", [at_once, one_by_one])


def assert_f(model, want, Z=Z):
    act = model.predict if isinstance(model, supple.SVR) else model.decision_function
    np.testing.assert_allclose(act(Z), want, atol=1e-9)
    assert model.kkt_violation_ <= 1e-8


@ways
def test_two_points(learn):
    """-1 | +1: the widest margin is f(z) = z. w = 2a = 1, so a = 1/2 and -W = 2a - w^2/2 = 1/2."""
    X, y = np.array([[-1.0], [1.0]]), np.array([0, 1])
    model = learn(supple.SVC(C=10.0, kernel="linear"), X, y)
    assert_f(model, z)
    np.testing.assert_allclose(model.dual_coef_, [[-0.5, 0.5]], atol=1e-12)
    np.testing.assert_allclose(model.intercept_, [0.0], atol=1e-12)
    assert model.dual_objective_ == pytest.approx(0.5, abs=1e-12)
    # C = 1/5 binds both: w = 2C = 0.4; every |mu| <= 0.6 is optimal and the middle is 0.
    model.retune(C=0.2)
    assert_f(model, 0.4 * z)
    assert model.dual_objective_ == pytest.approx(0.4 - 0.08, abs=1e-12)


@ways
def test_two_points_with_squared_hinge(learn):
    """-1 | +1: -W = 2a - (4 + 1/C) a^2 / 2, so a = 2 / (4 + 1/C); xi = a / (2C) = 1 - 2a."""
    X, y = np.array([[-1.0], [1.0]]), np.array([0, 1])
    model = learn(supple.SVC(C=0.25, kernel="linear", loss="squared_hinge"), X, y)
    np.testing.assert_allclose(model.dual_coef_, [[-0.25, 0.25]], atol=1e-12)
    assert_f(model, 0.5 * z)
    # 1/8 of w^2 / 2 and C xi^2 twice.
    assert model.dual_objective_ == pytest.approx(0.125 + 2 * 0.25 * 0.25, abs=1e-12)
    # Weights 1/2 and 3/2 give 1 / (2 C_i) = 4 and 4/3: a = 2 / (4 + 16/3) = 3/14, w = 3/7, and
    # f(1) = 1 - a * 4/3 = 5/7 gives b = 2/7.
    model.reweight([0, 1], [0.5, 1.5])
    assert_f(model, 3 / 7 * z + 2 / 7)


@ways
def test_third_point_moves_the_boundary_and_leaves_without_trace(learn):
    """Beyond the margin (z = 3) a point changes nothing; 1/2 moves the margin to [-1, 1/2].

    Then w = 2 / 1.5 = 4/3, f(-1) = -1 gives b = 1/3, and a = w / 1.5 = 8/9 for both vectors.
    """
    X, y = np.array([[-1.0], [1.0], [3.0]]), np.array([0, 1, 1])
    model = learn(supple.SVC(C=10.0, kernel="linear"), X, y)
    assert_f(model, z)
    assert model.support_ids_.tolist() == [0, 1]
    model.partial_fit([[0.5]], [1])
    assert_f(model, 4 / 3 * z + 1 / 3)
    assert model.dual_objective_ == pytest.approx(8 / 9, abs=1e-12)
    model.forget([3])
    assert_f(model, z)


@ways
def test_xor(learn):
    """(1 + x.x')^2 on the corners of a square: K = 9 on the diagonal, 1 elsewhere.

    By symmetry all a are equal; y_i f_i = a (9 - 1 - 1 + 1) = 8a = 1, so a = 1/8 and f = x1 x2;
    -W = 4/8 - 1/2 (4/8) = 1/4.
    """
    X = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    y = np.array([1, 0, 0, 1])
    model = learn(supple.SVC(C=1.0, kernel="poly", degree=2, gamma=1.0, coef0=1.0), X, y)
    probe = np.array([[0.5, 0.5], [2.0, -3.0], [0.0, 1.0]])
    assert_f(model, probe.prod(axis=1), probe)
    assert model.dual_objective_ == pytest.approx(0.25, abs=1e-12)
    assert sorted(model.support_.tolist()) == [0, 1, 2, 3]


@ways
def test_coincident_opposites(learn):
    """At the origin K = 0: a_+ = a_- <= 1 (the lighter one), so w = 0, -W = 2, and f = +1 wins."""
    X, y, w = np.zeros((2, 1)), np.array([1, 0]), np.array([2.0, 1.0])
    model = learn(supple.SVC(C=1.0, kernel="linear"), X, y, w)
    assert_f(model, np.ones(len(Z)))
    assert model.dual_objective_ == pytest.approx(2.0, abs=1e-12)
    model.reweight([0], [0.5])  # now the other one is heavier
    assert_f(model, -np.ones(len(Z)))


@ways
def test_bound_that_comes_down_to_its_variable(learn):
    """As above x = (1, -1) with the heavier one free; at weights (1, 1) nothing is free any more.

    Then every |mu| <= 1 is optimal, and the middle is 0, whichever way the model came there.
    """
    X, y = np.zeros((2, 1)), np.array([1, 0])
    model = learn(supple.SVC(C=1.0, kernel="linear"), X, y, np.array([2.0, 1.0]))
    model.reweight([0], [1.0])
    assert_f(model, np.zeros(len(Z)))
    model.partial_fit(X[:1], y[:1], sample_weight=[1000.0])
    assert_f(model, np.ones(len(Z)))
    model.forget([2])
    assert_f(model, np.zeros(len(Z)))


@ways
def test_nu_svc_of_two_points(learn):
    """nu = 1/2, W = 2: each class carries nu W / 2 = 1/2, so Kx = z, r = 1 and f = z."""
    X, y = np.array([[-1.0], [1.0]]), np.array([0, 1])
    model = learn(supple.NuSVC(nu=0.5, kernel="linear"), X, y)
    assert_f(model, z)
    assert model.dual_objective_ == pytest.approx(-0.5, abs=1e-12)
    # nu = 1 doubles x and r together: the decision stays.
    model.retune(nu=1.0)
    assert_f(model, z)


@ways
def test_svr_of_two_points(learn):
    """Targets -1, 1 at -1, 1 with epsilon 1/2: the flattest line in both tubes has slope 1/2."""
    X, y = np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0])
    model = learn(supple.SVR(C=10.0, epsilon=0.5, kernel="linear"), X, y)
    assert_f(model, 0.5 * z)
    np.testing.assert_allclose(model.dual_coef_, [[-0.25, 0.25]], atol=1e-12)
    model.retune(epsilon=0.0)
    assert_f(model, z)
    # C = 0.1 binds both: slope 2C, and the middle of the interval of mu is 0.
    model.retune(C=0.1)
    assert_f(model, 0.2 * z)


@ways
def test_svr_of_equal_targets(learn):
    """A constant needs no support vector; mu may be anywhere in 7 -/+ epsilon, the middle is 7."""
    X, y = np.array([[-1.0], [0.5], [1.0]]), np.full(3, 7.0)
    model = learn(supple.SVR(C=10.0, epsilon=0.5, kernel="linear"), X, y)
    assert_f(model, np.full(len(Z), 7.0))
    assert len(model.support_) == 0
    assert model.dual_objective_ == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("nu", "slope", "offset"),
    [
        (0.25, 0.5, -0.5),  # sum x = 1/2, all on the point 1: free there, f(1) = 0
        (0.5, 1.0, -2.0),  # sum x = 1 = (1, 0), both at a bound: -3 <= mu <= -1, the middle
        (0.75, 2.5, -7.5),  # x = (1, 1/2): w = 1 + 3/2, free at 3, f(3) = 0
        (1.0, 4.0, -12.0),  # x = (1, 1): nothing free, g <= 0 at both bounds: mu <= -12
    ],
)
@ways
def test_one_class_of_two_points(learn, nu, slope, offset):
    """The points 1 and 3 on a line, W = 2, minimise w^2 / 2 with w = x_1 + 3 x_2, sum x = 2 nu."""
    model = learn(supple.OneClassSVM(nu=nu, kernel="linear"), np.array([[1.0], [3.0]]))
    assert_f(model, slope * z + offset)
    assert model.dual_objective_ == pytest.approx(-(slope**2) / 2, abs=1e-12)


@ways
def test_svdd_of_two_points(learn):
    """0 and 2: centre 1, R = 1, f = 1 - (z - 1)^2; -W = R^2 / 2. Inside points do not matter."""
    model = learn(supple.SVDD(C=0.6, kernel="linear"), np.array([[0.0], [2.0]]))
    assert_f(model, 1 - (z - 1) ** 2)
    np.testing.assert_allclose(model.dual_coef_, [[1.0, 1.0]], atol=1e-12)  # 2x
    np.testing.assert_allclose(model.intercept_, [0.0], atol=1e-12)  # 2 mu
    assert model.dual_objective_ == pytest.approx(0.5, abs=1e-12)
    model.partial_fit([[1.0]])
    assert_f(model, 1 - (z - 1) ** 2)
    model.partial_fit([[4.0]])  # centre 2, R = 2
    assert_f(model, 4 - (z - 2) ** 2)
    model.forget([3])
    assert_f(model, 1 - (z - 1) ** 2)


def test_svdd_with_a_loose_bound_starts_with_one_point():
    """C = 1: one example is its own centre with R = 0."""
    model = supple.SVDD(C=1.0, kernel="linear").partial_fit([[2.0]])
    assert_f(model, -((z - 2) ** 2))
