from contextlib import ExitStack
from dataclasses import replace

import httpx
import pytest
from live_server import PATIENCE, live_server, wait_until
from unit.workbench import fakes

from supple.workbench import Settings

SPEC = {
    "name": "count",
    "data": {"source": "embedded", "name": "sonar"},
    "machines": [{"label": "svc", "machine": "svc", "params": {}}],
    "points": 2,
    "repetitions": 2,
}


@pytest.fixture
def settings(tmp_path):
    return Settings(folder=tmp_path / "kept")


@pytest.fixture
def open_client(settings):
    """Return a function that starts a server and returns a client; all are closed in the end."""
    with ExitStack() as stack:

        def open_one(work=fakes.work, **changes):
            _, url = stack.enter_context(live_server(replace(settings, **changes), work=work))
            return stack.enter_context(httpx.Client(base_url=url, timeout=PATIENCE))

        yield open_one


@pytest.fixture
def client(open_client):
    return open_client()


def begin(client, **changes):
    """Begin a run and return its id."""
    answer = client.post("/api/runs", json={"spec": {**SPEC, **changes}})
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


def wait_for(client, run_id, *states, records=0):
    """Return the run as soon as it is in one of the states and has so many records."""

    def reached():
        run = client.get(f"/api/runs/{run_id}").json()
        return run if run["state"] in states and run["n_records"] >= records else None

    return wait_until(reached)


@pytest.fixture
def drive():
    """Return the functions that begin a run and wait for it."""
    return begin, wait_for
