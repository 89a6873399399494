"""The scikit-learn estimators of supple."""

from supple.estimators.lasvc import LASVC
from supple.estimators.nusvc import NuSVC
from supple.estimators.oneclass import OneClassSVM
from supple.estimators.simplesvc import SimpleSVC
from supple.estimators.svc import SVC
from supple.estimators.svdd import SVDD
from supple.estimators.svr import SVR

__all__ = ["LASVC", "SVC", "SVDD", "SVR", "NuSVC", "OneClassSVM", "SimpleSVC"]
