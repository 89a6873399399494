"""The evidence against exchangeability, as it grows."""

from __future__ import annotations

import copy
import math
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.diagnostics._conformal import ConformalClassifier
from supple.diagnostics._martingale import ExchangeabilityMartingale
from supple.diagnostics.displays._base import ERROR_COLOUR, Display, numbers
from supple.errors import InvalidInputError
from supple.estimators._params import show

__all__ = ["MartingaleDisplay"]


class MartingaleDisplay(Display):
    """Capital of an :class:`ExchangeabilityMartingale` after each example, with an alarm line.

    Made by `from_estimator` or `from_p_values`; the parameters are kept as attributes.

    Parameters
    ----------
    log_values : array-like of shape (n,)
        Natural logarithms of the capital.
    alarm : float, default=100.0
        Greater than 1. Without drift the capital reaches it with probability at most 1 / alarm.

    Attributes
    ----------
    alarm_at : int or None
        Number of examples when the capital reached the alarm, None if it never did.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    line_, alarm_line_ : matplotlib Line2D
        The decimal logarithm of the capital, and that of the alarm.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from supple.diagnostics import MartingaleDisplay
    >>> ax = Figure().subplots()  # or None for a figure of pyplot
    >>> MartingaleDisplay.from_p_values([0.4, 0.9] + 10 * [0.01], ax=ax).alarm_at
    6
    """

    def __init__(self, log_values: ArrayLike, *, alarm: float = 100.0) -> None:
        self.log_values: NDArray[np.float64] = numbers(type(self), "log_values", log_values)
        good = isinstance(alarm, Real) and not isinstance(alarm, bool)
        if not (good and 1.0 < float(alarm) < math.inf):
            raise InvalidInputError(
                f"The 'alarm' parameter of {type(self).__name__} must be a number > 1. Got "
                f"{show(alarm)} instead. 100 is reached without drift with a chance of 1 %."
            )
        self.alarm = float(alarm)
        reached = np.flatnonzero(self.log_values >= math.log(self.alarm))
        self.alarm_at = int(reached[0]) + 1 if len(reached) else None

    @classmethod
    def from_estimator(
        cls,
        conformal: ConformalClassifier,
        X: Any,
        y: Any,
        *,
        alarm: float = 100.0,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Run a stream through a copy of a conformal classifier, and draw.

        Parameters
        ----------
        conformal : ConformalClassifier
            With ``smoothed=True``, so that p-values are uniform without drift; fitted or not. It is
            not changed.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The points, in the order of their arrival.
        y : array-like of shape (n_samples,)
            Their labels.
        alarm : float, default=100.0
            Greater than 1.
        ax, **kwargs
            As in `plot`.

        Returns
        -------
        display : MartingaleDisplay
        """
        if not isinstance(conformal, ConformalClassifier):
            raise InvalidInputError(
                f"The 'conformal' given to {cls.__name__} must be a ConformalClassifier. Got "
                f"{show(conformal)} instead. from_p_values takes p-values of other sources."
            )
        p = copy.deepcopy(conformal).learn_p_values(X, y)
        return cls.from_p_values(p, alarm=alarm, ax=ax, **kwargs)

    @classmethod
    def from_p_values(
        cls, p: ArrayLike, *, alarm: float = 100.0, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Bet against p-values in their order, and draw the capital.

        Parameters
        ----------
        p : array-like of float
            What ``ConformalClassifier.learn_p_values`` returned.
        alarm : float, default=100.0
            Greater than 1.
        ax, **kwargs
            As in `plot`.

        Returns
        -------
        display : MartingaleDisplay
        """
        martingale = ExchangeabilityMartingale()
        logs = [martingale.update(each).log_value_ for each in numbers(cls, "p", p)]
        return cls(logs, alarm=alarm).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            For the curve, as in ``Axes.plot``.

        Returns
        -------
        self : object
        """
        ax = self._start(ax)
        n = np.arange(len(self.log_values) + 1)
        capital = np.concatenate([[0.0], self.log_values]) / math.log(10.0)
        self.line_ = ax.plot(n, capital, **{"label": "capital", **kwargs})[0]
        at = "never reached" if self.alarm_at is None else f"reached at {self.alarm_at}"
        self.alarm_line_ = ax.axhline(
            math.log10(self.alarm), color=ERROR_COLOUR, linestyle="--", linewidth=1.0,
            label=f"alarm at {self.alarm:g}, {at}",
        )  # fmt: skip
        ax.set(xlabel="examples", ylabel="capital, decimal logarithm")
        ax.legend()
        return self
