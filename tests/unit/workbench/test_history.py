"""The history: kept, found again, changed and deleted."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest

from supple.errors import InvalidInputError
from supple.workbench.history import History, NotFoundError


@pytest.fixture
def history(tmp_path):
    kept = History(tmp_path / "history.sqlite")
    yield kept
    kept.close()


def test_runs_are_listed_latest_first_with_names_and_notes(history):
    first = history.add_run("first", {"a": 1})
    second = history.add_run("second", {"b": 2}, notes="mine")
    assert [run.id for run in history.runs()] == [second.id, first.id]
    changed = history.edit(first.id, name="renamed")
    assert (changed.name, changed.notes, changed.spec) == ("renamed", "", {"a": 1})
    assert history.edit(first.id, notes="a note").name == "renamed"


def test_records_are_counted_and_read_on_from_any_place(history):
    run = history.add_run("run", {})
    history.add_records(run.id, [{"n": 1}, {"n": 2}])
    history.add_records(run.id, [{"n": 3}])
    assert history.run(run.id).n_records == 3
    assert history.records(run.id, after=2) == [{"n": 3}]


def test_deleting_a_run_deletes_its_records_alone(history):
    gone, kept = history.add_run("gone", {}), history.add_run("kept", {})
    for run in (gone, kept):
        history.add_records(run.id, [{"n": 1}])
    history.delete_run(gone.id)
    assert history.records(gone.id) == []
    assert history.records(kept.id) == [{"n": 1}]
    with pytest.raises(NotFoundError, match="There is no run"):
        history.delete_run(gone.id)


def test_a_failed_change_leaves_all_as_it_was(history):
    run = history.add_run("run", {})
    with pytest.raises(ValueError, match="Out of range float"):
        history.add_records(run.id, [{"n": 1}, {"n": float("nan")}])
    assert history.records(run.id) == []
    with pytest.raises(sqlite3.IntegrityError):
        history.add_records("nobody", [{"n": 1}])


def test_unfinished_runs_are_interrupted_and_can_begin_again(history):
    states = ["queued", "running", "pausing", "paused", "finished", "failed", "cancelled"]
    runs = {state: history.add_run(state, {}, state=state, records=[{"n": 1}]) for state in states}
    assert history.interrupt_unfinished() == 4
    assert history.run(runs["paused"].id).state == "interrupted"
    assert history.run(runs["finished"].id).state == "finished"
    again = history.requeue(runs["running"].id)
    assert (again.state, again.n_records, again.ended) == ("queued", 0, None)
    with pytest.raises(InvalidInputError, match="'finished' is finished"):
        history.requeue(runs["finished"].id)


def test_data_come_back_as_they_went(history):
    body = bytes(range(256))
    upload = history.add_data("x.csv", body, rows=3)
    assert history.data(upload.id) == ("x.csv", body)
    assert [each.size for each in history.uploads()] == [256]
    history.delete_data(upload.id)
    with pytest.raises(NotFoundError, match="upload it again"):
        history.data(upload.id)


def test_threads_share_a_history(history):
    run = history.add_run("run", {})
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: history.add_records(run.id, [{"n": i}]), range(100)))
    assert sorted(record["n"] for record in history.records(run.id)) == list(range(100))


def test_a_second_opening_sees_what_was_kept(tmp_path):
    one = History(tmp_path / "history.sqlite")
    run = one.add_run("run", {"a": [1, None, "ä"]}, records=[{"n": 0.1}])
    other = History(tmp_path / "history.sqlite")  # as after a kill: the first was not closed
    assert other.run(run.id).spec == {"a": [1, None, "ä"]}
    assert other.records(run.id) == [{"n": 0.1}]
    other.close()
    one.close()
