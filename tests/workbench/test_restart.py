"""A server that is killed, and started again on the same folder."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from workbench import fakes

SERVER = """
import sys, pathlib
import uvicorn
from supple.workbench import Settings, create_app
from supple.workbench.server import Server
from workbench.fakes import steps_forever, work

def main():
    folder, port, name = sys.argv[1:]
    app = create_app(Settings(folder=pathlib.Path(folder)), work=globals()[name])
    Server(uvicorn.Config(app, host="127.0.0.1", port=int(port), log_level="error")).run()

if __name__ == "__main__":
    main()
"""


@pytest.fixture
def start(tmp_path):
    """Return a function that starts a server process and returns it with a client."""
    script = tmp_path / "server.py"
    script.write_text(SERVER)
    started = []

    def start_one(work):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        path = os.pathsep.join([str(Path(fakes.__file__).parents[1]), *sys.path])
        server = subprocess.Popen(
            [sys.executable, script, tmp_path / "kept", str(port), work],
            env={**os.environ, "PYTHONPATH": path},
            stderr=subprocess.PIPE,
        )
        client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30)
        started.append((server, client))
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                client.get("/api/runs")
                return server, client
            except httpx.TransportError:
                time.sleep(0.05)
        raise AssertionError("the server did not start")

    yield start_one
    for server, client in started:
        client.close()
        server.kill()
        server.communicate()


def offspring(pid):
    """Return the processes that descend from `pid` and run a job."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            line = (entry / "cmdline").read_text()
        except (OSError, IndexError):
            continue
        if parent == pid and "spawn_main" in line:
            found.append(entry)
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to see processes")
def test_history_survives_kill_and_the_run_can_be_restarted(start, drive):
    begin, wait_for = drive
    server, client = start("steps_forever")
    done = begin(client, name="kept")
    wait_for(client, done, "running")
    client.post(f"/api/runs/{done}/cancel")
    client.patch(f"/api/runs/{done}", json={"notes": "a note"})
    broken = begin(client)
    while len(wait_for(client, broken, "running")["records"]) < 3:
        time.sleep(0.05)
    waiting = begin(client)
    jobs = offspring(server.pid)
    assert len(jobs) == 1

    server.send_signal(signal.SIGKILL)
    server.wait()
    end = time.monotonic() + 10
    while any(job.exists() for job in jobs):
        assert time.monotonic() < end, "the job has outlived its server"
        time.sleep(0.05)

    _, client = start("work")
    runs = {run["id"]: run for run in client.get("/api/runs").json()}
    assert {runs[each]["state"] for each in (broken, waiting)} == {"interrupted"}
    assert runs[broken]["n_records"] >= 3
    assert (runs[done]["state"], runs[done]["notes"]) == ("cancelled", "a note")
    assert client.post(f"/api/runs/{broken}/restart").status_code == 200
    again = wait_for(client, broken, "finished", "failed")
    assert (again["state"], again["n_records"]) == ("finished", 3)


def test_a_signal_ends_the_server_in_spite_of_open_streams(start, drive):
    begin, wait_for = drive
    server, client = start("steps_forever")
    run_id = begin(client)
    wait_for(client, run_id, "running")
    with client.stream("GET", f"/api/runs/{run_id}/events") as stream:
        next(stream.iter_lines())
        server.send_signal(signal.SIGTERM)
        _, said = server.communicate(timeout=30)
    assert b"Traceback" not in said
    _, client = start("work")
    assert client.get(f"/api/runs/{run_id}").json()["state"] == "interrupted"
