"""The exact path: few changes follow it, it meets breakpoints, and its end is a fit."""

import numpy as np
import pytest

import supple

MACHINES = {
    "SVC": lambda: supple.SVC(C=2.0, gamma=0.5),
    "NuSVC": lambda: supple.NuSVC(nu=0.4, gamma=0.5),
    "SVR": lambda: supple.SVR(C=2.0, epsilon=0.05, gamma=0.5),
    "OneClassSVM": lambda: supple.OneClassSVM(nu=0.3, gamma=0.5),
    "SVDD": lambda: supple.SVDD(C=0.05, gamma=0.5),
}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(120, 3))
    return X, (X[:, 0] + 0.5 * rng.normal(size=120) > 0).astype(int)


@pytest.fixture(params=MACHINES)
def machine(request):
    return MACHINES[request.param]


def steps_of(model, update):
    """Return the records of the operations that `update` makes."""
    heard = []
    model._model.engine.run.listeners.append(heard.append)
    update()
    model._model.engine.run.listeners.clear()
    return heard


def values(model, X):
    return model.predict(X) if isinstance(model, supple.SVR) else model.decision_function(X)


def test_one_example_is_a_path_without_iterations(machine, data):
    X, y = data
    model = machine().fit(X[:100], y[:100])
    (learned,) = steps_of(model, lambda: model.partial_fit(X[100:101], y[100:101]))
    (forgotten,) = steps_of(model, lambda: model.forget(model.support_ids_[0]))
    assert learned.iterations == forgotten.iterations == 0
    assert learned.kkt <= 1e-8
    assert forgotten.kkt <= 1e-8


def test_the_end_of_a_path_is_a_fit(machine, data):
    X, y = data
    model = machine().fit(X[:100], y[:100])
    breakpoints = 0
    for i in range(100, 120):
        (step,) = steps_of(model, lambda i=i: model.partial_fit(X[i : i + 1], y[i : i + 1]))
        breakpoints += step.breakpoints
    assert breakpoints > 0
    assert values(model, X) == pytest.approx(values(machine().fit(X, y), X), abs=1e-8)


def test_there_and_back(machine, data):
    X, y = data
    model = machine().fit(X[:100], y[:100])
    before = values(model, X)
    model.partial_fit(X[100:110], y[100:110])
    assert not np.allclose(values(model, X), before, atol=1e-6)
    model.forget(np.arange(100, 110))
    assert values(model, X) == pytest.approx(before, abs=1e-8)


def test_an_example_beyond_the_margin_moves_nothing(data):
    X, y = data
    model = supple.SVC(C=2.0, gamma=0.5).fit(X, y)
    margin = np.where(y == 1, 1.0, -1.0) * model.decision_function(X)
    safe = int(np.argmax(margin))
    assert margin[safe] > 1.0
    (step,) = steps_of(model, lambda: model.forget(safe))
    assert step.breakpoints == 0
