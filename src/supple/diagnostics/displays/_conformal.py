"""Conformal sets and intervals as pictures."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.diagnostics._conformal import ConformalClassifier
from supple.diagnostics._conformal_base import check_level
from supple.diagnostics._jackknife import ConformalRegressor
from supple.diagnostics.displays._base import ERROR_COLOUR, QUIET, Display, numbers
from supple.errors import InvalidInputError
from supple.estimators._params import show

__all__ = ["ConformalDisplay", "CoverageDisplay", "IntervalDisplay"]

_LEVELS = np.arange(50, 100) / 100.0


class ConformalDisplay(Display):
    """Coverage of conformal sets, or conformal intervals.

    `from_estimator` and `from_p_values` of a classifier return a :class:`CoverageDisplay`,
    `from_estimator` and `from_intervals` of a regression an :class:`IntervalDisplay`.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from supple import SVC
    >>> from supple.datasets import load
    >>> from supple.diagnostics import ConformalClassifier, ConformalDisplay
    >>> data = load("ionosphere")
    >>> conformal = ConformalClassifier(SVC(C=1.0, gamma=0.05)).fit(data.X[:300], data.y[:300])
    >>> ax = Figure().subplots()  # or None for a figure of pyplot
    >>> display = ConformalDisplay.from_estimator(conformal, data.X[300:], data.y[300:], ax=ax)
    >>> display.coverage_line_.get_ydata().shape == display.levels.shape
    True
    """

    @staticmethod
    def from_estimator(
        conformal: ConformalClassifier | ConformalRegressor,
        X: Any,
        y: ArrayLike | None = None,
        *,
        levels: ArrayLike | None = None,
        level: float = 0.9,
        feature: int | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> ConformalDisplay:
        """Predict by a conformal predictor, and draw its sets or intervals.

        Parameters
        ----------
        conformal : ConformalClassifier or ConformalRegressor
            Fitted; it is not changed.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Query points that it does not hold.
        y : array-like of shape (n_samples,), default=None
            Their labels or targets. A classifier needs them.
        levels : array-like of float, default=None
            Classifier: the levels asked for. None: 0.5 to 0.99.
        level : float, default=0.9
            Regression: the level asked for.
        feature : int, default=None
            Regression: column of X to draw the intervals over. None: their index.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            For the curves, as in ``Axes.plot``, or the intervals, as in ``Axes.vlines``.

        Returns
        -------
        display : CoverageDisplay or IntervalDisplay
        """
        if isinstance(conformal, ConformalClassifier):
            if y is None:
                raise InvalidInputError(
                    "The 'y' given to ConformalDisplay must be the labels of the queries where "
                    "the predictor is a ConformalClassifier. Got None instead."
                )
            classes, p = conformal.classes_, conformal.p_values(X)
            return ConformalDisplay.from_p_values(p, y, classes, levels=levels, ax=ax, **kwargs)
        if not isinstance(conformal, ConformalRegressor):
            raise InvalidInputError(
                "The 'conformal' given to ConformalDisplay must be a fitted ConformalClassifier "
                f"or ConformalRegressor. Got {show(conformal)} instead."
            )
        x = None if feature is None else _column(X, feature)
        intervals = conformal.predict_interval(X, level)
        display = ConformalDisplay.from_intervals(intervals, y, x=x, level=level, ax=ax, **kwargs)
        display.ax_.set_xlabel("example" if feature is None else f"feature {feature}")
        return display

    @staticmethod
    def from_p_values(
        p: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike,
        *,
        levels: ArrayLike | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> CoverageDisplay:
        """Draw coverage and size of sets from known p-values.

        Parameters
        ----------
        p : array-like of shape (n_samples, n_classes)
            What ``ConformalClassifier.p_values`` returned.
        y : array-like of shape (n_samples,)
            Labels of the queries.
        classes : array-like of shape (n_classes,)
            The labels of the columns. A query with another label is in no set.
        levels : array-like of float, default=None
            The levels asked for. None: 0.5 to 0.99.
        ax, **kwargs
            As in `plot`.

        Returns
        -------
        display : CoverageDisplay
        """
        values, labels, columns = np.asarray(p), np.asarray(y), np.asarray(classes)
        if values.ndim != 2 or values.shape != (*labels.shape, *columns.shape) or not values.size:
            raise InvalidInputError(
                "The 'p' given to ConformalDisplay must have one row for each label of 'y' and one "
                f"column for each of 'classes'. Got shape {values.shape} with y of shape "
                f"{labels.shape} and classes of shape {columns.shape} instead."
            )
        own = np.where(labels[:, None] == columns, values, 0.0).max(axis=1)
        asked = numbers(CoverageDisplay, "levels", _LEVELS if levels is None else levels)
        for level in asked.tolist():
            check_level(_NAMED, level)
        coverage = [np.mean(own > 1.0 - level) for level in asked]
        size = [np.mean((values > 1.0 - level).sum(axis=1)) for level in asked]
        return CoverageDisplay(levels=asked, coverage=coverage, size=size).plot(ax, **kwargs)

    @staticmethod
    def from_intervals(
        intervals: ArrayLike,
        y: ArrayLike | None = None,
        *,
        x: ArrayLike | None = None,
        level: float | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> IntervalDisplay:
        """Draw known intervals.

        Parameters
        ----------
        intervals : array-like of shape (n_samples, 2)
            What ``ConformalRegressor.predict_interval`` returned.
        y : array-like of shape (n_samples,), default=None
            Targets of the queries.
        x : array-like of shape (n_samples,), default=None
            What to draw them over. None: their index.
        level : float, default=None
            The level asked for, for the legend.
        ax, **kwargs
            As in `plot`.

        Returns
        -------
        display : IntervalDisplay
        """
        return IntervalDisplay(intervals, y, x=x, level=level).plot(ax, **kwargs)


class CoverageDisplay(ConformalDisplay):
    """Share of conformal sets that contain the true label, and their size, over the level.

    Parameters
    ----------
    levels, coverage, size : array-like of shape (n_levels,)
        Levels asked for, share of the sets with the true label, mean number of labels in a set.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    size_ax_ : matplotlib Axes
        The axes of the sizes, on the right.
    coverage_line_, size_line_, line_ : matplotlib Line2D
        The two curves, and the coverage that was asked for.
    """

    def __init__(self, *, levels: ArrayLike, coverage: ArrayLike, size: ArrayLike) -> None:
        own = type(self)
        self.levels: NDArray[np.float64] = numbers(own, "levels", levels)
        self.coverage = numbers(own, "coverage", coverage, len(self.levels))
        self.size = numbers(own, "size", size, len(self.levels))

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            For the curves, as in ``Axes.plot``.

        Returns
        -------
        self : object
        """
        ax = self._start(ax)
        order = np.argsort(self.levels)
        levels = self.levels[order]
        ends = levels[[0, -1]]
        self.line_ = ax.plot(ends, ends, label="asked for", **QUIET)[0]
        covered = {"label": "coverage", "color": "tab:blue", **kwargs}
        self.coverage_line_ = ax.plot(levels, self.coverage[order], **covered)[0]
        self.size_ax_ = ax.twinx()
        sized = {"label": "labels in a set", "color": "tab:orange", **kwargs}
        self.size_line_ = self.size_ax_.plot(levels, self.size[order], **sized)[0]
        ax.set(xlabel="level", ylabel="sets with the true label")
        self.size_ax_.set(ylabel="labels in a set, mean", ylim=(0.0, None))
        ax.legend(handles=[self.line_, self.coverage_line_, self.size_line_], loc="upper left")
        return self


class IntervalDisplay(ConformalDisplay):
    """Intervals for targets, over a feature or over their index.

    Parameters
    ----------
    intervals : array-like of shape (n_samples, 2)
        Lower and upper ends, as ``ConformalRegressor.predict_interval`` returns them.
    y : array-like of shape (n_samples,), default=None
        Targets.
    x : array-like of shape (n_samples,), default=None
        Where each interval is drawn. None: its index.
    level : float, default=None
        The level asked for, for the legend.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    intervals_ : matplotlib LineCollection
        The intervals. Infinite ones cannot be drawn; the legend counts them.
    inside_, outside_ : matplotlib PathCollection or None
        The targets within their interval and the others; None if there are no targets.
    """

    def __init__(
        self,
        intervals: ArrayLike,
        y: ArrayLike | None = None,
        *,
        x: ArrayLike | None = None,
        level: float | None = None,
    ) -> None:
        own = type(self)
        try:
            ends = np.asarray(intervals, dtype=np.float64)
        except (TypeError, ValueError):
            ends = np.empty(0)
        if ends.ndim != 2 or ends.shape[1] != 2 or not len(ends):
            raise InvalidInputError(
                f"The 'intervals' given to {own.__name__} must be of shape (n_samples, 2). Got "
                f"{show(intervals)} instead. ConformalRegressor.predict_interval returns such."
            )
        self.intervals: NDArray[np.float64] = ends
        self.y = None if y is None else numbers(own, "y", y, len(ends))
        self.x = np.arange(len(ends)) if x is None else numbers(own, "x", x, len(ends))
        self.level = None if level is None else check_level(self, level)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the intervals, and the targets if there are any.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            For the intervals, as in ``Axes.vlines``.

        Returns
        -------
        self : object
        """
        ax = self._start(ax)
        low, high = self.intervals.T
        finite = np.isfinite(self.intervals).all(axis=1)
        label = "intervals" if self.level is None else f"intervals, level {self.level:g}"
        if not finite.all():
            label += f" ({np.sum(~finite)} infinite)"
        style = {"color": "tab:blue", "alpha": 0.4, "label": label, **kwargs}
        self.intervals_ = ax.vlines(self.x[finite], low[finite], high[finite], **style)
        self.inside_ = self.outside_ = None
        if self.y is not None:
            within = (low <= self.y) & (self.y <= high)
            self.inside_ = ax.scatter(
                self.x[within], self.y[within], s=10, color="0.2", label=f"{within.sum()} inside"
            )
            self.outside_ = ax.scatter(
                self.x[~within], self.y[~within], s=22, marker="x", color=ERROR_COLOUR,
                label=f"{np.sum(~within)} outside",
            )  # fmt: skip
        ax.set(ylabel="target")
        ax.legend()
        return self


_NAMED = ConformalDisplay()  # named in messages about levels


def _column(X: Any, feature: Any) -> NDArray[np.float64]:
    """Return one column of the queries."""
    table = X.tocsc() if hasattr(X, "tocsc") else np.asarray(X)
    n = table.shape[1] if table.ndim == 2 else 0
    whole = isinstance(feature, int | np.integer) and not isinstance(feature, bool)
    if not (whole and 0 <= feature < n):
        raise InvalidInputError(
            f"The 'feature' given to ConformalDisplay must be the number of a column of X, from 0 "
            f"to {n - 1}. Got {show(feature)} instead. None draws over the index."
        )
    column = table[:, feature]
    dense = column.toarray() if hasattr(column, "toarray") else column
    return np.asarray(dense, dtype=np.float64).ravel()
