"""Names of data: a set, a file, standard input or a generator."""

import ast
import difflib
import sys
from pathlib import Path
from typing import Any

from supple.datasets import names
from supple.datasets._catalogue import ALIASES, SOURCES
from supple.errors import InvalidInputError
from supple.study import GENERATORS, DataSpec, Table, read_table

__all__ = ["complete_names", "data_named", "table_named"]

_STDIN = "-"


def complete_names(incomplete: str) -> list[str]:
    """Return names of data, except files, with this beginning, for completion in the shell."""
    known = {*names(), *names("folder"), *GENERATORS}
    return sorted(name for name in known if name.startswith(incomplete))


def data_named(text: str) -> DataSpec:
    """Return the data that `text` names.

    Examples
    --------
    >>> from supple.cli._sources import data_named
    >>> data_named("sea noise=0.2").params
    {'noise': 0.2}
    >>> data_named("table.csv").source
    'file'
    """
    first, *settings = text.split() or [""]
    if first in GENERATORS:
        params = dict(_setting(each) for each in settings)
        return DataSpec("generator", first, order="as is", params=params)
    if text in names() or text in SOURCES or text in ALIASES:
        return DataSpec("embedded", text)
    if text == _STDIN or Path(text).exists() or any(mark in text for mark in "./\\"):
        return DataSpec("file", text)
    near = difflib.get_close_matches(text, complete_names(""), n=1)
    raise InvalidInputError(
        f"There is no file, data set or generator named {text!r}."
        + (f" Did you mean {near[0]!r}?" if near else "")
        + " 'supple data list' shows the sets that come with supple."
    )


def _setting(text: str) -> tuple[str, Any]:
    name, _, value = text.partition("=")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        raise InvalidInputError(
            f"{text!r} is no parameter of a generator. Write name=number, as in 'sea noise=0.2'."
        ) from None


def table_named(name: str) -> Table:
    """Return the table in a file or in standard input."""
    if name == _STDIN:
        return read_table(sys.stdin.buffer.read(), "standard input")
    return read_table(name)
