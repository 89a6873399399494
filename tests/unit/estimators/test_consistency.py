"""The estimator and its engine never come apart: after errors, Ctrl-C, or writing into arrays."""

import signal
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import svm

from supple import (
    SVC,
    SVDD,
    InfeasibleError,
    InvalidInputError,
    NotConvergedWarning,
    NotReadyWarning,
    NuSVC,
)

CLOSE = {"atol": 1e-7}


def fail(step):
    raise RuntimeError("after the change")


def interrupt(step):
    signal.raise_signal(signal.SIGINT)


LATE = [(fail, RuntimeError), (interrupt, KeyboardInterrupt)]


@pytest.mark.parametrize(("listener", "error"), LATE)
def test_labels_of_examples_that_were_learned_stay(listener, error, data):
    X, y = data
    model = SVC(gamma=0.5).fit(X, y)
    model._model.engine.run.listeners.append(listener)
    with pytest.raises(error):
        model.partial_fit(X[:2], [7, 8])
    model._model.engine.run.listeners.clear()
    assert len(model.ids_) == 42
    assert_array_equal(model.classes_, [0, 1, 7, 8])
    model.partial_fit(X[2:3], [9])
    whole = SVC(gamma=0.5).fit(np.vstack([X, X[:3]]), [*y, 7, 8, 9])
    assert_array_equal(model.classes_, whole.classes_)
    assert_allclose(model.decision_function(X), whole.decision_function(X), **CLOSE)


def test_a_failed_update_declares_nothing(data, monkeypatch):
    X, y = data
    model = SVC(gamma=0.5).fit(X, y)
    with monkeypatch.context() as patch:
        patch.setattr("supple.engine.Engine.learn", lambda *args: fail(None))
        with pytest.raises(RuntimeError):
            model.partial_fit(X[:1], [2], classes=[0, 1, 2])
    model.partial_fit(X[:1], [3], classes=[0, 1, 3])
    assert_array_equal(model.classes_, [0, 1, 3])


@pytest.mark.parametrize(("listener", "error"), LATE)
def test_retuned_parameters_are_those_of_the_engine(listener, error, data):
    X, y = data
    model = SVC(gamma=0.5).fit(X, y)
    model._model.engine.run.listeners.append(listener)
    with pytest.raises(error):
        model.retune(C=5.0, gamma=0.2, class_weight={0: 2.0})
    model._model.engine.run.listeners.clear()
    assert (model.C, model.gamma, model.class_weight) == (5.0, 0.2, {0: 2.0})
    whole = SVC(C=5.0, gamma=0.2, class_weight={0: 2.0}).fit(X[1:], y[1:])
    assert_allclose(model.forget(0).decision_function(X), whole.decision_function(X), **CLOSE)


@pytest.mark.parametrize(
    ("model", "infeasible"), [(NuSVC(nu=0.2), {"nu": 0.9}), (SVDD(C=0.2), {"C": 0.01})]
)
def test_retune_to_a_value_without_a_solution(model, infeasible, data):
    X, y = data[0], np.arange(40) % 4 == 0
    model.fit(X, y)
    before, params = model.decision_function(X), model.get_params()
    with pytest.raises(InfeasibleError):
        model.retune(**infeasible)
    assert model.get_params() == params
    assert_array_equal(model.decision_function(X), before)
    model.partial_fit(X[:1], y[:1]).forget(40)
    assert_allclose(model.decision_function(X), before, **CLOSE)


def test_declared_classes_cover_examples_of_weight_zero(data):
    X, y = data
    model = SVC().fit(X, y).partial_fit(X[:1], [5], sample_weight=[0.0])
    assert_array_equal(model.classes_, [0, 1])
    with pytest.raises(InvalidInputError, match=r"lacks \[5\]"):
        model.partial_fit(X[:1], [0], classes=[0, 1])
    model.forget(40).partial_fit(X[:1], [0], classes=[0, 1])


@pytest.mark.parametrize("weight", [{7: 2.0}, {0: 2.0, 7: 2.0}, {7: 2.0, 8: 1.0}])
def test_class_weight_of_labels_that_do_not_exist(weight, data):
    X, y = data
    for estimator in (SVC, svm.SVC):
        with pytest.raises(ValueError, match=r"The classes, .* are not in class_weight"):
            estimator(class_weight=weight).fit(X, y)
    with pytest.raises(InvalidInputError, match=r"has \[.*7.*\], which are not in y"):
        SVC(class_weight=weight).fit(X, y)
    model = SVC(gamma=0.5).fit(X, y)
    before = model.decision_function(X)
    with pytest.raises(InvalidInputError, match=r"retune has \[7.*not labels the model knows"):
        model.retune(class_weight=weight)
    assert model.class_weight is None
    assert_array_equal(model.decision_function(X), before)
    model.partial_fit(X[:1], y[:1], classes=[0, 1, 7, 8]).retune(class_weight=weight)
    SVC(class_weight=weight).partial_fit(X, y)


def test_class_weight_of_more_classes_than_there_are(data):
    X, y = data
    weight = {0: 2.0, 1: 1.0, 7: 3.0}
    ours, theirs = (e(gamma=0.5, class_weight=weight).fit(X, y) for e in (SVC, svm.SVC))
    assert_array_equal(ours.predict(X), theirs.predict(X))
    labels = np.array(["no", "yes"])[y]
    with pytest.raises(InvalidInputError, match=r"has \['perhaps'\], which"):
        SVC(class_weight={"perhaps": 1.0, "no": 2.0}).fit(X, labels)
    SVC(class_weight={np.False_: 2.0, np.True_: 1.0}).fit(X, y == 1)


@pytest.mark.parametrize("key", [np.nan, np.inf, (0, 1), None, b"a", "a", 10**400])
def test_class_weight_keys_that_are_no_labels(key, data):
    X, y = data
    for call in (
        lambda w: SVC(class_weight=w).fit(X, y),
        lambda w: SVC(class_weight=w).partial_fit(X, y),
        lambda w: SVC().fit(X, y).retune(class_weight=w),
    ):
        with pytest.raises(InvalidInputError, match="must have class labels as keys"):
            call({0: 1.0, key: 1.0})


def test_writing_into_attributes_does_not_change_the_model(make, data):
    X, y = data
    model = make(kernel="linear").fit(X, y)
    before = model.predict(X)
    for name in (
        "classes_",
        "support_",
        "support_ids_",
        "support_vectors_",
        "n_support_",
        "dual_coef_",
        "coef_",
        "intercept_",
        "ids_",
    ):
        array = getattr(model, name, None)
        if array is not None:
            kept = array.copy()
            if array.flags.writeable:
                array[...] = 0
            assert_array_equal(getattr(model, name), kept)
    assert_array_equal(model.predict(X), before)
    assert_array_equal(model.partial_fit(X[:1], y[:1]).forget(40).ids_, np.arange(40))


def test_types_of_attributes(make, data):
    X, y = data
    for container in (np.asarray, sp.csr_matrix, sp.csr_array, sp.csc_matrix):
        model = make(kernel="linear").fit(container(X), y)
        assert model.support_.dtype == model.n_support_.dtype == np.int32
        assert model.fit_status_ == 0
        if container is not np.asarray:
            kind = sp.csr_array if container is sp.csr_array else sp.csr_matrix
            for name in ("dual_coef_", "coef_", "support_vectors_"):
                assert type(getattr(model, name)) is kind


def test_status_of_a_model_stopped_early(data):
    X, y = data
    with pytest.warns(NotConvergedWarning):
        model = SVC(max_iter=1).fit(X, y)
    assert (model.fit_status_, model.exact_) == (1, False)


def test_warnings_name_the_line_of_the_user(data):
    X, _ = data
    model = SVDD(C=0.1, gamma=0.5)
    for call in (lambda: model.partial_fit(X[:5]), lambda: model.forget(0)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call()
        assert [(w.category, w.filename) for w in caught] == [(NotReadyWarning, __file__)]


def test_regularization_path_starts_at_the_call(data):
    X, y = data
    model = SVC(gamma=0.5).fit(X, y)
    path = model.regularization_path([2.0])
    model.forget(np.arange(20)).set_params(C=3.0)
    assert_allclose(
        next(path).decision_function(X),
        SVC(gamma=0.5, C=2.0).fit(X, y).decision_function(X),
        **CLOSE,
    )
    with pytest.raises(InvalidInputError, match=r"'Cs' must be a sequence .* Got 2.0 instead"):
        model.regularization_path(2.0)
