"""A server that is killed, and started again on the same folder."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from live_server import PATIENCE, wait_until
from unit.workbench import fakes

SERVER = """
import sys, pathlib, socket
import uvicorn
from supple.workbench import Settings, create_app
from supple.workbench.server import Server
from unit.workbench.fakes import steps_forever, work

def main():
    folder, name = sys.argv[1:]
    app = create_app(Settings(folder=pathlib.Path(folder)), work=globals()[name])
    listening = socket.create_server(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)
    Server(uvicorn.Config(app, log_level="error")).run([listening])

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
        path = os.pathsep.join([str(Path(fakes.__file__).parents[2]), *sys.path])
        server = subprocess.Popen(
            [sys.executable, script, tmp_path / "kept", work],
            env={**os.environ, "PYTHONPATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        port = server.stdout.readline().decode().strip()  # it listens; requests wait for it
        client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE)
        started.append((server, client))
        return server, client

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
    wait_for(client, broken, "running", records=3)
    waiting = begin(client)
    jobs = offspring(server.pid)
    assert len(jobs) == 1

    server.send_signal(signal.SIGKILL)
    server.wait()
    wait_until(lambda: not any(job.exists() for job in jobs))  # none outlives its server

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
        _, said = server.communicate(timeout=PATIENCE)
    assert b"Traceback" not in said
    _, client = start("work")
    assert client.get(f"/api/runs/{run_id}").json()["state"] == "interrupted"
