"""Every Python block of README.md and docs/ runs, and every link to a file leads somewhere.

A block after a line ``<!-- needs package -->`` is left out if that package is not installed.
"""

import re
from importlib.util import find_spec
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *(page for page in sorted(ROOT.glob("*.md"))),
    *(page for page in sorted((ROOT / "docs").rglob("*.md"))),
]
BLOCK = re.compile(
    r"^(?:<!-- needs (?P<needs>\w+) -->\n)?```python\n(?P<code>.*?)^```", re.MULTILINE | re.DOTALL
)
LINK = re.compile(r"\]\(([^)\s#]+)[^)]*\)|<img[^>]* src=\"([^\"]+)\"")


def name(page):
    return str(page.relative_to(ROOT))


def blocks(page):
    """Return (first line number, code) of each Python block of `page` that can run here."""
    text = page.read_text(encoding="utf-8")
    return [
        (text.count("\n", 0, match.start("code")), match["code"])
        for match in BLOCK.finditer(text)
        if match["needs"] is None or find_spec(match["needs"])
    ]


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=name)
def test_python_blocks_run(page, monkeypatch, tmp_path):
    """The blocks of a page share one namespace, as a reader would type them."""
    monkeypatch.chdir(tmp_path)
    matplotlib.use("Agg")
    namespace = {"__name__": "__main__"}
    for line, code in blocks(page):
        # The leading newlines make a traceback point to the line of the page.
        exec(compile("\n" * line + code, name(page), "exec"), namespace)
    plt.close("all")


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_to_files_lead_somewhere(page):
    targets = [a or b for a, b in LINK.findall(page.read_text(encoding="utf-8"))]
    missing = [t for t in targets if "://" not in t and not (page.parent / t).exists()]
    assert not missing


def test_readme_shows_code():
    assert blocks(ROOT / "README.md")
