"""Mistakes of a new user: the text names parameter, value and remedy, and the model stays.

Each mistake is a call on a fitted model and three patterns that the text must contain: what is
wrong (the name of the argument or parameter), its value, and what to do about it.
"""

import pickle
import re
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError

from supple import (
    SVC,
    SVDD,
    SVR,
    BudgetSVC,
    InfeasibleError,
    InvalidInputError,
    NuSVC,
    OneClassSVM,
    PrecomputedUpdateError,
    SVIncrementalSVC,
    compare,
)
from supple.problems import SVDD as SVDDProblem
from supple.problems import NuSVC as NuSVCProblem
from supple.problems import OneClass

RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 2))
Y = np.arange(20) % 2
X[Y == 1] += 1.0
LABELS = np.array(["no", "yes"])[Y]
FEW = np.where(np.arange(20) < 17, 0, 1)  # 17 of one class, 3 of the other


class Mistake(NamedTuple):
    call: object  # what is called with the fitted model
    name: str
    value: str
    remedy: str
    start: object = SVC(gamma=0.5)  # the model before, fitted to X and Y
    error: type = ValueError


def with_value(value):
    wrong = X.copy()
    wrong[3, 1] = value
    return wrong


MISTAKES = {
    # points
    "NaN": Mistake(lambda m: m.fit(with_value(np.nan), Y), "X", "NaN .*row 3, column 1", "impute"),
    "inf": Mistake(lambda m: m.predict(with_value(np.inf)), "X", "infinity .*row 3", "clip"),
    "one row": Mistake(
        lambda m: m.predict(X[0]), "X must have", r"Got \(2,\)", r"reshape\(1, -1\)"
    ),
    "image": Mistake(lambda m: m.fit(X[None], Y), "X must", r"\(1, 20, 2\)", r"X\.reshape\(len"),
    "complex": Mistake(
        lambda m: m.predict(X + 1j), "X must be real", r"1\.j", "imaginary parts as"
    ),
    "text": Mistake(lambda m: m.fit([["a", "b"]] * 20, Y), "X must be num", "'a'", "OneHotEncoder"),
    "category": Mistake(
        lambda m: m.fit(pd.DataFrame({"size": [1.0] * 20, "hue": ["red"] * 20}), Y),
        "X must be numbers",
        "'red'",
        "Encode",
    ),
    "ragged": Mistake(lambda m: m.fit([[1, 2], [3]], [0, 1]), "X must", "inhomogen", "same length"),
    "empty batch": Mistake(
        lambda m: m.partial_fit(X[:0], Y[:0]), "X has no", r"0 samp", "leave out"
    ),
    "no features": Mistake(lambda m: m.fit(X[:, :0], Y), "X has no columns", "0 feat", "Give one"),
    "other features": Mistake(
        lambda m: m.predict(X[:, :1]), "X has 1", "expecting 2", "Give X the 2"
    ),
    "more features": Mistake(
        lambda m: m.partial_fit(np.ones((2, 3)), [0, 1]), "X has 3", "expecting 2", "call fit to"
    ),
    "columns in another order": Mistake(
        lambda m: m.predict(pd.DataFrame(X, columns=["b", "a"])),
        "feature names",
        "order",
        "Give X the columns a, b",
        SVC().fit(pd.DataFrame(X, columns=["a", "b"]), Y),
    ),
    "huge numbers": Mistake(
        lambda m: m.partial_fit([[1e200, 1.0]], [0]), "norms of the examples", "inf", "Scale the"
    ),
    "integers beyond float64": Mistake(
        lambda m: m.predict([[2**53 + 1, 0]]), "Input X", "9007199254740993", "Rescale"
    ),
    "sparse, with NaN": Mistake(
        lambda m: m.partial_fit(sp.csr_array(with_value(np.nan)), Y), "Input X", "NaN", "impute"
    ),
    "finer than the model": Mistake(
        lambda m: m.partial_fit(X, Y),
        "X has",
        "float64",
        "Convert X",
        SVC().fit(X.astype(np.float32), Y),
    ),
    # targets
    "y too short": Mistake(
        lambda m: m.fit(X, Y[1:]), r"y must have shape \(20,\)", "19", "one target"
    ),
    "y of two columns": Mistake(
        lambda m: m.fit(X, np.c_[Y, Y]), "y must", r"\(20, 2\)", "one target for"
    ),
    "no y": Mistake(lambda m: m.fit(X, None), "y to be passed", "None", r"SVC\.fit\(X, y\)"),
    "y unknown": Mistake(
        lambda m: m.fit(X, np.where(Y, np.nan, 0.0)), "y", "NaN", "drop their rows"
    ),
    "numbers for a classifier": Mistake(lambda m: m.fit(X, X[:, 0]), "y must", "continuous", "SVR"),
    "strings for a regressor": Mistake(
        lambda m: m.partial_fit(X, LABELS), "y must be numbers", "<U3", "Convert", SVR()
    ),
    "one class": Mistake(
        lambda m: m.fit(X, LABELS[Y == 1].repeat(2)), "in y", "'yes'", "another class"
    ),
    "other labels": Mistake(
        lambda m: m.partial_fit(X, LABELS), "labels in 'y'", "strings, .*numbers", "one type"
    ),
    "mixed labels": Mistake(
        lambda m: m.fit(X[:2], np.array(["a", 1], dtype=object)),
        "label",
        "'int', 'str'",
        "Convert",
    ),
    "undeclared class": Mistake(
        lambda m: m.partial_fit(X[:1], [2]),
        "y contains",
        r"\[2\]",
        "List every class in 'classes'",
        SVC(gamma=0.5).partial_fit(X, Y, classes=[0, 1]),
    ),
    "too few classes": Mistake(
        lambda m: m.partial_fit(X, Y, [0, 2]), "'classes' is", r"\[0, 2\].*\[1\]", "List these"
    ),
    # weights
    "negative weight": Mistake(lambda m: m.fit(X, Y, -Y), "'sample_weight'", "-1.0", "Use 0"),
    "weights too short": Mistake(
        lambda m: m.fit(X, Y, [1, 2]), "'sample_weight'", r"shape \(2,\)", "one weight per"
    ),
    "weights of text": Mistake(lambda m: m.reweight(0, "2"), "'sample_weight'", "<U1", "Give one"),
    "no weight": Mistake(lambda m: m.fit(X, Y, 0 * Y), "weights", "20 examples", "positive weight"),
    # ids
    "unknown id": Mistake(lambda m: m.forget([3, 77]), "ids", "77", "'ids_'"),
    "id taken": Mistake(lambda m: m.partial_fit(X[:1], [0], ids=[3]), "ids", "3", "other ids"),
    "id twice": Mistake(lambda m: m.forget([1, 1]), "ids", "1", "must not repeat"),
    "too few ids": Mistake(
        lambda m: m.partial_fit(X, Y, ids=[50]), "'ids'", "Got 1 ", "one id per row"
    ),
    # parameters
    "C = 0": Mistake(lambda m: m.set_params(C=0).fit(X, Y), "'C'", "Got 0 ", "default, C=1.0"),
    "C = -1": Mistake(lambda m: m.retune(C=np.float64(-1)), "'C'", r"Got -1\.0 ", "default, C=1.0"),
    "C as text": Mistake(
        lambda m: m.set_params(C="1").fit(X, Y), "'C'", "Got '1'", "default, C=1.0"
    ),
    "gamma < 0": Mistake(lambda m: m.retune(gamma=-0.5), "'gamma'", r"-0\.5", "gamma='scale'"),
    "gamma in words": Mistake(
        lambda m: m.set_params(gamma="big").fit(X, Y), "'gamma'", "'big'", "gamma='scale'"
    ),
    "unknown kernel": Mistake(
        lambda m: m.set_params(kernel="cubic").fit(X, Y), "'kernel'", "'cubic'", "kernel='rbf'"
    ),
    "degree < 0": Mistake(lambda m: m.retune(degree=-1), "'degree'", "Got -1 ", "degree=3"),
    "epsilon < 0": Mistake(
        lambda m: m.retune(epsilon=-1), "'epsilon'", "Got -1 ", r"epsilon=0\.1", SVR()
    ),
    "cache_size = 0": Mistake(
        lambda m: m.set_params(cache_size=0).fit(X, Y), "'cache_size'", "Got 0 ", "cache_size=200"
    ),
    "n_jobs = 0": Mistake(
        lambda m: m.set_params(n_jobs=0).partial_fit(X, Y), "'n_jobs'", "Got 0 ", "-1 for all"
    ),
    "max_iter = -5": Mistake(
        lambda m: m.set_params(max_iter=-5).fit(X, Y), "'max_iter'", "-5", "max_iter=-1"
    ),
    "budget = 1": Mistake(
        lambda m: m.set_params(budget=1).fit(X, Y), "'budget'", "Got 1 ", "budget=500", BudgetSVC()
    ),
    "nu = 2": Mistake(lambda m: m.retune(nu=2), "'nu'", "Got 2 ", r"nu=0\.5", OneClassSVM()),
    "machines that do not fit": Mistake(
        lambda m: m.set_params(multi_class="ovr", decision_function_shape="ovo").fit(X, Y),
        "'decision_function_shape'",
        "'ovo'",
        "Change one of the two",
    ),
    "ties between pairs": Mistake(
        lambda m: m.set_params(break_ties=True, decision_function_shape="ovo").predict(X),
        "break_ties must be False",
        "True",
        r"set_params\(break_ties=False\)",
    ),
    "negative class weight": Mistake(
        lambda m: m.retune(class_weight={np.int64(0): np.float64(-1)}),
        "'class_weight'",
        r"-1\.0 for class 0 ",
        "Give a number",
    ),
    "weights of no class": Mistake(
        lambda m: m.set_params(class_weight={7: 1.0}).fit(X, Y),
        "'class_weight'",
        r"\[7\]",
        "Name",
    ),
    "balanced stream": Mistake(
        lambda m: m.partial_fit(X, Y),
        "class_weight",
        "'balanced'",
        "as a dict",
        SVC(gamma=0.5, class_weight="balanced"),
    ),
    "misspelled parameter": Mistake(
        lambda m: m.set_params(gama=1.0), "'gama'", "SVC", "Valid parameters are"
    ),
    "retune of n_jobs": Mistake(
        lambda m: m.retune(n_jobs=2), "retune of SVC takes C", "n_jobs=2", r"set_params\(n_jobs=2\)"
    ),
    "retune of the kernel": Mistake(
        lambda m: m.retune(kernel="linear"), "retune of SVC", "kernel='linear'", "then fit"
    ),
    "retune of nothing known": Mistake(
        lambda m: m.retune(foo=2), "retune of SVC", "foo=2", r"get_params\(\) lists"
    ),
    "C set and not applied": Mistake(
        lambda m: m.set_params(C=np.float64(3)).partial_fit(X, Y),
        "'C'",
        r"is 3\.0, .* 1\.0\.",
        r"retune\(C=3\.0\).*set_params\(C=1\.0\)",
    ),
    "bad C set": Mistake(
        lambda m: m.set_params(C=-1).forget(0), "'C'", "Got -1 ", r"set_params\(C=1\.0\)"
    ),
    "balance set": Mistake(
        lambda m: m.set_params(class_weight="balanced").forget(0),
        "'class_weight'",
        "'balanced'",
        "call fit to start again",
    ),
    "path with a bad C": Mistake(
        lambda m: m.regularization_path([1.0, -1.0]), "'C'", r"-1\.0", r"default, C=1\.0"
    ),
    # problems without solution
    "nu too large": Mistake(
        lambda m: m.fit(X, FEW), "nu=0.9", "exceeds 0.3", "Lower nu", NuSVC(nu=0.9), InfeasibleError
    ),
    "nu moved too far": Mistake(
        lambda m: m.retune(nu=0.9),
        "nu=0.9",
        "0.3",
        "Lower nu",
        NuSVC(nu=0.2).fit(X, FEW),
        InfeasibleError,
    ),
    "SVDD's C too small": Mistake(
        lambda m: m.retune(C=0.01),
        r"C=0\.01",
        r"is 0\.2, below 1",
        "Raise C",
        SVDD(C=0.2),
        InfeasibleError,
    ),
    # kernels
    "kernel of one argument": Mistake(
        lambda m: m.set_params(kernel=lambda point: 1.0).fit(X, Y),
        "'kernel' function",
        "takes 1 positional",
        r"\(n, d\), \(m, d\) -> \(n, m\)",
    ),
    "kernel of two points": Mistake(
        lambda m: m.set_params(kernel=lambda a, b: float(np.exp(-np.sum((a - b) ** 2)))).fit(X, Y),
        "'kernel' function",
        r"Got shape \(\)",
        r"\(n, d\), \(m, d\) -> \(n, m\)",
    ),
    "kernel not transposed": Mistake(
        lambda m: m.set_params(kernel=np.dot).fit(X, Y),
        "'kernel' function",
        "not aligned",
        r"\(n, d\), \(m, d\) -> \(n, m\).*A @ B\.T",
    ),
    "kernel of words": Mistake(
        lambda m: m.set_params(kernel=lambda A, B: "near").fit(X, Y),
        "'kernel' function",
        "'near'",
        r"\(n, d\), \(m, d\) -> \(n, m\)",
    ),
    "kernel with NaN": Mistake(
        lambda m: m.set_params(kernel=lambda A, B: np.full((len(A), len(B)), np.nan)).fit(X, Y),
        "'kernel' function",
        "NaN",
        "Check the function",
    ),
    "precomputed, not square": Mistake(
        lambda m: m.set_params(kernel="precomputed").fit(X, Y), "matrix", "20x2", r"kernel\(X, X\)"
    ),
    "precomputed, sparse": Mistake(
        lambda m: m.set_params(kernel="precomputed").fit(sp.csr_array(X @ X.T), Y),
        "precomputed",
        "Sparse",
        r"X\.toarray\(\)",
        error=TypeError,
    ),
    "coef_ of a curved model": Mistake(
        lambda m: m.coef_, "coef_", "kernel='rbf'", "Fit with kernel='linear'", error=AttributeError
    ),
    "precomputed, updated": Mistake(
        lambda m: m.partial_fit(X @ X.T, Y),
        "partial_fit",
        "precomputed",
        "kernel as a callable",
        SVC(kernel="precomputed").fit(X @ X.T, Y),
        PrecomputedUpdateError,
    ),
    # calls
    "misspelled argument": Mistake(
        lambda m: m.partial_fit(X, Y, weight=Y),
        r"SVC\.partial_fit\(\)",
        "'weight'",
        r"SVC\.partial_fit\(X, y, classes=None, sample_weight=None, \*, ids=None, groups=None, "
        r"timestamps=None\)",
        error=TypeError,
    ),
    "y left out": Mistake(
        lambda m: m.fit(X),
        r"BudgetSVC\.fit\(\)",
        "'y'",
        r"BudgetSVC\.fit\(X, y, ",
        BudgetSVC(),
        error=TypeError,
    ),
    "ids left out": Mistake(
        lambda m: m.refine(X, Y),
        r"SVIncrementalSVC\.refine\(\)",
        "'ids'",
        r"refine\(X, y, \*, ids",
        SVIncrementalSVC(gamma=0.5),
        error=TypeError,
    ),
}


def fitted(start):
    model = pickle.loads(pickle.dumps(start))  # a fitted one stays fitted
    if hasattr(model, "ids_"):
        return model
    return model.fit(X, Y)


def says(model):
    """Return what the model knows: its answers, its examples and its features."""
    query = X @ X.T if model.shape_fit_[1] == 20 else X
    if hasattr(model, "feature_names_in_"):
        query = pd.DataFrame(X, columns=model.feature_names_in_)
    answer = model.predict(query) if isinstance(model, SVR) else model.decision_function(query)
    return answer, model.ids_, model.n_samples_seen_, model.n_features_in_, model.dual_objective_


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_explained_and_the_model_stays(name):
    mistake = MISTAKES[name]
    model = fitted(mistake.start)
    before, params = says(model), model.get_params(deep=False)
    with pytest.raises(mistake.error) as caught:
        mistake.call(model)
    text = str(caught.value)
    for pattern in (mistake.name, mistake.value, mistake.remedy):
        assert re.search(pattern, text, re.DOTALL), (pattern, text)
    check_style(text)
    model.set_params(**params)
    for was, now in zip(before, says(model), strict=True):
        assert_array_equal(now, was)


def check_style(text):
    assert re.search(r"[^.]\.$", text), text
    assert not re.search(r"np\.\w+\(|Base[A-Z]\w+", text), text


def test_there_are_forty_mistakes_at_least():
    assert len(MISTAKES) >= 40


UNFITTED = {
    "predict first": (lambda m: m.predict(X), NotFittedError, "SVC instance", "Call 'fit'"),
    "forget first": (lambda m: m.forget(0), NotFittedError, "SVC instance", "Call 'fit'"),
    "retune first": (lambda m: m.retune(C=2), NotFittedError, "SVC instance", "Call 'fit'"),
    "unknown parameter": (lambda m: SVC(gama=1), TypeError, "SVC.*'gama'", r"gamma='scale'"),
    "inherited one": (lambda m: BudgetSVC(budgt=9), TypeError, "BudgetSVC.*'budgt'", "budget=500"),
    "C by position": (lambda m: SVC(10), TypeError, r"SVC\(\) takes 1 pos", r"SVC\(\*, C=1\.0"),
    "SVDD's C too small": (
        lambda m: SVDD(C=0.01).fit(X),
        InfeasibleError,
        r"SVDD .*C=0\.01 .*0\.2, below 1",
        "Raise C",
    ),
    "balanced at first": (
        lambda m: SVC(class_weight="balanced").partial_fit(X, Y),
        InvalidInputError,
        "class_weight='balanced'",
        "as a dict",
    ),
    "decision of one class": (
        lambda m: m.partial_fit(X[:2], [0, 0]).decision_function(X),
        InfeasibleError,
        "SVC .* only class 0 has",
        "predict gives that one",
    ),
    "decision of one name": (
        lambda m: m.partial_fit(X[:2], ["a", "a"]).decision_function(X),
        InfeasibleError,
        "SVC .* only class 'a' has",
        "predict gives that one",
    ),
    "comparison of one class": (
        lambda m: compare({"m": m}, X, 0 * Y),
        InvalidInputError,
        "only 0 in y",
        "another class",
    ),
    "features too large": (
        lambda m: m.fit(X * 1e200, Y),
        InvalidInputError,
        "gamma='scale'",
        "Standardise X",
    ),
}


@pytest.mark.parametrize("name", UNFITTED)
def test_a_mistake_before_there_is_a_model(name):
    call, error, what, remedy = UNFITTED[name]
    with pytest.raises(error) as caught:
        call(SVC())
    text = str(caught.value)
    for pattern in (what, remedy):
        assert re.search(pattern, text), (pattern, text)
    check_style(text)


def test_an_obstacle_is_a_sentence():
    one, none = np.ones(2), np.zeros(2)
    for problem, weight in (
        (NuSVCProblem(0.5), one),
        (OneClass(0.5), none),
        (SVDDProblem(0.1), one),
    ):
        check_style(problem.obstacle(one, weight))
    check_style(SVDDProblem(0.0, nu=0.5).obstacle(one, none))
