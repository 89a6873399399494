"""LASVC with a bound on the examples kept: flat memory, no collapse, nothing left of failures."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from supple import LASVC, InvalidInputError

M = 40


def stream(n=600, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    centres = np.array([[0.0, 0.0], [1.0, 0.3], [0.3, 1.0]])
    return rng.normal(size=(n, 2)) * 0.7 + centres[y], y


def heads(model):
    return model._model.state.head_states.values()


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, np.float32])
@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
@pytest.mark.parametrize("batch", [1, 70])
def test_the_bound_holds_and_the_state_is_consistent(form, multi_class, batch):
    X, y = stream(classes=3)
    model = LASVC(gamma=0.5, C=2.0, max_vectors=M, multi_class=multi_class, random_state=0)
    for start in range(0, 300, batch):
        part = slice(start, start + batch)
        model.partial_fit(form(X[part]), y[part])
        assert len(model.ids_) <= M
    for head in heads(model):
        core = head.core
        assert_allclose(core.kx, core.expansion(), atol=1e-9)
        assert abs(core.x.sum()) < 1e-9
        assert ((core.lo <= core.x) & (core.x <= core.hi)).all()
    merged = model.memory_.stands_for_
    assert merged
    assert set(merged) == {i for i in model.ids_.tolist() if i < 0}
    widest = 2.0 * model.sample_weight_.max()
    assert max(float(np.abs(head.core.hi - head.core.lo).max()) for head in heads(model)) == widest


def test_it_does_not_collapse_where_classes_overlap():
    X, y = stream(3000)
    test, labels = stream(2000, seed=1)
    free = LASVC(gamma=0.5, random_state=0).fit(X, y)
    bound = LASVC(gamma=0.5, max_vectors=M, random_state=0).fit(X, y)
    assert len(free.ids_) > 10 * M
    assert bound.score(test, labels) > free.score(test, labels) - 0.03
    assert bound.fit_status_ == 0


def test_finish_reaches_the_optimum_on_what_is_kept():
    X, y = stream()
    model = LASVC(gamma=0.5, max_vectors=M, random_state=0, tol=1e-6).partial_fit(X, y).finish()
    assert model.kkt_violation_ < 1e-5


def test_saved_and_resumed():
    X, y = stream()
    model = LASVC(gamma=0.5, max_vectors=M, random_state=0).partial_fit(X[:300], y[:300])
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        twin.partial_fit(X[300:], y[300:])
        again = pickle.loads(pickle.dumps(model)).partial_fit(X[300:], y[300:])
        assert_array_equal(twin.ids_, again.ids_)
        assert_allclose(twin.decision_function(X), again.decision_function(X))


def test_a_call_that_fails_changes_nothing():
    X, y = stream()
    fuse = [10**9]

    def kernel(A, B):
        fuse[0] -= 1
        if fuse[0] < 0:
            raise RuntimeError("in the middle")
        return np.exp(-0.5 * ((A[:, None] - B[None]) ** 2).sum(axis=2))

    model = LASVC(kernel=kernel, max_vectors=M, random_state=0).partial_fit(X[:200], y[:200])
    ids, names, values = model.ids_, model.memory_.stands_for_, model.decision_function(X)
    for left in (1, 30, 90, 160):
        fuse[0] = left
        with pytest.raises(RuntimeError, match="in the middle"):
            model.partial_fit(X[200:400], y[200:400])
        fuse[0] = 10**9
        assert_array_equal(model.ids_, ids)
        assert model.memory_.stands_for_ == names
        assert_allclose(model.decision_function(X), values, atol=1e-12)
        for head in heads(model):
            assert_allclose(head.core.kx, head.core.expansion(), atol=1e-9)


def test_objects_have_no_mean():
    words = [c * n for n in range(1, 9) for c in "ab"]
    y = [word[0] for word in words]

    def kernel(A, B):
        return np.array([[np.exp(-abs(len(a) - len(b)) - (a[0] != b[0])) for b in B] for a in A])

    model = LASVC(C=0.3, kernel=kernel, max_vectors=4, random_state=0).fit(words, y)
    assert len(model.ids_) <= 4
    assert set(model.ids_.tolist()) <= set(range(16))
    assert model.score(words, y) > 0.8


@pytest.mark.parametrize("bound", [1, 0, 2.5, "many"])
def test_bad_bounds(bound):
    X, y = stream(20)
    with pytest.raises(ValueError, match="'max_vectors' parameter of LASVC"):
        LASVC(max_vectors=bound).fit(X, y)


def test_epochs_and_a_bound_do_not_go_together():
    X, y = stream(20)
    with pytest.raises(InvalidInputError, match="'epochs' parameter of LASVC must be 1 with max_"):
        LASVC(max_vectors=10, epochs=2).fit(X, y)


def test_one_example_of_each_class_stays():
    X, _ = stream(6)
    model = LASVC(max_vectors=2, random_state=0).fit(X, ["a", "b", "c", "a", "b", "c"])
    assert set(model.classes_) == {"a", "b", "c"}
