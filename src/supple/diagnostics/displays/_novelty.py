"""A picture of the novelty of examples in a stream, and of alarms."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.diagnostics._drift_watch import DriftEvent
from supple.diagnostics.displays._base import Display
from supple.errors import InvalidInputError
from supple.estimators._params import show

__all__ = ["NoveltyDisplay"]


class NoveltyDisplay(Display):
    """Draw the novelty of the examples of a stream over time, with alarms and known events.

    Novelty is minus the decision function: above 0 lies outside the boundary. Make one by
    `from_scores` or `from_estimator`.

    Parameters
    ----------
    novelty : ndarray of shape (n_samples,)
        Novelty of each example, in the order of time.
    alarms : ndarray of shape (n_alarms,)
        Positions that are drawn as lines, such as those of a `DriftWatch`.
    truth : ndarray of shape (n_samples,) of bool, or None
        Examples that are known to be novel, drawn as a shade.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        Its figure.
    line_ : matplotlib Line2D
        The novelty.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from supple import SVDD
    >>> from supple.diagnostics import NoveltyDisplay
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> X[150:] += 4.0
    >>> model = SVDD(nu=0.1, gamma=0.3).fit(X[:100])
    >>> display = NoveltyDisplay.from_estimator(model, X, alarms=[155])
    >>> display.ax_.get_ylabel()
    'novelty'
    """

    def __init__(
        self,
        novelty: NDArray[np.float64],
        *,
        alarms: NDArray[np.int64] | None = None,
        truth: NDArray[np.bool_] | None = None,
    ) -> None:
        self.novelty = novelty
        self.alarms = np.empty(0, dtype=np.int64) if alarms is None else alarms
        self.truth = truth

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        alarms: Iterable[int | DriftEvent] = (),
        truth: ArrayLike | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the novelty of points by a fitted detector, which learns nothing from them.

        Parameters
        ----------
        estimator : SVDD, OneClassSVM or another outlier detector
            A fitted one with `decision_function`.
        X : array-like of shape (n_samples, n_features)
            Points in the order of time.
        alarms, truth, ax
            As in `from_scores`.

        Returns
        -------
        NoveltyDisplay
        """
        return cls.from_scores(estimator.decision_function(X), alarms=alarms, truth=truth, ax=ax)

    @classmethod
    def from_scores(
        cls,
        scores: ArrayLike,
        *,
        alarms: Iterable[int | DriftEvent] = (),
        truth: ArrayLike | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the novelty of examples that have been scored, say before each was learned.

        Parameters
        ----------
        scores : array-like of shape (n_samples,)
            Values of `decision_function`: negative ones are novel.
        alarms : iterable of int or DriftEvent, default=()
            Alarms, by their positions from 0.
        truth : array-like of shape (n_samples,), default=None
            Whether each example is known to be novel.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        NoveltyDisplay
        """
        values = np.asarray(scores, dtype=np.float64)
        if values.ndim != 1 or not len(values):
            raise InvalidInputError(
                "The 'scores' given to NoveltyDisplay must be a sequence of numbers. Got an array "
                f"of shape {values.shape} instead. decision_function returns such a sequence."
            )
        known = None if truth is None else np.asarray(truth).astype(np.bool_)
        if known is not None and known.shape != values.shape:
            raise InvalidInputError(
                f"The 'truth' given to NoveltyDisplay must have one value for each of the "
                f"{len(values)} scores. Got {show(truth)} instead."
            )
        return cls(-values, alarms=_positions(alarms), truth=known).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        self : object
        """
        ax = self._start(ax)
        (self.line_,) = ax.plot(self.novelty, color="#22262b", lw=0.7)
        ax.axhline(0.0, color="#9aa1a9", lw=1.0, ls="--")
        if self.truth is not None:
            across = ax.get_xaxis_transform()  # the whole height, whatever the scores
            where = np.arange(len(self.truth))
            ax.fill_between(
                where, 0, 1, where=self.truth, transform=across, color="#2f6fab", alpha=0.18, lw=0
            )
        for position in self.alarms.tolist():
            ax.axvline(position, color="#d1642a", lw=1.2)
        ax.set(xlabel="example", ylabel="novelty", xlim=(0, len(self.novelty)))
        return self


def _positions(alarms: Iterable[int | DriftEvent]) -> NDArray[np.int64]:
    found = [each.position if isinstance(each, DriftEvent) else each for each in alarms]
    try:
        return np.array(found, dtype=np.int64).reshape(len(found))
    except (TypeError, ValueError):
        raise InvalidInputError(
            "The 'alarms' given to NoveltyDisplay must be positions in the stream or DriftEvents. "
            f"Got {show(found)} instead. 'events_' of a DriftWatch holds such."
        ) from None
