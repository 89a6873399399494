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
from supple.estimators import LASVC, SVC, SVDD, SVR, NuSVC, OneClassSVM, SimpleSVC

__version__ = version("supple")

__all__ = [
    "LASVC",
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
    "SimpleSVC",
    "SolverError",
    "SuppleError",
    "UnknownIdError",
    "__version__",
    "compare",
]
