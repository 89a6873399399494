"""gamma="scale" comes from examples: what happens when these are forgotten."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from supple import SVC, SVR, BudgetSVC, SVIncrementalSVC
from supple.errors import (
    InexactWarning,
    InvalidInputError,
    SolverError,
    StaleGammaWarning,
    UnknownIdError,
)

BUDGETED = ("BudgetSVC", "BudgetSVDD")
CLOSE = {"rtol": 0, "atol": 1e-8}


def values(model, X):
    return getattr(model, "decision_function", model.predict)(X)


@pytest.fixture
def wide(data):
    """A first batch that is ten times as wide as the rest."""
    X, y = data
    X = X.copy()
    X[:12] *= 10.0
    return X, y


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_rescale_gives_the_fit_of_the_rest(make, wide, kind):
    X, y = wide
    model = make().partial_fit(kind(X[:12]), y[:12]).partial_fit(kind(X[12:]), y[12:])
    model.reweight([20, 30], [2.5, 0.0]).forget(np.arange(10), rescale=True)
    weight = np.ones(30)
    weight[[10, 20]] = 2.5, 0.0
    whole = make().fit(X[10:], y[10:], sample_weight=weight)
    assert model._gamma == pytest.approx(whole._gamma, rel=1e-12)
    assert_allclose(values(model, X), values(whole, X), **CLOSE)
    assert_array_equal(np.sort(model.ids_), np.arange(10, 40))
    assert model.n_samples_seen_ == 40
    # And on it goes, with the examples that are left as those that set the scale.
    model.partial_fit(X[:1], y[:1]).forget(40)
    assert_allclose(values(model, X), values(whole, X), **CLOSE)
    if type(model).__name__ not in BUDGETED:
        with pytest.warns(StaleGammaWarning):
            model.forget(11)


def test_warning_comes_once_and_names_the_remedy(make, wide):
    X, y = wide
    model = make().partial_fit(X[:12], y[:12]).partial_fit(X[12:], y[12:])
    gamma = model._gamma
    model.forget([20, 30])  # they came later
    if type(model).__name__ in BUDGETED:  # they forget by themselves, and promise less
        model.forget(0)
        return
    with pytest.warns(StaleGammaWarning, match=r"rescale=True") as caught:
        model.forget(0)
    assert caught[0].filename == __file__
    assert model._gamma == gamma
    model.forget([1, 2])
    model = pickle.loads(pickle.dumps(model)).forget(3)
    model.retune(gamma="scale")
    rest = np.delete(np.arange(40), [0, 1, 2, 3, 20, 30])
    assert_allclose(values(model, X), values(make().fit(X[rest], y[rest]), X), **CLOSE)
    with pytest.warns(StaleGammaWarning):
        model.forget(4)


@pytest.mark.parametrize(
    "params",
    [{"gamma": "auto"}, {"gamma": 0.5}, {"kernel": "linear"}, {"kernel": lambda A, B: A @ B.T}],
)
def test_no_warning_where_no_example_sets_gamma(data, params):
    X, y = data
    model = SVC(**params).fit(X, y).forget(np.arange(5))
    whole = SVC(**params).fit(X[5:], y[5:])
    assert_allclose(values(model, X), values(whole, X), **CLOSE)
    if params.get("gamma") == 0.5:
        with pytest.raises(InvalidInputError, match=r"'gamma' parameter of SVC is 0\.5"):
            model.forget(5, rescale=True)
        assert 5 in model.ids_
    else:
        model.forget(5, rescale=True)
        assert_allclose(values(model, X), values(SVC(**params).fit(X[6:], y[6:]), X), **CLOSE)


def test_examples_without_weight_set_no_scale(data):
    X, y = data
    weight = np.ones(40)
    weight[:3] = 0.0
    model = SVC().fit(X, y, sample_weight=weight).forget([0, 1])
    whole = SVC().fit(X[2:], y[2:], sample_weight=weight[2:])
    assert model._gamma == pytest.approx(whole._gamma)
    # Weights may change later: it set the scale when it had one.
    model.reweight([2, 3], [1.0, 0.0]).forget(2)
    with pytest.warns(StaleGammaWarning):
        model.forget(3)


@pytest.mark.parametrize(
    "make_kind", [lambda: BudgetSVC(budget=20, rule="relevance"), SVIncrementalSVC]
)
def test_those_that_forget_by_themselves(wide, make_kind):
    X, y = wide
    model = make_kind().partial_fit(X[:20], y[:20]).partial_fit(X[20:], y[20:])
    left = model.ids_[1:]
    model.forget(model.ids_[0]).forget(left[:2], rescale=True)
    assert_array_equal(np.sort(model.ids_), np.sort(left[2:]))
    points = X[left[2:]]
    weight = model._model.state.weight[np.argsort(model.ids_)]
    mean = np.average(points[np.argsort(left[2:])].mean(axis=1), weights=weight)
    square = ((points[np.argsort(left[2:])] - mean) ** 2).mean(axis=1)
    assert model._gamma == pytest.approx(1 / (3 * np.average(square, weights=weight)))


def test_an_empty_model_takes_gamma_from_the_next_batch(make, wide):
    X, y = wide
    model = make().fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.forget(model.ids_, rescale=True)
    before = model._gamma
    with pytest.raises(InvalidInputError):
        model.partial_fit(X[12:], y[12:], sample_weight=np.zeros(28))
    with pytest.raises(InvalidInputError):  # the boxes overflow, after gamma was set
        model.partial_fit(X[12:], y[12:], sample_weight=np.full(28, 1e200))
    assert model._gamma == before
    model.partial_fit(X[12:], y[12:])
    assert_allclose(values(model, X), values(make().fit(X[12:], y[12:]), X), **CLOSE)


def test_failure_leaves_the_model_as_it_was(wide, monkeypatch):
    X, y = wide
    model = SVC().fit(X, y)
    before, gamma, ids = values(model, X), model._gamma, model.ids_
    with pytest.raises(UnknownIdError):
        model.forget([0, 77], rescale=True)
    with monkeypatch.context() as patch:

        def fail(*args, **kwargs):
            raise SolverError("no")

        patch.setattr("supple.engine.engine.start_together", fail)
        with pytest.raises(SolverError):
            model.forget(np.arange(10), rescale=True)
    assert model._gamma == gamma
    assert_array_equal(model.ids_, ids)
    assert_array_equal(values(model, X), before)
    with pytest.warns(StaleGammaWarning):
        model.forget(0)
    model.forget(np.arange(1, 10), rescale=True)
    assert_allclose(values(model, X), values(SVC().fit(X[10:], y[10:]), X), **CLOSE)


def test_an_error_of_a_listener_comes_after_the_fact(wide):
    X, y = wide
    model = SVC().fit(X, y)

    def listen(step):
        raise RuntimeError("told")

    model._model.engine.run.listeners.append(listen)
    with pytest.raises(RuntimeError, match="told"):
        model.forget(np.arange(10), rescale=True)
    model._model.engine.run.listeners.clear()
    whole = SVC().fit(X[10:], y[10:])
    assert model._gamma == pytest.approx(whole._gamma)
    assert_allclose(values(model, X), values(whole, X), **CLOSE)


def test_several_classes_of_which_one_goes(iris):
    X, y = iris
    for multi_class in ("ovo", "ovr"):
        model = SVC(multi_class=multi_class).fit(X, y).forget(np.arange(50), rescale=True)
        whole = SVC(multi_class=multi_class).fit(X[50:], y[50:])
        assert_array_equal(model.classes_, whole.classes_)
        assert_allclose(values(model, X), values(whole, X), **CLOSE)


def test_indefinite_kernels_and_regression(wide):
    X, y = wide
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InexactWarning)
        model = SVC(kernel="sigmoid").fit(X, y).forget(np.arange(12), rescale=True)
    assert model._gamma == pytest.approx(1 / (3 * X[12:].var()))
    assert not model.exact_
    targets = X[:, 0] + 0.1 * y
    model = SVR(kernel="poly").fit(X, targets).forget(np.arange(12), rescale=True)
    whole = SVR(kernel="poly").fit(X[12:], targets[12:])
    assert_allclose(values(model, X), values(whole, X), rtol=1e-8, atol=1e-8)
