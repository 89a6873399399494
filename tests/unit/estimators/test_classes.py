"""Labels and class weights: classes that appear, vanish, are declared or weighted."""

import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.multiclass import OneVsRestClassifier

from supple import LASVC, SVC, InfeasibleError, InvalidInputError, NuSVC

CLOSE = {"atol": 1e-7}


def test_classes_appear_and_vanish(iris):
    X, y = iris
    for plan in ("ovo", "ovr"):
        model = SVC(gamma=0.5, multi_class=plan)
        model.partial_fit(X[y == 1], y[y == 1])
        assert_array_equal(model.classes_, [1])
        assert_array_equal(model.predict(X), np.ones(150))
        with pytest.raises(InfeasibleError, match="needs two classes; so far only class 1 has"):
            model.decision_function(X)
        assert model.support_.size == 0
        model.partial_fit(X[y == 0], y[y == 0])
        assert_array_equal(model.classes_, [0, 1])
        two = model.decision_function(X)
        model.partial_fit(X[y == 2], y[y == 2], ids=np.arange(1000, 1050))
        whole = SVC(gamma=0.5, multi_class=plan).fit(X, y)
        assert_allclose(model.decision_function(X), whole.decision_function(X), **CLOSE)
        model.forget(np.arange(1000, 1050))
        assert_array_equal(model.classes_, [0, 1])
        assert_allclose(model.decision_function(X), two, **CLOSE)
        model.reweight(model.ids_[:50], 0.0)
        assert_array_equal(model.classes_, [0])


def test_declared_classes(iris):
    X, y = iris
    model = SVC().partial_fit(X[:60], y[:60], classes=[0, 1, 2])
    assert_array_equal(model.classes_, [0, 1])
    model.partial_fit(X[100:], y[100:], classes=[2, 1, 0])
    assert_array_equal(model.classes_, [0, 1, 2])
    with pytest.raises(InvalidInputError, match=r"y contains \[7\]"):
        model.partial_fit(X[:1], [7])
    with pytest.raises(InvalidInputError, match="an earlier call declared"):
        model.partial_fit(X[:1], [1], classes=[0, 1])
    late = SVC().partial_fit(X[:60], y[:60])
    with pytest.raises(InvalidInputError, match=r"lacks \[0\]"):
        late.partial_fit(X[100:], y[100:], classes=[1, 2])
    late.partial_fit(X[100:], y[100:], classes=[0, 1, 2])


def test_class_weight_of_a_class_still_to_come(iris):
    X, y = iris
    weight = {2: 5.0, 0: 0.5}
    model = SVC(gamma=0.5, class_weight=weight)
    model.partial_fit(X[y < 2], y[y < 2]).partial_fit(X[y == 2], y[y == 2])
    whole = SVC(gamma=0.5, class_weight=weight).fit(X, y)
    assert_allclose(model.decision_function(X), whole.decision_function(X), **CLOSE)
    assert_allclose(model.class_weight_, [0.5, 1.0, 5.0])


def test_labels_keep_their_type(data):
    X, y = data
    for labels in (y.astype(np.int8), y == 1, y.astype(float), np.array(["no", "yes"])[y]):
        model = SVC().fit(X, labels)
        assert model.classes_.dtype == labels.dtype
        assert model.predict(X).dtype == labels.dtype
    model = SVC().partial_fit(X[:2], ["a", "b"]).partial_fit(X[2:4], ["long", "a"])
    assert model.classes_.tolist() == ["a", "b", "long"]
    objects = SVC().fit(X, np.array(["no", "yes"], dtype=object)[y])
    assert objects.classes_.dtype == object
    huge = np.array([2**62, 2**62 + 1])[y]
    assert_array_equal(SVC().fit(X, huge).classes_, [2**62, 2**62 + 1])


@pytest.mark.parametrize(
    "labels",
    [
        np.array([100, -128, 7], dtype=np.int8),
        np.array([3, 2**63, 2**63 + 5], dtype=np.uint64),
        np.array([-(2**63), 2**63 - 1, 0]),
        np.array([1, 2, 3], dtype=">i4"),
        np.array([0.0, -7.0, 1e30]),
        np.array(["b", "a", "c"]),
    ],
    ids=str,
)
def test_labels_of_any_kind_are_the_same_classes(labels, iris):
    X, y = iris
    shuffled = np.random.default_rng(0).permutation(len(y))
    X, y = X[shuffled], y[shuffled]
    model, plain = SVC().fit(X, labels[y]), SVC().fit(X, y)
    assert_array_equal(model.classes_, np.sort(labels))
    assert_array_equal(model.predict(X), labels[plain.predict(X)])
    assert_allclose(sorted(abs(model.intercept_)), sorted(abs(plain.intercept_)), rtol=1e-7)


def test_nothing_carries_weight(data):
    X, y = data
    model = SVC().fit(X, y).reweight(np.arange(40), 0.0)
    assert model.classes_.size == 0
    with pytest.raises(NotFittedError, match="positive weight"):
        model.predict(X)
    model.reweight([0, 1], 1.0)
    assert_array_equal(model.classes_, [0, 1])


def test_labels_of_a_failed_update_are_not_remembered(data, monkeypatch):
    X, y = data
    model = SVC(gamma=0.5).fit(X, y)

    def fail(*args, **kwargs):
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr("supple.engine.Engine.learn", fail)
        with pytest.raises(MemoryError):
            model.partial_fit(X[:1], [17])
    before = copy.deepcopy(model._model.labels)
    model.partial_fit(X[:1], [3])
    assert before.encode(np.array([3]))[0] == model._model.labels.encode(np.array([3]))[0]
    assert_array_equal(model.classes_, [0, 1, 3])


def test_class_weight_edited_in_place(data):
    X, y = data
    model = SVC(class_weight={0: 1.0, 1: 2.0}).fit(X, y)
    model.class_weight[0] = 9.0
    with pytest.raises(InvalidInputError, match="retune"):
        model.forget(0)
    with pytest.raises(InvalidInputError, match="'class_weight'"):
        model.retune(C=2.0)


def test_balanced_is_for_fit_only(data):
    X, y = data
    with pytest.raises(InvalidInputError, match="for fit only"):
        SVC(class_weight="balanced").partial_fit(X, y)
    model = SVC(class_weight="balanced").fit(X, y)
    for update in (
        lambda: model.partial_fit(X, y),
        lambda: model.forget(0),
        lambda: model.reweight(0, 2.0),
    ):
        with pytest.raises(InvalidInputError, match="for fit only"):
            update()
    model.retune(C=2.0)
    whole = SVC(class_weight="balanced", C=2.0).fit(X, y)
    assert_allclose(model.decision_function(X), whole.decision_function(X), **CLOSE)
    with pytest.raises(InvalidInputError, match="for fit only"):
        SVC().fit(X, y).retune(class_weight="balanced")


@pytest.mark.parametrize("estimator", [SVC(gamma=0.5), NuSVC(nu=0.2, gamma=0.5), LASVC(gamma=0.5)])
def test_one_of_two_declared_classes(estimator, data):
    X, y = data
    for label in (0, 1):
        model = clone(estimator).partial_fit(X[y == label], y[y == label], classes=[1, 0])
        assert_array_equal(model.classes_, [0, 1])
        # w = 0 and |b| = 1: the smallest constant without a margin error.
        assert_array_equal(model.decision_function(X), np.full(40, 2.0 * label - 1.0))
        assert_array_equal(model.predict(X), np.full(40, label))
        assert model.score(X, y) == 0.5
        assert_array_equal(model.n_support_, [0, 0])
        with pytest.raises(ValueError, match="features"):
            model.decision_function(X[:, :2])
    undeclared = clone(estimator).partial_fit(X[y == 1], y[y == 1])
    with pytest.raises(InfeasibleError, match="needs two classes"):
        undeclared.decision_function(X)


def test_one_of_two_declared_classes_after_forgetting(data):
    X, y = data
    model = SVC(gamma=0.5).partial_fit(X, y, classes=[0, 1])
    before = model.decision_function(X)
    model.forget(np.flatnonzero(y == 0))
    assert_array_equal(model.decision_function(X), np.ones(40))
    model.partial_fit(X[y == 0], y[y == 0])
    assert_allclose(model.decision_function(X), before, **CLOSE)


def test_one_vs_rest_wrapper_learns_from_batches_that_lack_classes(iris):
    X, y = iris
    wrapped = OneVsRestClassifier(SVC(gamma=0.5))
    wrapped.partial_fit(X[y == 1], y[y == 1], classes=[0, 1, 2])
    assert_array_equal(wrapped.predict(X), np.ones(150))
    wrapped.partial_fit(X[y == 0], y[y == 0])
    assert_array_equal(wrapped.predict(X[y < 2]), y[y < 2])
    wrapped.partial_fit(X[y == 2], y[y == 2])
    whole = OneVsRestClassifier(SVC(gamma=0.5)).fit(X, y)
    assert_allclose(wrapped.decision_function(X), whole.decision_function(X), **CLOSE)
    assert_array_equal(wrapped.predict(X), whole.predict(X))
