"""The scikit-learn estimators of supple."""

from supple.estimators.nusvc import NuSVC
from supple.estimators.oneclass import OneClassSVM
from supple.estimators.rvc import RVC
from supple.estimators.rvr import RVR
from supple.estimators.svc import SVC
from supple.estimators.svdd import SVDD
from supple.estimators.svr import SVR

__all__ = ["RVC", "RVR", "SVC", "SVDD", "SVR", "NuSVC", "OneClassSVM"]
