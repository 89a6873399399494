"""The tables of docs/datasets.md say what the library does."""

import json
from importlib.resources import files
from pathlib import Path

import pytest

from supple.datasets import load, names
from supple.datasets._catalogue import SOURCES

PAGE = Path(__file__).resolve().parents[3] / "docs" / "datasets.md"
PROVENANCE = json.loads(
    files("supple.datasets").joinpath("data", "PROVENANCE.json").read_text(encoding="utf-8")
)


def embedded_row(name):
    raw, prepared, entry = load(name, prepared=False), load(name), PROVENANCE[name]
    examples = str(len(raw.y))
    if raw.n_train is not None:
        examples = f"{raw.n_train} + {len(raw.y) - raw.n_train}"
    licence = entry["uci_license"] or entry["package_license"].split(" (")[0] + " (package)"
    cells = [name, entry["title"], examples, len(raw.feature_names), prepared.X.shape[1],
             len(raw.target_names), licence]  # fmt: skip
    return f"| {' | '.join(map(str, cells))} |"


def outside_row(name):
    source = SOURCES[name]
    openml = "no"
    if source.openml is not None:
        query = source.openml.query
        openml = f"`{query['name']}`" if "name" in query else f"number {query['data_id']}"
    cells = [name, source.title, source.rows, source.columns, source.classes, source.terms,
             f"`{source.file}`", openml]  # fmt: skip
    return f"| {' | '.join(map(str, cells))} |"


EXPECTED = {
    **{name: embedded_row for name in names()},
    **{name: outside_row for name in sorted(SOURCES)},
}


@pytest.mark.parametrize("name", EXPECTED)
def test_row_of_the_page(name):
    assert EXPECTED[name](name) in PAGE.read_text(encoding="utf-8").splitlines()


def test_no_other_rows():
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| ") and line.count(" | ") >= 6]
    assert len(rows) == len(EXPECTED) + 2  # and the two headings
