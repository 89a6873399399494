"""Leave-one-out decisions and residuals as a picture."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.diagnostics._checks import check_kind, examine
from supple.diagnostics._leave_one_out import LeaveOneOut, leave_one_out
from supple.diagnostics.displays._base import (
    ERROR_COLOUR,
    QUIET,
    Display,
    check_choice,
    check_record,
    numbers,
)
from supple.errors import InvalidInputError
from supple.estimators._classifier import BaseClassifier
from supple.estimators._ids import IdsLike
from supple.estimators._params import show
from supple.locks import guards

__all__ = ["LeaveOneOutDisplay"]

_FIELDS = ("decision", "prediction", "correct", "residual")


class LeaveOneOutDisplay(Display):
    """Leave-one-out decision values, or predictions and targets.

    Made by `from_estimator` or `from_result`. Two classes and outlier detectors: decision values,
    as a histogram or sorted, with the errors marked. Regression: predictions against targets, or
    the residuals. For more classes draw a confusion matrix of the leave-one-out predictions by
    scikit-learn's ``ConfusionMatrixDisplay.from_predictions``.

    Parameters
    ----------
    result : LeaveOneOut
        What :func:`leave_one_out` returned.
    y : array-like of shape (n,), default=None
        Labels of the examples, drawn in different colours. For classifiers only.

    Attributes
    ----------
    result, y : object
        As given.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    groups_ : list of artists
        One for each class, or a single one: bars of a histogram, or points.
    errors_ : matplotlib PathCollection or None
        The wrong ones; None for regression.
    line_ : matplotlib Line2D
        Where the decision changes, where the residual is 0, or where the prediction is the target.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from supple import SVC
    >>> from supple.datasets import load
    >>> from supple.diagnostics import LeaveOneOutDisplay
    >>> data = load("ionosphere")
    >>> model = SVC(C=1.0, gamma=0.05).fit(data.X, data.y)
    >>> ax = Figure().subplots()  # or None for a figure of pyplot
    >>> display = LeaveOneOutDisplay.from_estimator(model, kind="sorted", ax=ax)
    >>> len(display.errors_.get_offsets()) == round(display.result.error * 351)
    True
    """

    def __init__(self, result: LeaveOneOut, *, y: ArrayLike | None = None) -> None:
        own = type(self)
        check_record(own, "result", result, _FIELDS)
        if result.decision.ndim != 1:
            raise InvalidInputError(
                f"The 'result' given to {own.__name__} must have one decision value for each "
                f"example. Got those of {result.decision.shape[1]} machines instead. Draw several "
                "classes by ConfusionMatrixDisplay.from_predictions(y, result.prediction) of "
                "scikit-learn."
            )
        labels = None if y is None else np.asarray(y)
        if labels is not None and (result.correct is None or labels.shape != result.decision.shape):
            raise InvalidInputError(
                f"The 'y' given to {own.__name__} must be the labels of the {len(result.decision)} "
                f"examples of a classifier. Got {show(y)} instead. None tells no classes apart."
            )
        self.result = result
        self.y: NDArray[Any] | None = labels

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        ids: IdsLike | None = None,
        *,
        kind: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Compute leave-one-out predictions, and draw them.

        Parameters
        ----------
        model : SVC, SVR, OneClassSVM or another estimator with exact updates
            Fitted and exact; it is not changed.
        ids : int, str or other hashable, or iterable of these, default=None
            The examples to leave out. None: all that the model holds.
        kind, ax, **kwargs
            As in `plot`.

        Returns
        -------
        display : LeaveOneOutDisplay
        """
        check_kind(model, cls.__name__)
        with guards(model).writing:
            result = leave_one_out(model, ids)
            y = _labels(model, result.ids, cls.__name__)
        return cls.from_result(result, y=y, kind=kind, ax=ax, **kwargs)

    @classmethod
    def from_result(
        cls,
        result: LeaveOneOut,
        *,
        y: ArrayLike | None = None,
        kind: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw a known result.

        Parameters
        ----------
        result : LeaveOneOut
            What :func:`leave_one_out` returned.
        y : array-like of shape (n,), default=None
            Labels of the examples ``result.ids``, for classifiers.
        kind, ax, **kwargs
            As in `plot`.

        Returns
        -------
        display : LeaveOneOutDisplay
        """
        return cls(result, y=y).plot(ax, kind=kind, **kwargs)

    def plot(self, ax: Any = None, *, kind: str | None = None, **kwargs: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        kind : {"histogram", "sorted", "prediction"}, default=None
            Decision values or residuals as a histogram, or in their order; for regression also
            predictions against targets. None: "prediction" for regression, else "histogram".
        **kwargs : dict
            For the bars or points, as in ``Axes.hist`` or ``Axes.scatter``.

        Returns
        -------
        self : object
        """
        residual = self.result.residual
        choices = ("histogram", "sorted") + (() if residual is None else ("prediction",))
        kind = choices[-1 if residual is not None else 0] if kind is None else kind
        check_choice(type(self), "kind", kind, choices)
        ax = self._start(ax)
        self.errors_ = None
        if kind == "prediction":
            self._draw_predictions(ax, kwargs)
        elif kind == "histogram":
            self._draw_histogram(ax, kwargs)
        else:
            self._draw_sorted(ax, kwargs)
        if self.errors_ is not None or self.y is not None:
            ax.legend()
        return self

    def _values(self) -> tuple[NDArray[np.float64], str]:
        """Return the values of a histogram, and their name."""
        if self.result.residual is not None:
            return self.result.residual, "leave-one-out residual"
        return self.result.decision, "leave-one-out decision value"

    def _parts(self) -> list[tuple[NDArray[np.bool_], str | None]]:
        """Return the groups of examples, and their names."""
        if self.y is None:
            return [(np.ones(len(self.result.decision), dtype=bool), None)]
        return [(self.y == label, f"class {label}") for label in np.unique(self.y)]

    def _draw_predictions(self, ax: Any, style: dict[str, Any]) -> None:
        prediction = numbers(type(self), "result", self.result.prediction)
        target = prediction + self.result.residual
        self.groups_ = [ax.scatter(target, prediction, **{"s": 12, "alpha": 0.7, **style})]
        ends = [min(target.min(), prediction.min()), max(target.max(), prediction.max())]
        self.line_ = ax.plot(ends, ends, **QUIET)[0]
        ax.set(xlabel="target", ylabel="leave-one-out prediction")

    def _draw_histogram(self, ax: Any, style: dict[str, Any]) -> None:
        values, name = self._values()
        edges = np.histogram_bin_edges(values[np.isfinite(values)], bins=style.pop("bins", 40))
        self.groups_ = []
        for which, label in self._parts():
            bars = {"alpha": 0.6, "label": label, **style}
            self.groups_.append(ax.hist(values[which & np.isfinite(values)], edges, **bars)[2])
        self.line_ = ax.axvline(0.0, **QUIET)
        ax.set(xlabel=name, ylabel="examples")
        self._mark_errors(ax, values, np.zeros(len(values)))

    def _draw_sorted(self, ax: Any, style: dict[str, Any]) -> None:
        values, name = self._values()
        rank = np.argsort(np.argsort(values, kind="stable"), kind="stable")
        self.groups_ = [
            ax.scatter(
                rank[which], values[which], **{"s": 8, "alpha": 0.7, "label": label, **style}
            )
            for which, label in self._parts()
        ]
        self.line_ = ax.axhline(0.0, **QUIET)
        ax.set(xlabel="example, by its value", ylabel=name)
        self._mark_errors(ax, rank, values)

    def _mark_errors(self, ax: Any, x: NDArray[Any], y: NDArray[Any]) -> None:
        """Mark errors; the only example of a class is an error without a decision value."""
        correct = self.result.correct
        if correct is None:
            return
        wrong = ~correct
        absent = int(np.sum(~np.isfinite(self.result.decision)))
        label = f"{wrong.sum()} errors" + (f", {absent} without a value" if absent else "")
        self.errors_ = ax.scatter(
            x[wrong], y[wrong], s=22, marker="x", linewidth=0.9, color=ERROR_COLOUR, label=label,
            zorder=3,
        )  # fmt: skip


def _labels(model: Any, ids: NDArray[Any], action: str) -> NDArray[Any] | None:
    """Return the labels of examples of a classifier; the caller holds its guard."""
    if not isinstance(model, BaseClassifier):
        return None
    fitted, slots = examine(model, ids, action)
    assert fitted.labels is not None
    return fitted.labels.array(fitted.state.y[slots].astype(np.intp).tolist())
