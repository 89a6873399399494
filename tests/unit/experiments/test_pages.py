"""The pages are those that the results give, and the results are of the present declarations."""

import json
from pathlib import Path

import pytest

from supple.experiments import PAPERS, main, reproduce
from supple.experiments._pages import read, section
from supple.experiments._publish import pages
from supple.experiments._results import as_csv, as_json, from_json

FOLDER = Path(__file__).resolve().parents[3] / "docs" / "experiments"
RESULTS = FOLDER / "results"
FOUND = [(paper, item) for paper in PAPERS.values() for item in read(RESULTS, paper)]


@pytest.mark.parametrize("name", ["README.md", *(f"{paper}.md" for paper in PAPERS)])
def test_a_page_is_what_the_results_give(name):
    assert (FOLDER / name).read_text(encoding="utf-8") == pages(RESULTS)[name]


@pytest.mark.parametrize(("paper", "item"), FOUND, ids=[f"{p.name}/{i}" for p, i in FOUND])
def test_results_are_of_a_full_run_and_of_these_declarations(paper, item):
    text = (RESULTS / paper.name / f"{item}.json").read_text(encoding="utf-8")
    result, declared = from_json(text), paper.item(item)
    assert not result.quick
    assert as_json(paper, declared, result) == text
    for row in result.rows:
        assert row.paper == declared.value_of_paper(row.measure, row.labels)
        for name, values in declared.axes.items():
            assert row.labels[name] in map(str, values)


def test_every_paper_has_results():
    assert {paper.name for paper, _ in FOUND} == set(PAPERS)


def test_only_numbers_are_published():
    assert {path.suffix for path in RESULTS.rglob("*") if path.is_file()} == {".json"}


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    folder = tmp_path_factory.mktemp("example")
    return folder, reproduce("rueping", "example", quick=True, out=folder, report=len)["example"]


def test_a_small_item_writes_all_its_files(example):
    folder, result = example
    names = {path.name for path in (folder / "rueping").iterdir()}
    assert names == {"cells.jsonl", *(f"example.{s}" for s in ("csv", "json", "md", "png", "svg"))}
    item = PAPERS["rueping"].item("example")
    lines = as_csv(item, result).splitlines()
    assert lines[0] == "machine,measure,paper,ours,spread,repetitions,verdict"
    assert len(lines) == 1 + len(result.rows)
    assert lines[4].startswith("SV,angle,")
    assert lines[4].endswith(("holds", "does not hold"))
    assert json.loads((folder / "rueping" / "example.json").read_text())["quick"] is True


def test_the_section_shows_verdict_and_form(example):
    _, result = example
    text = section(PAPERS["rueping"].item("example"), result, pictures=None)
    assert "small form" in text
    assert "holds**" in text
    assert "![" not in text


def test_quick_results_are_not_published(example, tmp_path, capsys):
    folder, _ = example
    assert main(["--out", str(folder), "--pages", str(tmp_path)]) == 0
    assert "rueping, example: left out" in capsys.readouterr().out
    assert not (tmp_path / "results").exists()


def test_pictures_are_left_out_without_matplotlib(tmp_path, monkeypatch):
    monkeypatch.setattr("supple.experiments._pictures.find_spec", lambda name: None)
    said = []
    reproduce("rueping", "example", quick=True, out=tmp_path, report=said.append)
    assert any("matplotlib is not installed" in line for line in said)
    assert not list(tmp_path.rglob("*.png"))
    assert "![" not in (tmp_path / "rueping" / "example.md").read_text(encoding="utf-8")
