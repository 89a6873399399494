"""The same stream through several estimators, measured at growing training sizes."""

from supple.comparison._records import Comparison, Record
from supple.comparison._stream import compare

__all__ = ["Comparison", "Record", "compare"]
