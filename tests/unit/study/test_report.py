"""Reports: complete, closed to the outside, and safe with any name."""

import csv
import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from supple.study import (
    DataSpec,
    MachineSpec,
    StudySpec,
    execute,
    to_csv,
    to_html,
    to_json,
    to_png,
)

WILD = "<script>alert('&')</script> $x$ _"
SPEC = StudySpec(
    WILD,
    DataSpec("embedded", "heart"),
    (MachineSpec("<b>one</b>", "svc"), MachineSpec("_two", "libsvm")),
    repetitions=2,
    points=3,
)


@pytest.fixture(scope="module")
def records():
    return list(execute(SPEC))


class Page(HTMLParser):
    """What a browser sees: the tags, their attributes, and the text of the TOML."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.toml, self._in_toml = [], [], "", False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self._in_toml |= ("id", "study-toml") in attrs

    def handle_endtag(self, tag):
        self._in_toml &= tag != "pre"

    def handle_data(self, data):
        self.toml += data if self._in_toml else ""


def test_the_page_is_closed_and_escaped(records):
    text = to_html(SPEC, records)
    page = Page(text)
    assert not {"script", "link", "img", "iframe", "b"} & set(page.tags)
    assert not {"src", "href", "onload", "xlink:href"} & {name for name, _ in page.attributes}
    assert not re.search(r"https?:|url\(|@import", text)
    assert page.tags.count("figure") == 3
    assert StudySpec.from_toml(page.toml) == SPEC


def test_the_page_of_one_repetition_and_of_a_failure(records):
    one = [record for record in records if record.repetition == 0]
    assert "Which machine is better" not in to_html(SPEC, one)
    failed = [replace(r, error="<i>no</i>", accuracy=None, n_vectors=None) for r in one]
    page = to_html(SPEC, failed)
    assert "&lt;i&gt;no&lt;/i&gt;" in page
    assert "Nothing was measured" in page


def test_csv_and_json_hold_all_records(records):
    rows = list(csv.DictReader(io.StringIO(to_csv(SPEC, records))))
    assert len(rows) == len(records)
    assert rows[0]["study"] == WILD
    assert float(rows[-1]["accuracy"]) == records[-1].accuracy
    found = json.loads(to_json(SPEC, records))
    assert StudySpec.from_dict(found["study"]) == SPEC
    assert len(found["records"]) == len(records)
    assert [each["machine"] for each in found["summary"]] == ["<b>one</b>", "_two"]
    assert found["pairs"][0]["equivalent"] == 1.0


def test_the_picture_is_a_png(records):
    assert to_png(SPEC, records).startswith(b"\x89PNG\r\n")
    assert to_png(SPEC, [replace(r, n_vectors=None) for r in records]).startswith(b"\x89PNG")
