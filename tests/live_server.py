"""A workbench that really listens, on a free port of this machine."""

import time
from contextlib import contextmanager
from threading import Thread

import uvicorn

from supple.workbench import create_app


@contextmanager
def live_server(settings, **options):
    """Yield the application and its address while it serves."""
    app = create_app(settings, **options)
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", ws="none")
    config.timeout_graceful_shutdown = 1
    server = uvicorn.Server(config)
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        if not thread.is_alive():
            raise RuntimeError("the server did not start")
        time.sleep(0.005)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield app, f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(20)
