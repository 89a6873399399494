"""A running study: a live table on a terminal, plain lines elsewhere."""

import time
from collections.abc import Iterator, Sequence

from rich.console import Group
from rich.live import Live
from rich.text import Text

from supple.cli._output import errors, sparkline, table_of
from supple.study import StudyRecord, StudySpec, learning_curves, summarise

__all__ = ["TITLES", "table_rows", "watch"]

TITLES = ("machine", "accuracy", "± sd", "curve", "vectors", "fit s", "predict s", "kB")


def watch(spec: StudySpec, records: Iterator[StudyRecord], *, quiet: bool) -> list[StudyRecord]:
    """Run a study to its end, show the progress on stderr, and return the records."""
    if quiet:
        return list(records)
    return _on_terminal(spec, records) if errors().is_terminal else _in_lines(spec, records)


def _on_terminal(spec: StudySpec, records: Iterator[StudyRecord]) -> list[StudyRecord]:
    found: list[StudyRecord] = []
    clock = Clock(spec)
    console = errors()
    with Live(console=console, transient=True, refresh_per_second=8, auto_refresh=False) as live:
        shown = 0.0
        for record in records:
            found.append(record)
            now = time.monotonic()
            if now - shown > 0.12:  # drawing after each record would cost more than the work
                shown = now
                rows = [TITLES, *table_rows(found, console.encoding)]
                live.update(Group(table_of(rows), Text(clock.line(found), "dim")), refresh=True)
    return found


def _in_lines(spec: StudySpec, records: Iterator[StudyRecord]) -> list[StudyRecord]:
    found: list[StudyRecord] = []
    clock = Clock(spec)
    said = time.monotonic()
    for record in records:
        found.append(record)
        if time.monotonic() - said > 5.0:
            said = time.monotonic()
            errors().print(clock.line(found), soft_wrap=True)
    return found


class Clock:
    """The progress of a study and the remaining time, as a line of text."""

    def __init__(self, spec: StudySpec) -> None:
        self._spec = spec
        self._start = time.monotonic()

    def line(self, found: Sequence[StudyRecord]) -> str:
        last = found[-1]
        share = self.share(len(found), last.n_total)
        left = (time.monotonic() - self._start) * (1.0 - share) / share
        return (
            f"repetition {last.repetition + 1} of {self._spec.repetitions}, {last.n_train} "
            f"examples, about {_duration(left)} left"
        )

    def share(self, done: int, total: int) -> float:
        """Return the share of work done; the cost of a record grows as the square of its size."""
        machines, repetitions = len(self._spec.machines), self._spec.repetitions
        points = max(1, total // (machines * repetitions))
        costs = [(1 + i // machines) ** 2 for i in range(points * machines)]
        whole, rest = divmod(done, len(costs))
        return min(1.0, (whole * sum(costs) + sum(costs[:rest])) / (repetitions * sum(costs)))


def _duration(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60}:{whole % 60:02} min" if whole < 3600 else f"{whole / 3600:.1f} h"


def table_rows(records: Sequence[StudyRecord], encoding: str) -> list[tuple[str, ...]]:
    """Return the cells of the table of the study, one row per machine."""
    curves = learning_curves(records)
    values = [p.accuracy for points in curves.values() for p in points if p.accuracy is not None]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    rows: list[tuple[str, ...]] = []
    for each in summarise(records):
        accuracies = [point.accuracy for point in curves.get(each.machine, [])]
        kilobytes = None if each.model_bytes is None else each.model_bytes / 1000
        rows.append(
            (
                each.machine,
                "failed" if each.accuracy is None and each.errors else _cell(each.accuracy, ".4f"),
                _cell(each.deviation, ".4f"),
                sparkline(accuracies, low, high, encoding),
                _cell(each.n_vectors, ".0f"),
                f"{each.fit_seconds:.3g}",
                f"{each.predict_seconds:.3g}",
                _cell(kilobytes, ".0f"),
            )
        )
    return rows


def _cell(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)
