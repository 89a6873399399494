"""Every example is kept until it is forgotten by name."""

from __future__ import annotations

from typing import ClassVar

from supple.memory._base import Memory

__all__ = ["KeepAll"]


class KeepAll(Memory):
    """Keep every example, as estimators without a `memory` do.

    The model after any sequence of updates is the one that `fit` gives on the examples held.

    Examples
    --------
    >>> from supple import SVC
    >>> from supple.memory import KeepAll
    >>> SVC(memory=KeepAll()).fit([[0.0], [1.0], [2.0]], [0, 1, 1]).ids_.tolist()
    [0, 1, 2]
    """

    keeps_all: ClassVar[bool] = True
