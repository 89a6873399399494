"""The options of `supple compare`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from supple.cli._sources import complete_names
from supple.study import MACHINES, STUDY_MACHINES


class Order(StrEnum):
    """Order of arrival."""

    RANDOM = "random"
    AS_IS = "as-is"
    SORTED = "sorted"
    DRIFT = "drift"


class Protocol(StrEnum):
    """Which predictions are scored."""

    HELD_OUT = "held-out"
    PREQUENTIAL = "prequential"


class Prepare(StrEnum):
    """Scaling of features."""

    STANDARDISE = "standardise"
    NONE = "none"


def _machine_keys(incomplete: str) -> list[str]:
    return [key for key in MACHINES if key.startswith(incomplete)]


def _of(panel: str, text: str, default: str, *names: str, **settings: Any) -> Any:
    shown = default or False
    return typer.Option(*names, help=text, rich_help_panel=panel, show_default=shown, **settings)


_DATA, _HOW, _RESULT = "Data", "How they are compared", "Results"


Data = Annotated[
    str | None,
    typer.Argument(
        help="A data set that comes with supple ('supple data list'), a CSV, Parquet or LIBSVM "
        "file, - for standard input, or a generator such as sea or 'sea noise=0.2'.",
        show_default="wbc",
        autocompletion=complete_names,
    ),
]
Target = Annotated[str | None, _of(_DATA, "Column with the classes, of a file.", "the last one")]
OrderChoice = Annotated[
    Order | None,
    _of(
        _DATA,
        "Order of arrival: shuffled, as in the source, sorted --by a column, or shuffled with "
        "classes that change their names half-way.",
        "random; as-is for generators",
    ),
]
By = Annotated[str | None, _of(_DATA, "Column to sort by; it means --order sorted.", "")]
Rows = Annotated[int | None, _of(_DATA, "Rows that take part.", "all")]
PrepareChoice = Annotated[
    Prepare | None,
    _of(_DATA, "Scale features to mean 0 and variance 1, or not.", "standardise"),
]
Machines = Annotated[
    str | None,
    _of(
        _HOW,
        f"Machines by name, with commas between: {', '.join(MACHINES)}.",
        ",".join(STUDY_MACHINES),
        autocompletion=_machine_keys,
    ),
]
Machine = Annotated[
    list[str] | None,
    _of(
        _HOW,
        "A machine with parameters, such as 'svc C=10 gamma=0.1'. May be given several times.",
        "",
    ),
]
ProtocolChoice = Annotated[
    Protocol | None,
    _of(
        _HOW,
        "Score predictions of rows held out, or of every new example before it is learned. ",
        "held-out; prequential for generators",
    ),
]
TestShare = Annotated[float | None, _of(_HOW, "Share of the rows held out.", "0.3")]
Points = Annotated[int | None, _of(_HOW, "Training sizes at which machines are measured.", "8")]
BatchSize = Annotated[
    int | None, _of(_HOW, "Examples that are learned at once.", "those of a step")
]
Repetitions = Annotated[
    int | None, _of(_HOW, "Repetitions with other orders and held-out rows.", "5")
]
Seed = Annotated[int | None, _of(_HOW, "Seed of all that is random.", "0")]
Rope = Annotated[float, _of(_HOW, "Accuracies that differ by less are equivalent.", "0.01")]
Config = Annotated[
    Path | None,
    _of(
        _HOW,
        "A study as TOML, to be repeated; other options change it.",
        "",
        metavar="FILE.toml",
    ),
]
Name = Annotated[str | None, _of(_RESULT, "Title of the report.", "the data")]
Folder = Annotated[
    Path | None,
    _of(
        _RESULT,
        "Folder for report.html, results.csv, results.json, curves.png and study.toml.",
        "",
        "--out",
        metavar="DIR",
    ),
]
Json = Annotated[bool, _of(_RESULT, "Print all results as JSON and nothing else.", "", "--json")]
