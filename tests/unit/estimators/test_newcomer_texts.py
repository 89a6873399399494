"""When an error is put into other words, when it is not, and what a kernel does not look at."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from supple import SVC, InvalidInputError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 2))
Y = np.arange(20) % 2


def test_an_error_within_a_kernel_is_the_users_own_with_a_note():
    model = SVC(kernel=lambda A, B: A @ B)
    with pytest.raises(ValueError, match="matmul") as caught:
        model.fit(X, Y)
    assert not isinstance(caught.value, InvalidInputError)
    (note,) = caught.value.__notes__
    assert "(n, d), (m, d) -> (n, m)" in note
    assert "(1, 2)" in note


def test_an_error_within_a_method_keeps_its_own_words(monkeypatch):
    def broken(*_):
        raise TypeError("SVC.fit() is no call of the user")

    monkeypatch.setattr(SVC, "_check_params", broken)
    with pytest.raises(TypeError, match=r"^SVC.fit\(\) is no call of the user$"):
        SVC().fit(X, Y)


@pytest.mark.parametrize("kernel", ["linear", lambda A, B: A @ B.T])
def test_a_kernel_without_gamma_does_not_look_at_it(kernel):
    expected = SVC(kernel=kernel).fit(X, Y)
    model = SVC(kernel=kernel, gamma=-1).fit(X, Y)
    assert_array_equal(model.decision_function(X), expected.decision_function(X))
    model.set_params(gamma="big").partial_fit(X[:1], Y[:1]).retune(gamma=-2)
    assert (model.gamma, model.exact_) == (-2, True)
    SVC(kernel=kernel).fit(X * 1e-170, Y)  # whose variance is 0 in float64
    with pytest.raises(ValueError, match="'gamma'"):
        model.set_params(kernel="rbf").fit(X, Y)


def test_a_kernel_without_gamma_gives_no_advice_about_it():
    with pytest.raises(InvalidInputError, match="Linear") as caught:
        SVC(kernel="linear").fit(X * 1e200, Y)
    assert "gamma" not in str(caught.value)
