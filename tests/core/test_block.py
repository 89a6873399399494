"""Batch fits of more members than one working set: blocks, shrinking, row cache, all exact."""

import numpy as np
import oracle
import pytest
import sklearn.svm
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

import supple

N = 2600  # more than the block solver takes at once
KERNELS = {
    "rbf": {"gamma": 0.3},
    "linear": {},
    "poly": {"degree": 2, "gamma": 0.3, "coef0": 1.0},
    "laplacian": {"gamma": 0.3},
    "matern32": {"gamma": 0.3},
    "matern52": {"gamma": 0.3},
}
MACHINES = {
    "SVC": {"C": 2.0},
    "NuSVC": {"nu": 0.7},
    "SVR": {"C": 1.0, "epsilon": 0.2},
    "OneClassSVM": {"nu": 0.2},
    "SVDD": {"C": 0.003},
}


def stream(n=N, d=5, seed=0):
    """Points, noisy labels 0 / 1 and a noisy curve; the origin lies outside the points."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 1.0
    t = X[:, 0] + np.sin(2 * X[:, 1]) + 0.6 * rng.normal(size=n)
    return X, (t > np.median(t)).astype(int), t


def targets(name, y, t):
    return {"SVC": y, "NuSVC": y, "SVR": t}.get(name)


def sides_of(model, Z):
    return model.predict(Z) if isinstance(model, supple.SVR) else model.decision_function(Z)


# ----------------------------------------------------------------------------- against others


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", MACHINES)
def test_exact_and_no_worse_than_scikit_learn(name, kernel, judge):
    X, y, t = stream()
    y = targets(name, y, t)
    params = {"kernel": kernel, **KERNELS[kernel], **MACHINES[name]}
    model = getattr(supple, name)(**params).fit(X, y)
    own = judge(model, X, y)
    if name == "SVDD":
        return  # no such machine there
    if kernel not in ("rbf", "linear", "poly"):
        params["kernel"] = getattr(oracle, kernel)(params.pop("gamma"))
    peer = getattr(sklearn.svm, name)(**params, tol=1e-6, max_iter=2_000_000)
    other = judge.dual(peer.fit(X, y), X, y)
    assert own.objective >= other.objective - 1e-6 * abs(other.objective)


def test_description_and_one_class_agree(judge):
    """With a constant diagonal SVDD is the one-class machine with nu = 1 / (n C)."""
    X, _, _ = stream()
    svdd = supple.SVDD(C=0.003, gamma=0.3).fit(X)
    peer = sklearn.svm.OneClassSVM(nu=1 / (N * 0.003), gamma=0.3, tol=1e-6).fit(X)
    own, other = judge(svdd, X), judge.dual(peer, X)
    x = 0.003 * other.x
    assert own.objective >= x @ (0.5 - 0.003 * other.Kx / 2) - 1e-6 * abs(own.objective)
    np.testing.assert_allclose(own.x, x, atol=1e-5 * 0.003)


# ----------------------------------------------------------------------------- weights


@pytest.mark.parametrize("name", MACHINES)
def test_sample_weights_also_zero(name, judge):
    X, y, t = stream(3000)
    y = targets(name, y, t)
    w = np.random.default_rng(1).choice([0.0, 1e-3, 0.5, 1.0, 7.0], size=len(X))
    model = getattr(supple, name)(gamma=0.3, **MACHINES[name]).fit(X, y, sample_weight=w)
    judge(model, X, y, w)
    held = w > 0
    rest = getattr(supple, name)(gamma=0.3, **MACHINES[name])
    rest.fit(X[held], None if y is None else y[held], sample_weight=w[held])
    np.testing.assert_allclose(sides_of(rest, X[:99]), sides_of(model, X[:99]), atol=1e-8)


@pytest.mark.parametrize("class_weight", [{0: 0.1, 1: 4.0}, "balanced"])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_class_weights(kernel, class_weight, judge):
    X, y, _ = stream()
    params = {"kernel": kernel, "gamma": 0.3, "class_weight": class_weight}
    own = judge(supple.SVC(**params).fit(X, y), X, y)
    if kernel == "rbf":  # LIBSVM takes long with the other
        other = judge.dual(sklearn.svm.SVC(**params, tol=1e-6).fit(X, y), X, y)
        assert own.objective >= other.objective * (1 - 1e-6)


# ----------------------------------------------------------------------------- settings


@pytest.mark.parametrize(
    "params",
    [
        {"cache_size": 1e-3},
        {"cache_size": 0.5},
        {"cache_size": 1.0, "shrinking": False},
        {"shrinking": False},
        {"n_jobs": 2},
        {"C": 1e-3},
        {"C": 1e4, "gamma": 0.01},
        {"tol": 1e-6},
        {"tol": 10.0},
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["SVC", "SVR"])
def test_settings(name, params, judge):
    X, y, t = stream()
    y = targets(name, y, t)
    judge(getattr(supple, name)(**{"gamma": 0.3, **params}).fit(X, y), X, y)


@pytest.mark.parametrize("rows", [16, 17.5, 20.9, 33, 100.9, 511.9, 900])
def test_caches_of_a_few_rows(rows, judge):
    """Shrinking from 9000 members to a few thousand, so that the cached rows are shortened."""
    n = 9000
    X, _, _ = stream(n, d=4)
    y = (X[:, 0] + 0.3 * np.random.default_rng(2).normal(size=n) > 1.0).astype(int)
    model = supple.SVC(C=10.0, gamma=0.25, cache_size=rows * n * 4 / 2**20).fit(X, y)
    judge(model, X, y)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", MACHINES)
def test_threads_change_nothing(name, kernel):
    X, y, t = stream()
    y = targets(name, y, t)
    params = {"kernel": kernel, **KERNELS[kernel], **MACHINES[name]}
    one, two = (getattr(supple, name)(**params, n_jobs=jobs).fit(X, y) for jobs in (None, 2))
    np.testing.assert_allclose(sides_of(two, X), sides_of(one, X), atol=1e-9, rtol=1e-9)


# ----------------------------------------------------------------------------- data


def duplicates(X):
    return np.round(X[np.arange(len(X)) % 700] * 2) / 2


def mostly_zero(X):
    wide = np.hstack([X, X[::-1], X[:, ::-1]])
    wide[np.random.default_rng(3).random(wide.shape) < 0.8] = 0.0
    return wide


DATA = {
    "duplicates": (duplicates, {}),
    "mostly zero": (mostly_zero, {}),
    "mostly zero, in CSR": (lambda X: sparse.csr_matrix(mostly_zero(X)), {}),
    "CSR": (sparse.csr_matrix, {}),
    "CSR array": (sparse.csr_array, {}),
    "float32": (lambda X: X.astype(np.float32), {}),
    "mostly zero, float32": (lambda X: mostly_zero(X).astype(np.float32), {}),
    "features times 1e3": (lambda X: 1e3 * X, {"gamma": 0.3e-6, "C": 1e-6}),
    "features times 1e3, wide apart": (lambda X: 1e3 * X, {"C": 1e-6}),
    "features times 1e25": (lambda X: 1e25 * X, {"gamma": 0.3e-50, "C": 1e-50}),
    "features times 1e-25": (lambda X: 1e-25 * X, {"gamma": 0.3e50}),
    "offset 1e4": (lambda X: X + 1e4, {"C": 1e-6}),
    "one feature": (lambda X: X[:, :1].copy(), {}),
    "one outlier": (lambda X: np.vstack([X[:-1], np.full((1, X.shape[1]), 1e4)]), {"C": 1e-6}),
}


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_data(kernel, data, judge):
    X, y, _ = stream()
    change, params = DATA[data]
    params = {"gamma": 0.3, **params}
    if kernel == "rbf":
        params.pop("C", None)
    X = change(X)
    judge(supple.SVC(kernel=kernel, **params).fit(X, y), X, y)


@pytest.mark.parametrize("n", [1100, 2111, N])
@pytest.mark.parametrize("data", ["mostly zero, in CSR", "CSR", "float32"])
def test_threads_compute_each_value_once(data, n):
    """Whatever the rows of blocks that a border between two threads cuts."""
    X, y, _ = stream(n)
    X = DATA[data][0](X)
    one, two = (supple.SVC(gamma=0.3, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    assert two.n_kernel_evals_ == one.n_kernel_evals_
    np.testing.assert_allclose(
        two.decision_function(X), one.decision_function(X), rtol=0, atol=1e-9
    )


@pytest.mark.parametrize("name", ["NuSVC", "SVR", "OneClassSVM", "SVDD"])
@pytest.mark.parametrize("data", ["duplicates", "mostly zero", "CSR", "offset 1e4"])
def test_data_of_the_other_machines(name, data, judge):
    X, y, t = stream()
    X, y = DATA[data][0](X), targets(name, y, t)
    judge(getattr(supple, name)(gamma=0.3, **MACHINES[name]).fit(X, y), X, y)


def test_contradicting_twins(judge):
    X, y, _ = stream(1300)
    X, y = np.vstack([X, X]), np.r_[y, 1 - y]
    judge(supple.SVC(gamma=0.3).fit(X, y), X, y)


def test_few_distinct_points(judge):
    X, _, _ = stream(3)
    X = np.repeat(X, 1000, axis=0)
    y = np.random.default_rng(0).integers(0, 2, len(X))
    judge(supple.SVC(gamma=0.3).fit(X, y), X, y)


def test_targets_far_from_zero(judge):
    X, _, t = stream()
    judge(supple.SVR(gamma=0.3).fit(X, t + 1e4), X, t + 1e4)
    flat = supple.SVR(gamma=0.3).fit(X, np.full(N, 3.0))  # nothing to do
    assert len(flat.support_) == 0
    np.testing.assert_allclose(flat.predict(X), 3.0, atol=0.1 + 1e-12)


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_machines_that_see_a_part_or_all(multi_class, judge):
    X, _, t = stream(4200)
    y = np.digitize(t, [1.0, 2.0])
    model = supple.SVC(gamma=0.3, multi_class=multi_class).fit(X, y)
    assert model.exact_
    assert model.kkt_violation_ <= 1e-8
    if multi_class == "ovr":
        return
    pair = y < 2  # the first machine on its own, whose sign is the other way round
    alone = supple.SVC(gamma=0.3).fit(X[pair], y[pair])
    judge(alone, X[pair], y[pair])
    model.set_params(decision_function_shape="ovo")
    np.testing.assert_allclose(
        model.decision_function(X[:99])[:, 0], -alone.decision_function(X[:99]), atol=1e-8
    )


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(list(MACHINES)),
    st.sampled_from(list(KERNELS)),
    st.integers(1025, 3500),
    st.integers(2, 12),
    st.sampled_from([1e-3, 0.3, 2.0, 200.0]),
    st.integers(0, 2**20),
    st.booleans(),
)
def test_any_size(name, kernel, n, d, cache_size, seed, shrinking):
    X, y, t = stream(n, d, seed)
    params = {"kernel": kernel, **KERNELS[kernel], **MACHINES[name]}
    model = getattr(supple, name)(**params, cache_size=cache_size, shrinking=shrinking)
    model.fit(X, targets(name, y, t))
    assert model.exact_
    assert model.kkt_violation_ <= 1e-8


# ----------------------------------------------------------------------------- odd problems


@pytest.mark.parametrize("n", range(300, 500, 20))
def test_nobody_is_left_in_the_working_set(n):
    """Mirror images: all of the first working set end at their bounds and are set aside."""
    z = np.random.default_rng(n).normal(size=(n, 1))
    X = np.vstack([10 + z, 10 - z, -10 - z, -10 + z])
    model = supple.NuSVC(nu=0.5, gamma=1e-4).fit(X, np.repeat([1, 0], 2 * n))
    assert model.exact_
    assert model.kkt_violation_ <= 1e-8


@pytest.mark.parametrize("scale", [1e-150, 1e-50, 1e-25, 1e25])
def test_scales_beyond_single_precision(scale):
    X, _, t = stream(1500)
    models = [
        supple.OneClassSVM(kernel="linear", nu=0.3).fit(X * scale),
        supple.SVR(gamma=0.3, epsilon=0.1 * scale, C=scale).fit(X, t * scale),
    ]
    for model in models:
        assert model.exact_
        assert model.kkt_violation_ <= 1e-8


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("scale", [4e-20, 1e-21, 1e-150, 1e20])
def test_gamma_beyond_single_precision(scale, form):
    """The scale of the features and gamma make up for each other."""
    X, _, t = stream(1500)
    model = supple.SVR(gamma=0.3 / scale**2, C=10.0).fit(form(X[:1200] * scale), t[:1200])
    model.partial_fit(form(X[1200:] * scale), t[1200:]).forget(np.arange(100))
    assert model.kkt_violation_ <= 1e-8
    again = supple.SVR(gamma=0.3, C=10.0).fit(X[100:], t[100:])
    np.testing.assert_allclose(model.predict(form(X * scale)), again.predict(X), atol=1e-6)


def test_updates_of_tiny_coefficients():
    X, _, t = stream(1500)
    X, t = X[np.arange(1500) % 800], t[np.arange(1500) % 800]
    rng = np.random.default_rng(0)
    model = supple.SVR(gamma=0.02, C=1e-57, epsilon=3e-61).fit(X, t * 1e-60)
    for count in (300, 20, 20):
        model.reweight(rng.choice(1500, size=count, replace=False), rng.choice([0.5, 4.0]))
        assert model.exact_
        assert model.kkt_violation_ <= 1e-8
