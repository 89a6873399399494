"""Serve an application on a free port of this machine while a test runs."""

import threading
import time
from contextlib import contextmanager

import uvicorn

from supple.workbench import create_app


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
        thread.join(timeout=10)
        assert not thread.is_alive(), "the server did not end"


@contextmanager
def live_server(settings, **options):
    """Yield the workbench and its address while it serves."""
    app = create_app(settings, **options)
    with serving(app) as url:
        yield app, url
