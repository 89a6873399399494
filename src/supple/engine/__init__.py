"""The two engines, which alone change the state of a model: the exact one and that of LASVM."""

from supple.engine.engine import Engine
from supple.engine.head import HeadReader
from supple.engine.held import Held
from supple.engine.online import OnlineEngine, Schedule
from supple.engine.state import State
from supple.engine.step import Run, Step

__all__ = ["Engine", "HeadReader", "Held", "OnlineEngine", "Run", "Schedule", "State", "Step"]
