"""Cumulative and windowed scores against scikit-learn, River and values computed by hand."""

import numpy as np
import pytest
from river import metrics
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import (
    accuracy_score,
    cohen_kappa_score,
    mean_absolute_error,
    r2_score,
    roc_auc_score,
    root_mean_squared_error,
)

from supple import SVDD
from supple.streams import prequential


class Scripted(ClassifierMixin, BaseEstimator):
    """Answers what its first feature says; remembers, outside of its clones, what it learned."""

    learned = []

    def partial_fit(self, X, y, classes=None):
        Scripted.learned.append(X[:, -1].astype(int).tolist())
        return self

    def predict(self, X):
        return X[:, 0].astype(int)


class ScriptedNumbers(RegressorMixin, BaseEstimator):
    def partial_fit(self, X, y):
        return self

    def predict(self, X):
        return X[:, 0]


@pytest.fixture
def answers():
    """Answers, truth, and a stream that leads to these answers."""
    rng = np.random.default_rng(3)
    y = rng.integers(3, size=400)
    given = np.where(rng.uniform(size=400) < 0.6, y, rng.integers(3, size=400))
    given[0] = -1  # before anything was learned there is no answer
    return given, y, np.column_stack([given, np.arange(400)]).astype(float)


def share(hits):
    return sum(hits) / len(hits)


def by_hand(given, y, start, stop):
    """Return kappa-T and kappa-M of a part, its references run over the whole stream."""
    counts, latest, majority = {}, None, None
    no_change, most = [], []
    for label in y[:stop]:
        no_change.append(label == latest)
        most.append(label == majority)
        latest = label
        counts[label] = counts.get(label, 0) + 1
        if counts[label] > counts.get(majority, 0):
            majority = label
    p0 = share(given[start:stop] == y[start:stop])
    pt, pm = share(no_change[start:stop]), share(most[start:stop])
    return (p0 - pt) / (1 - pt), (p0 - pm) / (1 - pm)


def test_classification_against_scikit_learn_and_by_hand(answers):
    given, y, X = answers
    for record in prequential(X, y, {"s": Scripted()}, window=100):
        for scores, start in ((record.cumulative, 0), (record.windowed, record.n_seen - 100)):
            part = slice(start, record.n_seen)
            assert scores.accuracy == pytest.approx(accuracy_score(y[part], given[part]))
            assert scores.kappa == pytest.approx(cohen_kappa_score(y[part], given[part]))
            expected = by_hand(given, y, start, record.n_seen)
            assert (scores.kappa_t, scores.kappa_m) == pytest.approx(expected)
            assert scores.mae is scores.auc is None


def test_kappas_of_six_labels_on_paper():
    # no change:  - . h . h h    of 0 0 1 0 0 0 -> predicts -,0,0,1,0,0: hits 0,1,0,0,1,1
    # majority:   -,0,0,0,0,0: hits 0,1,0,1,1,1
    y = [0, 0, 1, 0, 0, 0]
    X = np.array([[0.0], [0.0], [1.0], [0.0], [1.0], [0.0]])
    (record,) = prequential(X, y, {"s": Scripted()})
    scores = record.cumulative
    assert record.n_unanswered == 1
    assert scores.accuracy == pytest.approx(4 / 6)
    assert scores.kappa_t == pytest.approx((4 / 6 - 3 / 6) / (1 - 3 / 6))
    assert scores.kappa_m == pytest.approx((4 / 6 - 4 / 6) / (1 - 4 / 6))


def test_kappa_against_river(answers):
    given, y, X = answers
    kappa, rolling = metrics.CohenKappa(), metrics.Accuracy()
    for i, (truth, answer) in enumerate(zip(y.tolist(), given.tolist(), strict=True)):
        kappa.update(truth, answer)
        if i >= 300:
            rolling.update(truth, answer)
    last = list(prequential(X, y, {"s": Scripted()}, window=100))[-1]
    assert last.cumulative.kappa == pytest.approx(kappa.get())
    assert last.windowed.accuracy == pytest.approx(rolling.get())


def test_a_reference_without_an_error_leaves_its_kappa_unknown():
    y = [0] * 9 + [1]
    X = np.zeros((10, 1))
    last = list(prequential(X, y, {"s": Scripted()}, window=3, record_every=3))[1]
    assert last.windowed.accuracy == 1.0
    assert last.windowed.kappa is last.windowed.kappa_t is last.windowed.kappa_m is None


def test_regression_against_scikit_learn_and_river():
    rng = np.random.default_rng(0)
    y = rng.normal(size=90)
    given = y + 0.3 * rng.normal(size=90)
    *_, last = prequential(given[:, None], y, {"s": ScriptedNumbers()}, window=30)
    assert last.n_unanswered == 1
    for scores, part in ((last.cumulative, slice(1, 90)), (last.windowed, slice(60, 90))):
        assert scores.mae == pytest.approx(mean_absolute_error(y[part], given[part]))
        assert scores.rmse == pytest.approx(root_mean_squared_error(y[part], given[part]))
        assert scores.r2 == pytest.approx(r2_score(y[part], given[part]))
        assert scores.accuracy is None
    rmse = metrics.RMSE()
    for truth, answer in zip(y[1:], given[1:], strict=True):
        rmse.update(truth, answer)
    assert last.cumulative.rmse == pytest.approx(rmse.get())


def test_outlier_detection_against_a_loop_and_scikit_learn():
    rng = np.random.default_rng(0)
    y = np.where(rng.uniform(size=120) < 0.1, -1, 1)
    X = rng.normal(size=(120, 2)) + 5.0 * (y == -1)[:, None]
    *_, last = prequential(X, y, {"s": SVDD(C=0.1, gamma=0.2)}, batch_size=20, window=60)
    model = SVDD(C=0.1, gamma=0.2).partial_fit(X[:20])
    values, signs = [], []
    for start in range(20, 120, 20):
        values.append(model.decision_function(X[start : start + 20]))
        signs.append(model.predict(X[start : start + 20]))
        model.partial_fit(X[start : start + 20])
    values, signs = np.concatenate(values), np.concatenate(signs)
    assert last.n_unanswered == 20
    assert last.cumulative.auc == pytest.approx(roc_auc_score(y[20:], values))
    assert last.windowed.auc == pytest.approx(roc_auc_score(y[60:], values[40:]))
    assert last.cumulative.alarm_share == pytest.approx(np.mean(signs == -1))


def test_detectors_need_no_labels():
    X = np.random.default_rng(0).normal(size=(60, 2))
    *_, last = prequential(X, None, {"s": SVDD(C=0.1, gamma=0.2)}, batch_size=20, window=20)
    assert last.cumulative.auc is None
    assert 0.0 <= last.cumulative.alarm_share < 1.0
