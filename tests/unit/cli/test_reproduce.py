"""`supple reproduce` lists the papers, runs an item, and explains mistakes in one sentence."""

import pytest

from supple.cli._app import run


def test_the_list(capsys):
    assert run(["reproduce"]) == 0
    listed = capsys.readouterr().out
    for paper in ("rueping", "syed", "tax-laskov", "klinkenberg-joachims", "morgado-pereira"):
        assert paper in listed


def test_one_item(tmp_path, capsys):
    code = run(["reproduce", "rueping", "example", "--quick", "--out", str(tmp_path)])
    assert code == 0
    assert list((tmp_path / "rueping").glob("*.csv"))
    capsys.readouterr()


@pytest.mark.parametrize(
    "arguments", [["newton"], ["rueping", "table 9"], ["rueping", "--jobs", "0"]]
)
def test_mistakes(arguments, capsys):
    assert run(["reproduce", *arguments]) == 2
    said = capsys.readouterr().err
    assert said.startswith("Error: ")
    assert "Traceback" not in said
