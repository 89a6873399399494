"""The base of all displays: axes, and checks of parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.errors import InvalidInputError
from supple.estimators._params import show

ERROR_COLOUR = "tab:red"
QUIET = {"color": "0.5", "linestyle": "--", "linewidth": 1.0}  # lines to compare with


class Display:
    """Base of the displays; holds the axes.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn last.
    figure_ : matplotlib Figure
        The figure of these axes.
    """

    ax_: Any
    figure_: Any

    def _start(self, ax: Any) -> Any:
        """Return the axes to draw on, new ones if `ax` is None."""
        if ax is None:
            try:
                import matplotlib.pyplot as plt
            except ImportError as error:
                raise ImportError(
                    f"{type(self).__name__} needs matplotlib, which is not installed. Install it "
                    "(pip install matplotlib); the attributes of the display hold its numbers."
                ) from error
            ax = plt.subplots(layout="constrained")[1]
        self.ax_, self.figure_ = ax, ax.figure
        return ax


def numbers(owner: type[Display], name: str, values: Any, length: int | None = None) -> Any:
    """Return a parameter as a row of numbers, of the given length if there is one."""
    wanted = "a row of numbers" if length is None else f"{length} numbers, one for each example"
    try:
        row: NDArray[np.float64] = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        row = np.empty((0, 0))
    if row.ndim == 1 and len(row) and length in (None, len(row)):
        return row
    raise InvalidInputError(
        f"The '{name}' given to {owner.__name__} must be {wanted}. Got {show(values)} instead."
    )


def check_record(owner: type[Display], name: str, record: Any, fields: tuple[str, ...]) -> None:
    """Raise unless a record has the fields that are drawn."""
    missing = [field for field in fields if not hasattr(record, field)]
    if missing:
        raise InvalidInputError(
            f"The '{name}' given to {owner.__name__} must have the field{'s' * (len(fields) > 1)} "
            f"{', '.join(fields)}. Got {show(record)} instead, without {', '.join(missing)}."
        )


def check_choice(owner: type[Display], name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Raise unless a parameter is one of the choices."""
    if not (isinstance(value, str) and value in choices):
        raise InvalidInputError(
            f"The '{name}' parameter of {owner.__name__} must be "
            f"{' or '.join(map(repr, choices))}. Got {show(value)} instead."
        )
