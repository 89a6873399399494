"""How good is a model? Estimates from the examples it holds, with none set aside."""

from supple.diagnostics._calibrator import LeaveOneOutCalibrator
from supple.diagnostics._leave_one_out import LeaveOneOut, leave_one_out
from supple.diagnostics._xi_alpha import MachineXiAlpha, XiAlpha, xi_alpha

__all__ = [
    "LeaveOneOut",
    "LeaveOneOutCalibrator",
    "MachineXiAlpha",
    "XiAlpha",
    "leave_one_out",
    "xi_alpha",
]
