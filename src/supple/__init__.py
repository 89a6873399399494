"""Support vector machines that learn, forget, re-weight and retune exactly."""

from importlib.metadata import version

from supple.compare import compare
from supple.errors import (
    DamagedDataError,
    DataNotFoundError,
    DuplicateIdError,
    InexactWarning,
    InfeasibleError,
    InvalidInputError,
    NotConvergedWarning,
    NotReadyWarning,
    PrecomputedUpdateError,
    SolverError,
    SuppleError,
    UnknownIdError,
)
from supple.estimators import SVC, SVDD, SVR, NuSVC, OneClassSVM

__version__ = version("supple")

__all__ = [
    "SVC",
    "SVDD",
    "SVR",
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
    "PrecomputedUpdateError",
    "SolverError",
    "SuppleError",
    "UnknownIdError",
    "__version__",
    "compare",
]
