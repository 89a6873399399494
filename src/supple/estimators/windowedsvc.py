"""Support vector classification of a stream whose concept drifts."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from supple.estimators._docs import completed_by
from supple.estimators._params import KERNEL_OF_POINTS
from supple.estimators.svc import SVC
from supple.locks import reads
from supple.memory import AdaptiveWindow, KeepAll, Memory, Window, WindowCandidate, WindowChoice


@completed_by(SVC)
class WindowedSVC(SVC):
    """Classify by the maximum margin on a window of the latest batches.

    A batch is what one call of `partial_fit` learns. ``window="adaptive"`` chooses the length of
    the window after each batch, by the method of Klinkenberg & Joachims (2000): the exact machine
    grows from the latest batch to older ones, its error on the latest batch is estimated at each
    length, and the window with the least estimate is taken, of equal ones the longest. The other
    windows are the ones that they compare with. This is :class:`SVC` with a memory of
    :mod:`supple.memory`: :class:`~supple.memory.AdaptiveWindow`, :class:`~supple.memory.Window` or
    :class:`~supple.memory.KeepAll`.

    Parameters
    ----------
    window : {"adaptive", "full", "last"}, int, float or timedelta, default="adaptive"
        Chosen after each batch; all batches; the latest batch only; or a fixed number of `unit`.
    unit : {"batches", "examples", "time"}, default="batches"
        What a number for `window` counts. For "time" `fit` and `partial_fit` take `timestamps`.
    estimate : {"xi_alpha", "leave_one_out"}, default="xi_alpha"
        How ``window="adaptive"`` estimates the error: by the bound of Joachims, or by leaving each
        of the latest examples out exactly.
    n_estimated : int, default=None
        Number of latest examples on which it does so. None: those of the latest batch.
    longest : int, default=50
        Most batches that ``window="adaptive"`` holds, in the window or before it with weight 0.
        None: all.
    kernel : str or callable, default="rbf"
        As in :class:`SVC`, except "precomputed", which takes no updates.

    Attributes
    ----------
    window_start_ : int
        Arrival of the first example in the window: number of examples before it.
    window_search_ : tuple of WindowCandidate
        ``window="adaptive"``: the windows tried after the latest batch (start, n_batches,
        estimate), the shortest first.
    window_history_ : tuple of WindowChoice
        ``window="adaptive"``: the choice after each of the latest 200 batches (n_seen, start,
        n_batches, estimate, search).
    memory_ : AdaptiveWindow, Window or KeepAll
        The memory in use.

    References
    ----------
    R. Klinkenberg, T. Joachims: Detecting concept drift with support vector machines. ICML 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from supple import WindowedSVC
    >>> X = np.random.default_rng(0).normal(size=(160, 2))
    >>> y = X[:, 0] > 0
    >>> y[80:] = X[80:, 0] < 0  # the world turns round
    >>> model = WindowedSVC(kernel="linear")
    >>> for start in range(0, 160, 20):
    ...     _ = model.partial_fit(X[start : start + 20], y[start : start + 20])
    >>> model.window_start_, model.predict([[2.0, 0.0]])
    (80, array([False]))
    """

    _parameter_constraints: dict[str, Any] = {
        **SVC._parameter_constraints,
        "kernel": KERNEL_OF_POINTS,
        "window": [
            StrOptions({"adaptive", "full", "last"}),
            np.timedelta64,  # before the numbers: NumPy counts it among the integers
            timedelta,
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0.0, None, closed="neither"),
        ],
        "unit": [StrOptions({"batches", "examples", "time"})],
        "estimate": [StrOptions({"xi_alpha", "leave_one_out"})],
        "n_estimated": [Interval(Integral, 1, None, closed="left"), None],
        "longest": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        *,
        window: Any = "adaptive",
        unit: str = "batches",
        estimate: str = "xi_alpha",
        n_estimated: int | None = None,
        longest: int | None = 50,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: bool | int = False,
        max_iter: int = -1,
        n_jobs: int | None = None,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        multi_class: str = "ovo",
    ) -> None:
        super().__init__(
            C=C,
            kernel=kernel,
            degree=degree,
            gamma=gamma,
            coef0=coef0,
            shrinking=shrinking,
            tol=tol,
            cache_size=cache_size,
            class_weight=class_weight,
            verbose=verbose,
            max_iter=max_iter,
            n_jobs=n_jobs,
            decision_function_shape=decision_function_shape,
            break_ties=break_ties,
            multi_class=multi_class,
        )
        self.window = window
        self.unit = unit
        self.estimate = estimate
        self.n_estimated = n_estimated
        self.longest = longest

    def _memory(self, params: Mapping[str, Any]) -> Memory:
        window = params["window"]
        if window == "adaptive":
            return AdaptiveWindow(
                params["estimate"], n_estimated=params["n_estimated"], longest=params["longest"]
            )
        if window == "full":
            return KeepAll()
        return Window(1, "batches") if window == "last" else Window(window, params["unit"])

    @property
    @reads
    def window_start_(self) -> int:
        """Arrival of the first example in the window."""
        state = self._held().state
        inside = state.store.arrival[state.weight > 0.0]
        return int(inside.min(initial=state.seen))

    @property
    @reads
    def window_search_(self) -> tuple[WindowCandidate, ...]:
        """The windows tried after the latest batch."""
        return self._adaptive().window_search_

    @property
    @reads
    def window_history_(self) -> tuple[WindowChoice, ...]:
        """The window chosen after each batch."""
        return self._adaptive().window_history_

    def _adaptive(self) -> AdaptiveWindow:
        memory = self._held().engine.memory
        if not isinstance(memory, AdaptiveWindow):
            raise AttributeError(
                f"A {type(self).__name__} with window={self.window!r} does not search for windows; "
                "one with window='adaptive' does."
            )
        return memory
