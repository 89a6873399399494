"""`supple reproduce`: the experiments of the papers."""

from pathlib import Path
from typing import Annotated

import typer

from supple.cli._output import out

HELP = "Repeat the tables and figures of a paper, and show our numbers beside its own."
EPILOG = "Without a paper: the list of papers and items, their data, and the time they need."


def reproduce(
    paper: Annotated[str | None, typer.Argument(help="rueping, syed, ...; see the list.")] = None,
    item: Annotated[str | None, typer.Argument(help="One table or figure; else all.")] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A smaller version, in two minutes a paper.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of all random choices.")] = 0,
    jobs: Annotated[int, typer.Option(help="Processes that work at the same time.")] = 1,
    target: Annotated[
        Path, typer.Option("--out", help="Folder of the results, and of finished cells.")
    ] = Path("supple-experiments"),
) -> None:
    """Repeat the experiments of a paper."""
    from supple import experiments  # slow to import

    def report(line: str) -> None:
        out().print(line, highlight=False, soft_wrap=True)

    experiments.reproduce(paper, item, quick, seed, jobs, target, report=report)
