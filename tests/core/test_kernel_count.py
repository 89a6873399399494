"""`n_kernel_evals_` counts the kernel values that learning has computed."""

import copy

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from supple import SVC, SVDD, SVR, NuSVC, OneClassSVM


def data(n=200, d=5):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)


@pytest.mark.parametrize("model", [SVC(), NuSVC(), SVR(), OneClassSVM(), SVDD(C=0.1)])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_it_grows_with_learning_and_not_with_predictions(model, form):
    X, y = data()
    model = clone(model).partial_fit(form(X[:150]), y[:150])
    first = model.n_kernel_evals_
    assert first >= 150  # a row, if nothing else
    model.predict(form(X))
    assert model.kkt_violation_ <= 1e-8
    assert np.isfinite(model.dual_objective_)
    assert model.n_kernel_evals_ == first
    model.partial_fit(form(X[150:]), y[150:])
    assert model.n_kernel_evals_ >= first + 50
    assert model.fit(form(X[:150]), y[:150]).n_kernel_evals_ == first


def test_a_callable_kernel_says_the_same():
    X, y = data()
    asked = []

    def kernel(A, B):
        asked.append(len(A) * len(B))
        return A @ B.T

    model = SVC(kernel=kernel).partial_fit(X[:100], y[:100]).partial_fit(X[100:], y[100:])
    assert model.forget([3, 4]).n_kernel_evals_ == sum(asked)


def test_the_block_solver_counts_what_its_threads_compute():
    X, y = data(1500)
    one, two = (SVC(C=10.0, gamma=0.3, n_jobs=jobs).fit(X, y).n_kernel_evals_ for jobs in (1, 2))
    assert one == two
    assert one > 1500


def test_a_matrix_that_heads_share_counts_once():
    X, _ = data(300)
    y = np.arange(300) % 5
    count = SVC(gamma=0.3).fit(X, y).n_kernel_evals_
    assert 300 * 301 / 2 <= count < 2 * 300**2


def test_a_linear_machine_needs_few():
    X, y = data(1500)
    assert SVC(kernel="linear").fit(X, y).n_kernel_evals_ < SVC().fit(X, y).n_kernel_evals_


def test_a_copy_goes_on_counting():
    X, y = data()
    model = SVC(gamma=0.3).fit(X, y)
    assert copy.deepcopy(model).n_kernel_evals_ >= model.n_kernel_evals_


def test_copies_of_an_example_do_not_enter_the_margin_set_one_by_one():
    rng = np.random.default_rng(0)
    X = (rng.random((3000, 300)) < 0.03).astype(float)
    X[rng.random(3000) < 0.3] = 0.0  # nine hundred copies of one row
    y = X @ rng.normal(size=300) + 0.5 * rng.normal(size=3000) > 0.6
    model = SVC(C=8.0, gamma=0.05).fit(X, y)
    assert model.exact_
    # 2.1 to 2.3, depending on the instruction set; 2.5 on the baseline when each is tried.
    assert model.n_kernel_evals_ < 2.4 * 3000**2
