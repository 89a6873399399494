"""The server of the workbench: one page, its data under /api, runs in processes of their own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict
from importlib import import_module, util
from importlib.metadata import version
from pathlib import Path
from socket import socket
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.staticfiles import StaticFiles

from supple.errors import SuppleError
from supple.study import MACHINES, STUDY_MACHINES, Machine
from supple.workbench import data, runs
from supple.workbench.history import History, NotFoundError
from supple.workbench.jobs import Jobs
from supple.workbench.security import BodyTooLargeError, Guard, too_large
from supple.workbench.settings import Settings
from supple.workbench.studies import run_study, task_of
from supple.workbench.worker import Work

STATIC = Path(__file__).parent / "static"
_TABS = ("playground", "streaming")  # their routers
_PAGES = ("data", "compare", "playground", "stream", "runs")


def create_app(settings: Settings, *, work: Work = run_study) -> FastAPI:
    """Return the application; its history opens when it starts and closes when it ends.

    Parameters
    ----------
    settings : Settings
        Address, folder and limits.
    work : callable, default=run_study
        The work of a run, in its own process.

    Examples
    --------
    >>> import pathlib
    >>> from supple.workbench import Settings, create_app
    >>> create_app(Settings(folder=pathlib.Path("kept"))).title
    'supple workbench'
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        history = History(settings.folder / "history.sqlite")
        app.state.history = history
        app.state.jobs = Jobs(history, work, lambda run: task_of(run, history), settings.jobs)
        try:
            yield
        finally:
            app.state.jobs.close()
            history.close()

    # No documentation pages: they load external scripts. Tests use app.openapi().
    app = FastAPI(title="supple workbench", openapi_url=None, lifespan=lifespan)
    app.state.settings = settings
    _explain_errors(app, settings)
    app.include_router(data.router)
    app.include_router(runs.router)
    for name in _TABS:
        if util.find_spec(f"supple.workbench.{name}") is not None:
            app.include_router(import_module(f"supple.workbench.{name}").router)

    @app.get("/api/about")
    def about() -> dict[str, Any]:
        """Return the version and the limits."""
        return {
            "version": version("supple"),
            "max_bytes": settings.max_bytes,
            "max_rows": settings.max_rows,
            "tabs": [name for name in _PAGES if (STATIC / f"{name}.js").is_file()],
        }

    @app.get("/api/machines")
    def machines() -> list[dict[str, Any]]:
        """List the machines that can be compared, with their explanations."""
        return [_explained(machine) for machine in MACHINES.values()]

    @app.get("/", include_in_schema=False)
    def page() -> FileResponse:
        return FileResponse(STATIC / "index.html")

    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    app.add_middleware(Guard, settings=settings)
    return app


def _explained(machine: Machine) -> dict[str, Any]:
    shown = ("key", "title", "equation", "paper", "summary")
    return {
        **{name: getattr(machine, name) for name in shown},
        "parameters": [asdict(parameter) for parameter in machine.parameters],
        "of_the_study": machine.key in STUDY_MACHINES,
    }


class Server(uvicorn.Server):
    """A server that ends its event streams before it waits for them."""

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        """End the event streams, then the server."""
        app = self.config.app
        if isinstance(app, FastAPI) and hasattr(app.state, "jobs"):
            app.state.jobs.dismiss()
        await super().shutdown(sockets)


def serve(settings: Settings) -> None:
    """Serve the workbench until Ctrl-C."""
    config = uvicorn.Config(
        create_app(settings),
        host=settings.host,
        port=settings.port,
        log_level="warning",
        timeout_graceful_shutdown=1,
        server_header=False,
    )
    with suppress(KeyboardInterrupt):  # uvicorn raises it again after shutdown
        Server(config).run()


def _explain_errors(app: FastAPI, settings: Settings) -> None:
    """Answer every error by one sentence for the user."""

    def sentence(status: int, text: str) -> JSONResponse:
        return JSONResponse({"detail": text}, status_code=status)

    @app.exception_handler(NotFoundError)
    def not_found(request: Request, error: NotFoundError) -> Response:
        return sentence(404, str(error))

    @app.exception_handler(SuppleError)
    def wrong_input(request: Request, error: SuppleError) -> Response:
        return sentence(422, _clean(str(error)))

    @app.exception_handler(HTTPException)
    def http_error(request: Request, error: HTTPException) -> Response:
        return JSONResponse({"detail": error.detail}, error.status_code, error.headers)

    @app.exception_handler(RequestValidationError)
    def wrong_request(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"] if part != "body")
        return sentence(422, _clean(f"The value of {place or 'the request'}: {first['msg']}."))

    @app.exception_handler(BodyTooLargeError)
    def large_body(request: Request, error: BodyTooLargeError) -> Response:
        return too_large(settings.max_bytes)


def _clean(text: str) -> str:
    # JSON may contain a lone surrogate, which cannot be sent.
    return text.encode("utf-8", "replace").decode()
