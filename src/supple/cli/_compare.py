"""`supple compare`: machines side by side on one stream."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from supple.cli import _options as opt
from supple.cli._live import TITLES, table_rows, watch
from supple.cli._output import errors, out, show_table
from supple.cli._sources import data_named, table_named
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


def compare(
    data: opt.Data = None,
    target: opt.Target = None,
    order: opt.OrderChoice = None,
    by: opt.By = None,
    rows: opt.Rows = None,
    prepare: opt.PrepareChoice = None,
    machines: opt.Machines = None,
    machine: opt.Machine = None,
    protocol: opt.ProtocolChoice = None,
    test_share: opt.TestShare = None,
    points: opt.Points = None,
    batch_size: opt.BatchSize = None,
    repetitions: opt.Repetitions = None,
    seed: opt.Seed = None,
    rope: opt.Rope = 0.01,
    config: opt.Config = None,
    name: opt.Name = None,
    folder: opt.Folder = None,
    as_json: opt.Json = False,
) -> None:
    """Run the study that the options describe, and show its results."""
    spec = StudySpec(machines=tuple(MachineSpec(key, key) for key in STUDY_MACHINES))
    if config is not None:
        spec = _read_config(config)
    if data is not None or config is None:
        spec = _on_data(spec, data_named(spec.data.name if data is None else data))
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
        order = opt.Order.SORTED
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
    compare_machines([], rope)  # raise for a wrong rope before the work
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
    if all(each.accuracy is None for each in summarise(records)):
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
    """Return the study with other data, and a protocol that suits them."""
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
    """Print the comparison of all machines with the most accurate one."""
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
