"""A real Chromium and a real server; every page is watched for strangers and errors."""

import os
import shutil
from pathlib import Path

import pytest
from live_server import PATIENCE, live_server

from supple.workbench import Settings

FLAGS = [
    f"--{name}"
    for name in (
        "no-sandbox",
        "disable-gpu",
        "disable-quic",
        "no-first-run",
        "disable-background-networking",
        "disable-component-update",
        "disable-sync",
    )
]


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    named = os.environ.get("SUPPLE_CHROMIUM", "required")
    path = shutil.which("chromium") if named == "required" else named
    if path is None or not Path(path).exists():
        missing = pytest.fail if "SUPPLE_CHROMIUM" in os.environ else pytest.skip
        missing("there is no chromium; install it, or name one by SUPPLE_CHROMIUM")
    with playwright.sync_playwright() as driver:
        playwright.expect.set_options(timeout=1000 * PATIENCE)
        chromium = driver.chromium.launch(executable_path=path, args=FLAGS, timeout=1000 * PATIENCE)
        yield chromium
        chromium.close()


class Watched:
    """Opens pages and remembers what they asked for and what went wrong in them."""

    def __init__(self, browser, url):
        self._browser, self.url = browser, url
        self.outside, self.errors, self._contexts = [], [], []

    def open(self, path="", **options):
        context = self._browser.new_context(
            **{"viewport": {"width": 1280, "height": 900}, **options}
        )
        self._contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(1000 * PATIENCE)
        page.on("request", self._note)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on(
            "console",
            lambda said: self.errors.append(said.text) if said.type == "error" else None,
        )
        page.goto(f"{self.url}/{path}")
        return page

    def _note(self, request):
        if not request.url.startswith((self.url, "blob:", "data:")):
            self.outside.append(request.url)

    def close(self):
        for context in self._contexts:
            context.close()


@pytest.fixture
def serve(browser, tmp_path):
    """Return a function that starts a workbench and returns a watched browser."""
    opened = []

    def start(**options):
        server = live_server(Settings(folder=tmp_path / "kept"), **options)
        _, url = server.__enter__()
        watched = Watched(browser, url)
        opened.append((server, watched))
        return watched

    yield start
    for server, watched in opened:
        watched.close()
        server.__exit__(None, None, None)
        assert watched.outside == []


@pytest.fixture
def workbench(serve):
    """A workbench whose runs are real studies; no error may appear in the console."""
    watched = serve()
    yield watched
    assert watched.errors == []
