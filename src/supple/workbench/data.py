"""Data over HTTP: lists, summaries, projections and uploads."""

from collections import Counter
from dataclasses import asdict
from functools import cache, lru_cache
from typing import Annotated, Any, Literal

import numpy as np
from fastapi import APIRouter, Query, Request
from numpy.typing import NDArray
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from supple import datasets, study
from supple.errors import InvalidInputError
from supple.workbench.files import as_file
from supple.workbench.history import History
from supple.workbench.projection import project

router = APIRouter(prefix="/api/data", tags=["data"])

_Source = Literal["embedded", "file", "generator"]
_Name = Annotated[str, Query(min_length=1, max_length=200)]
_Target = Annotated[str | None, Query(max_length=1000)]
_SHOWN_COLUMNS = 200
_SHOWN_CLASSES = 50
_GENERATED_ROWS = 2000


def _history(request: Request) -> History:
    return request.app.state.history


@router.get("")
def list_data(request: Request) -> dict[str, Any]:
    """List embedded sets, generators and uploads."""
    return {
        "embedded": _catalogue(),
        "generators": _generators(),
        "uploads": [asdict(upload) for upload in _history(request).uploads()],
    }


@cache
def _catalogue() -> list[dict[str, Any]]:
    return [_entry(name) for name in datasets.names()]


def _entry(name: str) -> dict[str, Any]:
    data = datasets.load(name, prepared=False)
    return {
        "name": name,
        "title": data.description.splitlines()[0],
        "rows": len(data.y),
        "features": len(data.feature_names),
        "classes": len(data.target_names),
    }


@cache
def _generators() -> list[dict[str, Any]]:
    found = []
    for name in study.GENERATORS:
        spec = study.DataSpec(source="generator", name=name, rows=10)
        X, _, _ = study.load(spec)
        found.append({"name": name, "features": X.shape[1], "rows": _GENERATED_ROWS})
    return found


@router.get("/summary")
def summarise(
    request: Request, source: _Source, name: _Name, target: _Target = None
) -> dict[str, Any]:
    """Describe a data set: rows, classes, columns with types and missing values."""
    if source == "file":
        return _describe_table(_table(_history(request), name), target)
    if source == "generator":
        data = study.load(study.DataSpec(source=source, name=name, rows=_GENERATED_ROWS))
        numbers = {each: data[0][:, i] for i, each in enumerate(data[2])}
        return _describe_columns(name, "A stream that is drawn.", numbers, data[1])
    raw = datasets.load(name, prepared=False, download_if_missing=False)
    if raw.X.dtype.names is None:
        columns = {each: _dense(raw.X[:, i]) for i, each in enumerate(raw.feature_names)}
    else:
        columns = {each: raw.X[each] for each in raw.feature_names}
    return _describe_columns(name, raw.description, columns, raw.y)


def _dense(column: Any) -> NDArray[Any]:
    return column.toarray().ravel() if hasattr(column, "toarray") else column


def _describe_columns(
    name: str, about: str, columns: dict[str, NDArray[Any]], y: NDArray[Any]
) -> dict[str, Any]:
    shown = dict(list(columns.items())[:_SHOWN_COLUMNS])
    rows = [[str(column[i]) for column in [*shown.values(), y]] for i in range(min(8, len(y)))]
    return {
        "name": name,
        "format": "",
        "about": about,
        "rows": len(y),
        "n_columns": len(columns) + 1,
        "columns": [_column_facts(each, values) for each, values in shown.items()],
        "target": "class",
        "targets": [],
        "classes": _classes(y),
        "missing": sum(_missing(values) for values in columns.values()),
        "preview": {"names": [*shown, "class"], "rows": rows},
        "notes": [],
    }


def _missing(values: NDArray[Any]) -> int:
    gone = np.isnan(values) if values.dtype.kind == "f" else values == "?"
    return int(np.count_nonzero(gone))


def _column_facts(name: str, values: NDArray[Any]) -> dict[str, Any]:
    kind = "number" if values.dtype.kind in "biuf" else "nominal"
    known = values[~np.isnan(values)] if values.dtype.kind == "f" else values[values != "?"]
    return {
        "name": name,
        "kind": kind,
        "missing": _missing(values),
        "distinct": len(np.unique(known)),
    }


def _describe_table(table: study.Table, target: str | None) -> dict[str, Any]:
    """Describe an upload, even if its target is not usable."""
    spec = study.DataSpec(source="file", name=table.name, target=target)
    classes, notes, problem = [], [], None
    try:
        data = study.data_of(spec, table=table)
        classes, notes = _classes(data.y), list(data.notes)
    except InvalidInputError as error:
        problem = str(error)
    columns = table.columns
    names = [column.name for column in columns]
    width = len(columns) if table.features is None else table.features.shape[1] + 1
    return {
        "name": table.name,
        "format": table.format,
        "about": "",
        "rows": table.rows,
        "n_columns": width,
        "columns": [
            {each: getattr(column, each) for each in ("name", "kind", "missing", "distinct")}
            for column in columns[:_SHOWN_COLUMNS]
        ],
        "target": target or names[-1],
        "targets": names,
        "classes": classes,
        "missing": sum(column.missing for column in columns),
        "preview": {
            "names": names if table.features is None else [],
            "rows": [list(row[:_SHOWN_COLUMNS]) for row in table.preview[:8]],
        },
        "notes": notes,
        "problem": problem,
    }


def _classes(y: NDArray[Any]) -> list[dict[str, Any]]:
    counts = Counter(str(label) for label in y.tolist())
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return [{"label": label, "count": n} for label, n in ordered[:_SHOWN_CLASSES]]


@router.get("/projection")
def project_data(
    request: Request,
    source: _Source,
    name: _Name,
    target: _Target = None,
    prepare: Literal["standardise", "none"] = "standardise",
) -> dict[str, Any]:
    """Return the two main directions of a data set, at most 1500 rows of it."""
    table = _table(_history(request), name) if source == "file" else None
    rows = _GENERATED_ROWS if source == "generator" else None
    spec = study.DataSpec(source=source, name=name, target=target, rows=rows)
    X, y, _ = study.load(spec, table=table)
    return project(X, y, standardise=prepare == "standardise")


@router.post("/upload", status_code=201)
async def upload(
    request: Request, name: Annotated[str, Query(min_length=1, max_length=120)] = "pasted.csv"
) -> dict[str, Any]:
    """Read a table; keep it only if it could be read."""
    body = await request.body()
    return await run_in_threadpool(_keep, request, _plain(name), body)


def _keep(request: Request, name: str, body: bytes) -> dict[str, Any]:
    table = study.read_table(body, name)
    limit = request.app.state.settings.max_rows
    if table.rows > limit:
        raise InvalidInputError(
            f"{name} has {table.rows} rows; the workbench takes at most {limit}. Take a part of "
            "them, or use 'supple compare' in the terminal."
        )
    return asdict(_history(request).add_data(name, body, table.rows))


def _plain(name: str) -> str:
    """Return the last part of a file name, for use as a label only."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    kept = "".join(each for each in last if each.isprintable())
    return kept.encode("utf-8", "replace").decode().strip() or "data"


@router.get("/{data_id}/file")
def download(request: Request, data_id: str) -> Response:
    """Return the bytes of an upload."""
    name, body = _history(request).data(data_id)
    return as_file(body, "application/octet-stream", name)


@router.delete("/{data_id}", status_code=204)
def delete(request: Request, data_id: str) -> None:
    """Remove an upload; the results of runs on it stay."""
    _history(request).delete_data(data_id)


def _table(history: History, data_id: str) -> study.Table:
    name, body = history.data(data_id)
    return _parsed(name, body)


@lru_cache(maxsize=4)  # summary and projection use the same table
def _parsed(name: str, body: bytes) -> study.Table:
    return study.read_table(body, name)
