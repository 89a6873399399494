"""Whether a kernel of unknown kind is positive semi-definite, as the batch way asks."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["looks_definite"]

_SAMPLE = 512  # support vectors on which a kernel of unknown kind is tested


def looks_definite(head: Any) -> bool:
    """Whether the kernel matrix among (some) support vectors has no negative eigenvalue."""
    support = np.flatnonzero(head.x)[:_SAMPLE]
    if not len(support):
        return True
    eigenvalues = np.linalg.eigvalsh(head.kernel_among(support))
    return bool(eigenvalues[0] >= -1e-8 * max(abs(eigenvalues[-1]), abs(eigenvalues[0])))
