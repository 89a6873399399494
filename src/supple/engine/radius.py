"""The largest distance between examples of a machine in feature space."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supple.engine.state import State
from supple.kernels import DistanceKernel

__all__ = ["Radius"]

_MOST = 4000  # examples up to which all kernel values are computed
_AT_A_TIME = 256


class Radius:
    """R^2, the largest k(x, x) - k(x, x') of a growing set of examples.

    Beyond 4000 examples it is an upper bound: 1 for kernels of distances, whose values are between
    0 and 1, and for others the largest k(x, x) + sqrt(k(x, x) k(x', x')) (Cauchy-Schwarz).
    """

    def __init__(self) -> None:
        self._known = np.empty(0, dtype=np.int64)
        self._largest = 0.0

    def squared(self, state: State, slots: NDArray[np.int64]) -> tuple[float, bool]:
        """Return R^2 of the examples at these slots, ascending, and whether it is exact.

        If they include those of the last call, only pairs with a new example are computed.
        """
        diagonal = state.diagonal(slots)
        if len(slots) > _MOST:
            if isinstance(state.kernel, DistanceKernel):
                return 1.0, False
            root = np.sqrt(np.maximum(diagonal, 0.0))
            return float((diagonal + root * root.max()).max()), False
        new = ~np.isin(slots, self._known)
        if new.sum() + len(self._known) > len(slots):  # some have left
            new[:] = True
            self._largest = 0.0
        points, own, others = state.points(slots), slots[new], diagonal[new]
        for start in range(0, len(own), _AT_A_TIME):
            part = slice(start, start + _AT_A_TIME)
            values = state.kernel_values(points, own[part])
            self._largest = max(
                self._largest,
                float((others[part] - values.min(axis=0)).max()),
                float((diagonal - values.min(axis=1)).max()),
            )
        self._known = slots
        return self._largest, True
