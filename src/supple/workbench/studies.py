"""The link to supple.study: the work of a run, import and export."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Literal

from supple.errors import InvalidInputError
from supple.study import StudyRecord, StudySpec, execute, read_table, to_json
from supple.workbench.history import History, Run

_MAX_RECORDS = 100_000


def run_study(task: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Run the study of a task, record by record."""
    spec = StudySpec.from_dict(task["spec"])
    body = task["body"]
    table = None if body is None else read_table(body, task["name"])
    for record in execute(spec, table=table):
        yield asdict(record)


def task_of(run: Run, history: History) -> dict[str, Any]:
    """Return the task of a run for its process."""
    name, body = (None, None) if run.data_id is None else history.data(run.data_id)
    return {"spec": run.spec, "name": name, "body": body}


def checked_spec(values: dict[str, Any]) -> StudySpec:
    """Return the study that `values` describe; raise if they are wrong."""
    try:
        _sendable(values)
    except (ValueError, RecursionError):
        raise InvalidInputError(
            "The study holds a number or a character that cannot be written. Use finite numbers."
        ) from None
    spec = StudySpec.from_dict(values)
    spec.check()
    return spec


def _sendable(value: Any) -> None:
    """Raise ValueError for a number or a text that cannot be sent to a browser."""
    json.dumps(value, allow_nan=False, ensure_ascii=False).encode()


def as_records(rows: list[dict[str, Any]]) -> list[StudyRecord]:
    """Return the records of a run as objects of supple.study."""
    return [StudyRecord(**row) for row in rows]


def shared(run: Run, spec: StudySpec, records: list[StudyRecord]) -> str:
    """Return a run, without uploaded data, as text that another workbench can import."""
    content = {"name": run.name, "notes": run.notes, **json.loads(to_json(spec, records))}
    return json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False)


def unpacked(text: bytes) -> dict[str, Any]:
    """Return name, notes, spec and records of a shared run, all checked.

    Raises
    ------
    InvalidInputError
        If the text is neither from :func:`shared` nor from ``supple compare``.
    """
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(
            f"This file is not a shared run: {error}. Export one as JSON from the Runs tab."
        ) from None
    if not isinstance(content, dict) or not isinstance(content.get("study"), dict):
        raise InvalidInputError(
            "This file is not a shared run: it has no entry 'study' that describes one. Export a "
            "run as JSON from the Runs tab or with 'supple compare --json'."
        )
    rows = content.get("records")
    if not isinstance(rows, list) or len(rows) > _MAX_RECORDS:
        raise InvalidInputError(
            f"The 'records' of a shared run must be a list of at most {_MAX_RECORDS} records."
        )
    spec = checked_spec(content["study"])
    return {
        "name": str(content.get("name") or spec.name)[:200],
        "notes": str(content.get("notes") or "")[:10_000],
        "spec": spec.to_dict(),
        "records": [_record(row, number) for number, row in enumerate(rows, 1)],
    }


def _record(row: Any, number: int) -> dict[str, Any]:
    try:
        record = asdict(StudyRecord(**row))
        for field, value in record.items():
            wanted = _TYPES[StudyRecord.__annotations__[field]]
            if not isinstance(value, wanted) or isinstance(value, bool):
                raise TypeError(f"{field} is {value!r}")
        _sendable(record)
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInputError(
            f"Record {number} of the shared run cannot be read: {error}. Export the run again."
        ) from None
    return record


_TYPES: dict[Any, Any] = {
    int: int,
    str: str,
    Literal["partial_fit", "fit"]: str,
    float: (int, float),
    int | None: (int, type(None)),
    str | None: (str, type(None)),
    float | None: (int, float, type(None)),
}
