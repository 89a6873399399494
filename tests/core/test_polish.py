"""Features of very different scales under a linear kernel: SMO crawls, an active set walks."""

import numpy as np
import pytest
from scipy import sparse

import supple


def unscaled(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 20)) * 10.0 ** rng.uniform(-2, 2, 20)
    return X, X @ (rng.normal(size=20) / X.std(axis=0)) + 0.3 * rng.normal(size=n)


@pytest.mark.parametrize("n", [300, 1500])
@pytest.mark.parametrize("name", ["SVC", "SVR"])
def test_unscaled_features(name, n, judge):
    X, t = unscaled(n)
    model, y = supple.SVR(kernel="linear"), t
    if name == "SVC":
        model, y = supple.SVC(kernel="linear"), (t > 0).astype(int)
    model.fit(X, y)
    judge(model, X, y)
    assert np.sum(model.n_iter_) <= 10_000 + 20 * n  # one round, whose patience this is


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_updates_on_a_margin_of_small_rank(form, judge):
    rng = np.random.default_rng(7)
    X = rng.integers(-7, 8, size=(400, 34)).astype(float)
    t = X @ rng.normal(size=34) + np.sin(3 * X[:, 0])
    t /= t.std()
    model = supple.SVR(kernel="linear", C=2.3, epsilon=0.01).fit(form(X[:188]), t[:188])
    model.forget(rng.choice(model.ids_, size=38, replace=False))
    model.partial_fit(form(X[188:193]), t[188:193])
    model.partial_fit(form(X[193:]), t[193:])
    judge(model, X[model.ids_], t[model.ids_])
