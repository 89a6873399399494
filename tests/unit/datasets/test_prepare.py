"""The steps of preparation on columns made for the purpose."""

import numpy as np
import pytest
import scipy.sparse as sp

from supple.datasets._dataset import from_columns
from supple.datasets._files import read_table
from supple.datasets._prepare import Recipe, prepare, standardise


def table(**columns):
    columns = {name: np.array(values) for name, values in columns.items()}
    return from_columns(columns, np.zeros(len(next(iter(columns.values())))))


def test_a_constant_that_is_no_binary_fraction_becomes_zero():
    X, _ = standardise(np.column_stack([np.full(7, 0.1), np.full(7, 1e9 + 0.1), np.arange(7.0)]))
    assert not X[:, :2].any()
    assert X[:, 2].std() == pytest.approx(1.0)


def test_the_most_frequent_value_fills_a_nominal_gap():
    raw = table(colour=["red", "?", "red", "blue"], code=[1.0, 3.0, np.nan, 3.0])
    X, names, done = prepare(raw, Recipe(nominal=("code",)), scaled=False)
    assert names == ("colour=blue", "colour=red", "code=3.0")
    np.testing.assert_array_equal(X, [[0, 1, 0], [0, 1, 1], [0, 1, 1], [1, 0, 1]])
    assert "2 missing values replaced by the most frequent value of their column." in done


def test_numbers_alone_need_no_remark():
    assert prepare(table(a=[1, 2], b=[0.5, 0.25]), Recipe(), scaled=False)[2] == []


def test_types_of_columns():
    raw = read_table(["n,f,m,s,class", "1,1,?,a,x", "2,0.5,3,?,y"])
    assert [raw.X.dtype[i].kind for i in range(4)] == ["i", "f", "f", "U"]
    assert np.isnan(raw.X["m"][0])
    assert raw.y.tolist() == ["x", "y"]


def test_rows_of_different_length_are_refused():
    with pytest.raises(ValueError, match="zip"):
        read_table(["a,b,class", "1,2,0", "1,0"])


def test_training_rows_come_first():
    assert read_table(["a,split,class", "1,train,0", "2,test,0"]).n_train == 1
    with pytest.raises(ValueError, match="marked train"):
        read_table(["a,split,class", "1,test,0", "2,train,0"])


def test_texts_become_tf_idf_of_unit_length():
    texts = ["a a a b", "b b c", "b c c", "a d d d"]
    lines = ["split,category,text", *(f"train,x,{t}" for t in texts), "test,x,a c c e"]
    X, names, _ = prepare(read_table(lines, label="category"), Recipe(), scaled=True)
    assert names == ("a", "b", "c", "d")
    assert sp.issparse(X)
    lengths = np.sqrt(X.multiply(X).sum(axis=1)).A1
    np.testing.assert_allclose(lengths, 1.0)
    # In the test text: a once, in 2 of 4 training texts; c twice, in 2; e is unknown.
    a, c = np.log(2.0), (1.0 + np.log(2.0)) * np.log(2.0)
    np.testing.assert_allclose(X[4].toarray()[0], [a, 0, c, 0] / np.hypot(a, c))
