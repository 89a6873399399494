"""Serve an application on a free port of this machine while a test runs."""

import threading
import time
from contextlib import contextmanager

import uvicorn

from supple.workbench import create_app

PATIENCE = 300.0  # seconds: it only ends what hangs, however slow and busy the machine is


def wait_until(condition, pause=time.sleep):
    """Return the first value of `condition` that is true."""
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < end, "it did not happen in time"
        pause(0.02)
    return found


def settled(read):
    """Return the value of `read` as soon as it stays the same for a while."""
    end, before, value = time.monotonic() + PATIENCE, None, read()
    while value != before:
        assert time.monotonic() < end, "it did not come to rest"
        time.sleep(0.3)
        before, value = value, read()
    return value


@contextmanager
def serving(app):
    """Yield the address of a server in a thread, and end it."""
    config = uvicorn.Config(
        app, host="127.0.0.1", port=0, log_level="error", timeout_graceful_shutdown=1, ws="none"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(timeout=PATIENCE)
        assert not thread.is_alive(), "the server did not end"


@contextmanager
def live_server(settings, **options):
    """Yield the workbench and its address while it serves."""
    app = create_app(settings, **options)
    with serving(app) as url:
        yield app, url
