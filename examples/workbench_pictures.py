"""Draw the pictures of docs/workbench.md and README.md: a real server, a real browser, real runs.

Run ``python examples/workbench_pictures.py``; it needs Playwright, Chromium and Pillow.
"""

import io
import os
import shutil
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from supple.workbench import Settings, create_app

FOLDER = Path(__file__).parent.parent / "docs" / "images"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
LIMIT = 150_000  # bytes of a picture


@contextmanager
def serving(folder: Path):
    """Yield the address of a workbench that keeps its history in `folder`."""
    config = uvicorn.Config(
        create_app(Settings(folder=folder)),
        host="127.0.0.1",
        port=0,
        log_level="error",
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


def keep(page: Page, name: str) -> None:
    """Write what the page shows, with as many colours as the limit allows."""
    page.wait_for_timeout(400)  # the last frame of a chart
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    for colours in (256, 128, 64, 32):
        packed = io.BytesIO()
        picture.quantize(colours, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(
            packed, "PNG", optimize=True
        )
        if packed.tell() < LIMIT:
            break
    (FOLDER / f"{name}.png").write_bytes(packed.getvalue())
    print(f"{name}.png: {packed.tell() / 1000:.0f} KB")


def run(page: Page, **numbers: int) -> None:
    """Press Run on the Compare tab and wait for the end."""
    for label, value in numbers.items():
        box = page.get_by_label(label.replace("_", " "), exact=True)
        box.fill(str(value))
        box.press("Tab")
    before = page.url
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_url(lambda url: url != before)
    own = f'[data-run="{page.url.rsplit("/", 1)[1]}"]'
    page.wait_for_selector(f"{own} .badge.finished", timeout=300_000)
    page.wait_for_selector(".bar")


def draw(page: Page, url: str) -> None:
    """Take the way of a user and keep what is seen."""
    page.goto(url)
    page.wait_for_selector(".legend li")
    keep(page, "workbench-data")
    page.goto(f"{url}/#/playground")
    page.get_by_text("differs from a refit by").wait_for()
    page.wait_for_timeout(2000)  # the estimates come when the hand rests
    keep(page, "workbench-playground")
    page.goto(f"{url}/#/compare")
    run(page)
    page.wait_for_selector(".toasts p", state="detached")
    keep(page, "workbench-compare")
    page.get_by_label("Sweep one parameter instead").check()
    run(page, Repetitions=3, Training_sizes=4)
    page.get_by_role("heading", name="What C does").wait_for()
    page.get_by_role("button", name="Switch to the dark theme").click()
    page.mouse.wheel(0, 420)
    keep(page, "workbench-sweep")
    page.goto(f"{url}/#/runs")
    page.wait_for_selector(".run-item")
    page.get_by_label("Notes on").first.fill("C = 1 is best; larger values overfit.")
    for box in page.get_by_role("checkbox").all():
        box.check()
    page.get_by_role("heading", name="Runs").click()
    page.wait_for_selector(".toasts p", state="detached")
    keep(page, "workbench-runs")


def main() -> None:
    """Draw all pictures."""
    chromium = os.environ.get("SUPPLE_CHROMIUM") or shutil.which("chromium")
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(Path(folder)) as url,
        sync_playwright() as driver,
    ):
        browser = driver.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 860}, color_scheme="light")
        page.set_default_timeout(120_000)
        draw(page, url)
        browser.close()


if __name__ == "__main__":
    main()
