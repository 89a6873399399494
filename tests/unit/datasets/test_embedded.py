import gzip
import hashlib
import json
import sys
from importlib.resources import files

import numpy as np
import pytest

from supple.datasets import load, names
from supple.errors import InvalidInputError

FOLDER = files("supple.datasets").joinpath("data")
PROVENANCE = json.loads(FOLDER.joinpath("PROVENANCE.json").read_text(encoding="utf-8"))

# Number of attributes and examples in the table of section 4.2.1 of Rueping (2001).
RUEPING = {
    "australian": (38, 690),
    "pima": (8, 768),
    "german_numeric": (24, 1000),
    "heart": (20, 270),
    "ionosphere": (34, 351),
    "bupa": (6, 345),
    "monks1": (15, 556),
    "monks2": (15, 601),
    "monks3": (15, 554),
    "mushroom": (112, 8124),
    "promoters": (228, 106),
    "sonar": (60, 208),
}


def test_there_are_nineteen():
    assert len(names()) == 19


def as_csv(data):
    """Write a set that is built from rules as a file would have it."""
    split = ["train"] * data.n_train + ["test"] * (len(data.y) - data.n_train)
    rows = [(*data.feature_names, "split", "class")]
    rows += [(*x, s, y) for x, s, y in zip(data.X.tolist(), split, data.y, strict=True)]
    return "".join(",".join(map(str, row)) + "\n" for row in rows).encode()


@pytest.mark.parametrize("name", names())
def test_data_agree_with_their_provenance(name):
    entry = PROVENANCE[name]
    data = load(name, prepared=False)
    if "file" in entry:
        packed = FOLDER.joinpath(entry["file"]).read_bytes()
        assert hashlib.sha256(packed).hexdigest() == entry["sha256"]
        table = gzip.decompress(packed)
    else:
        table = as_csv(data)
    assert hashlib.sha256(table).hexdigest() == entry["sha256_csv"]

    ids = {"wbc": 1, "yeast": 1}  # columns that the provenance does not count as features
    assert len(data.X) == entry["rows"]
    assert data.X.dtype.names == data.feature_names
    assert len(data.feature_names) == entry["features"] + ids.get(name, 0)
    missing = [
        values == "?" if values.dtype.kind == "U" else np.isnan(values)
        for values in (data.X[column] for column in data.feature_names)
    ]
    assert np.sum(missing) == entry["missing"]
    labels, counts = np.unique(data.y, return_counts=True)
    assert {str(k): v for k, v in zip(labels, counts.tolist(), strict=True)} == (
        entry["class_counts"]
    )
    assert data.target_names == tuple(labels.tolist())
    assert entry["citation"] in data.description


@pytest.mark.parametrize("name", names())
def test_prepared_features_have_mean_0_and_variance_1(name):
    data = load(name)
    assert data.X.shape == (PROVENANCE[name]["rows"], len(data.feature_names))
    assert len(set(data.feature_names)) == len(data.feature_names)
    assert data.X.dtype == np.float64
    np.testing.assert_allclose(data.X.mean(axis=0), 0.0, atol=1e-10)
    varies = load(name, scaled=False).X.std(axis=0) > 0.0
    np.testing.assert_allclose(data.X.std(axis=0), varies, atol=1e-10)


@pytest.mark.parametrize("name", RUEPING)
def test_prepared_width_is_that_of_rueping(name):
    width, rows = RUEPING[name]
    assert load(name).X.shape == (rows, width)


@pytest.mark.parametrize("name", ["banana", "pima", "ionosphere", "sonar"])
def test_unscaled_numeric_sets_are_the_original_numbers(name):
    raw, plain = load(name, prepared=False), load(name, scaled=False)
    assert plain.feature_names == raw.feature_names
    for i, column in enumerate(raw.feature_names):
        np.testing.assert_array_equal(plain.X[:, i], raw.X[column])


def test_constant_column_becomes_zero():
    a2 = load("ionosphere").feature_names.index("a2")
    assert not load("ionosphere").X[:, a2].any()


def test_original_values_are_kept_in_the_raw_form():
    credit = load("credit", prepared=False).X
    assert credit["A1"][0] == "b"
    assert credit["A2"][0] == 30.83
    assert np.isnan(credit["A2"]).sum() == 12
    assert (credit["A1"] == "?").sum() == 12
    assert load("wbc", prepared=False).X["id"][0] == 1000025


def test_missing_values_are_filled_and_the_description_says_so():
    raw, plain = load("wbc", prepared=False).X["bare_nuclei"], load("wbc", scaled=False)
    column = plain.X[:, plain.feature_names.index("bare_nuclei")]
    np.testing.assert_allclose(column[np.isnan(raw)], np.nanmean(raw))
    assert "16 missing values replaced by the mean of their column." in plain.description
    assert "id left out: it numbers the samples." in plain.description
    credit = load("credit").description
    assert "42 missing values replaced by the most frequent value of their column." in credit
    assert "stalk-root left out: 2480 of its 8124 values are missing." in (
        load("mushroom").description
    )
    assert "missing values replaced" not in load("mushroom").description


def test_nominal_columns_become_binary():
    heart = load("heart", scaled=False)
    raw = load("heart", prepared=False).X
    chest_pain = [f"cp={value}" for value in (1, 2, 3, 4)]
    columns = heart.X[:, [heart.feature_names.index(name) for name in chest_pain]]
    np.testing.assert_array_equal(columns.sum(axis=1), 1.0)
    np.testing.assert_array_equal(columns.argmax(axis=1) + 1, raw["cp"])
    # Two values coded by numbers are one column, two values written out are two.
    assert [name for name in heart.feature_names if name.startswith("sex")] == ["sex=1"]
    bruises = [name for name in load("mushroom").feature_names if name.startswith("bruises")]
    assert bruises == ["bruises=bruises", "bruises=no"]


def test_monks_keep_their_training_part():
    X_train, X_test, y_train, y_test = load("monks2").split()
    assert X_train.shape == (169, 15)
    assert X_test.shape == (432, 15)
    assert (len(y_train), len(y_test)) == (169, 432)
    assert "169 for training" in repr(load("monks2"))


def test_monks_labels_follow_their_rules():
    wrong = {}
    for name, rule in {
        "monks1": lambda a: (a["a1"] == a["a2"]) | (a["a5"] == 1),
        "monks2": lambda a: sum(a[name] == 1 for name in a.dtype.names) == 2,
        "monks3": lambda a: ((a["a5"] == 3) & (a["a4"] == 1)) | ((a["a5"] != 4) & (a["a2"] != 3)),
    }.items():
        X_train, X_test, y_train, y_test = load(name, prepared=False).split()
        assert len(np.unique(X_test)) == 432
        np.testing.assert_array_equal(y_test, rule(X_test))
        wrong[name] = int(np.sum(y_train != rule(X_train)))
    assert wrong == {"monks1": 0, "monks2": 0, "monks3": 6}


def test_a_set_in_one_part_cannot_be_split():
    with pytest.raises(InvalidInputError, match="'sonar' comes in one part"):
        load("sonar").split()


def test_order_of_rows_is_described():
    assert "shuffle them with a seed" in load("splice").description
    assert list(load("splice").y[:3]) == ["EI"] * 3
    assert "order of time" in load("weather").description


def test_frames():
    pd = pytest.importorskip("pandas")
    raw = load("credit", prepared=False, as_frame=True)
    assert isinstance(raw.X["A1"].dtype, pd.CategoricalDtype)
    assert raw.X.isna().to_numpy().sum() == 67
    assert raw.y.name == "class"
    prepared = load("credit", as_frame=True)
    assert tuple(prepared.X.columns) == prepared.feature_names
    np.testing.assert_array_equal(prepared.X.to_numpy(), load("credit").X)
    parts = load("monks1", as_frame=True).split()
    assert [len(part) for part in parts] == [124, 432, 124, 432]


def test_frame_without_pandas_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        load("sonar", as_frame=True)
    assert load("credit", prepared=False).X["A1"][0] == "b"


def test_integer_labels_stay_integers():
    assert load("banana").y.dtype == np.int64
    assert load("sonar").y.dtype.kind == "U"


def test_every_call_gives_fresh_arrays():
    load("sonar").X[:] = 0
    assert load("sonar").X.any()


def test_every_file_is_attributed_and_cited():
    attribution = FOLDER.joinpath("ATTRIBUTION.md").read_text(encoding="utf-8")
    packed = sorted(f.name for f in FOLDER.iterdir() if f.name.endswith(".csv.gz"))
    built = ["monks1", "monks2", "monks3"]
    assert [name for name in names() if "file" not in PROVENANCE[name]] == built
    assert packed == sorted(PROVENANCE[name]["file"] for name in names() if name not in built)
    for name in names():
        entry = PROVENANCE[name]
        file = f"`{entry['file']}`" if "file" in entry else "none, built from its rule"
        assert f"| {name} | {file} |" in attribution
        assert f"**{name}**" in attribution
        assert entry["doi"] in attribution


def test_names_of_the_papers_are_understood():
    assert load("diabetes").name == "pima"
    assert load("liver").name == "bupa"
    assert load("weather_noaa").name == "weather"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("mushrooms", "Did you mean 'mushroom'"),
        ("mnst", "Did you mean 'mnist'"),
        ("xyzzy", "Known"),
    ],
)
def test_unknown_name_suggests_the_nearest(name, hint):
    with pytest.raises(InvalidInputError, match=f"no data set named '{name}'.*{hint}"):
        load(name)


@pytest.mark.parametrize("name", [None, 3, ["sonar"]])
def test_a_name_is_a_string(name):
    with pytest.raises(InvalidInputError, match="no data set named"):
        load(name)


def test_names_refuses_another_place():
    with pytest.raises(InvalidInputError, match=r"'where' parameter.*'moon'"):
        names("moon")
