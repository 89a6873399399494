"""RVC and RVR: streams, classes, weights, probabilities, input of all kinds, and bad input."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from degenerate_data import cases
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score

from supple import (
    RVC,
    RVR,
    InfeasibleError,
    InvalidInputError,
    NotConvergedWarning,
    PrecomputedUpdateError,
)

CASES = cases()


@pytest.fixture(params=[RVC, RVR], ids=["RVC", "RVR"])
def make(request):
    return request.param


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    return X, (np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=80) > 0).astype(int)


def values(model, X):
    return model.predict(X) if isinstance(model, RVR) else model.decision_function(X)


def test_batches_do_not_matter(make, data):
    X, y = data
    whole = make().fit(X, y)
    stream = make()
    for start in range(0, 80, 20):
        stream.partial_fit(X[start : start + 20], y[start : start + 20])
        prefix = make().fit(X[: start + 20], y[: start + 20])
        assert_array_equal(values(stream, X), values(prefix, X))
    assert_array_equal(stream.relevance_, whole.relevance_)
    assert stream.n_samples_seen_ == 80
    saved = pickle.loads(pickle.dumps(stream))
    assert_array_equal(values(saved.partial_fit(X[:5], y[:5]), X),
                       values(stream.partial_fit(X[:5], y[:5]), X))  # fmt: skip


def test_attributes(make, data):
    X, y = data
    model = make(gamma=0.5).fit(X, y)
    n = len(model.relevance_)
    assert 0 < n < 30
    assert_array_equal(model.relevance_vectors_, X[model.relevance_])
    assert_array_equal(model.n_relevance_, [n])
    assert model.dual_coef_.shape == model.alpha_.shape == (1, n)
    assert (model.alpha_ > 0).all()
    assert model.intercept_.shape == (1,)
    assert np.all(model.n_iter_ >= n)
    f = rbf_kernel(X, model.relevance_vectors_, gamma=0.5) @ model.dual_coef_[0] + model.intercept_
    if make is RVR:
        assert_allclose(model.predict(X), f, atol=1e-10)
    else:
        assert_array_equal(model.predict(X) == 1, f >= 0)
        assert (np.abs(model.decision_function(X)) <= np.abs(f)).all()


def test_error_bars(data):
    X, _ = data
    rng = np.random.default_rng(1)
    y = np.cos(X[:, 0]) + 0.1 * rng.normal(size=80)
    model = RVR(gamma=0.3).fit(X[:, :1], y)
    mean, std = model.predict(X[:, :1], return_std=True)
    assert_array_equal(mean, model.predict(X[:, :1]))
    assert 0.07 < model.noise_ < 0.13
    assert (std > model.noise_).all()
    assert 0.5 < (np.abs(y - mean) < std).mean() < 0.85
    assert np.isfinite(model.log_marginal_likelihood_)


def test_probabilities(iris):
    X, y = iris
    for way in ("ovr", "ovo"):
        model = RVC(gamma=0.3, multi_class=way).fit(X, y)
        p = model.predict_proba(X)
        assert_allclose(p.sum(axis=1), 1.0)
        assert_array_equal(model.predict(X), p.argmax(axis=1))
        assert_array_equal(model.predict(X), model.decision_function(X).argmax(axis=1))
        assert model.score(X, y) > 0.9
        assert model.dual_coef_.shape == (3, len(model.relevance_))
        assert_array_equal((model.dual_coef_ != 0).sum(axis=1), model.n_relevance_)
        assert_array_equal(np.isfinite(model.alpha_), model.dual_coef_ != 0)
    binary = RVC(gamma=0.3).fit(X, y == 2)
    assert_allclose(binary.predict_proba(X)[:, 1], expit(binary.decision_function(X)))
    assert binary.log_marginal_likelihood_.shape == (1,)
    far = binary.predict_proba(np.full((1, X.shape[1]), 1e3))
    assert np.isfinite(far).all()


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_logarithms_of_probabilities(iris, multi_class, n_classes):
    X, y = iris
    X, y = X[y < n_classes], y[y < n_classes]
    model = RVC(gamma=0.5, multi_class=multi_class).fit(X, y)
    logs = model.predict_log_proba(X)
    assert_allclose(logs, np.log(model.predict_proba(X)), rtol=1e-10, atol=1e-14)
    assert_array_equal(model.classes_[logs.argmax(axis=1)], model.predict(X))


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_logarithms_of_probabilities_that_underflow(multi_class, n_classes):
    """Many copies of each example: the model is so sure that far out float64 has no such number."""
    x = np.linspace(-3, 3, 60)
    y = np.digitize(x + 3 * np.sin(40 * x), [-1.0, 1.0][: n_classes - 1])
    model = RVC(kernel="linear", multi_class=multi_class)
    model.fit(x[:, None], y, sample_weight=np.full(60, 1e6))
    far = np.array([[-1e5], [1e5]])
    logs = model.predict_log_proba(far)
    assert (model.predict_proba(far) == 0.0).any()
    assert np.isfinite(logs).all()
    assert logs.min() < -800


def test_logarithms_with_one_class(data):
    X, _ = data
    model = RVC().partial_fit(X, np.ones(len(X)))
    assert_array_equal(model.predict_log_proba(X), np.zeros((len(X), 1)))


def test_kernel_values_are_counted(make, data):
    X, y = data
    model = make(gamma=0.5).fit(X[:30], y[:30])
    assert model.n_kernel_evals_ == 30**2
    model.partial_fit(X[30:50], y[30:50]).predict(X)
    assert model.n_kernel_evals_ == 30**2 + 50**2
    assert model.fit(X[:40], y[:40]).n_kernel_evals_ == 40**2
    K = rbf_kernel(X, gamma=0.5)
    assert make(kernel="precomputed").fit(K, y).n_kernel_evals_ == 0


def test_the_number_of_threads_does_not_change_the_model(make, data):
    X, y = data
    one, two = make(gamma=0.5).fit(X, y), make(gamma=0.5, n_jobs=2).fit(X, y)
    assert_array_equal(values(two, X), values(one, X))
    for attempt in (lambda: two.fit(X, y), lambda: two.partial_fit(X, y), lambda: two.predict(X)):
        two.set_params(n_jobs=0)
        with pytest.raises(InvalidInputError, match=f"'n_jobs' parameter of {make.__name__}"):
            attempt()
    assert two.set_params(n_jobs=None).n_samples_seen_ == len(X)


def test_classes_come_later(iris):
    X, y = iris
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = RVC(gamma=0.3).partial_fit(X[:50], names[:50])
    assert_array_equal(model.predict(X[:2]), ["setosa"] * 2)
    assert_array_equal(model.predict_proba(X[:2]), [[1.0]] * 2)
    with pytest.raises(InfeasibleError, match="needs two classes"):
        model.decision_function(X)
    model.partial_fit(X[50:100], names[50:100])
    assert_array_equal(model.classes_, ["setosa", "versicolor"])
    model.partial_fit(X[100:], names[100:])
    whole = RVC(gamma=0.3).fit(X, names)
    assert_array_equal(model.decision_function(X), whole.decision_function(X))
    with pytest.raises(InvalidInputError, match="not among the declared classes"):
        RVC().partial_fit(X, y, classes=[0, 1])


def test_order_of_classes_does_not_matter(data):
    X, y = data
    assert_allclose(
        RVC().fit(X, y).decision_function(X), -RVC().fit(X, 1 - y).decision_function(X), atol=1e-6
    )


def test_weights(make, data):
    X, y = data
    weight = np.arange(80) % 3
    held = np.repeat(np.arange(80), weight)
    weighted = make(gamma=0.5).fit(X, y, sample_weight=weight)
    copied = make(gamma=0.5).fit(X[held], y[held])
    assert_allclose(values(weighted, X), values(copied, X), atol=1e-6)
    assert (weight[weighted.relevance_] > 0).all()
    model = make(gamma=0.5).partial_fit(X[:1], y[:1], sample_weight=[3.0])
    model.partial_fit(X, y, sample_weight=np.where(np.arange(80) == 0, 0.0, 1.0))
    assert model.n_samples_seen_ == 81


def test_class_weights(data):
    X, y = data
    X, y = X[: np.flatnonzero(y)[8]], y[: np.flatnonzero(y)[8]]
    X, y = np.vstack([X, X[y == 0] + 0.1]), np.append(y, np.zeros((y == 0).sum(), int))
    plain = RVC(gamma=0.5).fit(X, y).predict_proba(X)[:, 1].mean()
    balanced = RVC(gamma=0.5, class_weight="balanced").fit(X, y)
    assert balanced.predict_proba(X)[:, 1].mean() > plain
    total = np.bincount(y)
    same = RVC(gamma=0.5, class_weight=dict(enumerate(len(y) / (2 * total)))).fit(X, y)
    assert_array_equal(same.decision_function(X), balanced.decision_function(X))


def test_weights_out_of_range(make, data):
    X, y = data
    for weight in (np.where(np.arange(80) == 3, 1e10, 1.0), np.full(80, 1e200)):
        with pytest.raises(InvalidInputError, match=r"at most 1e\+09"):
            make().fit(X, y, sample_weight=weight)
    for weight in (np.where(np.arange(80) == 3, 1e8, 1.0), np.where(y == 1, 1e-200, 1.0)):
        assert np.isfinite(values(make().fit(X, y, sample_weight=weight), X)).all()
    with pytest.raises(InvalidInputError, match=r"sum to 1\. A weight"):
        RVR().fit(X, y, sample_weight=np.full(80, 1 / 80))
    assert len(RVC().fit(X, y, sample_weight=np.full(80, 1e-20)).relevance_) == 0


@pytest.mark.parametrize("kernel", ["linear", "poly", "sigmoid"])
def test_kernels(kernel, make, data):
    X, y = data
    model = make(kernel=kernel, gamma=0.5, coef0=0.5).fit(X, y)
    assert np.isfinite(values(model, X)).all()


def test_input_of_all_kinds(make, data):
    X, y = data
    X = np.round(X, 1)
    model = make(gamma=0.5).fit(X, y)
    expected = values(model, X)
    for same in (X.tolist(), np.asfortranarray(X), sp.csr_array(X), sp.csc_matrix(X)):
        assert_allclose(values(make(gamma=0.5).fit(same, y), same), expected, atol=1e-6)
    for container in (sp.csr_array, sp.csr_matrix):
        stream = make(gamma=0.5).fit(container(X[:40]), y[:40])
        stream.partial_fit(container(X[40:]), y[40:])
        assert_allclose(values(stream, X), expected, atol=1e-6)
        assert isinstance(stream.relevance_vectors_, container)
    called = make(kernel=lambda a, b: rbf_kernel(a, b, gamma=0.5)).fit(X, y)
    assert_allclose(values(called, X), expected, atol=1e-6)
    K = rbf_kernel(X, gamma=0.5)
    given = make(kernel="precomputed").fit(K, y)
    assert_allclose(values(given, K), expected, atol=1e-6)
    with pytest.raises(PrecomputedUpdateError, match="callable"):
        given.partial_fit(K, y)
    single = make(gamma=0.5).fit(X.astype(np.float32), y)
    assert single.relevance_vectors_.dtype == np.float32
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    assert_array_equal(make().fit(frame, y).feature_names_in_, ["a", "b", "c"])


@pytest.mark.filterwarnings("ignore::supple.OverfitWarning")
@pytest.mark.parametrize("name", list(CASES))
def test_degenerate_data(name, make):
    """Duplicated rows, constant features, points on a line, kernels of ones or zeros."""
    case = CASES[name]
    model = make(kernel=case.kernel, **case.kernel_params).fit(case.X, case.y)
    again = model.partial_fit(case.X, case.y)
    assert np.isfinite(values(again, case.X)).all()
    vectors = again.relevance_vectors_
    assert len(np.unique(vectors, axis=0)) == len(vectors)
    if make is RVR:
        assert np.isfinite(model.predict(case.X, return_std=True)[1]).all()
    else:
        assert np.isfinite(model.predict_proba(case.X)).all()


def test_nothing_relevant(make):
    rng = np.random.default_rng(0)
    model = make().fit(np.ones((20, 2)), rng.integers(0, 2, size=20))
    assert_array_equal(model.n_relevance_, [0])
    assert model.relevance_vectors_.shape == (0, 2)
    assert len(set(model.predict(rng.normal(size=(5, 2))).tolist())) == 1


def test_constant_targets(data):
    model = RVR().fit(data[0], np.full(80, 0.1))
    mean, std = model.predict(data[0], return_std=True)
    assert_array_equal(mean, 0.1)
    assert_array_equal(std, 0.0)
    assert model.noise_ == 0.0


def test_stopped_early(make, data, capsys):
    with pytest.warns(NotConvergedWarning, match="max_iter=1") as caught:
        model = make(max_iter=1, verbose=True).fit(*data)
    assert caught[0].filename == __file__
    assert np.all(model.n_iter_ <= 1)
    assert "fit 80" in capsys.readouterr().out


def test_bad_input_leaves_the_model(make, data):
    X, y = data
    model = make(gamma=0.5).fit(X, y)
    before = values(model, X)
    nan, big = X.copy(), X * 1e160
    nan[3, 1] = np.nan
    one = np.ones(80)
    bad = [
        ((nan, y), {}, r"NaN .*row 3, column 1"),
        ((X[:0], y[:0]), {}, "0 sample"),
        ((X[0], y), {}, "Expected 2D"),
        ((X, y[1:]), {}, "inconsistent"),
        ((X, None), {}, "requires y"),
        ((X, np.where(y == 1, np.nan, 0.0)), {}, "NaN"),
        ((X, y), {"sample_weight": -one}, "must be finite and >= 0"),
        ((X, y), {"sample_weight": one[1:]}, "shape"),
    ]
    for method in ("fit", "partial_fit"):
        for args, kwargs, message in bad:
            with pytest.raises(ValueError, match=message):
                getattr(model, method)(*args, **kwargs)
    with pytest.raises(ValueError, match="X has 2 features"):
        model.partial_fit(X[:, :2], y)
    with pytest.raises(ValueError, match="X has 2 features"):
        model.predict(X[:, :2])
    with pytest.raises(ValueError, match="non-zero"):
        model.fit(X, y, sample_weight=0 * one)
    with pytest.raises(InvalidInputError, match="overflows"):
        make(kernel="linear", gamma=1.0).fit(big, y)
    with pytest.raises(InvalidInputError, match="kernel values whose largest is between"):
        make(kernel="linear").fit(X * 1e60, y)
    assert_array_equal(values(model, X), before)
    assert model.n_samples_seen_ == 80
    assert model.n_features_in_ == 3


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (RVC(tol=0.0), "The 'tol' parameter of RVC"),
        (RVC(kernel="cubic"), "The 'kernel' parameter of RVC"),
        (RVC(gamma=-1.0), "The 'gamma' parameter of RVC"),
        (RVC(max_iter=-2), "The 'max_iter' parameter of RVC"),
        (RVC(multi_class="all"), "The 'multi_class' parameter of RVC"),
        (RVC(class_weight={0: -1.0}), "finite weights > 0"),
        (RVC(class_weight={"a": 1.0}), "labels in 'y' are numbers"),
        (RVR(tol=np.nan), "The 'tol' parameter of RVR"),
        (RVR(coef0=10**400), "The 'coef0' parameter of RVR"),
    ],
)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_parameters(estimator, method, message, data):
    with pytest.raises(ValueError, match=message):
        getattr(estimator, method)(*data)
    assert not hasattr(estimator, "n_features_in_")


def test_labels_and_targets_of_the_wrong_kind(data):
    X, y = data
    with pytest.raises(ValueError, match="number of classes has to be greater than one"):
        RVC().fit(X, np.zeros(80))
    with pytest.raises(InvalidInputError, match="labels in 'y' are strings"):
        RVC().fit(X, y).partial_fit(X[:2], ["a", "b"])
    with pytest.raises(ValueError, match="y must be numbers"):
        RVR().fit(X, y.astype(str))
    with pytest.raises(InvalidInputError, match="Rescale y"):
        RVR().fit(X, y * 1e200)


def test_a_model_keeps_its_own_copy(make, data):
    X, y = data
    mine = X.copy()
    model = make(gamma=0.5).fit(mine, y)
    before = values(model, X)
    mine[:] = 0.0
    assert_array_equal(values(model, X), before)
    expected = values(clone(model).fit(np.vstack([X, X[:1]]), np.append(y, y[0])), X)
    assert_array_equal(values(model.partial_fit(X[:1], y[:1]), X), expected)


@pytest.mark.filterwarnings("ignore::supple.OverfitWarning")
def test_cross_validation(make, data):
    X, y = data
    assert np.isfinite(cross_val_score(make(), X, y, cv=3)).all()
    search = GridSearchCV(make(), {"gamma": [0.1, 1.0]}, cv=2).fit(X, y)
    assert search.best_params_["gamma"] in (0.1, 1.0)
