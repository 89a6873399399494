"""Decision values by blocks of kernel values against a plain expansion in NumPy."""

import numpy as np
import oracle
import pytest
import sklearn.svm
from scipy import sparse
from scipy.spatial.distance import cdist

import supple

KERNELS = {
    "rbf": {"gamma": 0.2},
    "linear": {},
    "poly": {"degree": 3, "gamma": 0.2, "coef0": 1.0},
    "sigmoid": {"gamma": 0.01, "coef0": 0.1},
    "laplacian": {"gamma": 0.2},
    "matern32": {"gamma": 0.2},
    "matern52": {"gamma": 0.2},
}
MODELS = {
    "SVC": lambda **k: supple.SVC(**k),
    "NuSVC": lambda **k: supple.NuSVC(**{"nu": 0.6, **k}),
    "SVR": lambda **k: supple.SVR(**k),
    "OneClassSVM": lambda **k: supple.OneClassSVM(**{"nu": 0.3, **k}),
    "SVDD": lambda **k: supple.SVDD(**{"C": 0.03, **k}),
}


def stream(n=700, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 0.5
    return X, X[:, 0] + 0.3 * rng.normal(size=n)


def dense(Z):
    return np.asarray(Z.toarray() if sparse.issparse(Z) else Z, dtype=float)


def kernel_values(model, A, B):
    A, B = dense(A), dense(B)
    if model.kernel == "rbf":
        return np.exp(-model._gamma * cdist(A, B, "sqeuclidean"))
    if model.kernel == "linear":
        return A @ B.T
    if model.kernel in ("poly", "sigmoid"):
        inner = model._gamma * (A @ B.T) + model.coef0
        return inner**model.degree if model.kernel == "poly" else np.tanh(inner)
    return getattr(oracle, model.kernel)(model._gamma)(A, B)


def plain(model, Z):
    """The decision values of a single machine by the textbook."""
    f = kernel_values(model, Z, model.support_vectors_) @ dense(model.dual_coef_)[0]
    f += model.intercept_[0]
    if isinstance(model, supple.SVDD):
        f -= [kernel_values(model, Z[i : i + 1], Z[i : i + 1])[0, 0] for i in range(Z.shape[0])]
    return f


def plain_pairs(model, Z):
    """The same for one machine per pair of classes, in LIBSVM's layout of coefficients."""
    coef, K = dense(model.dual_coef_), kernel_values(model, Z, model.support_vectors_)
    end = np.cumsum(model.n_support_)
    part = [slice(e - c, e) for e, c in zip(end, model.n_support_, strict=True)]
    pairs = [(i, j) for i in range(len(part)) for j in range(i + 1, len(part))]
    columns = [
        K[:, part[i]] @ coef[j - 1, part[i]] + K[:, part[j]] @ coef[i, part[j]] for i, j in pairs
    ]
    return np.array(columns).T + model.intercept_


def values(model, Z):
    return model.predict(Z) if isinstance(model, supple.SVR) else model.decision_function(Z)


def assert_same(got, want, bar=1e-9):
    np.testing.assert_allclose(got, want, rtol=0, atol=bar * max(1.0, np.abs(want).max()))


def fitted(name, X, t, **params):
    y = None if name in ("OneClassSVM", "SVDD") else t if name == "SVR" else (t > 0.5).astype(int)
    return MODELS[name](**params).fit(X, y)


FORMS = {
    "dense": np.asarray,
    "CSR": lambda X: sparse.csr_matrix(X * (np.abs(X) > 0.4)),
    "float32": lambda X: X.astype(np.float32),
    "float32 CSR": lambda X: sparse.csr_matrix((X * (np.abs(X) > 0.4)).astype(np.float32)),
}


@pytest.mark.filterwarnings("ignore::supple.InexactWarning")  # sigmoid
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", MODELS)
def test_plain_expansion(name, kernel, form):
    X, t = stream()
    X = FORMS[form](X)
    model = fitted(name, X, t, kernel=kernel, **KERNELS[kernel])
    Z = FORMS[form](stream(333, seed=1)[0])
    assert_same(values(model, Z), plain(model, Z))
    assert_same(values(model.set_params(n_jobs=2), Z), values(model.set_params(n_jobs=1), Z), 1e-13)


@pytest.mark.parametrize("form", FORMS)
def test_pairs_of_classes(form):
    X, t = stream()
    X, y = FORMS[form](X), np.digitize(t, [-0.3, 0.5, 1.2])
    model = supple.SVC(gamma=0.2, decision_function_shape="ovo").fit(X, y)
    Z = FORMS[form](stream(99, seed=1)[0])
    want = plain_pairs(model, Z)
    assert want.shape == (99, 6)
    assert_same(model.decision_function(Z), want)
    peer = sklearn.svm.SVC(gamma=0.2, tol=1e-8, decision_function_shape="ovr").fit(X, y)
    ovr = model.set_params(decision_function_shape="ovr").decision_function(Z)
    assert_same(ovr, peer.decision_function(Z), 1e-4)


@pytest.mark.parametrize("form", FORMS)
def test_one_against_the_rest(form):
    X, t = stream()
    X, y = FORMS[form](X), np.digitize(t, [-0.3, 0.5, 1.2])
    model = supple.SVC(gamma=0.2, multi_class="ovr").fit(X, y)
    Z = FORMS[form](stream(99, seed=1)[0])
    K = kernel_values(model, Z, model.support_vectors_)
    want = K @ dense(model.dual_coef_).T + model.intercept_
    assert_same(model.decision_function(Z), want)


@pytest.mark.parametrize("rows", [1, 2, 7, 8, 9, 1025])
@pytest.mark.parametrize("n", [20, 1500, 2100])
def test_any_number_of_rows_and_support_vectors(n, rows):
    """Queries go in eights, support vectors in tiles of some thousand."""
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 3))
    model = supple.SVC(gamma=0.5, C=0.1).fit(X, np.arange(n) % 2)
    assert len(model.support_) > 0.9 * n
    Z = rng.normal(size=(rows, 3))
    for jobs in (1, 2, 3):
        assert_same(model.set_params(n_jobs=jobs).decision_function(Z), plain(model, Z))
    each = [model.decision_function(z[None])[0] for z in Z[:9]]
    np.testing.assert_allclose(model.decision_function(Z)[:9], each, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_no_rows_are_an_error(name):
    X, t = stream(60)
    model = fitted(name, X, t, gamma=0.2)
    for method in ("predict", "decision_function"):
        if hasattr(model, method):
            with pytest.raises(ValueError, match=r"Found array with 0 sample"):
                getattr(model, method)(X[:0])


def test_far_outliers():
    X, t = stream()
    model = fitted("SVC", X, t, gamma=0.2)
    far = np.vstack([X[:3], X[:1] + 1e6, -X[:1] - 1e6, X[:1] * 1e150])
    with np.errstate(over="ignore"):
        assert_same(model.decision_function(far[:5]), plain(model, far[:5]))
    assert_same(model.decision_function(far[3:]), np.full(3, model.intercept_[0]), 1e-15)
    lines = fitted("SVC", X, t, kernel="linear")
    np.testing.assert_allclose(lines.decision_function(far[:5]), plain(lines, far[:5]), rtol=1e-9)


@pytest.mark.parametrize("name", MODELS)
def test_outliers_among_the_examples(name):
    X, t = stream()
    X[:2] += [[1e6], [-1e6]]
    model = fitted(name, X, t, gamma=0.2)
    Z = np.vstack([X[:5], X[:1] + 0.5, stream(50, seed=1)[0]])
    assert_same(values(model, Z), plain(model, Z))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", MODELS)
def test_huge_offsets(name, dtype):
    """Distances survive an offset; |x|^2 + |z|^2 - 2 x'z would not."""
    X, t = stream()
    X, Z = (X + 1e5).astype(dtype), (stream(99, seed=1)[0] + 1e5).astype(dtype)
    model = fitted(name, X, t, gamma=0.2)
    assert_same(values(model, Z), plain(model, Z))


@pytest.mark.parametrize("gamma", [1e-9, 1e-5, 1e-3, 0.5, 2.0, 50.0])
@pytest.mark.parametrize("name", ["SVC", "SVDD"])
def test_narrow_and_wide_kernels(name, gamma):
    """On both sides of the bounds between the expansion of distances and the distances."""
    X, t = stream()
    model = fitted(name, X, t, gamma=gamma)
    Z = np.vstack([X[:40], stream(60, seed=1)[0], X[:1] + 30.0])
    assert_same(values(model, Z), plain(model, Z))
    near = values(model, X[:1] + 1e-9 * np.arange(3)[:, None])
    np.testing.assert_allclose(near, near[0], atol=1e-7)


@pytest.mark.parametrize("form", FORMS)
def test_decisions_follow_updates(form):
    """The copy of the support vectors that decisions are made from must not outlive them."""
    X, t = stream(400)
    X, y = FORMS[form](X), (t > 0.5).astype(int)
    model = supple.SVC(gamma=0.2).fit(X[:300], y[:300])
    for update in (
        lambda: model.forget(model.support_ids_[:40]),
        lambda: model.partial_fit(X[300:], y[300:]),
        lambda: model.reweight(model.ids_[:5], 0.0),
        lambda: model.retune(gamma=0.3),
        lambda: model.forget(model.ids_[:100]),
        lambda: model.fit(X[100:200], y[100:200]),
    ):
        model.decision_function(X[:10])
        update()
        assert_same(model.decision_function(X), plain(model, X))
        assert_same(model.decision_function(X[:1]), plain(model, X[:1]))


def test_same_slots_other_points():
    """After forget and partial_fit the slots of the support vectors may be the same as before."""
    X, t = stream(40)
    model = supple.SVR(gamma=0.2, epsilon=0.0).fit(X, t)  # all are support vectors
    model.predict(X)
    model.forget(np.arange(20)).partial_fit(X[:20] + 1.0, t[:20])
    assert len(model.support_) == 40
    assert_same(model.predict(X), plain(model, X))


@pytest.mark.parametrize("held", ["dense", "CSR"])
def test_other_containers_and_layouts(held):
    X, t = stream()
    X = dense(FORMS["CSR"](X))
    model = fitted("SVC", FORMS[held](X) if held == "CSR" else X, t, gamma=0.2)
    Z = dense(FORMS["CSR"](stream(50, seed=1)[0]))
    want = plain(model, Z)
    for same in (
        Z,
        sparse.csr_matrix(Z),
        sparse.csc_matrix(Z),
        sparse.coo_array(Z),
        np.asfortranarray(Z),
        np.repeat(Z, 2, axis=0)[::2],
        Z.tolist(),
    ):
        assert_same(model.decision_function(same), want)
    single = Z.astype(np.float32)
    assert_same(model.decision_function(single), plain(model, single))


def test_rows_without_entries():
    X, t = stream()
    X = FORMS["CSR"](X).tolil()
    X[::5] = 0.0
    X = X.tocsr()
    model = fitted("SVC", X, t, gamma=0.2)
    Z = sparse.vstack([sparse.csr_matrix((9, X.shape[1])), X[:20], sparse.csr_matrix((1, 6))])
    assert_same(model.decision_function(Z), plain(model, Z))
    Z = sparse.csr_matrix((11, X.shape[1]))
    assert_same(model.decision_function(Z), plain(model, Z))


def test_a_model_without_support_vectors():
    X, _ = stream(50)
    model = supple.SVR(gamma=0.2).fit(X, np.full(50, 2.0))
    assert len(model.support_) == 0
    np.testing.assert_allclose(model.predict(X), model.intercept_[0])
    np.testing.assert_allclose(model.set_params(n_jobs=2).predict(X[:1]), model.intercept_[0])
