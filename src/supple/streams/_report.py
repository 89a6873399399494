"""An iterator over records, and their output as text, frame and picture."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import Any, TypeVar

__all__ = ["Run", "draw_lines", "frame_of", "latest_table", "lines_of_table", "new_axes"]

RecordT = TypeVar("RecordT")


class Run(Iterator[RecordT]):
    """An iterator over records that does the work during the iteration.

    Attributes
    ----------
    records : list
        The records so far; they remain if the run is stopped, say by Ctrl-C.
    n_total : int
        Number of records if no learner drops out.
    metrics : tuple of str
        The names of the scores, the most important one first.
    """

    def __init__(
        self, steps: Generator[RecordT, None, None], n_total: int, metrics: tuple[str, ...]
    ) -> None:
        self._steps = steps
        self.records: list[RecordT] = []
        self.n_total = n_total
        self.metrics = metrics

    def __next__(self) -> RecordT:
        record = next(self._steps)
        self.records.append(record)
        return record

    def close(self) -> None:
        """End the run; the records so far remain."""
        self._steps.close()


def frame_of(rows: Iterable[Any], columns: Sequence[str]) -> Any:
    """Return rows as a pandas DataFrame."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            "to_frame needs pandas, which is not installed. Install it (pip install pandas) "
            "or use the list `records`."
        ) from error
    return pd.DataFrame(list(rows), columns=list(columns))


def new_axes() -> Any:
    """Return the axes of a new figure."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "plot needs matplotlib, which is not installed. Install it "
            "(pip install matplotlib) or use the list `records`."
        ) from error
    return plt.subplots(layout="constrained")[1]


def draw_lines(
    ax: Any, points: Iterable[tuple[str, float, float | None]], xlabel: str, ylabel: str
) -> Any:
    """Draw points (name, x, y) as one line for each name; return the figure."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for name, x, y in points:
        if y is not None:
            lines.setdefault(name, []).append((x, y))
    for name, line in lines.items():
        ax.plot(*zip(*line, strict=True), marker="o", markersize=4, label=name)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.grid(alpha=0.3)
    ax.legend()
    return ax.figure


def lines_of_table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return rows of text, the first column flush left, the others flush right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows
    ]


def latest_table(
    records: Sequence[Any],
    name: str,
    count: str,
    metrics: Sequence[str],
    scores: str | None = None,
) -> list[str]:
    """Return lines of text: the latest record under each name, with the time of all.

    Parameters
    ----------
    records : sequence of object
        Records, the oldest first.
    name, count : str
        Their fields with the name and with the number of examples.
    metrics : sequence of str
        Fields with scores, of the record or of its field `scores`.
    scores : str, default=None
        Field that holds the scores.
    """
    if not records:
        return []
    rows = [(name, count, *metrics, "n_vectors", "fit s", "predict s", "bytes")]
    failed = []
    for each, last in {getattr(record, name): record for record in records}.items():
        own = [record for record in records if getattr(record, name) == each]
        scored = last if scores is None else getattr(last, scores)
        rows.append(
            (
                each,
                str(getattr(last, count)),
                *(_short(getattr(scored, metric)) for metric in metrics),
                _short(last.n_vectors),
                f"{sum(record.fit_seconds for record in own):.3g}",
                f"{sum(record.predict_seconds for record in own):.3g}",
                _short(last.model_bytes),
            )
        )
        failed += [f"{each}: {last.error}"] if last.error else []
    return lines_of_table(rows) + failed


def _short(value: float | None) -> str:
    """Return a number in few characters."""
    if value is None:
        return "-"
    return f"{value:.4f}" if isinstance(value, float) else str(value)
