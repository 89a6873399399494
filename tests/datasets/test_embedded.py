import gzip
import hashlib
import json
from importlib.resources import files

import numpy as np
import pytest

from supple.datasets import load, names
from supple.errors import InvalidInputError

FOLDER = files("supple.datasets").joinpath("data")
PROVENANCE = json.loads(FOLDER.joinpath("PROVENANCE.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", names())
def test_data_agree_with_their_provenance(name):
    entry = PROVENANCE[name]
    packed = FOLDER.joinpath(entry["file"]).read_bytes()
    assert hashlib.sha256(packed).hexdigest() == entry["sha256"]
    assert hashlib.sha256(gzip.decompress(packed)).hexdigest() == entry["sha256_csv"]

    data = load(name)
    assert data.X.shape == (entry["rows"], entry["features"])
    assert data.X.dtype == np.float64
    assert np.isfinite(data.X).all()
    assert len(data.feature_names) == entry["features"]
    labels, counts = np.unique(data.y, return_counts=True)
    assert {str(k): v for k, v in zip(labels, counts.tolist(), strict=True)} == (
        entry["class_counts"]
    )
    assert data.target_names == tuple(labels.tolist())
    assert entry["citation"] in data.description


def test_integer_labels_stay_integers():
    assert load("banana").y.dtype == np.int64
    assert load("sonar").y.dtype.kind == "U"


def test_every_call_gives_fresh_arrays():
    load("sonar").X[:] = 0
    assert load("sonar").X.any()


def test_every_file_is_attributed():
    attribution = FOLDER.joinpath("ATTRIBUTION.md").read_text(encoding="utf-8")
    packed = sorted(f.name for f in FOLDER.iterdir() if f.name.endswith(".csv.gz"))
    assert packed == sorted(PROVENANCE[name]["file"] for name in names())
    for file in packed:
        assert f"`{file}`" in attribution


def test_unknown_name_says_what_exists():
    with pytest.raises(InvalidInputError, match=r"'iris'.*banana, ionosphere, pima, sonar"):
        load("iris")
