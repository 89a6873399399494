"""Support vector machines that learn, forget, re-weight and retune exactly."""

from importlib import import_module
from importlib.metadata import version
from typing import Any

from supple import memory
from supple.errors import (
    DamagedDataError,
    DataNotFoundError,
    DuplicateIdError,
    InexactWarning,
    InfeasibleError,
    InvalidInputError,
    NotReadyWarning,
    OverfitWarning,
    PrecomputedUpdateError,
    SolverError,
    SuppleError,
    UnknownIdError,
)
from supple.estimators import (
    LASVC,
    RVC,
    RVR,
    SVC,
    SVDD,
    SVR,
    BudgetSVC,
    BudgetSVDD,
    NotConvergedWarning,
    NuSVC,
    OneClassSVM,
    SimpleSVC,
    SVIncrementalSVC,
    SVIncrementalSVR,
    WindowedSVC,
)

__version__ = version("supple")

__all__ = [
    "LASVC",
    "RVC",
    "RVR",
    "SVC",
    "SVDD",
    "SVR",
    "BudgetSVC",
    "BudgetSVDD",
    "DamagedDataError",
    "DataNotFoundError",
    "DuplicateIdError",
    "InexactWarning",
    "InfeasibleError",
    "InvalidInputError",
    "NotConvergedWarning",
    "NotReadyWarning",
    "NuSVC",
    "OneClassSVM",
    "OverfitWarning",
    "PrecomputedUpdateError",
    "SVIncrementalSVC",
    "SVIncrementalSVR",
    "SimpleSVC",
    "SolverError",
    "SuppleError",
    "UnknownIdError",
    "WindowedSVC",
    "__version__",
    "compare",
    "memory",
]


def __getattr__(name: str) -> Any:
    """Import rarely used modules at their first use."""
    if name == "compare":
        return import_module("supple.comparison").compare
    if name in ("datasets", "diagnostics", "streams"):
        return import_module(f"supple.{name}")
    raise AttributeError(f"module 'supple' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names, for completion and dir()."""
    return sorted([*__all__, "datasets", "diagnostics", "errors", "streams"])
