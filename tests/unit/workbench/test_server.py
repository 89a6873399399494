"""Data, runs, export and import over HTTP."""

import csv
import io
import json
import subprocess
import sys

import pytest
from unit.workbench.fakes import RECORD

from supple import study
from supple.workbench.studies import run_study

CSV = "a,b,kind\n" + "".join(f"{i % 7},{i * i % 5},{'xy'[i % 7 > 3]}\n" for i in range(60))
SMALL = {
    "name": "small <b>run</b>",
    "data": {"source": "embedded", "name": "sonar", "rows": 80},
    "machines": [
        {"label": "svc", "machine": "svc", "params": {"C": 2.0}},
        {"label": "libsvm", "machine": "libsvm", "params": {"C": 2.0}},
    ],
    "points": 2,
    "repetitions": 2,
}


@pytest.fixture
def real(open_client):
    """Return a client whose runs are real studies."""
    return open_client(run_study)


def test_every_set_can_be_listed_summarised_and_projected(client):
    listed = client.get("/api/data").json()
    assert len(listed["embedded"]) == 19
    for source, entries in (("embedded", listed["embedded"]), ("generator", listed["generators"])):
        for entry in entries:
            where = {"source": source, "name": entry["name"]}
            summary = client.get("/api/data/summary", params=where).json()
            assert summary["rows"] == entry["rows"]
            assert sum(each["count"] for each in summary["classes"]) == entry["rows"]
            points = client.get("/api/data/projection", params=where).json()
            assert len(points["x"]) == min(1500, entry["rows"])
            assert set(points["label"]) <= set(range(len(points["classes"])))


def test_an_upload_is_described_with_its_missing_values_and_types(client):
    body = CSV.replace("3,4,x", "?,4,x", 1)
    upload = client.post("/api/data/upload", params={"name": "mine.csv"}, content=body).json()
    assert upload["rows"] == 60
    where = {"source": "file", "name": upload["id"]}
    summary = client.get("/api/data/summary", params=where).json()
    assert summary["targets"] == ["a", "b", "kind"]
    assert (summary["target"], summary["missing"]) == ("kind", 1)
    assert {each["name"]: each["kind"] for each in summary["columns"]}["kind"] == "nominal"
    other = client.get("/api/data/summary", params={**where, "target": "b"}).json()
    assert {each["label"] for each in other["classes"]} == {"0", "1", "4"}
    assert client.get("/api/data/projection", params=where).status_code == 200
    assert client.get(f"/api/data/{upload['id']}/file").text == body
    assert client.delete(f"/api/data/{upload['id']}").status_code == 204
    assert client.get("/api/data/summary", params=where).status_code == 404


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (CSV + "1,2\n", ["line 62", "2 cells", "3 columns"]),
        (CSV.replace("2,4,x", "2,oops,x", 1), ["line 4", "'b'", "'oops'"]),
        ("", ["empty"]),
        ("\0\1\2", ["binary"]),
        (b"a,b\n\xff,1\n", ["line 2", "UTF-8"]),
    ],
)
def test_a_bad_table_is_refused_in_a_sentence_and_not_kept(client, body, said):
    answer = client.post("/api/data/upload", params={"name": "bad.csv"}, content=body)
    assert answer.status_code == 422
    assert all(word in answer.json()["detail"] for word in said), answer.json()
    assert client.get("/api/data").json()["uploads"] == []


def test_a_target_of_one_class_leaves_the_rest_to_be_seen(client):
    upload = client.post("/api/data/upload", content="a,b\n1,x\n2,x\n").json()
    summary = client.get("/api/data/summary", params={"source": "file", "name": upload["id"]})
    assert "one class only" in summary.json()["problem"]
    assert summary.json()["rows"] == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"machines": []}, "'machines'"),
        ({"machines": [{"machine": "svc", "params": {"C": -1}}]}, "'C'"),
        ({"points": 0}, "'points'"),
        ({"wrong": 1}, "'wrong'"),
        ({"data": {"source": "file", "name": "/etc/passwd"}}, "Data tab"),
    ],
)
def test_a_study_that_cannot_be_run_is_refused(client, change, said):
    answer = client.post("/api/runs", json={"spec": {**SMALL, **change}})
    assert answer.status_code == 422
    assert said in answer.json()["detail"]
    assert client.get("/api/runs").json() == []


def test_a_file_is_read_from_the_uploads_only(client):
    study = {**SMALL, "data": {"source": "file", "name": "/etc/passwd"}}
    answer = client.post("/api/runs", json={"spec": study, "data_id": "../../etc/passwd"})
    assert answer.status_code == 404


def test_events_bring_records_and_the_end(client, drive):
    begin, _ = drive
    run_id = begin(client, name="steps")
    kinds, records = [], []
    with client.stream("GET", f"/api/runs/{run_id}/events") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        for line in stream.iter_lines():
            if line.startswith("event: "):
                kinds.append(line.removeprefix("event: "))
            elif line.startswith("data: ") and kinds[-1] == "records":
                records += json.loads(line.removeprefix("data: "))
    assert kinds[-1] == "end"
    assert [record["n_train"] for record in records] == [10, 20, 30]
    again = client.get(f"/api/runs/{run_id}/events", headers={"Last-Event-ID": "2"}).text
    assert again.count('"n_train"') == 1


def test_names_and_notes_are_kept(client, drive):
    begin, _ = drive
    run_id = begin(client)
    edited = client.patch(f"/api/runs/{run_id}", json={"name": "<script>", "notes": "ü"}).json()
    assert (edited["name"], edited["notes"]) == ("<script>", "ü")
    assert client.patch(f"/api/runs/{run_id}", json={"name": ""}).status_code == 422
    assert client.patch("/api/runs/nobody", json={"name": "x"}).status_code == 404


def test_a_real_run_is_exported_and_imported_and_its_script_gives_the_same_figures(
    real, drive, tmp_path
):
    _, wait_for = drive
    run_id = real.post("/api/runs", json={"spec": SMALL}).json()["id"]
    run = wait_for(real, run_id, "finished", "failed")
    assert run["error"] is None
    assert len(run["records"]) == 8
    export = f"/api/runs/{run_id}/export"
    rows = list(csv.DictReader(io.StringIO(real.get(f"{export}/csv").text)))
    assert [int(row["n_vectors"]) for row in rows] == [r["n_vectors"] for r in run["records"]]

    page = real.get(f"{export}/html")
    assert page.headers["content-disposition"].startswith("attachment")
    assert "<b>run</b>" not in page.text

    summary = real.get(f"/api/runs/{run_id}/summary").json()
    assert [line["machine"] for line in summary] == ["svc", "libsvm"]
    (pair,) = real.get(f"/api/runs/{run_id}/bayes").json()
    assert pair["equivalent"] == 1.0

    shared = real.get(f"{export}/json").content
    copy = real.post("/api/runs/import", content=shared).json()
    assert copy["state"] == "finished"
    assert real.get(f"/api/runs/{copy['id']}").json()["records"] == run["records"]
    assert real.get(f"/api/runs/{copy['id']}/export/toml").text == real.get(f"{export}/toml").text

    script = tmp_path / "again.py"
    script.write_text(real.get(f"{export}/py").text)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    records = [study.StudyRecord(**record) for record in run["records"]]
    assert done.stdout.strip() == study.to_text(study.StudySpec.from_dict(SMALL), records).strip()


@pytest.mark.parametrize(
    "change",
    [
        lambda run: "no JSON",
        lambda run: [],
        lambda run: {**run, "study": None},
        lambda run: {**run, "records": {}},
        lambda run: {**run, "records": [{"n_train": 1}]},
        lambda run: {**run, "records": [{**run["records"][0], "accuracy": "<b>"}]},
        lambda run: {**run, "records": [{**run["records"][0], "n_train": True}]},
        lambda run: {**run, "records": [{**run["records"][0], "mode": None}]},
    ],
)
def test_a_damaged_share_is_refused(client, change):
    whole = {"study": SMALL, "records": [RECORD]}
    answer = client.post("/api/runs/import", content=json.dumps(change(whole)))
    assert answer.status_code == 422, answer.text
    assert client.get("/api/runs").json() == []


def test_what_supple_compare_has_written_can_be_imported(client):
    records = [study.StudyRecord(**RECORD)]
    text = study.to_json(study.StudySpec.from_dict(SMALL), records)
    run = client.post("/api/runs/import", content=text).json()
    assert (run["name"], run["n_records"]) == (SMALL["name"], 1)


NASTY = ["NaN", "1e999", "9" * 400, '"\\ud800"', '"\\u0000"', "[" * 2000, "null", "{}", "true", ""]


@pytest.mark.parametrize("value", NASTY)
def test_nasty_values_never_break_the_server(client, value):
    headers = {"Content-Type": "application/json"}
    spec = json.dumps(SMALL)
    bodies = [
        value,
        f'{{"spec": {value}}}',
        f'{{"spec": {spec}, "data_id": {value}}}',
        f'{{"spec": {spec[:-1]}, "seed": {value}}}}}',
        f'{{"spec": {spec[:-1]}, "name": {value}}}}}',
        f'{{"name": {value}, "notes": {value}}}',
        f'{{"study": {spec}, "records": {value}}}',
        f'{{"study": {spec}, "records": [{json.dumps(RECORD)[:-1]}, "n_total": {value}}}]}}',
    ]
    for body in bodies:
        for method, path in (
            ("POST", "/api/runs"),
            ("POST", "/api/runs/import"),
            ("PATCH", "/api/runs/x"),
        ):
            answer = client.request(method, path, content=body, headers=headers)
            assert answer.status_code < 500, (method, path, body[:80], answer.text)
    for path in ("/api/data/summary", "/api/data/projection"):
        for source in ("embedded", "file", "generator"):
            where = {"source": source, "name": value or "x", "target": value}
            assert client.get(path, params=where).status_code < 500
