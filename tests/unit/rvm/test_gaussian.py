"""The carried statistics and the promised gains are those of the definition."""

import numpy as np
import pytest
from evidence import gaussian, statistics
from numpy.testing import assert_allclose

from supple.rvm import SparseGaussian


def precisions(model, p):
    alpha = np.full(p, np.inf)
    alpha[model.members] = model.alpha
    return alpha


@pytest.fixture
def problem(noisy):
    K, t, weight = noisy
    return K, t, 10.0 * weight


def walk(model, count, seed=0):
    """Make random moves: add, change, delete."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        inside = rng.random() < 0.5 and len(model.members)
        column = rng.choice(model.members) if inside else rng.integers(len(model.S))
        model.apply(int(column), np.inf if inside and rng.random() < 0.4 else rng.uniform(0.1, 9))
        yield


def test_statistics_are_carried(problem):
    K, t, b = problem
    model = SparseGaussian(K, b, b * t)
    for _ in walk(model, 60):
        S, Q = statistics(K, precisions(model, 60), t, b)
        assert_allclose(model.S, S, atol=1e-7)
        assert_allclose(model.Q, Q, atol=1e-6)
    assert len(model.members) > 5
    carried = model.S.copy(), model.Q.copy(), model.mean.copy(), model.covariance.copy()
    model.refresh()
    for before, after in zip(
        carried, (model.S, model.Q, model.mean, model.covariance), strict=True
    ):
        assert_allclose(before, after, atol=1e-6)


def test_begin_and_rescale_are_the_same_as_moves(problem):
    K, t, b = problem
    model = SparseGaussian(K, b, b * t)
    for _ in walk(model, 20):
        pass
    other = SparseGaussian(K, b / 3.0, b * t / 3.0)
    other.begin(model.members, model.alpha)
    other.rescale(3.0)
    assert_allclose(other.S, model.S, atol=1e-6)
    assert_allclose(other.mean, model.mean, atol=1e-6)


def test_best_move_gains_what_it_promises_and_no_other_gains_more(problem):
    K, t, b = problem
    model = SparseGaussian(K, b, b * t)
    for _ in range(12):
        alpha = precisions(model, 60)
        before = gaussian(K, alpha, t, b)
        move = model.best()
        for column in range(60):
            for value in (np.inf, 1e-2, 0.3, 5.0, 100.0):
                other = alpha.copy()
                other[column] = value
                assert gaussian(K, other, t, b) <= before + move.gain + 1e-8
        alpha[move.column] = move.alpha
        assert_allclose(gaussian(K, alpha, t, b) - before, move.gain, atol=1e-7)
        assert model.apply(move.column, move.alpha)


def test_dependent_columns_are_no_candidates(problem):
    K, t, b = problem
    one = np.ones((60, 1))
    both = K[:, [3]] - 2.0 * K[:, [20]] + 4.0
    Phi = np.hstack([K[:, [3, 20]], K[:, [3]], both, one, 0.0 * one])
    model = SparseGaussian(Phi, b, b * t)
    assert model.apply(0, 1.0)
    assert model.apply(1, 1.0)
    assert not any(model.apply(column, 1.0) for column in (2, 3))
    assert model.best().column < 2
    model.apply(0, np.inf)
    assert model.apply(2, 1.0)  # free again
    barred = np.array([True] * 4 + [False] * 2)
    assert model.best(barred).gain <= 0.0  # a constant is the bias


def test_members_that_become_dependent_are_left_out(problem):
    K, t, b = problem
    Phi = K[:, [3, 20, 3]]
    model = SparseGaussian(Phi, b, b * t)
    model.begin(np.array([0, 1, 2]), np.full(3, 1e-30))
    assert len(model.members) == 2
    assert np.isfinite(model.S).all()
