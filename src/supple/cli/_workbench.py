"""`supple workbench`: the page in the browser."""

import errno
import socket
import threading
import webbrowser
from importlib import import_module
from typing import Annotated

import typer

from supple.cli._output import errors, out
from supple.errors import InvalidInputError

__all__ = ["workbench"]


def workbench(
    host: Annotated[
        str, typer.Option(help="Address to listen on; any but 127.0.0.1 asks for a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.", min=1, max=65535)] = 8642,
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open the browser.")] = False,
) -> None:
    """Open the workbench, a page in the browser to compare machines and play with them."""
    try:
        page = import_module("supple.workbench")  # the server is slow to import
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith("supple"):
            raise
        raise ImportError("This installation of supple has no workbench.") from error
    _check_free(host, port)
    settings = page.Settings.for_host(host, port)
    out().print(f"The workbench is at {settings.url}", soft_wrap=True)
    errors().print("Ctrl-C ends it.", style="dim")
    if not no_open:
        opening = threading.Timer(1.0, webbrowser.open, [settings.url])
        opening.daemon = True
        opening.start()
    page.serve(settings)


def _check_free(host: str, port: int) -> None:
    """Raise if the port is in use: the server itself would end with a traceback."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as error:
        used = error.errno == errno.EADDRINUSE
        why = "something else listens there" if used else str(error.strerror or error)
        raise InvalidInputError(
            f"The workbench cannot listen on {host}, port {port}: {why}. Choose another with "
            "--host or --port."
        ) from None
