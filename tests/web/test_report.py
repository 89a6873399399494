"""The report of `supple compare` is one file that opens offline, in a real browser."""

from pathlib import Path

import pytest
from live_server import PATIENCE
from playwright.sync_api import expect

from supple.cli._app import run

AXE = Path(__file__).parent / "vendor" / "axe.min.js"
RUN_AXE = """async () => (await axe.run()).violations.flatMap(
    (found) => found.nodes.map((node) => `${found.id}: ${node.html.slice(0, 160)}`))"""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    machines = ["--machine", "svc C=10", "--machine", "lasvm", "--repetitions", "3"]
    assert run(["compare", "sonar", *machines, "--points", "4", "--out", str(folder)]) == 0
    (page,) = folder.glob("*.html")
    return page


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_opens_offline_and_has_no_barriers(browser, report, theme, width):
    context = browser.new_context(
        offline=True, color_scheme=theme, viewport={"width": width, "height": 900}
    )
    asked, errors = [], []
    page = context.new_page()
    page.set_default_timeout(1000 * PATIENCE)
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(report.as_uri())
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_text("lasvm").first).to_be_visible()
    assert "[data]" in page.content()  # the TOML that repeats the run
    page.add_script_tag(content=AXE.read_text(encoding="utf-8"))
    assert page.evaluate(RUN_AXE) == []
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert errors == []
    context.close()
