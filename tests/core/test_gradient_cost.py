"""What single updates cost just after a fit, which leaves gradients in single precision."""

import gc

import numpy as np
import pytest

import supple
from supple.engine import head

N = 2600  # members, more than single precision is used from


@pytest.fixture
def fitted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 5))
    t = X[:, 0] + np.sin(2 * X[:, 1])
    y = (t + 0.3 * rng.normal(size=N) > 0).astype(int)
    model = supple.SVC(C=10.0, gamma=0.3).fit(X, y)
    (machine,) = model._model.state.head_states.values()
    assert machine.core.rough
    return model, X, machine.core


def evaluations(model, update):
    before = model._model.state.kernel_evaluations
    update()
    return model._model.state.kernel_evaluations - before


def test_a_newcomer_that_is_no_violator_needs_its_own_values_only(fitted):
    model, X, _ = fitted
    far = X[[np.argmax(model.decision_function(X))]]
    assert evaluations(model, lambda: model.partial_fit(far, [1])) <= 2 * N
    assert model.kkt_violation_ <= 1e-8


def test_to_forget_an_idle_example_needs_no_kernel_value(fitted):
    model, _, _ = fitted
    idle = np.setdiff1d(np.arange(N), model.support_)[:1]
    assert evaluations(model, lambda: model.forget(idle)) == 0
    assert model.kkt_violation_ <= 1e-8


def test_few_gradients_are_computed_again_by_a_path(fitted):
    model, X, core = fitted
    n_support, n_margin = len(model.support_), core.n_margin
    wrong = X[[np.argmax(model.decision_function(X))]]
    # All gradients from scratch, and the margin's values with everybody, would take as many.
    assert evaluations(model, lambda: model.partial_fit(wrong, [0])) < N * (n_margin + n_support)
    assert model.kkt_violation_ <= 1e-8


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("name", ["SVC", "NuSVC", "SVR", "OneClassSVM", "SVDD"])
def test_exact_although_gradients_are_rough(name, kernel, judge):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(N + 20, 4)) + 1.0  # a linear one-class machine needs an outside
    t = X[:, 0] + np.sin(2 * X[:, 1]) + 0.3 * rng.normal(size=len(X))
    upper = t > np.median(t)
    y = {"SVR": t, "SVC": upper, "NuSVC": upper}.get(name, np.zeros(len(X)))
    params = {"NuSVC": {"nu": 0.5}, "OneClassSVM": {"nu": 0.2}, "SVDD": {"C": 0.002}}.get(name, {})
    model = getattr(supple, name)(kernel=kernel, gamma=0.3, coef0=1.0, **params).fit(X[:N], y[:N])
    for k in range(N, N + 20):
        model.partial_fit(X[k : k + 1], y[k : k + 1]).forget([7 * (k - N)])
        assert model.kkt_violation_ <= 1e-8
    held = np.array(model.ids_)
    judge(model, X[held], y[held])


def test_variables_that_the_path_has_missed_enter_by_another_path(monkeypatch):
    """The Newton step, which starts from all gradients, is left to harder cases."""
    results = []
    solve = head.solve

    def recorded(*args, **kwargs):
        results.append(solve(*args, **kwargs))
        return results[-1]

    monkeypatch.setattr(head, "solve", recorded)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1700, 3))
    y = (X[:, 0] + np.sin(2 * X[:, 1]) + rng.normal(size=len(X)) > 0).astype(int)
    model = supple.SVC(C=10.0, gamma=0.5).fit(X[:1100], y[:1100])
    for k in range(1100, 1700):
        model.partial_fit(X[k : k + 1], y[k : k + 1]).forget([k - 1100])
    assert model.exact_
    assert len(results) == 1200
    assert sum(result.polishes for result in results) <= 2


def test_updates_of_many_machines_make_little_garbage():
    """Python's collector of garbage, which may take longer than an update, has little to do."""
    rng = np.random.default_rng(0)
    y = np.arange(600) % 20
    X = rng.normal(size=(20, 4))[y] + 0.3 * rng.normal(size=(600, 4))
    model = supple.SVC(gamma=0.5).fit(X[:500], y[:500])
    assert len(model._model.state.head_states) == 190
    gc.collect()
    before = gc.get_stats()[0]["collections"]
    for k in range(500, 600):
        model.partial_fit(X[k : k + 1], y[k : k + 1])
    assert gc.get_stats()[0]["collections"] - before <= 20
