"""Support vector machines that learn, forget, re-weight and retune exactly."""

from importlib.metadata import version

from supple.errors import (
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
from supple.estimators import RVC, RVR, SVC, SVDD, SVR, NuSVC, OneClassSVM

__version__ = version("supple")

__all__ = [
    "RVC",
    "RVR",
    "SVC",
    "SVDD",
    "SVR",
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
]
