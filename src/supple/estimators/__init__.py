"""The scikit-learn estimators of supple."""

from supple.estimators._warnings import NotConvergedWarning
from supple.estimators.budgetsvc import BudgetSVC
from supple.estimators.budgetsvdd import BudgetSVDD
from supple.estimators.lasvc import LASVC
from supple.estimators.nusvc import NuSVC
from supple.estimators.oneclass import OneClassSVM
from supple.estimators.rvc import RVC
from supple.estimators.rvr import RVR
from supple.estimators.simplesvc import SimpleSVC
from supple.estimators.svc import SVC
from supple.estimators.svdd import SVDD
from supple.estimators.svincremental import SVIncrementalSVC, SVIncrementalSVR
from supple.estimators.svr import SVR
from supple.estimators.windowedsvc import WindowedSVC

__all__ = [
    "LASVC",
    "RVC",
    "RVR",
    "SVC",
    "SVDD",
    "SVR",
    "BudgetSVC",
    "BudgetSVDD",
    "NotConvergedWarning",
    "NuSVC",
    "OneClassSVM",
    "SVIncrementalSVC",
    "SVIncrementalSVR",
    "SimpleSVC",
    "WindowedSVC",
]
