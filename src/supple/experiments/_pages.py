"""Markdown of results: a section for each item, a page for each paper."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from supple.experiments._declare import Item, Paper, Row, Table, Verdict
from supple.experiments._results import Result, from_json, verdict_of

__all__ = ["index", "page", "read", "section", "summary"]

WHOLE = ("vectors", "length")  # numbers that are shown without decimals
NOTICE = "<!-- Written by python -m supple.experiments --pages docs/experiments; do not edit. -->"
UNITS = {
    "accuracy": "accuracy", "error": "error (%)", "recall": "recall (%)",
    "precision": "precision (%)", "R2": "R²", "vectors": "vectors", "seconds": "seconds",
}  # fmt: skip


def section(item: Item, result: Result, *, pictures: str | None) -> str:
    """Return the section of an item.

    Parameters
    ----------
    item : Item
        The item.
    result : Result
        Its result.
    pictures : str or None
        Folder of its pictures relative to the page; None if there are none.
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
    verdicts = result.verdicts(item)
    said = {key: _said(cells, verdicts) for key, cells in lines.items()}
    more = ["verdict"] if any(said.values()) else []
    head = [*table.rows, *columns, *more]
    text = [_heading(measure, rows), "", f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for key, cells in lines.items():
        values = [_cell(cells[c], table) if c in cells else "" for c in columns]
        text.append(f"| {' | '.join([*key, *values, *([said[key]] if more else [])])} |")
    return "\n".join(text)


def _heading(measure: str, rows: list[Row]) -> str:
    counts = sorted({row.n for row in rows})
    text = f"{UNITS.get(measure, measure)}: ours"
    if counts[-1] > 1:
        n = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        text += f" ± standard deviation (n = {n})"
    return text + ("; in brackets the paper's" if any(r.paper is not None for r in rows) else "")


def _said(cells: dict[str, Row], verdicts: list[Verdict]) -> str:
    said = [verdict_of(row, verdicts) for row in cells.values()]
    return "does not hold" if "does not hold" in said else "holds" if "holds" in said else ""


def _cell(row: Row, table: Table) -> str:
    if row.n == 0:
        return "none"
    text = _number(row.ours, row.measure, table)
    if row.spread is not None:
        text += f" ± {_number(row.spread, row.measure, table)}"
    if row.paper is not None:
        text += f" ({_number(row.paper, row.measure, table)})"
    return text


def _number(value: float, measure: str, table: Table) -> str:
    if measure == "seconds":
        return f"{value:.2g}" if value < 10.0 else f"{value:.0f}"
    return f"{value:.{0 if measure in WHOLE else table.digits}f}"


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


def page(paper: Paper, results: dict[str, Result]) -> str:
    """Return the page of a paper.

    Parameters
    ----------
    paper : Paper
        The paper.
    results : dict of str to Result
        Results by item; the page names missing items.
    """
    pictures = f"images/{paper.name}-"
    parts = [
        f"# {paper.citation}",
        NOTICE,
        f"`supple reproduce {paper.name}` repeats what is on this page.",
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


def index(papers: Collection[Paper], results: dict[str, dict[str, Result]]) -> str:
    """Return the index page, with the numbered claims.

    Parameters
    ----------
    papers : collection of Paper
        The papers.
    results : dict of str to dict
        The results of each, by item.
    """
    claims = {}
    for paper in papers:
        for item in paper.items:
            if item.name not in results[paper.name]:
                continue
            verdicts = results[paper.name][item.name].verdicts(item)
            for claim, verdict in zip(item.claims, verdicts, strict=True):
                if claim.number:
                    says = "**holds**" if verdict.holds else "**does not hold**"
                    cells = (str(claim.number), claim.text, f"{paper.name}, {item.name}", says)
                    line = f"| {' | '.join((*cells, verdict.text))} |"
                    claims[claim.number, paper.name, item.name] = line
    head = ["| | claim | where | verdict | measured |", "|---|---|---|---|---|"]
    parts = [
        "# The papers, reproduced",
        NOTICE,
        "`supple reproduce` lists what can be repeated, "
        "`supple reproduce PAPER` repeats a paper, with `--quick` within two minutes. "
        "An interrupted run goes on when it is started again.",
        "\n".join(f"- [{paper.citation}]({paper.name}.md)" for paper in papers),
        "\n".join([*head, *(claims[key] for key in sorted(claims))]),
    ]
    return "\n\n".join(parts) + "\n"


def read(folder: Path, paper: Paper) -> dict[str, Result]:
    """Return the results of a paper that a folder holds."""
    found = {}
    for item in paper.items:
        path = folder / paper.name / f"{item.name}.json"
        if path.is_file():
            found[item.name] = from_json(path.read_text(encoding="utf-8"))
    return found
