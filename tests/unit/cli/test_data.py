"""`supple data`: what is there, what it holds, where it lies."""

import json
from pathlib import Path

import pytest

from supple.datasets import names


def test_list_names_every_set(supple):
    code, out, _ = supple("data", "list")
    assert code == 0
    for name in names():
        assert f"\n{name} " in out
    assert "rotating_gaussians" in out
    listed = json.loads(supple("data", "list", "--json")[1])
    assert [each["name"] for each in listed["data"]] == names()


@pytest.mark.parametrize("name", ["wbc", "monks1", "sea"])
def test_info_of_a_set(supple, name):
    code, out, _ = supple("data", "info", name)
    assert code == 0
    assert out.startswith(f"{name}: ")
    found = json.loads(supple("data", "info", name, "--json")[1])
    assert sum(found["classes"].values()) == found["rows"]


def test_info_of_a_file(supple, tmp_path):
    (tmp_path / "own.csv").write_text("a,b\n1,x\n?,y\n")
    code, out, _ = supple("data", "info", "own.csv")
    assert code == 0
    assert [line.split() for line in out.splitlines()[1:]] == [
        ["column", "kind", "different", "values", "missing"],
        ["a", "number", "1", "1"],
        ["b", "nominal", "2", "0"],
    ]
    found = json.loads(supple("data", "info", "own.csv", "--json")[1])
    assert found["columns"][0] == {"name": "a", "kind": "number", "distinct": 1, "missing": 1}


def test_path_leads_to_files(supple, monkeypatch, tmp_path):
    assert Path(supple("data", "path", "wbc")[1].strip()).is_file()
    assert Path(supple("data", "path")[1].strip()).is_dir()
    (tmp_path / "usps.npz").write_bytes(b"")
    monkeypatch.setenv("SUPPLE_DATA", str(tmp_path))
    assert supple("data", "path", "usps")[1].strip() == str(tmp_path / "usps.npz")
    assert len(supple("data", "path")[1].splitlines()) == 2
