"""A sequential test of exchangeability."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from supple.errors import InvalidInputError
from supple.estimators._params import show

__all__ = ["ExchangeabilityMartingale"]

_STAKES = (np.arange(100) + 0.5) / 100.0


class ExchangeabilityMartingale:
    r"""Bet against uniform p-values of a stream; the capital is the evidence of drift.

    Each of many bets is :math:`\varepsilon p^{\varepsilon - 1}`, with
    :math:`\varepsilon` on a grid over (0, 1); the capital is their mean,

    .. math:: M_n = \int_0^1 \prod_{i=1}^n \varepsilon\, p_i^{\varepsilon - 1}\, d\varepsilon ,

    the simple mixture of power martingales. If the examples are exchangeable and the p-values
    smoothed, :math:`M` is a martingale that starts at 1: the probability that it ever reaches
    :math:`c` is at most :math:`1/c`. P-values without smoothing are larger, so that :math:`M` grows
    more slowly.

    Attributes
    ----------
    value_ : float
        The capital, 1 at the start; infinity beyond the range of floats.
    log_value_ : float
        Its natural logarithm.
    n_ : int
        Number of p-values seen.

    References
    ----------
    V. Vovk, I. Nouretdinov, A. Gammerman: Testing exchangeability on-line. ICML 2003.

    Examples
    --------
    >>> from supple.diagnostics import ExchangeabilityMartingale
    >>> martingale = ExchangeabilityMartingale()
    >>> martingale.update([0.4, 0.9, 0.1, 0.6]).value_ < 2.0
    True
    >>> martingale.update([0.01] * 10).value_ > 100.0  # too many strange examples
    True
    """

    def __init__(self) -> None:
        self.n_ = 0
        self._sum = 0.0  # of the logarithms of the p-values

    def update(self, p: ArrayLike) -> Self:
        """Process p-values.

        Parameters
        ----------
        p : float or array-like of float
            One or several, greater than 0 and at most 1, in the order of the examples.

        Returns
        -------
        self : object
        """
        values = _checked(p)
        self._sum += float(np.log(values).sum())
        self.n_ += values.size
        return self

    @property
    def log_value_(self) -> float:
        """Natural logarithm of the capital."""
        logs = self.n_ * np.log(_STAKES) + (_STAKES - 1.0) * self._sum
        top = logs.max()
        return float(top + np.log(np.exp(logs - top).mean()))

    @property
    def value_(self) -> float:
        """The capital."""
        log = self.log_value_
        return math.exp(log) if log < 709.0 else math.inf

    def __repr__(self) -> str:
        return f"ExchangeabilityMartingale(value={self.value_:.4g}, n={self.n_})"


def _checked(p: Any) -> np.ndarray:
    try:
        values = np.atleast_1d(np.asarray(p, dtype=np.float64))
    except (TypeError, ValueError):
        values = np.array([math.nan])
    if np.all((values > 0.0) & (values <= 1.0)):
        return values
    raise InvalidInputError(
        f"The 'p' given to ExchangeabilityMartingale must be p-values in (0, 1]. Got {show(p)} "
        "instead. learn_p_values of ConformalClassifier returns such."
    )
