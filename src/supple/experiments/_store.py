"""Finished cells on disk: one line of JSON each, written atomically."""

from __future__ import annotations

import json
import os
from importlib.metadata import version
from pathlib import Path
from typing import Any

from supple.experiments._declare import Cell, key_of

__all__ = ["Outcome", "Store"]

VERSION = version("supple")
Outcome = dict[str, Any]  # {"labels": {name: str}, "values": {measure: [number of each fold]}}


class Store:
    """The finished cells of one paper.

    A line is appended by one system call. A truncated line is removed when the store is opened
    again, as are cells of other versions of supple, whose machines or protocols may differ.

    Parameters
    ----------
    path : Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from supple.experiments._store import Store
    >>> path = Path(tempfile.mkdtemp()) / "cells.jsonl"
    >>> Store(path).add({"C": 1.0}, [{"labels": {}, "values": {"accuracy": [0.9]}}], seconds=0.1)
    >>> Store(path).find({"C": 1.0})
    [{'labels': {}, 'values': {'accuracy': [0.9]}}]
    >>> Store(path).find({"C": 2.0}) is None
    True
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._found: dict[str, tuple[list[Outcome], float]] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            self._read()

    def _read(self) -> None:
        lines = self.path.read_bytes().split(b"\n")
        whole = []
        for line in lines:
            try:
                entry = json.loads(line)
                if entry["version"] != VERSION:
                    continue
                self._found[entry["key"]] = (entry["outcomes"], entry["seconds"])
            except (ValueError, KeyError, TypeError):
                continue  # an empty or truncated line
            whole.append(line)
        if lines != [*whole, b""]:
            fresh = self.path.with_suffix(".new")
            fresh.write_bytes(b"".join(line + b"\n" for line in whole))
            os.replace(fresh, self.path)

    def find(self, cell: Cell) -> list[Outcome] | None:
        """Return the outcomes of a cell, None if it is not finished."""
        entry = self._found.get(key_of(cell))
        return None if entry is None else entry[0]

    def seconds(self, cell: Cell) -> float | None:
        """Return the seconds that a finished cell took."""
        entry = self._found.get(key_of(cell))
        return None if entry is None else entry[1]

    def add(self, cell: Cell, outcomes: list[Outcome], *, seconds: float) -> None:
        """Store the outcomes of a cell."""
        key = key_of(cell)
        entry = {"key": key, "version": VERSION, "seconds": round(seconds, 3), "cell": cell}
        entry["outcomes"] = outcomes
        line = json.dumps(entry).encode() + b"\n"
        file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            while line:  # a full disk may accept only a part
                line = line[os.write(file, line) :]
            os.fsync(file)
        finally:
            os.close(file)
        self._found[key] = (outcomes, seconds)
