"""Solvers that bring a head to the optimum of its QP after a move of boxes and targets."""

from supple.solvers.settle import Outcome, Settings, most_iterations, settle, settle_first

__all__ = ["Outcome", "Settings", "most_iterations", "settle", "settle_first"]
