"""Markdown of results: a section for each item, a page for each paper. No number is typed."""

from __future__ import annotations

from pathlib import Path

from supple.experiments._declare import Item, Paper, Row, Table
from supple.experiments._results import Result, from_json, verdict_of

__all__ = ["page", "section", "summary"]

UNITS = {
    "accuracy": "accuracy", "error": "error (%)", "recall": "recall (%)",
    "precision": "precision (%)", "R2": "R²", "vectors": "vectors", "seconds": "seconds",
}  # fmt: skip


def section(item: Item, result: Result, *, pictures: str | None) -> str:
    """Return the section of an item.

    Parameters
    ----------
    item : Item
        What was run.
    result : Result
        What it gave.
    pictures : str or None
        Where its pictures are, as seen from the page; None if there are none.
    """
    parts = [f"## {item.title}", item.what]
    if result.quick:
        parts.append("*This is the small form of `--quick`: fewer repetitions, less data.*")
    for name in result.stand_ins:
        parts.append(f"*Stand-in: {name}, because the paper's kind of data is not used here.*")
    for measure in item.table.measures:
        text = _table(item, result, measure)
        if text:
            parts.append(text)
    for figure in item.figures if pictures is not None else ():
        parts.append(f"![{figure.caption}]({pictures}{figure.name}.png)\n\n*{figure.caption}.*")
    for claim, verdict in zip(item.claims, result.verdicts(item), strict=True):
        number = f" (claim {claim.number})" if claim.number else ""
        says = "holds" if verdict.holds else "does not hold"
        parts.append(f"**{claim.text}**{number} — **{says}**. {verdict.text}.")
    if item.why:
        parts.append("Where our numbers differ, and why:")
        parts.append("\n".join(f"- {reason}" for reason in item.why))
    return "\n\n".join(parts) + "\n"


def _table(item: Item, result: Result, measure: str) -> str:
    """Return the table of a measure: ours ± spread, below it the paper's value."""
    table = item.table
    rows = [r for r in result.rows if r.measure == measure and set(r.labels) == set(table.labels)]
    if not rows:
        return ""
    columns = list(dict.fromkeys(row.labels[table.columns] for row in rows))
    lines: dict[tuple[str, ...], dict[str, Row]] = {}
    for row in rows:
        lines.setdefault(row.key(table.rows), {})[row.labels[table.columns]] = row
    n = sorted({row.n for row in rows})
    counted = f"{n[0]}" if len(n) == 1 else f"{n[0]} to {n[-1]}"
    head = [*table.rows, *columns]
    text = [
        f"{UNITS.get(measure, measure)}: ours ± standard deviation (n = {counted})"
        + ("; in brackets the paper's" if any(row.paper is not None for row in rows) else ""),
        "",
        "| " + " | ".join([*head, "verdict"]) + " |",
        "|" + "---|" * (len(head) + 1),
    ]
    verdicts = result.verdicts(item)
    for key, cells in lines.items():
        values = [_cell(cells[c], table) if c in cells else "" for c in columns]
        said = [verdict_of(row, verdicts) for row in cells.values()]
        verdict = "does not hold" if "does not hold" in said else "holds" if "holds" in said else ""
        text.append("| " + " | ".join([*key, *values, verdict]) + " |")
    return "\n".join(text)


def _cell(row: Row, table: Table) -> str:
    digits = table.digits
    if row.n == 0:
        return "none"
    text = f"{row.ours:.{digits}f}" if abs(row.ours) < 1e5 else f"{row.ours:.3g}"
    if row.spread is not None:
        text += f" ± {row.spread:.{digits}f}"
    if row.paper is not None:
        text += f" ({row.paper:.{digits}f})"
    return text


def summary(paper: Paper, results: dict[str, Result]) -> str:
    """Return the claims of a paper with their verdicts, as a list."""
    lines = []
    for item in paper.items:
        if item.name not in results:
            continue
        for claim, verdict in zip(item.claims, results[item.name].verdicts(item), strict=True):
            says = "holds" if verdict.holds else "does not hold"
            number = f"({claim.number}) " if claim.number else ""
            lines.append(f"- {number}{claim.text} **{says[0].upper()}{says[1:]}.**")
    return "\n".join(lines)


def page(paper: Paper, results: dict[str, Result], *, pictures: str = "images/") -> str:
    """Return the page of a paper.

    Parameters
    ----------
    paper : Paper
        The paper.
    results : dict of str to Result
        What its items gave. Those that are missing are named.
    pictures : str
        Where the pictures are, as seen from the page.
    """
    parts = [
        f"# {paper.citation}",
        "<!-- Written by python -m supple.experiments --pages; do not edit. -->",
        f"`python -m supple.experiments {paper.name}` repeats what is on this page.",
        paper.about,
    ]
    if results:
        parts += ["Claims:", summary(paper, results)]
    missing = [item.name for item in paper.items if item.name not in results]
    if missing:
        parts.append(f"Not run in full yet: {', '.join(missing)}.")
    for item in paper.items:
        if item.name in results:
            parts.append(section(item, results[item.name], pictures=pictures).rstrip())
    return "\n\n".join(part for part in parts if part) + "\n"


def read(folder: Path, paper: Paper) -> dict[str, Result]:
    """Return the results of a paper that a folder holds."""
    found = {}
    for item in paper.items:
        path = folder / paper.name / f"{item.name}.json"
        if path.is_file():
            found[item.name] = from_json(path.read_text(encoding="utf-8"))
    return found
