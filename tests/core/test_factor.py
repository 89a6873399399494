"""Where the margin system is singular to rounding a head may be left without a factor."""

import numpy as np
import pytest

import supple


@pytest.fixture
def model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    return supple.SVC(C=1.0, gamma=0.5).fit(X, np.where(X[:, 0] + rng.normal(size=40) > 0, 1, -1))


def head_of(model):
    (machine,) = model._model.state.head_states.values()
    machine.core.forget_factor()
    return machine.core


def test_an_update_builds_the_factor_again(model):
    head_of(model)
    model.forget([0])
    assert model.exact_
    assert model.kkt_violation_ < 1e-10
