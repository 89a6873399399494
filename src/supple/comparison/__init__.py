"""The same stream through several estimators, measured at growing training sizes."""

from supple.compare._records import Comparison, Record
from supple.compare._stream import compare

__all__ = ["Comparison", "Record", "compare"]
