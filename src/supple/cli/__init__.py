"""The command `supple`: compare machines in the terminal, open the workbench, look at data."""

import sys
from io import TextIOWrapper

__all__ = ["main"]


def main() -> None:
    """Run the command with the arguments of the shell and end with its exit code."""
    try:
        from supple.cli._app import run
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit(
            f"Error: the command supple needs {error.name}, which is not installed. Install it: "
            "pip install 'supple[workbench]'."
        )
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot encode bars must not end the command.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    sys.exit(run())
