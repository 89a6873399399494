"""The history: runs, their records and uploaded data, in one SQLite file."""

import json
import secrets
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import Any, Literal

from supple.errors import InvalidInputError, SuppleError

State = Literal[
    "queued", "running", "pausing", "paused", "finished", "failed", "cancelled", "interrupted"
]
UNFINISHED = ("queued", "running", "pausing", "paused")
RESTARTABLE = ("failed", "cancelled", "interrupted")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, notes TEXT NOT NULL DEFAULT '',
    state TEXT NOT NULL, spec TEXT NOT NULL, data_id TEXT, error TEXT,
    created REAL NOT NULL, started REAL, ended REAL
);
CREATE TABLE IF NOT EXISTS records (
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    number INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (run, number)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS data (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, size INTEGER NOT NULL, rows INTEGER NOT NULL,
    created REAL NOT NULL, body BLOB NOT NULL
);
"""


class NotFoundError(SuppleError, LookupError):
    """A run or a data set that the history does not have."""


@dataclass(frozen=True)
class Run:
    """One run of the history, without its records."""

    id: str
    name: str
    notes: str
    state: State
    spec: dict[str, Any]
    data_id: str | None
    error: str | None
    created: float
    started: float | None
    ended: float | None
    n_records: int


@dataclass(frozen=True)
class Upload:
    """One uploaded data set of the history, without its bytes."""

    id: str
    name: str
    size: int
    rows: int
    created: float


class History:
    """Runs, records and uploads; every method is one transaction, threads may share it.

    Parameters
    ----------
    path : Path
        The SQLite file; created with its folder if it does not exist.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> history = History(pathlib.Path(folder.name) / "history.sqlite")
    >>> run = history.add_run("first", {"machines": []})
    >>> history.add_records(run.id, [{"accuracy": 0.9}])
    >>> history.run(run.id).state, history.records(run.id)
    ('queued', [{'accuracy': 0.9}])
    >>> history.close()
    >>> folder.cleanup()
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = RLock()
        self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._db.row_factory = sqlite3.Row
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._db.execute("PRAGMA foreign_keys = ON")
        self._db.executescript(_SCHEMA)

    def close(self) -> None:
        """Close the file, and merge the write-ahead log."""
        with self._lock:
            self._db.close()

    @contextmanager
    def _change(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def _rows(self, query: str, *values: Any) -> list[sqlite3.Row]:
        with self._lock:
            return self._db.execute(query, values).fetchall()

    # runs

    def add_run(
        self,
        name: str,
        spec: dict[str, Any],
        *,
        data_id: str | None = None,
        state: State = "queued",
        notes: str = "",
        records: list[dict[str, Any]] | None = None,
    ) -> Run:
        """Add a run, with its records if it is imported."""
        run_id = secrets.token_hex(8)
        with self._change() as db:
            db.execute(
                "INSERT INTO runs (id, name, notes, state, spec, data_id, created)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (run_id, name, notes, state, _packed(spec), data_id, time.time()),
            )
            self._append(db, run_id, records or [])
        return self.run(run_id)

    def run(self, run_id: str) -> Run:
        """Return a run."""
        found = self._rows(_RUNS.format("WHERE id = ?"), run_id)
        if not found:
            raise NotFoundError(f"There is no run {run_id!r} in the history. It may be deleted.")
        return _as_run(found[0])

    def runs(self) -> list[Run]:
        """Return all runs, the latest first."""
        return [_as_run(row) for row in self._rows(_RUNS.format("ORDER BY created DESC, id"))]

    def edit(self, run_id: str, *, name: str | None = None, notes: str | None = None) -> Run:
        """Change the name or the notes of a run."""
        with self._change() as db:
            db.execute(
                "UPDATE runs SET name = coalesce(?, name), notes = coalesce(?, notes) WHERE id = ?",
                (name, notes, run_id),
            )
        return self.run(run_id)

    def begin(self, run_id: str) -> None:
        """Mark a run as running, from now on."""
        with self._change() as db:
            db.execute(
                "UPDATE runs SET state = 'running', started = ?, ended = NULL WHERE id = ?",
                (time.time(), run_id),
            )

    def move(self, run_id: str, state: State) -> None:
        """Change the state of an active run."""
        with self._change() as db:
            db.execute("UPDATE runs SET state = ? WHERE id = ?", (state, run_id))

    def end(self, run_id: str, state: State, error: str | None = None) -> None:
        """Mark a run as ended."""
        with self._change() as db:
            db.execute(
                "UPDATE runs SET state = ?, error = ?, ended = ? WHERE id = ?",
                (state, error, time.time(), run_id),
            )

    def requeue(self, run_id: str) -> Run:
        """Restart an interrupted run, and drop its records."""
        run = self.run(run_id)
        if run.state not in RESTARTABLE:
            raise InvalidInputError(
                f"Only a run that was interrupted, cancelled or failed can be restarted. "
                f"The run {run.name!r} is {run.state}."
            )
        with self._change() as db:
            db.execute("DELETE FROM records WHERE run = ?", (run_id,))
            db.execute(
                "UPDATE runs SET state = 'queued', error = NULL, started = NULL, ended = NULL"
                " WHERE id = ?",
                (run_id,),
            )
        return self.run(run_id)

    def delete_run(self, run_id: str) -> None:
        """Remove a run and its records."""
        self.run(run_id)
        with self._change() as db:
            db.execute("DELETE FROM runs WHERE id = ?", (run_id,))

    def interrupt_unfinished(self) -> int:
        """Mark runs without a process as interrupted; return their number."""
        marks = ", ".join("?" * len(UNFINISHED))
        with self._change() as db:
            done = db.execute(
                f"UPDATE runs SET state = 'interrupted', ended = ? WHERE state IN ({marks})",
                (time.time(), *UNFINISHED),
            )
        return done.rowcount

    # records

    def add_records(self, run_id: str, records: list[dict[str, Any]]) -> None:
        """Append records of a run."""
        with self._change() as db:
            self._append(db, run_id, records)

    @staticmethod
    def _append(db: sqlite3.Connection, run_id: str, records: list[dict[str, Any]]) -> None:
        (last,) = db.execute(
            "SELECT coalesce(max(number), 0) FROM records WHERE run = ?", (run_id,)
        ).fetchone()
        db.executemany(
            "INSERT INTO records VALUES (?, ?, ?)",
            [(run_id, last + 1 + i, _packed(record)) for i, record in enumerate(records)],
        )

    def records(self, run_id: str, after: int = 0) -> list[dict[str, Any]]:
        """Return the records of a run except the first `after`."""
        rows = self._rows(
            "SELECT body FROM records WHERE run = ? AND number > ? ORDER BY number", run_id, after
        )
        return [json.loads(row["body"]) for row in rows]

    # data

    def add_data(self, name: str, body: bytes, rows: int) -> Upload:
        """Add an uploaded data set."""
        data_id = secrets.token_hex(8)
        with self._change() as db:
            db.execute(
                "INSERT INTO data VALUES (?, ?, ?, ?, ?, ?)",
                (data_id, name, len(body), rows, time.time(), body),
            )
        return next(each for each in self.uploads() if each.id == data_id)

    def uploads(self) -> list[Upload]:
        """Return all uploads, the latest first."""
        rows = self._rows(
            "SELECT id, name, size, rows, created FROM data ORDER BY created DESC, id"
        )
        return [Upload(**dict(row)) for row in rows]

    def data(self, data_id: str) -> tuple[str, bytes]:
        """Return the name and the bytes of an upload."""
        found = self._rows("SELECT name, body FROM data WHERE id = ?", data_id)
        if not found:
            raise NotFoundError(
                f"There is no uploaded data set {data_id!r}. It may be deleted; upload it again."
            )
        return found[0]["name"], found[0]["body"]

    def delete_data(self, data_id: str) -> None:
        """Remove an upload."""
        self.data(data_id)
        with self._change() as db:
            db.execute("DELETE FROM data WHERE id = ?", (data_id,))


_RUNS = "SELECT *, (SELECT count(*) FROM records WHERE run = runs.id) AS n_records FROM runs {}"


def _as_run(row: sqlite3.Row) -> Run:
    values = dict(row)
    return Run(**{**values, "spec": json.loads(values["spec"])})


def _packed(value: Any) -> str:
    # Strict JSON: a browser cannot read NaN.
    return json.dumps(value, allow_nan=False, separators=(",", ":"))
