"""Support vectors as the only memory: each step is an exact fit on batch and old ones."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from mishaps import broken_solver
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError

from supple import (
    SVC,
    SVR,
    DuplicateIdError,
    InvalidInputError,
    SVIncrementalSVC,
    SVIncrementalSVR,
)

CLOSE = {"atol": 1e-7}
SIZE, BATCHES = 30, 4
OWN = ("sv_weight", "factor", "reading", "half_life")


def stream(classes=2, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, SIZE * BATCHES)
    centres = np.array([[0.0, 0.0], [1.5, 0.5], [0.5, 2.0]])
    return rng.normal(size=(len(y), 2)) + centres[y], y


def curve(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (SIZE * BATCHES, 1))
    return X, np.sin(X[:, 0]) + 0.1 * rng.normal(size=len(X))


def batches():
    return [np.arange(b * SIZE, (b + 1) * SIZE) for b in range(BATCHES)]


def values(model, X):
    return model.predict(X) if isinstance(model, SVR) else model.decision_function(X)


def plain(model):
    """Return the estimator that is exact on all examples, with the same parameters."""
    kind = SVR if isinstance(model, SVR) else SVC
    return kind(**{k: v for k, v in model.get_params().items() if k not in OWN})


CASES = {
    "two classes": (lambda **k: SVIncrementalSVC(C=2.0, gamma=0.5, **k), stream),
    "one-vs-one": (lambda **k: SVIncrementalSVC(C=2.0, gamma=0.5, **k), lambda: stream(3)),
    "one-vs-rest": (
        lambda **k: SVIncrementalSVC(C=2.0, gamma=0.5, multi_class="ovr", **k),
        lambda: stream(3),
    ),
    "regression": (lambda **k: SVIncrementalSVR(C=2.0, gamma=0.5, **k), curve),
}


@pytest.fixture(params=list(CASES))
def case(request):
    make, data = CASES[request.param]
    return make, *data()


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(
    ("params", "factor"),
    [
        ({}, lambda t: 1.0),
        ({"sv_weight": 0.5, "factor": 3.0}, lambda t: 1.5),
        ({"sv_weight": "ruping"}, lambda t: t["trained"] / t["support"]),
        ({"sv_weight": "ruping", "factor": 2.0}, lambda t: 2 * t["trained"] / t["support"]),
        (
            {"sv_weight": "ruping", "reading": "cumulative"},
            lambda t: t["seen"] / t["support"],
        ),
        ({"half_life": 2.0}, lambda t: 0.5 ** (t["age"] / 2.0)),
    ],
)
def test_each_step_is_a_fit_on_the_batch_and_the_old_support_vectors(case, params, factor, form):
    make, X, y = case
    model = make(**params)
    old, born = np.empty(0, dtype=int), np.full(len(y), -1)
    facts = {"seen": 0}
    for number, rows in enumerate(batches()):
        weight = np.ones(len(y))
        if len(old):
            weight[old] = factor(facts | {"age": number - born[old]})
        model.partial_fit(form(X[rows]), y[rows])
        born[rows] = number
        training = np.concatenate([old, rows])
        reference = plain(model).fit(X[training], y[training], sample_weight=weight[training])
        assert_allclose(values(model, form(X)), values(reference, X), **CLOSE)
        assert model.kkt_violation_ <= 1e-8
        old = np.sort(training[np.unique(reference.support_)])
        assert_array_equal(np.sort(model.ids_), old)
        assert_array_equal(np.sort(model.support_ids_), old)
        assert_allclose([model.sv_weight_[i] for i in old.tolist()], weight[old])
        facts = {
            "trained": len(training),
            "seen": facts["seen"] + len(rows),
            "support": len(old),
        }
    assert (model.n_batches_, model.n_samples_seen_) == (BATCHES, len(y))


def test_fit_keeps_support_vectors_only(case):
    make, X, y = case
    model = make().fit(X, y)
    exact = plain(model).fit(X, y)
    assert_array_equal(np.sort(model.ids_), np.sort(exact.support_))
    assert_allclose(values(model, X), values(exact, X), **CLOSE)


@pytest.mark.parametrize("reading", ["literal", "cumulative"])
def test_weight_two_is_twice_the_cost(case, reading):
    make, X, y = case
    model, dearer = (make(sv_weight="ruping", reading=reading) for _ in range(2))
    dearer.set_params(C=4.0)
    for rows in batches():
        model.partial_fit(X[rows], y[rows], sample_weight=np.full(SIZE, 2.0))
        dearer.partial_fit(X[rows], y[rows])
    assert_allclose(values(model, X), values(dearer, X), **CLOSE)


def test_weights_and_class_weights():
    X, y = stream()
    weight = np.random.default_rng(1).uniform(0.3, 2.0, len(y))
    params = {"C": 2.0, "gamma": 0.5, "class_weight": {1: 1.7}}
    model = SVIncrementalSVC(sv_weight="ruping", **params)
    first, second = batches()[:2]
    model.partial_fit(X[first], y[first], sample_weight=weight[first])
    old = np.sort(model.ids_)
    level = weight[first].sum() / weight[old].sum()
    model.partial_fit(X[second], y[second], sample_weight=weight[second])
    training = np.concatenate([old, second])
    weight[old] *= level
    exact = SVC(**params).fit(X[training], y[training], sample_weight=weight[training])
    assert_allclose(model.decision_function(X), exact.decision_function(X), **CLOSE)


def test_classes_may_come_one_by_one():
    X, y = stream(3)
    model = SVIncrementalSVC(C=2.0, gamma=0.5)
    model.partial_fit(X[y == 0], y[y == 0])
    assert len(model.ids_) == (y == 0).sum()  # nothing is known yet about who matters
    assert set(model.predict(X)) == {0}
    model.partial_fit(X[y == 1], y[y == 1]).partial_fit(X[y == 2], y[y == 2])
    assert_array_equal(model.classes_, [0, 1, 2])
    assert set(model.ids_) == set(model.support_ids_)


def test_a_flat_function_has_its_pillars():
    X = np.arange(6.0)[:, None]
    y = np.array([0.0, 0.3, -0.2, 0.1, 0.2, 0.0])
    model = SVIncrementalSVR(epsilon=0.5).fit(X, y)
    assert sorted(model.ids_) == [1, 2]
    assert_allclose(model.predict(X), 0.05, atol=1e-12)
    assert_allclose(model.partial_fit(X + 6.0, y).predict(X), 0.05, atol=1e-12)


def test_weighted_support_vectors_remember_a_batch_that_looks_different():
    """Rüping's experiment in small; benchmarks/sv_incremental.py has the whole of it."""
    gain = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        y = np.repeat([1, -1], 50)
        parts = [rng.normal(size=(100, 2)) + y[:, None] * [1.0, s] for s in (1, -1, 1, -1)]
        test, labels = np.vstack(parts[2:]), np.tile(y, 2)
        score = {}
        for weight in (1.0, "ruping"):
            model = SVIncrementalSVC(kernel="linear", C=0.1, sv_weight=weight)
            model.partial_fit(parts[0], y).partial_fit(parts[1], y)
            score[weight] = model.score(test, labels)
        gain.append(score["ruping"] - score[1.0])
    assert np.mean(gain) > 0.03


def test_old_concepts_fade_with_a_half_life():
    """After the labels are turned, support vectors that fade do less harm."""
    X, y = stream()
    score = {}
    for half_life in (None, 0.5):
        model = SVIncrementalSVC(C=2.0, gamma=0.5, sv_weight="ruping", half_life=half_life)
        for rows in batches()[:3]:
            model.partial_fit(X[rows], y[rows] if rows[0] < 60 else 1 - y[rows])
        score[half_life] = model.score(X[90:], 1 - y[90:])
    assert score[0.5] > score[None] + 0.1


@pytest.mark.parametrize("kind", [SVIncrementalSVC, SVIncrementalSVR])
def test_without_a_margin_the_constant_stays(kind):
    """Where all support vectors are at their bound, examples without weight bound the constant."""
    without_margin = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        y = np.repeat([1.0, -1.0], 100)
        X = rng.normal(size=(200, 2)) + y[:, None]
        model = kind(
            kernel="linear", C=3e-3, **({"epsilon": 0.8} if kind is SVIncrementalSVR else {})
        )
        exact = plain(model.fit(X, y)).fit(X, y)
        assert_allclose(model.intercept_, exact.intercept_, rtol=0, atol=1e-9)
        more = len(model.ids_) - len(model.support_)
        (head,) = exact._model.state.heads.values()
        assert more <= (0 if head.n_margin else 2)
        without_margin += not head.n_margin
    assert without_margin > 0


def test_forget_and_reweight_between_batches(case):
    make, X, y = case
    first, second = batches()[:2]
    model = make(sv_weight=2.0).partial_fit(X[first], y[first])
    old = model.ids_
    model.forget(old[0]).reweight(old[1], 0.5)
    weight = np.ones(len(y))
    weight[old[1:]], weight[old[1]] = 2.0, 1.0
    model.partial_fit(X[second], y[second])
    training = np.concatenate([old[1:], second])
    exact = plain(model).fit(X[training], y[training], sample_weight=weight[training])
    assert_allclose(values(model, X), values(exact, X), **CLOSE)


def test_saved_and_resumed(case):
    make, X, y = case
    model = make(sv_weight="ruping", half_life=3.0)
    for rows in batches()[:2]:
        model.partial_fit(X[rows], y[rows])
    others = [pickle.loads(pickle.dumps(model)), copy.deepcopy(model)]
    for rows in batches()[2:]:
        for each in (model, *others):
            each.partial_fit(X[rows], y[rows])
    for other in others:
        assert_array_equal(np.sort(other.ids_), np.sort(model.ids_))
        assert other.sv_weight_ == pytest.approx(model.sv_weight_)
        assert_allclose(values(other, X), values(model, X), **CLOSE)


# ---------------------------------------------------------------------- refinement


@pytest.mark.parametrize("params", [{}, {"sv_weight": "ruping"}, {"half_life": 1.0}])
def test_refined_on_everything_it_is_the_fit_on_everything(case, params):
    make, X, y = case
    model = make(**params)
    for rows in batches():
        model.partial_fit(X[rows], y[rows])
    exact = plain(model).fit(X, y)
    assert np.abs(values(model, X) - values(exact, X)).max() > 1e-3
    ids = np.arange(len(y))
    for _ in range(2):
        assert model.refine(X, y, ids=ids) is model
        assert_allclose(values(model, X), values(exact, X), **CLOSE)
        assert set(model.ids_) == set(exact.support_)
        assert set(model.sv_weight_.values()) == {1.0}
    assert model.n_batches_ == BATCHES


def test_refined_on_a_part_with_weights(case):
    make, X, y = case
    model = make(sv_weight="ruping")
    for rows in batches()[:2]:
        model.partial_fit(X[rows], y[rows])
    before = model.sv_weight_
    part = np.arange(10, 50)
    weight = np.random.default_rng(2).uniform(0.0, 2.0, len(y))
    weight[part[:4]] = 0.0
    others = np.array(sorted(set(before) - set(part.tolist())))
    weight[others] = [before[i] for i in others.tolist()]
    model.refine(X[part], y[part], ids=part, sample_weight=weight[part])
    training = np.concatenate([others, part])
    exact = plain(model).fit(X[training], y[training], sample_weight=weight[training])
    assert_allclose(values(model, X), values(exact, X), **CLOSE)


def test_after_a_refinement_support_vectors_stand_for_what_was_given():
    X, y = stream()
    first, second = batches()[:2]
    model = SVIncrementalSVC(sv_weight="ruping", C=2.0, gamma=0.5)
    model.partial_fit(X[first], y[first]).partial_fit(X[second], y[second])
    model.refine(X[:60], y[:60], ids=np.arange(60))
    level = 60 / len(model.ids_)
    old = model.ids_
    model.partial_fit(X[60:61], y[60:61])
    assert all(model.sv_weight_[i] == pytest.approx(level) for i in set(old) & set(model.ids_))


# ---------------------------------------------------------------------- failures


def state(model, X):
    return np.sort(model.ids_), values(model, X), model.n_samples_seen_, model.n_batches_


def assert_as_before(model, X, before):
    for now, then in zip(state(model, X), before, strict=True):
        assert_allclose(now, then, rtol=0, atol=1e-12)


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("at", [1, 2])  # after re-weighting, after learning
def test_a_call_that_breaks_off_changes_nothing(case, error, at):
    make, X, y = case
    model, straight = make(sv_weight="ruping"), make(sv_weight="ruping")
    for rows in batches()[:2]:
        model.partial_fit(X[rows], y[rows])
    before, weights = state(model, X), model.sv_weight_
    heads = len(model._model.state.heads)
    with broken_solver(at * heads, error), pytest.raises(error):
        model.partial_fit(X[60:], y[60:])
    assert_as_before(model, X, before)
    assert model.sv_weight_ == weights
    with broken_solver(at, error), pytest.raises(error):
        model.refine(X[:60], y[:60], ids=np.arange(60))
    assert_as_before(model, X, before)
    assert model.sv_weight_ == weights
    model.partial_fit(X[60:], y[60:])
    for rows in (*batches()[:2], np.arange(60, len(y))):
        straight.partial_fit(X[rows], y[rows])
    assert_allclose(values(model, X), values(straight, X), **CLOSE)


def test_bad_input_changes_nothing(case):
    make, X, y = case
    model = make(sv_weight="ruping").fit(X[:60], y[:60])
    before = state(model, X)
    bad = X[60:70].copy()
    bad[3, 0] = np.nan
    held, ids = model.ids_, np.arange(60, 70)
    for error, match, call in (
        (ValueError, "NaN .*row 3", lambda: model.partial_fit(bad, y[60:70])),
        (ValueError, "NaN .*row 3", lambda: model.refine(bad, y[60:70], ids=ids)),
        (ValueError, "0 feature", lambda: model.refine(X[:2, :0], y[:2], ids=[1, 2])),
        (ValueError, "'ids' must have one id", lambda: model.refine(X[:3], y[:3], ids=[1, 2])),
        (ValueError, "'ids' must be integers", lambda: model.refine(X[:2], y[:2], ids=None)),
        (DuplicateIdError, "repeat", lambda: model.refine(X[:2], y[:2], ids=[900, 900])),
        (DuplicateIdError, "repeat", lambda: model.refine(X[:2], y[:2], ids=[held[0]] * 2)),
        (DuplicateIdError, "new", lambda: model.partial_fit(X[:1], y[:1], ids=held[:1])),
        (
            ValueError,
            "sample_weight",
            lambda: model.refine(X[:1], y[:1], ids=[900], sample_weight=-1),
        ),
        (ValueError, "below 1e", lambda: model.partial_fit(X[:2], y[:2], sample_weight=[1, 1e150])),
    ):
        with pytest.raises(error, match=match):
            call()
        assert_as_before(model, X, before)
    with pytest.raises(NotFittedError):
        make().refine(X, y, ids=np.arange(len(y)))


@pytest.mark.parametrize(
    "params",
    [
        {"sv_weight": 0.0},
        {"sv_weight": "rueping"},
        {"factor": -1.0},
        {"reading": "both"},
        {"half_life": 0.0},
        {"kernel": "precomputed"},
        {"factor": 10**400},
    ],
)
def test_bad_parameters(case, params):
    make, X, y = case
    (name,) = params
    model = make()
    model.set_params(**params)
    with pytest.raises((ValueError, InvalidInputError), match=f"'{name}' parameter of SVIncr"):
        model.fit(X, y)


def test_a_weight_given_means_the_same_for_old_and_new_examples():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    model = SVIncrementalSVC(C=0.1, sv_weight=5.0).partial_fit(X[:20], y[:20])
    model.partial_fit(X[20:40], y[20:40])
    old = next(i for i in model.ids_.tolist() if i < 20)
    new = next(i for i in model.ids_.tolist() if i >= 20)
    model.reweight([old, new], 2.0)
    assert model.sv_weight_[old] == model.sv_weight_[new] == 2.0
    model.partial_fit(X[40:], y[40:])
    assert {model.sv_weight_.get(i, 10.0) for i in (old, new)} == {10.0}


def test_refining_one_class_keeps_what_is_given():
    X = np.random.default_rng(0).normal(size=(10, 2))
    model = SVIncrementalSVC().partial_fit(X[:5], np.ones(5))
    model.refine(X[5:], np.ones(5), ids=np.arange(5, 10))
    assert sorted(model.ids_) == list(range(10))
