"""Streams that are drawn, dealt out and loaded: their statistics, and where they change."""

import os
from dataclasses import FrozenInstanceError
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from supple.errors import InvalidInputError
from supple.streams import (
    Stream,
    hyperplane,
    load_stream,
    relevance_change,
    rotating_gaussians,
    sea,
    shifting_gaussians,
    stagger,
)

MAKERS = [rotating_gaussians, shifting_gaussians, sea, stagger, hyperplane]


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_seeds(make):
    one, two, other = make(90, random_state=1), make(90, random_state=1), make(90, random_state=2)
    assert one.name == make.__name__
    assert len(one) == 90
    np.testing.assert_array_equal(one.X, two.X)
    np.testing.assert_array_equal(one.y, two.y)
    assert not np.array_equal(one.X, other.X)
    assert set(one.y) == {0, 1}
    with pytest.raises(InvalidInputError, match=f"'n_samples' parameter of {make.__name__}"):
        make(0)


def parts(stream):
    edges = [0, *stream.change_points, len(stream)]
    return [slice(a, b) for a, b in pairwise(edges)]


def test_rotating_gaussians():
    stream = rotating_gaussians(8000, n_concepts=4, angle=90.0, distance=4.0, random_state=0)
    for part, middle in zip(parts(stream), [(2, 0), (0, 2), (-2, 0), (0, -2)], strict=True):
        X, y = stream.X[part], stream.y[part]
        np.testing.assert_allclose(X[y == 1].mean(axis=0), middle, atol=0.15)
        np.testing.assert_allclose(X[y == 0].mean(axis=0), np.negative(middle), atol=0.15)
        np.testing.assert_allclose(np.cov(X[y == 1].T), np.eye(2), atol=0.15)


def test_a_gradual_rotation():
    stream = rotating_gaussians(100, n_concepts=2, angle=90.0, width=10, random_state=0)
    angle = stream.metadata["angle"]
    np.testing.assert_allclose(angle[:50], 0.0)
    np.testing.assert_allclose(angle[50:60], 9.0 * np.arange(1, 11))
    np.testing.assert_allclose(angle[60:], 90.0)


def test_shifting_gaussians():
    stream = shifting_gaussians(6000, n_concepts=3, shift=3.0, n_features=3, random_state=0)
    for part, boundary in zip(parts(stream), [0.0, 3.0, 6.0], strict=True):
        X, y = stream.X[part], stream.y[part]
        np.testing.assert_allclose(X[y == 1].mean(axis=0), [boundary + 2.0, 0, 0], atol=0.15)
        np.testing.assert_allclose(X[y == 0].mean(axis=0), [boundary - 2.0, 0, 0], atol=0.15)


def test_sea():
    stream = sea(8000, noise=0.1, random_state=0)
    assert stream.change_points == (2000, 4000, 6000)
    for part, threshold in zip(parts(stream), [8.0, 9.0, 7.0, 9.5], strict=True):
        rule = stream.X[part, 0] + stream.X[part, 1] <= threshold
        assert np.mean(rule != stream.y[part]) == pytest.approx(0.1, abs=0.03)
    clean = sea(500, thresholds=(10.0,), noise=0.0, random_state=0)
    np.testing.assert_array_equal(clean.X[:, 0] + clean.X[:, 1] <= 10.0, clean.y)
    assert clean.change_points == ()


def test_stagger():
    stream = stagger(900, random_state=0)
    names = list(stream.metadata["feature_names"])
    column = {name: stream.X[:, i] == 1.0 for i, name in enumerate(names)}
    rules = [
        column["size=small"] & column["colour=red"],
        column["colour=green"] | column["shape=circular"],
        ~column["size=small"],
    ]
    for part, rule in zip(parts(stream), rules, strict=True):
        np.testing.assert_array_equal(stream.y[part], rule[part])
    assert stream.X.sum() == 3 * 900
    again = stagger(100, concepts=(3, 1), random_state=0)
    assert again.metadata["concept"].tolist() == [3] * 50 + [1] * 50
    with pytest.raises(InvalidInputError, match="'concepts' parameter of stagger"):
        stagger(100, concepts=(1, 4))


def test_hyperplane():
    stream = hyperplane(5000, n_features=5, n_drifting=2, magnitude=0.01, random_state=0)
    weights = stream.metadata["weights"]
    steps = np.abs(np.diff(weights, axis=0))
    np.testing.assert_allclose(steps[:, :2], 0.01)
    np.testing.assert_allclose(steps[:, 2:], 0.0)
    rule = np.sum(stream.X * weights, axis=1) >= weights.sum(axis=1) / 2
    assert np.mean(rule != stream.y) == pytest.approx(0.05, abs=0.02)
    turned = np.mean(np.diff(np.sign(np.diff(weights[:, 0]))) != 0)
    assert turned == pytest.approx(0.1, abs=0.03)
    with pytest.raises(InvalidInputError, match=r"at most n_features=5. Got 6"):
        hyperplane(10, n_features=5, n_drifting=6)


@pytest.fixture
def collection():
    rng = np.random.default_rng(0)
    labels = rng.choice(["one", "three", "four", "five"], size=2608, p=[0.2, 0.3, 0.3, 0.2])
    return np.arange(2608.0)[:, None], labels


TABLE = {
    "A": [1.0] * 10 + [0.0] * 10,
    "B": [1.0] * 8 + [0.8, 0.6, 0.4, 0.2] + [0.0] * 8,
    "C": [1.0] * 9 + [0.0, 0.0] + [1.0] * 9,
}


@pytest.mark.parametrize(
    ("scenario", "changes"), [("A", (1300,)), ("B", (1040, 1560)), ("C", (1170, 1430))]
)
def test_relevance_change(collection, scenario, changes):
    X, labels = collection
    stream = relevance_change(X, labels, scenario, relevant=("one", "three"), random_state=0)
    assert len(stream) == 2600
    assert stream.change_points == changes
    rows = stream.metadata["rows"]
    assert len(set(rows.tolist())) == 2600
    np.testing.assert_array_equal(stream.X, X[rows])
    assert stream.metadata["probability"].tolist() == TABLE[scenario]
    counts = []
    for t, (x, y) in enumerate(stream.batches(130)):
        category = labels[x[:, 0].astype(int)]
        counts.append([np.sum(category == name) for name in np.unique(labels)])
        p = TABLE[scenario][t]
        assert np.mean(y[category == "one"] == 1) == pytest.approx(p, abs=0.25 * (0 < p < 1))
        assert np.mean(y[category == "three"] == 1) == pytest.approx(1 - p, abs=0.25 * (0 < p < 1))
        assert (y[np.isin(category, ["four", "five"])] == -1).all()
    assert np.ptp(counts, axis=0).max() <= 1  # as equally as possible


def test_relevance_in_sparse_collections_and_other_numbers_of_batches(collection):
    X, labels = collection
    stream = relevance_change(
        sp.csr_matrix(X), labels, "A", relevant=("one", "three"), n_batches=10, batch_size=7
    )
    assert stream.X.shape == (70, 1)
    assert sp.issparse(stream.X)
    assert stream.change_points == (35,)
    assert stream.metadata["probability"].tolist() == [1.0] * 5 + [0.0] * 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"relevant": ("one", "two")}, "'relevant' parameter of relevance_change"),
        ({"relevant": ("one",)}, "two different labels"),
        ({"relevant": ("one", "one")}, "two different labels"),
        ({"scenario": "D"}, "'scenario' parameter .* Got 'D'"),
        ({"batch_size": 131}, "need 2620. Got 2608 instead. Set batch_size to 130 or less"),
        ({"n_batches": 0}, "'n_batches' parameter"),
    ],
)
def test_bad_input_of_relevance_change(collection, options, message):
    with pytest.raises(InvalidInputError, match=message):
        relevance_change(*collection, **{"relevant": ("one", "three")} | options)


def test_a_stream_is_a_record():
    stream = Stream([[0.0], [1.0], [2.0]], ["a", "b", "a"], "small", (1,), timestamps=[0, 0, 5])
    assert len(stream) == 3
    assert [x[:, 0].tolist() for x, _ in stream.batches(2)] == [[0.0, 1.0], [2.0]]
    with pytest.raises(FrozenInstanceError):
        stream.name = "other"
    texts = Stream(["one text", "another"], [0, 1])
    assert repr(texts) == "<Stream stream: 2 examples, texts>"
    assert Stream([[1.0]]).y is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"change_points": (3,)}, "'change_points' parameter of Stream must be growing ints"),
        ({"change_points": (2, 1)}, "growing ints from 1 to 2"),
        ({"timestamps": [1, 3, 2]}, "runs backwards"),
        ({"y": [0, 1]}, "inconsistent"),
        ({"X": [[np.inf], [0.0], [0.0]]}, "infinity"),
        ({"X": ["text", 3.0, 1.0]}, "Expected 2D array"),
    ],
)
def test_bad_streams(arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        Stream(**{"X": [[0.0], [1.0], [2.0]], "y": [0, 1, 0]} | arguments)
    with pytest.raises(InvalidInputError, match="'size' parameter of batches"):
        next(Stream([[0.0]]).batches(0))


def test_weather_is_in_order_and_not_scaled():
    stream = load_stream("weather")
    assert stream.X.shape == (18159, 8)
    assert stream.X[0, 0] == 19.8
    assert "NOAA" in stream.metadata["description"]
    assert len(load_stream("weather", n_samples=100)) == 100
    with pytest.raises(InvalidInputError, match=r"no stream named 'wether'. Known are: weather"):
        load_stream("wether")


@pytest.mark.parametrize(
    ("name", "file", "shape"),
    [
        ("elec2", "elec2.csv.gz", (45312, 8)),
        ("eeg_eye_state", "eeg_eye_state.csv.gz", (14980, 14)),
        ("spam_drift", "spam_drift_sparse.npz", (9324, 39916)),
    ],
)
def test_streams_of_the_folder(name, file, shape):
    folder = os.environ.get("SUPPLE_DATA")
    if not folder or not os.path.isfile(os.path.join(folder, file)):
        pytest.skip(f"SUPPLE_DATA names no folder with {file}")
    assert load_stream(name).X.shape == shape


def test_the_boundary_is_where_it_is_said_to_be():
    stream = shifting_gaussians(3000, n_concepts=2, shift=4.0, random_state=1)
    model = LogisticRegression().fit(stream.X[1500:], stream.y[1500:])
    assert -model.intercept_[0] / model.coef_[0, 0] == pytest.approx(4.0, abs=0.3)
