"""The kernels of the core: one table, values to a few roundings, every machine takes them."""

import ast
import pickle
from pathlib import Path

import numpy as np
import pytest
import sklearn.svm
from scipy import sparse
from sklearn.gaussian_process.kernels import Matern
from sklearn.metrics.pairwise import laplacian_kernel

import supple
from supple._core import kernel_names
from supple.gram import gram_for
from supple.kernels import KERNELS, Poly, Sigmoid, squared_norms

SOURCES = Path(__file__).parents[2] / "src"
MOST_PLACES = 5
NEW = ("laplacian", "matern32", "matern52")
FORMS = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "csr": sparse.csr_matrix,
}


def rng():
    return np.random.default_rng(0)


def holes(X, share=0.7):
    return np.where(rng().random(X.shape) < share, 0.0, X)


def twins(X):
    X[1::2] = X[::2]
    return X


DATA = {
    "plain": lambda: rng().normal(size=(90, 6)),
    "one feature": lambda: rng().normal(size=(40, 1)),
    "300 features": lambda: rng().normal(size=(50, 300)) / 10,
    "sparse": lambda: holes(rng().normal(size=(90, 40))),
    "far from the origin": lambda: rng().normal(size=(90, 3)) + 1e6,
    "mixed scales": lambda: rng().normal(size=(90, 6)) * 10.0 ** np.arange(-6, 6, 2),
    "near twins": lambda: 1.0 + 1e-5 * rng().normal(size=(60, 4)),
    "twins": lambda: twins(rng().normal(size=(60, 5)) + 3.0),
    "tiny": lambda: 1e-9 * rng().normal(size=(60, 4)),
}


def kernel_for(name, X):
    """A kernel whose values on X are neither all alike nor all extreme."""
    X = X.toarray() if sparse.issparse(X) else X
    spread = float(np.sqrt(X.astype(float).var(axis=0).sum()))
    gamma = 1.0 / (np.sqrt(X.shape[1]) * spread if name == "laplacian" else spread**2)
    if issubclass(KERNELS[name], Poly | Sigmoid):
        gamma = 0.1 / float(squared_norms(X).max())
    return KERNELS[name].of(gamma=gamma, degree=3, coef0=0.3)


def gram_of(kernel, X):
    gram = gram_for(kernel, X, 1 << 20)
    gram.append(X)
    return gram


def exact_values(kernel, X):
    X = (X.toarray() if sparse.issparse(X) else X).astype(np.longdouble)
    return kernel.extended(X, X)


def test_table_of_the_core_is_that_of_python():
    assert sorted(kernel_names()) == sorted(KERNELS)
    assert all(name == kind.name for name, kind in KERNELS.items())


def code_of(path):
    """A file without its docstrings."""
    text = path.read_text()
    if path.suffix != ".py":
        return text
    tree = ast.parse(text)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            body[0] = ast.Pass()
    return ast.unparse(tree)


@pytest.mark.parametrize("name", NEW)
def test_a_kernel_is_written_in_few_places(name):
    files = [
        path for path in SOURCES.rglob("*") if path.suffix in (".py", ".cpp", ".hpp", ".inc", ".js")
    ]
    places = [str(path) for path in files if name in code_of(path).lower()]
    assert 0 < len(places) <= MOST_PLACES, places


@pytest.mark.parametrize("gamma", [0.01, 0.7, 30.0])
def test_values_are_those_of_scikit_learn(gamma):
    X = rng().normal(size=(60, 4))
    length = 1.0 / np.sqrt(2.0 * gamma)
    for name, expected in (
        ("laplacian", laplacian_kernel(X, gamma=gamma)),
        ("matern32", Matern(length, nu=1.5)(X)),
        ("matern52", Matern(length, nu=2.5)(X)),
    ):
        values = gram_of(KERNELS[name](gamma), X).block(np.arange(60), X)
        np.testing.assert_allclose(values, expected, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", KERNELS)
def test_values_are_off_by_a_few_roundings(name, form, data):
    X = FORMS[form](DATA[data]())
    kernel = kernel_for(name, X)
    gram, slots = gram_of(kernel, X), np.arange(X.shape[0])
    norm = float(squared_norms(X).max())
    bound = kernel.roundings(X.shape[1], norm) * kernel.largest(norm) * np.finfo(float).eps / 2
    expected = exact_values(kernel, X)
    one_by_one = np.vstack([gram.block(slots, X[i : i + 1]) for i in slots])
    for values in (gram.block(slots, X), one_by_one):
        np.testing.assert_allclose(values, expected.astype(float), rtol=0, atol=bound)
    np.testing.assert_allclose(gram.diagonal(slots), np.diagonal(expected), rtol=0, atol=bound)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NEW)
def test_equal_points_have_the_value_1(name, form):
    for data in ("twins", "far from the origin", "mixed scales"):
        X = FORMS[form](DATA[data]())
        slots = np.arange(X.shape[0])
        values = gram_of(kernel_for(name, X), X).block(slots, X)
        assert (np.diagonal(values) == 1.0).all()
        if data == "twins":
            assert (values[slots[::2], slots[1::2]] == 1.0).all()


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", KERNELS)
def test_rough_values_are_off_by_what_they_say(name, form, data):
    X = FORMS[form](DATA[data]())
    kernel = kernel_for(name, X)
    core, slots = gram_of(kernel, X).core, np.arange(X.shape[0])
    coef = rng().normal(size=len(slots))
    values, error, sums = core.rough_values(slots, coef, len(slots))
    expected = exact_values(kernel, X).astype(float)
    np.testing.assert_allclose(values, expected, rtol=0, atol=error)
    np.testing.assert_allclose(sums, expected @ coef, rtol=0, atol=error * abs(coef).sum())


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NEW)
def test_points_far_away_have_the_value_0(name, form):
    X = DATA["plain"]()
    gram = gram_of(KERNELS[name](0.5), FORMS["csr" if form == "csr" else "float64"](X))
    for far in (1e30, 1e200) if form != "float32" else (1e30,):
        queries = FORMS[form](np.full((5, 6), far))
        assert (gram.block(np.arange(90), queries) == 0.0).all()
        assert (gram.block(np.arange(90), queries[:1]) == 0.0).all()


@pytest.mark.parametrize("name", NEW)
def test_machine_is_that_of_scikit_learn(name):
    X = rng().normal(size=(200, 3))
    y = (X[:, 0] + np.sin(3 * X[:, 1]) + 0.3 * rng().normal(size=200) > 0).astype(int)
    kernel = KERNELS[name](0.5)
    peer = sklearn.svm.SVC(
        kernel=lambda A, B: kernel.extended(A, B).astype(float), C=2.0, tol=1e-10
    ).fit(X, y)
    model = supple.SVC(kernel=name, gamma=0.5, C=2.0).fit(X[:150], y[:150])
    model.partial_fit(X[150:], y[150:])
    assert model.exact_
    probe = rng().normal(size=(100, 3))
    # LIBSVM keeps kernel values in float32
    np.testing.assert_allclose(
        model.decision_function(probe), peer.decision_function(probe), atol=1e-5
    )


MACHINES = {
    "SVC": {},
    "NuSVC": {"nu": 0.3},
    "SVR": {},
    "OneClassSVM": {"nu": 0.3},
    "SVDD": {"C": 0.1},
    "LASVC": {},
    "SimpleSVC": {},
    "BudgetSVC": {"budget": 30},
    "BudgetSVDD": {"C": 0.1, "budget": 30},
    "WindowedSVC": {},
    "SVIncrementalSVC": {},
    "SVIncrementalSVR": {},
    "RVC": {},
    "RVR": {"gamma": 0.05},
}


@pytest.mark.parametrize("kernel", NEW)
@pytest.mark.parametrize("name", MACHINES)
def test_every_machine_takes_it(name, kernel):
    X = rng().normal(size=(80, 3))
    y = X[:, 0] + np.sin(2 * X[:, 1]) + 0.3 * np.random.default_rng(1).normal(size=80)
    y = y if name.endswith("R") else (y > 0).astype(int)
    model = getattr(supple, name)(kernel=kernel, **MACHINES[name])
    targets = () if "SVDD" in name or name == "OneClassSVM" else (y,)
    model.fit(X, *targets)
    decide = (
        model.predict if name in ("SVR", "RVR", "SVIncrementalSVR") else model.decision_function
    )
    values = decide(X)
    assert np.isfinite(values).all()
    np.testing.assert_array_equal(
        getattr(pickle.loads(pickle.dumps(model)), decide.__name__)(X), values
    )
    if name in ("SVC", "NuSVC", "SVR", "OneClassSVM", "SVDD"):
        model.retune(gamma=1.5)
        other = type(model)(kernel=kernel, gamma=1.5, **MACHINES[name])
        other.fit(X, *targets)
        assert model.exact_
        np.testing.assert_allclose(
            decide(X), getattr(other, decide.__name__)(X), atol=1e-7 * np.abs(decide(X)).max()
        )
