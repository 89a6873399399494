"""The playground over HTTP: sessions, limits, and a sentence for each bad request."""

import base64
import json
import math
import threading

import httpx
import numpy as np
import pytest
from live_server import PATIENCE, live_server

from supple import SVC
from supple.workbench import Settings, playground


@pytest.fixture
def client(monkeypatch, tmp_path):
    monkeypatch.setattr(playground, "sessions", playground.Sessions(most=3, idle=math.inf))
    with (
        live_server(Settings(folder=tmp_path)) as (_, address),
        httpx.Client(base_url=address, trust_env=False, timeout=PATIENCE) as client,
    ):
        yield client


def begin(client, **options):
    answer = client.post("/api/playground/sessions", json={"n": 40, **options})
    assert answer.status_code == 200, answer.text
    return answer.json()


def post(client, name, **action):
    return client.post(f"/api/playground/sessions/{name}/changes", json=action)


def test_a_session_over_http(client):
    shown = begin(client)
    name = shown["session"]
    assert len(shown["points"]) == 40
    grid = np.frombuffer(base64.b64decode(shown["grid"]), dtype="<f4")
    assert len(grid) == shown["view"]["columns"] * shown["view"]["rows"]
    after = post(client, name, action="learn", x=0.5, y=0.5, label=1).json()
    assert after["entry"]["kind"] == "learn"
    assert after["points"][-1][1:5] == [0.5, 0.5, 1, 1.0]
    for change in (
        {"action": "move", "point": 40, "x": 0.0, "y": 0.1, "gesture": 1},
        {"action": "relabel", "point": 40, "label": 0},
        {"action": "reweight", "point": 40, "weight": 2},
        {"action": "C", "value": 3},
        {"action": "gamma", "value": 0.5},
        {"action": "forget", "point": 40},
        {"action": "travel", "to": 0},
    ):
        after = post(client, name, **change)
        assert after.status_code == 200, after.text
    assert after.json()["history"] == {"position": 0, "length": 7, "dropped": 0}
    again = client.get(f"/api/playground/sessions/{name}").json()
    assert again["points"] == after.json()["points"]
    found = client.get(f"/api/playground/sessions/{name}/estimates").json()["estimates"]
    assert 0.0 <= found["leave_one_out"] <= found["xi_alpha"] <= 1.0
    assert client.delete(f"/api/playground/sessions/{name}").status_code == 200
    assert client.get(f"/api/playground/sessions/{name}").status_code == 404


def test_sources_are_named(client):
    names = client.get("/api/playground/sources").json()
    assert "two moons" in names["generated"]
    assert "matern32" in names["kernels"]
    assert begin(client, kernel="matern32")["kernel"] == "matern32"
    set_ = client.get("/api/playground/sources/pima").json()
    assert len(set_["features"]) == 8
    assert client.get("/api/playground/sources/nobody").status_code == 404
    shown = begin(client, source="embedded", name="pima", features=[1, 5])
    assert shown["axes"] == [set_["features"][1], set_["features"][5]]


@pytest.mark.parametrize(
    "text",
    [
        '{"action": "learn", "x": NaN, "y": 0, "label": 1}',
        '{"action": "learn", "x": Infinity, "y": 0, "label": 1}',
        '{"action": "learn", "x": 1e999, "y": 0, "label": 1}',
        '{"action": "learn", "x": 1e9, "y": 0, "label": 1}',
        '{"action": "learn", "x": "0", "y": 0, "label": 1}',
        '{"action": "learn", "x": true, "y": 0, "label": 1}',
        '{"action": "learn", "x": 0, "y": 0, "label": 2}',
        '{"action": "learn", "x": 0, "y": 0, "label": 1, "weight": -1}',
        '{"action": "learn", "x": 0, "y": 0, "label": 1, "colour": 2}',
        '{"action": "learn"}',
        '{"action": "\\ud800"}',
        '{"action": "forget", "point": 999}',
        '{"action": "forget", "point": -1}',
        '{"action": "forget", "point": 99999999999999999999999}',
        '{"action": "move", "point": 999, "x": 0, "y": 0}',
        '{"action": "reweight", "point": 1, "weight": 1e308}',
        '{"action": "C", "value": 0}',
        '{"action": "gamma", "value": 1e300}',
        '{"action": "travel", "to": 1}',
        "{",
        "[]",
        "null",
        "",
        "[" * 100_000,
    ],
)
def test_bad_changes_get_a_sentence_and_change_nothing(client, text):
    before = begin(client)
    name = before["session"]
    answer = client.post(
        f"/api/playground/sessions/{name}/changes",
        content=text,
        headers={"content-type": "application/json"},
    )
    assert 400 <= answer.status_code < 500
    detail = answer.json()["detail"]
    assert isinstance(detail, str)
    assert len(detail) < 500
    after = client.get(f"/api/playground/sessions/{name}").json()
    assert (after["points"], after["version"]) == (before["points"], before["version"])


@pytest.mark.parametrize(
    "options",
    [
        {"n": 1},
        {"n": 10**9},
        {"name": "nobody"},
        {"name": "x" * 1000},
        {"source": "embedded", "name": "../../etc/passwd"},
        {"source": "embedded", "name": "pima", "features": [0, 99]},
        {"source": "embedded", "name": "pima", "features": [0]},
        {"source": "embedded", "name": "pima", "positive": "\ud800"},
        {"kernel": "sigmoid"},
        {"C": -1},
        {"gamma": 0},
        {"seed": -1},
    ],
)
def test_bad_sources_get_a_sentence(client, options):
    answer = client.post(
        "/api/playground/sessions",
        content=json.dumps(options),
        headers={"content-type": "application/json"},
    )
    assert 400 <= answer.status_code < 500
    assert isinstance(answer.json()["detail"], str)
    assert len(playground.sessions) == 0


def test_the_number_of_sessions_is_bounded(client):
    names = [begin(client)["session"] for _ in range(3)]
    refused = client.post("/api/playground/sessions", json={"n": 40})
    assert refused.status_code == 429
    assert "at most 3" in refused.json()["detail"]
    playground.sessions.idle = 0.0
    client.get(f"/api/playground/sessions/{names[0]}")
    begin(client)
    assert client.get(f"/api/playground/sessions/{names[0]}").status_code == 200
    assert client.get(f"/api/playground/sessions/{names[1]}").status_code == 404


def test_changes_of_one_session_wait_for_each_other(client):
    name = begin(client)["session"]
    statuses = []

    def add(part):
        for number in range(10):
            answer = post(client, name, action="learn", x=part, y=number / 10, label=number % 2)
            statuses.append(answer.status_code)
            client.get(f"/api/playground/sessions/{name}/estimates")

    threads = [threading.Thread(target=add, args=(part / 4,)) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == [200] * 40
    canvas = playground.sessions[name]
    assert len(canvas.points) == 80
    assert canvas.model.kkt_violation_ < 1e-9
    points = canvas.points.values()
    refit = SVC(C=canvas.C, gamma=canvas.gamma)
    refit.fit([[p.x, p.y] for p in points], [p.label for p in points])
    grid = canvas.view.grid()
    expected = refit.decision_function(grid)
    np.testing.assert_allclose(canvas.model.decision_function(grid), expected, atol=1e-8)
