"""Dictionaries whose features come and go give the model of a fit on the whole matrix."""

import pickle
import warnings

import numpy as np
import pytest

pytest.importorskip("river")

from hypothesis import given, settings
from hypothesis import strategies as st

from supple import LASVC, RVC, RVR, SVC, SVDD, SVR, NotReadyWarning, NuSVC, OneClassSVM
from supple.diagnostics import LeaveOneOutCalibrator
from supple.errors import InvalidInputError
from supple.memory import Budget, Decay, Window
from supple.river import AnomalyDetector, Classifier, Regressor

NAMES = list("abcdefgh")


def matrix(rows):
    """The oracle's view: a column for every name, 0 where a feature is missing."""
    return np.array([[x.get(name, 0.0) for name in NAMES] for x in rows])


def stream(n, seed=0):
    """Examples with a few features each; at first only some features occur."""
    rng = np.random.default_rng(seed)
    for i in range(n):
        known = NAMES[: 2 + 6 * i // n]
        names = rng.choice(known, size=rng.integers(1, len(known) + 1), replace=False)
        x = dict(zip(names.tolist(), rng.normal(size=len(names)).tolist(), strict=True))
        yield x, bool(sum(x.values()) + 0.3 * rng.normal() > 0)


VALUES = st.one_of(st.just(0.0), st.floats(-3, 3).map(lambda v: round(v, 1)))
EXAMPLES = st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=5)
ACTIONS = st.lists(
    st.tuples(st.sampled_from(["learn", "learn", "unlearn", "ask"]), EXAMPLES, st.booleans()),
    min_size=4,
    max_size=25,
)


@settings(deadline=None, max_examples=40)
@given(actions=ACTIONS, kernel=st.sampled_from(["rbf", "linear", "poly"]))
def test_any_walk_ends_at_the_fit_on_the_examples_left(actions, kernel):
    machine = SVC(kernel=kernel, gamma=0.3, degree=2, coef0=1.0)
    model, held = Classifier(machine), []
    for action, x, y in actions:
        if action == "learn":
            model.learn_one(x, y)
            held.append((x, y))
        elif action == "ask":
            model.predict_one(x)
        elif held:
            model.unlearn_one(*held.pop(len(x) % len(held)))
    queries = [x for _, x, _ in actions]
    if len({y for _, y in held}) < 2:
        expected = held[0][1] if held else None
        assert all(model.predict_one(x) == expected for x in queries)
        return
    oracle = SVC(kernel=kernel, gamma=0.3, degree=2, coef0=1.0)
    oracle.fit(matrix([x for x, _ in held]), [y for _, y in held])
    decision = [model.estimator_.decision_function(model._row(x, learn=False))[0] for x in queries]
    np.testing.assert_allclose(
        decision, oracle.decision_function(matrix(queries)), rtol=1e-6, atol=1e-6
    )


@pytest.mark.parametrize(
    "machine",
    [
        SVC(gamma=0.3),
        SVC(gamma=0.3, memory=Window(25)),
        SVC(gamma=0.3, memory=Decay(20.0)),
        SVC(gamma=0.3, memory=Budget(20)),
        NuSVC(gamma=0.3, nu=0.2),
        SVC(kernel=lambda A, B: np.exp(-np.abs(A[:, None] - B[None]).sum(axis=2))),
        LeaveOneOutCalibrator(SVC(gamma=0.3)),
    ],
    ids=lambda m: f"{type(m).__name__} {type(getattr(m, 'memory', None)).__name__}",
)
def test_a_model_that_grows_equals_one_with_all_columns_from_the_start(machine):
    rows = list(stream(60))
    model = Classifier(machine)
    wide = Classifier(machine)
    wide._columns = {name: k for k, name in enumerate(NAMES)}  # columns that exist from the start
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotReadyWarning)
        for x, y in rows:
            model.learn_one(x, y)
            wide.learn_one(x, y)
    assert len(wide._columns) == 8
    for x, _ in rows:
        ours, theirs = model.predict_proba_one(x), wide.predict_proba_one(x)
        assert ours == pytest.approx(theirs, abs=1e-6)
        assert model.predict_one(x) == wide.predict_one(x)
    if not isinstance(machine, LeaveOneOutCalibrator):
        one, other = model.estimator_, wide.estimator_
        np.testing.assert_array_equal(np.sort(one.ids_), np.sort(other.ids_))
        assert one.kkt_violation_ < 1e-8


def test_a_lasvc_grows():
    # Which of two members with the same gradient moves hangs on rounding: models are not equal.
    rows = list(stream(60))
    model = Classifier(LASVC(gamma=0.3, random_state=0))
    for x, y in rows:
        model.learn_one(x, y)
    assert len(model._columns) == 7
    assert np.mean([model.predict_one(x) == y for x, y in rows]) > 0.8


def test_relevance_vector_machines_take_features_that_come_later():
    rows = list(stream(20))
    classifier, regressor = Classifier(RVC(gamma=0.3)), Regressor(RVR(gamma=0.3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few examples overfit
        for k, (x, y) in enumerate(rows):
            classifier.learn_one(x, y)
            regressor.learn_one(x, float(k))
        X, y = matrix([x for x, _ in rows]), [y for _, y in rows]
        oracle = RVC(gamma=0.3).fit(X, y).predict_proba(X)
        numbers = RVR(gamma=0.3).fit(X, np.arange(20.0)).predict(X)
    for k, (x, _) in enumerate(rows):
        assert classifier.predict_proba_one(x)[True] == pytest.approx(oracle[k, 1], abs=1e-6)
        assert regressor.predict_one(x) == pytest.approx(numbers[k], abs=1e-5)
    with pytest.raises(InvalidInputError, match="RVC, which cannot unlearn"):
        classifier.unlearn_one(*rows[0])


def test_a_feature_that_was_never_learned_takes_a_query_away_from_all_examples():
    model = Classifier(SVC(gamma=0.5))
    for a in (-1.0, 1.0):
        model.learn_one({"a": a}, a > 0)
    before = model.estimator_.decision_function([[1.0]])[0]
    far = model._row({"a": 1.0, "new": 2.0, "newer": 1.0}, learn=False)
    after = model.estimator_.decision_function(far)[0]
    assert after == pytest.approx(before * np.exp(-0.5 * 5.0))
    assert list(model._columns) == ["a"]


def test_a_window_over_ever_new_features_stays_narrow():
    model = Classifier(SVC(gamma=0.3, memory=Window(10)))
    sizes = []
    for i in range(400):
        model.learn_one({f"word {i}": 1.0, "always": float(i % 2)}, i % 2)
        if i % 100 == 99:
            sizes.append(len(pickle.dumps(model)))
    assert model.estimator_.n_features_in_ <= 2 * 2 * 12
    assert len(model._columns) <= model.estimator_.n_features_in_
    assert max(sizes[1:]) < 1.2 * sizes[0]


@pytest.mark.parametrize(
    ("model", "target"),
    [(Classifier(), True), (Regressor(), 1.0), (AnomalyDetector(), None)],
)
def test_defaults_are_bounded(model, target):
    rng = np.random.default_rng(0)
    for value in rng.normal(size=(530, 2)).tolist():
        x = dict(zip("ab", value, strict=True))
        if target is None:
            model.learn_one(x)
        else:
            model.learn_one(x, type(target)(value[0] > 0))
    assert len(model.estimator_.ids_) == 500


def test_weights_are_those_of_the_estimator():
    rows = list(stream(30))
    rng = np.random.default_rng(1)
    weight = rng.uniform(0.1, 3.0, size=30)
    model = Classifier(SVC(gamma=0.3))
    for (x, y), w in zip(rows, weight.tolist(), strict=True):
        model.learn_one(x, y, w=w)
    oracle = SVC(gamma=0.3).fit(matrix([x for x, _ in rows]), [y for _, y in rows], weight)
    assert model.estimator_.dual_objective_ == pytest.approx(oracle.dual_objective_)


def test_answers_before_there_is_a_model():
    assert Classifier().predict_one({"a": 1.0}) is None
    assert Classifier().predict_proba_one({"a": 1.0}) == {}
    assert Regressor().predict_one({"a": 1.0}) == 0.0
    assert AnomalyDetector().score_one({"a": 1.0}) == 0.0


@pytest.mark.parametrize("machine", [None, LeaveOneOutCalibrator(SVC(gamma=1.0)), RVC(gamma=1.0)])
def test_a_single_class_has_all_probability(machine):
    model = Classifier(machine)
    model.learn_one({"a": 1.0}, "only")
    assert model.predict_one({"a": 2.0}) == "only"
    assert model.predict_proba_one({}) == {"only": 1.0}
    model.learn_one({"a": 2.0}, "another label")
    assert sum(model.predict_proba_one({"a": 2.0}).values()) == pytest.approx(1.0)
    assert model.predict_one({"a": 2.0}) == "another label"


def test_a_machine_that_waits_gives_neutral_answers():
    model, detector = Classifier(NuSVC(nu=0.9, gamma=1.0)), AnomalyDetector(SVDD(C=0.2, gamma=1.0))
    model.learn_one({"a": 0.0}, 1)
    model.learn_one({"a": 1.0}, 0)
    with pytest.warns(NotReadyWarning):
        model.learn_one({"a": 2.0}, 0)
    assert model.predict_one({"a": 1.0}) is None
    assert model.predict_proba_one({"a": 1.0}) == {}
    with pytest.warns(NotReadyWarning):
        detector.learn_one({"a": 1.0})
    assert detector.score_one({"a": 1.0}) == 0.0


def test_calibrated_probabilities_are_those_of_the_calibrator():
    rows = list(stream(40))
    model = Classifier(LeaveOneOutCalibrator(SVC(gamma=0.3)))
    for x, y in rows:
        model.learn_one(x, y)
    X, y = matrix([x for x, _ in rows]), [y for _, y in rows]
    oracle = LeaveOneOutCalibrator(SVC(gamma=0.3)).fit(X, y).predict_proba(X)
    for (x, _), (_, p) in zip(rows, oracle, strict=True):
        assert model.predict_proba_one(x)[True] == pytest.approx(p, abs=1e-6)


def test_scores_rank_as_the_decision_function_between_0_and_1():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    for machine in (OneClassSVM(gamma=0.3), OneClassSVM(kernel="linear"), SVDD(C=1.0, gamma=0.3)):
        model = AnomalyDetector(machine)
        for row in X.tolist():
            model.learn_one(dict(zip("abc", row, strict=True)))
        scores = [model.score_one(dict(zip("abc", row, strict=True))) for row in (2 * X).tolist()]
        decision = model.estimator_.decision_function(2 * X)
        assert 0.0 <= min(scores) <= max(scores) <= 1.0
        np.testing.assert_array_equal(np.array(scores) > 0.5, decision < 0.0)
        order = np.argsort(decision)
        assert (np.diff(np.array(scores)[order]) <= 1e-15).all()


def test_a_trial_may_bring_features():
    model = Regressor(SVR(gamma=0.3))
    for k in range(5):
        model.learn_one({"a": float(k)}, float(k))
    before = model.predict_one({"a": 1.5})
    with model.estimator_.what_if():
        model.learn_one({"a": 1.5, "b": 1.0, "c": 1.0}, 9.0)
    assert model.predict_one({"a": 1.5}) == before
    assert model.predict_one({"a": 1.5, "c": 1.0}) != before
    model.learn_one({"a": 1.5, "c": 1.0}, 9.0)
    assert model.estimator_.kkt_violation_ < 1e-8


def test_a_warning_that_is_an_error_comes_when_the_example_is_in():
    model = Classifier(NuSVC(nu=0.9, gamma=1.0))
    model.learn_one({"a": 0.0}, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.learn_one({"a": 1.0}, 0)
        with pytest.raises(NotReadyWarning):
            model.learn_one({"b": 2.0}, 0)
    assert len(model.estimator_.ids_) == 3
    with pytest.warns(NotReadyWarning):
        model.learn_one({"c": 1.0}, 0)
    with pytest.warns(NotReadyWarning):
        model.unlearn_one({"b": 2.0}, 0)
    assert len(model.estimator_.ids_) == 3
