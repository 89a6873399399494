"""Input that cannot be used is refused, and the model stays as it was."""

import importlib
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("river")

from sklearn.svm import SVC as ReferenceSVC

from supple import RVR, SVC, SVR, OneClassSVM, WindowedSVC
from supple.diagnostics import LeaveOneOutCalibrator
from supple.errors import InvalidInputError
from supple.memory import Window
from supple.river import AnomalyDetector, Classifier, Regressor

BAD = {
    "NaN": {"a": float("nan"), "new": 1.0},
    "infinity": {"a": float("inf")},
    "a string": {"a": "1.5", "b": 1.0},
    "None": {"a": None},
    "a list": {"a": [1.0, 2.0]},
    "a complex number": {"a": 1j},
    "a huge integer": {"a": 10**400},
    "no dict": [1.0, 2.0],
}


def trained():
    models = Classifier(SVC(gamma=1.0)), Regressor(SVR(gamma=1.0)), AnomalyDetector()
    for k in range(4):
        x = {"a": float(k), "b": 1.0}
        models[0].learn_one(x, k % 2)
        models[1].learn_one(x, float(k))
        models[2].learn_one(x)
    return models


def content(model):
    """What a model consists of; it may have more columns of zeros than before."""
    machine = model.estimator_
    names = list(model._columns)
    points = model._points()[:, [model._columns[name] for name in names]].tolist()
    coef = [machine.dual_coef_.tolist(), machine.intercept_.tolist()]
    return names, points, machine.ids_.tolist(), coef, machine.n_samples_seen_


@pytest.mark.parametrize("x", BAD.values(), ids=BAD)
def test_bad_features(x):
    classifier, regressor, detector = models = trained()
    before = [content(model) for model in models]
    for call in (
        lambda: classifier.learn_one(x, 1),
        lambda: classifier.predict_one(x),
        lambda: classifier.predict_proba_one(x),
        lambda: regressor.learn_one(x, 1.0),
        lambda: regressor.predict_one(x),
        lambda: detector.learn_one(x),
        lambda: detector.score_one(x),
        lambda: Classifier().learn_one(x, 1),
    ):
        with pytest.raises(InvalidInputError, match=r"Feature 'a' must be|'x' must be a dict"):
            call()
    assert [content(model) for model in models] == before


def test_numbers_of_all_kinds_are_features():
    model = Regressor(SVR(gamma=1.0))
    model.learn_one({"a": True, "b": 2, "c": Fraction(1, 2), 4: np.float32(0.25)}, 1)
    model.learn_one({"a": np.bool_(True), "b": np.int8(3), "c": 0.5, 4: 0.25}, np.float32(2))
    expected = [[1.0, 2.0, 0.5, 0.25], [1.0, 3.0, 0.5, 0.25]]
    np.testing.assert_array_equal(model._points(), expected)


@pytest.mark.parametrize("label", [None, float("nan"), ("a",), ["a"], 0.5, "text"])
def test_bad_labels(label):
    model = trained()[0]
    before = content(model)
    with pytest.raises(InvalidInputError):
        model.learn_one({"a": 1.0, "new": 1.0}, label)
    assert content(model) == before


@pytest.mark.parametrize("target", [None, float("nan"), "1.0", [1.0], 10**400])
def test_bad_targets(target):
    model = trained()[1]
    before = content(model)
    with pytest.raises(InvalidInputError, match="target 'y' must be a finite number"):
        model.learn_one({"a": 1.0, "new": 1.0}, target)
    assert content(model) == before


@pytest.mark.parametrize("w", [0.0, -1.0, float("nan"), float("inf"), "1", None, True])
def test_bad_weights(w):
    for model, arguments in zip(trained(), ((1,), (1.0,), ()), strict=True):
        before = content(model)
        with pytest.raises(InvalidInputError, match="weight 'w' must be a finite number > 0"):
            model.learn_one({"a": 1.0, "new": 1.0}, *arguments, w=w)
        assert content(model) == before


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"a": [1.0, np.nan]}),
        pd.DataFrame({"a": ["1", "2"]}),
        pd.DataFrame({"a": [1.0, None]}, dtype=object),
        pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], columns=["a", "a"]),
        np.ones((2, 2)),
        [{"a": 1.0}, {"a": 2.0}],
    ],
)
def test_bad_frames(X):
    model = trained()[0]
    before = content(model)
    for call in (lambda: model.learn_many(X, pd.Series([0, 1])), lambda: model.predict_many(X)):
        with pytest.raises(InvalidInputError):
            call()
    assert content(model) == before


def test_frames_and_labels_must_agree():
    model = trained()[0]
    before = content(model)
    with pytest.raises(InvalidInputError):
        model.learn_many(pd.DataFrame({"a": [1.0, 2.0], "new": [1.0, 1.0]}), pd.Series([1]))
    with pytest.raises(InvalidInputError, match="weight 'w'"):
        model.learn_many(pd.DataFrame({"a": [1.0, 2.0]}), pd.Series([1, 0]), w=[1.0, 0.0])
    assert content(model) == before


def test_frames_of_mixed_columns_and_empty_ones():
    model = trained()[0]
    X = pd.DataFrame({"a": [1, 2], "flag": [True, False], "n": pd.array([3, 4], dtype="Int64")})
    model.learn_many(X, pd.Series([0, 1]), w=pd.Series([1.0, 2.0]))
    assert sorted(model.estimator_.sample_weight_.tolist()) == [1.0] * 5 + [2.0]
    model.learn_many(X[:0], pd.Series([], dtype=int))
    assert model.predict_many(X[:0]).empty
    assert list(model.predict_many(X.set_index(pd.Index([7, 9]))).index) == [7, 9]
    assert model.predict_proba_many(X).columns.tolist() == [0, 1]
    assert Classifier().predict_many(X).tolist() == [None, None]
    assert Regressor().predict_many(X).tolist() == [0.0, 0.0]


def test_estimators_that_do_not_fit():
    for adapter, given in (
        (Classifier, SVR()),
        (Classifier, ReferenceSVC()),
        (Classifier, SVC),
        (Regressor, SVC()),
        (AnomalyDetector, SVC()),
        (Classifier, SVC(kernel="precomputed")),
        (Classifier, LeaveOneOutCalibrator(SVC(kernel="precomputed"))),
        (Regressor, RVR()),
    ):
        with pytest.raises(InvalidInputError, match=r"'(estimator|gamma)' parameter"):
            adapter(given)


def test_the_kind_of_estimator_is_named():
    for adapter, given, kind in (
        (Classifier, SVR(), "a classifier of supple"),
        (Regressor, SVC(), "a regressor of supple"),
        (AnomalyDetector, SVC(), "an outlier detector of supple"),
    ):
        with pytest.raises(InvalidInputError, match=f"must be {kind}"):
            adapter(given)


def test_memories_that_go_by_time_are_refused():
    timed = Window(60.0, unit="time")
    for adapter, given in (
        (Classifier, SVC(gamma=0.5, memory=timed)),
        (Classifier, WindowedSVC(gamma=0.5, window=60.0, unit="time")),
        (Classifier, LeaveOneOutCalibrator(SVC(gamma=0.5, memory=timed))),
        (Regressor, SVR(gamma=0.5, memory=timed)),
    ):
        with pytest.raises(InvalidInputError, match="River's methods take no timestamps"):
            adapter(given)


def test_gamma_scale_needs_a_first_batch():
    model = Classifier(LeaveOneOutCalibrator())
    with pytest.raises(InvalidInputError, match="must not be 'scale'"):
        model.learn_one({"a": 1.0}, 0)
    X = pd.DataFrame({"a": [0.0, 1.0, 3.0], "b": [1.0, 0.0, 0.0]})
    model.learn_many(X, pd.Series([0, 1, 1]))
    gamma = model.estimator_.estimator_._gamma
    model.learn_one({"a": 100.0, "c": 1.0}, 0)
    assert model.estimator_.estimator_._gamma == gamma == 1.0 / (2.0 * X.to_numpy().var())
    AnomalyDetector(OneClassSVM(kernel="linear")).learn_one({"a": 1.0})  # which takes no gamma


def test_supple_alone_does_not_import_river():
    code = "import sys, supple; sys.exit('river' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_river_the_error_says_what_to_install(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("supple.river")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "river", None)
    with pytest.raises(ImportError, match=r"pip install 'supple\[river\]'"):
        importlib.import_module("supple.river")
