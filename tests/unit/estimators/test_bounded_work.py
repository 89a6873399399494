"""Work is bounded whatever the parameters: the model is then finite and says that it is not exact.

What these problems have in common: SMO alone would go on for minutes, or for ever.
"""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import supple
from supple import LASVC, SVC, SVR, NotConvergedWarning, NuSVC
from supple.gram import gram_for
from supple.kernels import Callable


def stream(n, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    t = X[:, 0] + 0.5 * rng.normal(size=n)
    return X, t, (t > 0.0).astype(int)


def most(n):
    """SMO iterations that a machine may take where nothing else leads to its optimum."""
    return 1_000_000 + 100 * n


# ----------------------------------------------------------------------------- LASVC


def test_lasvc_gives_up():
    X, _, y = stream(30)
    model = LASVC(kernel="linear", C=1e8, random_state=0)
    with pytest.warns(NotConvergedWarning, match="kkt_violation_"):
        model.fit(X, y)
    assert np.all(model.n_iter_ <= 2 * most(30))
    assert model.fit_status_ == 1
    assert not model.exact_
    assert np.isfinite(model.decision_function(X)).all()
    model.partial_fit(X[:5] + 0.1, y[:5])  # which goes on from there


@pytest.mark.parametrize("kernel", ["rbf", "linear", "sigmoid"])
def test_lasvc_stopped_by_max_iter(kernel):
    X, _, y = stream(300)
    model = LASVC(kernel=kernel, C=100.0, max_iter=7, finishing=False, random_state=0).fit(X, y)
    with pytest.warns(NotConvergedWarning, match="max_iter=7 was reached"):
        model.finish()
    assert np.all(model.n_iter_ <= 7)
    assert model.fit_status_ == 1
    before = model.dual_objective_
    with pytest.warns(NotConvergedWarning):
        model.finish()
    assert model.dual_objective_ > before


def test_lasvc_does_not_warn_of_a_stream():
    """Only `finish` promises a tolerance."""
    X, _, y = stream(300)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LASVC(max_iter=0, random_state=0).partial_fit(X, y)
        assert model.fit_status_ == 1
        LASVC(random_state=0).fit(X, y)
        assert LASVC(max_iter=10_000, random_state=0).fit(X, y).fit_status_ == 0


def test_lasvc_goes_on_where_single_precision_ends():
    X, _, y = stream(200)
    model = LASVC(C=10.0, gamma=0.5, tol=1e-9, random_state=0).fit(X, y)
    assert model.fit_status_ == 0
    assert model.kkt_violation_ <= 1e-9


# ----------------------------------------------------------------------------- indefinite kernels


def distance(A, B):
    """Minus the distance, which is conditionally definite only; the margin system is not."""
    return -np.sqrt(((A[:, None] - B[None]) ** 2).sum(axis=-1))


def shifted_tanh(A, B):
    return np.tanh(0.3 * A @ B.T - 1.0)


@pytest.mark.parametrize("tiny", [False, True])
@pytest.mark.parametrize("kernel", ["sigmoid", shifted_tanh, distance])
@pytest.mark.parametrize("name", ["SVC", "SVR", "NuSVC", "OneClassSVM", "LASVC", "SimpleSVC"])
def test_indefinite_kernels(name, kernel, tiny):
    X, t, y = stream(200, d=20)
    params = {"SVR": {"C": 2e5, "epsilon": 0.0}, "NuSVC": {"nu": 0.3}, "OneClassSVM": {"nu": 0.3}}
    model = getattr(supple, name)(kernel=kernel, **params.get(name, {"C": 2e5}))
    model.set_params(coef0=-1.0, cache_size=1e-4 if tiny else 200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, t if name == "SVR" else y)
    assert np.all(np.asarray(model.n_iter_) <= 2 * most(200))
    assert np.isfinite(model.predict(X)).all()
    assert np.isfinite(model.dual_objective_)


# ----------------------------------------------------------------------------- tiny caches


@pytest.mark.parametrize(
    "model",
    [
        NuSVC(nu=1e-12),
        SVR(epsilon=0.0, C=1e3),
        SVR(epsilon=0.0, C=1e3, kernel="poly", degree=4),
    ],
)
def test_rows_of_a_small_problem_are_computed_once(model):
    X, t, y = stream(200)
    target = t if isinstance(model, SVR) else y
    model.set_params(cache_size=1e-4).fit(X, target)
    assert model._model.state.kernel_evaluations <= 40 * len(X) ** 2


# ----------------------------------------------------------------------------- single precision


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_callables_see_double_precision(form):
    X, t, _ = stream(60)
    seen = set()

    def rbf(A, B):
        seen.update({A.dtype, B.dtype})
        A, B = (M.toarray() if sp.issparse(M) else M for M in (A, B))
        return np.exp(-0.5 * ((A[:, None] - B[None]) ** 2).sum(axis=-1))

    X32 = form(X.astype(np.float32))
    model = SVR(kernel=rbf, C=1e3, epsilon=0.0).fit(X32, t)
    same = SVR(kernel="rbf", gamma=0.5, C=1e3, epsilon=0.0).fit(X32, t)
    np.testing.assert_allclose(model.predict(X32), same.predict(X32), rtol=1e-7, atol=1e-7)
    model.partial_fit(X32[:3], t[:3]).forget([0])
    assert model.exact_
    assert model.support_vectors_.dtype == np.float32
    outlier = supple.SVDD(kernel=rbf, C=0.1).fit(X32)
    outlier.decision_function(X32)
    assert seen == {np.dtype(np.float64)}


def test_blocks_of_callables_in_double_precision():
    X = stream(10)[0].astype(np.float32)
    gram = gram_for(Callable(lambda A, B: A @ B.T), X, 1 << 20)
    gram.append(X)
    exact = X.astype(np.float64) @ X.astype(np.float64).T
    np.testing.assert_array_equal(gram.block(np.arange(10), X), exact)
    assert gram.rows(np.arange(3)).dtype == np.float32


def test_hard_but_solvable():
    """A bound on SMO alone is none on the exact machines."""
    X, _, y = stream(100)
    model = SVC(kernel="linear", C=1e6).fit(X, y)
    assert model.exact_
    assert model.kkt_violation_ <= 1e-8
