"""Everyone can use the page: axe finds nothing, the keyboard reaches all, nothing sticks out."""

from pathlib import Path

from playwright.sync_api import expect
from unit.workbench import fakes

AXE = Path(__file__).parent / "vendor" / "axe.min.js"
RUN_AXE = """async () => (await axe.run()).violations.flatMap(
    (found) => found.nodes.map((node) => `${found.id}: ${node.html.slice(0, 160)}`))"""
STUDY = {
    "name": "seen by axe",
    "data": {"source": "embedded", "name": "sonar"},
    "machines": [{"label": each, "machine": each, "params": {}} for each in ("svc", "rvm")],
    "repetitions": 3,
}


def states(watched, theme, width):
    """Open each state of the page in one theme and width."""
    page = watched.open("#/data", color_scheme=theme, viewport={"width": width, "height": 860})
    page.wait_for_selector(".legend li")
    yield "data", page
    page.get_by_text("Paste a table").click()
    page.get_by_role("button", name="Use this table").click()
    page.get_by_role("alert").wait_for()
    yield "a bad table", page
    page.goto(f"{watched.url}/#/runs")
    page.get_by_text("The history is empty").wait_for()
    yield "an empty history", page
    page.goto(f"{watched.url}/#/compare")
    page.locator(".machine summary").first.click()
    yield "nothing run", page
    # An endless run sends a few records and then keeps still while axe looks at it.
    study = {**STUDY, "name": "endless"}
    begun = page.request.post(f"{watched.url}/api/runs", data={"spec": study}).json()
    page.goto(f"{watched.url}/#/compare/{begun['id']}")
    page.wait_for_selector(".badge.running")
    page.wait_for_selector("table.figures tbody tr")
    yield "running", page
    page.request.delete(f"{watched.url}/api/runs/{begun['id']}")
    done = page.request.post(f"{watched.url}/api/runs/import", data=finished_run()).json()
    page.goto(f"{watched.url}/#/compare/{done['id']}")
    page.wait_for_selector(".bar")
    page.locator(".menu summary").click()
    yield "finished", page
    page.goto(f"{watched.url}/#/runs")
    page.wait_for_selector(".run-item")
    yield "runs", page
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").wait_for()
    yield "a question", page
    page.request.delete(f"{watched.url}/api/runs/{done['id']}")


def finished_run():
    """Return a run of two machines as another workbench would share it."""
    records = [
        {**fakes.RECORD, "repetition": i, "machine": each, "n_train": n, "accuracy": 0.9 - i / n}
        for i in range(3)
        for n in (20, 40)
        for each in ("svc", "rvm")
    ]
    return {"study": STUDY, "records": records}


def test_axe_finds_nothing_and_nothing_sticks_out(serve):
    watched = serve(work=fakes.work)
    for theme in ("light", "dark"):
        for width in (1280, 390):
            for state, page in states(watched, theme, width):
                where = (state, theme, width)
                expect(page.locator("html")).to_have_attribute("data-theme", theme)
                page.evaluate(AXE.read_text())
                assert page.evaluate(RUN_AXE) == [], where
                assert page.evaluate("document.documentElement.scrollWidth") <= width, where


def test_the_keyboard_reaches_a_run_and_its_explanations(workbench):
    page = workbench.open("#/compare")
    page.wait_for_selector("#run")
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
    seen = []
    for _ in range(60):
        page.keyboard.press("Tab")
        focus = page.evaluate("document.activeElement.ariaLabel || document.activeElement.id")
        seen.append(focus)
        if focus == "About exact incremental SVM (C&P)":
            expect(page.locator(".tip-text.open")).to_contain_text("min ½|w|²")
            expect(page.locator(".tip-text.open")).to_contain_text("Cauwenberghs")
            page.keyboard.press("Escape")
            expect(page.locator(".tip-text.open")).to_have_count(0)
        if focus == "run":
            break
    assert seen[-1] == "run"
    assert "About exact incremental SVM (C&P)" in seen
    page.keyboard.press("Enter")
    page.wait_for_selector(".run-head")


def test_the_theme_is_remembered(workbench):
    page = workbench.open("#/data", color_scheme="light")
    page.get_by_role("button", name="Switch to the dark theme").click()
    page.reload()
    page.get_by_role("button", name="Switch to the light theme").wait_for()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
