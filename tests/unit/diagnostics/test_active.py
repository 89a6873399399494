"""Active learning against copies that have really learned the candidates."""

import copy
import pickle
import signal
import threading
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import softmax

import supple
from supple.diagnostics import (
    LeaveOneOutCalibrator,
    expected_error_reduction,
    uncertainty_sampling,
)
from tests.unit.diagnostics.test_influence import LABELS, sample
from tests.unit.diagnostics.test_unchanged import fingerprint

PARAMS = [
    (2, {"gamma": 0.5}),
    (2, {"C": 30.0, "gamma": 0.5, "multi_class": "ovr"}),
    (2, {"kernel": "linear", "class_weight": {"a": 3.0}}),
    (3, {"gamma": 0.5}),
    (3, {"gamma": 0.5, "multi_class": "ovr"}),
    (3, {"gamma": 0.5, "class_weight": {"a": 3.0}}),
]


def leads(model, X):
    """Return by how much each class leads each other one, from public attributes."""
    k, pairwise = len(model.classes_), model.multi_class == "ovo"
    shape = "ovo" if pairwise else "ovr"
    f = copy.deepcopy(model).set_params(decision_function_shape=shape).decision_function(X)
    out = np.zeros((X.shape[0], k, k))
    pairs = [(i, j) for i in range(k) for j in range(i + 1, k)]
    for column, (i, j) in enumerate(pairs):
        if k == 2:
            out[:, 0, 1] = -f
        else:
            out[:, i, j] = f[:, column] if pairwise else (f[:, i] - f[:, j]) / 2.0
        out[:, j, i] = -out[:, i, j]
    return out


def probabilities(model, X, slope):
    lead = leads(model, X)
    return softmax(slope * lead.sum(axis=2) / lead.shape[1], axis=1)


def expected_risk(model, pool, at, slope=4.0):
    """Return the expected risk of each candidate by learning it on a copy."""
    now, out = probabilities(model, pool, slope), np.zeros(pool.shape[0])
    for row in range(pool.shape[0]):
        for k, label in enumerate(model.classes_):
            after = copy.deepcopy(model).partial_fit(pool[row : row + 1], [label])
            risk = 1.0 - probabilities(after, at, slope).max(axis=1)
            out[row] += now[row, k] * risk.mean()
    return out


def check_chosen(chosen, risk):
    """The positions are those of the smallest risks in order, up to rounding."""
    assert len(set(chosen.tolist())) == len(chosen)
    np.testing.assert_allclose(risk[chosen], np.sort(risk)[: len(chosen)], rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize(("classes", "params"), PARAMS)
def test_look_ahead(classes, params, form):
    X, y = sample(30, classes=classes)
    pool = sample(15, seed=1, classes=classes)[0]
    if form == "csr":
        X, pool = sparse.csr_matrix(X), sparse.csr_matrix(pool)
    model = supple.SVC(**params).fit(X, y)
    before = fingerprint(model), pickle.dumps(model)
    chosen = expected_error_reduction(model, pool, 15)
    assert (fingerprint(model), pickle.dumps(model)) == before
    assert chosen.dtype.kind == "i"
    risk = expected_risk(model, pool, pool)
    check_chosen(chosen, risk)
    np.testing.assert_array_equal(expected_error_reduction(model, pool, 4), chosen[:4])
    at = pool[:5]
    other = expected_error_reduction(model, pool, 3, X_risk=at, slope=1.0)
    check_chosen(other, expected_risk(model, pool, at, 1.0))


def test_look_ahead_is_that_of_fits_from_nothing():
    X, y = sample(40)
    pool = sample(10, seed=1)[0]
    risk = np.zeros(10)
    model = supple.SVC(C=5.0, gamma=0.5).fit(X, y)
    for k, label in enumerate(model.classes_):
        for row in range(10):
            after = supple.SVC(C=5.0, gamma=0.5).fit(
                np.vstack([X, pool[[row]]]), np.append(y, label)
            )
            sure = 1.0 / (1.0 + np.exp(-4.0 * np.abs(after.decision_function(pool))))
            chance = 1.0 / (1.0 + np.exp(-4.0 * model.decision_function(pool[[row]])[0]))
            risk[row] += (chance if k else 1.0 - chance) * np.mean(1.0 - sure)
    check_chosen(expected_error_reduction(model, pool, 10), risk)


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(3, 15),
    classes=st.integers(2, 3),
    C=st.sampled_from([0.1, 1.0, 50.0]),
    multi_class=st.sampled_from(["ovo", "ovr"]),
    coarse=st.booleans(),
)
def test_look_ahead_whatever_the_data(seed, n, classes, C, multi_class, coarse):
    X, y = sample(n, seed=seed, classes=classes)
    y[:classes] = LABELS[:classes]
    pool = sample(6, seed=seed + 1, classes=classes)[0]
    if coarse:  # candidates that are held already
        X, pool = np.round(X), np.round(pool)
    model = supple.SVC(C=C, gamma=0.5, multi_class=multi_class).fit(X, y)
    if not model.exact_:
        return
    before = fingerprint(model)
    chosen = expected_error_reduction(model, pool, 6)
    assert fingerprint(model) == before
    check_chosen(chosen, expected_risk(model, pool, pool))


def test_some_candidates():
    X, y = sample(30)
    pool = sample(40, seed=1)[0]
    model = supple.SVC(gamma=0.5).fit(X, y)
    risk = expected_risk(model, pool, pool)
    drawn = {
        tuple(np.sort(expected_error_reduction(model, pool, 5, n_candidates=5, random_state=k)))
        for k in range(5)
    }
    assert len(drawn) == 5
    for seed in range(3):
        some = expected_error_reduction(model, pool, 8, n_candidates=8, random_state=seed)
        check_chosen(np.argsort(np.argsort(some)), risk[np.sort(some)])
    one, other = (
        expected_error_reduction(model, pool, n_candidates=9, random_state=3) for _ in range(2)
    )
    np.testing.assert_array_equal(one, other)


def test_in_parts(monkeypatch):
    X, y = sample(30, classes=3)
    pool = sample(20, seed=1, classes=3)[0]
    model = supple.SVC(gamma=0.5).fit(X, y)
    whole = expected_error_reduction(model, pool, 20)
    monkeypatch.setattr("supple.diagnostics._active._VALUES", 600)
    np.testing.assert_array_equal(expected_error_reduction(model, pool, 20), whole)


@pytest.mark.parametrize("kind", [supple.SVC, supple.NuSVC, supple.LASVC])
@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
@pytest.mark.parametrize("classes", [2, 3])
def test_uncertainty(classes, multi_class, kind):
    X, y = sample(50, classes=classes)
    pool = sample(30, seed=1, classes=classes)[0]
    model = kind(gamma=0.5, multi_class=multi_class).fit(X, y)
    before = pickle.dumps(model)
    chosen = uncertainty_sampling(model, pool, 30)
    assert pickle.dumps(model) == before
    lead = leads(model, pool)
    lead[:, np.arange(classes), np.arange(classes)] = np.inf
    check_chosen(chosen, lead.min(axis=2).max(axis=1))
    if classes == 2:
        np.testing.assert_array_equal(chosen, np.argsort(np.abs(model.decision_function(pool))))
    np.testing.assert_array_equal(uncertainty_sampling(model, pd.DataFrame(pool), 3), chosen[:3])
    np.testing.assert_array_equal(uncertainty_sampling(model, pool), chosen[:1])


def test_progress(capsys, monkeypatch):
    monkeypatch.setattr("supple.progress.PAUSE", 0.0)
    X, y = sample(30)
    model = supple.SVC(gamma=0.5).fit(X, y)
    expected_error_reduction(model, sample(80, seed=1)[0], verbose=True)
    assert "[expected_error_reduction] candidate 65 of 80" in capsys.readouterr().out


def test_ctrl_c():
    X, y = sample(400)
    model = supple.SVC(C=100.0, gamma=1.0).fit(X, y)
    assert model.exact_
    before = fingerprint(model)
    main = threading.main_thread().ident
    threading.Timer(0.1, lambda: signal.pthread_kill(main, signal.SIGINT)).start()

    def go_on():
        while True:
            expected_error_reduction(model, X[::2] + 0.01)

    with pytest.raises(KeyboardInterrupt):
        go_on()
    assert fingerprint(model) == before


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((np.empty((0, 3)),), "'X_pool' given to {} must have at least one row"),
        (([],), "'X_pool' given to {} must have at least one row"),
        ((np.ones((4, 2)),), "2 features"),
        ((np.full((4, 3), np.inf),), "contains infinity"),
        ((np.ones((4, 3)), 5), r"'n_instances' given to {} must be an integer from 1 to 4, .* 5"),
        ((np.ones((4, 3)), 0), "'n_instances' given to {} must be"),
        ((np.ones((4, 3)), 1.0), "'n_instances' given to {} must be"),
        ((np.ones((4, 3)), True), "'n_instances' given to {} must be"),
    ],
)
@pytest.mark.parametrize("choose", [uncertainty_sampling, expected_error_reduction])
def test_bad_input(choose, args, message):
    X, y = sample()
    model = supple.SVC(gamma=0.5).fit(X, y)
    before = fingerprint(model)
    with pytest.raises(ValueError, match=message.format(choose.__name__)):
        choose(model, *args)
    assert fingerprint(model) == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"X_risk": np.empty((0, 3))}, "'X_risk' given to expected_error_reduction must have at"),
        ({"X_risk": np.ones((1, 2))}, "2 features"),
        ({"n_candidates": 5}, "'n_candidates' given to expected_error_reduction must be"),
        ({"n_candidates": 2, "n_instances": 3}, "from 1 to 2"),
        ({"slope": 0.0}, "'slope' given to expected_error_reduction must be a number > 0. Got 0.0"),
        ({"slope": "4"}, "'slope' given"),
    ],
)
def test_bad_options(options, message):
    X, y = sample()
    model = supple.SVC(gamma=0.5).fit(X, y)
    before = fingerprint(model)
    with pytest.raises(ValueError, match=message):
        expected_error_reduction(model, np.ones((4, 3)), **options)
    assert fingerprint(model) == before


def test_models_that_are_refused():
    X, y = sample()
    for choose in (uncertainty_sampling, expected_error_reduction):
        with pytest.raises(supple.InvalidInputError, match="two classes"):
            choose(supple.SVC(gamma=0.5).partial_fit(X[:2], ["a", "a"]), X)
        with pytest.raises(AttributeError, match="not fitted"):
            choose(supple.SVC(), X)
        for stranger in (None, supple.SVC, supple.RVC().fit(X, y)):
            with pytest.raises(
                supple.InvalidInputError, match=f"'model' given to {choose.__name__}"
            ):
                choose(stranger, X)
    for other in (supple.NuSVC(nu=0.3), supple.SVDD(nu=0.3)):
        with pytest.raises(supple.InvalidInputError, match=r"hinge loss, such as SVC\. Got"):
            expected_error_reduction(other.fit(X, y), X)
    with pytest.raises(supple.InvalidInputError, match="exact updates"):
        expected_error_reduction(supple.LASVC().fit(X, y), X)
    with pytest.raises(supple.InvalidInputError, match="Got SVR"):
        uncertainty_sampling(supple.SVR().fit(X, X[:, 0]), X)
    with pytest.raises(supple.PrecomputedUpdateError, match="precomputed"):
        expected_error_reduction(supple.SVC(kernel="precomputed").fit(X @ X.T, y), X @ X.T)
    with pytest.raises(supple.InvalidInputError, match="exact_=False"):
        expected_error_reduction(supple.SVC(kernel="sigmoid", gamma=0.1).fit(X, y), X)


def test_scikit_activeml():
    """The wrapper of scikit-activeml hands each label to partial_fit; no refits."""
    pytest.importorskip("skactiveml")
    from skactiveml.classifier import SklearnClassifier
    from skactiveml.pool import UncertaintySampling

    X, y = sample(80, classes=3)
    inner = supple.SVC(gamma=0.5)
    wrapper = SklearnClassifier(inner, classes=LABELS, missing_label="nan")
    wrapper.partial_fit(X[:10], y[:10])
    engine, pool = wrapper.estimator_._model, list(range(10, 80))
    for choose in [uncertainty_sampling, expected_error_reduction] * 3:
        (k,) = choose(wrapper.estimator_, X[pool])
        row = pool.pop(k)
        wrapper.partial_fit(X[[row]], y[[row]])
    assert wrapper.estimator_._model is engine
    assert wrapper.estimator_.n_samples_seen_ == 16
    learned = [row for row in range(80) if row not in pool]
    whole = supple.SVC(gamma=0.5).fit(X[learned], y[learned])
    np.testing.assert_array_equal(wrapper.predict(X), whole.predict(X))

    # Its own strategies ask for probabilities.
    calibrated = SklearnClassifier(
        LeaveOneOutCalibrator(supple.SVC(gamma=0.5)), classes=LABELS, missing_label="nan"
    )
    calibrated.partial_fit(X[:40], y[:40])
    strategy = UncertaintySampling(method="margin_sampling", missing_label="nan", random_state=0)
    unlabelled = np.full(40, "nan")
    found = strategy.query(X[40:], unlabelled, clf=calibrated, fit_clf=False, batch_size=2)
    assert len(found) == 2
    assert calibrated.estimator_.estimator_.n_samples_seen_ == 40


def test_modal():
    """A learner of modAL asks the strategy; its estimator learns by partial_fit."""
    models = pytest.importorskip("modAL.models")
    X, y = sample(60)

    def strategy(learner, X_pool, n_instances=1):
        # modAL unpacks what it gets: without the None it would take two positions apart.
        return uncertainty_sampling(learner.estimator, X_pool, n_instances), None

    learner = models.ActiveLearner(supple.SVC(gamma=0.5), strategy, X[:10], y[:10])
    model = learner.estimator._model
    rows, points = learner.query(X[10:], n_instances=2)
    np.testing.assert_array_equal(rows, uncertainty_sampling(learner.estimator, X[10:], 2))
    np.testing.assert_array_equal(points, X[10:][rows])
    learner.estimator.partial_fit(points, y[10:][rows])
    assert learner.estimator._model is model
    assert learner.estimator.n_samples_seen_ == 12
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert learner.score(X, y) == learner.estimator.score(X, y)
