"""Bad input gives a clear error or is understood; an error leaves the model as it was."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from supple import (
    SVC,
    SVDD,
    SVR,
    DuplicateIdError,
    InvalidInputError,
    NuSVC,
    OneClassSVM,
    SuppleError,
    UnknownIdError,
)


def values(model, X):
    """Return what the model says about X, as numbers."""
    return model.predict(X) if isinstance(model, SVR) else model.decision_function(X)


@pytest.fixture
def model(make, data):
    return make(gamma=0.5).fit(*data)


@pytest.fixture
def refuses(model, data):
    """Call a method, expect an error, and check that nothing has changed."""

    def check(method, *args, error=ValueError, match, **kwargs):
        state = (values(model, data[0]), model.ids_, model.n_samples_seen_, model.n_features_in_)
        params = model.get_params()
        with pytest.raises(error, match=match):
            getattr(model, method)(*args, **kwargs)
        now = (values(model, data[0]), model.ids_, model.n_samples_seen_, model.n_features_in_)
        for before, after in zip(state, now, strict=True):
            assert_array_equal(after, before)
        assert model.get_params() == params

    return check


def broken(X, row, column, value):
    X = X.copy()
    X[row, column] = value
    return X


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_bad_number_is_found_wherever_it_is(dtype, value):
    X = np.finfo(dtype).max * np.linspace(-1.0, 1.0, 37, dtype=dtype).reshape(1, 37)
    model = SVC(gamma=0.5).fit(np.eye(2, 37, dtype=dtype), [0, 1])
    model.predict(X)  # the largest numbers are not bad
    for column in range(37):
        with pytest.raises(ValueError, match=rf"NaN|infinity .*column {column}\b"):
            model.predict(broken(X, 0, column, value))


@pytest.mark.parametrize("method", ["fit", "partial_fit", "predict"])
def test_points(method, refuses, data):
    X, y = data
    y = () if method == "predict" else (y,)
    nan = "NaN .*row 3, column 1"
    refuses(method, broken(X, 3, 1, np.nan), *y, match=nan)
    refuses(method, broken(X, 2, 0, np.inf), *y, match=r"infinity .*row 2, column 0")
    refuses(method, broken(X.astype(np.float32), 2, 0, -np.inf), *y, match="infinity .*row 2")
    refuses(method, sp.csr_array(broken(X, 3, 1, np.nan)), *y, match=nan)
    refuses(method, sp.csc_array(broken(X, 3, 1, np.nan)), *y, match=nan)
    refuses(method, pd.DataFrame(broken(X, 3, 1, np.nan)), *y, match=nan)
    refuses(method, X[:, :0], *y, match=r"0 feature\(s\)")
    refuses(method, X[0], *y, match="Expected 2D array")
    refuses(method, X[None], *y, match="dim 3|3 dim|Found array with")
    refuses(method, X + 1j, *y, match="Complex data not supported")
    refuses(method, [[1.0, 2.0], [1.0]], *y, match="inhomogeneous")
    refuses(method, X.astype(str).astype(object) + "x", *y, match="could not convert")
    huge = np.full(X.shape, 2**53 + 1)
    refuses(method, huge, *y, match=r"9007199254740993, beyond 2\*\*53")
    refuses(method, -huge, *y, match=r"beyond 2\*\*53")
    refuses(method, huge.astype(object), *y, match=r"beyond 2\*\*53")
    refuses(method, huge.tolist(), *y, match=r"beyond 2\*\*53")
    refuses(method, pd.DataFrame(huge), *y, match=r"beyond 2\*\*53")
    refuses(method, sp.csr_array(huge), *y, match=r"beyond 2\*\*53")
    refuses(method, [[10**400] * 3] * 40, *y, match="too large for float64")


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_batches(method, refuses, data):
    X, y = data
    refuses(method, X[:0], y[:0], match=r"0 sample\(s\)")
    refuses(method, [], [], match="Expected 2D array|0 sample")


def test_feature_count(refuses, data):
    X, y = data
    for method, args in (("partial_fit", (y,)), ("predict", ())):
        refuses(method, X[:, :2], *args, match="X has 2 features, but .* is expecting 3")
        refuses(method, sp.csr_array(X[:, :2]), *args, match="X has 2 features")


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_weights(method, refuses, data):
    X, y = data
    ones = np.ones(len(X))
    refuses(method, X, y, sample_weight=-ones, match="'sample_weight' must be finite and >= 0")
    for bad in (np.nan, np.inf, -1e-300):
        weight = ones.copy()
        weight[5] = bad
        refuses(method, X, y, sample_weight=weight, match="must be finite and >= 0. Got")
    refuses(method, X, y, sample_weight=ones[1:], match=r"shape \(40,\). Got shape \(39,\)")
    refuses(method, X, y, sample_weight=ones[:, None], match="Got shape")
    refuses(method, X, y, sample_weight=ones + 1j, match="must be numbers")
    refuses(method, X, y, sample_weight=["a"] * 40, match="must be numbers")


def test_all_weights_zero(make, refuses, data):
    X, y = data
    refuses("fit", X, y, sample_weight=np.zeros(40), match="non-zero")
    with pytest.raises(InvalidInputError, match="all zero"):
        make().partial_fit(X, y, sample_weight=np.zeros(40))


def test_ids(refuses, data):
    X, y = data
    for method, more in (("forget", ()), ("reweight", (1.0,))):
        refuses(method, 40, *more, error=UnknownIdError, match="40")
        refuses(method, [0, -1], *more, error=UnknownIdError, match="-1")
        refuses(method, [1, 2, 1], *more, error=DuplicateIdError, match="1")
        for bad in (True, 1.0, [1.0], [True], "1", ["1"], [None], np.ones(40, bool)):
            refuses(method, bad, *more, error=InvalidInputError, match="must be integers")
        refuses(method, [[1]], *more, error=InvalidInputError, match="one-dimensional")
        refuses(method, np.array([2**63], np.uint64), *more, error=InvalidInputError, match="int64")
        refuses(method, [2**70], *more, error=InvalidInputError, match="int64")
    refuses("forget", None, error=InvalidInputError, match="either 'ids' or 'groups'. Got none")
    refuses("reweight", None, 1.0, error=InvalidInputError, match="must be integers")
    one, label = X[:1], y[:1]
    refuses("partial_fit", one, label, ids=[0], error=DuplicateIdError, match="0")
    refuses("partial_fit", X[:2], y[:2], ids=[50, 50], error=DuplicateIdError, match="50")
    refuses(
        "partial_fit", one, label, ids=[50, 51], error=InvalidInputError, match="one id per row"
    )
    refuses("partial_fit", one, label, ids=[0.5], error=InvalidInputError, match="must be integers")


def test_new_weights(refuses):
    refuses("reweight", [0, 1], [1.0], match="shape")
    refuses("reweight", 0, -1.0, match=">= 0")
    refuses("reweight", 0, np.nan, match=">= 0")
    refuses("reweight", 0, None, match=">= 0")
    refuses("reweight", 0, "1", match="must be numbers")


def test_retune(refuses):
    refuses("retune", error=InvalidInputError, match="Got nothing")
    refuses("retune", tol=1.0, error=InvalidInputError, match="takes .*gamma.* Got tol")
    refuses("retune", gamma=-1.0, match="The 'gamma' parameter of .* must be")
    refuses("retune", degree=1.5, match="The 'degree' parameter of")


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (SVC(C=-1), r"The 'C' parameter of SVC must be a float in the range \(0.0, inf\). Got -1"),
        (SVC(C=0.0), "The 'C' parameter of SVC"),
        (SVC(C=np.nan), "The 'C' parameter of SVC"),
        (SVC(C=np.inf), "The 'C' parameter of SVC"),
        (SVC(C="1"), "The 'C' parameter of SVC"),
        (NuSVC(nu=0.0), "The 'nu' parameter of NuSVC"),
        (NuSVC(nu=1.1), "The 'nu' parameter of NuSVC"),
        (OneClassSVM(nu=-0.1), "The 'nu' parameter of OneClassSVM"),
        (SVR(C=-1), "The 'C' parameter of SVR"),
        (SVR(epsilon=-0.1), "The 'epsilon' parameter of SVR"),
        (SVDD(C=0), "The 'C' parameter of SVDD"),
        (SVC(kernel="cubic"), "The 'kernel' parameter of SVC"),
        (SVC(gamma="big"), "The 'gamma' parameter of SVC"),
        (SVC(degree=-1), "The 'degree' parameter of SVC"),
        (SVC(degree=2**31), "The 'degree' parameter of SVC"),
        (SVC(tol=0), "The 'tol' parameter of SVC"),
        (SVC(cache_size=0), "The 'cache_size' parameter of SVC"),
        (SVC(max_iter=-2), "The 'max_iter' parameter of SVC"),
        (SVC(class_weight="even"), "The 'class_weight' parameter of SVC"),
        (SVC(class_weight={0: -1.0}), "finite weights > 0. Got -1.0 for class 0"),
        (SVC(class_weight={0: "a"}), "finite weights > 0. Got 'a' for class 0"),
        (SVC(class_weight={"a": 1.0}), "labels in 'y' are numbers"),
        (SVC(multi_class="all"), "The 'multi_class' parameter of SVC"),
        (SVC(multi_class="ovr", decision_function_shape="ovo"), "no pairwise machines"),
    ],
)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_parameters(estimator, method, message, data):
    with pytest.raises(ValueError, match=message):
        getattr(estimator, method)(*data)
    assert not hasattr(estimator, "n_features_in_")


@pytest.fixture
def classifier(data):
    return SVC(gamma=0.5).fit(*data)


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        (["a", "b"], InvalidInputError, "labels in 'y' are strings, but .* numbers"),
        (np.array(["a", 1], dtype=object), ValueError, "of numbers or of strings"),
        ([0.5, 1.5], ValueError, "continuous"),
        ([0, np.nan], ValueError, "NaN"),
        ([0, np.inf], ValueError, "infinity"),
        ([0, 1, 1], ValueError, "inconsistent numbers of samples"),
        ([[0, 1], [1, 0]], ValueError, "1d array|multilabel"),
        (None, ValueError, "requires y to be passed"),
        (np.array([b"a", b"b"]), TypeError, "bytes"),
    ],
)
def test_labels(classifier, labels, error, message, data):
    X, y = data
    before = classifier.decision_function(X)
    for given in (labels, np.asarray(labels) if labels is not None else None):
        with pytest.raises(error, match=message):
            classifier.partial_fit(X[:2], given)
    assert_array_equal(classifier.decision_function(X), before)
    assert_array_equal(classifier.classes_, [0, 1])
    classifier.partial_fit(X[:2], y[:2])


def test_one_class_only(data):
    X, y = data
    for weight, labels in ((None, np.zeros(40)), (y, y)):
        with pytest.raises(ValueError, match="number of classes has to be greater than one"):
            SVC().fit(X, labels, sample_weight=weight)


def test_strings_then_numbers(data):
    X, _ = data
    model = SVC().fit(X[:2], ["a", "b"])
    with pytest.raises(InvalidInputError, match=r"labels in 'y' are numbers, but .* strings"):
        model.partial_fit(X[:2], [0, 1])
    with pytest.raises(InvalidInputError, match="labels in 'classes' are numbers"):
        model.partial_fit(X[:2], ["a", "b"], classes=[0, 1])
    with pytest.raises(InvalidInputError, match="labels in 'class_weight' are numbers"):
        model.retune(class_weight={0: 1.0})


@pytest.mark.parametrize("y", [["a", "b"], [np.nan, 1.0], [np.inf, 1.0], [1.0], [2**53 + 1, 0]])
def test_targets(y, data):
    X, t = data
    model = SVR().fit(X, t)
    before = model.predict(X)
    with pytest.raises(ValueError):  # noqa: PT011
        model.partial_fit(X[:2], y)
    assert_array_equal(model.predict(X), before)


def test_harmless_input_is_understood(make, data):
    X, y = data
    X = np.round(X, 1)
    expected = values(make(gamma=0.5).fit(X, y), X)
    read_only = X.copy()
    read_only.flags.writeable = False
    wide = np.zeros((40, 6))
    wide[:, ::2] = X
    for same in (np.asfortranarray(X), read_only, wide[:, ::2], X.astype(object), X.tolist()):
        model = make(gamma=0.5).fit(same, y)
        assert_allclose(values(model, same), expected, atol=1e-9)
        model = make(gamma=0.5).fit(same[:20], y[:20]).partial_fit(same[20:], list(y[20:]))
        assert_allclose(values(model, X), expected, atol=1e-7)
    half = make(gamma=0.5).fit(X.astype(np.float16), y)
    assert half.support_vectors_.dtype == np.float64
    whole = make(gamma=0.5).fit(X.astype(int), y)
    assert whole.support_vectors_.dtype == np.float64


def test_untidy_sparse_matrices_are_sorted_in_a_copy(make, data):
    X, y = data
    tidy = sp.csr_array(X)
    # Columns backwards, and every value split into two entries.
    indices = np.tile([2, 1, 0, 2, 1, 0], 40).astype(np.int32)
    entries = np.repeat(X[:, ::-1] / 2, 2, axis=0).reshape(40, 2, 3).reshape(-1)
    indptr = (np.arange(41) * 6).astype(np.int32)
    untidy = sp.csr_array((entries, indices, indptr), shape=(40, 3))
    kept = untidy.indices.copy(), untidy.data.copy()
    expected = values(make(gamma=0.5).fit(tidy, y), tidy)
    model = make(gamma=0.5).fit(untidy, y)
    assert_allclose(values(model, untidy), expected, atol=1e-9)
    again = make(gamma=0.5).fit(tidy[:20], y[:20]).partial_fit(untidy[20:], y[20:])
    assert_allclose(values(again, tidy), expected, atol=1e-7)
    assert_array_equal(untidy.indices, kept[0])
    assert_array_equal(untidy.data, kept[1])
    long = tidy.copy()
    long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
    assert_allclose(values(make(gamma=0.5).fit(long, y), long), expected, atol=1e-9)


def test_broken_sparse_matrix(model, data):
    X, y = data
    matrix = sp.csr_array(X)
    matrix.indices[5] = 99
    with pytest.raises(ValueError, match=r"column index|indices"):
        model.partial_fit(matrix, y)


def test_a_model_keeps_its_own_copy(make, data):
    X, y = data[0].copy(), data[1]
    model = make(gamma=0.5).fit(X, y)
    model.partial_fit(X[:1], y[:1])
    query = X.copy()
    before = values(model, query)
    X[:] = 0.0
    assert_array_equal(values(model, query), before)
    model.forget(40)


@pytest.mark.filterwarnings("ignore:NuSVC.* leaves no margin")
def test_variance_out_of_range(make, data):
    X, y = data
    for scale in (1e200, 1e-160):
        with pytest.raises(InvalidInputError, match="gamma='scale'"):
            make().fit(X * scale, y)
    assert make().fit(np.ones_like(X), y)._gamma == 1.0


def test_cache_of_any_size(make, data):
    X, y = data
    expected = values(make().fit(X, y), X)
    for size in (1e-9, 1e300):
        assert_allclose(values(make(cache_size=size).fit(X, y), X), expected, atol=1e-9)


def test_errors_are_of_one_family():
    assert issubclass(InvalidInputError, SuppleError)
    assert issubclass(InvalidInputError, ValueError)
