"""What `supple.compare` records, for estimators of supple, of scikit-learn and made for a test."""

import pickle
import sys
from dataclasses import FrozenInstanceError, fields, replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC as ReferenceSVC

import supple
from supple import SVC, SVDD, SVR, compare
from supple.comparison import Record
from supple.errors import InvalidInputError


@pytest.fixture
def stream():
    """Two classes, 90 examples to learn and 30 to test."""
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    X = rng.normal(size=(120, 3)) + 1.5 * y[:, None]
    return {"X": X[:90], "y": y[:90], "X_test": X[90:], "y_test": y[90:]}


class Log(ClassifierMixin, BaseEstimator):
    """Predicts 0 and remembers, outside of its clones, what it was given."""

    calls = []

    def __init__(self, fails_at=None, silent=False):
        self.fails_at = fails_at
        self.silent = silent

    def fit(self, X, y):
        Log.calls.append(("fit", len(y)))
        if self.fails_at == len(y):
            raise RuntimeError("no")
        self.n_kernel_evals_ = 7 * len(y)
        return self

    def predict(self, X):
        Log.calls.append(("predict", len(X)))
        if self.silent:
            raise RuntimeError("says nothing")
        return np.zeros(len(X), dtype=int)


class OnlineLog(Log):
    def partial_fit(self, X, y):
        Log.calls.append(("partial_fit", len(y)))
        if self.fails_at == len(y):
            raise RuntimeError("no")
        return self


@pytest.fixture(autouse=True)
def calls():
    Log.calls = []
    return lambda: Log.calls


def without_times(records):
    return [replace(record, fit_seconds=0.0, predict_seconds=0.0) for record in records]


def test_the_model_is_measured_on_the_test_set(stream):
    run = compare({"exact": SVC(C=2.0, gamma=0.3)}, **stream, sizes=[30, 60, 90])
    assert run.n_total == 3
    for n, record in zip([30, 60, 90], run, strict=True):
        model = SVC(C=2.0, gamma=0.3).fit(stream["X"][:n], stream["y"][:n])
        assert record.n_train == n
        assert record.accuracy == model.score(stream["X_test"], stream["y_test"])
        assert record.n_tested == 30
        assert record.n_vectors == len(model.support_)
        assert record.mode == "partial_fit"
        assert record.fit_seconds > 0.0
        assert record.predict_seconds > 0.0
        assert record.n_kernel_evals > 0
        assert record.error is None


def test_only_new_rows_go_to_partial_fit_and_the_prefix_to_fit(stream, calls):
    run = compare({"online": OnlineLog(), "batch": Log()}, **stream, sizes=[20, 50])
    records = list(run)
    assert [(r.n_train, r.estimator, r.mode) for r in records] == [
        (20, "online", "partial_fit"),
        (20, "batch", "fit"),
        (50, "online", "partial_fit"),
        (50, "batch", "fit"),
    ]
    training = [call for call in calls() if call[0] != "predict"]
    assert training == [("partial_fit", 20), ("fit", 20), ("partial_fit", 30), ("fit", 50)]
    assert [r.n_kernel_evals for r in records] == [None, 140, None, 350]


def test_batches(stream, calls):
    list(compare({"online": OnlineLog()}, **stream, sizes=[20, 50], batch_size=12))
    assert [n for what, n in calls() if what == "partial_fit"] == [12, 8, 12, 12, 6]


def test_without_a_test_set_new_examples_are_predicted_before_they_are_learned(stream, calls):
    X, y = stream["X"], stream["y"]
    first, second = compare({"online": OnlineLog()}, X, y, sizes=[20, 45], batch_size=10)
    assert [what for what, _ in calls()] == ["partial_fit"] + ["predict", "partial_fit"] * 4
    assert (first.n_tested, second.n_tested) == (10, 25)
    assert first.accuracy == np.mean(y[10:20] == 0)
    assert second.accuracy == np.mean(y[20:45] == 0)

    first, second = compare({"batch": Log()}, X, y, sizes=[20, 45])
    assert (first.accuracy, first.n_tested) == (None, 0)
    assert second.n_tested == 25


def test_prequential_accuracy_of_a_real_model(stream):
    X, y = stream["X"], stream["y"]
    _, record = compare({"exact": SVC(gamma=0.3)}, X, y, sizes=[30, 60])
    assert record.accuracy == SVC(gamma=0.3).fit(X[:30], y[:30]).score(X[30:60], y[30:60])


def test_several_classes_and_estimators_of_scikit_learn():
    X, y = load_iris(return_X_y=True)
    estimators = {
        "exact": SVC(gamma=0.5),
        "reference": ReferenceSVC(gamma=0.5),
        "sgd": SGDClassifier(),
        "pipeline": make_pipeline(StandardScaler(), SVC(gamma=0.5)),
    }
    run = compare(estimators, X, y, sizes=3, shuffle=True, random_state=0)
    records = list(run)
    assert [r.error for r in records] == [None] * 12
    last = {r.estimator: r for r in records[-4:]}
    assert {name: r.mode for name, r in last.items()} == {
        "exact": "partial_fit",
        "reference": "fit",
        "sgd": "partial_fit",
        "pipeline": "fit",
    }
    assert last["exact"].n_vectors == last["reference"].n_vectors
    assert last["exact"].accuracy == last["reference"].accuracy > 0.9
    assert last["pipeline"].n_vectors > 0
    assert last["sgd"].n_vectors is None


def test_an_estimator_of_another_library(stream):
    class Plain:
        """The methods of scikit-learn without its base class."""

        def get_params(self, deep=True):
            return {}

        def set_params(self):
            return self

        def fit(self, X, y):
            return self

        def predict(self, X):
            return np.ones(len(X), dtype=int)

    (record,) = compare({"plain": Plain()}, **stream, sizes=1, random_state=0)
    assert (record.mode, record.accuracy, record.error) == ("fit", 0.5, None)


def test_labels_may_be_strings_and_points_sparse(stream):
    names = np.array(["no", "yes"])
    stream = {
        "X": sp.csr_matrix(stream["X"]),
        "y": names[stream["y"]],
        "X_test": sp.csr_matrix(stream["X_test"]),
        "y_test": names[stream["y_test"]],
    }
    records = list(compare({"exact": SVC(), "sgd": SGDClassifier()}, **stream, sizes=2))
    assert [r.error for r in records] == [None] * 4
    assert records[2].accuracy > 0.8


def test_a_seed_makes_all_but_the_times_the_same(stream):
    estimators = {
        "sgd": SGDClassifier(),
        "pipeline": make_pipeline(StandardScaler(), SGDClassifier()),
        "exact": SVC(),
    }

    def records(seed):
        return without_times(compare(estimators, **stream, shuffle=True, random_state=seed))

    assert records(3) == records(3)
    assert records(3) != records(4)
    assert estimators["sgd"].random_state is None


def test_the_callers_estimators_are_not_touched(stream):
    model = SVC()
    list(compare({"exact": model}, **stream, sizes=1))
    assert not hasattr(model, "support_")


def test_one_that_fails_does_not_stop_the_others(stream):
    estimators = {
        "online": OnlineLog(fails_at=30),
        "batch": Log(fails_at=50),
        "silent": OnlineLog(silent=True),
        "good": Log(),
    }
    records = list(compare(estimators, **stream, sizes=[20, 50, 80]))
    errors = {(r.estimator, r.n_train): r.error for r in records}
    assert errors == {
        ("online", 20): None,
        ("online", 50): "RuntimeError: no",  # and no record at 80: it has missed examples
        ("batch", 20): None,
        ("batch", 50): "RuntimeError: no",
        ("batch", 80): None,
        ("silent", 20): "RuntimeError: says nothing",
        ("silent", 50): "RuntimeError: says nothing",
        ("silent", 80): "RuntimeError: says nothing",
        ("good", 20): None,
        ("good", 50): None,
        ("good", 80): None,
    }
    failed = next(r for r in records if r.error == "RuntimeError: no")
    assert failed.accuracy is failed.n_vectors is failed.model_bytes is None


def test_failing_to_predict_does_not_keep_from_learning(stream, calls):
    X, y = stream["X"], stream["y"]
    list(compare({"silent": OnlineLog(silent=True)}, X, y, sizes=[20, 40], batch_size=10))
    assert [n for what, n in calls() if what == "partial_fit"] == [10] * 4


def test_a_stream_that_begins_with_one_class(stream):
    order = np.argsort(stream["y"], kind="stable")
    stream["X"], stream["y"] = stream["X"][order], stream["y"][order]
    estimators = {"exact": SVC(), "reference": ReferenceSVC(), "sgd": SGDClassifier()}
    records = list(compare(estimators, **stream, sizes=[20, 90]))
    errors = {(r.estimator, r.n_train): r.error for r in records}
    assert "number of classes" in errors.pop(("reference", 20))
    assert set(errors.values()) == {None}


def test_nothing_is_learned_before_it_is_asked_for_nor_after_the_end(stream, calls):
    run = compare({"one": Log(), "two": Log()}, **stream, sizes=[20, 50])
    assert calls() == []
    next(run)
    assert calls() == [("fit", 20), ("predict", 30)]
    run.close()
    assert list(run) == []
    assert len(run.records) == 1
    assert len(calls()) == 2


def test_ctrl_c_is_not_swallowed(stream):
    class Impatient(Log):
        def fit(self, X, y):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        next(compare({"impatient": Impatient()}, **stream))


def test_model_bytes_is_the_size_of_the_pickle(stream):
    (record,) = compare({"reference": ReferenceSVC()}, **stream, sizes=1)
    model = ReferenceSVC().fit(stream["X"], stream["y"])
    assert record.model_bytes == pytest.approx(len(pickle.dumps(model, protocol=5)), rel=0.05)
    small, large = compare({"exact": SVC()}, **stream, sizes=2)
    assert 0 < small.model_bytes < large.model_bytes
    (record,) = compare({"local": SVC(kernel=lambda A, B: A @ B.T)}, **stream, sizes=1)
    assert record.error is None
    assert record.model_bytes is None


def test_records_are_small_frozen_and_travel(stream):
    run = compare({"exact": SVC()}, **stream, sizes=2)
    record = next(run)
    with pytest.raises(FrozenInstanceError):
        record.accuracy = 1.0
    assert pickle.loads(pickle.dumps(record)) == record


def test_frame(stream):
    pytest.importorskip("pandas")
    run = compare({"exact": SVC(), "reference": ReferenceSVC()}, **stream, sizes=2)
    foreign = {"r2", "mae", "auc", "inlier_share"}  # scores of other kinds of estimators
    columns = [field.name for field in fields(Record) if field.name not in foreign]
    assert run.to_frame().empty
    assert list(run.to_frame().columns) == columns
    list(run)
    frame = run.to_frame()
    assert list(frame.columns) == columns
    assert frame["n_train"].tolist() == [45, 45, 90, 90]


def test_frame_without_pandas(stream, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        compare({"exact": SVC()}, **stream).to_frame()


@pytest.mark.parametrize(
    ("sizes", "found"),
    [(1, [90]), (3, [30, 60, 90]), (7, [13, 26, 39, 51, 64, 77, 90]), ((5, 90), [5, 90])],
)
def test_sizes(stream, sizes, found):
    assert [r.n_train for r in compare({"log": Log()}, **stream, sizes=sizes)] == found


def test_more_steps_than_examples(stream):
    records = list(compare({"log": Log()}, **stream, sizes=1000))
    assert [r.n_train for r in records] == list(range(1, 91))


@pytest.mark.parametrize("sizes", [0, -1, 2.5, [], [0, 5], [5, 5], [9, 3], [91], "3", None, True])
def test_bad_sizes(stream, sizes):
    with pytest.raises(InvalidInputError, match="'sizes' parameter of compare"):
        compare({"log": Log()}, **stream, sizes=sizes)


@pytest.mark.parametrize("batch_size", [0, -3, 1.5, "2", True])
def test_bad_batch_size(stream, batch_size):
    with pytest.raises(InvalidInputError, match="'batch_size' parameter of compare"):
        compare({"log": Log()}, **stream, batch_size=batch_size)


@pytest.mark.parametrize("estimators", [{}, [SVC()], SVC(), None])
def test_estimators_must_be_named(stream, estimators):
    with pytest.raises(InvalidInputError, match="mapping of names to estimators"):
        compare(estimators, **stream)


@pytest.mark.parametrize("estimator", [SVC, StandardScaler(), "SVC"])
def test_only_estimators_that_predict(stream, estimator):
    with pytest.raises(InvalidInputError, match=r"compare takes classifiers.*'odd'"):
        compare({"odd": estimator}, **stream)


def test_only_one_kind_at_a_time(stream):
    mixed = {"a": SVC(), "b": SVR(), "c": SVDD()}
    match = r"one kind.*'a' \(classifiers\), 'b' \(regressors\), 'c' \(outlier detectors\)"
    with pytest.raises(InvalidInputError, match=match):
        compare(mixed, **stream)


def spoil(stream, **changes):
    return {**stream, **changes}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: spoil(s, y=s["y"][:5]), "inconsistent numbers of samples"),
        (lambda s: spoil(s, X=s["X"][:, 0]), "Expected 2D array"),
        (lambda s: spoil(s, X=np.where(s["X"] > 1, np.nan, s["X"])), "NaN"),
        (lambda s: spoil(s, X=s["X"][:0], y=s["y"][:0]), "0 sample"),
        (lambda s: spoil(s, y=s["X"][:, 0]), "Unknown label type"),
        (lambda s: spoil(s, y=np.zeros(90, int)), "two classes or more"),
        (lambda s: spoil(s, y=None), "compare needs y for classifiers"),
        (lambda s: spoil(s, y_test=None), "compare needs y_test for classifiers"),
        (lambda s: spoil(s, X_test=None), "both X_test and y_test"),
        (lambda s: spoil(s, X_test=s["X_test"][:, :2]), "X_test has 2 features; expected are 3"),
        (lambda s: spoil(s, y_test=s["y_test"][:4]), "inconsistent numbers of samples"),
        (lambda s: spoil(s, X_test=s["X_test"] * np.nan), "X_test contains NaN"),
        (lambda s: spoil(s, y_test=s["y_test"].astype(str)), "No label of y_test occurs in y"),
    ],
)
def test_bad_data(stream, change, message):
    with pytest.raises(ValueError, match=message):
        compare({"log": Log()}, **change(stream))


def test_the_module_and_the_function_have_the_same_name():
    assert supple.compare is compare
