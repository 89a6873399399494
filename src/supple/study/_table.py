"""Tables of users: CSV, Parquet and LIBSVM files, with messages for mistakes in them."""

import csv
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from supple.errors import InvalidInputError

__all__ = ["Column", "Table", "read_table"]

_MISSING = frozenset({"", "?", "na", "nan", "n/a", "null", "none"})
_LIBSVM_LINE = re.compile(r"[-+]?[\d.]+(?:[eE][-+]?\d+)?(?:\s+\d+:\S+)+\s*(?:#.*)?$")
_LINE_END = re.compile(r"\r\n|\r|\n")  # str.splitlines knows others, which belong to cells
_MOSTLY = 0.9  # from this share of numbers on, other cells of a column are mistakes
_DENSE = 10_000_000  # LIBSVM files with fewer entries, zeros included, become dense
_PREVIEW = 20


@dataclass(frozen=True, eq=False)
class Column:
    """One column of a table.

    Attributes
    ----------
    name : str
        Its name.
    kind : {"number", "nominal"}
        What its cells are.
    missing : int
        Number of cells that are empty, "?" or "NA".
    distinct : int
        Number of different values.
    values : ndarray
        Numbers (NaN: missing) or strings ("?": missing).
    """

    name: str
    kind: Literal["number", "nominal"]
    missing: int
    distinct: int
    values: NDArray[Any] = field(repr=False)


@dataclass(frozen=True, eq=False)
class Table:
    r"""The table in a file.

    Attributes
    ----------
    name : str
        Its name.
    format : {"CSV", "Parquet", "LIBSVM"}
        Format of the file.
    rows : int
        Number of rows.
    columns : tuple of Column
        Its columns; of a LIBSVM file only the labels, whose column is named "label".
    preview : tuple of tuple of str
        The first rows, as texts.
    features : ndarray, CSR matrix or None
        LIBSVM: the features.
    lines : tuple of int
        CSV: the line of the file on which each row is.

    Examples
    --------
    >>> from supple.study import read_table
    >>> table = read_table(b"age,kind\n3,cat\n?,dog\n", "pets.csv")
    >>> [(column.name, column.kind, column.missing) for column in table.columns]
    [('age', 'number', 1), ('kind', 'nominal', 0)]
    """

    name: str
    format: Literal["CSV", "Parquet", "LIBSVM"]
    rows: int
    columns: tuple[Column, ...]
    preview: tuple[tuple[str, ...], ...]
    features: Any = field(repr=False, default=None)
    lines: tuple[int, ...] = field(repr=False, default=())

    def column(self, name: str, role: str = "target") -> Column:
        """Return the column of this name; if there is none, raise and list the names."""
        for column in self.columns:
            if column.name == name:
                return column
        known = ", ".join(column.name for column in self.columns[:20])
        more = ", ..." if len(self.columns) > 20 else ""
        raise InvalidInputError(
            f"{self.name} has no column {name!r} to be the {role}. Its columns are: {known}{more}."
        )

    def where(self, row: int) -> str:
        """Return the place of a row in the file."""
        return f"line {self.lines[row]}" if self.lines else f"row {row + 1}"


def read_table(source: str | Path | bytes, name: str | None = None) -> Table:
    r"""Read a CSV, Parquet or LIBSVM file, recognised by its content.

    CSV may use commas, semicolons, tabs or bars. The first line has the names of the columns,
    unless one of its cells is a number; then they are x1, x2, .... Cells that are empty, "?", "NA"
    or "NaN" are missing.

    Parameters
    ----------
    source : str, Path or bytes
        Path of the file, or its content.
    name : str, default=None
        Its name in messages; None takes that of the file.

    Returns
    -------
    Table
        What it holds.

    Raises
    ------
    InvalidInputError
        If it cannot be read; the message names line and column.

    Examples
    --------
    >>> from supple.study import read_table
    >>> table = read_table(b"1 1:0.5 3:2\n-1 2:1\n", "small.libsvm")
    >>> table.format, table.rows, table.features.shape
    ('LIBSVM', 2, (2, 3))
    """
    if isinstance(source, bytes):
        data, name = source, name or "the data"
    else:
        data, name = _bytes_of(Path(source)), name or Path(source).name
    if data[:4] == b"PAR1":
        return _read_parquet(data, name)
    text = _text_of(data, name)
    lines = _LINE_END.split(text)
    first = next((line for line in lines if line.strip() and line.strip()[0] != "#"), None)
    if first is None:
        raise InvalidInputError(f"{name} is empty. It needs rows of data.")
    if _LIBSVM_LINE.fullmatch(first.strip()):
        return _read_libsvm(lines, name)
    return _read_csv(text, lines, name)


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise InvalidInputError(f"There is no file {str(path)!r}.") from None
    except IsADirectoryError:
        raise InvalidInputError(f"{str(path)!r} is a folder. Name a file in it.") from None
    except OSError as error:
        raise InvalidInputError(f"{str(path)!r} cannot be read: {error.strerror}.") from None


def _text_of(data: bytes, name: str) -> str:
    if b"\0" in data[:100_000]:
        raise InvalidInputError(
            f"{name} is a binary file. Give a CSV, Parquet or LIBSVM file; a spreadsheet can be "
            "saved as CSV."
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidInputError(
            f"{name}, line {line}: the byte 0x{data[error.start]:02x} is not UTF-8. If it is a "
            "text file, save it as UTF-8."
        ) from None


def _read_csv(text: str, lines: list[str], name: str) -> Table:
    delimiter = _delimiter(lines)
    rows: list[list[str]] = []
    places: list[int] = []
    whole = io.StringIO(text, newline="")  # cells in quotation marks may have several lines
    reader = csv.reader(whole, delimiter=delimiter, skipinitialspace=True, strict=True)
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                rows.append([cell.strip() for cell in row])
                places.append(reader.line_num)
    except csv.Error as error:
        raise InvalidInputError(
            f"{name}, line {reader.line_num}: {error}. Is a quotation mark left open?"
        ) from None
    if not rows:
        raise InvalidInputError(f"{name} is empty. It needs rows of data.")
    comma = delimiter != ","
    header = _header(rows[0], name, comma)
    if header is None:
        header = [f"x{i}" for i in range(1, len(rows[0]) + 1)]
    else:
        del rows[0], places[0]
    if not rows:
        raise InvalidInputError(f"{name} has a line of column names and no rows of data.")
    for row, line in zip(rows, places, strict=True):
        if len(row) != len(header):
            raise InvalidInputError(
                f"{name}, line {line}: {len(row)} cells, but there are {len(header)} columns. "
                "Give every line as many cells, and put texts with separators in quotation marks."
            )
    cells = [tuple(column) for column in zip(*rows, strict=True)]
    columns = tuple(
        _column(title, values, lambda i: f"{name}, line {places[i]}", comma=comma)
        for title, values in zip(header, cells, strict=True)
    )
    preview = tuple(tuple(row) for row in rows[:_PREVIEW])
    return Table(name, "CSV", len(rows), columns, preview, lines=tuple(places))


def _delimiter(lines: list[str]) -> str:
    """Return the separator that gives the most cells, equally many in all first lines."""
    sample = [line for line in lines[:200] if line.strip()][:20]
    best, most = ",", 1
    for candidate in (",", ";", "\t", "|"):
        try:
            widths = {len(row) for row in csv.reader(sample, delimiter=candidate)}
        except csv.Error:
            continue
        if len(widths) == 1 and max(widths) > most:
            best, most = candidate, max(widths)
    if most > 1:
        return best
    return max((",", ";", "\t", "|"), key=sample[0].count) if sample else ","


def _header(row: list[str], name: str, comma: bool) -> list[str] | None:
    """Return the names of columns, None if a cell is a number, so that the row is data."""
    if any(_number(cell, comma) is not None for cell in row):
        return None
    names = [cell or f"x{i}" for i, cell in enumerate(row, 1)]
    _check_names(names, name)
    return names


def _check_names(names: Sequence[str], name: str) -> None:
    seen: set[str] = set()
    for each in names:
        if each in seen:
            raise InvalidInputError(
                f"{name} has two columns named {each!r}. Give each its own name."
            )
        seen.add(each)


def _number(cell: str, comma: bool = False) -> float | None:
    """Return a finite number, None if the cell holds none."""
    try:
        number = float(cell.replace(",", ".") if comma else cell)
    except ValueError:
        return None
    return number if np.isfinite(number) and "_" not in cell else None


def _column(
    title: str, cells: Sequence[str], where: Callable[[int], str], *, comma: bool = False
) -> Column:
    missing = [cell.lower() in _MISSING for cell in cells]
    n_missing = sum(missing)
    numbers = [
        None if gone else _number(cell, comma) for cell, gone in zip(cells, missing, strict=True)
    ]
    n_numbers = sum(number is not None for number in numbers)
    n_known = len(cells) - n_missing
    if n_numbers == n_known:
        values = np.array([np.nan if number is None else number for number in numbers])
        distinct = len(np.unique(values[~np.isnan(values)]))
        return Column(title, "number", n_missing, distinct, values)
    if n_numbers >= _MOSTLY * n_known:
        wrong = next(i for i, number in enumerate(numbers) if number is None and not missing[i])
        raise InvalidInputError(
            f"{where(wrong)}, column {title!r}: {cells[wrong]!r:.60} is not a finite number, as "
            f" {n_numbers} other cells of the column are. Correct it, or write '?' if "
            "the value is missing."
        )
    texts = ["?" if gone else cell for cell, gone in zip(cells, missing, strict=True)]
    return Column(title, "nominal", n_missing, len(set(texts) - {"?"}), np.array(texts))


def _read_libsvm(lines: list[str], name: str) -> Table:
    labels: list[str] = []
    rows, indices, values, places = [], [], [], []
    for place, line in enumerate(lines, 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        if _number(words[0]) is None:
            raise InvalidInputError(
                f"{name}, line {place}: the label {words[0]!r:.60} is not a number."
            )
        before = 0
        for word in words[1:]:
            index, _, value = word.partition(":")
            number = _number(value)
            if not index.isascii() or not index.isdigit() or number is None or int(index) <= before:
                raise InvalidInputError(
                    f"{name}, line {place}: {word!r:.60} is no feature. Write index:value with "
                    "growing indices from 1, as in '+1 1:0.5 3:2'."
                )
            before = int(index)
            rows.append(len(labels))
            indices.append(before - 1)
            values.append(number)
        labels.append(words[0])
        places.append(place)
    width = max(indices, default=0) + 1
    if width > 10_000_000:
        raise InvalidInputError(f"{name} has a feature with the index {width}; too large.")
    X = sp.csr_matrix((values, (rows, indices)), shape=(len(labels), width), dtype=np.float64)
    column = _column("label", labels, lambda i: f"{name}, line {places[i]}")
    preview = tuple(tuple(line.split()[:12]) for line in lines[:_PREVIEW])
    dense = len(labels) * width <= _DENSE
    features = X.toarray() if dense else X
    return Table(name, "LIBSVM", len(labels), (column,), preview, features, tuple(places))


def _read_parquet(data: bytes, name: str) -> Table:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise InvalidInputError(
            f"{name} is a Parquet file, and pyarrow, which reads it, is not installed. Install it "
            "(pip install pyarrow), or save the table as CSV."
        ) from None
    try:
        frame = pq.ParquetFile(pa.BufferReader(data)).read()
    except (pa.ArrowException, OSError) as error:
        raise InvalidInputError(f"{name} is no whole Parquet file: {error}.") from None
    if not frame.num_rows or not frame.num_columns:
        raise InvalidInputError(f"{name} is empty. It needs rows of data.")
    _check_names(frame.column_names, name)
    columns = tuple(
        _column(
            title, [_cell(each) for each in values.to_pylist()], lambda i: f"{name}, row {i + 1}"
        )
        for title, values in zip(frame.column_names, frame.columns, strict=True)
    )
    head = frame.slice(0, _PREVIEW).to_pylist()
    preview = tuple(tuple(_cell(value) for value in row.values()) for row in head)
    return Table(name, "Parquet", frame.num_rows, columns, preview)


def _cell(value: Any) -> str:
    """Return a value of a Parquet file as a CSV file would write it."""
    if isinstance(value, bool):
        return str(int(value))
    return "" if value is None else str(value)
