"""How far apart the examples of a machine are in feature space."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supple.engine import State
from supple.kernels import RBF

_MOST = 4000  # examples up to which all kernel values are computed
_AT_A_TIME = 256


def squared_radius(state: State, slots: NDArray[np.int64]) -> tuple[float, bool]:
    """Return R^2, the largest k(x, x) - k(x, x') among these examples, and whether it is exact.

    Of more than 4000 examples not all kernel values are looked at. Then it is a bound: 1 for rbf,
    whose values are between 0 and 1, and for other kernels the largest k(x, x) + sqrt(k(x, x)
    k(x', x')), since no kernel value is below minus the root (Cauchy and Schwarz).
    """
    diagonal = state.diagonal(slots)
    if len(slots) <= _MOST:
        points, largest = state.points(slots), 0.0
        for start in range(0, len(slots), _AT_A_TIME):
            part = slice(start, start + _AT_A_TIME)
            values = state.kernel_values(points, slots[part])
            largest = max(largest, float((diagonal[part] - values.min(axis=0)).max()))
        return largest, True
    if isinstance(state.kernel, RBF):
        return 1.0, False
    root = np.sqrt(np.maximum(diagonal, 0.0))
    return float((diagonal + root * root.max()).max()), False
