"""`supple compare`: machines side by side on one stream."""

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from supple.cli._live import TITLES, table_rows, watch
from supple.cli._output import errors, out, show_table
from supple.cli._sources import data_named, known_names, table_named
from supple.errors import InvalidInputError
from supple.study import (
    MACHINES,
    STUDY_MACHINES,
    DataSpec,
    MachineSpec,
    StudyRecord,
    StudySpec,
    compare_machines,
    data_of,
    execute,
    parse_machine,
    summarise,
    to_csv,
    to_html,
    to_json,
    to_png,
)

__all__ = ["EPILOG", "HELP", "compare"]

HELP = (
    "Compare machines on the same data as the training set grows.\n\n"
    "Without arguments: LASVM, the exact incremental SVM, SimpleSVM, the batch SVMs of LIBSVM and "
    "of supple, and the relevance vector machine, on the breast cancer data that come with supple. "
    "It takes some seconds.\n\n"
    "With your own data: supple compare table.csv --target diagnosis --out report"
)
EPILOG = "Machines: " + "; ".join(f"{each.key}: {each.title}" for each in MACHINES.values()) + "."


class Order(StrEnum):
    """In which order examples arrive."""

    RANDOM = "random"
    AS_IS = "as-is"
    SORTED = "sorted"
    DRIFT = "drift"


class Protocol(StrEnum):
    """What predictions are scored."""

    HELD_OUT = "held-out"
    PREQUENTIAL = "prequential"


class Prepare(StrEnum):
    """What is done to features."""

    STANDARDISE = "standardise"
    NONE = "none"


def _data_names(incomplete: str) -> list[str]:
    return [name for name in known_names() if name.startswith(incomplete)]


def _machine_keys(incomplete: str) -> list[str]:
    return [key for key in MACHINES if key.startswith(incomplete)]


def _of(panel: str, text: str, default: str, *names: str, **settings: Any) -> Any:
    shown = default or False
    return typer.Option(*names, help=text, rich_help_panel=panel, show_default=shown, **settings)


_DATA, _HOW, _RESULT = "Data", "How they are compared", "Results"


def compare(
    data: Annotated[
        str | None,
        typer.Argument(
            help="A data set that comes with supple ('supple data list'), a CSV, Parquet or LIBSVM "
            "file, - for standard input, or a generator such as sea or 'sea noise=0.2'.",
            show_default="wbc",
            autocompletion=_data_names,
        ),
    ] = None,
    target: Annotated[
        str | None, _of(_DATA, "Column with the classes, of a file.", "the last one")
    ] = None,
    order: Annotated[
        Order | None,
        _of(
            _DATA,
            "Order of arrival: shuffled, as in the source, sorted --by a column, or shuffled with "
            "classes that change their names half-way.",
            "random; as-is for generators",
        ),
    ] = None,
    by: Annotated[str | None, _of(_DATA, "Column to sort by; it means --order sorted.", "")] = None,
    rows: Annotated[int | None, _of(_DATA, "Rows that take part.", "all")] = None,
    prepare: Annotated[
        Prepare | None,
        _of(_DATA, "Scale features to mean 0 and variance 1, or not.", "standardise"),
    ] = None,
    machines: Annotated[
        str | None,
        _of(
            _HOW,
            f"Machines by name, with commas between: {', '.join(MACHINES)}.",
            ",".join(STUDY_MACHINES),
            autocompletion=_machine_keys,
        ),
    ] = None,
    machine: Annotated[
        list[str] | None,
        _of(
            _HOW,
            "A machine with parameters, such as 'svc C=10 gamma=0.1'. May be given several times.",
            "",
        ),
    ] = None,
    protocol: Annotated[
        Protocol | None,
        _of(
            _HOW,
            "Score predictions of rows held out, or of every new example before it is learned. ",
            "held-out; prequential for generators",
        ),
    ] = None,
    test_share: Annotated[float | None, _of(_HOW, "Share of the rows held out.", "0.3")] = None,
    points: Annotated[
        int | None, _of(_HOW, "Training sizes at which machines are measured.", "8")
    ] = None,
    batch_size: Annotated[
        int | None, _of(_HOW, "Examples that are learned at once.", "those of a step")
    ] = None,
    repetitions: Annotated[
        int | None, _of(_HOW, "Repetitions with other orders and held-out rows.", "5")
    ] = None,
    seed: Annotated[int | None, _of(_HOW, "Seed of all that is random.", "0")] = None,
    rope: Annotated[
        float, _of(_HOW, "Accuracies that differ by less are equivalent.", "0.01")
    ] = 0.01,
    config: Annotated[
        Path | None,
        _of(
            _HOW,
            "A study as TOML, to be repeated; other options change it.",
            "",
            metavar="FILE.toml",
        ),
    ] = None,
    name: Annotated[str | None, _of(_RESULT, "Title of the report.", "the data")] = None,
    folder: Annotated[
        Path | None,
        _of(
            _RESULT,
            "Folder for report.html, results.csv, results.json, curves.png and study.toml.",
            "",
            "--out",
            metavar="DIR",
        ),
    ] = None,
    as_json: Annotated[
        bool, _of(_RESULT, "Print all results as JSON and nothing else.", "", "--json")
    ] = False,
) -> None:
    """Run the study that the options describe, and show what came out."""
    spec = StudySpec(machines=tuple(MachineSpec(key, key) for key in STUDY_MACHINES))
    if config is not None:
        spec = _read_config(config)
    if data is not None or config is None:
        spec = _on_data(spec, data_named(data or spec.data.name))
    changes = _given(
        name=name,
        machines=_machines(machines, machine or []),
        protocol=protocol and protocol.value,
        test_share=test_share,
        points=points,
        batch_size=batch_size,
        repetitions=repetitions,
        seed=seed,
    )
    if by is not None and order is None:
        order = Order.SORTED
    about_data = _given(
        target=target,
        order=order and order.value.replace("-", " "),
        by=by,
        rows=rows,
        prepare=prepare and prepare.value,
    )
    spec = replace(spec, data=replace(spec.data, **about_data), **changes)
    spec.check()
    _run(spec, rope, folder, as_json)


def _run(spec: StudySpec, rope: float, folder: Path | None, as_json: bool) -> None:
    compare_machines([], rope)  # a wrong rope must not show after minutes of work
    table = table_named(spec.data.name) if spec.data.source == "file" else None
    if table is not None:
        for note in data_of(spec.data, table=table).notes:
            errors().print(f"Note: {note}", style="yellow", soft_wrap=True)
    study = execute(spec, table=table)
    if folder is not None:
        _make(folder)
    records = watch(spec, study, quiet=as_json)
    if as_json:
        typer.echo(to_json(spec, records, rope), nl=False)
    else:
        _show(spec, records, rope)
    if folder is not None:
        _write(spec, records, rope, folder, as_json)
    if all(each.errors for each in summarise(records)):
        raise typer.Exit(1)


def _read_config(path: Path) -> StudySpec:
    try:
        return StudySpec.from_toml(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInputError(f"{str(path)!r} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise InvalidInputError(f"{str(path)!r} is no text: it is not UTF-8.") from None
    except InvalidInputError as error:
        raise InvalidInputError(f"{path}: {error}") from None


def _on_data(spec: StudySpec, data: DataSpec) -> StudySpec:
    """Return a study of other data, by the protocol that suits them."""
    title = "standard input" if data.name == "-" else Path(data.name).name
    protocol = "prequential" if data.source == "generator" else spec.protocol
    return replace(spec, name=title, data=data, protocol=protocol)


def _machines(listed: str | None, single: Sequence[str]) -> tuple[MachineSpec, ...] | None:
    texts = [*(listed.split(",") if listed is not None else []), *single]
    return tuple(parse_machine(text) for text in texts) or None


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _show(spec: StudySpec, records: Sequence[StudyRecord], rope: float) -> None:
    console = out()
    data = spec.data
    repeats = "1 repetition" if spec.repetitions == 1 else f"{spec.repetitions} repetitions"
    console.print(
        f"{spec.name}: {_test(spec, records)}, order {data.order}, {repeats}, seed {spec.seed}\n",
        soft_wrap=True,
    )
    show_table([TITLES, *table_rows(records, console.encoding)])
    for each in summarise(records):
        for error in each.errors:
            errors().print(f"{each.machine} failed: {error}", style="red", soft_wrap=True)
    _show_verdicts(records, rope)


def _test(spec: StudySpec, records: Sequence[StudyRecord]) -> str:
    learned = max(record.n_train for record in records)
    if spec.protocol == "prequential":
        return f"{learned} examples, each predicted before it is learned"
    return f"{learned} examples to learn, {records[-1].n_test} held out"


def _show_verdicts(records: Sequence[StudyRecord], rope: float) -> None:
    """Print how all machines fare against the most accurate one."""
    pairs = compare_machines(records, rope)
    known = [each for each in summarise(records) if each.accuracy is not None]
    if not pairs or not known:
        return
    best = max(known, key=lambda each: each.accuracy or 0.0).machine
    rows: list[tuple[str, ...]] = [
        ("machine", "difference", "P(worse)", "P(equivalent)", "P(better)")
    ]
    for pair in pairs:
        if pair.first == best:
            figures = (-pair.mean, pair.first_better, pair.equivalent, pair.second_better)
            rows.append((pair.second, *_figures(*figures)))
        elif pair.second == best:
            figures = (pair.mean, pair.second_better, pair.equivalent, pair.first_better)
            rows.append((pair.first, *_figures(*figures)))
    out().print(
        f"\nBeside {best}; accuracies that differ by less than {rope:g} are equivalent "
        "(Bayesian correlated t-test):\n",
        soft_wrap=True,
    )
    show_table(rows)


def _figures(difference: float, worse: float, equal: float, better: float) -> tuple[str, ...]:
    return (f"{difference + 0.0:+.4f}", f"{worse:.3f}", f"{equal:.3f}", f"{better:.3f}")


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInputError(
            f"The folder {str(folder)!r} cannot be made: {error.strerror}. Choose another one for "
            "--out."
        ) from None


def _write(
    spec: StudySpec, records: Sequence[StudyRecord], rope: float, folder: Path, quiet: bool
) -> None:
    texts = {
        "report.html": to_html(spec, records, rope),
        "results.csv": to_csv(spec, records),
        "results.json": to_json(spec, records, rope),
        "study.toml": spec.to_toml(),
    }
    try:
        for file, text in texts.items():
            (folder / file).write_text(text, encoding="utf-8")
        (folder / "curves.png").write_bytes(to_png(spec, records))
    except OSError as error:
        raise InvalidInputError(
            f"{error.filename!r} cannot be written: {error.strerror}. Choose another folder for "
            "--out."
        ) from None
    if not quiet:
        out().print(f"\nWrote {folder / 'report.html'} and 4 files beside it.", soft_wrap=True)
