"""Solvers that bring a head to the optimum of its QP after a move of boxes and targets."""

from supple.solvers.settle import Outcome, Settings, settle, settle_first

__all__ = ["Outcome", "Settings", "settle", "settle_first"]
