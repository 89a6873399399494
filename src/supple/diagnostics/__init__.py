"""How good is a model? Estimates from the examples it holds, with none set aside."""

from supple.diagnostics._xi_alpha import MachineXiAlpha, XiAlpha, xi_alpha

__all__ = ["MachineXiAlpha", "XiAlpha", "xi_alpha"]
