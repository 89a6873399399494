"""Sets that are too large to ship, in the folder that SUPPLE_DATA names."""

import gzip
import os

import numpy as np
import pytest
import scipy.sparse as sp

from supple.datasets import load, names
from supple.datasets._catalogue import SOURCES
from supple.datasets._files import covertype
from supple.errors import DamagedDataError, DataNotFoundError

REAL_FOLDER = os.environ.get("SUPPLE_DATA")
SLOW = {"covtype", "kddcup99_10percent", "text_20newsgroups"}


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("SUPPLE_DATA", str(tmp_path))
    return tmp_path


def write_phoneme(folder, rows=5404):
    numbers = np.random.default_rng(0).normal(size=(rows, 5)).round(3)
    lines = [",".join([*map(str, row), str(i % 2)]) for i, row in enumerate(numbers)]
    text = "\n".join(["x1,x2,x3,x4,x5,class", *lines])
    (folder / "phoneme.csv.gz").write_bytes(gzip.compress(text.encode()))
    return numbers


def write_a9a(folder, width=123):
    parts = {"n_features": width}
    for part, rows in (("train", 32561), ("test", 16281)):
        parts[f"{part}_indptr"] = np.arange(rows + 1, dtype=np.int32)
        parts[f"{part}_indices"] = (np.arange(rows) % 123).astype(np.int16)
        parts[f"y_{part}"] = np.where(np.arange(rows) % 3, -1, 1).astype(np.int8)
    np.savez(folder / "a9a.npz", **parts)


def test_a_table_is_found(folder):
    numbers = write_phoneme(folder)
    assert names("folder") == ["phoneme"]
    data = load("phoneme", scaled=False)
    np.testing.assert_array_equal(data.X, numbers)
    assert data.n_train is None
    assert str(folder) in data.description
    assert load("phoneme", prepared=False).X["x2"][0] == numbers[0, 1]


def test_a_matrix_keeps_its_training_part_and_single_precision(folder):
    rng = np.random.default_rng(0)
    parts = {}
    for part, rows in (("train", 7291), ("test", 2007)):
        parts[f"X_{part}"] = rng.uniform(-1, 1, size=(rows, 256)).astype(np.float32)
        parts[f"y_{part}"] = (np.arange(rows) % 10).astype(np.uint8)
    np.savez(folder / "usps.npz", **parts)
    data = load("usps")
    X_train, X_test, _, y_test = data.split()
    np.testing.assert_array_equal(X_train, parts["X_train"])
    np.testing.assert_array_equal(X_test, parts["X_test"])
    np.testing.assert_array_equal(y_test, parts["y_test"])
    assert data.X.dtype == np.float32
    assert data.y.dtype == np.int64
    assert data.target_names == tuple(range(10))


def test_sparse_rows_stay_sparse(folder):
    write_a9a(folder)
    X_train, X_test, y_train, _ = load("a9a").split()
    assert sp.issparse(X_train)
    assert X_train.format == "csr"
    assert X_train.shape == (32561, 123)
    assert X_test.shape == (16281, 123)
    assert X_train[5].indices.tolist() == [5]
    assert set(X_train.data) == {1.0}
    assert set(y_train) == {-1, 1}
    assert load("a9a", as_frame=True).X.shape == (48842, 123)


def test_codes_of_covertype_become_columns(tmp_path):
    path = tmp_path / "covtype.npz"
    codes = {"wilderness": np.array([0, 3], np.uint8), "soil": np.array([39, 0], np.uint8)}
    np.savez(path, X_num=np.full((2, 10), 7, np.int16), y=np.array([2, 5], np.uint8), **codes)
    X = covertype(path).X
    assert X[:, :10].tolist() == [[7] * 10] * 2
    assert [np.flatnonzero(row[10:]).tolist() for row in X] == [[0, 43], [3, 4]]


def test_grey_values_are_divided():
    X, words = SOURCES["mnist"].recipe.scale(np.array([[0.0, 255.0]], dtype=np.float32))
    assert X.tolist() == [[0.0, 1.0]]
    assert X.dtype == np.float32
    assert "255" in words


def test_a_set_that_is_nowhere(monkeypatch, folder):
    with pytest.raises(DataNotFoundError, match=r"ijcnn1\.npz.*SUPPLE_DATA") as caught:
        load("ijcnn1")
    assert str(folder) in str(caught.value)
    assert isinstance(caught.value, OSError)
    monkeypatch.delenv("SUPPLE_DATA")
    assert names("folder") == []
    with pytest.raises(DataNotFoundError, match="SUPPLE_DATA, which is not set"):
        load("ijcnn1")
    with pytest.raises(DataNotFoundError, match="download_if_missing=True"):
        load("mnist", download_if_missing=False)


def spoil_cut(path):
    path.write_bytes(path.read_bytes()[:-2000])


def spoil_garble(path):
    path.write_bytes(b"no such format")


def spoil_empty(path):
    path.write_bytes(b"")


@pytest.mark.parametrize("spoil", [spoil_cut, spoil_garble, spoil_empty])
@pytest.mark.parametrize(("name", "write"), [("phoneme", write_phoneme), ("a9a", write_a9a)])
def test_a_damaged_file_is_named(folder, name, write, spoil):
    write(folder)
    path = folder / SOURCES[name].file
    spoil(path)
    with pytest.raises(DamagedDataError, match="damaged or another set") as caught:
        load(name)
    assert str(path) in str(caught.value)


def test_another_set_under_the_name_is_noticed(folder):
    write_phoneme(folder, rows=100)
    with pytest.raises(DamagedDataError, match=r"100 rows of 5 columns.*expected are 5404 rows"):
        load("phoneme")
    np.savez(folder / "usps.npz", other=np.zeros(3))
    with pytest.raises(DamagedDataError, match="X_train"):
        load("usps")
    write_a9a(folder, width=100)
    with pytest.raises(DamagedDataError, match="damaged or another set"):
        load("a9a")


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] if n in SLOW else []) for n in SOURCES]
)
def test_the_real_sets(name):
    source = SOURCES[name]
    if name not in names("folder"):
        pytest.skip(f"no {source.file} in the folder SUPPLE_DATA ({REAL_FOLDER})")
    data = load(name)
    assert data.X.shape == (source.rows, len(data.feature_names))
    assert len(data.target_names) == source.classes
    assert np.isfinite(data.X.data if sp.issparse(data.X) else data.X).all()
