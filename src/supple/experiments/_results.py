"""Rows from the outcomes of cells, and their output as CSV, JSON and Markdown."""

from __future__ import annotations

import csv
import io
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from supple.experiments._declare import Cell, Item, Paper, Row, Verdict
from supple.experiments._store import Outcome

__all__ = ["Result", "collect", "write"]


@dataclass(frozen=True)
class Result:
    """The result of an item.

    Attributes
    ----------
    rows : list of Row
        In the order of the grid.
    quick : bool
        Whether it comes from a quick run.
    seed : int
        The seed.
    stand_ins : tuple of str
        Generated data that replaced missing data.
    """

    rows: list[Row]
    quick: bool
    seed: int
    stand_ins: tuple[str, ...] = ()

    def verdicts(self, item: Item) -> list[Verdict]:
        """Judge the claims of the item."""
        return [claim.judge(self.rows) for claim in item.claims]


def collect(
    item: Item, finished: list[tuple[Cell, list[Outcome]]], *, quick: bool, seed: int
) -> Result:
    """Return the rows of finished cells.

    Parameters
    ----------
    item : Item
        Paper and item.
    finished : list of (cell, outcomes)
        All its cells.
    quick : bool
        Whether it was a quick run.
    seed : int
        Its seed.
    """
    rows = []
    for cell, outcomes in finished:
        own = {name: str(cell[name]) for name in item.axes}
        for outcome in outcomes:
            labels = own | {name: str(value) for name, value in outcome["labels"].items()}
            for measure, values in outcome["values"].items():
                rows.append(_row(item, labels, measure, values))
    used = {value for cell, _ in finished for value in cell.values() if isinstance(value, str)}
    stand_ins = tuple(sorted(used & set(item.stand_ins.values())))
    return Result(rows, quick, seed, stand_ins)


def _row(item: Item, labels: dict[str, str], measure: str, values: list[float | None]) -> Row:
    known = np.array([value for value in values if value is not None], dtype=float)
    mean = float(known.mean()) if len(known) else float("nan")
    spread = float(known.std(ddof=1)) if len(known) > 1 else None
    paper = item.value_of_paper(measure, labels)
    return Row(labels, measure, _short(mean), _short(spread), len(known), paper)


def _short(value: Any) -> Any:
    """Return a number with six digits: further ones differ between computers."""
    return None if value is None else float(f"{value:.6g}")


def as_json(paper: Paper, item: Item, result: Result) -> str:
    """Return the result as JSON, one row on each line."""
    head = {
        "paper": paper.name,
        "item": item.name,
        "quick": result.quick,
        "seed": result.seed,
        "stand_ins": list(result.stand_ins),
        "claims": [
            {"claim": claim.text, "number": claim.number, "holds": v.holds, "text": v.text}
            for claim, v in zip(item.claims, result.verdicts(item), strict=True)
        ],
    }
    lines = ",\n".join(json.dumps(_as_dict(row), allow_nan=True) for row in result.rows)
    return json.dumps(head, indent=1)[:-2] + ',\n "rows": [\n' + lines + "\n ]\n}\n"


def _as_dict(row: Row) -> dict[str, Any]:
    found: dict[str, Any] = {
        "labels": dict(row.labels), "measure": row.measure, "ours": row.ours, "n": row.n,
    }  # fmt: skip
    if row.spread is not None:
        found["spread"] = row.spread
    if row.paper is not None:
        found["paper"] = row.paper
    return found


def from_json(text: str) -> Result:
    """Read what `as_json` has written."""
    found = json.loads(text)
    rows = [
        Row(
            each["labels"],
            each["measure"],
            each["ours"],
            each.get("spread"),
            each["n"],
            each.get("paper"),
        )
        for each in found["rows"]
    ]
    return Result(rows, found["quick"], found["seed"], tuple(found["stand_ins"]))


def as_csv(item: Item, result: Result) -> str:
    """Return the rows with the verdicts on the claims that compare them."""
    names = list(dict.fromkeys(name for row in result.rows for name in row.labels))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*names, "measure", "paper", "ours", "spread", "repetitions", "verdict"])
    verdicts = result.verdicts(item)
    for row in result.rows:
        labels = [row.labels.get(name, "") for name in names]
        numbers = ["" if v is None else v for v in (row.paper, row.ours, row.spread, row.n)]
        writer.writerow([*labels, row.measure, *numbers, verdict_of(row, verdicts)])
    return text.getvalue()


def verdict_of(row: Row, verdicts: list[Verdict]) -> str:
    """Return "holds", "does not hold" or nothing, for a row."""
    said = [holds for verdict in verdicts for own, holds in verdict.of_rows if own == row]
    return "" if not said else "holds" if all(said) else "does not hold"


def write(folder: Path, paper: Paper, item: Item, result: Result, text: str) -> list[Path]:
    """Write the three files of an item, each atomically.

    Parameters
    ----------
    folder : Path
        Target folder.
    paper, item : Paper, Item
        Paper and item.
    result : Result
        Its result.
    text : str
        The section of the page.
    """
    contents = {
        ".csv": as_csv(item, result),
        ".json": as_json(paper, item, result),
        ".md": text,
    }
    paths = []
    for suffix, content in contents.items():
        path = folder / f"{item.name}{suffix}"
        fresh = path.with_name(path.name + ".new")
        fresh.write_text(content, encoding="utf-8")
        os.replace(fresh, path)
        paths.append(path)
    return paths
