"""partial_fit, forget, reweight, retune and the regularisation path."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from supple import (
    SVC,
    SVDD,
    SVR,
    DuplicateIdError,
    InfeasibleError,
    InvalidInputError,
    NotConvergedWarning,
    NotReadyWarning,
    NuSVC,
    OneClassSVM,
    PrecomputedUpdateError,
    UnknownIdError,
)

CLOSE = {"atol": 1e-7}


def values(model, X):
    """Return what the model says about X, as numbers."""
    return model.predict(X) if isinstance(model, SVR) else model.decision_function(X)


def test_chunks_equal_fit(make, data):
    X, y = data
    model = make(gamma=0.5)
    for part in np.array_split(np.arange(len(X)), [6, 20, 21]):
        model.partial_fit(X[part], y[part])
    whole = make(gamma=0.5).fit(X, y)
    assert_allclose(values(model, X), values(whole, X), **CLOSE)
    assert model.kkt_violation_ <= 1e-8
    assert model.dual_objective_ == pytest.approx(whole.dual_objective_, rel=1e-9)
    assert model.exact_
    assert model.n_samples_seen_ == len(X)


def test_forget(make, data):
    X, y = data
    model = make(gamma=0.5).fit(X, y)
    assert model.forget(3) is model
    model.forget(np.int32(39)).forget([0, 7]).forget(np.array([10], dtype=np.uint8))
    rest = np.setdiff1d(np.arange(40), [3, 39, 0, 7, 10])
    assert_array_equal(np.sort(model.ids_), rest)
    whole = make(gamma=0.5).fit(X[rest], y[rest])
    assert_allclose(values(model, X), values(whole, X), **CLOSE)
    assert model.n_samples_seen_ == 40
    assert model.shape_fit_ == (35, 3)
    assert_array_equal(model.support_vectors_, X[model.support_ids_])


def test_reweight(make, data):
    X, y = data
    model = make(gamma=0.5).fit(X, y)
    assert model.reweight([1, 2], [3.0, 0.5]) is model
    model.reweight(5, 2).reweight([6, 8], 0)
    weight = np.ones(40)
    weight[[1, 2, 5, 6, 8]] = [3.0, 0.5, 2.0, 0.0, 0.0]
    whole = make(gamma=0.5).fit(X, y, sample_weight=weight)
    assert_allclose(values(model, X), values(whole, X), **CLOSE)


def test_ids_are_known_whenever_somebody_asks(data):
    X, y = data
    model = SVC(gamma=0.5).fit(X[:20], y[:20])
    with pytest.raises(ValueError, match="below 1e"):  # refused when the examples were in
        model.partial_fit(X[20:22], y[20:22], sample_weight=[1e200, 1.0])
    model.partial_fit(X[20:30], y[20:30])
    with pytest.raises(DuplicateIdError, match="29"):
        model.partial_fit(X[30:32], y[30:32], ids=[29, 30])
    model.partial_fit(X[30:32], y[30:32], ids=[90, 30])
    model.forget([25, 90, 0])
    with pytest.raises(UnknownIdError, match="25"):
        model.forget([1, 25])
    left = np.delete(np.r_[:30, 31], [0, 25])
    whole = SVC(gamma=0.5).fit(X[left], y[left])
    assert_allclose(model.decision_function(X), whole.decision_function(X), atol=1e-8)
    assert sorted(model.ids_) == [*range(1, 25), *range(26, 31)]


def test_own_ids(make, data):
    X, y = data
    names = np.arange(40) * 7 - 100
    model = make(gamma=0.5).partial_fit(X[:30], y[:30], ids=names[:30])
    model.partial_fit(X[30:], y[30:], ids=list(names[30:]))
    assert_array_equal(np.sort(model.ids_), names)
    assert_array_equal(model.support_ids_, model.ids_[model.support_])
    assert_array_equal(model.support_vectors_, X[(model.support_ids_ + 100) // 7])
    model.forget(-100)
    assert -100 not in model.ids_


@pytest.mark.parametrize(
    ("model", "change"),
    [
        (SVC(gamma=0.5), {"C": 7.0}),
        (SVC(gamma=0.5), {"C": 0.1, "gamma": 0.2}),
        (SVC(kernel="poly", gamma=0.5), {"degree": 2, "coef0": 1.0}),
        (SVC(gamma=0.5), {"class_weight": {1: 3.0}}),
        (SVC(gamma=0.5, class_weight={0: 2.0}), {"class_weight": None}),
        (SVC(gamma=2.0), {"gamma": "auto"}),
        (SVC(gamma=2.0), {"gamma": "scale"}),
        (SVC(kernel="linear"), {"gamma": 3.0}),
        (NuSVC(gamma=0.5, nu=0.6), {"nu": 0.4}),
        (SVR(gamma=0.5), {"C": 3.0, "epsilon": 0.2}),
        (OneClassSVM(gamma=0.5), {"nu": 0.2}),
        (SVDD(gamma=0.5, C=0.2), {"C": 0.1}),
    ],
)
def test_retune(model, change, data):
    X, y = data
    model.fit(X, y)
    assert model.retune(**change) is model
    assert {name: getattr(model, name) for name in change} == change
    whole = type(model)(**model.get_params()).fit(X, y)
    assert_allclose(values(model, X), values(whole, X), **CLOSE)
    model.partial_fit(X[:1], y[:1])


def test_gamma_is_fixed_at_the_first_batch(make, data):
    X, y = data
    model = make().partial_fit(X[:20], y[:20])
    first = model._gamma
    assert first == pytest.approx(1 / (3 * X[:20].var()))
    model.partial_fit(X[20:], y[20:])
    assert model._gamma == first
    model.forget(model.ids_).partial_fit(X[:30], y[:30])  # a first batch again
    assert model._gamma == pytest.approx(1 / (3 * X[:30].var()))
    assert model.fit(X, y)._gamma == pytest.approx(1 / (3 * X.var()))


def test_regularization_path(data):
    X, y = data
    model = SVC(kernel="linear").fit(X, y)
    before = model.decision_function(X)
    Cs = [0.01, 0.1, 1.0, 30.0, 0.5]
    models = list(model.regularization_path(Cs))
    assert [m.C for m in models] == Cs
    for m in models:
        whole = SVC(kernel="linear", C=m.C).fit(X, y)
        assert_allclose(m.decision_function(X), whole.decision_function(X), **CLOSE)
    models[0].forget(0)
    assert len(models[1].ids_) == 40
    assert_array_equal(model.decision_function(X), before)
    with pytest.raises(ValueError, match="'C' parameter of SVC must be"):
        model.regularization_path([1.0, -1.0])
    with pytest.raises(InvalidInputError, match="at least one"):
        model.regularization_path([])
    with pytest.raises(NotFittedError):
        SVC().regularization_path([1.0])


def test_forget_everything(make, data):
    X, y = data
    model = make(gamma=0.5).fit(X, y)
    model.forget(model.ids_)
    assert model.ids_.size == 0
    assert model.support_.size == 0
    assert model.support_vectors_.shape == (0, 3)
    assert model.n_samples_seen_ == 40
    with pytest.raises(NotFittedError, match="holds no examples"):
        model.predict(X)
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    model.partial_fit(X, y)
    assert_allclose(values(model, X), values(make(gamma=0.5).fit(X, y), X), **CLOSE)
    assert model.n_samples_seen_ == 80


def test_zero_weights_are_stored_without_effect(make, data):
    X, y = data
    model = make(gamma=0.5).fit(X, y)
    before = values(model, X)
    model.partial_fit(X[:3] + 5, y[:3], sample_weight=np.zeros(3))
    assert_allclose(values(model, X), before, **CLOSE)
    assert len(model.ids_) == 43
    third = SVC(gamma=0.5).fit(X, y).partial_fit(X[:1], [2], sample_weight=[0.0])
    assert_array_equal(third.classes_, [0, 1])
    third.reweight(40, 1.0)
    assert_array_equal(third.classes_, [0, 1, 2])


def test_waiting_for_a_solution(data):
    X, y = data
    ball = SVDD(C=0.1)
    with pytest.warns(NotReadyWarning, match="waits for more"):
        ball.partial_fit(X[:5])
    with pytest.raises(InfeasibleError, match="cannot predict yet"):
        ball.predict(X)
    with pytest.raises(InfeasibleError):
        _ = ball.radius_
    ball.partial_fit(X[5:])
    whole = SVDD(C=0.1, gamma=ball._gamma).fit(X)
    assert_allclose(ball.decision_function(X), whole.decision_function(X), **CLOSE)
    with pytest.raises(InfeasibleError, match="n_samples=5"):
        SVDD(C=0.1).fit(X[:5])

    nu = NuSVC(nu=0.9, gamma=0.5)
    with pytest.raises(InfeasibleError, match="nu is infeasible"):
        nu.fit(X[:3], [0, 0, 1])
    with pytest.warns(NotReadyWarning):
        nu.partial_fit(X[:3], [0, 0, 1])
    nu.forget([0, 1, 2]).partial_fit(X, y)
    whole = NuSVC(nu=0.9, gamma=0.5).fit(X, y)
    assert_allclose(nu.decision_function(X), whole.decision_function(X), **CLOSE)


def test_mixed_kinds_of_points(make, data):
    X, y = data
    whole = make(gamma=0.5).fit(X, y)
    dense = make(gamma=0.5).fit(X[:20], y[:20]).partial_fit(sp.csc_array(X[20:]), y[20:])
    assert isinstance(dense.support_vectors_, np.ndarray)
    assert_allclose(values(dense, X), values(whole, X), **CLOSE)
    sparse = make(gamma=0.5).fit(sp.csr_array(X[:20]), y[:20]).partial_fit(X[20:], y[20:])
    assert sp.issparse(sparse.support_vectors_)
    assert_allclose(values(sparse, X), values(whole, X), **CLOSE)


def test_single_precision(make, data):
    X, y = data
    single = X.astype(np.float32)
    model = make(gamma=0.5).fit(single[:20], y[:20])
    model.partial_fit(single[20:].astype(np.float64), y[20:])
    assert model.support_vectors_.dtype == np.float32
    with pytest.raises(InvalidInputError, match="would round"):
        model.partial_fit(X, y)
    assert_allclose(values(model, X), values(make(gamma=0.5).fit(X, y), X), atol=1e-4)


def test_parameters_changed_behind_the_model(make, data):
    X, y = data
    model = make(gamma=0.5).fit(X, y)
    before = values(model, X)
    model.set_params(gamma=0.7)
    for update in (
        lambda: model.partial_fit(X, y),
        lambda: model.forget(0),
        lambda: model.reweight(0, 2.0),
    ):
        with pytest.raises(InvalidInputError, match=r"call retune\(gamma=0.7\)"):
            update()
    assert_array_equal(values(model, X), before)
    model.retune(gamma=0.7)
    model.partial_fit(X, y).set_params(kernel="linear")
    with pytest.raises(InvalidInputError, match="call fit"):
        model.forget(0)
    model.set_params(kernel="rbf", verbose=False).forget(0)
    with pytest.raises(ValueError, match="'verbose' parameter"):
        model.set_params(verbose="loud").forget(1)


def test_precomputed_refuses_updates(data):
    X, y = data
    K = X @ X.T
    model = SVC(kernel="precomputed").fit(K, y)
    for update in (
        lambda: model.partial_fit(K[:1], y[:1]),
        lambda: model.forget(0),
        lambda: model.reweight(0, 2.0),
    ):
        with pytest.raises(PrecomputedUpdateError, match="callable"):
            update()
    assert_array_equal(model.predict(K), SVC(kernel="linear").fit(X, y).predict(X))
    with pytest.raises(ValueError, match="'kernel' parameter of SVDD"):
        SVDD(kernel="precomputed").fit(K)


def test_failed_fit_leaves_the_earlier_model(make, data, monkeypatch):
    X, y = data
    model = make().fit(X, y)
    before = values(model, X)

    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("supple.engine.Engine.learn", interrupt)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X[:, :2], y)
    assert model.n_features_in_ == 3
    assert_array_equal(values(model, X), before)
    fresh = make()
    with monkeypatch.context() as patch:
        patch.setattr("supple.engine.Engine.learn", interrupt)
        with pytest.raises(KeyboardInterrupt):
            fresh.partial_fit(X, y)
    assert not hasattr(fresh, "n_features_in_")


def test_verbose(make, data, capsys):
    X, y = data
    model = make(verbose=1, gamma=0.5).fit(X, y)
    model.partial_fit(X[:1], y[:1]).forget(0).reweight(1, 2.0)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines] == ["fit", "partial_fit", "forget", "reweight"]
    assert all(line.startswith(f"[{type(model).__name__}]") for line in lines)
    assert all("KKT" in line and "ms" in line for line in lines)


def test_indefinite_kernel_makes_no_claim(data):
    X, y = data
    model = SVC(kernel="sigmoid", coef0=-1.0, gamma=0.5).fit(X, y)
    assert not model.exact_
    model.partial_fit(X[:1], y[:1]).forget(0)
    assert not model.exact_
    assert model.retune(gamma=0.1).set_params(kernel="rbf").fit(X, y).exact_


def test_iteration_limit(data):
    X, y = data
    with pytest.warns(NotConvergedWarning, match="max_iter=1"):
        SVC(max_iter=1).fit(X, y)


def test_unfitted(make, data):
    X, _ = data
    model = make()
    calls = [
        lambda: model.predict(X),
        lambda: model.forget(0),
        lambda: model.reweight(0, 1.0),
        lambda: model.retune(gamma=1.0),
    ]
    for call in calls:
        with pytest.raises(NotFittedError, match="not fitted yet"):
            call()
    for name in ("support_", "dual_coef_", "intercept_", "ids_", "kkt_violation_", "n_iter_"):
        assert not hasattr(model, name)
