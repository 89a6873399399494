"""The workbench: a local page that compares machines, with live curves and a history."""

from typing import TYPE_CHECKING, Any

from supple.workbench.settings import Settings

if TYPE_CHECKING:
    from supple.workbench.server import create_app, serve

__all__ = ["Settings", "create_app", "serve"]


def __getattr__(name: str) -> Any:
    # The server is imported on use: the processes of runs do not need it.
    if name not in ("create_app", "serve"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from supple.workbench import server
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("supple"):
            raise
        raise ImportError(
            f"The workbench needs {error.name}, which is not installed. Install it with "
            "pip install 'supple[workbench]'."
        ) from error
    return getattr(server, name)
