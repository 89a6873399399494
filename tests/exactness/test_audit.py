"""What a model says of itself: the violation it reports, and when it calls itself exact."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from supple import SVC, SVDD, SVR, NuSVC, OneClassSVM

EXTENDED = np.finfo(np.longdouble).eps < np.finfo(np.float64).eps


def kernel_matrix(model, X):
    """Return the kernel matrix of the rows of X in extended precision."""
    X = np.asarray(X.todense() if sparse.issparse(X) else X).astype(np.longdouble)
    if model.kernel == "rbf":
        return np.exp(-model.gamma * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    if model.kernel == "poly":
        return (model.gamma * (X @ X.T) + model.coef0) ** model.degree
    return X @ X.T


def violation(model, X, y):
    """Return the largest KKT violation of an SVC or SVR, from its public attributes."""
    x = np.zeros(len(X) if not sparse.issparse(X) else X.shape[0], dtype=np.longdouble)
    coef = model.dual_coef_
    x[model.support_] = np.ravel(coef.toarray() if sparse.issparse(coef) else coef)
    f = kernel_matrix(model, X) @ x + np.longdouble(model.intercept_[0])
    if isinstance(model, SVC):
        margin = y * f
        alpha, C = y * x, model.C
        below = np.where(alpha < C, 1.0 - margin, 0.0)
        above = np.where(alpha > 0.0, margin - 1.0, 0.0)
        return float(max(below.max(), above.max(), 0.0))
    worst = 0.0
    for sign in (1.0, -1.0):
        g = sign * (f - y) + model.epsilon  # gradient of alpha (+1) or alpha* (-1)
        alpha = np.maximum(sign * x, 0.0)
        worst = max(worst, np.where(alpha < model.C, -g, 0.0).max())
        worst = max(worst, np.where(alpha > 0.0, g, 0.0).max())
    return float(worst / (np.abs(y) + model.epsilon).max())


@pytest.mark.skipif(not EXTENDED, reason="long double is no longer than double here")
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
@pytest.mark.parametrize("size", [1e-3, 1.0, 100.0, 1e4])
@pytest.mark.parametrize("C", [1e-2, 10.0, 1e5])
def test_a_model_never_calls_itself_exact_in_vain(form, kernel, size, C):
    rng = np.random.default_rng(round(size * 7 + C) % 1000)
    X = size * rng.normal(size=(40, 3))
    y = np.sign(X[:, 0] / size + rng.normal(size=40))
    t = X[:, 1] / size + rng.normal(size=40)
    for model, target in (
        (SVC(C=C, kernel=kernel, gamma=1.0 / size**2, coef0=1.0, degree=2), y),
        (SVR(C=C, kernel=kernel, gamma=1.0 / size**2, coef0=1.0, degree=2), t),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(form(X), target).forget([0, 1, 2])
        kept = model.ids_
        true = violation(model, form(X[kept]), target[kept])
        assert model.kkt_violation_ == pytest.approx(true, rel=1e-3, abs=1e-9)
        if model.exact_:
            assert true <= 1e-8


def test_an_inexact_model_warns():
    rng = np.random.default_rng(0)
    X = 1e4 * rng.normal(size=(40, 3))
    y = np.sign(rng.normal(size=40))
    with pytest.warns(UserWarning, match=r"hold to .* not to 1e-08 as promised"):
        model = SVC(kernel="linear", C=1e4).fit(X, y)
    assert not model.exact_
    assert model.kkt_violation_ > 1e-8


@pytest.mark.parametrize(
    "model",
    [
        SVDD(kernel="poly", coef0=1.0, gamma=1.0, C=0.5),
        OneClassSVM(kernel="poly", coef0=1.0, gamma=1.0, nu=0.3),
        NuSVC(kernel="poly", coef0=1.0, gamma=1.0, nu=0.3),
        SVC(kernel="poly", coef0=1.0, gamma=1.0),
        SVR(kernel="poly", coef0=1.0, gamma=1.0),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("leave", ["forget", "reweight"])
def test_scale_that_is_gone_sets_no_tolerance(model, leave):
    model = clone(model)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = np.sign(X[:, 0] + 0.5 * rng.normal(size=30))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # with the large example the model may be inexact
        model.partial_fit(X, y).partial_fit([[1e3, 1e3]], [1.0])
    if leave == "forget":
        model.forget([30])
    else:
        model.reweight([30], 0.0)
    fresh = clone(model).fit(X, y)
    assert model.exact_
    assert fresh.exact_
    np.testing.assert_allclose(
        model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X),
        fresh.decision_function(X) if hasattr(fresh, "decision_function") else fresh.predict(X),
        rtol=1e-8,
        atol=1e-8,
    )


def test_weight_zero_sets_no_scale():
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = SVDD(kernel="poly", coef0=1.0, gamma=1.0, C=0.5)
    model.fit(np.vstack([X, [[1e3, 1e3]]]), sample_weight=[1.0] * 30 + [0.0])
    assert model.exact_
    assert model.kkt_violation_ <= 1e-12


def test_without_margin_vectors_the_intercept_has_one_value():
    # All variables end on a bound; rounding leaves some beside it when C comes back.
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(20, 1))
        y = np.sign(X[:, 0] + rng.normal(size=20))
        if abs(y.sum()) == 20:
            continue
        model = SVC(C=1.0, kernel="poly", degree=2, gamma=0.1).fit(X, y)
        before = model.decision_function(X)
        model.retune(C=1.0 / 3.0).retune(C=1.0)
        np.testing.assert_allclose(model.decision_function(X), before, atol=1e-9)


def test_nu_without_a_margin_warns_and_is_not_exact():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.sign(rng.normal(size=60))
    with pytest.warns(UserWarning, match=r"NuSVC\(nu=0.5\) leaves no margin"):
        model = NuSVC(kernel="linear", nu=0.5).fit(X, y)
    assert not model.exact_


def test_epsilon_zero_uses_one_variable_of_each_pair():
    rng = np.random.default_rng(0)
    X, t = rng.normal(size=(40, 2)), rng.normal(size=40)
    model = SVR(epsilon=0.0, C=1.0, gamma=0.5).fit(X, t)
    for i in range(10):
        model.forget([i])
        (machine,) = model._model.state.head_states.values()
        assert not (machine.core.x.reshape(-1, 2) != 0.0).all(axis=1).any()
        assert model.exact_


@pytest.mark.parametrize("seed", [5, 6])
def test_gradients_that_were_sharpened_begin_a_new_error_bound(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 2))
    t = 1.5 * np.sign(X[:, 0]) + X[:, 0] + 0.1 * rng.normal(size=30)
    model = SVR(gamma=1e8, C=1.0, epsilon=0.1, cache_size=1e-3).fit(X, t)
    for i in range(29):
        model.forget([i])
        assert model.exact_
        assert model.kkt_violation_ <= 1e-12


def test_a_solution_that_overflows_is_refused_or_finite():
    rng = np.random.default_rng(0)
    X, t = rng.normal(size=(20, 1)), rng.normal(size=20)
    model = SVR(kernel="poly", degree=4, gamma=1.0, coef0=1.0, C=10.0).fit(X, t)
    before = model.predict(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for size in (1e5, 1e20, 1e30):
            try:
                model.partial_fit([[size]], [1.0], ids=[99])
            except ValueError as error:
                assert "Scale the features" in str(error)  # noqa: PT017
            else:
                assert np.isfinite(model.predict(X)).all()
                model.forget([99])
    np.testing.assert_allclose(model.predict(X), before, atol=1e-8)
    assert model.exact_
