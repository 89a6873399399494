"""The factor of a margin system that may be singular."""

import numpy as np
import pytest

from supple._core import cholesky_with_pivots


def semidefinite(n, rank, seed=0):
    rng = np.random.default_rng(seed)
    basis = rng.normal(size=(n, rank)) * rng.uniform(0.1, 3.0, size=(n, 1))
    return basis @ basis.T


@pytest.mark.parametrize(
    ("n", "rank"), [(1, 1), (7, 7), (7, 3), (48, 48), (49, 20), (130, 129), (700, 700), (700, 310)]
)
def test_product_and_rank(n, rank):
    A = semidefinite(n, rank)
    tiny = 1e-11 * A.diagonal().max()
    upper, order = cholesky_with_pivots(A, tiny)
    assert upper.shape == (rank, n)
    assert sorted(order) == list(range(n))
    np.testing.assert_array_equal(np.tril(upper[:, :rank], -1), 0.0)
    permuted = A[np.ix_(order, order)]
    np.testing.assert_allclose(upper.T @ upper, permuted, atol=2.0 * tiny)


def test_largest_pivot_first():
    A = semidefinite(300, 200, seed=1)
    upper, order = cholesky_with_pivots(A, 1e-10)
    pivots = upper.diagonal()
    assert (np.diff(pivots) <= 1e-12 * pivots[0]).all()
    assert order[0] == A.diagonal().argmax()


@pytest.mark.parametrize("A", [np.zeros((5, 5)), np.full((3, 3), np.nan), -np.eye(4)])
def test_no_pivot(A):
    upper, order = cholesky_with_pivots(A, 0.0)
    assert upper.shape == (0, len(A))
    assert list(order) == list(range(len(A)))


def test_empty_matrix():
    upper, order = cholesky_with_pivots(np.empty((0, 0)), 0.0)
    assert upper.shape == (0, 0)
    assert order.shape == (0,)


def test_not_square():
    with pytest.raises(ValueError, match="square"):
        cholesky_with_pivots(np.ones((2, 3)), 0.0)
