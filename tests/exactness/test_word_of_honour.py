"""exact_ is a word of honour: models that once claimed to be exact and were not.

Every model is judged by the certificate of the fuzzer, in extended precision and from public
attributes alone.
"""

import contextlib

import numpy as np
import pytest
from fuzzing.certificate import certify
from fuzzing.kernels import KernelFailure, PythonKernel
from fuzzing.reading import Held, decisions, problems
from fuzzing.walk import same_state, state
from scipy import sparse

import supple
from supple.errors import InexactWarning, InfeasibleError, InvalidInputError, NotReadyWarning

# A model that says that it is not exact keeps its word, too.
pytestmark = [
    pytest.mark.filterwarnings("ignore::supple.errors.NotConvergedWarning"),
    pytest.mark.filterwarnings("ignore::supple.errors.InexactWarning"),
]


def honest(model, X, y=None) -> None:
    """Assert that kkt_violation_ is what the certificate measures, and exact_ no lie."""
    n = len(X)
    y = np.zeros(n) if y is None else np.asarray(y)
    held = Held(
        type(model).__name__, X, y, np.ones(n), {"multi_class": "ovo", **model.get_params()}
    )
    for problem in problems(model, held):
        found = certify(problem)
        if model.exact_:
            assert found.violation <= found.allowed
            assert found.own <= found.allowed
        assert model.kkt_violation_ == pytest.approx(
            found.own, rel=0.1, abs=1e-9 + 64 * (found.rounding + found.own_rounding)
        )


def test_scale_of_a_forgotten_example_is_gone():
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = supple.SVDD(kernel="poly", coef0=1, gamma=1.0, C=0.5).partial_fit(X)
    model.partial_fit([[1e3, 1e3]]).forget([30])
    assert model.ids_.tolist() == list(range(30))
    assert model.exact_
    honest(model, X)


@pytest.mark.parametrize("far", [30.0, 1e3, 1e6])
@pytest.mark.parametrize("kernel", ["linear", "poly"])
@pytest.mark.parametrize("name", ["SVC", "NuSVC", "SVR", "OneClassSVM", "SVDD"])
def test_visitor_from_far_away_leaves_no_trace(name, kernel, far):
    rng = np.random.default_rng(7)
    y = np.arange(30) % 2
    X = rng.normal(size=(30, 2)) + 3.0 * y[:, None] + 2.0
    model = getattr(supple, name)(kernel=kernel, gamma=0.5, coef0=1.0, degree=2)
    targets = {"y": y} if name in ("SVC", "NuSVC", "SVR") else {}
    model.fit(X, **targets)
    before = model.decision_function(X) if name != "SVR" else model.predict(X)
    visitor = {"y": [far if name == "SVR" else 1]} if targets else {}  # a support vector
    model.partial_fit([[-far, 0.5 * far]], **visitor).forget([30])
    honest(model, X, y)
    assert model.exact_
    after = model.decision_function(X) if name != "SVR" else model.predict(X)
    np.testing.assert_allclose(after, before, atol=1e-6 * np.abs(before).max())


@pytest.mark.parametrize(("seed", "noise"), [(5, 0.1), (5, 0.5), (6, 1.0)])
def test_small_cache_and_a_kernel_that_is_the_identity(seed, noise):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 2))
    t = 1.5 * np.sign(X[:, 0]) + X[:, 0] + noise * rng.normal(size=30)
    model = supple.SVR(gamma=1e8, C=1.0, epsilon=0.1, cache_size=1e-3).fit(X, t)
    for i in range(29):
        honest(model, X[model.ids_], t[model.ids_])
        model.forget(i)


@pytest.mark.parametrize("offset", [1e5, 1e6, 1e7])
def test_sparse_rows_far_from_the_origin(offset):
    rng = np.random.default_rng(1)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 3)) + y[:, None] + offset
    model = supple.SVC(gamma=0.5, C=10.0).fit(sparse.csr_matrix(X), y)
    assert model.exact_
    honest(model, X, y)
    held = Held("SVC", X, y, np.ones(40), model.get_params())
    f, terms = decisions(model, held, X)
    got = model.decision_function(sparse.csr_matrix(X))
    assert np.abs(got - f[:, 0]).max() <= 1e-12 * terms.max()


def test_large_linear_features_and_cost():
    rng = np.random.default_rng(0)
    X = 100 * rng.normal(size=(50, 3))
    y = np.where(rng.random(50) < 0.5, -1, 1)
    model = supple.SVC(kernel="linear", C=1e4).fit(X, y)
    honest(model, X, y)
    model.forget(range(10))
    honest(model, X[model.ids_], y[model.ids_])


@pytest.mark.parametrize(("n", "seed"), [(10, 4), (20, 6)])
def test_intercept_does_not_remember_other_costs(n, seed):
    X = np.random.default_rng(seed).normal(size=(n, 1))
    y = (np.arange(n) >= n // 2).astype(int)  # all at their bounds: mu has an interval
    model = supple.SVC(C=1.0, kernel="poly", degree=2, gamma=0.1).fit(X, y)
    before = model.intercept_
    model.retune(C=1 / 3).retune(C=1.0)
    np.testing.assert_allclose(model.intercept_, before, atol=1e-9)


def test_nu_svc_says_that_it_has_no_margin():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    rng.shuffle(y)
    model = supple.NuSVC(nu=0.5, kernel="linear")
    try:
        with pytest.warns((NotReadyWarning, InexactWarning)):
            model.fit(X, y)
        said = True
    except InfeasibleError:
        return
    except pytest.fail.Exception:
        said = not model.exact_
    assert said, f"max |f| {np.abs(model.decision_function(X)).max():.1e} without a word"


@pytest.mark.parametrize("name", ["BudgetSVC", "SVIncrementalSVC"])
def test_failing_kernel_leaves_a_memory_as_it_was(name):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    kernel = PythonKernel("laplace", 0.5)
    sized = {"budget": 25} if name == "BudgetSVC" else {}
    model = getattr(supple, name)(kernel=kernel, C=10.0, **sized).partial_fit(X[:30], y[:30])
    before, f = state(model), model.decision_function(X)
    for calls in range(6):
        kernel.fuse = calls
        with pytest.raises(KernelFailure):
            model.partial_fit(X[30:], y[30:])
        kernel.fuse = None
        assert same_state(before, state(model))
        np.testing.assert_allclose(model.decision_function(X), f, rtol=1e-12)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
@pytest.mark.parametrize("name", ["SVC", "SVR", "SVDD"])
def test_far_queries_are_not_answered_with_nan(name, kernel):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(20, 2)), np.arange(20) % 2
    model = getattr(supple, name)(kernel=kernel, gamma=0.5)
    model.fit(X, y) if name != "SVDD" else model.fit(X)
    decide = model.predict if name == "SVR" else model.decision_function
    with contextlib.suppress(InvalidInputError):
        assert not np.isnan(decide(1e200 * X)).any()
