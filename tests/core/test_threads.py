"""The number of threads: what is accepted, what is refused, when it takes effect."""

import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.base import clone

from supple import SVC, SVDD, SVR, NuSVC, OneClassSVM

MODELS = [SVC(), NuSVC(nu=0.6), SVR(), OneClassSVM(), SVDD(C=0.05)]
REFUSED = [0, 1.5, 2.0, "2", [1], np.nan, 10**30, -(10**30)]


@pytest.fixture(params=MODELS, ids=lambda model: type(model).__name__)
def model(request):
    return clone(request.param).set_params(gamma=0.3)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    return X, (X[:, 0] + 0.5 * rng.normal(size=120) > 0).astype(int)


def names_the_parameter(model):
    return pytest.raises(ValueError, match=f"'n_jobs' parameter of {type(model).__name__} must")


def state(model):
    return model.dual_coef_, model.intercept_, model.support_, model.ids_


def assert_same_state(before, after):
    for a, b in zip(before, after, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 3, -1, -2, -1000, 1000, np.int64(2), True])
def test_accepted(model, data, n_jobs):
    X, y = data
    want = clone(model).fit(X, y)
    model.set_params(n_jobs=n_jobs).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), want.predict(X))
    model.partial_fit(X[:1], y[:1]).forget([0]).reweight([1], 0.5)
    assert model.kkt_violation_ <= 1e-8
    assert model.get_params()["n_jobs"] is n_jobs


@pytest.mark.parametrize("n_jobs", REFUSED, ids=str)
def test_refused_by_the_first_fit(model, data, n_jobs):
    X, y = data
    model.set_params(n_jobs=n_jobs)
    for method in (model.fit, model.partial_fit):
        with names_the_parameter(model):
            method(X, y)
    assert not hasattr(model, "dual_coef_")
    assert not hasattr(model, "n_features_in_")
    model.set_params(n_jobs=None).fit(X, y)


@pytest.mark.parametrize("n_jobs", REFUSED, ids=str)
def test_refused_by_updates(model, data, n_jobs):
    X, y = data
    model.fit(X, y)
    before = state(model)
    model.set_params(n_jobs=n_jobs)
    for update in (
        lambda: model.fit(X[:50], y[:50]),
        lambda: model.partial_fit(X[:5], y[:5]),
        lambda: model.forget([0, 1]),
        lambda: model.reweight([2], 3.0),
        lambda: model.retune(gamma=0.5),
    ):
        with names_the_parameter(model):
            update()
        assert_same_state(before, state(model))
    model.set_params(n_jobs=2).partial_fit(X[:5], y[:5])
    assert len(model.ids_) == len(X) + 5
    assert model.kkt_violation_ <= 1e-8


@pytest.mark.parametrize("n_jobs", REFUSED, ids=str)
def test_refused_by_predictions(model, data, n_jobs):
    X, y = data
    model.fit(X, y)
    before = model.predict(X)
    with names_the_parameter(model):
        model.set_params(n_jobs=n_jobs).predict(X)
    np.testing.assert_array_equal(model.set_params(n_jobs=1).predict(X), before)


def test_changed_at_any_time(model, data):
    X, y = data
    model.fit(X[:100], y[:100]).set_params(n_jobs=2)
    model.partial_fit(X[100:], y[100:]).retune(gamma=0.2)
    want = clone(model).set_params(n_jobs=1).fit(X, y)
    np.testing.assert_allclose(model.dual_objective_, want.dual_objective_, rtol=1e-9)
    for n_jobs in (2, -1, None):
        got = model.set_params(n_jobs=n_jobs).predict(X)
        np.testing.assert_allclose(got, want.predict(X), atol=1e-9)


def test_travels_with_the_model(data):
    X, y = data
    model = pickle.loads(pickle.dumps(SVC(n_jobs=2).fit(X, y)))
    assert model.n_jobs == 2
    assert model.partial_fit(X[:1], y[:1]).kkt_violation_ <= 1e-8
    assert clone(model).n_jobs == 2
    assert "n_jobs=2" in repr(model)


CONCURRENT = """
from concurrent.futures import ThreadPoolExecutor
import numpy as np
import supple

rng = np.random.default_rng(0)
X = rng.normal(size=(600, 3000))
y = rng.integers(0, 2, len(X))
with ThreadPoolExecutor(4) as pool:
    for n in (500, 520, 540, 560):
        model = supple.SVC(C=0.1).fit(X[:n], y[:n])
        several = list(pool.map(model.decision_function, [X[:300], X[300:]] * 2))
        alone = model.decision_function(X)
        assert np.allclose(np.concatenate(several), np.r_[alone, alone])
"""


def test_predictions_of_one_model_in_several_threads():
    """In a process of its own, as it used to end by a segmentation fault."""
    assert subprocess.run([sys.executable, "-c", CONCURRENT], timeout=100).returncode == 0


# ----------------------------------------------------------------------------- threads that wait


FORKED = """
import os
import numpy as np
import supple

rng = np.random.default_rng(0)
X, y = rng.normal(size=(3000, 5)), np.arange(3000) % 2
before = supple.SVC(n_jobs=2).fit(X, y).decision_function(X[:9])
child = os.fork()
after = supple.SVC(n_jobs=2).fit(X, y).decision_function(X[:9])
assert np.allclose(before, after, atol=1e-9)
if child:
    assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_process_has_threads_of_its_own():
    subprocess.run([sys.executable, "-c", FORKED], check=True, timeout=60)


def test_fits_side_by_side():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(3000, 5)), np.arange(3000) % 2
    alone = SVC(n_jobs=2).fit(X, y).decision_function(X[:9])
    with ThreadPoolExecutor(4) as pool:
        models = [pool.submit(SVC(n_jobs=2).fit, X, y) for _ in range(4)]
        for model in models:
            np.testing.assert_allclose(
                model.result().decision_function(X[:9]), alone, rtol=0, atol=1e-9
            )


@pytest.mark.parametrize("n", [3, 47, 48, 49, 127, 321, 700, 1100])
def test_margin_sets_of_any_size(n):
    """Random labels and a large C: all examples are on the margin, and the factor is as large."""
    rng = np.random.default_rng(n)
    X, y = rng.normal(size=(n, 12)), np.arange(n) % 2
    models = [SVC(C=1e4, gamma=0.5, n_jobs=k).fit(X, y) for k in (1, 2, 3)]
    assert len(models[0].support_) == n
    for model in models:
        assert model.exact_
        assert model.kkt_violation_ < 1e-10
        np.testing.assert_allclose(
            model.decision_function(X), 2.0 * (y > 0) - 1.0, rtol=0, atol=1e-9
        )
