"""The order of events: batches, labels that come late or never, failures, learners of others."""

from datetime import UTC, datetime, timedelta

import matplotlib.pyplot as plt
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from river import anomaly, compose, drift, forest, linear_model, multiclass, naive_bayes, tree
from river import preprocessing as river_preprocessing
from river import stream as river_stream
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.svm import SVC as ReferenceSVC

from supple import LASVC, RVC, SVC, SVDD, SVR, WindowedSVC
from supple.errors import InvalidInputError
from supple.memory import Window
from supple.streams import Stream, prequential, rotating_gaussians, sea


class Diary(ClassifierMixin, BaseEstimator):
    """Answers 0 and writes down, outside of its clones, when it is asked and taught."""

    pages = []

    def __init__(self, fails_at=None, mute_at=None):
        self.fails_at = fails_at
        self.mute_at = mute_at

    def partial_fit(self, X, y, classes=None, timestamps=None):
        Diary.pages.append(("learn", X[:, 0].astype(int).tolist(), timestamps))
        if self.fails_at in X[:, 0]:
            raise RuntimeError("no")
        return self

    def predict(self, X):
        Diary.pages.append(("predict", X[:, 0].astype(int).tolist(), None))
        if self.mute_at in X[:, 0]:
            raise RuntimeError("says nothing")
        return np.zeros(len(X), dtype=int)


@pytest.fixture(autouse=True)
def pages():
    Diary.pages = []
    plt.switch_backend("Agg")
    yield lambda what: [rows for kind, rows, _ in Diary.pages if kind == what]
    plt.close("all")


def counting(n):
    return np.arange(float(n))[:, None], np.arange(n) % 2


def learned_before(rows):
    """Return, for every example that was predicted, those that had been learned."""
    known, result = set(), {}
    for kind, batch, _ in Diary.pages:
        if kind == "learn":
            known |= set(batch)
        else:
            result |= {i: set(known) for i in batch}
    return {i: result.get(i, set()) for i in rows}


def test_every_example_is_predicted_before_it_is_learned(pages):
    X, y = counting(10)
    records = list(prequential(X, y, {"d": Diary()}, window=4))
    assert pages("learn") == [[i] for i in range(10)]
    assert pages("predict") == [[i] for i in range(1, 10)]  # nothing learned: nothing to ask
    assert [record.n_seen for record in records] == [4, 8, 10]
    assert [record.n_learned for record in records] == [4, 8, 10]
    assert records[-1].cumulative.accuracy == 0.4  # no answer to the first one, which is 0


def test_batches(pages):
    X, y = counting(11)
    run = prequential(X, y, {"d": Diary()}, batch_size=4, window=4)
    assert [record.n_seen for record in run] == [4, 8, 11]
    assert pages("learn") == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10]]
    assert run.n_total == 3


@given(n=st.integers(2, 30), delay=st.integers(0, 35), size=st.integers(1, 7), timed=st.booleans())
def test_labels_come_late(n, delay, size, timed):
    Diary.pages = []
    X, y = counting(n)
    span = float(delay) if timed else delay
    times = np.arange(float(n)) if timed else None
    run = prequential(X, y, {"d": Diary()}, timestamps=times, delay=span, batch_size=size)
    (record,) = run
    for i, known in learned_before(range(n)).items():
        begins = i - i % size  # its batch is predicted as a whole
        asked = any(i in rows for kind, rows, _ in Diary.pages if kind == "predict")
        assert not asked or known == {j for j in range(n) if j + delay < begins}
    last = n - 1 if timed else n
    assert record.n_learned == len([j for j in range(n) if j + delay < last])


def test_labels_come_late_by_the_clock(pages):
    X, y = counting(5)
    days = np.array(["2026-01-01", "2026-01-02", "2026-01-05", "2026-01-06", "2026-01-20"])
    times = days.astype("datetime64[D]")
    run = prequential(X, y, {"d": Diary()}, timestamps=times, delay=timedelta(days=3), window=1)
    records = list(run)
    assert pages("learn") == [[0], [1], [2, 3]]
    assert [record.n_learned for record in records] == [0, 1, 2, 4, 4]
    assert records[2].timestamp == np.datetime64("2026-01-05")
    given = [stamps for kind, _, stamps in Diary.pages if kind == "learn"]
    assert given[2].tolist() == times[2:4].tolist()


def test_the_references_wait_for_labels_as_the_learners_do():
    y = np.array([0, 1, 1, 1, 1, 1, 1, 1])
    X = np.zeros((8, 1))
    (record,) = prequential(X, y, {"d": Diary()}, delay=3)
    # The no-change classifier says nothing four times, then 0, then 1: hits at 5, 6, 7.
    p_0, p_e = 0.0, 3 / 8
    assert record.cumulative.kappa_t == pytest.approx((p_0 - p_e) / (1 - p_e))


def test_some_labels_never_come(pages):
    X, y = counting(400)
    options = {"label_probability": 0.25, "random_state": 5}
    (record,) = prequential(X, y, {"d": Diary()}, **options)
    first = pages("learn")
    assert 70 < record.n_learned == len(first) < 130
    assert record.cumulative.accuracy > 0.4  # all predictions are scored
    Diary.pages = []
    list(prequential(X, y, {"d": Diary()}, **options))
    assert pages("learn") == first
    (record,) = prequential(X, y, {"d": Diary()}, label_probability=0.0)
    assert (record.n_learned, record.n_unanswered) == (0, 400)


def test_a_learner_that_fails_does_not_end_the_others():
    X, y = counting(12)
    learners = {"good": Diary(), "bad": Diary(fails_at=5.0), "mute": Diary(mute_at=7.0)}
    run = prequential(X, y, learners, window=4)
    records = list(run)
    found = [(r.learner, r.n_seen, r.error) for r in records]
    assert ("bad", 6, "RuntimeError: no") in found
    assert [n for name, n, _ in found if name == "bad"] == [4, 6]
    assert [n for name, n, _ in found if name == "good"] == [4, 8, 12]
    mute = [r for r in records if r.learner == "mute"]
    assert [r.error for r in mute] == [None, "RuntimeError: says nothing", None]
    assert [r.n_unanswered for r in mute] == [1, 2, 2]
    assert "bad: RuntimeError: no" in repr(run)


def test_when_all_have_failed_it_ends():
    X, y = counting(12)
    (record,) = prequential(X, y, {"bad": Diary(fails_at=2.0)}, window=4)
    assert (record.n_seen, record.n_learned) == (3, 2)


def test_ctrl_c_leaves_the_records(pages):
    class Impatient(Diary):
        def partial_fit(self, X, y, classes=None):
            if 9.0 in X[:, 0]:
                raise KeyboardInterrupt
            return self

    run = prequential(*counting(20), {"d": Impatient()}, window=4)
    with pytest.raises(KeyboardInterrupt):
        list(run)
    assert [record.n_seen for record in run.records] == [4, 8]
    assert run["d"].n_seen == 8
    assert list(run) == []


def test_the_model_at_the_end_is_that_of_partial_fit():
    stream = rotating_gaussians(200, random_state=0)
    template = SVC(C=2.0, gamma=0.5, memory=Window(80))
    run = prequential(stream, learners={"exact": template}, batch_size=10)
    list(run)
    model = SVC(C=2.0, gamma=0.5, memory=Window(80))
    for X, y in stream.batches(10):
        model.partial_fit(X, y)
    np.testing.assert_allclose(
        run.models["exact"].decision_function(stream.X), model.decision_function(stream.X)
    )
    assert not hasattr(template, "_model")


def test_learners_of_three_libraries_side_by_side():
    stream = rotating_gaussians(300, n_concepts=1, distance=5.0, random_state=0)
    names = np.array(["left", "right"])
    stream = Stream(stream.X, names[stream.y], "words")
    learners = {
        "svc": SVC(C=1.0, gamma=0.5),
        "lasvc": LASVC(C=1.0, gamma=0.5, random_state=0),
        "sgd": SGDClassifier(random_state=0),
        "pa": linear_model.PAClassifier(),
        "tree": tree.HoeffdingTreeClassifier(),
        "forest": forest.ARFClassifier(n_models=2, seed=1),
        "logistic": compose.Pipeline(
            river_preprocessing.StandardScaler(), linear_model.LogisticRegression()
        ),
    }
    run = prequential(stream, learners=learners, window=100)
    records = list(run)
    assert {record.error for record in records} == {None}
    for name in learners:
        assert run[name].cumulative.accuracy > 0.85, name
        assert run[name].n_learned == 300
        assert run[name].fit_seconds >= 0.0
        assert run[name].model_bytes > 0
    assert run["svc"].n_vectors > 0
    assert run["tree"].n_vectors is None


def test_river_gives_what_its_own_loop_gives():
    stream = sea(200, random_state=0)
    *_, last = prequential(stream, learners={"nb": naive_bayes.GaussianNB()})
    model, hits = naive_bayes.GaussianNB(), []
    for x, label in river_stream.iter_array(stream.X, stream.y):
        hits.append(model.predict_one(x) == label)
        model.learn_one(x, label)
    assert last.cumulative.accuracy == pytest.approx(np.mean(hits))


def test_a_model_with_the_methods_of_river_is_enough():
    class Latest:
        """Repeats the latest label; only the methods are River's."""

        label = None

        def learn_one(self, x, y):
            self.label = y

        def predict_one(self, x):
            return self.label

        def predict_proba_one(self, x):
            return {self.label: 1.0}

    model = Latest()
    y = np.array([0, 0, 1, 1, 1, 0, 0, 0])
    (record,) = prequential(np.zeros((8, 1)), y, {"latest": model})
    assert record.cumulative.accuracy == 5 / 8
    assert record.cumulative.kappa_t == 0.0
    assert model.label is None  # a copy has learned


def test_river_with_several_classes_regressors_and_detectors():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=150)
    X = rng.normal(size=(150, 2)) + 5.0 * np.eye(3)[y][:, :2]
    binary = linear_model.PAClassifier()
    wrapped = multiclass.OneVsRestClassifier(linear_model.LogisticRegression())
    with pytest.raises(InvalidInputError, match=r"PAClassifier of River takes two classes. Got 3"):
        prequential(X, y, {"pa": binary})
    (record,) = prequential(X, y, {"ovr": wrapped})
    assert record.cumulative.accuracy > 0.7
    learners = {"river": linear_model.LinearRegression(), "svr": SVR(), "sgd": SGDRegressor()}
    run = prequential(X, 2.0 * X[:, 0], learners, random_state=0)
    spread = np.abs(2.0 * X[:, 0] - np.mean(2.0 * X[:, 0])).mean()
    assert all(record.cumulative.mae < spread for record in run)
    signs = np.where(y == 0, -1, 1)
    trees = anomaly.HalfSpaceTrees(seed=1, window_size=20)
    learners = {"trees": trees, "svdd": SVDD(C=0.1, gamma=0.1)}
    run = prequential(X / 10, signs, learners)
    list(run)
    assert run["trees"].cumulative.alarm_share is None
    assert 0.0 <= run["trees"].cumulative.auc <= 1.0
    filtered = anomaly.QuantileFilter(trees.clone(), q=0.9)
    (record,) = prequential(X / 10, signs, {"filter": filtered})
    assert 0.0 < record.cumulative.alarm_share < 0.5


def test_sparse_points_and_names_of_features():
    pd = pytest.importorskip("pandas")
    stream = sea(120, random_state=0)
    frame = pd.DataFrame(stream.X, columns=["a", "b", "c"])
    chosen = compose.Pipeline(compose.Select("a", "b"), naive_bayes.GaussianNB())
    (record,) = prequential(frame, stream.y, {"chosen": chosen})
    assert record.error is None
    points = np.where(stream.X > 5.0, stream.X, 0.0)
    learners = {"svc": SVC(gamma=0.1), "nb": naive_bayes.GaussianNB()}
    dense = {r.learner: r.cumulative for r in prequential(points, stream.y, learners)}
    thin = prequential(sp.csr_matrix(points), stream.y, learners)
    assert dense["svc"] == next(r for r in thin if r.learner == "svc").cumulative


class Adaptive(Diary):
    def partial_fit(self, X, y, classes=None):
        self.window_start_ = 0 if X[0, 0] < 6 else 5
        if X[0, 0] == 3:
            self.heard_("a change", 0.9)
        return self

    def on_drift(self, function):
        self.heard_ = function


def test_drift_and_windows_become_events():
    watch = ["window_start_", "predict", "nothing"]  # what cannot be read is no event
    first, second = prequential(*counting(10), {"a": Adaptive()}, window=5, watch=watch)
    assert [tuple(event) for event in first.events] == [("drift", ("a change", 0.9), 4)]
    assert [tuple(event) for event in second.events] == [("window_start_", 5, 7)]
    assert 0 < first.model_bytes < 1000  # the function that listens is no part of the model


def test_a_model_without_a_pickle_has_no_size():
    class Local(Diary):
        """A class within a function cannot be pickled."""

    (record,) = prequential(*counting(10), {"a": Local()})
    assert record.model_bytes is None
    assert record.error is None


def test_drift_that_river_tells_of():
    y = np.repeat([0, 1], 300)
    X = np.random.default_rng(0).normal(size=(600, 2))
    learner = forest.ARFClassifier(n_models=2, seed=1, drift_detector=drift.ADWIN(0.05))
    records = list(prequential(X, y, {"arf": learner}, window=100))
    told = [event for record in records for event in record.events]
    assert told
    assert {event.kind for event in told} == {"n_drifts_detected"}
    assert all(event.n_seen > 300 for event in told)


def test_a_seed_makes_all_but_the_times_the_same():
    stream = sea(150, random_state=0)

    def scores(seed):
        learners = {"sgd": SGDClassifier()}
        run = prequential(stream, learners=learners, label_probability=0.5, random_state=seed)
        return [record.cumulative for record in run]

    assert scores(1) == scores(1)
    assert scores(1) != scores(2)


def test_frame_table_and_picture(capsys):
    stream = rotating_gaussians(90, n_concepts=3, random_state=0)
    run = prequential(stream, learners={"a": SVC(), "b": RVC()}, batch_size=15, window=30)
    assert repr(run) == "Prequential on rotating_gaussians: 0 of 6 records"
    with pytest.raises(InvalidInputError, match="no records to draw yet"):
        run.plot()
    with pytest.raises(InvalidInputError, match="no record of a learner 'a' yet"):
        run["a"]
    list(run)
    lines = repr(run).splitlines()
    assert lines[0].endswith("6 of 6 records")
    assert lines[1].split()[:6] == ["learner", "n_seen", "accuracy", "kappa", "kappa_t", "kappa_m"]
    assert len(lines) == 4
    frame = run.to_frame()
    assert frame.shape[0] == 6
    assert frame["windowed_accuracy"].tolist() == [r.windowed.accuracy for r in run.records]
    assert {"learner", "n_seen", "kappa_t", "windowed_kappa_m", "events"} <= set(frame.columns)
    assert "mae" not in frame.columns
    axes = run.plot().axes[0]
    assert len(axes.lines) == 2 + 2  # two learners, two change points
    drawn = run.plot("model_bytes", ax=plt.subplots()[1]).axes[0]
    assert drawn.get_ylabel() == "bytes of the model"
    with pytest.raises(InvalidInputError, match=r"'field' parameter of plot .* Got 'mae'"):
        run.plot("mae")
    assert capsys.readouterr().out == ""


def test_verbose_tells_how_far_it_has_come(capsys, monkeypatch):
    monkeypatch.setattr("supple.progress.PAUSE", 0.0)
    list(prequential(*counting(5), {"d": Diary()}, verbose=True))
    assert "[prequential] example 3 of 5" in capsys.readouterr().out


X10, Y10 = counting(10)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"learners": None}, "'learners' parameter of prequential must be a mapping"),
        ({"learners": {}}, "must be a mapping"),
        ({"learners": {"a": SVC}}, "takes learners, not their classes"),
        ({"learners": {"a": ReferenceSVC()}}, "learners with partial_fit and predict.*'a'"),
        ({"learners": {"a": SVC(), "b": SVR()}}, "of one kind"),
        ({"learners": {"a": SVC(), "b": linear_model.LinearRegression()}}, "of one kind"),
        ({"learners": {"a": SVDD()}, "y": None, "delay": 3}, "Outlier detectors learn without"),
        ({"learners": {"a": SVDD()}, "y": Y10}, "must be 1 .inlier. or -1"),
        ({"y": None}, "needs y for classifiers"),
        ({"y": np.zeros(10)}, "two classes or more. Got only 0.0"),
        ({"y": Y10[:9]}, "inconsistent numbers of samples"),
        ({"y": np.where(Y10 == 1, np.nan, 0.0)}, "Input y contains NaN"),
        ({"stream": np.where(X10 == 3.0, np.nan, X10)}, "Input X contains NaN"),
        ({"stream": np.empty((0, 2)), "y": []}, "0 sample"),
        ({"stream": [], "y": []}, "Expected 2D array"),
        ({"stream": Stream(X10, Y10)}, "A Stream has its own targets"),
        ({"timestamps": [3, 2, *range(8)]}, "runs backwards: 2 at position 1 comes after 3"),
        ({"timestamps": np.full(10, np.nan)}, "no finite value at position 0"),
        ({"timestamps": np.arange(9)}, "must be 10 numbers or datetimes"),
        ({"batch_size": 0}, "'batch_size' parameter of prequential must be an int >= 1. Got 0"),
        ({"window": 2.5}, "'window' parameter"),
        ({"record_every": -1}, "'record_every' parameter"),
        ({"delay": -1}, "'delay' parameter"),
        ({"delay": "late"}, "'delay' parameter"),
        ({"delay": 2.0}, "is a span of time, and the stream has no timestamps"),
        ({"delay": -2.0, "timestamps": np.arange(10)}, "a span >= 0"),
        ({"delay": timedelta(1), "timestamps": np.arange(10)}, "a span of timestamps of int64"),
        ({"watch": "window_start_"}, "'watch' parameter of prequential must be a sequence"),
        ({"label_probability": 1.5}, "'label_probability' parameter .* from 0 to 1. Got 1.5"),
    ],
)
def test_bad_input(arguments, message):
    given = {"stream": X10, "y": Y10, "learners": {"d": Diary()}} | arguments
    with pytest.raises(InvalidInputError, match=message):
        prequential(**given)


def test_a_label_that_comes_last_and_batches_of_one_class():
    y = np.array([0] * 5 + [1] * 5 + [2])
    X = np.random.default_rng(0).normal(size=(11, 2)) + 4.0 * y[:, None]
    learners = {"svc": SVC(), "sgd": SGDClassifier(random_state=0)}
    records = list(prequential(X, y, learners, batch_size=5))
    assert [record.error for record in records] == [None] * 2
    assert all(record.cumulative.accuracy < 1.0 for record in records)


def test_only_memories_that_go_by_time_are_told_the_time():
    stream = rotating_gaussians(120, n_concepts=2, random_state=0)
    learners = {
        "all": SVC(gamma=0.5),
        "latest": SVC(gamma=0.5, memory=Window(30)),
        "once": LASVC(gamma=0.5, random_state=0),
        "chosen": WindowedSVC(gamma=0.5, unit="time"),  # a unit that only a number has
        "time": SVC(gamma=0.5, memory=Window(30.0, unit="time")),
        "preset": WindowedSVC(gamma=0.5, window=30.0, unit="time"),
        "wrong": SVC(memory=30),
    }
    times = np.arange(120.0)
    run = prequential(stream.X, stream.y, learners, timestamps=times, delay=5.0, batch_size=10)
    list(run)
    assert "'memory' parameter of SVC must be" in run["wrong"].error
    for name in set(learners) - {"wrong"}:
        assert run[name].error is None
        assert run[name].n_learned == 114
    for name in ("latest", "time", "preset"):
        assert_array_equal(np.sort(run.models[name].ids_), np.arange(84, 114))


@pytest.mark.filterwarnings("error")
def test_timestamps_as_partial_fit_takes_them():
    X, y = counting(10)
    days = [datetime(2024, 1, day, tzinfo=UTC) for day in range(1, 11)]
    dated = Stream(X, y, timestamps=days)
    assert dated.timestamps.dtype.kind == "M"
    run = prequential(dated, learners={"d": Diary()}, delay=timedelta(days=3))
    assert next(run).n_learned == 6
    for wrong in ([*days[:9], 3.0], ["2024"] * 10, [None] * 10):
        with pytest.raises(InvalidInputError, match="'timestamps'"):
            Stream(X, y, timestamps=wrong)
