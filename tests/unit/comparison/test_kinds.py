"""`supple.compare` with regressors and outlier detectors, its table and its picture."""

import sys

import matplotlib.figure
import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.base import BaseEstimator, OutlierMixin, RegressorMixin
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LinearRegression, SGDRegressor
from sklearn.metrics import mean_absolute_error, r2_score, roc_auc_score
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC as ReferenceSVC
from sklearn.svm import OneClassSVM as ReferenceOneClass

from supple import RVR, SVC, SVDD, SVR, InvalidInputError, OneClassSVM, compare


@pytest.fixture
def curve():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, size=(120, 2))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=120)
    return {"X": X[:90], "y": y[:90], "X_test": X[90:], "y_test": y[90:]}


@pytest.fixture
def cloud():
    """90 normal points to learn; 30 normal ones and 10 far away to test."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(130, 2))
    X[120:] += 4.0
    return {"X": X[:90], "X_test": X[90:], "y_test": np.repeat([1, -1], [30, 10])}


@pytest.fixture
def labelled():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    return {"X": rng.normal(size=(60, 2)) + 2 * y[:, None], "y": y}


@pytest.fixture(autouse=True)
def close_figures():
    plt.switch_backend("Agg")
    yield
    plt.close("all")


def test_regressors_are_scored_by_r2_and_mean_absolute_error(curve):
    estimators = {
        "exact": SVR(gamma=0.5),
        "relevance": RVR(gamma=0.5),
        "sgd": SGDRegressor(random_state=0),
        "pipeline": make_pipeline(StandardScaler(), LinearRegression()),
    }
    run = compare(estimators, **curve, sizes=[45, 90])
    records = list(run)
    assert run.metrics == ("r2", "mae")
    assert [record.error for record in records] == [None] * 8
    model = SVR(gamma=0.5).fit(curve["X"], curve["y"])
    predicted = model.predict(curve["X_test"])
    exact = records[4]
    assert exact.r2 == pytest.approx(r2_score(curve["y_test"], predicted), abs=1e-9)
    assert exact.mae == pytest.approx(mean_absolute_error(curve["y_test"], predicted), abs=1e-9)
    assert exact.accuracy is exact.auc is exact.inlier_share is None
    assert {record.mode for record in records if record.estimator == "pipeline"} == {"fit"}


def test_prequential_scores_of_a_regressor_count_every_new_example(curve):
    X, y = curve["X"], curve["y"]
    first, second = compare({"exact": SVR(gamma=0.5)}, X, y, sizes=[30, 60], batch_size=10)
    assert (first.n_tested, second.n_tested) == (20, 30)
    model, predicted = SVR(gamma=0.5), []
    for start in range(0, 60, 10):
        if start:
            predicted.append(model.predict(X[start : start + 10]))
        model.partial_fit(X[start : start + 10], y[start : start + 10])
    assert second.r2 == pytest.approx(r2_score(y[30:60], np.concatenate(predicted[2:])), abs=1e-9)


def test_r2_of_equal_targets_is_unknown(curve):
    curve["y_test"] = np.ones(30)
    (record,) = compare({"exact": SVR(gamma=0.5)}, **curve, sizes=1)
    assert record.r2 is None
    assert record.mae > 0.0


def test_detectors_are_scored_by_their_ranking(cloud):
    estimators = {
        "exact": OneClassSVM(nu=0.1, gamma=0.5),
        "ball": SVDD(C=0.1, gamma=0.5),
        "reference": ReferenceOneClass(nu=0.1, gamma=0.5),
        "forest": IsolationForest(random_state=0),
        "neighbours": LocalOutlierFactor(novelty=True),
    }
    run = compare(estimators, **cloud, sizes=[45, 90])
    records = list(run)
    assert [record.error for record in records] == [None] * 10
    model = OneClassSVM(nu=0.1, gamma=0.5).fit(cloud["X"])
    exact, reference = records[5], records[7]
    values = model.decision_function(cloud["X_test"])
    assert exact.auc == roc_auc_score(cloud["y_test"], values) > 0.9
    assert exact.inlier_share == np.mean(model.predict(cloud["X_test"]) == 1)
    assert (exact.auc, exact.inlier_share) == (reference.auc, reference.inlier_share)
    assert exact.accuracy is exact.r2 is None


def test_detectors_without_labels(cloud):
    _, record = compare({"exact": OneClassSVM(nu=0.2, gamma=0.5)}, cloud["X"], sizes=[45, 90])
    assert record.n_tested == 45
    assert record.auc is None
    model = OneClassSVM(nu=0.2, gamma=0.5).fit(cloud["X"][:45])
    assert record.inlier_share == np.mean(model.predict(cloud["X"][45:]) == 1)
    one_kind = {**cloud, "y_test": np.ones(40)}
    (record,) = compare({"exact": OneClassSVM(nu=0.2, gamma=0.5)}, **one_kind, sizes=1)
    assert record.auc is None


def test_detectors_do_not_see_the_labels(cloud):
    class Blind(OutlierMixin, BaseEstimator):
        """Takes no labels and ranks nothing."""

        def fit(self, X):
            return self

        def predict(self, X):
            return np.ones(len(X), dtype=int)

    y = np.repeat([1, -1], [60, 30])
    _, record = compare({"blind": Blind()}, cloud["X"], y, sizes=2, shuffle=True, random_state=0)
    assert record.error is None
    assert (record.inlier_share, record.auc) == (1.0, None)


@pytest.mark.parametrize("name", ["y", "y_test"])
def test_labels_of_detectors(cloud, name):
    labels = {"y": np.zeros(90), "y_test": np.zeros(40)}[name]
    with pytest.raises(InvalidInputError, match=rf"labels in {name} must be 1 \(inlier\) or -1"):
        compare({"exact": OneClassSVM()}, **{**cloud, name: labels})


def test_targets_of_regressors(curve):
    with pytest.raises(InvalidInputError, match="compare needs y for regressors"):
        compare({"exact": SVR()}, curve["X"])
    with pytest.raises(ValueError, match="numeric"):
        compare({"exact": SVR()}, curve["X"], np.full(90, "high"))


def test_a_prediction_that_cannot_be_scored_is_an_error_of_its_estimator(curve):
    class Short(RegressorMixin, BaseEstimator):
        def fit(self, X, y):
            return self

        def predict(self, X):
            return np.zeros(3)

    short, exact = compare({"short": Short(), "exact": SVR()}, **curve, sizes=1)
    assert "ValueError" in short.error
    assert exact.error is None


# ----------------------------------------------------------------------------- table and picture


def test_printed_it_is_a_small_table(labelled):
    class Broken(ReferenceSVC):
        def fit(self, X, y):
            raise RuntimeError("no")

    run = compare({"exact": SVC(), "reference": ReferenceSVC(), "none": Broken()}, **labelled)
    assert repr(run) == "Comparison: 0 of 30 records"
    list(run)
    head, titles, exact, reference, broken, error = repr(run).splitlines()
    assert head == "Comparison: 30 of 30 records"
    expected = "estimator n_train accuracy n_vectors fit s predict s bytes"
    assert titles.split() == expected.split()
    assert len(exact) == len(reference) == len(broken) == len(titles)
    accuracy = run.records[-3].accuracy
    assert exact.split()[:3] == ["exact", "60", f"{accuracy:.4f}"]
    assert broken.split()[:4] == ["none", "60", "-", "-"]
    assert error == "none: RuntimeError: no"


def test_picture(labelled):
    run = compare({"exact": SVC(), "reference": ReferenceSVC()}, **labelled, sizes=3)
    list(run)
    figure = run.plot()
    assert isinstance(figure, matplotlib.figure.Figure)
    (axes,) = figure.axes
    assert [line.get_label() for line in axes.lines] == ["exact", "reference"]
    assert axes.get_ylabel() == "accuracy"
    x, y = axes.lines[0].get_data()  # at the first size there was no model to predict
    assert list(x) == [40, 60]
    assert list(y) == [record.accuracy for record in run.records[2::2]]


def test_picture_of_another_field_on_given_axes(cloud):
    run = compare({"exact": OneClassSVM(nu=0.2)}, **cloud, sizes=3)
    list(run)
    figure, (left, right) = plt.subplots(1, 2)
    assert run.plot("model_bytes", ax=left) is figure
    assert run.plot(ax=right) is figure
    assert left.get_ylabel() == "bytes of the model"
    assert right.get_ylabel() == "AUC"


def test_picture_without_labels_shows_the_share_of_inliers(cloud):
    run = compare({"exact": OneClassSVM(nu=0.2)}, cloud["X"], sizes=3)
    list(run)
    assert run.plot().axes[0].get_ylabel() == "share of inliers"


def test_nothing_to_draw(labelled):
    run = compare({"exact": SVC()}, **labelled)
    with pytest.raises(InvalidInputError, match=r"No record of 0 knows accuracy.*list\(run\)"):
        run.plot()
    list(run)
    for field in ("r2", "estimator", "speed"):
        with pytest.raises(InvalidInputError, match="'field' parameter of plot must be"):
            run.plot(field)


def test_picture_without_matplotlib(labelled, monkeypatch):
    run = compare({"exact": SVC()}, **labelled)
    list(run)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        run.plot()
