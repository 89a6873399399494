"""Run walks in worker processes that are ended if one call into supple takes too long."""

from __future__ import annotations

import multiprocessing as mp
import os
import signal
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait

from .checks import Checks
from .walk import BrokenModel, Failure, Walk

PATIENCE = 20.0  # seconds of processor time for one call
STILL = 10.0  # times as long in wall time: the process waits for something


@dataclass
class Result:
    """What one walk has shown."""

    seed: int
    scene: str
    failures: list[Failure]
    counts: Counter = field(default_factory=Counter)
    refused: list[str] = field(default_factory=list)


def run_walk(seed: int, announce=lambda text: None) -> Result:
    """Run the walk of a seed in this process."""
    walk = Walk(seed, announce)
    announce(walk.scene.describe())
    checks = Checks(walk)
    try:
        walk.start()
        checks.after_step()
        for _ in range(walk.steps):
            walk.step()
            checks.after_step()
    except BrokenModel:
        pass  # which is noted
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        walk.fail(
            f"the walk broke: {type(error).__name__}",
            f"{error} ({os.path.basename(where.filename)}:{where.lineno})",
        )
    return Result(seed, walk.scene.describe(), walk.failures, checks.counts, walk.refused)


def _work(connection: Connection, patience: float) -> None:
    """Run the walks whose seeds come in. A call beyond patience is ended by SIGPROF."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def announce(text: str) -> None:
        connection.send(text)
        signal.setitimer(signal.ITIMER_PROF, patience)

    while (seed := connection.recv()) is not None:
        result = run_walk(seed, announce)
        signal.setitimer(signal.ITIMER_PROF, 0)
        connection.send(result)


TARGET = _work


class _Worker:
    def __init__(self, patience: float):
        self.patience = patience
        self.connection, other = mp.Pipe()
        context = mp.get_context("spawn")
        self.process = context.Process(target=TARGET, args=(other, patience), daemon=True)
        self.process.start()
        other.close()
        self.seed: int | None = None
        self.scene, self.doing, self.since = "", "start", time.monotonic()

    def give(self, seed: int) -> None:
        self.seed, self.scene, self.since = seed, "", time.monotonic()
        self.connection.send(seed)

    def heard(self) -> Result | None:
        """Take one message; a result when the walk is over, however it ended."""
        try:
            message = self.connection.recv()
        except (EOFError, ConnectionResetError):
            return self.ended()
        if isinstance(message, str):
            self.scene = self.scene or message  # which comes first
            self.doing, self.since = message, time.monotonic()
            return None
        self.seed = None
        return message

    def ended(self) -> Result:
        """The result of a walk that ended its process."""
        self.process.join()
        code = self.process.exitcode
        kind, text = "the process died", f"exit code {code}"
        if code in (-signal.SIGPROF, -signal.SIGKILL):
            kind, text = "a call takes too long", f"more than {self.patience:g} s"
        seed = -1 if self.seed is None else self.seed
        ordinary = self.scene.endswith("ordinary")
        failure = Failure(kind, seed, -1, f"{self.doing}: {text}", ordinary)
        return Result(seed, self.scene, [failure])

    @property
    def stuck(self) -> bool:
        # Before the scene is told the process still imports its modules.
        return bool(self.scene) and time.monotonic() - self.since > STILL * self.patience


def run(seeds: Iterator[int], jobs: int, seconds: float, patience: float) -> Iterator[Result]:
    """Yield the results of walks until the time is over or the seeds are used up."""
    end = time.monotonic() + seconds
    workers = [_Worker(patience) for _ in range(jobs)]
    for worker in workers:
        if (seed := next(seeds, None)) is not None:
            worker.give(seed)
    try:
        while busy := [w for w in workers if w.seed is not None]:
            for connection in wait([w.connection for w in busy], timeout=1.0):
                worker = next(w for w in busy if w.connection is connection)
                if (result := worker.heard()) is None:
                    continue
                yield result
                if not worker.process.is_alive():
                    workers.remove(worker)
                    workers.append(worker := _Worker(patience))
                if time.monotonic() < end and (seed := next(seeds, None)) is not None:
                    worker.give(seed)
            for worker in busy:
                if worker.seed is not None and worker.stuck:
                    worker.process.kill()
    finally:
        for worker in workers:
            worker.process.kill()
            worker.process.join()
