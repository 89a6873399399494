"""Runs that go on: live, paused, cancelled, reloaded, broken."""

import pytest
from live_server import wait_until
from playwright.sync_api import expect
from unit.workbench import fakes
from web.pages import finished

SPEC = {
    "name": "<img src=x onerror=alert(1)>",
    "data": {"source": "embedded", "name": "sonar"},
    "machines": [{"label": "svc", "machine": "svc", "params": {}}],
}


def begin(page, url, **changes):
    answer = page.request.post(f"{url}/api/runs", data={"spec": {**SPEC, **changes}})
    return answer.json()["id"]


def run_of(page, url, run_id):
    return page.request.get(f"{url}/api/runs/{run_id}").json()


def test_cancel_is_felt_and_its_delay_is_printed(serve):
    watched = serve(work=fakes.work)
    page = watched.open("#/runs")
    delays = []
    for _ in range(3):
        run_id = begin(page, watched.url, name="endless")
        page.goto(f"{watched.url}/#/compare/{run_id}")
        page.wait_for_selector(".badge.running")
        page.wait_for_selector("table.figures tbody tr")
        delays.append(
            page.evaluate(
                """() => new Promise((resolve) => {
                    const begun = performance.now();
                    const look = () => document.querySelector(".badge.cancelled")
                        ? resolve(performance.now() - begun) : requestAnimationFrame(look);
                    document.querySelector("[data-order=cancel]").click();
                    look();
                })"""
            )
        )
    print(f"cancel felt after {[round(delay) for delay in delays]} ms")
    assert run_of(page, watched.url, run_id)["state"] == "cancelled"


def test_a_reload_keeps_the_run_and_a_pause_holds_it(serve):
    watched = serve(work=fakes.steps_forever)
    page = watched.open("#/runs")
    run_id = begin(page, watched.url)
    page.goto(f"{watched.url}/#/compare/{run_id}")
    page.wait_for_selector(".badge.running")
    page.reload()
    page.wait_for_selector(".badge.running")
    assert page.url.endswith(run_id)
    page.get_by_role("button", name="Pause").click()
    page.wait_for_selector(".badge.paused")
    held = run_of(page, watched.url, run_id)["n_records"]
    page.reload()
    page.get_by_role("button", name="Resume").click()
    page.wait_for_selector(".badge.running")
    wait_until(lambda: run_of(page, watched.url, run_id)["n_records"] > held)
    page.get_by_role("button", name="Cancel").click()
    page.wait_for_selector(".badge.cancelled")
    assert watched.errors == []


def test_a_broken_run_shows_its_error_and_can_be_restarted(serve):
    watched = serve(work=fakes.work)
    page = watched.open("#/runs")
    run_id = begin(page, watched.url, name="crash")
    page.goto(f"{watched.url}/#/compare/{run_id}")
    page.get_by_text("RuntimeError: the job broke").wait_for()
    first = run_of(page, watched.url, run_id)["started"]
    with page.expect_response("**/restart") as answer:
        page.get_by_role("button", name="Restart").click()
    assert answer.value.json()["state"] == "queued"

    def failed_again():
        run = run_of(page, watched.url, run_id)
        return run["state"] == "failed" and run["started"] > first

    wait_until(failed_again)
    page.wait_for_selector(".badge.failed")
    expect(page.locator(".situation")).to_contain_text("1 of 3 measurements")
    assert watched.errors == []


def test_runs_wait_for_their_turn(serve):
    watched = serve(work=fakes.work)
    page = watched.open("#/runs")
    first = begin(page, watched.url, name="endless")
    second = begin(page, watched.url)
    page.goto(f"{watched.url}/#/compare/{second}")
    page.get_by_text("Waits for its turn").wait_for()
    page.request.post(f"{watched.url}/api/runs/{first}/cancel")
    finished(page)


def test_names_are_shown_as_they_are(serve):
    watched = serve(work=fakes.work)
    page = watched.open("#/runs")
    run_id = begin(page, watched.url)
    page.goto(f"{watched.url}/#/compare/{run_id}")
    page.get_by_role("heading", name=SPEC["name"]).wait_for()
    finished(page)
    page.goto(f"{watched.url}/#/runs")
    page.locator(".run-item").wait_for()
    expect(page.locator("img")).to_have_count(0)
    assert watched.errors == []


@pytest.mark.parametrize("address", ["#/compare/nobody", "#/compare/a+b"])
def test_a_run_that_is_gone_is_explained(serve, address):
    page = serve(work=fakes.work).open(address)
    page.get_by_text("There is no run").wait_for()
