"""Runs the cells of items, in one process or several, and stores finished cells."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from multiprocessing import active_children, get_context

from threadpoolctl import threadpool_limits

from supple.experiments._declare import Cell, Item
from supple.experiments._store import Outcome, Store
from supple.experiments.data import present
from supple.experiments.protocols import PROTOCOLS

__all__ = ["run"]

Report = Callable[[str], None]


def run(
    item: Item, store: Store, *, quick: bool, seed: int, jobs: int, report: Report
) -> list[tuple[Cell, list[Outcome]]]:
    """Run the unfinished cells of an item and return the outcomes of all.

    Parameters
    ----------
    item : Item
        The item.
    store : Store
        Store of finished cells.
    quick : bool
        Whether to run the quick form.
    seed : int
        Seed of everything random.
    jobs : int
        Number of processes.
    report : callable
        Receives a line of text when a cell is finished.
    """
    cells = item.cells(quick=quick, seed=seed, present=present)
    missing = [cell for cell in cells if store.find(cell) is None]
    clock = _Clock(item, cells, store, quick, jobs)
    if len(missing) < len(cells):
        report(f"{item.name}: {len(cells) - len(missing)} of {len(cells)} cells are there already")
    for cell, outcomes, seconds in _execute(missing, jobs):
        store.add(cell, outcomes, seconds=seconds)
        report(clock.line(seconds))
    return [(cell, store.find(cell) or []) for cell in cells]


class _Clock:
    """Reports the progress of a run and the remaining time."""

    def __init__(self, item: Item, cells: list[Cell], store: Store, quick: bool, jobs: int) -> None:
        known = [store.seconds(cell) for cell in cells]
        self._times = [seconds for seconds in known if seconds is not None]
        self._total, self._jobs, self._name = len(cells), jobs, item.name
        minutes = item.quick_minutes if quick else item.minutes
        self._guess = 60.0 * minutes / max(len(cells), 1)

    def line(self, seconds: float) -> str:
        self._times.append(seconds)
        done = len(self._times)
        # The declared time counts as one cell: the first cells may not be typical.
        mean = (sum(self._times) + self._guess) / (done + 1)
        left = (self._total - done) * mean / self._jobs
        return f"{self._name}: {done} of {self._total} cells, about {duration(left)} left"


def duration(seconds: float) -> str:
    """Return a time in words.

    Examples
    --------
    >>> from supple.experiments._runner import duration
    >>> duration(42.3), duration(600)
    ('42 s', '10 min')
    """
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def _work(cell: Cell) -> tuple[list[Outcome], float]:
    start = time.perf_counter()
    with threadpool_limits(1):
        outcomes = PROTOCOLS[cell["protocol"]](cell)
    return outcomes, time.perf_counter() - start


def _execute(cells: list[Cell], jobs: int) -> Iterator[tuple[Cell, list[Outcome], float]]:
    """Yield cells with their outcomes, in the order in which they finish."""
    if jobs == 1 or len(cells) < 2:
        for cell in cells:
            outcomes, seconds = _work(cell)
            yield cell, outcomes, seconds
        return
    with _pool(min(jobs, len(cells))) as pool:
        running: dict[Future[tuple[list[Outcome], float]], Cell] = {}
        rest = iter(cells)
        while True:
            # Submit few ahead, so that an interruption has little to cancel.
            for cell in rest:
                running[pool.submit(_work, cell)] = cell
                if len(running) >= 2 * jobs:
                    break
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                outcomes, seconds = future.result()
                yield running.pop(future), outcomes, seconds


@contextmanager
def _pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    parent = os.getpid()
    context = get_context("spawn")
    pool = ProcessPoolExecutor(jobs, context, initializer=_leave_with, initargs=(parent,))
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in active_children():  # their present work is lost anyway
            worker.kill()
        raise
    pool.shutdown()


def _leave_with(parent: int) -> None:
    """End this worker when its parent was killed; otherwise it would wait for ever."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles it

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
