"""Feature vectors in the core: what goes in comes out, in every form, as examples come and go."""

import numpy as np
import pytest
import scipy.sparse as sp

from supple.gram import gram_for
from supple.kernels import Linear

FORMS = {
    "float64": np.asarray,
    "float32": lambda X: X.astype(np.float32),
    "csr": sp.csr_matrix,
}


def points(n, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7)
    return X.astype(np.float32).astype(np.float64)  # every form can hold these numbers


def held(gram):
    rows = gram.rows(np.arange(gram.size))
    return rows.toarray() if sp.issparse(rows) else rows


@pytest.fixture(params=FORMS)
def form(request):
    return FORMS[request.param]


# One panel of points has a few rows: sizes on each side of its edge.
@pytest.mark.parametrize("n", [1, 7, 8, 9, 31, 33, 200])
def test_rows_come_back(form, n):
    X = points(n)
    gram = gram_for(Linear(), form(X), 1 << 21)
    gram.append(form(X))
    assert np.array_equal(held(gram), X)
    assert gram.diagonal(np.arange(n)) == pytest.approx((X**2).sum(axis=1))


def test_batches_are_put_behind_each_other(form):
    X = points(40)
    gram = gram_for(Linear(), form(X), 1 << 21)
    for start, stop in [(0, 1), (1, 12), (12, 40)]:
        gram.append(form(X[start:stop]))
    assert np.array_equal(held(gram), X)


def test_the_last_example_takes_a_freed_slot(form):
    X = points(20)
    gram = gram_for(Linear(), form(X), 1 << 21)
    gram.append(form(X))
    gram.remove(np.array([3, 18, 0]))
    slots = list(range(20))
    for slot in (3, 18, 0):
        slots[slot] = slots[-1]
        slots.pop()
    assert np.array_equal(held(gram), X[slots])


def test_truncate_keeps_the_first_and_takes_new_ones(form):
    X = points(30)
    gram = gram_for(Linear(), form(X), 1 << 21)
    gram.append(form(X))
    gram.truncate(11)
    assert np.array_equal(held(gram), X[:11])
    gram.append(form(X[20:]))
    assert np.array_equal(held(gram), np.vstack([X[:11], X[20:]]))


def test_examples_without_entries():
    X = sp.csr_matrix((4, 3))
    gram = gram_for(Linear(), X, 1 << 21)
    gram.append(X)
    assert np.array_equal(held(gram), np.zeros((4, 3)))
