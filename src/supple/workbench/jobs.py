"""The queue of runs: each in a spawned process, paused, resumed and cancelled at any moment."""

import asyncio
import json
import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any

from supple.errors import InvalidInputError
from supple.workbench.history import UNFINISHED, History, NotFoundError, Run
from supple.workbench.worker import Work, run_job

_Listener = tuple[asyncio.AbstractEventLoop, asyncio.Event]


@dataclass
class _Job:
    process: SpawnProcess
    connection: Connection
    cancelled: bool = False


class Jobs:
    """The queue of runs of a history.

    Parameters
    ----------
    history : History
        Storage of runs and records.
    work : callable
        ``work(task)`` iterates over records; importable, since another process calls it.
    task : callable
        Returns the task of a run, which is sent to that process.
    n : int
        Number of concurrent runs.
    """

    def __init__(
        self, history: History, work: Work, task: Callable[[Run], Any], n: int = 1
    ) -> None:
        self._history, self._work, self._task = history, work, task
        self._context = multiprocessing.get_context("spawn")
        self._queue: SimpleQueue[str | None] = SimpleQueue()
        self._lock = Lock()
        self._active: dict[str, _Job] = {}
        self._listeners: dict[str, list[_Listener]] = {}
        self._closed = self._dismissed = False
        history.interrupt_unfinished()
        self._threads = [Thread(target=self._serve, daemon=True) for _ in range(n)]
        for thread in self._threads:
            thread.start()

    def submit(self, run_id: str) -> None:
        """Put a run at the end of the queue."""
        self._queue.put(run_id)
        self._ring(run_id)

    def waiting(self) -> int:
        """Return the number of runs in the queue."""
        return self._queue.qsize()

    def pause(self, run_id: str) -> None:
        """Pause a run after its present measurement; a queued run cannot be paused."""
        self._order(run_id, b"pause", "paused", ("running",))
        self._ring(run_id)

    def resume(self, run_id: str) -> None:
        """Resume a paused run."""
        self._order(run_id, b"resume", "resumed", ("pausing", "paused"))
        self._ring(run_id)

    def cancel(self, run_id: str) -> None:
        """Cancel a run at once."""
        with self._lock:
            run = self._history.run(run_id)
            if run.state not in UNFINISHED:
                raise InvalidInputError(f"The run {run.name!r} has ended already: {run.state}.")
            self._history.end(run_id, "cancelled")
            job = self._active.get(run_id)
            if job is not None:
                job.cancelled = True
                job.process.kill()
        self._ring(run_id)

    def _order(self, run_id: str, order: bytes, verb: str, states: tuple[str, ...]) -> None:
        with self._lock:
            run = self._history.run(run_id)
            job = self._active.get(run_id)
            if job is None or run.state not in states:
                raise InvalidInputError(
                    f"The run {run.name!r} cannot be {verb} because it is {run.state}."
                )
            with suppress(OSError):  # it has just ended
                job.connection.send_bytes(order)
            self._history.move(run_id, "pausing" if order == b"pause" else "running")

    @contextmanager
    def news(self, run_id: str) -> Iterator[asyncio.Event]:
        """Yield an event that is set whenever a run changes."""
        listener = (asyncio.get_running_loop(), asyncio.Event())
        with self._lock:
            self._listeners.setdefault(run_id, []).append(listener)
        try:
            yield listener[1]
        finally:
            with self._lock:
                self._listeners[run_id].remove(listener)
                if not self._listeners[run_id]:
                    del self._listeners[run_id]

    def dismiss(self) -> None:
        """Release all waiting event streams before the server ends."""
        self._dismissed = True
        with self._lock:
            listened = list(self._listeners)
        for run_id in listened:
            self._ring(run_id)

    def close(self) -> None:
        """End all processes, and mark unfinished runs as interrupted."""
        self._closed = True
        with self._lock:
            for job in self._active.values():
                job.process.kill()
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join()
        self._history.interrupt_unfinished()

    @property
    def dismissed(self) -> bool:
        """Whether event streams must end."""
        return self._dismissed

    def _ring(self, run_id: str) -> None:
        with self._lock:
            listeners = list(self._listeners.get(run_id, ()))
        for loop, event in listeners:
            with suppress(RuntimeError):  # its loop is closed
                loop.call_soon_threadsafe(event.set)

    def _serve(self) -> None:
        while (run_id := self._queue.get()) is not None and not self._closed:
            try:
                self._run(run_id)
            except NotFoundError:
                continue  # deleted in the meantime
            except Exception as error:  # the next run must start
                self._history.end(run_id, "failed", f"{type(error).__name__}: {error}")
            self._ring(run_id)

    def _run(self, run_id: str) -> None:
        task = self._task(self._history.run(run_id))
        ours, theirs = self._context.Pipe(duplex=True)
        process = self._context.Process(
            target=run_job, args=(theirs, self._work, task), daemon=True
        )
        job = _Job(process, ours)
        try:
            with self._lock:
                if self._closed or self._history.run(run_id).state != "queued":
                    return  # cancelled in the queue
                if run_id in self._active:  # cancelled and begun again: the old process ends first
                    self._queue.put(run_id)
                    return
                process.start()
                self._active[run_id] = job
                self._history.begin(run_id)
            theirs.close()
            self._ring(run_id)
            said = self._listen(run_id, job)
            process.join()
            self._conclude(run_id, job, said)
        finally:
            with self._lock:
                if self._active.get(run_id) is job:
                    del self._active[run_id]
            ours.close()
            theirs.close()
            if process.pid is not None:
                process.join()
                process.close()

    def _listen(self, run_id: str, job: _Job) -> tuple[str, str | None] | None:
        """Store the records of a job until it reports its end or its process ends."""
        while True:
            try:
                kind, value = json.loads(job.connection.recv_bytes())
            except (EOFError, OSError):
                return None
            with self._lock:
                if job.cancelled:  # the run may have been restarted: not its record
                    return None
                state = self._history.run(run_id).state
                if kind == "record":
                    self._history.add_records(run_id, [value])
                elif kind == "paused" and state == "pausing":
                    self._history.move(run_id, "paused")
            self._ring(run_id)
            if kind in ("end", "error"):
                return kind, value

    def _conclude(self, run_id: str, job: _Job, said: tuple[str, str | None] | None) -> None:
        with self._lock:
            if job.cancelled:
                return  # recorded by cancel
            if said is None and self._closed:
                self._history.end(run_id, "interrupted")
            elif said is None:
                code = job.process.exitcode
                self._history.end(
                    run_id,
                    "failed",
                    f"The process of this run ended without a word (exit code {code}). It may "
                    "have run out of memory; try fewer rows.",
                )
            elif said[0] == "end":
                self._history.end(run_id, "finished")
            else:
                self._history.end(run_id, "failed", said[1])
