"""Numbers beyond float64 or int64, and things that are no numbers: clear errors, no change."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from supple import SVC, SVDD, SVR, InvalidInputError, NuSVC, OneClassSVM

HUGE = 10**400


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.array([None, 1.0], dtype=object), "y must be numbers. Got None"),
        (np.array([np.inf, 1.0], dtype=object), "y contains .*infinity"),
        (np.array([np.nan, 1.0], dtype=object), "contains NaN"),
        (np.array(["1", 1.0], dtype=object), r"y must be numbers. Got '1' \(str\)"),
        (np.array(["1", "2"]), "y must be numbers. Got dtype <U1"),
        (["1", "2"], "y must be numbers"),
        (np.array(["2020-01-01", "2020-01-02"], "datetime64[D]"), "Got dtype datetime64"),
        (np.array([1, 2], "timedelta64[D]"), "Got dtype timedelta64"),
        (np.array([np.longdouble("1e4000"), 1]), "y contains .*too large for float64"),
        ([2**70, 1], rf"y contains the integer {2**70}, beyond 2\*\*53"),
        ([2**53 + 1, 1], r"beyond 2\*\*53"),
        (np.array([-(2**70), 1], dtype=object), r"beyond 2\*\*53"),
        ([HUGE, 1], "y must fit into float64"),
    ],
)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_targets(y, message, method, data):
    X, t = data
    model = SVR().fit(X, t)
    before = model.predict(X)
    with pytest.raises(ValueError, match=message):
        getattr(model, method)(X[:2], y)
    assert_array_equal(model.predict(X), before)
    assert len(model.ids_) == 40


def test_targets_that_are_numbers_in_disguise(data):
    X, t = data
    expected = SVR().fit(X, t).predict(X)
    for same in (t.astype(object), t.astype(bool).astype(object), [Fraction(int(v)) for v in t]):
        assert_array_equal(SVR().fit(X, same).predict(X), expected)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([HUGE] * 40, "'sample_weight' must fit into float64"),
        ([-HUGE] * 40, "'sample_weight' must"),
        (np.full(40, np.longdouble("1e4000")), "'sample_weight' must be finite"),
        (
            np.array(["1"] * 40, dtype=object),
            r"'sample_weight' must be numbers >= 0. Got '1' \(str",
        ),
        (np.array([1j] * 40, dtype=object), "'sample_weight' must be numbers"),
        ({0: 1.0}, r"'sample_weight' must be numbers >= 0. Got \{0: 1.0\} \(dict\)"),
        ([[1.0], [1.0, 2.0]], "'sample_weight' .* differ in length"),
        (np.array(["2020-01-01"] * 40, "datetime64[D]"), "'sample_weight' must be numbers"),
    ],
)
def test_weights(weight, message, make, data):
    X, y = data
    model = make(gamma=0.5).fit(X, y)
    before = model.predict(X)
    for call in (
        lambda: model.fit(X, y, sample_weight=weight),
        lambda: model.partial_fit(X, y, sample_weight=weight),
        lambda: model.reweight(model.ids_, weight),
    ):
        with pytest.raises(InvalidInputError, match=message):
            call()
    assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        (SVC, "C"),
        (SVC, "gamma"),
        (SVC, "coef0"),
        (SVC, "tol"),
        (SVR, "C"),
        (SVR, "epsilon"),
        (SVDD, "C"),
        (NuSVC, "gamma"),
        (OneClassSVM, "tol"),
    ],
)
def test_parameters_beyond_float64(estimator, name, data):
    X, y = data
    message = f"The '{name}' parameter of {estimator.__name__} must fit into float64. Got"
    for value in (HUGE, 10**5000, np.longdouble("1e4000"), np.longdouble("1e-4000")):
        for method in ("fit", "partial_fit"):
            with pytest.raises(InvalidInputError, match=message):
                getattr(estimator(**{name: value}), method)(X, y)
        model = estimator().fit(X, y)
        if name != "tol":
            with pytest.raises(InvalidInputError, match=message):
                model.retune(**{name: value})


def test_other_parameters_beyond_their_type(data):
    X, y = data
    for estimator in (NuSVC, OneClassSVM):
        with pytest.raises(ValueError, match="The 'nu' parameter of"):
            estimator(nu=HUGE).fit(X, y)
    for limit in (2**63, HUGE):
        with pytest.raises(ValueError, match=r"'max_iter' parameter of SVC .* 9223372036854775807"):
            SVC(max_iter=limit).fit(X, y)
    SVC(max_iter=2**63 - 1).fit(X, y)
    with pytest.raises(InvalidInputError, match=r"weights > 0. Got an integer of .* class 0"):
        SVC(class_weight={0: HUGE, 1: 1.0}).fit(X, y)
    model = SVC().fit(X, y)
    with pytest.raises(InvalidInputError, match="finite weights > 0"):
        model.retune(class_weight={0: HUGE})
    with pytest.raises(InvalidInputError, match="'C' parameter of SVC must fit into float64"):
        model.regularization_path([1.0, HUGE])


def test_ids(make, data):
    X, y = data
    model = make(gamma=0.5).fit(X, y)
    for bad in ([True, 2], (2, False), [np.True_, 2], [[1], [2, 3]], [2**70, 1.0], {1: 2}):
        with pytest.raises(InvalidInputError, match="'ids' must be integers"):
            model.forget(bad)
    limit = np.array([2**63 - 1])
    for bad in (
        2**63 - 1,
        [2**63 - 1],
        limit,
        limit.astype(np.uint64),
        2**70,
        [2**63, -1],
        [-HUGE],
    ):
        with pytest.raises(InvalidInputError, match=r"int64 numbers below 2\*\*63 - 1. Got"):
            model.forget(bad)
        if np.size(bad) == 1:
            with pytest.raises(InvalidInputError, match="int64"):
                model.partial_fit(X[:1], y[:1], ids=bad)
    assert len(model.ids_) == 40
    model.partial_fit(X[:1], y[:1], ids=2**63 - 2)
    assert model.ids_[-1] == 2**63 - 2
    model.forget(np.array([2**63 - 2, 0], dtype=object)).forget((np.int8(1), 2))
    assert len(model.ids_) == 37
