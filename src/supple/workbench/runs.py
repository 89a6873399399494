"""Runs over HTTP: begin, follow, pause, resume, cancel, restart, compare, export, import."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import asdict, replace
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field
from starlette.responses import Response, StreamingResponse

from supple import study
from supple.errors import InvalidInputError
from supple.workbench.files import as_file
from supple.workbench.history import UNFINISHED, History, Run
from supple.workbench.jobs import Jobs
from supple.workbench.studies import as_records, checked_spec, shared, unpacked

router = APIRouter(prefix="/api/runs", tags=["runs"])

_HEARTBEAT = 15.0  # seconds; a silent connection may be closed
_BUNDLE = 0.03  # seconds between messages, so that fast runs do not flood the page
_NAME = Annotated[str, Field(min_length=1, max_length=200)]


class NewRun(BaseModel):
    """A request for a run."""

    spec: dict[str, Any]
    data_id: Annotated[str, Field(max_length=32)] | None = None


class Edit(BaseModel):
    """A request to change a run."""

    name: _NAME | None = None
    notes: Annotated[str, Field(max_length=10_000)] | None = None


def _history(request: Request) -> History:
    return request.app.state.history


def _jobs(request: Request) -> Jobs:
    return request.app.state.jobs


@router.get("")
def list_runs(request: Request) -> list[dict[str, Any]]:
    """List all runs, the latest first."""
    return [asdict(run) for run in _history(request).runs()]


@router.post("", status_code=201)
def begin_run(request: Request, new: NewRun) -> dict[str, Any]:
    """Check a study and put it into the queue."""
    spec = checked_spec(new.spec)
    history, jobs = _history(request), _jobs(request)
    if spec.data.source == "file" and new.data_id is None:
        raise InvalidInputError(
            f"The study reads the file {spec.data.name!r}. Choose it on the Data tab first."
        )
    if new.data_id is not None:
        history.data(new.data_id)
    limit = request.app.state.settings.max_runs
    if jobs.waiting() >= limit:
        raise InvalidInputError(f"{limit} runs wait already. Cancel some or let them finish.")
    run = history.add_run(_text(spec.name), spec.to_dict(), data_id=new.data_id)
    jobs.submit(run.id)
    return asdict(run)


@router.post("/import", status_code=201)
async def import_run(request: Request) -> dict[str, Any]:
    """Import a run from JSON."""
    content = unpacked(await request.body())
    run = _history(request).add_run(
        _text(content["name"]),
        content["spec"],
        notes=_text(content["notes"]),
        records=content["records"],
        state="finished",
    )
    return asdict(run)


@router.get("/{run_id}")
def show_run(request: Request, run_id: str) -> dict[str, Any]:
    """Return a run with its records."""
    history = _history(request)
    return {**asdict(history.run(run_id)), "records": history.records(run_id)}


@router.patch("/{run_id}")
def edit_run(request: Request, run_id: str, edit: Edit) -> dict[str, Any]:
    """Change the name or the notes of a run."""
    name = None if edit.name is None else _text(edit.name)
    notes = None if edit.notes is None else _text(edit.notes)
    return asdict(_history(request).edit(run_id, name=name, notes=notes))


@router.delete("/{run_id}", status_code=204)
def delete_run(request: Request, run_id: str) -> None:
    """Remove a run, after cancelling it if it is active."""
    history = _history(request)
    if history.run(run_id).state in UNFINISHED:
        _jobs(request).cancel(run_id)
    history.delete_run(run_id)


@router.post("/{run_id}/{order}")
def order_run(
    request: Request, run_id: str, order: Literal["pause", "resume", "cancel", "restart"]
) -> dict[str, Any]:
    """Pause, resume, cancel or restart a run."""
    history, jobs = _history(request), _jobs(request)
    if order == "restart":
        run = history.run(run_id)
        if run.data_id is None and run.spec["data"]["source"] == "file":
            raise InvalidInputError(
                f"The run {run.name!r} was imported without its data. Upload the file and begin "
                "a new run."
            )
        run = history.requeue(run_id)
        jobs.submit(run_id)
        return asdict(run)
    {"pause": jobs.pause, "resume": jobs.resume, "cancel": jobs.cancel}[order](run_id)
    return asdict(history.run(run_id))


@router.get("/{run_id}/events")
def follow_run(
    request: Request, run_id: str, after: Annotated[int, Query(ge=0, le=10**9)] = 0
) -> StreamingResponse:
    """Stream the state and the records of a run until it has ended."""
    _history(request).run(run_id)
    resumed = request.headers.get("last-event-id", "")
    start = int(resumed) if resumed.isdigit() and len(resumed) < 10 else after
    return StreamingResponse(
        _events(_history(request), _jobs(request), run_id, start), media_type="text/event-stream"
    )


async def _events(history: History, jobs: Jobs, run_id: str, sent: int) -> AsyncIterator[str]:
    with jobs.news(run_id) as news:
        shown: Run | None = None
        while True:
            news.clear()
            try:
                run = history.run(run_id)
            except LookupError:
                yield _event("gone", {})
                return
            records = history.records(run_id, sent)
            if records:
                sent += len(records)
                yield _event("records", records, sent)
            if run != shown:
                shown = run
                yield _event("state", asdict(run), sent)
            if run.state not in UNFINISHED:
                yield _event("end", {}, sent)
                return
            if jobs.dismissed:
                return  # the browser reconnects to the next server
            await asyncio.sleep(_BUNDLE)
            try:
                await asyncio.wait_for(news.wait(), _HEARTBEAT)
            except TimeoutError:
                yield ": still here\n\n"


def _event(kind: str, value: Any, number: int | None = None) -> str:
    head = "" if number is None else f"id: {number}\n"
    return f"{head}event: {kind}\ndata: {json.dumps(value)}\n\n"


@router.get("/{run_id}/summary")
def summarise_run(request: Request, run_id: str) -> list[dict[str, Any]]:
    """Return one line per machine over the repetitions so far."""
    history = _history(request)
    history.run(run_id)
    lines = study.summarise(as_records(history.records(run_id)))
    return [asdict(line) for line in lines]


@router.get("/{run_id}/bayes")
def compare_run(
    request: Request, run_id: str, rope: Annotated[float, Query(ge=0, le=0.5)] = 0.01
) -> list[dict[str, Any]]:
    """Compare the machines of a run by the Bayesian correlated t-test."""
    history = _history(request)
    history.run(run_id)
    results = study.compare_machines(as_records(history.records(run_id)), rope=rope)
    return [asdict(result) for result in results]


@router.get("/{run_id}/export/{kind}")
def export_run(
    request: Request, run_id: str, kind: Literal["csv", "json", "html", "toml", "py"]
) -> Response:
    """Return a run as a file to keep or share."""
    history = _history(request)
    run = history.run(run_id)
    spec = replace(study.StudySpec.from_dict(run.spec), name=run.name)
    records = as_records(history.records(run_id))
    text, media = {
        "csv": lambda: (study.to_csv(spec, records), "text/csv"),
        "json": lambda: (shared(run, spec, records), "application/json"),
        "html": lambda: (study.to_html(spec, records), "text/html"),
        "toml": lambda: (spec.to_toml(), "application/toml"),
        "py": lambda: (study.to_script(spec), "text/x-python"),
    }[kind]()
    return as_file(text, f"{media}; charset=utf-8", f"{run.name}.{kind}")


def _text(value: str) -> str:
    """Return `value` without characters that SQLite or browsers cannot store."""
    return value.encode("utf-8", "replace").decode().replace("\0", "")
