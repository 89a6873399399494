"""Estimates of the error over a range of C, drawn from one model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.diagnostics._checks import check_kind
from supple.diagnostics._leave_one_out import LeaveOneOut, leave_one_out
from supple.diagnostics._xi_alpha import XiAlpha, xi_alpha
from supple.diagnostics.displays._base import Display, check_record, numbers
from supple.errors import InvalidInputError

__all__ = ["XiAlphaDisplay"]

_DECADES, _POINTS = 2, 13  # of C, on both sides of the model's, if none are given


class XiAlphaDisplay(Display):
    """The xi-alpha estimate beside the exact leave-one-out error, over C.

    Made by `from_estimator` or `from_estimates`; the parameters are kept as attributes.

    Parameters
    ----------
    C : array-like of shape (n_values,)
        The values of C.
    xi_alpha, leave_one_out : array-like of shape (n_values,)
        The two estimates of the error.
    test_error : array-like of shape (n_values,), default=None
        Error on other examples.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    xi_alpha_line_, leave_one_out_line_ : matplotlib Line2D
        The curves.
    test_line_ : matplotlib Line2D or None
        That of the test error.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from supple import SVC
    >>> from supple.datasets import load
    >>> from supple.diagnostics import XiAlphaDisplay
    >>> data = load("ionosphere")
    >>> model = SVC(C=1.0, gamma=0.05).fit(data.X, data.y)
    >>> ax = Figure().subplots()  # or None for a figure of pyplot
    >>> display = XiAlphaDisplay.from_estimator(model, [0.1, 1.0, 10.0], rho=2.0, ax=ax)
    >>> bool((display.xi_alpha >= display.leave_one_out).all()), model.C
    (True, 1.0)
    """

    def __init__(
        self,
        *,
        C: ArrayLike,
        xi_alpha: ArrayLike,
        leave_one_out: ArrayLike,
        test_error: ArrayLike | None = None,
    ) -> None:
        own = type(self)
        self.C: NDArray[np.float64] = numbers(own, "C", C)
        n = len(self.C)
        self.xi_alpha = numbers(own, "xi_alpha", xi_alpha, n)
        self.leave_one_out = numbers(own, "leave_one_out", leave_one_out, n)
        self.test_error = None if test_error is None else numbers(own, "test_error", test_error, n)

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        C: ArrayLike | None = None,
        *,
        X_test: Any = None,
        y_test: Any = None,
        rho: float = 1.0,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Estimate the error of a model at several values of C, and draw.

        The model follows its regularisation path and is then restored to the last bit.

        Parameters
        ----------
        model : SVC, SimpleSVC, BudgetSVC or SVIncrementalSVC
            Fitted and exact.
        C : array-like of float, default=None
            The values of C. None: from a hundredth to a hundred times that of the model.
        X_test, y_test : array-like, default=None
            Other examples, to draw the test error as well.
        rho : float, default=1.0
            As in :func:`xi_alpha`.
        ax, **kwargs
            As in `plot`.

        Returns
        -------
        display : XiAlphaDisplay
        """
        check_kind(model, cls.__name__)
        if (X_test is None) != (y_test is None):
            given, other = ("X_test", "y_test") if y_test is None else ("y_test", "X_test")
            raise InvalidInputError(
                f"The '{other}' given to {cls.__name__} must not be None where '{given}' is given. "
                "Give both, or none."
            )
        if C is None:
            xi_alpha(model)  # raises for models without C
            C = model.C * np.logspace(-_DECADES, _DECADES, _POINTS)
        values = numbers(cls, "C", C)
        bounds, exact, missed = [], [], []
        with model.what_if() as trial:
            for value in values.tolist():
                trial.retune(C=value)
                bounds.append(xi_alpha(trial, rho=rho))
                exact.append(leave_one_out(trial))
                if X_test is not None:
                    missed.append(1.0 - trial.score(X_test, y_test))
        return cls.from_estimates(values, bounds, exact, test_error=missed or None, ax=ax, **kwargs)

    @classmethod
    def from_estimates(
        cls,
        C: ArrayLike,
        xi_alphas: Sequence[XiAlpha],
        leave_one_outs: Sequence[LeaveOneOut],
        *,
        test_error: ArrayLike | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw known estimates.

        Parameters
        ----------
        C : array-like of float
            The values of C.
        xi_alphas : sequence of XiAlpha
            What :func:`xi_alpha` returned at each.
        leave_one_outs : sequence of LeaveOneOut
            What :func:`leave_one_out` returned at each.
        test_error : array-like of float, default=None
            Error on other examples at each.
        ax, **kwargs
            As in `plot`.

        Returns
        -------
        display : XiAlphaDisplay
        """
        for name, records in (("xi_alphas", xi_alphas), ("leave_one_outs", leave_one_outs)):
            for record in records:
                check_record(cls, name, record, ("error",))
        display = cls(
            C=C,
            xi_alpha=[record.error for record in xi_alphas],
            leave_one_out=[record.error for record in leave_one_outs],
            test_error=test_error,
        )
        return display.plot(ax, **kwargs)

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
        order = np.argsort(self.C)

        def curve(values: NDArray[np.float64], label: str) -> Any:
            style = {"marker": "o", "markersize": 4, "label": label, **kwargs}
            return ax.plot(self.C[order], values[order], **style)[0]

        self.xi_alpha_line_ = curve(self.xi_alpha, "xi-alpha estimate")
        self.leave_one_out_line_ = curve(self.leave_one_out, "leave-one-out, exact")
        self.test_line_ = None if self.test_error is None else curve(self.test_error, "test")
        ax.set(xscale="log", xlabel="C", ylabel="error", ylim=(0.0, None))
        ax.legend()
        return self
