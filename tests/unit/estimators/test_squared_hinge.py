"""SVC with loss="squared_hinge": 1/2 |w|^2 + sum_i C_i xi_i^2, exact in every operation."""

import pickle

import numpy as np
import oracle
import pytest
import sklearn.svm
from ledger import DECISION_BAR, KKT_BAR
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from supple import SVC
from supple.diagnostics import ConformalClassifier, influence, leave_one_out, xi_alpha
from supple.errors import InvalidInputError
from supple.memory import AdaptiveWindow, Budget, Decay, SupportVectors, Window

GAMMA = 0.5


def stream(n, seed=0, d=2, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    score = X[:, 0] + 0.7 * rng.normal(size=n)
    cuts = np.quantile(score, np.arange(1, classes) / classes)
    return X, np.searchsorted(cuts, score), rng.uniform(0.2, 2.0, n)


def squared(**params):
    return SVC(**{"gamma": GAMMA, "loss": "squared_hinge"} | params)


def alphas(model):
    """Signed coefficients of all examples held by a model of two classes."""
    out = np.zeros(len(model.ids_))
    out[model.support_] = np.ravel(model.dual_coef_)
    return out


def rbf(A, B):
    return oracle.rbf(GAMMA)(np.asarray(A), np.asarray(B))


def assert_optimal(model, X, y):
    """KKT by the oracle's measures, for labels 0 / 1 of the examples held, by id."""
    ids, w = model.ids_, model.sample_weight_
    K, sign, x = rbf(X[ids], X[ids]), np.where(y[ids] == 1, 1.0, -1.0), alphas(model)
    qp = oracle.squared_csvc(K, sign, model.C * w)
    rest = (qp.groups, qp.targets, qp.lo, qp.hi, x, model.intercept_)
    assert oracle.kkt_violation(qp.K, qp.c, *rest) <= KKT_BAR
    xi = np.maximum(0.0, 1.0 - sign * (K @ x + model.intercept_))
    primal = 0.5 * x @ K @ x + model.C * w @ xi**2
    assert model.dual_objective_ == pytest.approx(primal, rel=1e-9)
    assert model.exact_


def recorded(model):
    steps = []
    model._model.engine.run.listeners.append(steps.append)
    return steps


# ----------------------------------------------------------------------------- against others


def test_coefficients_are_those_of_a_hard_margin_on_the_shifted_kernel():
    # LIBSVM rounds kernel values to float32: here all of them are powers of two, and sums of two.
    rng = np.random.default_rng(3)
    X = rng.integers(-1, 2, size=(40, 3)).astype(float)
    y, w = rng.integers(0, 2, 40), 2.0 ** rng.integers(-2, 2, 40)
    model = SVC(C=0.5, gamma=np.log(2), loss="squared_hinge").fit(X, y, sample_weight=w)
    K = oracle.rbf(np.log(2))(X, X)
    peer = sklearn.svm.SVC(kernel="precomputed", C=1e10, tol=1e-12)
    peer.fit(K + np.diag(1 / (2 * 0.5 * w)), y)
    expected = np.zeros(len(y))
    expected[peer.support_] = peer.dual_coef_[0]
    assert_allclose(alphas(model), expected, atol=DECISION_BAR)
    assert_allclose(model.decision_function(X), peer.decision_function(K), atol=DECISION_BAR)
    xi = np.maximum(0.0, 1.0 - np.where(y == 1, 1, -1) * model.decision_function(X))
    assert_allclose(np.abs(alphas(model)), 2 * 0.5 * w * xi, atol=1e-9)


def test_about_what_linear_svc_finds():
    X, y, w = stream(200)
    model = SVC(kernel="linear", C=0.3, loss="squared_hinge").fit(X, y, sample_weight=w)
    # Which punishes the intercept as well: less so the larger intercept_scaling is.
    peer = sklearn.svm.LinearSVC(
        C=0.3, loss="squared_hinge", dual=True, intercept_scaling=100.0, tol=1e-10, max_iter=10**7
    ).fit(X, y, sample_weight=w)
    assert_allclose(model.coef_, peer.coef_, rtol=1e-3, atol=1e-3)
    assert_allclose(model.intercept_, peer.intercept_, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_batch_of_more_members_than_a_working_set(kernel):
    X, y, _ = stream(2600, d=4)
    params = {"gamma": 0.3, "degree": 2, "coef0": 1.0}
    model = SVC(kernel=kernel, C=0.7, loss="squared_hinge", **params).fit(X, y)
    k = {"rbf": oracle.rbf(0.3), "linear": oracle.linear, "poly": oracle.poly(0.3, 2, 1.0)}[kernel]
    x, sign = alphas(model), np.where(y == 1, 1.0, -1.0)
    K = np.concatenate([k(part, X) for part in np.array_split(X, 20)])
    g = sign * (K @ x + x / (2 * 0.7) + model.intercept_) - 1.0
    assert np.abs(g[x != 0]).max() <= KKT_BAR
    assert g[x == 0].min() >= -KKT_BAR
    assert (sign * x).min() >= 0.0
    assert abs(x.sum()) <= 1e-10 * np.abs(x).sum()


# ----------------------------------------------------------------------------- operations


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_updates_of_single_examples_go_along_the_path(C):
    X, y, w = stream(420)
    model = squared(C=C).fit(X[:380], y[:380], sample_weight=w[:380])
    steps = recorded(model)
    for i in range(380, 400):
        model.partial_fit(X[[i]], y[[i]], sample_weight=w[[i]])
    for i in {7, 31, 381, *model.support_ids_[:3].tolist()}:
        model.forget(i)
    held = model.support_ids_[-3:].tolist()
    model.reweight(held, [0.3, 3.0, 1.5]).reweight(held[:1], 0.0).reweight(held[:1], 2.0)
    assert {step.route for step in steps} <= {"path", "leap", "none"}
    assert sum(step.breakpoints for step in steps) > 0
    assert_optimal(model, X, y)
    model.retune(C=3 * C).partial_fit(X[400:], y[400:])
    assert_optimal(model, X, y)


def test_regularization_path_and_reweighting_of_many():
    X, y, w = stream(120)
    model = squared().fit(X, y)
    for one in model.regularization_path([1e-3, 1.0, 1e4]):
        assert_optimal(one, X, y)
    assert_optimal(model.reweight(model.ids_, w), X, y)
    assert_optimal(model.reweight(np.arange(100), 0.0), X, y)


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_several_classes_with_weights(multi_class, form):
    X, y, w = stream(90, classes=4)
    params = {"C": 2.0, "multi_class": multi_class, "class_weight": {0: 3.0, 2: 0.5}}
    model = squared(**params)
    for part in np.array_split(np.arange(90), 9):
        model.partial_fit(form(X[part]), y[part], sample_weight=w[part])
    model.forget([3, 5, 8]).reweight([1, 2], [0.5, 4.0])
    held, weight = model.ids_, model.sample_weight_
    fresh = squared(**params).fit(form(X[held]), y[held], sample_weight=weight)
    assert model.kkt_violation_ <= KKT_BAR
    assert_allclose(model.dual_objective_, fresh.dual_objective_, rtol=1e-9)
    f = fresh.decision_function(form(X))
    assert_allclose(model.decision_function(form(X)), f, atol=DECISION_BAR)


@pytest.mark.parametrize(
    "memory",
    [
        Window(30),
        Budget(25),
        Budget(25, rule="relevance"),
        Decay(20.0),
        SupportVectors("ruping"),
        AdaptiveWindow("leave_one_out", n_estimated=10),
    ],
    ids=repr,
)
def test_memories(memory):
    X, y, _ = stream(80)
    model = squared(C=0.5, memory=memory)
    for part in np.array_split(np.arange(80), 10):
        model.partial_fit(X[part], y[part])
    state = model._model.state
    held, weight = state.points(np.arange(state.n)), model.sample_weight_
    labels = np.array([model._model.labels.label(int(code)) for code in state.y])
    fresh = squared(C=0.5).fit(held, labels, sample_weight=weight)
    assert model.kkt_violation_ <= KKT_BAR
    assert_allclose(model.decision_function(X), fresh.decision_function(X), atol=DECISION_BAR)


def test_what_if_and_pickle_leave_no_trace():
    X, y, w = stream(60)
    model = squared(C=5.0).fit(X[:50], y[:50], sample_weight=w[:50])
    before, f = alphas(model), model.decision_function(X)
    with model.what_if() as trial:
        trial.partial_fit(X[50:], y[50:]).forget([0, 1, 2]).reweight([5], 9.0).retune(C=0.1)
    assert_array_equal(alphas(model), before)
    assert_array_equal(model.decision_function(X), f)
    other = pickle.loads(pickle.dumps(model))
    assert_array_equal(alphas(other), before)
    for one in (model, other):
        one.partial_fit(X[50:], y[50:]).forget(3)
        assert_optimal(one, X, y)


@pytest.mark.parametrize("C", [1e-8, 1e5])
def test_costs_far_from_1(C):
    X, y, _ = stream(60)
    X[30:40] = X[:10]  # with other labels here and there
    model = squared(C=C).fit(X[:50], y[:50])
    model.partial_fit(X[50:], y[50:]).forget(range(5))
    assert_optimal(model, X, y)


# ----------------------------------------------------------------------------- diagnostics


def test_leave_one_out_and_influence_are_those_of_forgetting():
    X, y, _ = stream(50)
    model = squared().fit(X[:40], y[:40])
    found = leave_one_out(model)
    effects = influence(model, X[40:], y[40:])
    at_all = effects.base
    for i in range(40):
        kept = np.delete(np.arange(40), i)
        without = squared().fit(X[kept], y[kept])
        assert_allclose(found.decision[i], without.decision_function(X[[i]]), atol=DECISION_BAR)
        margin = np.where(y[40:] == 1, 1, -1) * without.decision_function(X[40:])
        loss = np.maximum(0.0, 1.0 - margin).mean()
        assert effects.effect[i] == pytest.approx(loss - at_all, abs=DECISION_BAR)


def test_conformal_p_values_are_those_of_refits():
    X, y, _ = stream(45)
    conformal = ConformalClassifier(squared()).fit(X[:40], y[:40])
    p = conformal.p_values(X[40:])
    for row, z in zip(p, X[40:], strict=True):
        for label in (0, 1):
            both, labels = np.vstack([X[:40], z]), np.append(y[:40], label)
            f = squared().fit(both, labels).decision_function(both)
            score = 1.0 - np.where(labels == 1, 1, -1) * f
            assert row[label] == np.mean(score >= score[-1] - 1e-9)


def test_refusals_name_the_parameter_and_a_remedy():
    X, y, _ = stream(30)
    with pytest.raises(InvalidInputError, match=r"squared_hinge.* leave_one_out"):
        xi_alpha(squared().fit(X, y))
    with pytest.raises(InvalidInputError, match=r"memory.*squared_hinge.*leave_one_out"):
        squared(memory=AdaptiveWindow()).partial_fit(X, y)
    with pytest.raises(ValueError, match="'loss' parameter of SVC"):
        SVC(loss="squared").fit(X, y)
    for C in (1e-120, 1e120):
        with pytest.raises(InvalidInputError, match=r"C .*sample_weight"):
            squared(C=C).fit(X, y)


def test_all_leave_the_margin_together():
    # Without its one positive example all x are 0, which the others reach in the same step.
    X, y = np.zeros((10, 2)), np.array([1] + 9 * [-1])
    weight = np.where(y > 0, 0.5, 1.0)
    model = SVC(C=0.01, loss="squared_hinge").fit(X, y).reweight([0], [0.5])
    again = SVC(C=0.01, loss="squared_hinge").fit(X, y, sample_weight=weight)
    assert model.exact_
    np.testing.assert_allclose(model.intercept_, again.intercept_, rtol=1e-12)
