"""Regression and classification end at a local maximum of the evidence as it is defined."""

import numpy as np
import pytest
from evidence import classical, gaussian, laplace, mode
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_friedman1
from sklearn.metrics.pairwise import rbf_kernel
from threadpoolctl import threadpool_limits

from supple import RVC, RVR, InvalidInputError, OverfitWarning
from supple.datasets import load
from supple.rvm import classify, regress
from supple.rvm._classification import independent

TOL = 1e-4
VALUES = (np.inf, 1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0)


def precisions(found, p):
    alpha = np.full(p, np.inf)
    alpha[found.members] = found.alpha
    return alpha


def test_regression_ends_at_a_maximum(noisy):
    K, t, _ = noisy
    found = regress(K, t, np.ones(60), TOL, -1)
    alpha = precisions(found, 60)

    def value(alpha, noise=found.noise):
        return gaussian(K, alpha, t, np.full(60, 1.0 / noise))

    top = value(alpha)
    assert found.converged
    assert 2 <= len(found.members) <= 15
    assert_allclose(found.log_evidence, top, atol=1e-7)
    for column in range(60):
        now = alpha[column]
        for other in (*VALUES, *(now * np.array([0.8, 1.25]) if np.isfinite(now) else ())):
            changed = alpha.copy()
            changed[column] = other
            assert value(changed) <= top + 2 * TOL
    for factor in (0.8, 0.95, 1.05, 1.25):
        assert value(alpha, found.noise * factor) <= top + 1e-2
    assert_allclose(found.noise**0.5, 0.2, rtol=0.25)


def test_posterior_is_that_of_the_gaussian_process(noisy):
    """The predictive moments are those of a process with the same covariance and a vague bias."""
    K, t, weight = noisy
    found = regress(K, t, weight, TOL, -1)
    alpha, vague = precisions(found, 60), 1e6
    prior = (K / alpha) @ K.T + vague
    C = prior + np.diag(found.noise / weight)
    mean, variance = found.moments(K[:, found.members])
    assert_allclose(mean, prior @ np.linalg.solve(C, t), atol=1e-4)
    assert_allclose(variance, np.diag(prior - prior @ np.linalg.solve(C, prior)), atol=1e-4)


@pytest.mark.parametrize("machine", [regress, classify])
def test_weights_are_copies(machine, noisy, classes):
    K, t, _ = noisy if machine is regress else classes
    weight = np.arange(60) % 3 + 1.0
    rows = np.repeat(np.arange(60), weight.astype(int))
    weighted = machine(K, t, weight, 1e-6, -1)
    copied = machine(K[np.ix_(rows, rows)], t[rows], np.ones(len(rows)), 1e-6, -1)
    assert_allclose(weighted.log_evidence, copied.log_evidence, atol=1e-6)
    assert sorted(rows[copied.members]) == sorted(weighted.members)
    assert_allclose(
        copied.moments(K[:, rows[copied.members]])[0],
        weighted.moments(K[:, weighted.members])[0],
        atol=1e-5,
    )


def test_regression_follows_shift_and_scale(noisy):
    K, t, weight = noisy
    found = regress(K, t, weight, TOL, -1)
    for scale, shift in ((1e80, 0.0), (1e-80, 1e-79), (3.0, -1e4)):
        other = regress(K, scale * t + shift, weight, TOL, -1)
        assert set(other.members) == set(found.members)
        assert_allclose(other.noise, scale**2 * found.noise, rtol=1e-4)
        mean = other.moments(K[:, other.members])[0]
        assert_allclose((mean - shift) / scale, found.moments(K[:, found.members])[0], rtol=1e-5)
        jacobian = (1.0 - weight.sum()) * np.log(scale)
        assert_allclose(other.log_evidence, found.log_evidence + jacobian, atol=1e-3)


def test_classification_ends_at_a_maximum(classes):
    K, t, weight = classes
    found = classify(K, t, weight, TOL, -1)
    alpha = precisions(found, 60)
    top = laplace(K, alpha, t, weight)
    assert found.converged
    assert 2 <= len(found.members) <= 15
    assert_allclose(found.log_evidence, top, atol=1e-6)
    bias, w, _, _ = mode(K, alpha, t, weight)
    assert_allclose(found.mean, w[found.members], atol=1e-5)
    assert_allclose(found.bias, bias, atol=1e-5)
    # Deletions are judged by the evidence itself; other values of alpha are those of the
    # linearised model, whose maximum is near.
    for column in found.members:
        changed = alpha.copy()
        changed[column] = np.inf
        assert laplace(K, changed, t, weight) <= top + 2 * TOL
    for column in range(60):
        for other in VALUES[1:]:
            changed = alpha.copy()
            changed[column] = other
            assert laplace(K, changed, t, weight) <= top + 0.5


def two_classes(name, n, positive=None):
    """Return the first rows of a shuffled set; with `positive` that share of the last class."""
    data = load(name)
    t = (data.y == data.target_names[-1]).astype(float)
    order = np.random.default_rng(0).permutation(len(t))
    if positive is not None:
        few, many = (order[t[order] == value] for value in (1.0, 0.0))
        order = np.concatenate([few[: int(positive * n)], many])
    return data.X[order[:n]], t[order[:n]]


@pytest.mark.parametrize(
    ("name", "n", "positive", "gamma"),
    [
        ("banana", 300, None, 0.5),
        ("banana", 400, 0.07, 0.15),  # from the bias alone: 3 functions and 30 less
        ("sonar", 208, None, 0.005),
        ("sonar", 208, None, 0.05),
        ("heart", 270, None, 0.05),
    ],
)
def test_classification_is_not_below_the_classical_algorithm(name, n, positive, gamma):
    X, t = two_classes(name, n, positive)
    K, one = rbf_kernel(X, gamma=gamma), np.ones(n)
    found = classify(K, t, one, 1e-3, -1)
    for first in (1.0, n**-2.0):
        assert found.log_evidence > laplace(K, classical(K, t, one, first), t, one) - 1.0


def test_classification_does_not_depend_on_the_unit_of_the_kernel(classes):
    K, t, weight = classes
    found = classify(K, t, weight, TOL, -1)
    for unit in (1e-20, 1e20):
        other = classify(unit * K, t, weight, TOL, -1)
        assert_allclose(other.log_evidence, found.log_evidence, atol=1e-6)


def test_independent_columns():
    rng = np.random.default_rng(0)
    A, one = rng.normal(size=(40, 5)), np.ones(40)
    assert len(independent(A @ A.T, one, 500)) == 5
    assert len(independent(A @ A.T, one, 3)) == 3
    assert len(independent(np.zeros((4, 4)), one[:4], 500)) == 0
    B = rng.normal(size=(40, 40))
    columns = independent(B + B.T, one, 500)  # indefinite
    assert len(set(columns.tolist())) == len(columns) > 1
    assert len(independent(-A @ A.T, one, 500)) == 0
    K, order = rbf_kernel(A), rng.permutation(40)
    sums = K.sum(axis=0)
    shuffled = order[independent(K[np.ix_(order, order)], sums[order], 20)]
    assert_array_equal(shuffled, independent(K, sums, 20))


@pytest.mark.parametrize("machine", [RVC, RVR])
def test_one_result_whatever_the_number_of_threads(machine):
    X, y = make_friedman1(200, noise=1.0, random_state=0)
    y = y if machine is RVR else y > np.median(y)
    fits = []
    for threads in (1, 2, 3):
        with threadpool_limits(limits=threads, user_api="blas"):
            fits.append(machine(gamma=1.0).fit(X, y))
    for fit in fits[1:]:
        assert_array_equal(fit.relevance_, fits[0].relevance_)
        assert_array_equal(fit.dual_coef_, fits[0].dual_coef_)


def test_error_bars_that_mean_nothing_are_announced():
    X, y = make_friedman1(100, noise=1.0, random_state=0)
    RVR(gamma=0.05).fit(X, y)  # no warning
    with pytest.warns(OverfitWarning, match="smaller gamma") as caught:
        model = RVR(gamma=10.0).fit(X, y)
    assert caught[0].filename == __file__
    assert len(model.relevance_) > 90


def test_nothing_relevant_leaves_the_bias():
    rng = np.random.default_rng(0)
    constant = np.ones((30, 30))
    t = rng.normal(size=30)
    found = regress(constant, t, np.ones(30), TOL, -1)
    assert len(found.members) == 0
    assert_allclose(found.bias, t.mean())
    assert_allclose(found.noise, t.var(ddof=1), rtol=1e-2)
    labels = (np.arange(30) < 10) * 1.0
    found = classify(constant, labels, np.ones(30), TOL, -1)
    assert len(found.members) == 0
    assert_allclose(found.bias, np.log(0.5))
    assert_allclose(found.log_evidence, laplace(constant, np.full(30, np.inf), labels, np.ones(30)))


def test_equal_targets():
    found = regress(np.eye(5), np.full(5, 0.1), np.ones(5), TOL, -1)
    assert (found.bias, found.noise, found.bias_variance) == (0.1, 0.0, 0.0)
    assert len(regress(np.eye(1), np.array([3.0]), np.ones(1), TOL, -1).members) == 0


def test_limit_on_moves(noisy, classes):
    for machine, (K, t, weight) in ((regress, noisy), (classify, classes)):
        full = machine(K, t, weight, TOL, -1)
        for limit in (0, 1, 3):
            early = machine(K, t, weight, TOL, limit)
            assert not early.converged
            assert early.n_iter <= limit
            assert early.log_evidence < full.log_evidence
        assert machine(K, t, weight, TOL, 100_000).converged


@pytest.mark.parametrize("scale", [1e40, 1e-40])
def test_kernel_values_of_extreme_size_are_refused(scale):
    X = np.random.default_rng(0).normal(size=(20, 2))
    for machine, y in ((RVR(kernel="linear"), X[:, 0]), (RVC(kernel="linear"), X[:, 0] > 0)):
        with pytest.raises(ValueError, match="kernel values whose largest is between"):
            machine.fit(X * scale, y)


@pytest.mark.parametrize("machine", [RVC, RVR])
@pytest.mark.parametrize("kernel", ["rbf", "poly", "sigmoid", "linear"])
def test_absurd_parameters_and_data(machine, kernel):
    """A finite answer or an error of ours, and never a warning of NumPy."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3))
    y = (X[:, 0] + 0.5 * rng.normal(size=20) > 0).astype(int)
    answers = 0
    for gamma in (1e-300, 1e-12, 1.0, 1e12, 1e300):
        for scale in (1e-300, 1e-30, 1.0, 1e100, 1e300):
            try:
                model = machine(kernel=kernel, gamma=gamma).fit(X * scale, y)
            except InvalidInputError:
                continue
            for query in (1.0, 1e100, 1e300):
                try:
                    with np.errstate(over="ignore"):
                        at = np.clip(X * scale * query, -1e300, 1e300)
                    f = model.predict(at, return_std=True) if machine is RVR else (
                        model.decision_function(at), model.predict_proba(at),
                    )  # fmt: skip
                except InvalidInputError:
                    continue
                assert all(np.isfinite(part).all() for part in f)
                answers += 1
    assert answers > 5


def test_predictions_that_overflow_are_refused():
    X = np.random.default_rng(0).normal(size=(30, 2))
    for model in (RVR(kernel="linear").fit(X, X[:, 0] + X[:, 1] ** 2),
                  RVC(kernel="linear").fit(X, X[:, 0] + X[:, 1] ** 2 > 0)):  # fmt: skip
        far = np.vstack([X[:3], X[:1] * 1e200])
        with pytest.raises(InvalidInputError, match="prediction for row 3 of X overflows"):
            model.predict(far)
        model.predict(far[:3])


def test_a_step_that_overflows_is_halved_without_a_warning():
    rng = np.random.default_rng(1)
    X = 1e-3 * rng.normal(size=(30, 2))
    y = X[:, 0] + 3e-4 * rng.normal(size=30) > 0.0
    assert RVC().fit(X, y, sample_weight=np.full(30, 1e8)).score(X, y) > 0.8


def test_a_tolerance_below_rounding_ends():
    X = np.random.default_rng(0).normal(size=(30, 2))
    RVR(tol=1e-300).fit(X, X[:, 0] + np.sin(3 * X[:, 1]))
