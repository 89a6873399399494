"""The commands, and their error messages of one sentence each."""

import warnings
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from supple import __version__
from supple.cli import _compare, _data, _reproduce, _workbench
from supple.cli._output import errors, out
from supple.errors import SuppleError

__all__ = ["app", "run"]

_MISTAKE, _FAILURE, _INTERRUPTED = 2, 1, 130

app = typer.Typer(
    name="supple",
    help="Support vector machines that learn, forget, re-weight and retune exactly.",
    epilog="Begin with: supple compare",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("compare", help=_compare.HELP, epilog=_compare.EPILOG)(_compare.compare)
app.command("reproduce", help=_reproduce.HELP, epilog=_reproduce.EPILOG)(_reproduce.reproduce)
app.command("workbench")(_workbench.workbench)
app.add_typer(_data.app, name="data")


def _show_version(asked: bool) -> None:
    if asked:
        out().print(f"supple {__version__}", highlight=False)
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _supple(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0, 1 (failure), 2 (mistake) or 130 (Ctrl-C).

    Examples
    --------
    >>> from supple.cli._app import run
    >>> run(["data", "list", "--wrong"])
    2
    """
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        try:
            code = app(arguments, prog_name="supple", standalone_mode=False)
        except (KeyboardInterrupt, typer.Abort):
            code = _INTERRUPTED
        except (SuppleError, ImportError) as error:
            _say(str(error))
            code = _FAILURE if isinstance(error, ImportError) else _MISTAKE
        except Exception as error:
            # Wrong options: typer raises its own copies of the errors of click.
            if not hasattr(error, "format_message"):
                raise
            _say(f"{error.format_message()} {_hint(error)}")
            code = _MISTAKE
    if code == _INTERRUPTED:
        _say("Stopped.", "")
    return code if isinstance(code, int) else 0


def _hint(error: Any) -> str:
    context = getattr(error, "ctx", None)
    return f"See {getattr(context, 'command_path', 'supple')} --help."


def _say(message: str, title: str = "Error: ") -> None:
    errors().print(f"{title}{' '.join(message.split())}", style="red", soft_wrap=True)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    errors().print(f"Note: {' '.join(str(message).split())}", style="yellow", soft_wrap=True)
