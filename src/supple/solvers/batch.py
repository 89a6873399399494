"""What the batch way takes from SciPy and NumPy: LAPACK for the core, eigenvalues."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import cython_lapack

from supple._core import use_dpstrf

__all__ = ["looks_definite"]

use_dpstrf(cython_lapack.__pyx_capi__["dpstrf"])

_SAMPLE = 512  # support vectors on which a kernel of unknown kind is tested


def looks_definite(head: Any) -> bool:
    """Whether the kernel matrix among (some) support vectors has no negative eigenvalue."""
    support = np.flatnonzero(head.x)[:_SAMPLE]
    if not len(support):
        return True
    eigenvalues = np.linalg.eigvalsh(head.kernel_among(support))
    return bool(eigenvalues[0] >= -1e-8 * max(abs(eigenvalues[-1]), abs(eigenvalues[0])))
