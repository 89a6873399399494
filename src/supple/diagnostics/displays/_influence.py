"""The influence of examples as a picture."""

from __future__ import annotations

from importlib import import_module
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.diagnostics.displays._base import ERROR_COLOUR, Display, check_record, numbers
from supple.errors import InvalidInputError, UnknownIdError
from supple.estimators._ids import IdsLike, check_ids
from supple.estimators._params import show

__all__ = ["InfluenceDisplay"]


class InfluenceDisplay(Display):
    """Effects of the most harmful examples as bars, the worst at the top.

    The effect of an example is the loss without it minus the loss with it: negative if the model
    is better without it.

    Made by `from_estimator` or `from_influence`; the parameters are kept as attributes.

    Parameters
    ----------
    ids : array-like of shape (n,)
        Ids of the examples.
    effect : array-like of shape (n,)
        The effect of each.
    highlight : int, str or other hashable, or iterable of these, default=None
        Ids whose bars have another colour, say of examples whose labels are in doubt.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    bars_ : matplotlib BarContainer
        The bars, the most negative effect first.
    drawn_ids_ : ndarray
        Their ids.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from matplotlib.figure import Figure
    >>> from supple.diagnostics import InfluenceDisplay
    >>> record = SimpleNamespace(ids=[7, 8, 9], effect=[0.1, -0.5, 0.2])
    >>> ax = Figure().subplots()  # or None for a figure of pyplot
    >>> display = InfluenceDisplay.from_influence(record, n_worst=2, highlight=[8], ax=ax)
    >>> display.drawn_ids_
    array([8, 7])
    """

    def __init__(self, ids: ArrayLike, effect: ArrayLike, *, highlight: Any = None) -> None:
        own = type(self)
        self.effect: NDArray[np.float64] = numbers(own, "effect", effect)
        self.ids = np.asarray(ids)
        if self.ids.shape != self.effect.shape:
            raise InvalidInputError(
                f"The 'ids' given to {own.__name__} must name the {len(self.effect)} examples of "
                f"'effect', each once. Got shape {self.ids.shape} instead."
            )
        marked = [] if highlight is None else check_ids(highlight).tolist()
        held = set(self.ids.tolist())
        unknown = [each for each in marked if each not in held]
        if unknown:
            raise UnknownIdError(
                f"Unknown ids in 'highlight' of {own.__name__}: {show(unknown)}. Give some of "
                "those whose effect is known."
            )
        self.highlight = frozenset(marked)

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X_test: Any,
        y_test: Any,
        ids: IdsLike | None = None,
        *,
        n_worst: int = 20,
        highlight: IdsLike | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Compute the influence of examples on a model, and draw the worst.

        Parameters
        ----------
        model : SVC or another estimator with exact updates
            Fitted and exact; it is not changed.
        X_test, y_test : array-like
            The examples on which the effect is measured.
        ids : int, str or other hashable, or iterable of these, default=None
            The examples whose effect is measured. None: all that the model holds.
        n_worst : int, default=20
            How many to draw.
        highlight : int, str or other hashable, or iterable of these, default=None
            Ids whose bars have another colour.
        ax, **kwargs
            As in `plot`.

        Returns
        -------
        display : InfluenceDisplay
        """
        # Imported here: supple.diagnostics imports this module.
        diagnostics: Any = import_module("supple.diagnostics")
        record = diagnostics.influence(model, X_test=X_test, y_test=y_test, ids=ids)
        return cls.from_influence(record, n_worst=n_worst, highlight=highlight, ax=ax, **kwargs)

    @classmethod
    def from_influence(
        cls,
        record: Any,
        *,
        n_worst: int = 20,
        highlight: IdsLike | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw known effects.

        Parameters
        ----------
        record : object
            With fields `ids` and `effect`, as ``influence`` returns it.
        n_worst, highlight, ax, **kwargs
            As in `from_estimator`.

        Returns
        -------
        display : InfluenceDisplay
        """
        check_record(cls, "record", record, ("ids", "effect"))
        display = cls(record.ids, record.effect, highlight=highlight)
        return display.plot(ax, n_worst=n_worst, **kwargs)

    def plot(self, ax: Any = None, *, n_worst: int = 20, **kwargs: Any) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        n_worst : int, default=20
            How many to draw, those with the most negative effect; all if there are fewer.
        **kwargs : dict
            For the bars, as in ``Axes.barh``.

        Returns
        -------
        self : object
        """
        if not isinstance(n_worst, Integral) or isinstance(n_worst, bool) or n_worst < 1:
            raise InvalidInputError(
                f"The 'n_worst' parameter of {type(self).__name__} must be an int >= 1. Got "
                f"{show(n_worst)} instead."
            )
        ax = self._start(ax)
        worst = np.argsort(self.effect, kind="stable")[: int(n_worst)]
        self.drawn_ids_ = self.ids[worst]
        marked = [each in self.highlight for each in self.drawn_ids_.tolist()]
        style = {"color": [ERROR_COLOUR if m else "tab:blue" for m in marked], **kwargs}
        place = np.arange(len(worst))
        self.bars_ = ax.barh(place, self.effect[worst], **style)
        ax.axvline(0.0, color="0.3", linewidth=0.8)
        ax.set_yticks(place, [str(each) for each in self.drawn_ids_.tolist()])
        ax.set(xlabel="loss without the example minus loss with it", ylabel="id of the example")
        if not ax.yaxis_inverted():
            ax.invert_yaxis()
        return self
