"""SimpleSVC: another way to the optimum of SVC."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import rbf_kernel

from supple import SVC, NotConvergedWarning, SimpleSVC
from supple.datasets import load


def same_optimum(simple, exact, X):
    assert simple.exact_
    assert simple.kkt_violation_ <= 1e-9
    assert_allclose(simple.dual_objective_, exact.dual_objective_, rtol=1e-9)
    assert_allclose(simple.decision_function(X), exact.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("name", ["ionosphere", "pima", "sonar"])
@pytest.mark.parametrize("settings", [{"C": 1.0}, {"C": 100.0}, {"C": 0.01, "kernel": "linear"}])
def test_real_data(name, settings):
    data = load(name)
    simple, exact = (kind(**settings).fit(data.X, data.y) for kind in (SimpleSVC, SVC))
    same_optimum(simple, exact, data.X)
    assert simple.n_iter_[0] >= len(simple.support_) / 2


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_updates(data, form, kernel):
    X, y = data
    settings = {"kernel": kernel, "gamma": 0.5, "C": 3.0}
    model = SimpleSVC(**settings)
    for start in range(0, 40, 7):
        model.partial_fit(form(X[start : start + 7]), y[start : start + 7])
    same_optimum(model, SVC(**settings).fit(X, y), form(X))
    model.forget([3, 4, 20, 39]).reweight([5, 6], [0.0, 4.0])
    weight = np.ones(40)
    weight[[3, 4, 20, 39, 5]] = 0.0
    weight[6] = 4.0
    exact = SVC(**settings).fit(X, y, sample_weight=weight)
    same_optimum(model, exact, form(X))
    model.retune(C=0.2)
    same_optimum(model, SVC(**{**settings, "C": 0.2}).fit(X, y, sample_weight=weight), form(X))


def test_several_classes(iris):
    X, y = iris
    for multi_class in ("ovo", "ovr"):
        simple, exact = (kind(multi_class=multi_class).fit(X, y) for kind in (SimpleSVC, SVC))
        same_optimum(simple, exact, X)


def test_copies_and_contradictions():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(10, 2)), 6, axis=0)
    y = rng.integers(2, size=60)
    for settings in ({"C": 1.0}, {"C": 1.0, "kernel": "linear"}, {"C": 1e3, "gamma": 10.0}):
        simple, exact = (kind(**settings).fit(X, y) for kind in (SimpleSVC, SVC))
        assert simple.kkt_violation_ <= 1e-8
        assert_allclose(simple.dual_objective_, exact.dual_objective_, rtol=1e-8)


def test_kernels_given_by_the_caller(data):
    X, y = data

    def function(A, B):
        return rbf_kernel(A, B, gamma=0.5)

    exact = SVC(gamma=0.5).fit(X, y)
    same_optimum(SimpleSVC(kernel=function).fit(X, y), exact, X)
    K = function(X, X)
    matrix = SimpleSVC(kernel="precomputed").fit(K, y)
    assert_allclose(matrix.decision_function(K), exact.decision_function(X), atol=1e-6)


def test_max_iter_says_so(data):
    X, y = data
    with pytest.warns(NotConvergedWarning, match="max_iter=3"):
        model = SimpleSVC(C=10.0, max_iter=3).fit(X, y)
    assert not model.exact_
    assert model.fit_status_ == 1
