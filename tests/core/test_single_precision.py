"""Kernel values in single precision, which the block solver takes, and the error they state."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import supple
from supple._core import PointsGram

KERNELS = {
    "rbf": (0.02, 0.0, 3),
    "linear": (1.0, 0.0, 3),
    "poly": (0.05, 1.0, 3),
    "sigmoid": (0.01, 0.1, 3),
}


def rng():
    return np.random.default_rng(5)


def integers(low, high, n=150, d=19):
    """All of low .. high (inclusive) are likely to be there."""
    return rng().integers(low, high + 1, size=(n, d)).astype(float)


def late(X, value):
    X[-1, -1] = value
    return X


DATA = {
    "pixels of 16": lambda: integers(0, 16) / 16,
    "pixels of 255": lambda: integers(0, 255) / 255,
    "three of 255": lambda: 3 * integers(0, 85) / 255,
    "counts": lambda: integers(0, 255),
    "one-hot": lambda: (integers(0, 4) == 2).astype(float),
    "all alike": lambda: np.full((40, 3), 0.7),
    "ordinal codes": lambda: integers(-3, 3),
    "only negative": lambda: -integers(1, 9) / 10,
    "all of a byte": lambda: integers(-128, 127) * 0.1,
    "far below 0": lambda: integers(-250, 5),
    "two steps at least": lambda: np.where(integers(0, 1) > 0, 2.0, 3.0) / 7,
    "no common smallest": lambda: rng().choice([6.0, 10.0, 15.0], size=(150, 9)) / 255,
    "finer at the end": lambda: late(2.0 * integers(0, 60), 3.0) / 255,
    "finer again and again": lambda: np.sort(2.0 ** rng().integers(0, 8, (200, 6)), axis=0)[::-1],
    "a tiny factor": lambda: integers(0, 9) * 1e-9,
    "zeros first": lambda: np.vstack([np.zeros((70, 19)), integers(0, 5)]),
    "one feature": lambda: integers(0, 30, d=1) / 3,
    "three features": lambda: integers(0, 30, d=3) / 3,
    "four features": lambda: integers(0, 30, d=4) / 3,
    "many features": lambda: integers(0, 255, n=70, d=1501) / 255 / 10,
    "many zeros": lambda: integers(1, 255, d=90) * (integers(0, 9, d=90) > 7) / 255,
    "few points": lambda: integers(0, 255, n=5) / 255,
    "real": lambda: rng().normal(size=(150, 19)),
    "uniform": lambda: rng().random((150, 19)),
    "real, 256 features": lambda: rng().normal(size=(70, 256)) / 8,
    "real, 257 features": lambda: rng().normal(size=(70, 257)) / 8,
    "real, far apart": lambda: 1e5 * rng().normal(size=(70, 5)),
    "nearly alike": lambda: 0.07 * (1 + 1e-7 * rng().normal(size=(70, 256))),
    "nearly alike, wide": lambda: 0.03 * (1 + 1e-7 * rng().normal(size=(70, 4000))),
    "zeros": lambda: np.zeros((40, 4)),
    "more than a byte": lambda: late(integers(0, 255), 256.0),
    "from far below 0 to far above": lambda: integers(-200, 200),
    "large counts": lambda: integers(0, 255) ** 2 / 1000,
    "nearly integers": lambda: integers(1, 9) + 1e-5 * rng().normal(size=(150, 19)),
    "one is none": lambda: late(integers(0, 16) / 16, np.pi / 9),
    "too fine": lambda: late(integers(0, 16), 1 / 512),
    "own factors": lambda: integers(1, 16) / np.linspace(15.0, 16.0, 19),
    "wide": lambda: integers(0, 255, n=20, d=9000) / 255 / 50,
}


def gram_of(X, kernel):
    gamma, coef0, degree = KERNELS[kernel]
    make = PointsGram.float32 if X.dtype == np.float32 else PointsGram.float64
    gram = make(kernel, gamma, coef0, degree, X.shape[1], 1 << 20)
    gram.append(X)
    return gram


def exact_values(X, kernel):
    gamma, coef0, degree = KERNELS[kernel]
    X = X.astype(float)
    if kernel == "rbf":
        return np.exp(-gamma * cdist(X, X, "sqeuclidean"))
    dots = X @ X.T
    if kernel == "linear":
        return dots
    return (gamma * dots + coef0) ** degree if kernel == "poly" else np.tanh(gamma * dots + coef0)


def check(X, kernel):
    gram = gram_of(X, kernel)
    coef = rng().normal(size=len(X))
    for to in (len(X), len(X) // 3):
        values, error, sums = gram.rough_values(np.arange(len(X)), coef, to)
        np.testing.assert_allclose(values, exact_values(X, kernel), rtol=0, atol=error)
        bound = error * abs(coef).sum()
        np.testing.assert_allclose(sums, exact_values(X, kernel)[:to] @ coef, rtol=0, atol=bound)
    some = rng().permutation(len(X))[: len(X) // 2 + 1]
    part, _, _ = gram.rough_values(some, coef[some], 0)
    np.testing.assert_allclose(part, values[np.ix_(some, some)], rtol=0, atol=error)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("data", DATA)
def test_values_within_the_error(data, kernel, dtype):
    check(DATA[data]().astype(dtype), kernel)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("factor", [1e14, 1e-20])
def test_extreme_factors(factor, kernel):
    """Their squares leave single precision too little room."""
    check(integers(0, 16) * factor, kernel)


def test_squares_too_large_for_single_precision():
    """Values are of no use then, which the error says, but they stay numbers."""
    X = 1e25 * rng().normal(size=(70, 5))
    gram = gram_of(X, "rbf")
    _, error, sums = gram.rough_values(np.arange(70), np.ones(70), 70)
    assert error == np.inf
    assert np.isfinite(sums).all()


def test_steepest_kernel():
    gram = PointsGram.float64("rbf", 1e300, 0.0, 3, 2, 1 << 20)
    gram.append(np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]]))
    values, _, _ = gram.rough_values(np.arange(3), np.ones(3), 0)
    np.testing.assert_allclose(values, [[1, 1, 0], [1, 1, 0], [0, 0, 1]], atol=1e-30)


def test_few_entries():
    check(integers(1, 255, d=90) * (integers(0, 99, d=90) > 95) / 255, "linear")


MACHINES = {
    "SVC": {"C": 2.0},
    "NuSVC": {"nu": 0.7},
    "SVR": {"C": 1.0, "epsilon": 0.2},
    "OneClassSVM": {"nu": 0.2},
    "SVDD": {"C": 0.003},
}
FIT_KERNELS = {
    "rbf": {"gamma": 0.3},
    "linear": {},
    "poly": {"degree": 2, "gamma": 0.3, "coef0": 1.0},
}


@pytest.mark.parametrize("low", [0, -8])
@pytest.mark.parametrize("kernel", FIT_KERNELS)
@pytest.mark.parametrize("name", MACHINES)
def test_fits_are_exact(name, kernel, low, judge):
    X = rng().integers(low, low + 17, size=(2600, 7)) / 8
    X[:, 0] = abs(X[:, 0]) + 1.0  # the origin lies outside the points
    t = X[:, 0] + np.sin(2 * X[:, 1]) + 0.6 * rng().normal(size=len(X))
    y = {"SVC": (t > np.median(t)).astype(int), "SVR": t}
    y["NuSVC"] = y["SVC"]
    params = {"kernel": kernel, **FIT_KERNELS[kernel], **MACHINES[name]}
    model = getattr(supple, name)(**params).fit(X, y.get(name))
    judge(model, X, y.get(name))


@pytest.mark.parametrize("params", [{"cache_size": 0.2}, {"shrinking": False}, {"n_jobs": 2}])
def test_settings(params, judge):
    X = rng().integers(0, 17, size=(2600, 7)) / 8
    y = (X[:, 0] + np.sin(2 * X[:, 1]) + 0.6 * rng().normal(size=len(X)) > 1.5).astype(int)
    judge(supple.SVC(gamma=0.3, **params).fit(X, y), X, y)


def test_many_classes_and_updates():
    X = rng().integers(0, 17, size=(900, 12)) / 16
    y = np.digitize(X[:, :4].sum(axis=1), [1.6, 2.0, 2.4])
    model = supple.SVC(gamma=0.5).fit(X[:800], y[:800])
    model.partial_fit(X[800:], y[800:])
    again = supple.SVC(gamma=0.5).fit(X, y)
    np.testing.assert_allclose(
        model.decision_function(X[:99]), again.decision_function(X[:99]), atol=1e-7
    )
