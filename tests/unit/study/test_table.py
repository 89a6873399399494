"""Files of users: all forms are read alike, and mistakes are found where they are."""

import io
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file

from supple.errors import InvalidInputError
from supple.study import DataSpec, Table, data_of, load, read_table

CSV = b"id,age,colour,class\na,1,red,x\nb,2.5,blue,y\nc,?,red,x\nd,4,,y\n"


def data_from(text, target=None):
    return data_of(DataSpec("file", "t.csv", target), table=read_table(text, "t.csv"))


@pytest.mark.parametrize(
    "text",
    [
        CSV,
        b"\xef\xbb\xbf" + CSV,
        CSV.replace(b",", b";"),
        CSV.replace(b",", b"\t"),
        CSV.replace(b",", b" | "),
        CSV.replace(b"\n", b"\r\n"),
        CSV.replace(b"\n", b"\n\n") + b"\n\n",
        CSV.replace(b",", b";").replace(b"2.5", b"2,5"),
        CSV.replace(b"red", b'"red"'),
        CSV.replace(b"?", b"NA"),
    ],
)
def test_all_ways_to_write_a_table_are_read_alike(text):
    table = read_table(text, "t.csv")
    assert [(c.name, c.kind, c.missing, c.distinct) for c in table.columns] == [
        ("id", "nominal", 0, 4),
        ("age", "number", 1, 3),
        ("colour", "nominal", 1, 2),
        ("class", "nominal", 0, 2),
    ]
    np.testing.assert_array_equal(table.columns[1].values, [1.0, 2.5, np.nan, 4.0])


def test_nominal_columns_and_missing_values_are_treated_as_in_the_data_sets():
    data = data_from(CSV.replace(b"id,", b"").replace(b"\na,", b"\n").replace(b"\nb,", b"\n")
                     .replace(b"\nc,", b"\n").replace(b"\nd,", b"\n"))  # fmt: skip
    assert data.names == ("age", "colour=blue", "colour=red")
    np.testing.assert_allclose(data.X[:, 0], [1.0, 2.5, 2.5, 4.0])
    np.testing.assert_allclose(data.X[:, 2], [1.0, 0.0, 1.0, 1.0])
    assert data.y.tolist() == ["x", "y", "x", "y"]


def test_a_column_that_names_the_rows_is_left_out_in_words():
    rows = "".join(f"name{i},{i % 7},{i % 2}\n" for i in range(60))
    data = data_from(b"who,n,class\n" + rows.encode())
    assert data.names == ("n",)
    assert "'who' is left out" in data.notes[0]
    assert data.sorted_by("who").tolist() == sorted(range(60), key=lambda i: f"name{i}")


def test_a_table_without_a_header_gets_names():
    table = read_table(b"5.1,3.5,setosa\n4.9,3.0,other\n", "iris.data")
    assert [column.name for column in table.columns] == ["x1", "x2", "x3"]
    assert table.rows == 2


def test_any_column_can_be_the_target():
    data = data_from(b"class,a,b\n1,2,3\n2,3,4\n1,5,5\n", "class")
    assert data.y.tolist() == [1, 2, 1]
    assert data.names == ("a", "b")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (b"a,b\n", "no rows"),
        (b"a,b\n1,2\n3\n", "line 3: 1 cells"),
        (b'a,b\n1,2\n\n3,"4\n', "line 4"),
        (b"a,a\n1,2\n", "two columns named 'a'"),
        (b"a,b\n" + b"1,x\n" * 20 + b"one,y\n", "line 22, column 'a': 'one'"),
        (b"a,b\n" + b"1,x\n" * 20 + b"inf,y\n", "line 22, column 'a': 'inf'"),
        (b"a,b\n" + b"1,x\n" * 20 + b"1e999,y\n", "line 22, column 'a'"),
        (b"\x89PNG\r\n\x00\x00", "binary file"),
        (b"a,b\n1,caf\xe9\n", "line 2: the byte 0xe9"),
        (b"PAR1 is not all", "Parquet"),
        (b"1 1:2\n1 2:x\n", "line 2: '2:x'"),
        (b"1 1:2\n1 2:1 1:1\n", "line 2: '1:1'"),
        (b"1 1:2\n1 0:1\n", "line 2: '0:1'"),
        (b"1 1:2\nx 1:1\n", "line 2: the label 'x'"),
        (b"1 1:2\n1 99999999999:1\n", "index"),
    ],
)
def test_a_mistake_in_a_file_is_found_where_it_is(text, words):
    with pytest.raises(InvalidInputError, match=words):
        read_table(text, "t.csv")


@pytest.mark.parametrize(
    ("text", "target", "words"),
    [
        (b"a,b\n1,x\n2,x\n", None, "one class only, x"),
        (b"a,b\n1,x\n2,?\n", None, "line 3, column 'b': the class is missing"),
        (b"a,b\n1,x\n2,y\n", "c", "no column 'c'.* a, b"),
        (b"b\nx\ny\n", None, "no features"),
        (b"a,b\n" + b"".join(b"1,%d\n" % i for i in range(200)), None, "200 different numbers"),
    ],
)
def test_a_table_that_cannot_be_learned_says_why(text, target, words):
    with pytest.raises(InvalidInputError, match=words):
        data_from(text, target)


@pytest.mark.parametrize("path", ["absent.csv", "."])
def test_a_path_that_is_no_file_is_named(path):
    with pytest.raises(InvalidInputError, match=r"no file|folder"):
        read_table(path)


def test_libsvm_files_are_read_as_scikit_learn_reads_them():
    rng = np.random.default_rng(0)
    lines = []
    for _ in range(50):
        chosen = np.sort(rng.choice(20, size=rng.integers(1, 6), replace=False)) + 1
        cells = " ".join(f"{i}:{rng.normal():.6g}" for i in chosen)
        lines.append(f"{rng.choice(['+1', '-1'])} {cells} # remark")
    text = "\n".join(lines).encode()
    X, y = load_svmlight_file(io.BytesIO(text))
    found, labels, names = load(DataSpec("file", "t"), table=read_table(text, "t"))
    np.testing.assert_allclose(found, X.toarray())
    np.testing.assert_array_equal(labels, y)
    assert len(names) == X.shape[1]


def test_parquet_and_csv_hold_the_same(tmp_path):
    pa = pytest.importorskip("pyarrow", reason="pyarrow reads Parquet files")
    import pyarrow.parquet as pq

    columns = {"a": [1.5, None, 3.0], "flag": [True, False, True], "class": ["x", "y", "x"]}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    data = data_of(DataSpec("file", "t.parquet"), tmp_path)
    same = data_from(b"a,flag,class\n1.5,1,x\n,0,y\n3.0,1,x\n")
    np.testing.assert_array_equal(data.X, same.X)
    assert data.names == same.names
    assert data.y.tolist() == same.y.tolist()


@given(st.binary(max_size=200) | st.text(',;"\n 1ax.:?#', max_size=200).map(str.encode))
def test_whatever_the_file_it_is_read_or_refused_in_words(text):
    with suppress(InvalidInputError):
        assert isinstance(read_table(text, "t"), Table)


def test_lines_are_counted_past_cells_of_several_lines():
    with pytest.raises(InvalidInputError, match="line 4: 2 cells"):
        read_table(b'note,n,class\n"one\ntwo",1,x\nthree,2\n', "t.csv")
    table = read_table(b'note,n,class\n"one\ntwo\x0b",1,x\nthree,2,y\n', "t.csv")
    assert table.columns[0].values.tolist() == ["one\ntwo", "three"]


def test_mistakes_in_parquet_files_are_found(tmp_path):
    pa = pytest.importorskip("pyarrow", reason="pyarrow reads Parquet files")
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"a": ["1"] * 20 + ["one"]}), tmp_path / "t.parquet")
    with pytest.raises(InvalidInputError, match=r"t\.parquet, row 21, column 'a': 'one'"):
        read_table(tmp_path / "t.parquet")
    twice = pa.table([[1], [2]], names=["a", "a"])
    pq.write_table(twice, tmp_path / "t.parquet")
    with pytest.raises(InvalidInputError, match="two columns named 'a'"):
        read_table(tmp_path / "t.parquet")


def test_labels_that_are_huge_numbers_stay_apart():
    assert len(np.unique(data_from(b"a,b\n1,1e300\n2,2e300\n3,1e300\n").y)) == 2
