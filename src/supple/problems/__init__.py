"""The five problems as builders of QP rows."""

from supple.problems._base import Problem
from supple.problems.csvc import CSVC
from supple.problems.epssvr import EpsSVR
from supple.problems.nusvc import NuSVC
from supple.problems.oneclass import OneClass
from supple.problems.svdd import SVDD

__all__ = ["CSVC", "SVDD", "EpsSVR", "NuSVC", "OneClass", "Problem"]
