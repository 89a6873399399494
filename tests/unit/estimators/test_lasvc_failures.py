"""What goes wrong on the way leaves a LASVC that can go on."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from supple import LASVC, SVC, InvalidInputError, _core
from supple.engine import online


@pytest.fixture
def stream():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    return X, (X[:, 0] + 0.3 * rng.normal(size=300) > 0).astype(int)


class Breaking:
    """A Gaussian kernel that fails after a number of calls."""

    def __init__(self):
        self.calls, self.limit = 0, None

    def __call__(self, A, B):
        self.calls += 1
        if self.limit is not None and self.calls > self.limit:
            raise RuntimeError("the kernel failed")
        return np.exp(-((A[:, None] - B[None]) ** 2).sum(axis=-1))


@pytest.mark.parametrize("calls", [0, 1, 2, 3, 5, 6, 20, 51, 52])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_kernel_that_fails(stream, calls, n_classes):
    X, y = stream
    y = y + (X[:, 1] > 1.0) * (n_classes - 2)
    kernel = Breaking()
    model = LASVC(kernel=kernel, random_state=0).partial_fit(X[:100], y[:100])
    before = model.ids_, model.dual_coef_
    kernel.limit = kernel.calls + calls
    with pytest.raises(RuntimeError, match="the kernel failed"):
        model.partial_fit(X[100:200], y[100:200])
    kernel.limit = None
    assert_array_equal(model.ids_, before[0])
    assert_array_equal(model.dual_coef_, before[1])
    assert model.n_samples_seen_ == 100
    model.partial_fit(X[200:], y[200:]).finish()
    assert model.kkt_violation_ <= 1e-3
    assert model.score(X, y) > 0.8


def test_an_interrupted_finish(stream, monkeypatch):
    X, y = stream
    model = LASVC(C=100.0, gamma=2.0, random_state=0, finishing=False).fit(X, y)
    before = model.dual_coef_, model.decision_function(X)

    def stopped(head, *arguments):
        _core.finish(head, 0.5, 3, True)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(online, "finish", stopped)
        with pytest.raises(KeyboardInterrupt):
            model.finish()
    assert_array_equal(model.dual_coef_, before[0])
    assert_array_equal(model.decision_function(X), before[1])
    assert model.finish().kkt_violation_ <= 1e-3


def test_a_refused_batch_opens_no_heads(stream):
    X, y = stream
    for multi_class in ("ovo", "ovr"):
        model = LASVC(kernel="linear", random_state=0, multi_class=multi_class).partial_fit(X, y)
        held, before = len(model.ids_), model.decision_function(X)
        with pytest.raises(InvalidInputError, match="overflows"):
            model.partial_fit(np.full((1, 4), 1e200), [2])
        assert model.n_samples_seen_ == 300
        assert len(model.ids_) == held
        assert_array_equal(model.decision_function(X), before)
        assert_array_equal(model.classes_, [0, 1])
        assert model.dual_coef_.shape[0] == 1
        more = np.random.default_rng(1).normal(size=(1000, 4))
        model.partial_fit(more, (more[:, 0] > 0).astype(int))
        assert len(model.ids_) < 400


def test_a_batch_without_weight_is_passed_over(stream):
    X, y = stream
    model = LASVC(random_state=0).partial_fit(X, y)
    before = model.decision_function(X)
    model.partial_fit(X[:3], y[:3], sample_weight=np.zeros(3))
    assert model.n_samples_seen_ == 303
    assert_array_equal(model.decision_function(X), before)


@pytest.mark.parametrize("C", [1e-5, 1e-3, 1.0])
def test_small_costs(stream, C):
    X, y = stream
    online = LASVC(C=C, gamma=0.25, random_state=0, epochs=3, tol=1e-6).fit(X, y)
    exact = SVC(C=C, gamma=0.25).fit(X, y)
    assert online.dual_objective_ > 0.98 * exact.dual_objective_


def test_numbers_that_are_too_large(stream):
    X, y = stream
    with pytest.raises(InvalidInputError, match="must stay below"):
        LASVC(C=1e300).fit(X, y)
    with pytest.raises(InvalidInputError, match="must stay below"):
        LASVC(C=10.0).fit(X, y, sample_weight=np.full(300, 1e200))


def test_balanced_weights_can_be_finished(stream):
    X, y = stream
    model = LASVC(class_weight="balanced", finishing=False, random_state=0).fit(X, y)
    assert model.finish().fit_status_ == 0
    assert model.n_iter_[0] > 0


def test_steps_are_counted(stream):
    X, y = stream
    assert LASVC(random_state=0, finishing=False).fit(X, y).n_iter_[0] >= 300
