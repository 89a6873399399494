"""Declarations of experiments: data, machines, protocol, the paper's numbers, claims."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple

from supple.errors import InvalidInputError

__all__ = [
    "Cell",
    "Claim",
    "Figure",
    "Item",
    "Paper",
    "Row",
    "Table",
    "Values",
    "Verdict",
    "printed",
]

Cell = dict[str, Any]  # the argument of a protocol: one point of the grid with all settings
Values = Mapping[tuple[str, ...], float]


@dataclass(frozen=True)
class Row:
    """One quantity at one point of the grid: the paper's value and ours."""

    labels: Mapping[str, str]
    measure: str
    ours: float
    spread: float | None  # standard deviation over folds or repetitions
    n: int  # how many of them
    paper: float | None = None

    def key(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the labels of these names."""
        return tuple(self.labels[name] for name in names)


class Verdict(NamedTuple):
    """Whether a claim holds, with the supporting figures."""

    holds: bool
    text: str
    of_rows: tuple[tuple[Row, bool], ...] = ()  # the compared rows


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, and its judge."""

    text: str
    judge: Callable[[list[Row]], Verdict]
    number: int | None = None  # of the claims that the project must show


@dataclass(frozen=True)
class Table:
    """The layout: one line for each value of `rows`, one column for each of `columns`.

    A row belongs to a table if it has exactly these labels.
    """

    rows: tuple[str, ...]
    columns: str
    measures: tuple[str, ...]
    digits: int = 2

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the labels."""
        return (*self.rows, self.columns)


@dataclass(frozen=True)
class Figure:
    """A picture of rows: `kind` names the function that draws it, `options` are its arguments."""

    name: str
    kind: str
    options: Mapping[str, Any]
    caption: str


@dataclass(frozen=True)
class Item:
    """One table or figure of a paper, or a question that it leaves open.

    Attributes
    ----------
    name, title, what : str
        Its name on the command line, its title, and a description.
    protocol : str
        The name of the function that runs a cell.
    axes : mapping of str to tuple
        The grid: the product of these values is the list of cells.
    settings : mapping
        Settings of all cells.
    per : mapping of str to mapping
        Settings that depend on the value of an axis: ``{"data": {"sonar": {"gamma": 0.01}}}``.
    quick : mapping
        Axes and settings that ``--quick`` replaces.
    stand_ins : mapping of str to str
        Generated data that replace data which do not come with supple.
    table : Table
        The layout.
    paper : mapping of str to mapping
        The paper's numbers: by measure, then by labels.
    claims, why, figures : tuple
        Claims; where and why our numbers differ; pictures.
    minutes, quick_minutes : float
        Time needed on one core.
    """

    name: str
    title: str
    what: str
    protocol: str
    axes: Mapping[str, tuple[Any, ...]]
    table: Table
    settings: Mapping[str, Any] = field(default_factory=dict)
    per: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)
    quick: Mapping[str, Any] = field(default_factory=dict)
    stand_ins: Mapping[str, str] = field(default_factory=dict)
    paper: Mapping[str, Values] = field(default_factory=dict)
    claims: tuple[Claim, ...] = ()
    why: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    minutes: float = 1.0
    quick_minutes: float = 0.2

    def cells(self, *, quick: bool, seed: int, present: Callable[[str], bool]) -> list[Cell]:
        """Return the cells of a run.

        Parameters
        ----------
        quick : bool
            Whether to use axes and settings of `quick`, and stand-ins for large data.
        seed : int
            Seed of everything random.
        present : callable
            Returns whether data with a stand-in are available.
        """
        changes = self.quick if quick else {}
        axes = {name: changes.get(name, values) for name, values in self.axes.items()}
        settings = {**self.settings, **{k: v for k, v in changes.items() if k not in axes}}
        found = []
        for point in product(*axes.values()):
            labels = dict(zip(axes, point, strict=True))
            cell: Cell = {"protocol": self.protocol, "seed": seed, **settings}
            for name, value in labels.items():
                cell |= self.per.get(name, {}).get(str(value), {})
            cell |= labels
            for name, value in cell.items():
                stand_in = self.stand_ins.get(value) if isinstance(value, str) else None
                if stand_in and (quick or not present(value)):
                    cell[name] = stand_in
            if cell not in found:
                found.append(cell)
        return found

    def value_of_paper(self, measure: str, labels: Mapping[str, str]) -> float | None:
        """Return the paper's number for a row, None if it has none."""
        if set(labels) != set(self.table.labels):
            return None
        return self.paper.get(measure, {}).get(tuple(labels[k] for k in self.table.labels))


@dataclass(frozen=True)
class Paper:
    """A paper with its items."""

    name: str
    citation: str
    items: tuple[Item, ...]
    about: str = ""

    def item(self, name: str) -> Item:
        """Return the item of this name."""
        for each in self.items:
            if each.name == name:
                return each
        raise InvalidInputError(
            f"The paper {self.name!r} has no item {name!r}. It has: "
            f"{', '.join(each.name for each in self.items)}."
        )


def key_of(cell: Cell) -> str:
    """Return the hash of a declaration, the key of a finished cell."""
    text = json.dumps(cell, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def printed(text: str) -> dict[tuple[str, ...], float]:
    """Read a table as a paper prints it: a label at the left, others on top, "-" for no value.

    Examples
    --------
    >>> from supple.experiments._declare import printed
    >>> printed('''
    ... C    batch  SV
    ... 0.1  0.926  -
    ... ''')
    {('0.1', 'batch'): 0.926}
    """
    (_, *columns), *lines = (line.split() for line in text.strip().splitlines())
    return {
        (label, column): float(value)
        for label, *values in lines
        for column, value in zip(columns, values, strict=True)
        if value != "-"
    }
