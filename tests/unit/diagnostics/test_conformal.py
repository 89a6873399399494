"""Conformal prediction against fits from nothing, and its guarantees."""

import pickle
import signal
import threading

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import supple
from supple._core import Route, make_ready_for_paths
from supple.diagnostics import ConformalClassifier, ConformalRegressor, ExchangeabilityMartingale
from supple.diagnostics._candidates import first_equals
from supple.qp import NO_RIDGE, Move
from supple.solvers import solve
from tests.unit.diagnostics.test_unchanged import fingerprint

TIE = 1e-7


def sample(n=60, seed=0, classes=2):
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=n)
    return rng.normal(size=(n, 3)) + 1.2 * np.eye(3)[y], np.array(["a", "b", "c"])[y]


def scores(model, X, y, weight):
    """Return the nonconformity scores of all examples from the public attributes of a fit."""
    X = X.toarray() if sparse.issparse(X) else X
    pairs = [(a, b) for i, a in enumerate(model.classes_) for b in model.classes_[i + 1 :]]
    out = np.full(len(y), -np.inf)
    for a, b in pairs if model.multi_class == "ovo" else [(c, None) for c in model.classes_]:
        if b is None and len(model.classes_) == 2:
            a, b = model.classes_
        member = np.isin(y, [a, b]) | (b is None)
        sign = np.where(y[member] == a, 1.0, -1.0)
        one = supple.SVC(C=model.C, kernel=model.kernel, gamma=model._gamma)
        one.fit(X[member], sign, sample_weight=weight[member])
        alpha = np.zeros(member.sum())
        alpha[one.support_] = np.abs(one.dual_coef_.ravel())
        C = model.C * weight[member]
        slack = 1.0 - sign * one.decision_function(X[member])
        slack[(alpha > 0) & (alpha < C)] = 0.0
        # Equal examples: the division of their coefficients is not determined.
        _, group = np.unique(np.column_stack([X[member], sign]), axis=0, return_inverse=True)
        share = np.bincount(group, alpha)[group] / np.bincount(group, C)[group]
        out[member] = np.maximum(out[member], share + slack)
    return out


def brute_force(model, X, y, queries, *, mondrian=False, class_weight=None):
    class_weight = class_weight or {}
    p = np.empty((queries.shape[0], len(model.classes_)))
    stack = sparse.vstack if sparse.issparse(X) else np.vstack
    for k in range(len(p)):
        for j, label in enumerate(model.classes_):
            everyone, labels = stack([X, queries[k : k + 1]]), np.append(y, label)
            everyone = everyone.tocsr() if sparse.issparse(everyone) else everyone
            weight = np.array([class_weight.get(one, 1.0) for one in labels])
            s = scores(model, everyone, labels, weight)
            s = s[labels == label] if mondrian else s
            p[k, j] = np.mean(s >= s[-1] - TIE)
    return p


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("mondrian", [False, True])
@pytest.mark.parametrize(
    ("classes", "params"),
    [
        (2, {"C": 1.0, "gamma": 0.5}),
        (2, {"C": 100.0, "gamma": 1.0}),
        (2, {"C": 1.0, "kernel": "linear"}),
        (2, {"C": 1.0, "gamma": 0.5, "multi_class": "ovr"}),
        (3, {"C": 1.0, "gamma": 0.5}),
        (3, {"C": 10.0, "gamma": 0.5, "multi_class": "ovr"}),
    ],
)
def test_p_values_of_fits_from_nothing(classes, params, mondrian, form):
    X, y = sample(45, classes=classes)
    queries = sample(6, seed=1, classes=classes)[0]
    if form == "csr":
        X, queries = sparse.csr_matrix(X), sparse.csr_matrix(queries)
    conformal = ConformalClassifier(supple.SVC(**params), mondrian=mondrian).fit(X, y)
    expected = brute_force(conformal.estimator_, X, y, queries, mondrian=mondrian)
    np.testing.assert_allclose(conformal.p_values(queries), expected, rtol=1e-12)
    best = conformal.classes_[np.argmax(expected, axis=1)]
    np.testing.assert_array_equal(conformal.predict(queries), best)
    np.testing.assert_array_equal(conformal.predict_set(queries, level=0.7), expected > 0.3)


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_class_weights(multi_class):
    X, y = sample(40, classes=3)
    queries, weights = sample(5, seed=1)[0], {"a": 0.4, "b": 2.0}
    model = supple.SVC(gamma=0.5, class_weight=weights, multi_class=multi_class)
    conformal = ConformalClassifier(model).fit(X, y)
    expected = brute_force(conformal.estimator_, X, y, queries, class_weight=weights)
    np.testing.assert_allclose(conformal.p_values(queries), expected, rtol=1e-12)


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_equal_examples_are_treated_alike(form):
    X, y = sample(40)
    X = np.round(X)  # many are equal, also with different labels
    points = sparse.csr_matrix(X) if form == "csr" else X
    conformal = ConformalClassifier(supple.SVC(C=2.0, gamma=0.3)).fit(points, y)
    expected = brute_force(conformal.estimator_, X, y, X[:12])
    np.testing.assert_allclose(conformal.p_values(points[:12]), expected, rtol=1e-12)


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("values", [[-1.0, -0.0, 0.0, 2.0], np.linspace(-1, 1, 40)])
def test_first_equals(values, form):
    X = np.random.default_rng(0).choice(values, size=(90, 2))
    expected = [np.flatnonzero((row == X).all(axis=1))[0] for row in X]
    found = first_equals(sparse.csr_matrix(X) if form == "csr" else X)
    np.testing.assert_array_equal(found, expected)


def test_more_members_than_have_rows_by_themselves():
    X, y = sample(1100)
    queries, labels = sample(4, seed=1)
    conformal = ConformalClassifier(supple.SVC(gamma=0.5)).fit(X, y)
    expected = brute_force(conformal.estimator_, X, y, queries)
    np.testing.assert_allclose(conformal.p_values(queries), expected, rtol=1e-12)
    p = conformal.learn_p_values(queries, labels)
    assert p[0] == pytest.approx(expected[0, conformal.classes_.tolist().index(labels[0])])
    everyone, all_labels = np.vstack([X, queries]), np.append(y, labels)
    s = scores(conformal.estimator_, everyone, all_labels, np.ones(1104))
    assert p[3] == pytest.approx(np.mean(s >= s[-1] - TIE))


def test_paths_from_gathered_values_stay_in_double_precision():
    X, y = sample(1500)
    model = supple.SVC(gamma=0.5).fit(X, y)
    (head,) = model._model.state.head_states.values()
    core, zero = head.core, np.zeros(1)
    make_ready_for_paths(core)
    at_bound = np.flatnonzero((core.x != 0.0) & ((core.x == core.lo) | (core.x == core.hi)))
    move = Move(at_bound[:1], zero, zero, NO_RIDGE, core.target[:1])
    found = solve(core, move, model._model.state.settings, cold=False)
    assert found.route in (Route.path, Route.leap)
    assert found.breakpoints
    assert not core.rough
    kx = core.kx
    core.refresh()
    np.testing.assert_allclose(kx, core.kx, atol=1e-11)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("form", ["dense", "csr", "callable"])
def test_the_model_is_unchanged(classes, form):
    X, y = sample(80, classes=classes)
    kernel = (lambda A, B: (1.0 + A @ B.T) ** 2) if form == "callable" else "rbf"
    points = sparse.csr_matrix(X) if form == "csr" else X
    conformal = ConformalClassifier(supple.SVC(kernel=kernel, gamma=0.5)).fit(points, y)
    model = conformal.estimator_
    before = fingerprint(model)
    stored = None if form == "callable" else pickle.dumps(model)
    queries = sample(70, seed=1)[0]
    queries = sparse.csr_matrix(queries) if form == "csr" else queries
    first = conformal.p_values(queries)
    assert fingerprint(model) == before
    assert stored is None or pickle.dumps(model) == stored
    np.testing.assert_array_equal(conformal.p_values(queries), first)
    with model.what_if():
        np.testing.assert_array_equal(conformal.p_values(queries), first)
    assert fingerprint(model) == before


def test_an_error_in_the_kernel_changes_nothing():
    X, y = sample()
    asked = []

    def kernel(A, B):
        if asked:
            asked[0] -= 1
            if asked[0] < 0:
                raise RuntimeError("out of order")
        return np.exp(-0.3 * ((A[:, None] - B[None]) ** 2).sum(axis=2))

    conformal = ConformalClassifier(supple.SVC(kernel=kernel, cache_size=0.001)).fit(X, y)
    expected, before = conformal.p_values(X[:5]), fingerprint(conformal.estimator_)
    for calls in (0, 1, 2, 5, 20):
        asked[:] = [calls]
        with pytest.raises(RuntimeError, match="out of order"):
            conformal.p_values(X[:5] + 0.1)
        asked.clear()
        assert fingerprint(conformal.estimator_) == before
    np.testing.assert_array_equal(conformal.p_values(X[:5]), expected)


def test_ctrl_c():
    X, y = sample(900, classes=3)
    conformal = ConformalClassifier(supple.SVC(C=100.0, gamma=1.0)).fit(X, y)
    conformal.p_values(X[:1])
    before = fingerprint(conformal.estimator_)
    main = threading.main_thread().ident
    threading.Timer(0.1, lambda: signal.pthread_kill(main, signal.SIGINT)).start()

    def go_on():
        while True:
            conformal.p_values(X + 0.1)

    with pytest.raises(KeyboardInterrupt):
        go_on()
    assert fingerprint(conformal.estimator_) == before


def test_learning_and_forgetting():
    X, y = sample(40, classes=3)
    whole = ConformalClassifier(supple.SVC(gamma=0.5)).fit(X, y)
    grown = ConformalClassifier(supple.SVC(gamma=0.5)).partial_fit(X[:25], y[:25])
    grown.partial_fit(np.vstack([X[25:], X[:3] + 1.0]), np.append(y[25:], y[3:6]))
    grown.forget([40, 41, 42])
    queries = sample(8, seed=2)[0]
    np.testing.assert_allclose(grown.p_values(queries), whole.p_values(queries), rtol=1e-12)
    assert grown.classes_.tolist() == ["a", "b", "c"]
    assert 0.0 < whole.score(X, y) <= 1.0
    assert clone(whole).get_params()["mondrian"] is False
    again = pickle.loads(pickle.dumps(whole))
    np.testing.assert_array_equal(again.p_values(queries), whole.p_values(queries))


@pytest.mark.parametrize("form", ["dense", "csr", "frame"])
def test_p_values_before_learning(form):
    X, y = sample(30, classes=3)
    y[:2] = "a"  # one class for a while, then new ones
    points = {"dense": X, "csr": sparse.csr_matrix(X), "frame": pd.DataFrame(X).add_prefix("f")}
    online = ConformalClassifier(supple.SVC(gamma=0.5))
    p = online.learn_p_values(points[form], y, ids=[f"id {k}" for k in range(30)])
    assert p[0] == p[1] == 1.0
    for k in range(2, 30):
        everyone = supple.SVC(gamma=0.5).partial_fit(X[: k + 1], y[: k + 1])
        if len(everyone.classes_) == 1:
            assert p[k] == 1.0
            continue
        s = scores(everyone, X[: k + 1], y[: k + 1], np.ones(k + 1))
        assert p[k] == pytest.approx(np.mean(s >= s[-1] - TIE))
    np.testing.assert_array_equal(online.estimator_.ids_[:2].tolist(), ["id 0", "id 1"])
    whole = ConformalClassifier(supple.SVC(gamma=0.5)).fit(points[form], y)
    np.testing.assert_allclose(
        online.p_values(points[form][:5]), whole.p_values(points[form][:5]), rtol=1e-12
    )


@pytest.mark.parametrize("mondrian", [False, True])
def test_coverage(mondrian):
    rng = np.random.default_rng(0)
    covered = []
    for _ in range(60):
        X, y = sample(70, seed=rng.integers(2**31), classes=3)
        conformal = ConformalClassifier(supple.SVC(gamma=0.5), mondrian=mondrian)
        p = conformal.fit(X[:60], y[:60]).p_values(X[60:])
        covered.append(p[np.arange(10), np.searchsorted(conformal.classes_, y[60:])])
    for level in (0.8, 0.9):
        each = (np.array(covered) > 1.0 - level).mean(axis=1)
        error = each.std(ddof=1) / np.sqrt(len(each))
        grain = 3 / 60 if mondrian else 1 / 60
        assert level - 3 * error <= each.mean() <= level + grain + 3 * error


def test_smoothed_p_values_are_uniform():
    X, y = sample(300, seed=5)
    conformal = ConformalClassifier(supple.SVC(gamma=0.5), smoothed=True, random_state=0)
    p = conformal.learn_p_values(X, y)
    assert stats.kstest(p, "uniform").pvalue > 0.01
    again = clone(conformal).learn_p_values(X, y)
    np.testing.assert_array_equal(p, again)
    plain = ConformalClassifier(supple.SVC(gamma=0.5)).learn_p_values(X, y)
    assert (plain >= p).all()


def peak(X, y, seed):
    """Return the largest capital of a stream before and after its middle."""
    conformal = ConformalClassifier(supple.SVC(gamma=0.5), smoothed=True, random_state=seed)
    martingale = ExchangeabilityMartingale()
    values = [martingale.update(p).value_ for p in conformal.learn_p_values(X, y)]
    return max(values[: len(y) // 2]), max(values[len(y) // 2 :])


def test_martingale_tells_drift():
    quiet = [peak(*sample(120, seed=100 + seed), seed) for seed in range(15)]
    assert np.mean(np.max(quiet, axis=1) >= 10.0) <= 0.2  # by Ville's inequality 0.1 at most
    X, y = sample(400, seed=8)
    turned = np.where(np.arange(400) < 200, y, np.where(y == "a", "b", "a"))
    before, after = peak(X, turned, 0)
    assert before < 20.0 < 1e4 < after


def test_martingale():
    p = np.random.default_rng(0).uniform(size=50)
    martingale = ExchangeabilityMartingale()
    assert (martingale.value_, martingale.n_) == (pytest.approx(1.0), 0)
    assert martingale.update(p).n_ == 50
    stakes = np.linspace(0.0, 1.0, 100_001)[1:]
    exact = np.mean(np.prod(stakes[:, None] * p ** (stakes[:, None] - 1.0), axis=1))
    assert martingale.value_ == pytest.approx(exact, rel=1e-2)
    assert martingale.log_value_ == pytest.approx(np.log(martingale.value_))
    assert martingale.update(np.full(2000, 1e-9)).value_ == np.inf
    assert np.isfinite(martingale.log_value_)
    for bad in (0.0, 1.1, [0.5, np.nan], "x", None):
        with pytest.raises(supple.InvalidInputError, match="'p' given to Exchangeability"):
            martingale.update(bad)
    assert martingale.n_ == 2050


def regression(n=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, np.sin(X[:, 0]) + 0.3 * rng.normal(size=n)


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("epsilon", [0.0, 0.2, 5.0])  # 5: no support vector
def test_jackknife_plus(form, epsilon):
    X, y = regression()
    queries = regression(7, seed=1)[0]
    points, asked = (sparse.csr_matrix(X), sparse.csr_matrix(queries)) if form == "csr" else (
        X, queries
    )  # fmt: skip
    conformal = ConformalRegressor(supple.SVR(C=3.0, gamma=0.4, epsilon=epsilon))
    conformal.fit(points, y)
    before = fingerprint(conformal.estimator_)
    low, high = np.empty((40, 7)), np.empty((40, 7))
    for i in range(40):
        keep = np.arange(40) != i
        one = clone(conformal.estimator_).fit(X[keep], y[keep])
        r = abs(y[i] - one.predict(X[[i]])[0])
        low[i], high[i] = one.predict(queries) - r, one.predict(queries) + r
    for level in (0.8, 0.9):
        k = int(np.floor((1.0 - level) * 41 + 1e-9))
        expected = np.column_stack([np.sort(low, axis=0)[k - 1], np.sort(high, axis=0)[40 - k]])
        found = conformal.predict_interval(asked, level=level)
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)
    assert fingerprint(conformal.estimator_) == before
    assert np.isinf(conformal.predict_interval(asked, level=0.99)).all()
    np.testing.assert_array_equal(conformal.predict(asked), conformal.estimator_.predict(asked))


def test_jackknife_covers_and_follows_updates():
    hits = []
    for seed in range(25):
        X, y = regression(60, seed)
        conformal = ConformalRegressor(supple.SVR(gamma=0.4)).partial_fit(X[:45], y[:45])
        conformal.partial_fit(X[45:50], y[45:50]).partial_fit(X[:1] + 9.0, [99.0]).forget(50)
        low, high = conformal.predict_interval(X[50:], level=0.9).T
        hits.append(np.mean((low <= y[50:]) & (y[50:] <= high)))
    assert abs(np.mean(hits) - 0.9) < 3 * np.std(hits, ddof=1) / 5 + 1 / 51


@pytest.mark.parametrize("level", [0.0, 1.0, -0.1, 90, np.nan, "0.9", None, True])
def test_bad_levels(level):
    X, y = regression(20)
    for conformal, answer in (
        (ConformalClassifier(supple.SVC(gamma=0.5)).fit(X, y > 0), "predict_set"),
        (ConformalRegressor(supple.SVR(gamma=0.5)).fit(X, y), "predict_interval"),
    ):
        before = fingerprint(conformal.estimator_)
        with pytest.raises(supple.InvalidInputError, match="'level' given to Conformal"):
            getattr(conformal, answer)(X, level=level)
        assert fingerprint(conformal.estimator_) == before


def test_bad_estimators():
    X, y = sample()
    for bad in (supple.NuSVC(), supple.LASVC(), supple.SVR(), supple.SVC, "SVC", 3):
        with pytest.raises(supple.InvalidInputError, match="'estimator' parameter of ConformalCl"):
            ConformalClassifier(bad).fit(X, y)
    with pytest.raises(supple.InvalidInputError, match="must be a SVR of supple"):
        ConformalRegressor(supple.SVC()).fit(X, X[:, 0])
    with pytest.raises(supple.PrecomputedUpdateError, match="kernel='precomputed'"):
        ConformalClassifier(supple.SVC(kernel="precomputed")).fit(X @ X.T, y)
    with pytest.raises(supple.InvalidInputError, match="balanced"):
        ConformalClassifier(supple.SVC(class_weight="balanced")).fit(X, y)


def test_bad_input():
    X, y = sample()
    for unfitted in (ConformalClassifier(), ConformalRegressor()):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            unfitted.predict(X)
        with pytest.raises(NotFittedError, match="not fitted yet"):
            unfitted.forget([0])
    conformal = ConformalClassifier(supple.SVC(gamma=0.5)).fit(X, y)
    before = fingerprint(conformal.estimator_)
    with pytest.raises(ValueError, match="features"):
        conformal.p_values(X[:, :2])
    with pytest.raises(ValueError, match="NaN"):
        conformal.learn_p_values(np.vstack([X[:2], [[0.0, np.nan, 0.0]]]), ["a", "a", "b"])
    with pytest.raises(supple.DuplicateIdError):
        conformal.learn_p_values(X[:2], y[:2], ids=[77, 3])
    assert fingerprint(conformal.estimator_) == before
    inexact = ConformalClassifier(supple.SVC(kernel="sigmoid", gamma=0.1))
    with pytest.raises(supple.InvalidInputError, match="exact_=False"):
        inexact.fit(X, y).p_values(X)
    with pytest.raises(supple.InvalidInputError, match="must be exact"):
        inexact.learn_p_values(X[:1], y[:1])
    one = ConformalClassifier().partial_fit(X[:3], ["a", "a", "a"])
    with pytest.raises(supple.InvalidInputError, match="two classes"):
        one.p_values(X)
    with pytest.raises(supple.InfeasibleError, match="two examples"):
        ConformalRegressor().partial_fit(X[:1], [1.0]).predict_interval(X)
