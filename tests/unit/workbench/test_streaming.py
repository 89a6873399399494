"""Streams that are played: what they report, how they are told, and that they end."""

import json
import math
import threading
import time

import httpx
import numpy as np
import pytest
from live_server import PATIENCE, live_server, settled, wait_until

from supple import WindowedSVC
from supple.workbench import Settings, streaming
from supple.workbench._player import STREAMS, Player, StreamSpec


def played(**options):
    player = Player(StreamSpec(**{"n": 400, "batch": 40, **options}))
    while not player.finished:
        player.step()
    return player


@pytest.mark.parametrize("stream", STREAMS)
def test_every_stream_can_be_played(stream):
    records = played(stream=stream, n=230).records
    assert [record["at"] for record in records] == [40, 80, 120, 160, 200, 230]
    assert records[0]["errors"]["full"] is None
    assert all(0.0 <= error <= 1.0 for record in records[1:] for error in record["errors"].values())
    assert [record["held"]["full"] for record in records] == [r["at"] for r in records]
    assert records[-1]["held"]["last"] == 30
    json.dumps(records, allow_nan=False)


def test_errors_are_those_of_the_machines_alone():
    player = played(stream="rotating_gaussians", window=3)
    X, y = player.stream.X, player.stream.y
    gamma = player.machines["fixed"].gamma
    alone = WindowedSVC(window=3, gamma=gamma)
    for number, record in enumerate(player.records):
        rows = slice(40 * number, 40 * number + 40)
        if number:
            wrong = np.mean(alone.predict(X[rows]) != y[rows])
            assert record["errors"]["fixed"] == pytest.approx(wrong)
        alone.partial_fit(X[rows], y[rows], classes=[0, 1])


def test_alarms_follow_changes_of_the_points():
    player = played(stream="rotating_gaussians", n=2000)
    alarms = [alarm["position"] for record in player.records for alarm in record["alarms"]]
    assert player.stream.change_points == (500, 1000, 1500)
    assert all(any(0 <= alarm - change < 60 for alarm in alarms) for change in (500, 1000, 1500))


def test_a_player_that_has_finished_does_nothing_more():
    player = played()
    player.step()
    assert len(player.records) == 10


# ---------------------------------------------------------------------- over HTTP


@pytest.fixture
def client(monkeypatch, tmp_path):
    monkeypatch.setattr(streaming, "players", streaming.Players(most=2, patience=math.inf))
    with (
        live_server(Settings(folder=tmp_path)) as (_, address),
        httpx.Client(base_url=address, trust_env=False, timeout=PATIENCE) as client,
    ):
        yield client


def begin(client, **options):
    wanted = {"n": 400, "batch": 40, "speed": 100.0, **options}
    answer = client.post("/api/stream/players", json=wanted)
    assert answer.status_code == 200, answer.text
    return answer.json()["player"]


def tell(client, name, **told):
    return client.post(f"/api/stream/players/{name}/control", json=told)


def read(client, name, most=1000, last=None):
    """Return the events of a player as pairs of a kind and a record, at most some of them."""
    events, kind = [], ""
    headers = {} if last is None else {"Last-Event-ID": str(last)}
    with client.stream("GET", f"/api/stream/players/{name}/events", headers=headers) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        for line in answer.iter_lines():
            if line.startswith("event: "):
                kind = line.removeprefix("event: ")
            elif line.startswith("data: "):
                events.append((kind, json.loads(line.removeprefix("data: "))))
                if len(events) == most:
                    break
    return events


def test_a_stream_is_played_to_its_end(client):
    name = begin(client)
    events = read(client, name)
    assert [kind for kind, _ in events] == ["batch"] * 10 + ["end"]
    assert [record["number"] for kind, record in events[:-1]] == list(range(10))
    assert events[-1][1] == {"stopped": False}


def test_nothing_goes_on_without_a_reader_and_a_reader_finds_its_place(client):
    name = begin(client)
    player = streaming.players[name]
    assert not player.records
    first = read(client, name, most=3)
    wait_until(lambda: player.reader is None)
    held = len(player.records)
    time.sleep(0.2)
    assert len(player.records) == held
    rest = read(client, name, last=first[-1][1]["number"])
    assert [record["number"] for kind, record in first + rest[:-1]] == list(range(10))


def test_pause_resume_speed_and_stop(client):
    name = begin(client, n=20_000, batch=10)
    player = streaming.players[name]
    seen = []
    reader = threading.Thread(target=lambda: seen.extend(read(client, name)))
    reader.start()
    wait_until(lambda: len(player.records) > 2)
    assert tell(client, name, action="pause").json()["paused"]
    held = settled(lambda: len(player.records))  # the present batch may still come
    assert held < 2000
    assert tell(client, name, action="speed", speed=50.0).json()["speed"] == 50.0
    assert not tell(client, name, action="resume").json()["paused"]
    wait_until(lambda: len(player.records) > held)
    assert tell(client, name, action="stop").json()["stopped"]
    reader.join(timeout=PATIENCE)
    assert not reader.is_alive()
    assert seen[-1] == ("end", {"stopped": True})
    assert client.get(f"/api/stream/players/{name}").status_code == 404


def test_a_second_reader_takes_over(client):
    name = begin(client, n=20_000, batch=10, speed=20.0)
    seen = []
    first = threading.Thread(target=lambda: seen.extend(read(client, name)))
    first.start()
    wait_until(lambda: len(streaming.players[name].records) > 1)
    events = read(client, name, most=5)
    first.join(timeout=PATIENCE)
    assert not first.is_alive()
    assert [record["number"] for _, record in events] == list(range(5))
    assert seen[-1][0] == "batch"


def test_the_number_of_players_is_bounded_and_idle_ones_go(client):
    names = [begin(client) for _ in range(2)]
    refused = client.post("/api/stream/players", json={})
    assert refused.status_code == 429
    assert "at most 2" in refused.json()["detail"]
    streaming.players.patience = 0.0
    begin(client)
    streaming.players.patience = math.inf
    assert all(client.get(f"/api/stream/players/{name}").status_code == 404 for name in names)
    assert len(streaming.players) == 1


@pytest.mark.parametrize(
    "text",
    [
        '{"stream": "river"}',
        '{"n": 199}',
        '{"n": 1e9}',
        '{"n": "2000"}',
        '{"batch": 0}',
        '{"C": NaN}',
        '{"C": Infinity}',
        '{"C": 0}',
        '{"speed": 1e9}',
        '{"window": -1}',
        '{"estimate": "guess"}',
        '{"unknown": 1}',
        "[]",
        "{",
    ],
)
def test_bad_wishes_get_a_sentence(client, text):
    answer = client.post(
        "/api/stream/players", content=text, headers={"content-type": "application/json"}
    )
    assert answer.status_code in (400, 422)
    assert isinstance(answer.json()["detail"], str)
    assert len(streaming.players) == 0


def test_bad_orders_get_a_sentence(client):
    name = begin(client)
    for told in ({"action": "fly"}, {"action": "speed"}, {"action": "speed", "speed": 0}, {}):
        answer = tell(client, name, **told)
        assert answer.status_code == 422
        assert isinstance(answer.json()["detail"], str)
    assert tell(client, "nobody", action="pause").status_code == 404
    assert client.get("/api/stream/players/nobody/events").status_code == 404
    for mark in ("-1", "x", "²", "99999"):
        events = client.get(
            f"/api/stream/players/{name}/events", headers={"Last-Event-ID": mark.encode()}
        )
        assert events.status_code == 200
