"""One job in a process of its own."""

import json
import os
from collections.abc import Callable, Iterator
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from threading import Thread
from typing import Any

from supple.errors import SuppleError

Work = Callable[[Any], Iterator[dict[str, Any]]]


def run_job(connection: Connection, work: Work, task: Any) -> None:
    """Send each record of ``work(task)`` as a line of JSON, then the outcome.

    Messages are JSON, never pickled objects: a job reads data of unknown origin.
    """
    Thread(target=_follow_parent, daemon=True).start()
    try:
        for record in work(task):
            _send(connection, "record", _finite(record))
            _obey(connection)
        _send(connection, "end", None)
    except SuppleError as error:
        _send(connection, "error", str(error))
    except Exception as error:  # shown on the page; the server continues
        _send(connection, "error", f"{type(error).__name__}: {error}")
    finally:
        connection.close()


def _follow_parent() -> None:
    """End with the server, even during a long fit after the server was killed."""
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _send(connection: Connection, kind: str, value: Any) -> None:
    connection.send_bytes(json.dumps([kind, value]).encode())


def _obey(connection: Connection) -> None:
    """Wait during a pause, between two measurements, so that none includes it."""
    paused = False
    while paused or connection.poll(0):
        order = connection.recv_bytes()
        paused = order == b"pause"
        if paused:
            _send(connection, "paused", None)


def _finite(value: Any) -> Any:
    """Return `value` with None for numbers that JSON cannot represent."""
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    return value
