"""Score, then learn: a window of examples one by one is a fit of the window at every step."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from supple import SVDD, OneClassSVM
from supple.memory import Window

SIZE, NU, GAMMA = 40, 0.2, 0.4
MODELS = {
    "SVDD nu": lambda **kwargs: SVDD(nu=NU, gamma=GAMMA, **kwargs),
    "SVDD C": lambda **kwargs: SVDD(C=1.0 / (NU * SIZE), gamma=GAMMA, **kwargs),
    "OneClassSVM": lambda **kwargs: OneClassSVM(nu=NU, gamma=GAMMA, **kwargs),
}


def stream(n=200):
    """Return rows of a world that moves, with a repeated row and one far out."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3)) + np.linspace(0.0, 4.0, n)[:, None]
    X[90], X[120] = X[89], 1e6
    return X


@pytest.mark.parametrize("name", MODELS)
def test_each_score_is_that_of_a_fit_of_the_window(name):
    X = stream()
    model = MODELS[name](memory=Window(SIZE)).fit(X[:SIZE])
    for i in range(SIZE, len(X)):
        row, window = X[i : i + 1], X[i - SIZE : i]
        if i % 7 == 0 or 118 < i < 124:
            expected = MODELS[name]().fit(window).score_samples(row)
            assert_allclose(model.score_samples(row), expected, atol=1e-9)
        model.partial_fit(row)
        assert len(model.ids_) == SIZE
    assert model.kkt_violation_ <= 1e-10
    assert sorted(model.ids_) == list(range(len(X) - SIZE, len(X)))


def test_in_a_full_window_nu_is_a_cost():
    X = stream()
    by_share, by_cost = (
        MODELS[name](memory=Window(SIZE)).fit(X[:150]) for name in ("SVDD nu", "SVDD C")
    )
    assert_allclose(by_share.decision_function(X), by_cost.decision_function(X), atol=1e-9)
