"""`supple data`: list, describe and locate data sets."""

import json
import os
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from supple.cli._output import out, show_table
from supple.cli._sources import complete_names, data_named, table_named
from supple.datasets import load, names
from supple.datasets._catalogue import ALIASES, SOURCES
from supple.datasets._load import FOLDER_VARIABLE, _provenance
from supple.errors import InvalidInputError
from supple.study import GENERATORS, DataSpec, Table, data_of

__all__ = ["app"]

app = typer.Typer(help="Look at data sets: those that come with supple, and your own files.")

_Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.callback(invoke_without_command=True)
def _data(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command("list")
def list_sets(as_json: _Json = False) -> None:
    """List the available data sets and generators of streams."""
    rows = [
        {
            "name": name,
            "rows": entry["rows"],
            "features": entry["features"],
            "classes": len(entry["class_counts"]),
            "about": entry["title"],
        }
        for name, entry in sorted(_provenance().items())
    ]
    for name in names("folder"):
        source = SOURCES[name]
        shape = {"rows": source.rows, "features": source.columns, "classes": source.classes}
        rows.append({"name": name, **shape, "about": source.title})
    if as_json:
        _print_json({"data": rows, "generators": list(GENERATORS)})
        return
    show_table(
        [
            ("name", "rows", "features", "classes", "about"),
            *(tuple(str(cell) for cell in row.values()) for row in rows),
        ],
        left=(0, 4),
    )
    out().print(f"\nGenerators of streams: {', '.join(GENERATORS)}", soft_wrap=True)


@app.command("info")
def info(
    name: Annotated[
        str,
        typer.Argument(
            help="A data set, a generator, a file, or - for standard input.",
            autocompletion=complete_names,
        ),
    ],
    as_json: _Json = False,
) -> None:
    """Describe a data set or a file."""
    spec = data_named(name)
    if spec.source == "file":
        _table_info(table_named(spec.name), as_json)
    else:
        _set_info(spec, as_json)


def _set_info(spec: DataSpec, as_json: bool) -> None:
    data = data_of(spec)
    labels, counts = np.unique(data.y, return_counts=True)
    about = "A stream that is drawn at random; see docs/streams.md."
    if spec.source == "embedded":
        about = load(spec.name, scaled=False, download_if_missing=False).description
    found: dict[str, Any] = {
        "name": spec.name,
        "rows": len(data.y),
        "features": list(data.names),
        "classes": {str(label): int(n) for label, n in zip(labels, counts, strict=True)},
        "about": about,
    }
    if as_json:
        _print_json(found)
        return
    classes = ", ".join(f"{label} ({n})" for label, n in found["classes"].items())
    _print_lines(
        f"{spec.name}: {len(data.y)} rows, {len(data.names)} features",
        f"Classes: {classes}",
        about,
    )


def _table_info(table: Table, as_json: bool) -> None:
    columns = [
        {
            "name": column.name,
            "kind": column.kind,
            "distinct": column.distinct,
            "missing": column.missing,
        }
        for column in table.columns
    ]
    if as_json:
        found = {"name": table.name, "format": table.format, "rows": table.rows}
        _print_json({**found, "columns": columns})
        return
    _print_lines(f"{table.name}: {table.format}, {table.rows} rows")
    if table.features is not None:
        _print_lines(f"Features: {table.features.shape[1]}")
    show_table(
        [
            ("column", "kind", "different values", "missing"),
            *(tuple(str(cell) for cell in column.values()) for column in columns),
        ],
        left=(0, 1),
    )


@app.command("path")
def path(
    name: Annotated[
        str | None, typer.Argument(help="A data set; left out: the folders of all.")
    ] = None,
) -> None:
    """Print the folders of data sets on this machine."""
    shipped = Path(str(files("supple.datasets").joinpath("data")))
    folder = os.environ.get(FOLDER_VARIABLE)
    if name is None:
        _print_lines(str(shipped), *([folder] if folder else []))
        return
    key = ALIASES.get(name, name)
    if key in _provenance():
        file = _provenance()[key].get("file")
        if not file:
            raise InvalidInputError(f"{name!r} has no file: it is built from its rules.")
        _print_lines(str(shipped / file))
    elif key in names("folder"):
        _print_lines(str(Path(folder or "") / SOURCES[key].file))
    else:
        raise InvalidInputError(
            f"There is no data set {name!r} on this machine. 'supple data list' shows those that "
            "are there."
        )


def _print_json(value: Any) -> None:
    typer.echo(json.dumps(value, indent=1, ensure_ascii=False))


def _print_lines(*lines: str) -> None:
    for line in lines:
        out().print(line, soft_wrap=True)
