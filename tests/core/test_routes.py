"""Which solver does the work. A route that is lost costs no exactness, only all of the speed."""

import pickle

import numpy as np
import pytest
from scipy import sparse

import supple
from supple._core import Reason, Route
from supple.engine import head
from supple.engine.step import Run

ALONG_THE_PATH = {Route.path, Route.leap}


@pytest.fixture
def results(monkeypatch):
    """What the solvers return, one entry per head and call."""
    found = []

    def record(name, listed):
        solve = getattr(head, name)

        def recorded(*args, **kwargs):
            result = solve(*args, **kwargs)
            found.extend(listed(result))
            return result

        monkeypatch.setattr(head, name, recorded)

    record("solve", lambda result: [result])
    record("solve_first", list)
    return found


def sample(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    t = X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * rng.normal(size=n)
    return X, t, (t > 0).astype(int)


def rbf(A, B):
    return np.exp(-0.5 * ((A[:, None] - B[None]) ** 2).sum(axis=2))


def tanh(A, B):
    return np.tanh(A @ B.T - 1.0)


def only(results):
    (result,) = results
    return result


def fitted(name, n, **params):
    X, t, y = sample(n)
    target = {"SVR": t, "OneClassSVM": None, "SVDD": None}.get(name, y)
    small = {"NuSVC": {"nu": 0.4}, "OneClassSVM": {"nu": 0.2}, "SVDD": {"C": 0.02}}.get(name, {})
    return getattr(supple, name)(gamma=0.5, **small, **params).fit(X, target)


def part_of(name, X, t, y):
    """The arguments of partial_fit for these examples."""
    return (X,) if name in ("OneClassSVM", "SVDD") else (X, t if name == "SVR" else y)


@pytest.mark.parametrize("name", ["SVC", "NuSVC", "SVR", "OneClassSVM", "SVDD"])
def test_one_example_comes_and_goes_along_the_path(name, results):
    model = fitted(name, 500)
    X, t, y = sample(540, seed=1)
    for k in range(500, 540):
        model.partial_fit(*part_of(name, X[k : k + 1], t[k : k + 1], y[k : k + 1]))
    del results[0]
    assert {result.route for result in results} <= ALONG_THE_PATH
    assert sum(result.breakpoints for result in results) > 0
    results.clear()
    for k in model.ids_[:20]:
        model.forget([k])
    assert len(results) == 20
    assert {result.route for result in results} <= ALONG_THE_PATH
    assert not any(result.iterations for result in results)


def test_a_weight_changes_along_the_path(results):
    model = fitted("SVC", 500)
    model.reweight([model.ids_[model.support_[0]]], [0.5])
    assert results[-1].route in ALONG_THE_PATH
    assert results[-1].breakpoints > 0


def test_a_model_from_a_file_follows_the_path(results):
    model = pickle.loads(pickle.dumps(fitted("SVC", 500)))
    results.clear()
    model.forget([model.ids_[model.support_[0]]])
    assert only(results).route in ALONG_THE_PATH


def test_an_example_that_changes_nothing_has_no_breakpoint(results):
    model = fitted("SVC", 500)
    X = sample(500)[0]
    surest = np.argmax(model.decision_function(X))
    results.clear()
    model.partial_fit(X[surest : surest + 1], [1])
    found = only(results)
    assert (found.route, found.breakpoints, found.polishes) == (Route.path, 0, 0)


def test_a_batch_joins_a_small_model_along_the_path(results):
    X, _, y = sample(300)
    model = supple.SVC(gamma=0.5).fit(X[:200], y[:200])
    results.clear()
    model.partial_fit(X[200:250], y[200:250])
    assert only(results).route in ALONG_THE_PATH


def test_a_batch_joins_a_large_model_by_blocks(results):
    X, _, y = sample(2200)
    model = supple.SVC(gamma=0.5).fit(X[:2000], y[:2000])
    results.clear()
    model.partial_fit(X[2000:], y[2000:])
    assert only(results).route is Route.block
    results.clear()
    model.forget(np.arange(2000, 2200))
    assert only(results).route is Route.block


def test_a_batch_that_changes_little_needs_only_the_polish(results):
    model = fitted("SVC", 2000)
    X = sample(2000)[0]
    surest = np.argsort(-model.decision_function(X))[:20]
    results.clear()
    model.partial_fit(X[surest], np.ones(20, dtype=int))
    found = only(results)
    assert (found.route, found.iterations, found.polishes) == (Route.polish, 0, 1)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_a_first_fit_is_solved_by_blocks(kernel, form, results):
    X, _, y = sample(600)
    supple.SVC(kernel=kernel, gamma=0.5).fit(form(X), y)
    found = only(results)
    assert found.route is Route.block
    assert found.iterations > 0
    assert found.within_tolerance


@pytest.mark.parametrize("kernel", [rbf, "precomputed"])
def test_a_first_fit_on_kernel_rows_is_solved_by_smo(kernel, results):
    X, _, y = sample(200)
    supple.SVC(kernel=kernel).fit(rbf(X, X) if kernel == "precomputed" else X, y)
    assert only(results).route is Route.smo


def test_another_kernel_is_solved_afresh(results):
    model = fitted("SVC", 500)
    results.clear()
    model.retune(gamma=2.0)
    assert only(results).route is Route.block


def test_simple_svm(results):
    X, _, y = sample(200)
    model = supple.SimpleSVC(gamma=0.5).fit(X[:150], y[:150])
    model.partial_fit(X[150:], y[150:])
    assert {result.route for result in results} == {Route.simple}


def test_an_indefinite_kernel_is_found_out(results):
    X, _, y = sample(200)
    with pytest.warns(supple.InexactWarning):
        supple.SVC(kernel=tanh).fit(X, y)
    found, inexact = results
    assert found.reason is Reason.indefinite
    assert found.indefinite
    assert not found.within_tolerance
    assert inexact.route is Route.smo


def test_a_limit_on_iterations_is_given_as_the_reason(results):
    with pytest.warns(supple.NotConvergedWarning):
        fitted("SVC", 500, max_iter=1)
    assert only(results).reason is Reason.iteration_limit


def test_steps_name_the_route_with_most_work(monkeypatch):
    steps = []
    report = Run.report
    monkeypatch.setattr(Run, "report", lambda self, step: steps.append(step) or report(self, step))
    X, t, _ = sample(501)
    y = np.digitize(t, [-0.7, 0.7])
    model = supple.SVC(gamma=0.5).fit(X[:500], y[:500])
    model.partial_fit(X[500:], y[500:])
    assert steps[0].route == "block"
    assert steps[1].route in ("path", "leap")
