"""The protocols: functions that run one cell and return its outcomes."""

from collections.abc import Callable

from supple.experiments._declare import Cell
from supple.experiments._store import Outcome
from supple.experiments.protocols._batches import FIRST, SECOND, draw, folds, removal, two_batches
from supple.experiments.protocols._growth import growth
from supple.experiments.protocols._online import budget, novelty, prepare
from supple.experiments.protocols._questions import drift, lines, regression
from supple.experiments.protocols._texts import relevance

__all__ = ["FIRST", "PROTOCOLS", "SECOND", "draw", "prepare"]

PROTOCOLS: dict[str, Callable[[Cell], list[Outcome]]] = {
    "two batches": two_batches,
    "lines": lines,
    "folds": folds,
    "removal": removal,
    "drift": drift,
    "regression": regression,
    "relevance": relevance,
    "growth": growth,
    "budget": budget,
    "novelty": novelty,
}
