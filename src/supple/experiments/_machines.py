"""The machines of the papers, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.svm import SVC as ReferenceSVC

from supple.estimators import (
    LASVC,
    RVC,
    SVC,
    SVR,
    SimpleSVC,
    SVIncrementalSVC,
    SVIncrementalSVR,
)
from supple.experiments._declare import Cell

__all__ = ["classifier", "regressor"]

_CLASSIFIERS: dict[str, Callable[..., Any]] = {
    "batch": SVC,
    "SV": SVIncrementalSVC,
    "SV-L": lambda **kind: SVIncrementalSVC(sv_weight="ruping", **kind),
    "C&P": SVC,
    "SimpleSVM": SimpleSVC,
    "LASVM": lambda **kind: LASVC(random_state=0, **kind),
    "LIBSVM": ReferenceSVC,
    "RVM": lambda C=1.0, **kind: RVC(**kind),
}
_REGRESSORS: dict[str, Callable[..., Any]] = {
    "batch": SVR,
    "SV": SVIncrementalSVR,
    "SV-L": lambda **kind: SVIncrementalSVR(sv_weight="ruping", **kind),
}
_PARAMETERS = ("C", "gamma", "kernel", "epsilon")


def classifier(cell: Cell) -> Any:
    """Return the machine that a cell names, with its parameters.

    Examples
    --------
    >>> from supple.experiments._machines import classifier
    >>> classifier({"machine": "SV-L", "C": "10", "factor": 2})
    SVIncrementalSVC(C=10.0, factor=2.0, sv_weight='ruping')
    """
    return _made(_CLASSIFIERS, cell)


def regressor(cell: Cell) -> Any:
    """Return the machine for regression that a cell names."""
    return _made(_REGRESSORS, cell)


def _made(makers: dict[str, Callable[..., Any]], cell: Cell) -> Any:
    kind = {name: _number(cell[name]) for name in _PARAMETERS if name in cell}
    if cell["machine"] == "SV-L":
        kind["factor"] = float(cell.get("factor", 1.0))
    return makers[cell["machine"]](**kind)


def _number(value: Any) -> Any:
    try:
        return float(value)
    except ValueError:
        return value
