"""Pictures of streams that change: errors, windows, and the search for these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.diagnostics.displays._base import ERROR_COLOUR, QUIET, Display, numbers
from supple.errors import InvalidInputError
from supple.estimators._params import show
from supple.memory import AdaptiveWindow, WindowChoice

__all__ = ["CourseDisplay", "WindowDisplay", "WindowSearchDisplay"]


class CourseDisplay(Display):
    """Several quantities over time, with the known changes of a stream.

    For the error per batch of several learners, or the bound, the exact leave-one-out error and
    the realised error of one. Call `plot` to draw it.

    Parameters
    ----------
    curves : mapping of str to array-like
        Values over time by name; NaN where there is none.
    x : array-like, default=None
        When the values are of, common to all curves. None: 1, 2, ...
    change_points : iterable of float, default=()
        When the stream changes, drawn as lines.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    lines_ : dict of str to matplotlib Line2D
        The curves.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from supple.diagnostics import CourseDisplay
    >>> curves = {"full memory": [0.1, 0.4, 0.3], "window": [0.1, 0.4, 0.1]}
    >>> display = CourseDisplay(curves, change_points=[1.5]).plot(Figure().subplots())
    >>> list(display.lines_)
    ['full memory', 'window']
    """

    def __init__(
        self,
        curves: Mapping[str, ArrayLike],
        *,
        x: ArrayLike | None = None,
        change_points: Iterable[float] = (),
    ) -> None:
        if not isinstance(curves, Mapping) or not curves:
            raise InvalidInputError(
                f"The 'curves' given to {type(self).__name__} must be a mapping of names to "
                f"values. Got {show(curves)} instead."
            )
        length = len(numbers(type(self), "curves", next(iter(curves.values()))))
        self.curves = {
            name: numbers(type(self), "curves", values, length) for name, values in curves.items()
        }
        self.x = np.arange(1.0, length + 1) if x is None else numbers(type(self), "x", x, length)
        self.change_points = tuple(change_points)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            For all curves, as in ``Axes.plot``.

        Returns
        -------
        self : object
        """
        ax = self._start(ax)
        self.lines_ = {
            name: ax.plot(self.x, values, **{"label": name, **kwargs})[0]
            for name, values in self.curves.items()
        }
        for position in self.change_points:
            ax.axvline(position, **QUIET)
        ax.set(xlabel="batch", ylabel="error")
        ax.legend()
        return self


class WindowDisplay(Display):
    """The window chosen after each batch, as a range of batches.

    Made by `from_estimator`; figure 2 of Klinkenberg & Joachims (2000).

    Parameters
    ----------
    starts : array-like of shape (n_batches,)
        The first batch of the window after each batch, from 1 on; means over several streams need
        not be whole.
    ends : array-like of shape (n_batches,), default=None
        The latest batch. None: 1, 2, ...
    change_points : iterable of float, default=()
        Batches with which the stream changes, drawn as lines.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    ranges_ : matplotlib LineCollection
        The windows.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from supple.diagnostics import WindowDisplay
    >>> display = WindowDisplay([1, 1, 1, 4, 4], change_points=[4]).plot(Figure().subplots())
    >>> len(display.ranges_.get_segments())
    5
    """

    def __init__(
        self,
        starts: ArrayLike,
        *,
        ends: ArrayLike | None = None,
        change_points: Iterable[float] = (),
    ) -> None:
        self.starts: NDArray[np.float64] = numbers(type(self), "starts", starts)
        n = len(self.starts)
        self.ends: NDArray[np.float64] = (
            np.arange(1.0, n + 1) if ends is None else numbers(type(self), "ends", ends, n)
        )
        self.change_points = tuple(change_points)

    @classmethod
    def from_estimator(
        cls, model: Any, *, change_points: Iterable[float] = (), ax: Any = None, **kwargs: Any
    ) -> Self:
        """Draw the windows that a model has chosen.

        Parameters
        ----------
        model : WindowedSVC, or another estimator with ``memory=AdaptiveWindow()``
            Fitted; it is not changed.
        change_points : iterable of float, default=()
            Batches with which the stream changes, drawn as lines.
        ax, **kwargs
            As in `plot`.

        Returns
        -------
        display : WindowDisplay
        """
        history = _history(cls, model)
        ends = np.arange(1.0, len(history) + 1)
        starts = ends - [choice.n_batches for choice in history] + 1
        return cls(starts, change_points=change_points).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the ranges.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            For the ranges, as in ``Axes.hlines``.

        Returns
        -------
        self : object
        """
        ax = self._start(ax)
        self.ranges_ = ax.hlines(
            self.ends, self.starts - 0.5, self.ends + 0.5, **{"linewidth": 3.0, **kwargs}
        )
        for position in self.change_points:
            ax.axvline(position - 0.5, **QUIET)
        ax.set(xlabel="batches in the window", ylabel="after batch")
        _whole_numbers(ax)
        return self


class WindowSearchDisplay(Display):
    """The estimate of every window after every batch, as a surface.

    Made by `from_estimator`; figure 3 of Klinkenberg & Joachims (2000).

    Parameters
    ----------
    estimates : sequence of sequences of float
        For each batch the estimates of the windows of 1, 2, ... batches.

    Attributes
    ----------
    surface : ndarray of shape (n_batches, n_batches)
        The estimate of the window that begins with batch i, after batch j; NaN if i > j.
    chosen : ndarray of shape (n_batches,)
        The first batch of the best window after each batch, from 1 on.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    mesh_ : matplotlib QuadMesh
        The surface.
    line_ : matplotlib Line2D
        The windows chosen.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from supple.diagnostics import WindowSearchDisplay
    >>> display = WindowSearchDisplay([[0.3], [0.3, 0.2], [0.3, 0.5, 0.5]])
    >>> display.plot(Figure().subplots()).chosen
    array([1., 1., 3.])
    """

    def __init__(self, estimates: Sequence[Sequence[float]]) -> None:
        n = len(estimates)
        if not n or any(not 1 <= len(row) <= number for number, row in enumerate(estimates, 1)):
            raise InvalidInputError(
                f"The 'estimates' given to {type(self).__name__} must have a row for each batch: "
                f"1 to k estimates after batch k. Got {show(estimates)} instead."
            )
        self.surface = np.full((n, n), np.nan)
        self.chosen = np.full(n, np.nan)
        for after, row in enumerate(estimates):
            self.surface[after - np.arange(len(row)), after] = row
            if not np.isnan(row).all():
                (best,) = np.nonzero(np.asarray(row) == np.nanmin(row))
                self.chosen[after] = after - best[-1] + 1  # the longest of equal ones

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the estimates of all windows that a model has tried.

        Parameters
        ----------
        model : WindowedSVC, or another estimator with ``memory=AdaptiveWindow()``
            Fitted; it is not changed. With `n_estimated` windows that are too short have no
            estimate, and the surface no value there.
        ax, **kwargs
            As in `plot`.

        Returns
        -------
        display : WindowSearchDisplay
        """
        rows = []
        for choice in _history(cls, model):
            row = [np.nan] * max(candidate.n_batches for candidate in choice.search)
            for candidate in choice.search:
                row[candidate.n_batches - 1] = candidate.estimate
            rows.append(row)
        return cls(rows).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the surface.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **kwargs : dict
            For the surface, as in ``Axes.pcolormesh``.

        Returns
        -------
        self : object
        """
        ax = self._start(ax)
        edges = np.arange(len(self.surface) + 1) + 0.5
        self.mesh_ = ax.pcolormesh(edges, edges, self.surface, **kwargs)
        ax.figure.colorbar(self.mesh_, ax=ax, label="estimated error")
        (self.line_,) = ax.plot(
            np.arange(1, len(self.chosen) + 1), self.chosen, color=ERROR_COLOUR, marker=".",
            linestyle="--", label="window chosen",
        )  # fmt: skip
        ax.set(xlabel="after batch", ylabel="window begins with batch")
        _whole_numbers(ax)
        ax.legend()
        return self


def _whole_numbers(ax: Any) -> None:
    """Let the ticks of both axes be batches."""
    for axis in (ax.xaxis, ax.yaxis):
        axis.get_major_locator().set_params(integer=True)


def _history(owner: type[Display], model: Any) -> tuple[WindowChoice, ...]:
    memory = getattr(model, "memory_", None)
    if not isinstance(memory, AdaptiveWindow) or not memory.window_history_:
        raise InvalidInputError(
            f"The 'model' given to {owner.__name__} must have learned batches with a window that "
            f"it chooses, as WindowedSVC() or SVC(memory=AdaptiveWindow()) do. Got {show(model)} "
            "instead."
        )
    return memory.window_history_
