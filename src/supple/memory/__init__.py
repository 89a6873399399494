"""Memories: which examples to keep, forget or re-weight as new ones arrive.

Every exact estimator takes one as its parameter `memory`.
"""

from supple.memory._base import Change, Memory
from supple.memory._clock import refuse_times
from supple.memory.adaptive import AdaptiveWindow, WindowCandidate, WindowChoice
from supple.memory.budget import Budget
from supple.memory.decay import Decay
from supple.memory.keep_all import KeepAll
from supple.memory.support_vectors import SupportVectors
from supple.memory.window import Window

__all__ = [
    "AdaptiveWindow",
    "Budget",
    "Change",
    "Decay",
    "KeepAll",
    "Memory",
    "SupportVectors",
    "Window",
    "WindowCandidate",
    "WindowChoice",
    "refuse_times",
]
