"""Numbers beyond all reason end in an error of supple or in finite values, never in a warning of
NumPy (which the test runner turns into an error)."""

import warnings
from contextlib import suppress
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

from supple import SVC, SVDD, SVR, NuSVC, OneClassSVM, SVIncrementalSVC
from supple import errors as own
from supple.errors import InvalidInputError, SuppleError

MODELS = {
    "SVC": lambda **k: SVC(max_iter=1000, **k),
    "NuSVC": lambda **k: NuSVC(nu=0.3, max_iter=1000, **k),
    "SVR": lambda **k: SVR(max_iter=1000, **k),
    "OneClassSVM": lambda **k: OneClassSVM(nu=0.3, max_iter=1000, **k),
    "SVDD": lambda **k: SVDD(**{"C": 0.5, "max_iter": 1000, **k}),
}
SIZES = (1e-300, 1e-150, 1e-20, 1e20, 1e150, 1e300)


def data(scale=1.0):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(16, 3))
    y = np.arange(16) % 2
    X[y == 1] += 1.0
    with np.errstate(over="ignore"):
        return np.clip(X * scale, -1.7e308, 1.7e308), y


def live(model, X, y, query, weight=1.0):
    """Take a model through its life; of a step that is refused the model takes no notice."""

    def decide():
        values = getattr(model, "decision_function", model.predict)(query)
        assert np.isfinite(values).all()
        model.predict(query)

    with warnings.catch_warnings():
        for name in own.__all__:
            if name.endswith("Warning"):
                warnings.simplefilter("ignore", getattr(own, name))
        with suppress(SuppleError):
            model.partial_fit(X[:12], y[:12])
        if not hasattr(model, "_model"):
            return
        for step in (
            decide,
            lambda: model.partial_fit(X[12:], y[12:], sample_weight=np.full(4, weight)),
            lambda: model.reweight(model.ids_[:2], [2.0 * weight, 0.0]),
            lambda: model.forget(model.ids_[:2]),
            decide,
            lambda: model.kkt_violation_,
            lambda: model.dual_objective_,
        ):
            with suppress(SuppleError):
                step()


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "sigmoid"])
@pytest.mark.parametrize("name", MODELS)
def test_kernel_parameters_and_features(name, kernel):
    X, y = data()
    for gamma in (*SIZES, "scale"):
        live(MODELS[name](kernel=kernel, gamma=gamma), X, y, X)
    for scale, gamma in product(SIZES, (1e-300, 1.0, 1e300, "scale", "auto")):
        big = data(scale)[0]
        for form in (np.asarray, sp.csr_array):
            live(MODELS[name](kernel=kernel, gamma=gamma), form(big), y, form(X))
            live(MODELS[name](kernel=kernel, gamma=gamma), form(X), y, form(big))
        mixed = np.vstack([X[:12], big[12:]])
        live(MODELS[name](kernel=kernel, gamma=gamma), mixed, y, X)


@pytest.mark.parametrize("kernel", ["poly", "sigmoid"])
@pytest.mark.parametrize("name", MODELS)
def test_degree_and_coef0(name, kernel):
    y = data()[1]
    for coef0, gamma, scale in product((-1e300, 1e-300, 1e150), (1e-300, 1.0, 1e300), (1.0, 1e140)):
        live(
            MODELS[name](kernel=kernel, gamma=gamma, coef0=coef0), data(scale)[0], y, data(1e20)[0]
        )
    for degree, scale in product((0, 50, 2**31 - 1), (1e-150, 1.0, 1e10)):
        X = data(scale)[0]
        live(MODELS[name](kernel=kernel, gamma=1.0, degree=degree, coef0=1.0), X, y, X)


@pytest.mark.parametrize("name", MODELS)
def test_costs_and_weights(name):
    X, y = data()
    for size, weight in product((*SIZES, 1.7e308), (1e-300, 1.0, 1e250, 1.7e308)):
        for parameter in {"C", "epsilon"} & set(MODELS[name]().get_params()):
            live(MODELS[name](gamma=1.0, **{parameter: size}), X, y, X, weight)
            model = MODELS[name](gamma=1.0).fit(X, y)
            with suppress(SuppleError):
                model.retune(**{parameter: size})
            model.predict(X)
        if "class_weight" in MODELS[name]().get_params():
            live(MODELS[name](gamma=1.0, class_weight={0: size, 1: 1.0}), X, y, X, weight)
        if name == "SVR":
            with np.errstate(over="ignore"):
                live(MODELS[name](gamma=1.0), X, np.clip(X[:, 0] * size, -1e308, 1e308), X, weight)


@pytest.mark.parametrize("size", SIZES)
def test_factors_of_old_support_vectors(size):
    X, y = data()
    for factor, half_life in ((size, None), (size, 1 / size), (1.7e308, size)):
        model = SVIncrementalSVC(
            sv_weight="ruping", factor=factor, half_life=half_life, gamma=1.0, C=1e-3
        )
        live(model, X, y, X, 1e20)


@pytest.mark.parametrize("kernel", ["rbf", "sigmoid"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_examples_whose_products_overflow_are_refused(kernel, form):
    X, y = data()
    model = SVC(kernel=kernel, gamma=1.0).fit(form(X), y)
    before = model.decision_function(X)
    with pytest.raises(InvalidInputError, match="squared norms of the examples"):
        model.partial_fit(form(data(1e160)[0]), y)
    assert len(model.ids_) == 16
    np.testing.assert_array_equal(model.decision_function(X), before)
    model.partial_fit(form(X[:1]), y[:1]).forget(model.ids_[-1:])
    np.testing.assert_allclose(model.decision_function(X), before, rtol=0, atol=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_queries_whose_products_overflow(form):
    X, y = data()
    far = form(data(1e200)[0])
    model = SVC(gamma=1.0).fit(form(X), y)
    np.testing.assert_array_equal(model.decision_function(far), np.full(16, model.intercept_[0]))
    for kernel in ("linear", "poly", "sigmoid"):
        model = SVC(kernel=kernel, gamma=1.0).fit(form(X), y)
        with pytest.raises(InvalidInputError, match="overflows at row 0 of X"):
            model.predict(far)
