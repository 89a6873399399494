"""Runs in processes of their own."""

import os
import threading
import time
from pathlib import Path

import pytest
from live_server import settled, wait_until
from unit.workbench import fakes

from supple.errors import InvalidInputError
from supple.workbench.history import History
from supple.workbench.jobs import Jobs

ENDED = ("finished", "failed", "cancelled", "interrupted")


def test_a_run_finishes_with_its_records(client, drive):
    begin, wait_for = drive
    run = wait_for(client, begin(client), *ENDED)
    assert run["state"] == "finished"
    assert [record["n_train"] for record in run["records"]] == [10, 20, 30]


def test_a_crashing_job_shows_its_error_and_the_next_one_runs(client, drive):
    begin, wait_for = drive
    crashed = wait_for(client, begin(client, name="crash"), *ENDED)
    assert (crashed["state"], crashed["error"]) == ("failed", "RuntimeError: the job broke")
    assert len(crashed["records"]) == 1
    died = wait_for(client, begin(client, name="die"), *ENDED)
    assert died["state"] == "failed"
    assert "exit code 3" in died["error"]
    assert wait_for(client, begin(client), *ENDED)["state"] == "finished"


def test_numbers_that_json_cannot_hold_arrive_as_null(client, drive):
    begin, wait_for = drive
    run = wait_for(client, begin(client, name="nan"), *ENDED)
    assert run["records"][0]["accuracy"] is None


def test_cancel_kills_a_job_that_does_not_listen(client, drive):
    begin, wait_for = drive
    run_id = begin(client, name="endless")
    wait_for(client, run_id, "running")
    assert client.post(f"/api/runs/{run_id}/cancel").json()["state"] == "cancelled"
    assert wait_for(client, begin(client), *ENDED)["state"] == "finished"
    again = client.post(f"/api/runs/{run_id}/cancel")
    assert again.status_code == 422
    assert "has ended already" in again.json()["detail"]


def test_a_waiting_run_is_cancelled_before_it_begins(client, drive):
    begin, wait_for = drive
    first, second = begin(client, name="endless"), begin(client)
    wait_for(client, first, "running")
    assert client.get(f"/api/runs/{second}").json()["state"] == "queued"
    client.post(f"/api/runs/{second}/cancel")
    client.post(f"/api/runs/{first}/cancel")
    assert wait_for(client, begin(client), *ENDED)["state"] == "finished"
    assert client.get(f"/api/runs/{second}").json()["records"] == []


def test_pause_holds_the_run_and_resume_lets_it_go_on(open_client, drive):
    begin, wait_for = drive
    client = open_client(fakes.steps_forever)
    run_id = begin(client)
    wait_for(client, run_id, "running")
    assert client.post(f"/api/runs/{run_id}/pause").json()["state"] in ("pausing", "paused")
    held = wait_for(client, run_id, "paused")["n_records"]
    time.sleep(0.2)
    assert client.get(f"/api/runs/{run_id}").json()["n_records"] == held
    assert client.post(f"/api/runs/{run_id}/pause").status_code == 422
    assert client.post(f"/api/runs/{run_id}/resume").json()["state"] == "running"
    wait_for(client, run_id, "running", records=held + 1)
    client.post(f"/api/runs/{run_id}/cancel")


def test_restart_repeats_a_run_that_was_broken_off(client, drive):
    begin, wait_for = drive
    run_id = begin(client, name="crash")
    wait_for(client, run_id, "failed")
    assert client.post(f"/api/runs/{run_id}/restart").json()["state"] == "queued"
    assert len(wait_for(client, run_id, "failed")["records"]) == 1
    done = begin(client)
    wait_for(client, done, "finished")
    refusal = client.post(f"/api/runs/{done}/restart")
    assert refusal.status_code == 422
    assert "finished" in refusal.json()["detail"]


def test_a_run_that_is_cancelled_and_restarted_has_its_own_records_only(open_client, drive):
    begin, wait_for = drive
    client = open_client(fakes.steps_forever, jobs=2)
    run_id = begin(client)
    wait_for(client, run_id, "running", records=5)
    client.post(f"/api/runs/{run_id}/cancel")
    client.post(f"/api/runs/{run_id}/restart")
    records = wait_for(client, run_id, "running", records=1)["records"]
    assert [record["n_train"] for record in records] == list(range(1, len(records) + 1))


def test_a_deleted_run_ends_its_process(open_client, drive):
    begin, wait_for = drive
    client = open_client(fakes.steps_forever)
    run_id = begin(client)
    wait_for(client, run_id, "running")
    assert client.delete(f"/api/runs/{run_id}").status_code == 204
    assert client.get(f"/api/runs/{run_id}").status_code == 404
    assert client.get("/api/runs").json() == []
    wait_for(client, begin(client), "running")


def test_closing_interrupts_what_is_unfinished(tmp_path):
    history = History(tmp_path / "history.sqlite")
    jobs = Jobs(history, fakes.work, lambda run: {"spec": run.spec})
    running, waiting = (history.add_run("endless", {"name": "endless"}) for _ in range(2))
    jobs.submit(running.id)
    jobs.submit(waiting.id)
    wait_until(lambda: history.run(running.id).state == "running")
    jobs.close()
    assert {run.state for run in history.runs()} == {"interrupted"}
    with pytest.raises(InvalidInputError, match="cannot be paused because it is interrupted"):
        jobs.pause(running.id)
    history.close()


def test_jobs_leave_nothing_behind(tmp_path):
    """Six jobs: no process, no thread, no file handle more than after the first three."""

    def left():
        handles = os.listdir("/proc/self/fd") if Path("/proc/self/fd").exists() else []
        return len(handles), threading.active_count(), children()

    history = History(tmp_path / "history.sqlite")
    jobs = Jobs(history, fakes.work, lambda run: {"spec": run.spec})

    def run_three():
        for name in ("count", "crash", "die"):
            run = history.add_run(name, {"name": name})
            jobs.submit(run.id)
            wait_until(lambda: history.run(run.id).state in ENDED and not jobs._active)  # noqa: B023

    run_three()
    first = settled(left)  # a job that has ended closes its pipe a little later
    run_three()
    wait_until(lambda: all(now <= then for now, then in zip(left(), first, strict=True)))
    jobs.close()
    history.close()
    assert sorted(os.listdir(tmp_path)) == ["history.sqlite"]


def children():
    """Return how many processes have this one as their parent."""
    found = 0
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            found += f"PPid:\t{os.getpid()}\n" in status.read_text()
        except OSError:
            continue
    return found
