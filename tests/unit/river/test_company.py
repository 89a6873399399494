"""The adapters at work among River's own parts."""

import copy
import random

import numpy as np
import pytest

river = pytest.importorskip("river")

from river import (  # noqa: E402
    anomaly,
    compose,
    datasets,
    drift,
    ensemble,
    evaluate,
    metrics,
    preprocessing,
    stream,
)

from supple import SVC, SVR, OneClassSVM  # noqa: E402
from supple.memory import Window  # noqa: E402
from supple.river import AnomalyDetector, Classifier, Regressor  # noqa: E402


def machine(size=100):
    return SVC(gamma=0.1, memory=Window(size))


def test_a_pipeline_is_evaluated_progressively():
    model = preprocessing.StandardScaler() | Classifier(machine())
    metric = evaluate.progressive_val_score(
        datasets.Phishing().take(400), model, metrics.Accuracy()
    )
    assert metric.get() > 0.8
    assert len(model["Classifier"].estimator_.ids_) == 100


def test_labels_that_come_late():
    rng = np.random.default_rng(0)
    rows = []
    for k in range(200):
        a, b = rng.normal(size=2).tolist()
        rows.append(({"moment": k, "a": a, "b": b}, a + b > 0))
    model = compose.Discard("moment") | Classifier(machine())
    metric = evaluate.progressive_val_score(
        rows, model, metrics.Accuracy(), moment="moment", delay=10
    )
    assert metric.get() > 0.8
    # The answers are those of a model that is ten examples behind.
    own, right = Classifier(machine()), []
    for k, (x, y) in enumerate(rows):
        if k >= 10:
            z, label = rows[k - 10]
            own.learn_one({"a": z["a"], "b": z["b"]}, label)
        right.append(own.predict_one({"a": x["a"], "b": x["b"]}) == y)
    assert metric.get() == pytest.approx(np.mean(right[10:]))  # River counts no None


def test_unions_and_one_hot_encoders_bring_features_as_they_come():
    model = (
        compose.Select("length") + (compose.Select("colour") | preprocessing.OneHotEncoder())
    ) | Classifier(SVC(kernel="linear", C=100.0))
    rows = [
        ({"length": 1.0, "colour": colour}, colour == "red")
        for colour in ["red", "blue", "green", "red", "black", "blue"]
    ]
    for x, y in rows:
        model.predict_one(x)
        model.learn_one(x, y)
    assert all(model.predict_one(x) == y for x, y in rows)


@pytest.mark.parametrize("background", [False, True])
def test_drift_starts_a_new_model(background):
    rng = np.random.default_rng(0)
    detector = drift.binary.DDM() if background else drift.ADWIN()
    model = drift.DriftRetrainingClassifier(
        Classifier(SVC(gamma=0.5)), detector, train_in_background=background
    )
    first, right = model.model, []
    for k in range(500):
        a, b = rng.normal(size=2).tolist()
        y = (a > 0) == (k < 250)
        x = {"a": a, "b": b}
        right.append(model.predict_one(x) == y)
        model.learn_one(x, y)
    assert model.model is not first
    assert len(model.model.estimator_.ids_) < 500
    assert np.mean(right[-50:]) > 0.8


def test_bagging():
    random.seed(0)
    model = preprocessing.StandardScaler() | ensemble.BaggingClassifier(
        Classifier(machine()), n_models=3, seed=1
    )
    metric = evaluate.progressive_val_score(
        datasets.Phishing().take(300), model, metrics.Accuracy()
    )
    assert metric.get() > 0.8
    sizes = [len(each.estimator_.ids_) for each in model["BaggingClassifier"]]
    assert sizes == [100] * 3


def test_a_filter_protects_the_detector():
    rng = np.random.default_rng(0)
    model = anomaly.QuantileFilter(
        AnomalyDetector(OneClassSVM(gamma=0.3, memory=Window(100))), q=0.95
    )
    for values in rng.normal(size=(200, 2)).tolist():
        model.learn_one(dict(zip("ab", values, strict=True)))
    strange = {"a": 8.0, "b": -8.0}
    assert model.classify(model.score_one(strange))
    before = model.anomaly_detector.estimator_.n_samples_seen_
    model.learn_one(strange)
    assert model.anomaly_detector.estimator_.n_samples_seen_ == before
    assert not model.classify(model.score_one({"a": 0.0, "b": 0.0}))


def test_scores_suit_the_metrics_of_river():
    rng = np.random.default_rng(0)
    rows = []
    for k in range(300):
        values = rng.normal(size=2) + 5.0 * (k % 20 == 19)
        rows.append((dict(zip("ab", values.tolist(), strict=True)), k % 20 == 19))
    detector = AnomalyDetector(OneClassSVM(gamma=0.3))
    assert evaluate.progressive_val_score(rows, detector, metrics.ROCAUC()).get() > 0.8


def test_regression_with_a_scaled_target():
    model = preprocessing.StandardScaler() | preprocessing.TargetStandardScaler(
        Regressor(SVR(C=10.0, gamma=0.2, memory=Window(200)))
    )
    metric = evaluate.progressive_val_score(
        datasets.TrumpApproval().take(300), model, metrics.MAE()
    )
    assert metric.get() < 1.0


def test_data_of_scikit_learn_and_mini_batches():
    from sklearn.datasets import load_wine

    model = preprocessing.StandardScaler() | Classifier(machine(500))
    for x, y in stream.iter_sklearn_dataset(load_wine(), shuffle=True, seed=0):
        model.learn_one(x, y)
    X, y = load_wine(as_frame=True, return_X_y=True)
    assert (model.predict_many(X) == y).mean() > 0.95
    assert model.predict_proba_many(X).columns.tolist() == [0, 1, 2]


def test_clones_and_copies_go_their_own_way():
    model = Classifier(machine())
    model.learn_one({"a": 1.0}, "x")
    fresh, same = model.clone(), copy.deepcopy(model)
    model.learn_one({"a": 1.0, "b": 1.0}, "y")
    assert fresh.predict_one({"a": 1.0}) is None
    assert same.predict_one({"b": 5.0}) == "x"
    changed = model.clone({"estimator": SVC(C=5.0, gamma=1.0)})
    assert changed.estimator_.C == 5.0
    model.estimator_.retune(C=10.0)
    assert model.estimator.C == 1.0
