"""The download, through scikit-learn's real fetcher, from a server on this machine."""

import hashlib
import json
import sys
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.datasets._openml as fetcher

from supple.datasets import load
from supple.datasets._catalogue import SOURCES
from supple.errors import DamagedDataError, DataNotFoundError

ADULT = """@relation adult
@attribute age numeric
@attribute workclass {Private, State-gov}
@attribute hours numeric
@attribute class {<=50K, >50K}
@data
39,State-gov,40,<=50K
50,?,13.5,<=50K
38,Private,?,>50K
28,Private,40,>50K
"""
EYES = """@relation eeg
@attribute V1 numeric
@attribute V2 numeric
@attribute Class {1, 2}
@data
4329.23,1,1
4324.62,2,2
4327.69,3,1
"""
A9A = """@relation a9a
@attribute f1 numeric
@attribute f2 numeric
@attribute f3 numeric
@attribute class {-1, 1}
@data
{0 1,3 1}
{1 1,2 1,3 1}
{2 1,3 -1}
"""
DIGITS = """@relation mnist
@attribute p1 integer
@attribute p2 integer
@attribute class {0, 5}
@data
0,255,5
51,0,0
255,255,5
"""
# name on OpenML -> id, format, column types, file
SETS = {
    "adult": (1590, "ARFF", ["numeric", "nominal", "numeric", "nominal"], ADULT),
    "eeg-eye-state": (1471, "ARFF", ["numeric", "numeric", "nominal"], EYES),
    "a9a": (1430, "Sparse_ARFF", ["numeric", "numeric", "numeric", "nominal"], A9A),
    "mnist_784": (554, "ARFF", ["numeric", "numeric", "nominal"], DIGITS),
}


class OpenMLHandler(BaseHTTPRequestHandler):
    """Answers as OpenML does, for the sets above."""

    def do_GET(self):
        self.server.asked.append(self.path)
        body = self.answer(self.path.strip("/").split("/"))
        self.send_response(412 if body is None else 200)
        self.end_headers()
        self.wfile.write(body or b"{}")

    def answer(self, path):
        if path[:2] == ["data", "v1"]:
            return self.find(path[3])[4].encode()
        if "data_name" in path:
            name = path[path.index("data_name") + 1]
            if name not in SETS or path[-1] == "deactivated":
                return None
            entry = {"did": SETS[name][0], "name": name, "version": 1, "status": "active"}
            return json.dumps({"data": {"dataset": [entry]}}).encode()
        return json.dumps(self.describe(path[-2], *self.find(path[-1]))).encode()

    def find(self, number):
        return next((name, *entry) for name, entry in SETS.items() if str(entry[0]) == number)

    def describe(self, what, name, number, form, types, text):
        columns = [line.split()[1] for line in text.splitlines() if line.startswith("@attr")]
        if what == "features":
            features = [
                {"index": str(i), "name": column, "data_type": kind, "is_ignore": "false",
                 "is_target": str(i == len(columns) - 1).lower(), "is_row_identifier": "false",
                 "number_of_missing_values": "0"}
                for i, (column, kind) in enumerate(zip(columns, types, strict=True))
            ]  # fmt: skip
            return {"data_features": {"feature": features}}
        if what == "qualities":
            rows = len(text.split("@data\n")[1].splitlines())
            return {"data_qualities": {"quality": [{"name": "NumberOfInstances", "value": rows}]}}
        host, port = self.server.server_address
        return {"data_set_description": {
            "id": number, "name": name, "version": "1", "format": form, "status": "active",
            "description": "made for a test", "file_id": str(number),
            "url": f"http://{host}:{port}/data/v1/download/{number}/{name}.arff",
            "md5_checksum": hashlib.md5(text.encode()).hexdigest()}}  # fmt: skip

    def log_message(self, *arguments):
        """Print nothing."""


@pytest.fixture
def server(monkeypatch, tmp_path):
    """Serve on loopback, and let scikit-learn ask here instead of openml.org."""
    monkeypatch.delenv("SUPPLE_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), OpenMLHandler)
    httpd.asked = []
    address = "http://{}:{}".format(*httpd.server_address)
    for name, value in vars(fetcher).copy().items():
        if isinstance(value, str) and value.startswith("https://") and "openml.org/" in value:
            path = value.split("openml.org/")[1]
            monkeypatch.setattr(fetcher, name, f"{address}/{path}")
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield httpd
    httpd.shutdown()
    thread.join()
    httpd.server_close()


@pytest.fixture
def small(monkeypatch):
    """Let a set of the catalogue have the shape of the one served here."""

    def shrink(name, rows, columns, **changes):
        where = replace(SOURCES[name].openml, rows=rows, columns=columns, **changes)
        monkeypatch.setitem(SOURCES, name, replace(SOURCES[name], openml=where))

    return shrink


def test_a_table(server, small):
    small("adult_raw", 4, 3)
    raw = load("adult_raw", prepared=False)
    assert raw.X["age"].tolist() == [39, 50, 38, 28]
    assert raw.X["workclass"].tolist() == ["State-gov", "?", "Private", "Private"]
    np.testing.assert_array_equal(raw.X["hours"], [40, 13.5, np.nan, 40])
    assert raw.y.tolist() == ["<=50K", "<=50K", ">50K", ">50K"]
    data = load("adult_raw", scaled=False)
    assert data.feature_names == ("age", "workclass=Private", "workclass=State-gov", "hours")
    assert data.X[1].tolist() == [50.0, 1.0, 0.0, 13.5]
    assert "Downloaded from OpenML" in data.description


def test_pandas_is_not_needed(server, small, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    small("adult_raw", 4, 3)
    assert load("adult_raw").X.shape == (4, 4)


def test_labels_are_those_of_the_file(server, small):
    small("eeg_eye_state", 3, 2)
    data = load("eeg_eye_state", prepared=False)
    assert data.y.tolist() == [0, 1, 0]
    assert data.X["V1"].tolist() == [4329.23, 4324.62, 4327.69]


def test_a_sparse_set(server, small):
    small("a9a", 3, 3)
    data = load("a9a")
    assert sp.issparse(data.X)
    assert data.X.format == "csr"
    assert data.X.toarray().tolist() == [[1, 0, 0], [0, 1, 1], [0, 0, 1]]
    assert data.y.tolist() == [1, 1, -1]


def test_a_matrix_with_a_training_part(server, small):
    small("mnist", 3, 2, n_train=2)
    X_train, X_test, y_train, y_test = load("mnist").split()
    np.testing.assert_allclose(X_train, [[0, 1], [0.2, 0]], rtol=1e-6)
    assert X_test.tolist() == [[1, 1]]
    assert y_train.tolist() == [5, 0]
    assert y_test.tolist() == [5]


def test_the_second_time_nothing_is_asked(server, small):
    small("eeg_eye_state", 3, 2)
    load("eeg_eye_state")
    assert server.asked
    server.asked.clear()
    load("eeg_eye_state")
    assert server.asked == []


def test_another_set_under_the_name_is_noticed(server):
    with pytest.raises(DamagedDataError, match="The download holds 3 rows of 2 columns"):
        load("eeg_eye_state")


def test_a_set_that_openml_does_not_have(server):
    with pytest.raises(DataNotFoundError, match=r"'w8a'.*not found.*w8a\.npz.*SUPPLE_DATA"):
        load("w8a")


def test_no_network(server, monkeypatch):
    for name, value in vars(fetcher).copy().items():
        if isinstance(value, str) and value.startswith("http://127.0.0.1"):
            monkeypatch.setattr(fetcher, name, "http://127.0.0.1:1/" + value.split("/", 3)[3])
    monkeypatch.setattr(fetcher.time, "sleep", lambda seconds: None)
    with (
        pytest.warns(UserWarning, match="network error"),
        pytest.raises(DataNotFoundError, match=r"'mnist' could not be downloaded.*SUPPLE_DATA"),
    ):
        load("mnist")
