"""Error estimates, probabilities, conformal prediction and influence, from the examples held."""

from supple.diagnostics._active import expected_error_reduction, uncertainty_sampling
from supple.diagnostics._calibrator import LeaveOneOutCalibrator
from supple.diagnostics._conformal import ConformalClassifier
from supple.diagnostics._drift_watch import DriftEvent, DriftWatch
from supple.diagnostics._influence import Influence, influence
from supple.diagnostics._jackknife import ConformalRegressor
from supple.diagnostics._leave_one_out import LeaveOneOut, leave_one_out
from supple.diagnostics._martingale import ExchangeabilityMartingale
from supple.diagnostics._xi_alpha import MachineXiAlpha, XiAlpha, xi_alpha
from supple.diagnostics.displays import (
    ConformalDisplay,
    CourseDisplay,
    CoverageDisplay,
    InfluenceDisplay,
    IntervalDisplay,
    LeaveOneOutDisplay,
    MartingaleDisplay,
    NoveltyDisplay,
    WindowDisplay,
    WindowSearchDisplay,
    XiAlphaDisplay,
)

__all__ = [
    "ConformalClassifier",
    "ConformalDisplay",
    "ConformalRegressor",
    "CourseDisplay",
    "CoverageDisplay",
    "DriftEvent",
    "DriftWatch",
    "ExchangeabilityMartingale",
    "Influence",
    "InfluenceDisplay",
    "IntervalDisplay",
    "LeaveOneOut",
    "LeaveOneOutCalibrator",
    "LeaveOneOutDisplay",
    "MachineXiAlpha",
    "MartingaleDisplay",
    "NoveltyDisplay",
    "WindowDisplay",
    "WindowSearchDisplay",
    "XiAlpha",
    "XiAlphaDisplay",
    "expected_error_reduction",
    "influence",
    "leave_one_out",
    "uncertainty_sampling",
    "xi_alpha",
]
