"""A user's mistake is one clear sentence and the exit code 2, never a traceback."""

import io
import sys
from types import SimpleNamespace

import pytest

BAD_FILES = {
    "empty.csv": b"",
    "blank.csv": b"\n \n",
    "header.csv": b"a,b\n",
    "binary.csv": bytes(range(256)),
    "picture.png": b"\x89PNG\r\n\x1a\n\0\0\0",
    "ragged.csv": b"a,b\n1,2\n3\n",
    "one-class.csv": b"a,b\n1,x\n2,x\n3,x\n4,x\n",
    "one-class.libsvm": b"1 1:2\n1 1:3\n1 2:3\n1 2:2\n",
    "regression.csv": b"a,b\n" + b"".join(b"%d,%d\n" % (i, i * i) for i in range(300)),
    "latin.csv": "a,b\n1,é\n".encode("latin-1"),
}

WRONG = [
    ["--wrong"],
    ["compute"],
    ["compare", "--wrong"],
    ["compare", "wbc", "heart"],
    ["compare", "--order", "backwards"],
    ["compare", "--order", "sorted"],
    ["compare", "--by", "nothing"],
    ["compare", "--target", "class"],
    ["compare", "--protocol", "none"],
    ["compare", "--prepare", "magic"],
    ["compare", "--repetitions", "0"],
    ["compare", "--repetitions", "many"],
    ["compare", "--batch-size", "0"],
    ["compare", "--points", "-1"],
    ["compare", "--test-share", "1"],
    ["compare", "--seed", "-1"],
    ["compare", "--rope", "2"],
    ["compare", "--rows", "1"],
    ["compare", "--machines", ""],
    ["compare", "--machines", "svc,svm"],
    ["compare", "--machines", "svc,svc"],
    ["compare", "--machine", "svc C=-1"],
    ["compare", "--machine", "svc cost=1"],
    ["compare", "--machine"],
    ["compare", "--config", "absent.toml"],
    ["compare", "--config", "."],
    ["compare", "absent.csv"],
    ["compare", "hart"],
    ["compare", ""],
    ["compare", "."],
    ["compare", "mnist"],
    ["compare", "sea noise=2"],
    ["compare", "sea noise"],
    ["compare", "sea colour=3"],
    ["data", "--wrong"],
    ["data", "show"],
    ["data", "list", "--wrong"],
    ["data", "list", "more"],
    ["data", "info"],
    ["data", "info", "--wrong"],
    ["data", "info", "hart"],
    ["data", "info", "absent.csv"],
    ["data", "path", "--wrong"],
    ["data", "path", "hart"],
    ["data", "path", "monks1"],
    ["data", "path", "mnist"],
    ["workbench", "--wrong"],
    ["workbench", "--port", "many"],
    ["workbench", "--port", "99999"],
]


def assert_one_sentence(outcome):
    code, out, err = outcome
    assert code == 2
    assert out == ""
    assert err.startswith("Error: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    assert len(err) < 700


@pytest.mark.parametrize("arguments", WRONG, ids=" ".join)
def test_wrong_arguments(supple, arguments):
    assert_one_sentence(supple(*arguments))


@pytest.mark.parametrize("name", BAD_FILES)
def test_files_that_cannot_be_compared(supple, tmp_path, name):
    (tmp_path / name).write_bytes(BAD_FILES[name])
    outcome = supple("compare", name)
    assert_one_sentence(outcome)
    assert name in outcome[2]


@pytest.mark.parametrize("name", ["empty.csv", "binary.csv", "ragged.csv", "latin.csv"])
def test_files_that_cannot_be_read(supple, tmp_path, name):
    (tmp_path / name).write_bytes(BAD_FILES[name])
    assert_one_sentence(supple("data", "info", name))


@pytest.mark.parametrize("name", ["empty.csv", "binary.csv", "one-class.csv"])
def test_standard_input_that_cannot_be_compared(supple, monkeypatch, name):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(BAD_FILES[name])))
    outcome = supple("compare", "-")
    assert_one_sentence(outcome)
    assert "standard input" in outcome[2]


@pytest.mark.parametrize("name", ["empty.csv", "binary.csv", "ragged.csv", "latin.csv"])
def test_files_that_are_no_study(supple, tmp_path, name):
    (tmp_path / name).write_bytes(BAD_FILES[name])
    assert_one_sentence(supple("compare", "--config", name))


def test_a_folder_that_cannot_be_made_shows_before_the_work(supple, tmp_path):
    (tmp_path / "file").write_text("here")
    assert_one_sentence(supple("compare", "--out", "file"))
    assert_one_sentence(supple("compare", "--out", "file/inside"))


def test_a_name_nearly_right_is_suggested(supple):
    assert "Did you mean 'heart'?" in supple("compare", "haert")[2]
    assert "--target" in supple("compare", "--tarket", "x")[2]
