"""The command `reproduce`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from supple.errors import InvalidInputError, SuppleError
from supple.experiments import _pages, _pictures
from supple.experiments._declare import Item, Paper
from supple.experiments._publish import publish
from supple.experiments._results import Result, collect, write
from supple.experiments._runner import duration, run
from supple.experiments._store import Store
from supple.experiments.papers import PAPERS

__all__ = ["listing", "main", "reproduce"]

DEFAULT_FOLDER = "supple-experiments"


def reproduce(
    paper: str | None = None,
    item: str | None = None,
    quick: bool = False,
    seed: int = 0,
    jobs: int = 1,
    out: str | Path = DEFAULT_FOLDER,
    *,
    report: Callable[[str], None] = print,
) -> dict[str, Result]:
    """Repeat the experiments of a paper and write tables and pictures with its numbers.

    Finished cells are stored: after an interruption the same call continues.

    Parameters
    ----------
    paper : str, default=None
        Its name. None lists papers, items, data and time needed, and runs nothing.
    item : str, default=None
        One of its items; None runs all.
    quick : bool, default=False
        Whether to run a small form, with data that come with supple or are generated.
    seed : int, default=0
        Seed of everything random.
    jobs : int, default=1
        Number of processes.
    out : str or Path, default="supple-experiments"
        Folder for results: CSV, JSON and Markdown of each item, its figures as PNG and SVG.
    report : callable, default=print
        Receives lines of text about the progress.

    Returns
    -------
    dict of str to Result
        Results by item.

    Examples
    --------
    >>> import tempfile
    >>> from supple.experiments import reproduce
    >>> folder = tempfile.mkdtemp()
    >>> found = reproduce("rueping", "example", quick=True, out=folder, report=lambda line: None)
    >>> sorted({row.labels["machine"] for row in found["example"].rows})
    ['SV', 'SV-L', 'batch']
    """
    if paper is None:
        report(listing())
        return {}
    chosen = _paper(paper)
    _check_count("seed", seed, 0)
    _check_count("jobs", jobs, 1)
    items = chosen.items if item is None else (chosen.item(item),)
    folder = Path(out) / chosen.name
    store = Store(folder / "cells.jsonl")
    results = {}
    for each in items:
        finished = run(each, store, quick=quick, seed=seed, jobs=jobs, report=report)
        results[each.name] = collect(each, finished, quick=quick, seed=seed)
        _write(folder, chosen, each, results[each.name], report)
    return results


def _write(
    folder: Path, paper: Paper, item: Item, result: Result, report: Callable[[str], None]
) -> None:
    drawn = _pictures.available()
    if drawn:
        _pictures.draw(folder, item, result)
    elif item.figures:
        report(_pictures.MISSING)
    write(folder, paper, item, result, _pages.section(item, result, pictures="" if drawn else None))
    for name in result.stand_ins:
        report(f"{item.name}: {name} stands in for data that are not used here")
    for claim, verdict in zip(item.claims, result.verdicts(item), strict=True):
        says = "holds" if verdict.holds else "DOES NOT HOLD"
        report(f"{item.name}: {claim.text} {says}: {verdict.text}")
    report(f"{item.name}: written to {folder / item.name}.*")


def _paper(name: str) -> Paper:
    if name not in PAPERS:
        raise InvalidInputError(f"There is no paper {name!r}. There are: {', '.join(PAPERS)}.")
    return PAPERS[name]


def _check_count(name: str, value: int, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise InvalidInputError(
            f"The {name!r} parameter of reproduce must be an int >= {least}. Got {value!r} instead."
        )


def listing() -> str:
    """Return papers, items, data and time needed on one core, as a table.

    Examples
    --------
    >>> from supple.experiments import listing
    >>> listing().splitlines()[0].split()[:3]
    ['paper', 'item', 'full']
    """
    lines = [f"{'paper':<22}{'item':<18}{'full':>8}{'quick':>8}  data"]
    for paper in PAPERS.values():
        for item in paper.items:
            times = (duration(60.0 * item.minutes), duration(60.0 * item.quick_minutes))
            lines.append(
                f"{paper.name:<22}{item.name:<18}{times[0]:>8}{times[1]:>8}  {_data_of(item)}"
            )
    return "\n".join(lines)


def _data_of(item: Item) -> str:
    named = item.axes.get("data", (item.settings.get("data", "generated"),))
    text = f"{len(named)} sets" if len(named) > 3 else ", ".join(map(str, named))
    if item.stand_ins:
        text += f" (SUPPLE_DATA; else {', '.join(dict.fromkeys(item.stand_ins.values()))})"
    return text


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0, 2 for bad input, 130 for Ctrl-C."""
    parser = argparse.ArgumentParser(
        prog="python -m supple.experiments",
        description="Repeat the experiments of a paper. Without a paper: list what there is.",
    )
    parser.add_argument("paper", nargs="?", help="name of the paper")
    parser.add_argument("item", nargs="?", help="one of its items; all if left out")
    parser.add_argument("--quick", action="store_true", help="a small form, within two minutes")
    parser.add_argument("--seed", type=int, default=0, help="seed of everything random")
    parser.add_argument("--jobs", type=int, default=1, help="number of processes")
    parser.add_argument("--out", default=DEFAULT_FOLDER, help="folder for results")
    parser.add_argument(
        "--pages", metavar="DIR", help="publish the full runs of --out in DIR; run nothing"
    )
    given = parser.parse_args(argv)
    try:
        if given.pages:
            for line in publish(Path(given.out), Path(given.pages)):
                _say(line)
            return 0
        reproduce(
            given.paper, given.item, given.quick, given.seed, given.jobs, given.out, report=_say
        )
    except SuppleError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        _say("stopped; finished cells are kept, and the same command goes on from here")
        return 130
    return 0


def _say(line: str) -> None:
    print(line, flush=True)
