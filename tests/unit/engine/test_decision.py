"""The decision rule, prepared once after an update, against sums over `dual_coef_`."""

import pickle
import threading

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils.multiclass import _ovr_decision_function

import supple
from supple.estimators._classifier import _one_per_class, _votes

MODELS = {
    "binary": lambda **k: supple.SVC(**k),
    "pairs": lambda **k: supple.SVC(decision_function_shape="ovo", **k),
    "rest": lambda **k: supple.SVC(multi_class="ovr", **k),
    "NuSVC": lambda **k: supple.NuSVC(nu=0.2, decision_function_shape="ovo", **k),
    "SVR": lambda **k: supple.SVR(**k),
    "OneClassSVM": lambda **k: supple.OneClassSVM(nu=0.3, **k),
    "SVDD": lambda **k: supple.SVDD(nu=0.3, **k),
    "LASVC": lambda **k: supple.LASVC(random_state=0, **k),
}
FORMS = {
    "dense": np.asarray,
    "CSR": sparse.csr_matrix,
    "float32": lambda X: X.astype(np.float32),
}
GAMMA = 0.2


def rbf(A, B):
    A, B = (np.asarray(M.toarray() if sparse.issparse(M) else M, dtype=float) for M in (A, B))
    return np.exp(-GAMMA * ((A[:, None] - B[None]) ** 2).sum(axis=2))


def data(n=240, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[np.abs(X) < 0.3] = 0.0
    return X, X[:, 0] + 0.3 * rng.normal(size=n)


def targets(name, t):
    if name in ("OneClassSVM", "SVDD"):
        return None
    if name == "SVR":
        return t
    return (t > 0).astype(int) if name in ("binary", "LASVC") else np.digitize(t, [-0.6, 0, 0.6])


def direct(model, K):
    """The decision values from kernel values K of queries and support vectors."""
    coef = model.dual_coef_
    coef = coef.toarray() if sparse.issparse(coef) else coef
    if len(coef) == len(model.intercept_):
        f = K @ coef.T + model.intercept_
        if isinstance(model, supple.SVDD):
            f -= 1.0  # k(z, z)
        return f[:, 0] if f.shape[1] == 1 else f
    ends = np.cumsum(model.n_support_)
    part = [slice(end - n, end) for end, n in zip(ends, model.n_support_, strict=True)]
    columns = [
        K[:, part[i]] @ coef[j - 1, part[i]] + K[:, part[j]] @ coef[i, part[j]]
        for i in range(len(part))
        for j in range(i + 1, len(part))
    ]
    return np.array(columns).T + model.intercept_


def ask(model, X):
    return model.predict(X) if isinstance(model, supple.SVR) else model.decision_function(X)


def check(model, X):
    """All rows at once, in small numbers and one by one."""
    K = rbf(X, model.support_vectors_)
    want = direct(model, K)
    np.testing.assert_allclose(ask(model, X), want, rtol=0, atol=1e-10)
    for count in (1, 3, 5, 11):
        np.testing.assert_allclose(ask(model, X[:count]), want[:count], rtol=0, atol=1e-10)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", MODELS)
def test_every_update_makes_a_new_rule(name, form):
    X, t = data()
    X, y = FORMS[form](X), targets(name, t)
    part = (lambda a, b: None) if y is None else (lambda a, b: y[a:b])
    model = MODELS[name](gamma=GAMMA).fit(X[:150], part(0, 150))
    check(model, X)
    updates = [
        lambda: model.partial_fit(X[150:220], part(150, 220)),
        lambda: model.partial_fit(X[220:221], part(220, 221)),
    ]
    if name != "LASVC":
        parameter = {"SVR": {"epsilon": 0.2}, "NuSVC": {"nu": 0.3}, "OneClassSVM": {"nu": 0.4},
                     "SVDD": {"nu": 0.4}}.get(name, {"C": 3.0})  # fmt: skip
        updates += [
            lambda: model.forget(model.support_ids_[:7]),
            lambda: model.reweight(model.support_ids_[:5], 0.5),
            lambda: model.retune(**parameter),
        ]
    updates.append(lambda: model.fit(X[60:200], part(60, 200)))
    for update in updates:
        update()
        check(model, X)
    check(pickle.loads(pickle.dumps(model)), X)


@pytest.mark.parametrize("name", MODELS)
def test_callable_kernel(name):
    X, t = data(120)
    model = MODELS[name](kernel=rbf).fit(X, targets(name, t))
    check(model, X)


@pytest.mark.parametrize("name", ["binary", "pairs", "rest", "SVR", "OneClassSVM"])
def test_precomputed_kernel(name):
    X, t = data(120)
    K = rbf(X, X)
    model = MODELS[name](kernel="precomputed").fit(K, targets(name, t))
    want = direct(model, K[:, model.support_])
    np.testing.assert_allclose(ask(model, K), want, rtol=0, atol=1e-10)


def test_other_kernels_of_many_classes():
    X, t = data()
    y = np.digitize(t, np.linspace(-1.2, 1.2, 8))
    for kernel, values in {
        "linear": lambda A, B: A @ B.T,
        "poly": lambda A, B: (GAMMA * (A @ B.T) + 1.0) ** 3,
    }.items():
        model = MODELS["pairs"](kernel=kernel, gamma=GAMMA, coef0=1.0).fit(X, y)
        want = direct(model, values(X, model.support_vectors_))
        np.testing.assert_allclose(ask(model, X), want, rtol=0, atol=1e-8)


def test_one_rule_serves_until_the_next_update():
    X, t = data()
    y = targets("pairs", t)
    model = MODELS["pairs"](gamma=GAMMA).fit(X[:200], y[:200])
    state = model._model.state
    model.predict(X)
    rule = state._functions
    assert rule is not None
    model.decision_function(X[:1])
    model.score(X, y)
    assert state._functions is rule
    assert pickle.loads(pickle.dumps(model))._model.state._functions is None
    model.partial_fit(X[200:], y[200:])
    assert state._functions is None


def test_a_failing_update_leaves_the_decisions():
    X, t = data()
    y = targets("binary", t)

    def fragile(A, B):
        if np.abs(A).max() > 1e3:
            raise RuntimeError("too far")
        return rbf(A, B)

    model = supple.SVC(kernel=fragile).fit(X, y)
    before = model.decision_function(X)
    with pytest.raises(RuntimeError, match="too far"):
        model.partial_fit(np.vstack([X[:3] + 0.1, X[:1] + 1e4]), y[[0, 1, 2, 0]])
    np.testing.assert_allclose(model.decision_function(X), before, rtol=0, atol=1e-12)
    check(model, X)


def test_a_kernel_that_reads_the_model_during_an_update():
    """A decision rule prepared during an update belongs to an intermediate state."""
    X, t = data(90)
    y = targets("binary", t)
    reading = []

    def curious(A, B):
        if reading:
            reading.pop()
            model.predict(X[:2])
        return rbf(A, B)

    model = supple.SVC(kernel=curious).fit(X[:60], y[:60])
    for first in range(60, 90, 5):
        reading[:] = [True]
        model.partial_fit(X[first : first + 5], y[first : first + 5])
        assert not reading
        check(model, X)


def test_heads_that_wait_have_no_values():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(81, 2))
    y = np.repeat([0, 1, 2], [40, 40, 1])  # too few of the last class for nu
    model = supple.NuSVC(nu=0.5, gamma=GAMMA)
    with pytest.warns(supple.NotReadyWarning):
        model.partial_fit(X, y)
    state = model._model.state
    values = dict(zip(state.heads, state.decision(X).T, strict=True))
    assert np.isnan(values[0, 2]).all()
    assert np.isnan(values[1, 2]).all()
    head = state.heads[0, 1]
    want = rbf(X, X[head.slots]) @ head.coef + head.intercept
    np.testing.assert_allclose(values[0, 1], want, rtol=0, atol=1e-10 * np.abs(head.coef).max())


def test_first_questions_at_once():
    X, t = data()
    y = targets("pairs", t)
    for _ in range(5):
        model = MODELS["pairs"](gamma=GAMMA).fit(X, y)
        barrier, answers = threading.Barrier(4, timeout=30), []

        def question(model=model, barrier=barrier, answers=answers):
            barrier.wait()
            answers.append(model.decision_function(X))

        threads = [threading.Thread(target=question) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(answers) == 4
        for answer in answers:
            np.testing.assert_array_equal(answer, answers[0])


@pytest.mark.parametrize("k", [3, 4, 7])
def test_votes_are_scikit_learns(k):
    rng = np.random.default_rng(k)
    pairs = [(i, j) for i in range(k) for j in range(i + 1, k)]
    decision = rng.normal(size=(50, len(pairs)))
    decision[rng.random(decision.shape) < 0.1] = 0.0
    want = _ovr_decision_function(decision < 0, -decision, k)
    np.testing.assert_allclose(_one_per_class(decision, k), want, rtol=0, atol=1e-14)
    votes = np.zeros((50, k))
    for column, (i, j) in zip(decision.T, pairs, strict=True):
        votes[:, i] += column > 0
        votes[:, j] += column <= 0
    np.testing.assert_array_equal(_votes(decision > 0, k), votes)


def test_radius_and_scores_of_a_ball():
    X, _ = data()
    for params in ({"nu": 0.3, "gamma": GAMMA}, {"kernel": "linear", "C": 0.05}):
        model = supple.SVDD(**params).fit(X)
        alpha = model.dual_coef_[0] / 2.0
        S = model.support_vectors_
        k = rbf if "gamma" in params else (lambda A, B: A @ B.T)
        distance = np.diag(k(X, X)) - 2.0 * k(X, S) @ alpha + alpha @ k(S, S) @ alpha
        np.testing.assert_allclose(model.score_samples(X), -distance, rtol=0, atol=1e-9)
        np.testing.assert_allclose(model.radius_**2 - distance, model.decision_function(X),
                                   rtol=0, atol=1e-9)  # fmt: skip
