"""The oracle itself: problems solved by hand, scikit-learn, and its own certificates."""

import numpy as np
import oracle
import pytest
from sklearn.svm import SVC, SVR, NuSVC, OneClassSVM

LINE = np.array([[-1.0], [1.0]])
KERNELS = {
    "linear": (oracle.linear, {}),
    "rbf": (oracle.rbf(4 * np.log(2)), {"gamma": 4 * np.log(2)}),
    "poly": (oracle.poly(0.5, 2, 1.0), {"gamma": 0.5, "degree": 2, "coef0": 1.0}),
}
# Singular or nearly singular: all ones, identity, and what lies between.
EXTREME = {
    "linear": oracle.linear,
    "poly": oracle.poly(0.5, 3, 1.0),
    "rbf": oracle.rbf(0.5),
    "ones": oracle.rbf(1e-12),
    "identity": oracle.rbf(1e12),
    "flat": oracle.rbf(1e-5),
}


def noisy(n, seed, step=None):
    """Two overlapping Gaussians, a regression target and weights; on a grid if ``step`` is given.

    LIBSVM keeps kernel values in float32 and is off by about 1e-7 C max|K| for it. On a grid of
    step 1/2 the kernels of this file take values that float32 holds exactly (rbf: powers of two).
    """
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    X = rng.normal(size=(n, 2)) + 0.7 * y[:, None]
    X = np.round(X / step) * step if step else X
    t = X[:, 0] - 0.5 * X[:, 1] + 0.5 * rng.normal(size=n)
    return X, y, t, rng.uniform(0.2, 2.0, n)


def certified(qp):
    """Solve, and assert that the solution carries its own proof: feasible, KKT, no duality gap."""
    got = qp.solve()
    args = (qp.K, qp.c, qp.groups, qp.targets, qp.lo, qp.hi, got.x)
    floor = oracle.rounding(qp.K, qp.c, got.x)
    assert np.all((qp.lo <= got.x) & (got.x <= qp.hi))
    assert oracle.kkt_violation(*args, got.mu) * got.scale <= 1e-12 * got.scale + 8 * floor
    freedom = (qp.hi - qp.lo).sum()
    assert oracle.duality_gap(*args, got.mu) * abs(got.objective) <= 4 * floor * freedom
    return got


def test_two_points_by_hand():
    # f(z) = z separates -1 and +1 with margin 1; W = 1/2 (2a)^2 - 2a, so a = 1/2 and -W = 1/2.
    got = certified(oracle.csvc(LINE @ LINE.T, [-1, 1], 10.0))
    np.testing.assert_allclose(got.x, [-0.5, 0.5], atol=1e-15)
    assert got.mu == pytest.approx(0.0, abs=1e-15)
    assert got.objective == pytest.approx(0.5, rel=1e-14)


def test_two_points_at_their_bound_leave_an_interval_for_mu():
    # C = 0.2: x = (-0.2, 0.2), f(z) = 0.4 z + mu; both margins are violated while |mu| <= 0.6.
    got = certified(oracle.csvc(LINE @ LINE.T, [-1, 1], 0.2))
    np.testing.assert_allclose(got.x, [-0.2, 0.2], rtol=1e-15)
    np.testing.assert_allclose(
        [got.mu_low[0], got.mu_high[0], got.mu[0]], [-0.6, 0.6, 0.0], atol=1e-14
    )


def test_svdd_of_two_points_by_hand():
    # The smallest ball around 0 and 2: centre 1, radius 1, x = (1/2, 1/2), R^2 - dist^2 = z(2-z).
    X, T = np.array([[0.0], [2.0]]), np.array([[1.0], [3.0]])
    got = certified(oracle.svdd(X @ X.T, 1.0))
    np.testing.assert_allclose(got.x, [0.5, 0.5], rtol=1e-14)
    f = oracle.decision("svdd", T @ X.T, got, K_zz=(T**2).sum(axis=1))
    np.testing.assert_allclose(f, [1.0, -3.0], atol=1e-13)


def test_one_class_at_nu_one_has_no_choice():
    K = oracle.rbf(1.0)(LINE, LINE)
    got = certified(oracle.oneclass(K, 1.0, [1.0, 3.0]))
    np.testing.assert_array_equal(got.x, [1.0, 3.0])


def test_nu_svc_of_two_points_by_hand():
    # nu = 1/2 of two points: x = (-1/2, 1/2), Kx = z, r = 1: the decision is z itself.
    got = certified(oracle.nusvc(LINE @ LINE.T, [-1, 1], 0.5, [1.0, 1.0]))
    np.testing.assert_allclose(got.x, [-0.5, 0.5], rtol=1e-15)
    f = oracle.decision("nusvc", np.array([[2.0]]) @ LINE.T, got)
    np.testing.assert_allclose(f, [2.0], rtol=1e-13)


def test_svr_of_two_points_by_hand():
    # Targets -1, 1 at z = -1, 1 with epsilon 1/2: slope 1/2 meets both tubes, x = 1/4 each.
    got = certified(oracle.epssvr(LINE @ LINE.T, [-1.0, 1.0], 10.0, 0.5))
    np.testing.assert_allclose(got.x[:2] + got.x[2:], [-0.25, 0.25], atol=1e-15)
    f = oracle.decision("epssvr", LINE @ LINE.T, got)
    np.testing.assert_allclose(f, [-0.5, 0.5], atol=1e-14)


def test_infeasible_is_said():
    with pytest.raises(oracle.InfeasibleQPError):
        oracle.svdd(np.eye(3), 0.3).solve()
    with pytest.raises(oracle.InfeasibleQPError):
        oracle.nusvc(np.eye(3), [1, 1, -1], 0.9, np.ones(3)).solve()


def test_measures_see_a_wrong_answer():
    qp = oracle.csvc(LINE @ LINE.T, [-1, 1], 10.0)
    args = (qp.K, qp.c, qp.groups, qp.targets, qp.lo, qp.hi)
    assert oracle.kkt_violation(*args, np.array([-0.4, 0.4])) == pytest.approx(0.2)
    assert oracle.kkt_violation(*args, np.array([-0.5, 0.5]), mu=0.1) == pytest.approx(0.1)
    assert oracle.kkt_violation(*args, np.array([-0.5, 0.4])) >= 0.1
    assert oracle.duality_gap(*args, np.array([-0.4, 0.4])) > 0.1


@pytest.mark.parametrize("kernel", EXTREME)
@pytest.mark.parametrize("C", [1e-6, 1e-2, 1.0, 1e2, 1e6])
def test_extremes_carry_their_certificate(kernel, C):
    X, y, t, _ = noisy(60, 1)
    grid = np.round(X)
    rng = np.random.default_rng(2)
    k = EXTREME[kernel]
    certified(oracle.csvc(k(X, X), y, C))
    certified(oracle.csvc(k(grid, grid), y, C * 10.0 ** rng.integers(-6, 3, len(y))))
    certified(oracle.epssvr(k(X, X), t, C, 0.1))
    certified(oracle.epssvr(k(grid, grid), y, C, 0.0))


@pytest.mark.parametrize("kernel", EXTREME)
@pytest.mark.parametrize("nu", [0.1, 0.5, 0.8])
def test_extremes_without_a_linear_term(kernel, nu):
    X, y, _, w = noisy(60, 3)
    w[::7] = 0.0
    k = EXTREME[kernel]
    for data in (X, np.round(X)):
        K = k(data, data)
        certified(oracle.nusvc(K, y, nu, w))
        certified(oracle.oneclass(K, nu, w))
        certified(oracle.svdd(K, w / (nu * w.sum())))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("C", [0.1, 1.0, 5.0])
def test_scikit_learn_agrees_on_c_problems(kernel, C):
    X, y, t, w = noisy(40, 4, step=0.5)
    k, params = KERNELS[kernel]
    K, probe = k(X, X), k(X[::-1] / 2, X)
    svc = SVC(C=C, kernel=kernel, tol=1e-10, **params).fit(X, y, sample_weight=w)
    f = oracle.decision("csvc", probe, certified(oracle.csvc(K, y, C * w)))
    np.testing.assert_allclose(f, svc.decision_function(X[::-1] / 2), atol=1e-6, rtol=0)
    svr = SVR(C=C, epsilon=0.2, kernel=kernel, tol=1e-10, **params).fit(X, t, sample_weight=w)
    f = oracle.decision("epssvr", probe, certified(oracle.epssvr(K, t, C * w, 0.2)))
    np.testing.assert_allclose(f, svr.predict(X[::-1] / 2), atol=1e-6, rtol=0)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("nu", [0.45, 0.6])
def test_scikit_learn_agrees_on_nu_problems(kernel, nu):
    X, y, _, w = noisy(40, 5, step=0.5)
    k, params = KERNELS[kernel]
    K, probe = k(X, X), k(X[::-1] / 2, X)
    svc = NuSVC(nu=nu, kernel=kernel, tol=1e-10, **params).fit(X, y, sample_weight=w)
    f = oracle.decision("nusvc", probe, certified(oracle.nusvc(K, y, nu, w)))
    np.testing.assert_allclose(f, svc.decision_function(X[::-1] / 2), atol=1e-6, rtol=0)
    one = OneClassSVM(nu=nu, kernel=kernel, tol=1e-10, **params).fit(X + 2.0, sample_weight=w)
    shifted, probe = k(X + 2.0, X + 2.0), k(X[::-1] / 2, X + 2.0)
    f = oracle.decision("oneclass", probe, certified(oracle.oneclass(shifted, nu, w)))
    np.testing.assert_allclose(f, one.decision_function(X[::-1] / 2), atol=1e-6, rtol=0)


def test_svdd_with_rbf_is_the_one_class_svm():
    X, *_ = noisy(50, 6)
    K = oracle.rbf(0.5)(X, X)
    ball, half = (
        oracle.svdd(K, 1 / (0.3 * 50)).solve(),
        oracle.oneclass(K, 0.3, np.ones(50)).solve(),
    )
    np.testing.assert_allclose(ball.x * 0.3 * 50, half.x, atol=1e-11)
