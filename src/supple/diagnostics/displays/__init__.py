"""Pictures of the estimates, like scikit-learn's displays; matplotlib is optional."""

from supple.diagnostics.displays._conformal import (
    ConformalDisplay,
    CoverageDisplay,
    IntervalDisplay,
)
from supple.diagnostics.displays._influence import InfluenceDisplay
from supple.diagnostics.displays._leave_one_out import LeaveOneOutDisplay
from supple.diagnostics.displays._martingale import MartingaleDisplay
from supple.diagnostics.displays._novelty import NoveltyDisplay
from supple.diagnostics.displays._windows import (
    CourseDisplay,
    WindowDisplay,
    WindowSearchDisplay,
)
from supple.diagnostics.displays._xi_alpha import XiAlphaDisplay

__all__ = [
    "ConformalDisplay",
    "CourseDisplay",
    "CoverageDisplay",
    "InfluenceDisplay",
    "IntervalDisplay",
    "LeaveOneOutDisplay",
    "MartingaleDisplay",
    "NoveltyDisplay",
    "WindowDisplay",
    "WindowSearchDisplay",
    "XiAlphaDisplay",
]
