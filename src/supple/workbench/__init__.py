"""The workbench: a page on this machine that compares machines, with live curves and a history."""

try:
    import fastapi as _fastapi
    import uvicorn as _uvicorn
except ImportError as error:
    raise ImportError(
        "supple.workbench needs FastAPI and uvicorn, which are not installed. Install them with "
        "pip install 'supple[workbench]'."
    ) from error

from supple.workbench.server import create_app, serve
from supple.workbench.settings import Settings

__all__ = ["Settings", "create_app", "serve"]

del _fastapi, _uvicorn
