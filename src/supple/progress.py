"""The output of `verbose`: one line a second."""

from __future__ import annotations

import time
from contextlib import nullcontext
from itertools import takewhile
from typing import NamedTuple, Self

from supple._core import Phase, listen

__all__ = ["SILENCE", "Progress"]

SILENCE = nullcontext()  # where there is no Progress to enter
PAUSE = 1.0  # seconds from the beginning to the first line, and from one line to the next


class _Level(NamedTuple):
    """A sequence of tasks, of which number `number` has begun."""

    number: int
    total: int
    alike: bool  # the tasks take about the same time
    start: float  # of the first task
    now: float  # start of the present task

    def left(self, now: float) -> float:
        """Return the expected seconds until all are done, 0 if unknown."""
        done = self.number - 1
        if not (self.alike and done):
            return 0.0
        each = (self.now - self.start) / done
        return max(0.0, each * (self.total - done) - (now - self.now))


class Progress:
    """Print the progress of an operation that takes more than a second.

    As a context it receives the reports of the compiled solvers.

    Parameters
    ----------
    name : str
        Name of the estimator, at the beginning of every line.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._levels: dict[str, _Level] = {}  # outermost first
        self._step = ""
        self._due = time.perf_counter() + PAUSE

    def __enter__(self) -> Self:
        listen(self, PAUSE / 20)
        return self

    def __exit__(self, *exc: object) -> None:
        listen(None, PAUSE)

    def __call__(self, phase: Phase, done: int, total: int, value: float) -> None:
        """Receive a report of the core."""
        if phase == Phase.machine:
            self.at("machine", done, total)
        elif phase == Phase.kernel:
            part = f"computing kernel values: {done:,} of {total:,} rows"
            self._print(f"{self._step} ({part})" if self._step else part)
        else:
            self.say(_sentence(phase, done, total, value))

    def at(self, noun: str, number: int, total: int, *, alike: bool = True) -> None:
        """Note that task `number` of `total` begins; a single task is not reported.

        Tasks of nouns that were noted later are parts of it, and begin anew. If the tasks are
        `alike`, the remaining time is estimated.
        """
        now = time.perf_counter()
        level = self._levels.get(noun)
        start = now if level is None or number <= level.number else level.start
        self._levels = dict(takewhile(lambda item: item[0] != noun, self._levels.items()))
        if total > 1:
            self._levels[noun] = _Level(number, total, alike, start, now)
        self._step = ""
        if self._levels:
            self._print("")

    def restart(self) -> None:
        """Begin a new operation."""
        self._levels, self._step = {}, ""

    def say(self, sentence: str) -> None:
        """Print a line if the last one is a second old."""
        self._step = sentence
        self._print(sentence)

    def _print(self, sentence: str) -> None:
        now = time.perf_counter()
        if now < self._due:
            return
        where = ", ".join(f"{k} {v.number:,} of {v.total:,}" for k, v in self._levels.items())
        said = ": ".join(filter(None, (where, sentence)))
        left = next((v.left(now) for v in self._levels.values()), 0.0)  # of the outermost
        print(f"[{self._name}] {said}" + (f"; about {_duration(left)} left" if left else ""))
        self._due = now + PAUSE


def _sentence(phase: Phase, done: int, total: int, value: float) -> str:
    if phase == Phase.solving:
        return f"solving: {done:,} of {total:,} rows optimal, gap {value:.0e}"
    if phase == Phase.factoring:
        return f"preparing the exact finish: {done:,} of {total:,} margin vectors"
    if phase == Phase.finishing:
        return f"finishing exactly: {done:,} of {total:,} margin vectors, violation {value:.0e}"
    if phase == Phase.admitting:
        return f"adding vectors one by one: {done:,} of {total:,}, violation {value:.0e}"
    return f"following the path: {100 * value:.0f} % of the way, {done:,} breakpoints"


def _duration(seconds: float) -> str:
    if seconds < 99.5:
        return f"{seconds:.0f} s" if seconds >= 1.0 else "1 s"
    return f"{seconds / 60:.0f} min"
