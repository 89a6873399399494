"""LASVC: close to SVC after some passes, exact to `tol` on what it keeps, and it keeps little."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits, make_moons

from supple import LASVC, SVC, InvalidInputError


@pytest.fixture
def moons():
    return make_moons(300, noise=0.25, random_state=0)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:600] / 16, y[:600]


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_several_epochs_reach_the_optimum(moons, form, kernel):
    X, y = moons
    settings = {"C": 2.0, "gamma": 1.0, "kernel": kernel}
    exact = SVC(**settings).fit(X, y)
    online = LASVC(**settings, epochs=20, tol=1e-4, random_state=0).fit(form(X), y)
    assert_allclose(online.dual_objective_, exact.dual_objective_, rtol=1e-4)
    difference = online.decision_function(form(X)) - exact.decision_function(X)
    assert np.abs(difference).max() < 0.02


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_several_classes(digits, multi_class):
    X, y = digits
    settings = {"C": 10.0, "gamma": 0.05, "multi_class": multi_class}
    online = LASVC(**settings, epochs=5, random_state=0).fit(X[:400], y[:400])
    exact = SVC(**settings).fit(X[:400], y[:400])
    assert_allclose(online.dual_objective_, exact.dual_objective_, rtol=1e-3)
    assert online.score(X[400:], y[400:]) >= exact.score(X[400:], y[400:]) - 0.01


def test_finish_satisfies_the_conditions_on_what_is_kept(moons):
    X, y = moons
    model = LASVC(C=5.0, gamma=1.0, tol=1e-3, random_state=1, finishing=False).fit(X, y)
    assert model.fit_status_ == 1
    assert model.kkt_violation_ > 1e-3
    model.finish()
    assert model.fit_status_ == 0
    assert model.kkt_violation_ <= 1e-3
    kept = np.isin(np.arange(len(X)), model.ids_)
    exact = SVC(C=5.0, gamma=1.0).fit(X[kept], y[kept])
    assert_allclose(model.dual_objective_, exact.dual_objective_, rtol=1e-4)


def test_a_stream_needs_only_the_expansion():
    rng = np.random.default_rng(0)
    model = LASVC(C=1.0, gamma=0.5, random_state=0)
    largest = 0
    for _ in range(600):
        label = rng.integers(2)
        model.partial_fit(rng.normal(size=(1, 2)) + 3 * label, [label])
        largest = max(largest, len(model.ids_))
    assert model.n_samples_seen_ == model.n_process_ == 600
    assert largest < 100
    assert set(model.support_ids_) <= set(model.ids_)
    X = np.vstack([rng.normal(size=(200, 2)), rng.normal(size=(200, 2)) + 3])
    assert model.finish().score(X, np.repeat([0, 1], 200)) > 0.95


def test_classes_may_come_later(digits):
    X, y = digits
    model = LASVC(C=10.0, gamma=0.05, random_state=0)
    for label in range(4):
        model.partial_fit(X[y == label], y[y == label])
        assert_array_equal(model.classes_, np.arange(label + 1))
    seen = y < 4
    model.partial_fit(X[seen], y[seen])
    assert model.finish().score(X[seen], y[seen]) > 0.98


@pytest.mark.parametrize("selection", ["random", "gradient", "active", "autoactive"])
def test_share_limits_what_is_processed(moons, selection):
    X, y = moons
    model = LASVC(gamma=1.0, selection=selection, share=0.3, random_state=0).fit(X, y)
    assert model.n_process_ == 90
    assert model.n_samples_seen_ == 300
    assert model.score(X, y) > 0.85


def test_selection_depends_on_the_seed_only(moons):
    X, y = moons
    settings = {"gamma": 1.0, "selection": "active", "share": 0.5}
    one, two = (LASVC(**settings, random_state=3).fit(X, y) for _ in range(2))
    assert_array_equal(one.decision_function(X), two.decision_function(X))
    other = LASVC(**settings, random_state=4).fit(X, y)
    assert not np.array_equal(one.decision_function(X), other.decision_function(X))


def test_a_saved_model_goes_on_as_if_nothing_had_happened(moons):
    X, y = moons
    model = LASVC(gamma=1.0, random_state=0).partial_fit(X[:150], y[:150])
    again = pickle.loads(pickle.dumps(model))
    for one in (model, again):
        one.partial_fit(X[150:], y[150:])
    assert_array_equal(again.ids_, model.ids_)
    assert_array_equal(again.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_a_saved_model_of_many_classes_goes_on_to_the_last_bit(digits, multi_class):
    X, y = digits
    model = LASVC(C=10.0, gamma=0.05, random_state=0, multi_class=multi_class)
    model.partial_fit(X[:400], y[:400])
    again = pickle.loads(pickle.dumps(model))
    for one in (model, again):
        one.partial_fit(X[400:], y[400:])
    assert_array_equal(again.ids_, model.ids_)
    assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_machines_keep_only_what_they_use(digits):
    X, y = digits
    model = LASVC(C=10.0, gamma=0.05, random_state=0, finishing=False).fit(X, y)
    members = [head.core.members for head in model._model.state.head_states.values()]
    assert sum(members) < 5 * len(model.ids_)  # of the nine machines that each may be in
    held = np.unique(np.concatenate([h.core.slot for h in model._model.state.head_states.values()]))
    assert_array_equal(held, np.arange(len(model.ids_)))


@pytest.mark.parametrize("cache_size", [1e-4, 200])
def test_single_calls_do_as_well_as_a_batch(digits, cache_size):
    X, y = digits
    settings = {"C": 10.0, "gamma": 0.05, "random_state": 0, "cache_size": cache_size}
    batch = LASVC(**settings).partial_fit(X[:500], y[:500])
    single = LASVC(**settings)
    for k in range(500):
        single.partial_fit(X[k : k + 1], y[k : k + 1])
    assert single.n_process_ == 500
    assert single.finish().score(X[500:], y[500:]) >= batch.finish().score(X[500:], y[500:]) - 0.03


def test_weights(moons):
    X, y = moons
    weight = np.where(np.arange(300) < 200, 1.0, 0.0)
    model = LASVC(gamma=1.0, random_state=0).fit(X, y, sample_weight=weight)
    assert model.n_process_ == 200
    assert model.ids_.max() < 200
    heavy = LASVC(gamma=1.0, random_state=0, class_weight={1: 20.0}).fit(X, y)
    assert (heavy.predict(X) == 1).mean() > (model.predict(X) == 1).mean()


def test_interrupted_work_leaves_the_model_as_it_was(moons, monkeypatch):
    X, y = moons
    model = LASVC(gamma=1.0, random_state=0, verbose=1).partial_fit(X[:150], y[:150])
    twin = copy.deepcopy(model)

    def stop(self, noun, number, total):
        if number == 100:
            raise KeyboardInterrupt

    monkeypatch.setattr("supple.progress.Progress.at", stop)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X[150:], y[150:])
    monkeypatch.undo()
    for other in (model, twin):  # both go on alike, to the last bit
        assert other.n_process_ == 150
        other.partial_fit(X[150:], y[150:])
    assert_array_equal(model.ids_, twin.ids_)
    assert_array_equal(model.dual_coef_, twin.dual_coef_)


def test_an_interrupted_new_class_is_still_new(digits, monkeypatch):
    X, y = digits
    few = y < 4
    model = LASVC(gamma=0.05, random_state=0, verbose=1).partial_fit(X[few], y[few])
    twin = copy.deepcopy(model)

    def stop(self, noun, number, total):
        if number == 100:
            raise KeyboardInterrupt

    monkeypatch.setattr("supple.progress.Progress.at", stop)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X, y)
    monkeypatch.undo()
    for other in (model, twin):
        assert_array_equal(other.classes_, np.arange(4))
        other.partial_fit(X, y)
    assert_array_equal(model.ids_, twin.ids_)
    assert_array_equal(model.decision_function(X), twin.decision_function(X))


def test_an_online_machine_does_not_pretend_to_unlearn(moons):
    model = LASVC().fit(*moons)
    assert not model.exact_
    for name in ("forget", "reweight", "retune"):
        assert not hasattr(model, name)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"C": 0.0}, "The 'C' parameter of LASVC"),
        ({"kernel": "precomputed"}, "The 'kernel' parameter of LASVC"),
        ({"selection": "best"}, "The 'selection' parameter of LASVC"),
        ({"share": 0.0}, "The 'share' parameter of LASVC"),
        ({"epochs": 0}, "The 'epochs' parameter of LASVC"),
    ],
)
def test_bad_parameters(moons, settings, message):
    with pytest.raises(ValueError, match=message):
        LASVC(**settings).fit(*moons)


def test_bad_input_leaves_the_model_as_it_was(moons):
    X, y = moons
    model = LASVC(gamma=1.0, random_state=0).fit(X, y)
    before = model.decision_function(X)
    bad = X.copy()
    bad[3, 1] = np.nan
    for args, message in [
        ((bad, y), "NaN"),
        ((X[:, :1], y), "features"),
        ((X[:0], y[:0]), "0 sample"),
        ((X, y[:5]), "inconsistent"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.partial_fit(*args)
        assert_array_equal(model.decision_function(X), before)
    with pytest.raises(InvalidInputError, match="greater than one"):
        LASVC().fit(X[:5], np.zeros(5))


def test_copies_of_one_example():
    X = np.ones((20, 2))
    model = LASVC(random_state=0).fit(X, np.arange(20) % 2)
    assert np.isfinite(model.decision_function(X)).all()
