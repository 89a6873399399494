"""StreamPipeline beside scaling by hand; warm-up, refreezing, and what is kept of raw rows."""

import pickle
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, TransformerMixin, clone, is_classifier, is_outlier_detector
from sklearn.decomposition import IncrementalPCA
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.svm import SVC as ReferenceSVC

from supple import LASVC, SVC, SVDD, SVR
from supple.errors import DuplicateIdError, InvalidInputError, StaleGammaWarning, UnknownIdError
from supple.memory import AdaptiveWindow, Budget, Decay, SupportVectors, Window
from supple.streams import StreamPipeline, prequential, shifting_gaussians


def make(n_warmup=30, scaler=None, **params):
    svm = SVC(**{"C": 2.0, "gamma": 0.4} | params)
    return StreamPipeline([("scale", scaler or StandardScaler()), ("svm", svm)], n_warmup=n_warmup)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=120)
    X = (rng.normal(size=(120, 3)) + 1.5 * y[:, None]) * [1.0, 50.0, 0.01] + [0.0, 900.0, 0.0]
    return X, y


@given(sizes=st.lists(st.integers(1, 25), min_size=1, max_size=8), n_warmup=st.integers(1, 60))
def test_it_is_scaling_by_hand(sizes, n_warmup):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(sum(sizes), 2)) * [1.0, 30.0] + 5.0
    y = rng.integers(2, size=len(X))
    model, start = make(n_warmup), 0
    for size in sizes:
        batch = slice(start, start + size)
        model.partial_fit(X[batch], y[batch], classes=[0, 1])
        start += size
    assert model.warming_up_ == (len(X) < n_warmup)
    assert model.ids_.tolist() == list(range(len(X)))
    model.finish_warmup()
    scaler = StandardScaler().fit(X[:n_warmup])
    by_hand = SVC(C=2.0, gamma=0.4).partial_fit(scaler.transform(X), y, classes=[0, 1])
    np.testing.assert_allclose(
        model.decision_function(X), by_hand.decision_function(scaler.transform(X)), atol=1e-7
    )
    np.testing.assert_array_equal(model.predict(X), by_hand.predict(scaler.transform(X)))


def test_the_transformers_stay_as_they_are(data):
    X, y = data
    model = make(30).partial_fit(X[:40], y[:40])
    mean = model.transformers_[0].mean_.copy()
    model.partial_fit(100.0 * X[40:], y[40:])
    np.testing.assert_array_equal(model.transformers_[0].mean_, mean)
    np.testing.assert_allclose(mean, X[:30].mean(axis=0))
    np.testing.assert_allclose(model.transform(X), (X - mean) / X[:30].std(axis=0))


def test_no_predictions_during_the_warm_up(data):
    X, y = data
    model = make(30)
    with pytest.raises(NotFittedError, match="has 0 of them"):
        model.predict(X)
    with pytest.raises(NotFittedError, match="has seen no examples"):
        model.finish_warmup()
    model.partial_fit(X[:29], y[:29])
    for ask in (model.predict, model.decision_function, model.transform):
        with pytest.raises(NotFittedError, match=r"n_warmup=30 examples and has 29 of them"):
            ask(X)
    with pytest.raises(NotFittedError):
        model.refreeze()
    assert not hasattr(model, "estimator_")
    assert model.partial_fit(X[29:30], y[29:30]).predict(X).shape == (120,)


def test_a_stream_that_ends_within_the_warm_up(data):
    X, y = data
    model = make(1000).partial_fit(X, y)
    expected = make(120).partial_fit(X, y)
    assert model.finish_warmup() is model
    np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(X))
    same = model.estimator_
    assert model.finish_warmup().estimator_ is same


def test_the_last_step_may_be_of_scikit_learn(data):
    X, y = data
    model = StreamPipeline(
        [("scale", StandardScaler()), ("sgd", SGDClassifier(random_state=0))], n_warmup=40
    )
    for start in range(0, 120, 10):
        model.partial_fit(X[start : start + 10], y[start : start + 10], classes=[0, 1])
    scaler = StandardScaler().fit(X[:40])
    by_hand = SGDClassifier(random_state=0)
    by_hand.partial_fit(scaler.transform(X[:40]), y[:40], [0, 1], np.ones(40))
    for start in range(40, 120, 10):
        rows = slice(start, start + 10)
        by_hand.partial_fit(scaler.transform(X[rows]), y[rows], None, np.ones(10))
    np.testing.assert_allclose(
        model.decision_function(X), by_hand.decision_function(scaler.transform(X))
    )
    assert not hasattr(model, "forget")
    assert model._examples == {}  # nothing could make use of the raw rows
    with pytest.raises(InvalidInputError, match="'ids' is nothing that the last step takes"):
        model.partial_fit(X, y, ids=range(120))
    with pytest.raises(InvalidInputError, match="refreeze needs an estimator that holds"):
        model.refreeze()


def test_other_transformers_and_kinds_of_rows(data):
    X, y = data
    words = np.array(["alpha beta", "beta gamma"])
    texts = [f"{words[label]} word{i % 7}" for i, label in enumerate(y)]
    reader = StreamPipeline(
        [("hash", HashingVectorizer(n_features=64)), ("svm", SVC(kernel="linear"))], n_warmup=20
    )
    for i in range(0, 120, 8):
        reader.partial_fit(texts[i : i + 8], y[i : i + 8])
    assert reader.score(texts, y) == 1.0
    reader.refreeze()
    assert reader.score(texts, y) == 1.0

    chain = [("scale", StandardScaler()), ("pca", IncrementalPCA(2)), ("svm", SVC(gamma=0.5))]
    model = StreamPipeline(chain, n_warmup=50).partial_fit(X, y)
    scaler = StandardScaler().fit(X[:50])
    pca = IncrementalPCA(2).fit(scaler.transform(X[:50]))
    np.testing.assert_allclose(model.transform(X), pca.transform(scaler.transform(X)))

    thin = StreamPipeline([("scale", MaxAbsScaler()), ("svm", SVC(gamma=0.5))], n_warmup=10)
    thin.partial_fit(sp.csr_matrix(X[:60]), y[:60]).partial_fit(sp.csr_matrix(X[60:]), y[60:])
    assert thin.refreeze().estimator_.support_vectors_.format == "csr"

    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    named = make(30).partial_fit(frame[:50], y[:50]).partial_fit(frame[50:], y[50:])
    np.testing.assert_allclose(
        named.decision_function(frame), make(30).partial_fit(X, y).decision_function(X), atol=1e-7
    )
    assert named.refreeze().transformers_[0].feature_names_in_.tolist() == ["a", "b", "c"]


def test_fit_has_no_warm_up(data):
    X, y = data
    model = make(1000).partial_fit(X[:10], y[:10], ids=range(50, 60)).fit(X, y)
    scaled = StandardScaler().fit_transform(X)
    expected = SVC(C=2.0, gamma=0.4).fit(scaled, y).decision_function(scaled)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-7)
    assert model.partial_fit(X[:1], y[:1]).ids_[-1] == 120


def test_forget_and_reweight_pass_through(data):
    X, y = data
    model = make(30).partial_fit(X, y).forget(range(10)).reweight([20, 21], [3.0, 0.5])
    scaler = StandardScaler().fit(X[:30])
    weight = np.ones(110)
    weight[[10, 11]] = 3.0, 0.5
    by_hand = SVC(C=2.0, gamma=0.4).fit(scaler.transform(X[10:]), y[10:], weight)
    np.testing.assert_allclose(
        model.decision_function(X), by_hand.decision_function(scaler.transform(X)), atol=1e-7
    )
    with pytest.raises(UnknownIdError):
        model.forget(3)
    model.forget([3, 10], missing="ignore")
    assert set(model._examples) == set(range(11, 120))


def test_forget_and_reweight_during_the_warm_up(data):
    X, y = data
    groups = np.arange(40) % 4
    model = make(60).partial_fit(X[:40], y[:40], groups=groups)
    model.forget(groups=2).forget([0, 1]).reweight([3, 4], [2.0, 0.5])
    left = np.array([i for i in range(40) if i % 4 != 2 and i > 1])
    assert model.ids_.tolist() == left.tolist()
    with pytest.raises(UnknownIdError, match="has the id 0"):
        model.forget(0)
    with pytest.raises(UnknownIdError, match="has the group 9"):
        model.forget(groups=9)
    with pytest.raises(InvalidInputError, match="either 'ids' or 'groups'"):
        model.forget()
    model.forget([0, 3], missing="ignore").reweight([0, 4], 7.0, missing="ignore").finish_warmup()
    left = left[left != 3]
    scaler = StandardScaler().fit(X[left])
    weight = np.where(left == 4, 7.0, 1.0)
    by_hand = SVC(C=2.0, gamma=0.4).fit(scaler.transform(X[left]), y[left], weight)
    np.testing.assert_allclose(
        model.decision_function(X), by_hand.decision_function(scaler.transform(X)), atol=1e-7
    )
    assert set(model.estimator_.groups_) == {0, 1, 3}


@pytest.mark.parametrize("memory", [None, Window(50), Decay(half_life=40.0)], ids=repr)
def test_refreezing_is_fitting_to_the_examples_held(data, memory):
    X, y = data
    names = [f"e{i}" for i in range(120)]
    model = make(30, gamma="scale", memory=memory)
    for start in range(0, 120, 15):
        rows = slice(start, start + 15)
        model.partial_fit(X[rows], y[rows], ids=names[rows])
    if memory is None:
        with pytest.warns(StaleGammaWarning):
            model.forget(["e3", "e40"])
        model.reweight("e5", 2.5)
    old = model.estimator_
    weights = dict(zip(old.ids_, old.sample_weight_, strict=True))
    model.refreeze()
    new = model.estimator_
    assert new is not old
    assert dict(zip(new.ids_, new.sample_weight_, strict=True)) == pytest.approx(weights)
    held = np.array([names.index(name) for name in new.ids_])
    scaler = StandardScaler().fit(X[np.sort(held)])
    gamma = new._gamma
    by_hand = SVC(C=2.0, gamma=gamma).fit(
        scaler.transform(X[held]), y[held], [weights[name] for name in new.ids_]
    )
    np.testing.assert_allclose(
        model.decision_function(X), by_hand.decision_function(scaler.transform(X)), atol=1e-6
    )
    if memory is None:  # of weights that differ, the scale is weighted, too
        model.reweight("e5", 1.0).refreeze()
        assert model.estimator_._gamma == pytest.approx(1 / 3)
    model.partial_fit(X[:1], y[:1], ids=["more"])  # and it goes on
    assert "more" in model.ids_


def test_a_retuned_model_stays_retuned(data):
    X, y = data
    model = make(30).partial_fit(X, y)
    model.estimator_.retune(C=7.0)
    assert model.refreeze().estimator_.C == 7.0


class Moody(TransformerMixin, BaseEstimator):
    """Refuses to learn when it is told to."""

    refuses = False

    def fit(self, X, y=None):
        if Moody.refuses:
            raise RuntimeError("not now")
        self.fitted_ = True
        return self

    def transform(self, X):
        return X


def test_a_failure_leaves_the_old_state(data, monkeypatch):
    X, y = data
    model = make(30, scaler=Moody(), gamma=1e-3).partial_fit(X[:20], y[:20])
    monkeypatch.setattr(Moody, "refuses", True)
    with pytest.raises(RuntimeError, match="not now"):
        model.partial_fit(X[20:40], y[20:40])
    assert model.warming_up_
    assert model.ids_.tolist() == list(range(20))
    monkeypatch.setattr(Moody, "refuses", False)
    model.partial_fit(X[20:40], y[20:40])
    before = model.decision_function(X)
    monkeypatch.setattr(Moody, "refuses", True)
    with pytest.raises(RuntimeError, match="not now"):
        model.refreeze()
    np.testing.assert_array_equal(model.decision_function(X), before)
    with pytest.raises(DuplicateIdError):
        model.partial_fit(X[:2], y[:2], ids=[3, 99])
    with pytest.raises(InvalidInputError, match="expecting 3 features"):
        model.partial_fit(X[:2, :2], y[:2])
    assert set(model._examples) == set(range(40))
    np.testing.assert_array_equal(model.decision_function(X), before)


def test_refreezing_needs_the_raw_rows(data):
    X, y = data
    merging = make(30, memory=Budget(40))
    merging.partial_fit(X[:60], y[:60]).partial_fit(X[60:], y[60:])
    before = merging.decision_function(X)
    with pytest.raises(InvalidInputError, match="raw rows of the examples held"):
        merging.refreeze()
    np.testing.assert_array_equal(merging.decision_function(X), before)
    named = make(30, memory=Budget(40)).partial_fit(X, y, ids=[("e", i) for i in range(120)])
    with pytest.raises(InvalidInputError, match="the memory has merged examples"):
        named.refreeze()
    lasvm = StreamPipeline([("scale", StandardScaler()), ("svm", LASVC(random_state=0))])
    lasvm.partial_fit(X, y)
    with pytest.raises(InvalidInputError, match="refreeze needs an estimator that holds"):
        lasvm.refreeze()
    thrifty = make(30, memory=SupportVectors()).partial_fit(X[:60], y[:60])
    thrifty.partial_fit(1000.0 * X[60:], y[60:])
    held = thrifty.ids_.tolist()
    with pytest.raises(InvalidInputError, match="let some of them go"):
        thrifty.refreeze()
    assert thrifty.ids_.tolist() == held
    empty = make(30).partial_fit(X, y).forget(range(120))
    with pytest.raises(NotFittedError, match="holds no examples"):
        empty.refreeze()


def test_raw_rows_are_kept_of_held_examples_only():
    stream = shifting_gaussians(400, random_state=0)
    model = make(20, memory=Window(25))
    for X, y in stream.batches(7):
        model.partial_fit(X, y)
        assert model.warming_up_ or set(model._examples) == set(model.ids_.tolist())
    assert len(model._examples) == 25
    assert all(example.row.base is None for example in model._examples.values())


def test_parameters_clones_and_pickles(data):
    X, y = data
    model = make(30).partial_fit(X[:20], y[:20])
    assert model.get_params()["svm__C"] == 2.0
    assert set(model.get_params(deep=False)) == {"steps", "n_warmup"}
    copy = clone(model).set_params(svm__C=5.0, n_warmup=10, scale__with_mean=False)
    assert (copy.steps[1][1].C, copy.n_warmup, model.steps[1][1].C) == (5.0, 10, 2.0)
    assert len(copy.ids_) == 0
    for stage in (model, model.partial_fit(X[20:], y[20:])):
        twin = pickle.loads(pickle.dumps(stage))
        assert twin.ids_.tolist() == stage.ids_.tolist()
        assert twin.warming_up_ == stage.warming_up_
    twin.refreeze().partial_fit(X[:1], y[:1])
    assert twin.classes_.tolist() == [0, 1]
    assert is_classifier(model)
    assert is_outlier_detector(StreamPipeline([("scale", StandardScaler()), ("svdd", SVDD())]))
    assert not hasattr(
        StreamPipeline([("scale", StandardScaler()), ("svr", SVR())]), "decision_function"
    )


def test_in_a_prequential_evaluation(data):
    X, y = data
    run = prequential(X, y, {"scaled": make(30), "raw": SVC(C=2.0, gamma=0.4)}, window=60)
    list(run)
    assert run["scaled"].n_unanswered == 30
    assert run["scaled"].error is None
    assert run["scaled"].n_vectors > 0
    assert run["scaled"].windowed.accuracy > run["raw"].windowed.accuracy
    detector = StreamPipeline([("scale", StandardScaler()), ("svdd", SVDD(C=0.1))], n_warmup=20)
    (record,) = prequential(X, None, {"svdd": detector})
    assert (record.n_unanswered, record.error) == (20, None)


def test_missing_values_are_the_transformers_business(data):
    X, y = data
    holed = X.copy()
    holed[::9, 1] = np.nan
    with pytest.raises(InvalidInputError, match="Input X contains NaN"):
        make(200, scaler=MaxAbsScaler(), gamma=1.0).set_params(steps=[("svm", SVC())]).partial_fit(
            holed, y
        )
    warming = make(200).partial_fit(X[1:5], y[1:5])  # the scaler takes NaN and leaves it there
    with pytest.raises(InvalidInputError, match="contains NaN, which step 'svm'"):
        warming.partial_fit(holed[:9], y[:9])
    assert len(warming.ids_) == 4
    steps = [("scale", StandardScaler()), ("fill", SimpleImputer()), ("svm", SVC())]
    assert len(StreamPipeline(steps, n_warmup=30).partial_fit(holed[:9], y[:9]).ids_) == 9
    steps = [("fill", SimpleImputer()), ("scale", StandardScaler()), ("svm", SVC())]
    assert StreamPipeline(steps, n_warmup=30).partial_fit(holed, y).score(holed, y) > 0.7


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_warmup": 0}, "'n_warmup' parameter of StreamPipeline must be an int >= 1. Got 0"),
        ({"steps": [("a", StandardScaler()), ("b", ReferenceSVC())]}, "with partial_fit"),
        ({"steps": [("a", SVC()), ("b", SVC())]}, "must be transformers"),
        ({"steps": [("a", StandardScaler()), ("a", SVC())]}, "different names"),
        ({"steps": []}, "list of .name, estimator."),
    ],
)
def test_bad_parameters(data, change, message):
    with pytest.raises(InvalidInputError, match=message):
        StreamPipeline(**{"steps": make().steps} | change).partial_fit(*data)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"y": [0, 1]}, "inconsistent"),
        ({"X": np.empty((0, 3)), "y": []}, "0 sample"),
        ({"X": [[1.0, 2.0]], "y": [0]}, "expecting 3 features"),
        ({"sample_weight": -1.0}, "'sample_weight'"),
        ({"ids": [7, 7, 8]}, "given twice or already held"),
        ({"ids": [0, 200, 201]}, "The id 0 is given twice or already held"),
        ({"groups": ["a", "a", "b"]}, "'groups' must be given for all examples"),
        ({"X": [[np.nan, 0.0, 0.0]], "y": [0]}, "contains NaN"),
    ],
)
@pytest.mark.parametrize("n_warmup", [10, 100])
def test_bad_input_changes_nothing(data, options, message, n_warmup):
    X, y = data
    model = make(n_warmup, scaler=IncrementalPCA(2)).partial_fit(X[:30], y[:30])
    with pytest.raises((InvalidInputError, DuplicateIdError), match=message):
        model.partial_fit(**{"X": X[30:33], "y": y[30:33]} | options)
    assert model.ids_.tolist() == list(range(30))
    assert set(model._examples) == set(range(30))
    assert model.partial_fit(X[30:31], y[30:31]).ids_.tolist() == list(range(31))


def test_names_that_cannot_be_counted_on(data):
    X, y = data
    model = make(10).partial_fit(X[:20], y[:20], ids=[f"e{i}" for i in range(20)])
    with pytest.raises(InvalidInputError, match="cannot be continued by counting"):
        model.partial_fit(X[20:], y[20:])


def test_threads_that_learn_at_the_same_time_lose_nothing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 3))
    y = (X[:, 0] > 0).astype(int)
    model = StreamPipeline([("scale", StandardScaler()), ("svm", SVC(gamma=0.5))], n_warmup=30)
    model.partial_fit(X[:40], y[:40])
    failures = []

    def learn(start):
        try:
            for row in range(start, start + 50):
                model.partial_fit(X[row : row + 1], y[row : row + 1])
                model.predict(X[:5])
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=learn, args=(40 + 50 * k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert sorted(model.ids_.tolist()) == list(range(240))
    assert pickle.loads(pickle.dumps(model)).predict(X).shape == (240,)


@pytest.mark.parametrize("memory", [Window(3, unit="batches"), AdaptiveWindow()], ids=repr)
def test_refreezing_refuses_memories_that_count_batches(memory):
    X, y = shifting_gaussians(200, random_state=0).X, shifting_gaussians(200, random_state=0).y
    model = StreamPipeline(
        [("scale", StandardScaler()), ("svm", SVC(gamma=0.5, memory=memory))], n_warmup=30
    )
    for start in range(0, 200, 40):
        model.partial_fit(X[start : start + 40], y[start : start + 40])
    before = model.ids_.copy()
    with pytest.raises(InvalidInputError, match="loses the arrival times"):
        model.refreeze()
    np.testing.assert_array_equal(model.ids_, before)
