"""The same shapes, signs and attributes as scikit-learn's classes."""

import copy
import inspect
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.svm
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_classifier, is_outlier_detector, is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

import supple
from supple import SVC, SVDD, SVR, BudgetSVC, NuSVC, OneClassSVM
from supple.diagnostics import LeaveOneOutCalibrator

TIGHT = {"tol": 1e-10}
PAIRS = [
    (SVC, sklearn.svm.SVC),
    (NuSVC, sklearn.svm.NuSVC),
    (SVR, sklearn.svm.SVR),
    (OneClassSVM, sklearn.svm.OneClassSVM),
]


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_parameters_are_those_of_scikit_learn(ours, theirs):
    mine = inspect.signature(ours).parameters
    other = inspect.signature(theirs).parameters
    # scikit-learn's NuSVC accepts class_weight and ignores it.
    left_out = {"class_weight"} if ours is NuSVC else set()
    without = [name for name in other if name not in left_out]
    own = ("loss", "multi_class", "n_jobs", "memory")
    assert [name for name in mine if name not in own] == without
    for name in without:
        if name != "probability":  # whose default was False before scikit-learn 1.9
            assert mine[name].default == other[name].default
        assert mine[name].kind == other[name].kind


@pytest.mark.parametrize("ours", [SVC, NuSVC])
def test_random_state_is_ignored(ours, data):
    X, y = data
    model = ours(gamma=0.1, random_state=0).fit(X, y)
    same = ours(gamma=0.1, random_state=np.random.RandomState(7)).fit(X, y)
    assert_array_equal(model.decision_function(X), same.decision_function(X))
    model.set_params(random_state=3).forget(0)  # may change at any time
    with pytest.raises(ValueError, match="'random_state' parameter"):
        ours(random_state="seed").fit(X, y)


@pytest.mark.parametrize("probability", [True, False])
@pytest.mark.parametrize("ours", [SVC, NuSVC])
def test_probability_is_deprecated(ours, probability, data):
    X, y = data
    model = ours(probability=probability)
    with pytest.warns(FutureWarning, match=r"deprecated.*LeaveOneOutCalibrator\(.*SVC\(\)"):
        model.fit(X, y)
    assert not hasattr(model, "predict_proba")
    assert_array_equal(model.decision_function(X), ours().fit(X, y).decision_function(X))
    calibrated = LeaveOneOutCalibrator(ours()).fit(X, y)  # what it points to
    assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize("ours", [SVC, SVR])
def test_cost_must_be_finite(ours, data):
    with pytest.raises(ValueError, match=r"'C' parameter.*range \(0.0, inf\).*Got inf"):
        ours(C=np.inf).fit(*data)


def test_early_end_is_a_convergence_warning(data):
    X, y = data
    words = r"Solver terminated early \(max_iter=1\).  Consider pre-processing your data with "
    with pytest.warns(ConvergenceWarning, match=words) as caught:
        SVC(max_iter=1, C=100.0).fit(X, y)
    assert issubclass(caught[0].category, supple.NotConvergedWarning)
    assert issubclass(supple.NotConvergedWarning, supple.errors.NotConvergedWarning)


def test_sparse_precomputed_is_refused_as_in_scikit_learn(data):
    X, y = data
    with pytest.raises(TypeError, match="Sparse precomputed kernels are not supported"):
        SVC(kernel="precomputed").fit(sp.csr_array(X @ X.T), y)


# LIBSVM keeps kernel values in single precision, which limits what can be compared.
def compare(mine, other, X, atol=2e-5):
    if hasattr(other, "decision_function"):
        assert_allclose(mine.decision_function(X), other.decision_function(X), atol=atol)
    assert_allclose(mine.intercept_, other.intercept_, atol=atol)
    # A support vector of scikit-learn may have a coefficient that is zero but for rounding.
    full = np.zeros((other.dual_coef_.shape[0], mine.shape_fit_[0]))
    full[:, other.support_] = other.dual_coef_
    got = np.zeros_like(full)
    got[:, mine.support_] = mine.dual_coef_
    assert_allclose(got, full, atol=10 * atol)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("shape", ["ovr", "ovo"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("ours", "theirs"), PAIRS[:2])
def test_classifier(ours, theirs, n_classes, shape, kernel, iris):
    X, y = iris
    X, y = X[y < n_classes], y[y < n_classes]
    params = {"kernel": kernel, "decision_function_shape": shape, "degree": 2}
    other = theirs(**params, **TIGHT).fit(X, y)
    mine = ours(**params).fit(X, y)
    compare(mine, other, X)
    assert_array_equal(mine.predict(X), other.predict(X))
    assert mine.decision_function(X).shape == other.decision_function(X).shape
    assert_array_equal(mine.classes_, other.classes_)
    assert mine.dual_coef_.shape == (n_classes - 1, len(mine.support_))
    assert mine.n_support_.sum() == len(mine.support_)
    assert_array_equal(mine.support_vectors_, X[mine.support_])
    assert_array_equal(y[mine.support_], np.repeat(mine.classes_, mine.n_support_))
    assert mine.shape_fit_ == other.shape_fit_
    assert mine.n_iter_.shape == other.n_iter_.shape
    assert_array_equal(mine.class_weight_, other.class_weight_)
    if kernel == "linear":
        assert_allclose(mine.coef_, other.coef_, atol=1e-4)
        assert not mine.coef_.flags.writeable
    else:
        assert not hasattr(mine, "coef_")


def test_order_of_appearance_does_not_change_signs_or_columns(iris):
    X, y = iris
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = SVC(gamma=0.5)
    for part in (y == 2, y == 0, y == 1):
        model.partial_fit(X[part], names[part])
    whole = SVC(gamma=0.5).fit(X, names)
    assert_array_equal(model.classes_, whole.classes_)
    for shape in ("ovr", "ovo"):
        model.set_params(decision_function_shape=shape)
        whole.set_params(decision_function_shape=shape)
        assert_allclose(model.decision_function(X), whole.decision_function(X), atol=1e-7)
    assert_allclose(model.intercept_, whole.intercept_, atol=1e-7)
    assert_array_equal(model.n_support_, whole.n_support_)
    assert_array_equal(model.predict(X), whole.predict(X))


def test_two_classes_in_reverse_order_of_appearance(data):
    X, y = data
    model = SVC(kernel="linear").partial_fit(X[y == 1], y[y == 1]).partial_fit(X[y == 0], y[y == 0])
    other = sklearn.svm.SVC(kernel="linear", **TIGHT).fit(X, y)
    assert_allclose(model.decision_function(X), other.decision_function(X), atol=1e-6)
    assert_allclose(model.coef_, other.coef_, atol=1e-6)


def test_one_vs_rest_machines(iris):
    X, y = iris
    model = SVC(multi_class="ovr", kernel="linear").fit(X, y)
    decision = model.decision_function(X)
    assert decision.shape == (150, 3)
    assert model.dual_coef_.shape == (3, len(model.support_))
    assert model.coef_.shape == (3, 4)
    for i in range(3):
        other = sklearn.svm.SVC(kernel="linear", **TIGHT).fit(X, y == i)
        assert_allclose(decision[:, i], other.decision_function(X), atol=1e-4)
    assert_array_equal(model.predict(X), model.classes_[np.argmax(decision, axis=1)])
    two = SVC(multi_class="ovr").fit(X[y < 2], y[y < 2])
    same = SVC().fit(X[y < 2], y[y < 2])
    assert_allclose(two.decision_function(X), same.decision_function(X), atol=1e-9)


def test_break_ties(iris):
    X, y = iris
    model = SVC(break_ties=True).fit(X, y)
    assert_array_equal(model.predict(X), np.argmax(model.decision_function(X), axis=1))
    model.set_params(decision_function_shape="ovo")
    with pytest.raises(ValueError, match="break_ties must be False"):
        model.predict(X)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_regressor(kernel, data):
    X, _ = data
    y = np.sin(X[:, 0]) + X[:, 1]
    other = sklearn.svm.SVR(kernel=kernel, **TIGHT).fit(X, y)
    mine = SVR(kernel=kernel).fit(X, y)
    assert_allclose(mine.predict(X), other.predict(X), atol=2e-5)
    compare(mine, other, X)
    assert mine.n_support_.shape == other.n_support_.shape
    assert isinstance(mine.n_iter_, int)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_one_class(kernel, data):
    X, _ = data
    X = X + 2
    other = sklearn.svm.OneClassSVM(kernel=kernel, nu=0.33, **TIGHT).fit(X)
    mine = OneClassSVM(kernel=kernel, nu=0.33).fit(X)
    compare(mine, other, X)
    assert_allclose(mine.offset_, other.offset_, atol=1e-6)
    assert mine.offset_.shape == other.offset_.shape
    grid = np.random.default_rng(1).normal(size=(50, 3)) * 2 + 2
    assert_allclose(mine.score_samples(grid), other.score_samples(grid), atol=1e-6)
    assert_array_equal(mine.predict(grid), other.predict(grid))


def test_svdd_is_a_ball():
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = SVDD(C=0.1, kernel="linear").fit(X)
    (centre,) = model.coef_ / model.dual_coef_.sum()
    square = ((X - centre) ** 2).sum(axis=1)
    assert_allclose(model.score_samples(X), -square, atol=1e-7)
    assert_allclose(model.decision_function(X), model.radius_**2 - square, atol=1e-7)
    assert model.offset_ == pytest.approx(-(model.radius_**2))
    inside = model.predict(X)
    assert_array_equal(inside, np.where(model.decision_function(X) >= 0, 1, -1))
    assert 0 < (inside == -1).sum() <= 10
    assert (SVDD(kernel="linear", C=1.0).fit(X).predict(X) == 1).all()


def test_svdd_with_rbf_is_the_one_class_machine(data):
    X, _ = data
    ball = SVDD(C=1 / (0.4 * len(X)), gamma=0.3).fit(X)
    plane = OneClassSVM(nu=0.4, gamma=0.3).fit(X)
    assert_allclose(
        ball.decision_function(X) * 0.4 * len(X) / 2, plane.decision_function(X), atol=1e-7
    )


@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_array])
def test_sparse(container, make, data):
    X, y = data
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    dense = make(kernel="linear").fit(X, y)
    model = make(kernel="linear").fit(container(X), y)
    assert_array_equal(model.support_, dense.support_)
    assert sp.issparse(model.support_vectors_)
    assert sp.issparse(model.dual_coef_)
    assert_allclose(model.coef_.toarray(), dense.coef_, atol=1e-8)
    assert_allclose(model.predict(container(X)), dense.predict(X), atol=1e-8)
    # Either kind of query works on either kind of model.
    assert_allclose(model.predict(X), dense.predict(container(X)), atol=1e-8)


def test_precomputed(make, data):
    X, y = data
    K = X @ X.T
    # The decision of SVDD needs k(z, z) of the queries; a budget forgets, which is an update.
    if isinstance(make(), SVDD | BudgetSVC):
        with pytest.raises(ValueError, match="precomputed"):
            make(kernel="precomputed").fit(K, y)
        return
    model = make(kernel="precomputed").fit(K, y)
    direct = make(kernel="linear").fit(X, y)
    assert_allclose(model.predict(K), direct.predict(X), atol=1e-7)
    assert_array_equal(model.support_, direct.support_)
    assert model.support_vectors_.shape == (0, 0)
    assert get_tags(model).input_tags.pairwise
    assert not get_tags(model).input_tags.sparse


def test_precomputed_in_cross_validation(data):
    X, y = data
    direct = cross_val_score(SVC(kernel="linear"), X, y, cv=4)
    assert_array_equal(cross_val_score(SVC(kernel="precomputed"), X @ X.T, y, cv=4), direct)


def test_callable(make, data):
    X, y = data
    model = make(kernel=lambda A, B: A @ B.T).fit(X, y)
    direct = make(kernel="linear").fit(X, y)
    assert_allclose(model.predict(X), direct.predict(X), atol=1e-7)


@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix])
def test_callable_that_returns_a_sparse_matrix(container, make, data):
    X, y = data
    model = make(kernel=lambda A, B: A @ B.T).fit(container(X), y)
    direct = make(kernel="linear").fit(X, y)
    assert_allclose(model.predict(container(X)), direct.predict(X), atol=1e-7)
    model.partial_fit(container(X[:3] + 0.1), y[:3])


def letters(A, B):
    """Count common letters: a linear kernel in the counts of "a" and "b"."""
    counts = [np.array([[word.count(c) for c in "ab"] for word in words]) for words in (A, B)]
    return counts[0] @ counts[1].T


def values(model, X):
    """Evaluate the decision function; with features that are integers it may be zero."""
    return getattr(model, "decision_function", model.predict)(X)


@pytest.mark.parametrize("make_words", [list, tuple, np.array, pd.Series])
def test_callable_on_objects(make_words, make, data):
    _, y = data
    rng = np.random.default_rng(0)
    words = ["a" * rng.poisson(3 + 3 * label) + "b" * rng.poisson(3) for label in y]
    X = letters(words, ["a", "b"]).astype(float)
    model = make(kernel=letters).fit(make_words(words[:30]), y[:30])
    direct = make(kernel="linear").fit(X[:30], y[:30])
    assert model.shape_fit_ == (30,)
    assert not hasattr(model, "n_features_in_")
    assert model.support_vectors_.tolist() == [words[i] for i in model.support_]
    assert_allclose(values(model, make_words(words)), values(direct, X), atol=1e-7)
    for each, points in ((model, make_words(words[30:])), (direct, X[30:])):
        each.partial_fit(points, y[30:]).forget([3, 35])
    assert_allclose(values(model, make_words(words)), values(direct, X), atol=1e-7)
    with pytest.raises(ValueError, match="sequence of objects like those that the model holds"):
        model.predict(X)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        SVC(kernel=letters).fit(make_words(words), y[:30])


def test_objects_are_for_callable_kernels_only(data):
    _, y = data
    with pytest.raises(ValueError, match="could not convert string to float"):
        SVC().fit(["a"] * 40, y)
    model = SVC(kernel=lambda A, B: np.asarray(A @ B.T)).fit(data[0], y)
    with pytest.raises(ValueError, match="could not convert string to float"):
        model.predict(["a"])


def test_sequences_of_different_lengths(data):
    def overlap(A, B):
        return np.array([[float(len(set(a) & set(b))) for b in B] for a in A])

    sequences = [[1, 2], [2, 3, 4], [1], [5, 6, 7]] * 3
    model = SVC(kernel=overlap).fit(sequences, [0, 1, 0, 1] * 3)
    assert_array_equal(model.predict([[1, 2], [5, 6]]), [0, 1])
    arrays = [np.ones((2, 3)), np.zeros((2, 4))] * 3
    sums = SVC(kernel=lambda A, B: np.array([[a.sum() * b.sum() for b in B] for a in A]))
    assert_array_equal(sums.fit(arrays, [0, 1] * 3).predict(arrays), [0, 1] * 3)


def test_plane_through_the_origin_has_no_outliers():
    # The origin lies amid the points: w = 0, rho = 0, and decision values are rounding errors.
    X = np.random.default_rng(0).normal(scale=10.0, size=(80, 2))
    for points in (X, sp.csr_array(X)):
        model = OneClassSVM(kernel="linear").fit(points)
        assert_array_equal(model.decision_function(X), np.zeros(80))
        assert_array_equal(model.predict(X), np.ones(80))


def test_gamma_scale_counts_weights(make, data):
    X, y = data
    weight = np.arange(len(X)) % 3
    model = make().fit(X, y, sample_weight=weight)
    repeated = make().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert model._gamma == pytest.approx(repeated._gamma, rel=1e-12)
    sparse = make().fit(sp.csr_array(X), y, sample_weight=weight)
    assert sparse._gamma == pytest.approx(model._gamma, rel=1e-12)
    assert make(gamma="auto").fit(X, y)._gamma == pytest.approx(1 / 3)


def test_balanced_class_weight(iris):
    X, y = iris
    X, y = X[30:], y[30:]
    mine = SVC(class_weight="balanced").fit(X, y)
    other = sklearn.svm.SVC(class_weight="balanced", **TIGHT).fit(X, y)
    assert_allclose(mine.class_weight_, other.class_weight_)
    assert_allclose(mine.decision_function(X), other.decision_function(X), atol=1e-6)


def test_pipeline_grid_search_clone_pickle(data):
    X, y = data
    pipeline = make_pipeline(StandardScaler(), SVC(gamma=0.5))
    search = GridSearchCV(pipeline, {"svc__C": [0.1, 1.0], "svc__kernel": ["rbf", "linear"]}, cv=2)
    search.fit(X, y)
    model = search.best_estimator_[-1]
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert_array_equal(other.decision_function(X), model.decision_function(X))
        other.forget(other.ids_[:5])
        assert len(other.ids_) == len(model.ids_) - 5
    assert not hasattr(clone(model), "classes_")


def test_kinds_of_estimator():
    assert is_classifier(SVC())
    assert is_classifier(NuSVC())
    assert is_regressor(SVR())
    assert is_outlier_detector(OneClassSVM())
    assert is_outlier_detector(SVDD())


def test_data_frames(make, data):
    X, y = data
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = make().fit(frame.iloc[:30], y[:30])
    assert_array_equal(model.feature_names_in_, ["a", "b", "c"])
    model.partial_fit(frame.iloc[30:], y[30:])
    assert_allclose(model.predict(frame), make(gamma=model._gamma).fit(X, y).predict(X), atol=1e-7)
    with pytest.raises(ValueError, match="feature names"):
        model.partial_fit(frame.rename(columns={"a": "z"}), y)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)


def test_public_names():
    for name in supple.__all__:
        assert hasattr(supple, name)
    assert supple.__version__
