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
from supple.estimators import (
    SVC,
    SVDD,
    SVR,
    BudgetSVC,
    BudgetSVDD,
    NuSVC,
    OneClassSVM,
    SVIncrementalSVC,
    SVIncrementalSVR,
)

__version__ = version("supple")

__all__ = [
    "SVC",
    "SVDD",
    "SVR",
    "BudgetSVC",
    "BudgetSVDD",
    "DuplicateIdError",
    "InexactWarning",
    "InfeasibleError",
    "InvalidInputError",
    "NotConvergedWarning",
    "NotReadyWarning",
    "NuSVC",
    "OneClassSVM",
    "PrecomputedUpdateError",
    "SVIncrementalSVC",
    "SVIncrementalSVR",
    "SolverError",
    "SuppleError",
    "UnknownIdError",
    "__version__",
]
