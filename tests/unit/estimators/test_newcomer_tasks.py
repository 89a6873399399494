"""What a new user does in the first hour: 25 tasks, each as short as one would write it."""

import inspect
import pickle
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn.svm
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_moons
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import SGDClassifier, SGDOneClassSVM, SGDRegressor
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from supple import (
    LASVC,
    RVC,
    RVR,
    SVC,
    SVDD,
    SVR,
    BudgetSVC,
    BudgetSVDD,
    NuSVC,
    OneClassSVM,
    SimpleSVC,
    SVIncrementalSVC,
    SVIncrementalSVR,
    compare,
)

CLASSIFIERS = [SVC, NuSVC, SimpleSVC, BudgetSVC, SVIncrementalSVC, LASVC, RVC]
REGRESSORS = [SVR, SVIncrementalSVR, RVR]
DETECTORS = [OneClassSVM, SVDD, BudgetSVDD]


@pytest.fixture(scope="module")
def moons():
    return make_moons(80, noise=0.2, random_state=0)


@pytest.fixture(scope="module")
def flowers():
    X, y = load_iris(return_X_y=True)
    return X[::2], y[::2]


def test_01_fit_and_predict(moons):
    X, y = moons
    assert SVC(C=10).fit(X, y).score(X, y) > 0.9


def test_02_stream_one_by_one(moons):
    X, y = moons
    model = SVC(gamma=1.0)
    for point, label in zip(X, y, strict=True):
        model.partial_fit([point], [label])
    whole = SVC(gamma=1.0).fit(X, y)
    assert_allclose(model.decision_function(X), whole.decision_function(X), atol=1e-7)


def test_03_forget_a_customer(moons):
    X, y = moons
    model = SVC(gamma=1.0).partial_fit(X, y, ids=np.arange(1000, 1080))
    model.forget([1003, 1007])
    without = SVC(gamma=1.0).fit(np.delete(X, [3, 7], 0), np.delete(y, [3, 7]))
    assert 1003 not in model.ids_
    assert_allclose(model.decision_function(X), without.decision_function(X), atol=1e-7)


def test_04_correct_a_label(moons):
    X, y = moons
    wrong = y.copy()
    wrong[5] = 1 - y[5]
    model = SVC(gamma=1.0).fit(X, wrong)
    model.forget(5).partial_fit(X[5:6], y[5:6], ids=[5])
    whole = SVC(gamma=1.0).fit(X, y)
    assert_allclose(model.decision_function(X), whole.decision_function(X), atol=1e-7)


def test_05_grid_search(moons):
    search = GridSearchCV(SVC(), {"C": [0.1, 1, 10], "kernel": ["linear", "rbf"]}, cv=3).fit(*moons)
    assert search.best_params_["kernel"] == "rbf"


def test_06_pipeline_with_scaler(moons):
    X, y = moons
    model = make_pipeline(StandardScaler(), SVC()).fit(X * [1.0, 1000.0], y)
    assert model.score(X * [1.0, 1000.0], y) > 0.9


def test_07_cross_validation(moons):
    X, y = moons
    theirs = cross_val_score(sklearn.svm.SVC(), X, y, cv=5)
    assert_allclose(cross_val_score(SVC(), X, y, cv=5), theirs)


def test_08_sparse_text():
    texts = ["cheap pills", "cheap watches now", "meeting at noon", "notes of the meeting"]
    model = make_pipeline(TfidfVectorizer(), SVC(kernel="linear"))
    model.fit(texts, ["spam", "spam", "ham", "ham"])
    assert model.predict(["cheap cheap", "the meeting"]).tolist() == ["spam", "ham"]


def test_09_data_frames(moons):
    X, y = moons
    frame, labels = pd.DataFrame(X, columns=["east", "north"]), pd.Series(y)
    model = SVC(gamma=1.0).fit(frame[:40], labels[:40]).partial_fit(frame[40:], labels[40:])
    assert model.feature_names_in_.tolist() == ["east", "north"]
    assert model.score(frame, labels) > 0.9


def test_10_save_and_load(moons, tmp_path):
    X, y = moons
    model = SVC(gamma=1.0).fit(X[:60], y[:60])
    joblib.dump(model, tmp_path / "model.joblib")
    for copy in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model.joblib")):
        assert_array_equal(copy.decision_function(X), model.decision_function(X))
        copy.partial_fit(X[60:], y[60:])
        assert len(copy.ids_) == 80
    assert len(model.ids_) == 60


def test_11_several_classes(flowers):
    X, y = flowers
    model = SVC().fit(X, y)
    assert model.decision_function(X).shape == (len(X), 3)
    assert model.score(X, y) > 0.9


def test_12_a_class_that_comes_later(flowers):
    X, y = flowers
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = SVC(gamma=0.5).partial_fit(X[y < 2], names[y < 2])
    model.partial_fit(X[y == 2], names[y == 2])
    assert model.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert model.score(X, names) > 0.9


def test_13_class_weights(moons):
    X, y = moons
    heavy = SVC(class_weight={1: 20.0}).fit(X, y).predict(X).sum()
    assert heavy > SVC().fit(X, y).predict(X).sum()
    assert_allclose(SVC(class_weight="balanced").fit(X, y).class_weight_, [1.0, 1.0])


def test_14_regression():
    x = np.linspace(0, 6, 60)[:, None]
    model = SVR(C=100, epsilon=0.01).fit(x[::2], np.sin(x[::2, 0]))
    model.partial_fit(x[1::2], np.sin(x[1::2, 0]))
    assert_allclose(model.predict(x), np.sin(x[:, 0]), atol=0.05)


@pytest.mark.parametrize("model", [OneClassSVM(nu=0.1), SVDD(C=0.05)])
def test_15_novelty_detection(model, moons):
    X, _ = moons
    model.fit(X)
    assert model.predict([[10.0, 10.0]]).tolist() == [-1]
    assert (model.predict(X) == 1).mean() > 0.7


def test_16_callable_kernel(moons):
    X, y = moons
    model = SVC(kernel=laplacian_kernel).fit(X[:60], y[:60]).partial_fit(X[60:], y[60:])
    theirs = sklearn.svm.SVC(kernel=laplacian_kernel, tol=1e-10).fit(X, y)
    assert_allclose(model.decision_function(X), theirs.decision_function(X), atol=1e-5)


def test_17_precomputed_kernel(moons):
    X, y = moons
    model = SVC(kernel="precomputed").fit(X[:60] @ X[:60].T, y[:60])
    linear = SVC(kernel="linear").fit(X[:60], y[:60])
    assert_array_equal(model.predict(X @ X[:60].T), linear.predict(X))


def test_18_change_C(moons):
    X, y = moons
    model = SVC(gamma=1.0).fit(X, y).retune(C=7.0)
    again = SVC(C=7.0, gamma=1.0).fit(X, y)
    assert model.C == 7.0
    assert_allclose(model.decision_function(X), again.decision_function(X), atol=1e-7)


def test_19_regularization_path(moons):
    X, y = moons
    model = SVC(gamma=1.0).fit(X, y)
    sizes = [len(m.support_) for m in model.regularization_path([0.1, 1.0, 10.0])]
    assert sizes[0] > sizes[-1]
    assert model.C == 1.0


def test_20_small_memory(moons):
    X, y = moons
    budget = BudgetSVC(budget=30, C=10).fit(X, y)
    support = SVIncrementalSVC(C=10, gamma=1.0)
    for start in range(0, 80, 20):
        support.partial_fit(X[start : start + 20], y[start : start + 20])
    assert len(budget.ids_) == 30
    assert len(support.ids_) < 80
    assert min(budget.score(X, y), support.score(X, y)) > 0.85


def test_21_compare(moons):
    X, y = moons
    run = compare({"exact": SVC(), "online": LASVC(random_state=0)}, X, y, sizes=[40, 80])
    assert [(r.n_train, r.estimator) for r in run] == [
        (40, "exact"), (40, "online"), (80, "exact"), (80, "online"),
    ]  # fmt: skip


def test_22_probabilities(moons):
    X, y = moons
    for model in (RVC(), CalibratedClassifierCV(SVC(), ensemble=False)):
        p = model.fit(X, y).predict_proba(X)
        assert_allclose(p.sum(axis=1), 1.0)
        assert (p.argmax(axis=1) == y).mean() > 0.85


def test_23_clone_and_parameters(moons):
    model = SVC(C=3.0).fit(*moons)
    twin = clone(model).set_params(C=4.0)
    assert (model.get_params()["C"], twin.C, repr(twin)) == (3.0, 4.0, "SVC(C=4.0)")
    assert not hasattr(twin, "support_")


def test_24_threads(moons):
    X, y = moons
    model = SVC(n_jobs=2, gamma=1.0).fit(X, y)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: model.decision_function(X), range(8)))
    for answer in answers:
        assert_array_equal(answer, answers[0])


def test_25_how_good_is_it(moons):
    model = SVC(gamma=1.0).fit(*moons).forget([0, 1])
    assert model.exact_
    assert model.kkt_violation_ < 1e-8
    assert (len(model.ids_), model.n_samples_seen_, model.fit_status_) == (78, 80, 0)


# ---------------------------------------------------------------------- calls as in scikit-learn


@pytest.mark.parametrize(
    ("own", "theirs"),
    [(own, SGDClassifier) for own in CLASSIFIERS]
    + [(own, SGDRegressor) for own in REGRESSORS]
    + [(own, SGDOneClassSVM) for own in DETECTORS],
)
def test_partial_fit_takes_arguments_in_the_order_of_scikit_learn(own, theirs):
    def positional(cls):
        arguments = inspect.signature(cls.partial_fit).parameters.values()
        return [(p.name, p.default) for p in arguments if p.kind is p.POSITIONAL_OR_KEYWORD]

    assert positional(own) == positional(theirs)


def test_classes_and_weights_by_position(moons):
    X, y = moons
    weight = np.arange(1.0, 81.0)
    model = SVC(gamma=1.0).partial_fit(X, y, [0, 1], weight)
    whole = SVC(gamma=1.0).fit(X, y, weight)
    assert_allclose(model.decision_function(X), whole.decision_function(X), atol=1e-7)
