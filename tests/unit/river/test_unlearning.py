"""unlearn_one removes one example and all traces of it."""

import pickle

import numpy as np
import pytest

pytest.importorskip("river")

from supple import LASVC, SVC, SVR, OneClassSVM
from supple.errors import InvalidInputError
from supple.memory import Budget, Window
from supple.river import AnomalyDetector, Classifier, Regressor


def numbered(n, seed=0):
    rng = np.random.default_rng(seed)
    return [dict(zip("abc", row, strict=True)) for row in rng.normal(size=(n, 3)).tolist()]


def test_the_latest_of_equal_examples_goes():
    model = Classifier(SVC(gamma=1.0))
    for x, y in [({"a": 1.0}, 0), ({"a": 2.0}, 1), ({"a": 1.0, "b": 0.0}, 0), ({"a": 1.0}, 1)]:
        model.learn_one(x, y)
    model.unlearn_one({"a": 1.0}, 0)
    assert sorted(model.estimator_.ids_.tolist()) == [0, 1, 3]
    model.unlearn_one({"a": 1.0, "never": 0.0}, 0)
    assert sorted(model.estimator_.ids_.tolist()) == [1, 3]
    with pytest.raises(InvalidInputError, match="needs an example that is held"):
        model.unlearn_one({"a": 1.0}, 0)


def test_all_may_go_and_others_come():
    rows = numbered(10)
    model = Regressor(SVR(gamma=1.0))
    for k, x in enumerate(rows):
        model.learn_one(x, float(k))
    for k, x in enumerate(rows):
        model.unlearn_one(x, float(k))
    assert model.predict_one(rows[0]) == 0.0
    assert not model._columns
    model.learn_one({"z": 1.0}, 5.0)
    assert model.predict_one({"z": 1.0}) == pytest.approx(5.0)


def test_detectors_unlearn_features_alone():
    rows = numbered(30)
    model, fresh = (AnomalyDetector(OneClassSVM(gamma=0.5)) for _ in range(2))
    for x in rows:
        model.learn_one(x)
    model.learn_one({"d": 7.0})
    model.unlearn_one({"d": 7.0})
    for x in rows[:5]:
        model.unlearn_one(x)
    for x in rows[5:]:
        fresh.learn_one(x)
    for x in rows:
        assert model.score_one(x) == pytest.approx(fresh.score_one(x), abs=1e-9)


def test_nothing_is_left_of_an_example_not_even_the_name_of_a_feature():
    model = Classifier(SVC(gamma=1.0))
    for k, x in enumerate(numbered(6)):
        model.learn_one(x, k % 2)
    model.learn_one({"a": 1.0, "patient Miller": 1.25}, 1)
    assert b"patient Miller" in pickle.dumps(model)
    model.unlearn_one({"a": 1.0, "patient Miller": 1.25}, 1)
    assert b"patient Miller" not in pickle.dumps(model)
    assert np.float64(1.25).tobytes() not in pickle.dumps(model)


@pytest.mark.parametrize("label", [1, "x", None, float("nan")])
def test_unknown_labels_are_refused(label):
    model = Classifier(SVC(gamma=1.0))
    model.learn_one({"a": 1.0}, False)
    before = pickle.dumps(model)
    with pytest.raises(InvalidInputError):
        model.unlearn_one({"a": 1.0}, label)
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("x", [{"a": 1.5}, {"a": 1.0, "b": 1.0}, {}, {"a": "1"}, [1.0], None])
def test_unknown_examples_are_refused(x):
    model = Classifier(SVC(gamma=1.0))
    model.learn_one({"a": 1.0}, 0)
    before = pickle.dumps(model)
    with pytest.raises(InvalidInputError):
        model.unlearn_one(x, 0)
    assert pickle.dumps(model) == before


def test_nothing_can_be_unlearned_before_something_was_learned():
    with pytest.raises(InvalidInputError, match="never learned"):
        Regressor().unlearn_one({"a": 1.0}, 0.0)


def test_what_a_window_let_go_cannot_be_unlearned():
    rows = numbered(12)
    model = Classifier(SVC(gamma=1.0, memory=Window(5)))
    for k, x in enumerate(rows):
        model.learn_one(x, k % 2)
    with pytest.raises(InvalidInputError, match="let go or merged by the memory"):
        model.unlearn_one(rows[0], 0)
    model.unlearn_one(rows[11], 1)


def test_what_stands_for_several_equal_examples_is_none_of_them():
    model = AnomalyDetector(OneClassSVM(gamma=1.0, memory=Budget(2)))
    for _ in range(4):
        model.learn_one({"a": 1.0})
    merged = model.estimator_.memory_.stands_for_
    single = len(model.estimator_.ids_) - len(merged)
    assert merged
    for _ in range(single):
        model.unlearn_one({"a": 1.0})
    with pytest.raises(InvalidInputError, match="merged by the memory"):
        model.unlearn_one({"a": 1.0})
    assert set(model.estimator_.ids_.tolist()) == set(merged)


def test_lasvm_cannot_unlearn():
    model = Classifier(LASVC(gamma=1.0))
    model.learn_one({"a": 1.0}, 0)
    with pytest.raises(InvalidInputError, match="LASVC, which cannot unlearn"):
        model.unlearn_one({"a": 1.0}, 0)
