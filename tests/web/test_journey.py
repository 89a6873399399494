"""From a user's own table to a shared result, in a real browser."""

import json
import subprocess
import sys

from live_server import wait_until
from playwright.sync_api import expect
from web.pages import (
    TABLE,
    choose,
    finished,
    keep_machines,
    machines,
    painted,
    paste,
    small_run,
)

from supple import study


def test_own_table_to_results_and_a_script_with_the_same_figures(workbench, tmp_path):
    page = workbench.open()
    with page.expect_file_chooser() as chooser:
        page.get_by_text("Drop a file here").click()
    chooser.value.set_files({"name": "pets.csv", "mimeType": "text/csv", "buffer": TABLE.encode()})
    page.get_by_role("heading", name="pets.csv").wait_for()
    expect(page.locator(".chip", has_text="120 rows")).to_be_visible()
    expect(page.locator(".chip", has_text="no missing values")).to_be_visible()
    page.locator(".legend li", has_text="cat").wait_for()
    page.get_by_role("link", name="Compare machines on it").click()
    small_run(page)
    finished(page)
    expect(machines(page)).to_have_text(["svc", "libsvm"])
    page.locator(".bar").first.wait_for()

    page.get_by_role("link", name="Runs").click()
    page.get_by_label("Notes on").fill("the first one")
    page.get_by_label("Notes on").press("Tab")
    page.get_by_text("Notes kept.").wait_for()
    page.reload()
    expect(page.get_by_label("Notes on")).to_have_value("the first one")

    page.locator(".menu summary").click()
    with page.expect_download() as script:
        page.get_by_role("link", name="Python script").click()
    with page.expect_download() as data:
        page.get_by_role("link", name="Data the uploaded file").click()
    with page.expect_download() as shared:
        page.get_by_role("link", name="JSON").click()
    script.value.save_as(tmp_path / "again.py")
    data.value.save_as(tmp_path / "pets.csv")
    shared.value.save_as(tmp_path / "run.json")
    again = subprocess.run(
        [sys.executable, "again.py"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    run = json.loads((tmp_path / "run.json").read_text())
    records = [study.StudyRecord(**record) for record in run["records"]]
    spec = study.StudySpec.from_dict(run["study"])
    assert again.stdout.strip() == study.to_text(spec, records).strip()

    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    page.get_by_text("The history is empty").wait_for()
    page.locator("#import").set_input_files(tmp_path / "run.json")
    page.locator(".run-item").wait_for()
    page.get_by_role("link", name="Open").click()
    finished(page)
    expect(machines(page)).to_have_text(["svc", "libsvm"])


def test_a_bad_table_is_explained_and_nothing_is_lost(workbench):
    page = workbench.open()
    page.get_by_role("heading", name="wbc").wait_for()
    bad = TABLE.replace("\n2.8,1.4,", "\n2.8,long,", 1)
    paste(page, bad)
    said = page.get_by_role("alert").text_content()
    line = bad[: bad.index("long")].count("\n") + 1
    assert f"line {line}" in said
    assert "'width'" in said
    expect(page.get_by_label("Rows of the table")).to_have_value(bad)
    expect(page.get_by_role("heading", name="wbc")).to_be_visible()
    page.get_by_label("Rows of the table").fill(TABLE)
    page.get_by_role("button", name="Use this table").click()
    page.get_by_role("heading", name="pasted.csv").wait_for()
    expect(page.get_by_role("alert")).to_have_count(0)
    workbench.errors[:] = [error for error in workbench.errors if "422" not in error]


def test_a_dropped_file_is_taken(workbench):
    page = workbench.open()
    page.wait_for_selector(".drop")
    page.evaluate(
        """(text) => {
            const dropped = new DataTransfer();
            dropped.items.add(new File([text], "dropped.csv"));
            document.querySelector(".drop").dispatchEvent(
                new DragEvent("drop", { dataTransfer: dropped, bubbles: true, cancelable: true }));
        }""",
        TABLE,
    )
    page.get_by_role("heading", name="dropped.csv").wait_for()


def test_target_order_and_preparation_reach_the_study(workbench):
    page = workbench.open()
    paste(page, TABLE.replace("kind", "species"))
    page.get_by_role("heading", name="pasted.csv").wait_for()
    page.get_by_label("Order of arrival").select_option("sorted")
    page.get_by_label("Sorted by").select_option("width")
    page.get_by_label("Preparation").select_option("none")
    run_id = small_run(page, "svc", repetitions=1)
    finished(page)
    spec = page.request.get(f"{workbench.url}/api/runs/{run_id}").json()["spec"]
    assert (spec["data"]["order"], spec["data"]["by"]) == ("sorted", "width")
    assert spec["data"]["prepare"] == "none"


def test_two_runs_are_compared(workbench):
    page = workbench.open()
    small_run(page, "svc")
    finished(page)
    page.goto(f"{workbench.url}/#/data")
    page.get_by_role("button", name="sonar").click()
    page.get_by_role("heading", name="sonar").wait_for()
    small_run(page, "svc")
    finished(page)
    page.get_by_role("link", name="Runs").click()
    boxes = page.get_by_role("checkbox")
    page.locator(".run-item").nth(1).wait_for()
    for i in range(2):
        boxes.nth(i).check()
    page.get_by_role("button", name="Compare selected").click()
    page.locator(".run-head").nth(1).wait_for()
    expect(machines(page)).to_have_count(2)
    assert set(machines(page).all_text_contents()) == {"svc sonar: svc", "svc wbc: svc"}
    expect(page.locator(".toggle")).to_have_count(2)
    painted(page)
    picture = page.locator(".plot canvas").first
    before = picture.evaluate("canvas => canvas.toDataURL()")
    page.locator(".toggle").first.click()
    expect(page.locator(".toggle").first).to_have_attribute("aria-pressed", "false")
    wait_until(lambda: picture.evaluate("canvas => canvas.toDataURL()") != before)  # a line less


def test_a_sweep_shows_what_the_parameter_does(workbench):
    page = workbench.open("#/compare")
    page.get_by_label("Sweep one parameter instead").check()
    choose(page, "Values", "0.1, 1, 10")
    choose(page, "Repetitions", 2)
    choose(page, "Training sizes", 2)
    page.get_by_role("button", name="Run", exact=True).click()
    finished(page)
    page.get_by_role("heading", name="What C does").wait_for()
    page.locator(".plot canvas").nth(5).wait_for()
    expect(machines(page)).to_have_text(["svc C=0.1", "svc C=1", "svc C=10"])


def test_a_wrong_parameter_is_explained_beside_the_button(workbench):
    page = workbench.open("#/compare")
    keep_machines(page, "svc")
    page.locator(".machine summary").click()
    choose(page, "C", -1)
    page.get_by_role("button", name="Run", exact=True).click()
    said = page.get_by_role("alert").text_content()
    assert "'C'" in said
    assert "-1" in said
    workbench.errors[:] = [error for error in workbench.errors if "422" not in error]
