"""Where output goes: results to stdout, all else to stderr; colours on terminals only."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from supple.streams._report import lines_of_table

__all__ = ["errors", "out", "show_table", "sparkline", "table_of"]

_BARS, _PLAIN_BARS = "▁▂▃▄▅▆▇█", "_.-:=+*#"


def out() -> Console:
    """Return the console of results. Rich leaves colours out if NO_COLOR is set."""
    return Console(highlight=False, markup=False)


def errors() -> Console:
    """Return the console of progress, notes and errors."""
    return Console(stderr=True, highlight=False, markup=False)


def table_of(rows: Sequence[tuple[str, ...]], left: Sequence[int] = (0,)) -> Table:
    """Return a table for a terminal; its first row has the titles, `left` are flush left."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for i, title in enumerate(rows[0]):
        table.add_column(Text(title), justify="left" if i in left else "right", overflow="fold")
    for row in rows[1:]:
        table.add_row(*map(Text, row))
    return table


def show_table(rows: Sequence[tuple[str, ...]], left: Sequence[int] = (0,)) -> None:
    """Print a table: fitted to a terminal, in whole lines to a pipe."""
    console = out()
    if console.is_terminal:
        console.print(table_of(rows, left))
        return
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = [
        tuple(cell.ljust(widths[i]) if i in left else cell for i, cell in enumerate(row))
        for row in rows
    ]
    for line in lines_of_table(padded):
        console.out(line.rstrip(), highlight=False)


def sparkline(values: Sequence[float | None], low: float, high: float, encoding: str) -> str:
    """Return a curve in one line of text; unknown values are blanks.

    Examples
    --------
    >>> from supple.cli._output import sparkline
    >>> sparkline([0.0, None, 0.5, 1.0], 0.0, 1.0, "utf-8")
    '▁ ▅█'
    """
    bars = _BARS if encoding.lower().startswith("utf") else _PLAIN_BARS
    width = (high - low) or 1.0
    steps = len(bars) - 1
    return "".join(
        " " if value is None else bars[min(steps, max(0, int((value - low) / width * steps + 0.5)))]
        for value in values
    )
