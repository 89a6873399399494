"""Influence against models that have really forgotten the example, and against fits."""

import copy
import pickle
import signal
import threading

import numpy as np
import pandas as pd
import pytest
import sklearn.svm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import supple
from supple.diagnostics import Influence, influence
from tests.unit.diagnostics.test_unchanged import fingerprint

LABELS = np.array(["a", "b", "c"])


def sample(n=60, seed=0, classes=2):
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=n)
    return rng.normal(size=(n, 3)) + 1.2 * np.eye(3)[y], LABELS[y]


def margins(model, X, y, known):
    """Return by how much the true labels lead, from public attributes; `known`: all classes."""
    classes = list(model.classes_)
    lead = np.full((len(y), len(known), len(known)), np.inf)
    for label in set(known) - set(classes):
        lead[:, :, known.index(label)], lead[:, known.index(label), :] = 1.0, -1.0
    if len(classes) > 1:
        shape = "ovr" if model.multi_class == "ovr" else "ovo"
        f = copy.deepcopy(model).set_params(decision_function_shape=shape).decision_function(X)
        pairs = [(a, b) for i, a in enumerate(classes) for b in classes[i + 1 :]]
        for column, (a, b) in enumerate(pairs):
            if len(classes) == 2:
                values = -f
            elif shape == "ovo":
                values = f[:, column]
            else:
                values = (f[:, classes.index(a)] - f[:, classes.index(b)]) / 2.0
            lead[:, known.index(a), known.index(b)] = values
            lead[:, known.index(b), known.index(a)] = -values
    diagonal = np.arange(len(known))
    lead[:, diagonal, diagonal] = np.inf
    return lead.min(axis=2)[np.arange(len(y)), [known.index(label) for label in y]]


def loss_of(model, X, y, loss, known):
    if loss == "hinge":
        return np.maximum(0.0, 1.0 - margins(model, X, y, known)).mean()
    prediction = model.predict(X)
    if loss == "error":
        return np.mean(prediction != y)
    residual = np.asarray(y) - prediction
    return np.mean(np.abs(residual) if loss == "absolute" else residual**2)


def brute_force(model, X, y, loss):
    """Return the base and the effects by forgetting on copies."""
    known = list(getattr(model, "classes_", []))
    base = loss_of(model, X, y, loss, known)
    after = [
        loss_of(copy.deepcopy(model).forget(one), X, y, loss, known) for one in model.ids_.tolist()
    ]
    return base, np.array(after) - base


def check(model, X, y, loss):
    before = fingerprint(model), pickle.dumps(model)
    result = influence(model, X, y, loss=loss)
    assert (fingerprint(model), pickle.dumps(model)) == before
    base, effect = brute_force(model, X, y, loss)
    assert result.base == pytest.approx(base, abs=1e-10)
    np.testing.assert_allclose(result.effect, effect, rtol=1e-7, atol=1e-9)
    np.testing.assert_array_equal(result.ids, model.ids_)
    return result


@pytest.mark.parametrize("loss", ["hinge", "error"])
@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize(
    ("classes", "params"),
    [
        (2, {"C": 1.0, "gamma": 0.5}),
        (2, {"C": 100.0, "gamma": 1.0}),
        (2, {"kernel": "linear"}),
        (2, {"gamma": 0.5, "multi_class": "ovr"}),
        (2, {"gamma": 0.5, "class_weight": {"a": 0.3}}),
        (3, {"gamma": 0.5}),
        (3, {"gamma": 0.5, "multi_class": "ovr"}),
        (3, {"gamma": 0.5, "break_ties": True}),
    ],
)
def test_classifiers(classes, params, form, loss):
    X, y = sample(classes=classes)
    test, truth = sample(40, seed=1, classes=classes)
    if form == "csr":
        X, test = sparse.csr_matrix(X), sparse.csr_matrix(test)
    model = supple.SVC(**params).fit(X, y, sample_weight=np.linspace(0.5, 2.0, 60))
    result = check(model, test, truth, loss)
    not_support = np.delete(np.arange(60), model.support_)
    assert not result.effect[not_support].any()
    assert result.n_solved <= len(model.support_) + 2 * classes


@pytest.mark.parametrize("loss", ["hinge", "error"])
@pytest.mark.parametrize("classes", [2, 3])
def test_nu_classifiers(classes, loss):
    X, y = sample(classes=classes)
    result = check(
        supple.NuSVC(nu=0.4, gamma=0.5).fit(X, y), *sample(40, seed=1, classes=classes), loss
    )
    assert result.n_solved == 60


@pytest.mark.parametrize("loss", ["absolute", "squared"])
def test_regression(loss):
    X, _ = sample()
    y = np.sin(X[:, 0]) + 0.2 * X[:, 1]
    test, _ = sample(30, seed=1)
    model = supple.SVR(gamma=0.5, epsilon=0.05).fit(X, y, sample_weight=np.linspace(0, 2, 60))
    result = check(model, test, np.sin(test[:, 0]), loss)
    assert result.effect[0] == 0.0  # of weight 0
    assert 0 < result.n_solved <= len(model.support_) + 2


@pytest.mark.parametrize(
    "model", [supple.OneClassSVM(nu=0.3, gamma=0.3), supple.SVDD(nu=0.3, gamma=0.3)]
)
def test_outlier_detectors(model):
    X, _ = sample()
    test = np.vstack([sample(40, seed=1)[0], 3.0 * sample(20, seed=2)[0], X[:5]])
    truth = np.repeat([1, -1, 1], [40, 20, 5])
    check(copy.deepcopy(model).fit(X), test, truth, "error")


def test_fits_from_nothing():
    X, y = sample()
    test, truth = sample(50, seed=1)
    result = influence(supple.SVC(C=2.0, gamma=0.5).fit(X, y), test, truth)
    sign = np.where(truth == "b", 1.0, -1.0)

    def hinge(keep):
        model = sklearn.svm.SVC(C=2.0, gamma=0.5, tol=1e-10).fit(X[keep], y[keep])
        return np.maximum(0.0, 1.0 - sign * model.decision_function(test)).mean()

    base = hinge(np.arange(60))
    expected = np.array([hinge(np.delete(np.arange(60), k)) for k in range(60)]) - base
    assert result.base == pytest.approx(base, abs=1e-6)
    np.testing.assert_allclose(result.effect, expected, atol=1e-6)
    worst = result.ranking[0]
    assert expected[worst] == pytest.approx(expected.min(), abs=1e-6)


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
@pytest.mark.parametrize("loss", ["hinge", "error"])
@pytest.mark.parametrize("counts", [(1, 6), (6, 1), (6, 1, 7), (1, 1, 5)])
def test_a_class_vanishes_with_its_only_example(counts, loss, multi_class):
    y = np.repeat(LABELS[: len(counts)], counts)
    X = np.random.default_rng(0).normal(size=(len(y), 2))
    test, truth = X[::2] + 0.1, y[::2]
    check(supple.SVC(gamma=0.7, multi_class=multi_class).fit(X, y), test, truth, loss)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(4, 25),
    classes=st.integers(2, 3),
    C=st.sampled_from([0.1, 1.0, 50.0]),
    multi_class=st.sampled_from(["ovo", "ovr"]),
    coarse=st.booleans(),
)
def test_whatever_the_data(seed, n, classes, C, multi_class, coarse):
    X, y = sample(n, seed=seed, classes=classes)
    y[:classes] = LABELS[:classes]
    X = np.round(X) if coarse else X  # equal examples, some with different labels
    rng = np.random.default_rng(seed)
    weight = rng.choice([0.0, 1.0, 2.5], size=n, p=[0.1, 0.6, 0.3])
    weight[:classes] = 1.0
    model = supple.SVC(C=C, gamma=0.5, multi_class=multi_class).fit(X, y, sample_weight=weight)
    if not model.exact_:
        return
    test, truth = sample(12, seed=seed + 1, classes=classes)
    _, effect = brute_force(model, test, truth, "hinge")
    before = fingerprint(model)
    result = influence(model, test, truth)
    assert fingerprint(model) == before
    np.testing.assert_allclose(result.effect, effect, rtol=1e-6, atol=1e-8)


def test_the_record():
    X, y = sample()
    model = supple.SVC(gamma=0.5).fit(X, y, ids=[f"e{k}" for k in range(60)])
    test, truth = sample(30, seed=1)
    everyone = influence(model, test, truth)
    assert isinstance(everyone, Influence)
    assert (everyone.loss, everyone.n) == ("hinge", 60)
    assert repr(everyone).startswith("Influence(loss='hinge', base=0.")
    assert (np.diff(everyone.effect[everyone.order]) >= 0.0).all()
    np.testing.assert_array_equal(everyone.ranking, everyone.ids[everyone.order])
    some = influence(model, test, truth, ids=["e7", "e3", "e9"])
    np.testing.assert_allclose(some.effect, everyone.effect[[7, 3, 9]], atol=1e-12)
    assert some.ids.tolist() == ["e7", "e3", "e9"]
    with pytest.raises(AttributeError):
        some.base = 0.0
    frame = pd.DataFrame(test)
    again = influence(model, frame, pd.Series(truth), n_jobs=2)
    np.testing.assert_allclose(again.effect, everyone.effect, atol=1e-12)


def test_callable_kernel_on_objects():
    words = ["ab", "abc", "b", "bb", "cb", "aab", "cc", "bbc"]
    y = [0, 0, 1, 1, 1, 0, 1, 1]

    def kernel(A, B):
        return np.array([[float(len(set(a) & set(b)) + (a == b)) for b in B] for a in A])

    model = supple.SVC(kernel=kernel).fit(words, y)
    result = influence(model, ["a", "bc"], [0, 1])
    _, effect = brute_force(model, ["a", "bc"], [0, 1], "hinge")
    np.testing.assert_allclose(result.effect, effect, atol=1e-9)


def test_many_test_points_in_parts(monkeypatch):
    X, y = sample(classes=3)
    test, truth = sample(50, seed=1, classes=3)
    model = supple.SVC(gamma=0.5).fit(X, y)
    whole = influence(model, test, truth)
    monkeypatch.setattr("supple.diagnostics._solutions._AT_A_TIME", 100)
    monkeypatch.setattr("supple.diagnostics._influence._VALUES", 1000)
    np.testing.assert_allclose(influence(model, test, truth).effect, whole.effect, atol=1e-12)


def test_progress(capsys, monkeypatch):
    monkeypatch.setattr("supple.progress.PAUSE", 0.0)
    X, y = sample(100, classes=3)
    influence(supple.SVC(gamma=0.5).fit(X, y), X, y, verbose=True)
    assert "[influence] example 1 of" in capsys.readouterr().out
    influence(supple.SVC(gamma=0.5).fit(X, y), X, y)
    assert capsys.readouterr().out == ""


def test_ctrl_c():
    X, y = sample(1000)
    model = supple.SVC(C=100.0, gamma=1.0).fit(X, y)
    assert model.exact_
    before = fingerprint(model)
    main = threading.main_thread().ident
    threading.Timer(0.1, lambda: signal.pthread_kill(main, signal.SIGINT)).start()

    def go_on():
        while True:
            influence(model, X, y)

    with pytest.raises(KeyboardInterrupt):
        go_on()
    assert fingerprint(model) == before


def test_an_error_in_the_kernel_changes_nothing():
    X, y = sample()
    left = [np.inf]  # calls before it breaks

    def kernel(A, B):
        left[0] -= 1
        if left[0] < 0:
            raise RuntimeError("out of order")
        return np.exp(-0.3 * ((A[:, None] - B[None]) ** 2).sum(axis=2))

    model = supple.SVC(kernel=kernel, cache_size=0.001).fit(X, y)
    assert model.exact_
    before = fingerprint(model)
    for calls in (0, 1, 2):
        left[0] = calls
        with pytest.raises(RuntimeError, match="out of order"):
            influence(model, X, y)
        assert fingerprint(model) == before
    left[0] = np.inf
    assert influence(model, X, y).n == 60


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X_test": np.empty((0, 3)), "y_test": []}, "'X_test' given to influence must have at"),
        ({"X_test": []}, "'X_test' given to influence must have at"),
        ({"X_test": np.ones((2, 4)), "y_test": ["a", "b"]}, "4 features"),
        ({"X_test": np.full((1, 3), np.nan), "y_test": ["a"]}, "contains NaN"),
        ({"y_test": ["a"]}, r"one target for each of the 20 rows of 'X_test'. Got shape \(1,\)"),
        ({"y_test": ["z"] * 20}, r"which are \['a', 'b'\]. Got \['z'\] as well"),
        ({"y_test": [0] * 20}, r"Got \[0\] as well"),
        ({"loss": "squared"}, r"'loss' parameter of influence must be one of \['hinge', 'error'\]"),
        ({"loss": 3}, "Got 3 instead"),
        ({"ids": []}, "at least one example"),
        ({"n_jobs": 0}, "'n_jobs' parameter of influence"),
    ],
)
def test_bad_input(change, message):
    X, y = sample()
    model = supple.SVC(gamma=0.5).fit(X, y)
    before = fingerprint(model)
    test, truth = sample(20, seed=1)
    with pytest.raises(ValueError, match=message):
        influence(model, **{"X_test": test, "y_test": truth} | change)
    assert fingerprint(model) == before


def test_models_that_are_refused():
    X, y = sample()
    with pytest.raises(supple.UnknownIdError, match=r"'ids' given to influence: \[99\]"):
        influence(supple.SVC().fit(X, y), X, y, ids=[99])
    with pytest.raises(supple.PrecomputedUpdateError, match="precomputed"):
        influence(supple.SVC(kernel="precomputed").fit(X @ X.T, y), X, y)
    with pytest.raises(supple.InvalidInputError, match="exact_=False"):
        influence(supple.SVC(kernel="sigmoid", gamma=0.1).fit(X, y), X, y)
    for stranger in (supple.LASVC(random_state=0).fit(X, y), supple.RVC().fit(X, y), None):
        with pytest.raises(supple.InvalidInputError, match="must be a fitted estimator of supple"):
            influence(stranger, X, y)
    with pytest.raises(AttributeError, match="not fitted"):
        influence(supple.SVC(), X, y)
    with pytest.raises(supple.InvalidInputError, match="two classes"):
        influence(supple.SVC().partial_fit(X[:2], ["a", "a"]), X, y)
    with pytest.raises(supple.InfeasibleError, match="without the only one"):
        influence(supple.SVR().partial_fit(X[:1], [1.0]), X, np.ones(60))
    with pytest.raises(supple.InvalidInputError, match="Input y must be numbers"):
        influence(supple.SVR().fit(X, X[:, 0]), X, y)
    with pytest.raises(supple.InvalidInputError, match="contains NaN"):
        influence(supple.SVR().fit(X, X[:, 0]), X, np.full(60, np.nan))
    with pytest.raises(
        supple.InvalidInputError, match=r"1 for inliers and -1 for outliers\. Got 0"
    ):
        influence(supple.SVDD(nu=0.3).fit(X), X, np.zeros(60, dtype=int))
    with pytest.raises(supple.InfeasibleError, match=r"without example 0: C=0\.05"):
        influence(supple.SVDD(C=0.05, gamma=0.3).fit(X[:20]), X, np.ones(60))
