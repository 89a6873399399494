"""Which example leaves a full memory (Tax & Laskov 2003)."""

from __future__ import annotations

import numpy as np

__all__ = ["least_relevant", "oldest"]


def least_relevant(size: np.ndarray, margin: np.ndarray, arrival: np.ndarray) -> int:
    """Return the position of the example with the smallest coefficient.

    Among equals, as all non-support vectors are, the one with the largest margin, and among those
    the one that came first.

    Parameters
    ----------
    size : ndarray
        |x_i| of each example; with several machines the largest.
    margin : ndarray
        y_i f(x_i); with several machines the smallest.
    arrival : ndarray
        Order of arrival.

    Examples
    --------
    >>> least_relevant(np.array([1.0, 0.0, 0.0]), np.array([0.9, 1.2, 1.5]), np.array([0, 1, 2]))
    2
    """
    tied = np.flatnonzero(size == size.min())
    if len(tied) > 1:
        values = margin[tied]
        tied = tied[values == values.max()]
    return int(tied[oldest(arrival[tied])])


def oldest(arrival: np.ndarray) -> int:
    """Return the position of the example that came first.

    Examples
    --------
    >>> oldest(np.array([7, 4, 9]))
    1
    """
    return int(np.argmin(arrival))
