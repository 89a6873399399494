"""A window that chooses its size by an estimate of the error."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from typing import NamedTuple

import numpy as np

from supple.memory._base import Change, Held, Memory
from supple.memory._clock import Clock, refuse_times

__all__ = ["AdaptiveWindow", "WindowCandidate", "WindowChoice"]

_KEPT_CHOICES = 200


class WindowCandidate(NamedTuple):
    """A window that was tried, and the estimated error of its model."""

    start: int  # arrival of its first example: number of examples before it
    n_batches: int
    estimate: float  # NaN without a machine, say for one class


class WindowChoice(NamedTuple):
    """The window chosen after a batch."""

    n_seen: int  # examples so far
    start: int
    n_batches: int
    estimate: float
    search: tuple[WindowCandidate, ...]  # the windows tried, the shortest first


class AdaptiveWindow(Memory):
    """Keep the batches on which the estimated error of the model is least.

    After each batch, one exact machine grows over the windows of the latest 1, 2, ... batches, and
    the error of each on the latest examples is estimated from its solution (Klinkenberg & Joachims
    2000)::

        start = argmin_s  error of the machine on { i : arrival_i >= s },    s a start of a batch,

    of equal ones the longest window. The model is then the exact optimum on the chosen window.
    Older examples are held with weight 0, so that the window can grow again after a brief change;
    `forget` removes them for good.

    Parameters
    ----------
    estimate : {"xi_alpha", "leave_one_out"}, default="xi_alpha"
        How the error is estimated: by the bound of Joachims (classifiers with the hinge loss), or
        by leaving out each of the latest examples exactly (classifiers and regression).
    n_estimated : int, default=None
        Number of latest examples on which the error is estimated. None: those of the latest batch.
        The smallest window covers them.
    longest : int, default=50
        Most batches held, in the window or before it. None: all, so that memory and time per batch
        grow with the stream.
    rho : float, default=1.0
        Factor of the bound, see :func:`supple.diagnostics.xi_alpha`.

    Attributes
    ----------
    window_start_ : int
        Arrival of the first example in the window: number of examples before it.
    n_batches_ : int
        Batches in the window.
    window_search_ : tuple of WindowCandidate
        The windows tried after the latest batch, the shortest first.
    window_history_ : tuple of WindowChoice
        The choice after each of the latest 200 batches, with all windows tried.

    Examples
    --------
    >>> import numpy as np
    >>> from supple import SVC
    >>> from supple.memory import AdaptiveWindow
    >>> X = np.random.default_rng(0).normal(size=(160, 2))
    >>> y = X[:, 0] > 0
    >>> y[80:] = X[80:, 0] < 0  # the world turns round
    >>> model = SVC(kernel="linear", memory=AdaptiveWindow())
    >>> for start in range(0, 160, 20):
    ...     _ = model.partial_fit(X[start : start + 20], y[start : start + 20])
    >>> model.memory_.window_start_
    80
    """

    unit = "batches"

    def __init__(
        self,
        estimate: str = "xi_alpha",
        *,
        n_estimated: int | None = None,
        longest: int | None = 50,
        rho: float = 1.0,
    ) -> None:
        self.estimate = estimate
        self.n_estimated = n_estimated
        self.longest = longest
        self.rho = rho
        self.window_start_ = 0
        self.n_batches_ = 0
        self.window_history_: tuple[WindowChoice, ...] = ()
        self._clock = Clock("batches")
        self._own: dict[Hashable, float] = {}  # the user's weights of examples outside the window

    def check(self) -> None:
        self._check_choice("estimate", ("xi_alpha", "leave_one_out"))
        for name in ("n_estimated", "longest"):
            if getattr(self, name) is not None:
                self._check_count(name, 1)
        self._check_positive("rho")

    # ------------------------------------------------------------------ a batch

    def arrives(self, seen: int, n: int, times: np.ndarray | None) -> None:
        refuse_times(times, "an adaptive window, which counts batches")
        clock = self._clock.arrived(seen, n, times)
        if self.longest is not None and len(clock.marks) > self.longest:
            clock = clock.without(int(clock.marks[-self.longest]))
        self._clock = clock

    def before(self, held: Held) -> Change | None:
        """Give all examples weight 0: the window grows anew from the new batch."""
        if not len(held):
            return None
        ids, weight = held.ids, held.weight
        stale = held.arrival < self._clock.marks[0]
        inside = (weight > 0.0) & ~stale
        own = {i: self._own[i] for i in ids[~stale].tolist() if i in self._own}
        self._own = own | dict(zip(ids[inside].tolist(), weight[inside].tolist(), strict=True))
        return Change(held.slots[inside], np.zeros(int(inside.sum())), held.slots[stale])

    def search(self, held: Held) -> Iterator[Change]:
        slots, arrival, seen = held.slots, held.arrival, held.seen
        weight = held.weight
        own = np.array([self._own.get(i, 0.0) for i in held.ids.tolist()])
        own = np.where(weight > 0.0, weight, own)
        starts = self._clock.marks.astype(np.int64)
        first = int(starts[-1]) if self.n_estimated is None else seen - self.n_estimated
        latest = slots[(arrival >= first) & (own > 0.0)]
        tried: list[WindowCandidate] = []
        closed = (weight == 0.0) & (own > 0.0)
        for number, start in enumerate(starts[::-1].tolist(), start=1):
            if start > first and number < len(starts):
                continue  # too short for the latest examples
            opening = closed & (arrival >= start)
            if opening.any():
                yield Change(slots[opening], own[opening])
            closed &= ~opening
            estimate = held.error(latest) if len(latest) else math.nan
            tried.append(WindowCandidate(start, number, estimate))
        choice = _best(tried, self.window_start_)
        beside = arrival < choice.start
        leaving = beside & (own > 0.0)
        if leaving.any():
            yield Change(slots[leaving], np.zeros(int(leaving.sum())))
        # Also those of weight 0: a weight given later must not bring them into the window.
        self._own = dict(zip(held.ids[beside].tolist(), own[beside].tolist(), strict=True))
        self.window_start_, self.n_batches_ = choice.start, choice.n_batches
        history = (*self.window_history_, WindowChoice(seen, *choice, tuple(tried)))
        self.window_history_ = history[-_KEPT_CHOICES:]

    # ------------------------------------------------------------------ what is remembered

    @property
    def window_search_(self) -> tuple[WindowCandidate, ...]:
        """The windows tried after the latest batch, the shortest first."""
        return self.window_history_[-1].search if self.window_history_ else ()

    def forgets(self, held: Held, ids: np.ndarray) -> None:
        gone = set(ids.tolist())
        self._own = {i: weight for i, weight in self._own.items() if i not in gone}

    def reweights(self, ids: np.ndarray, weight: np.ndarray) -> np.ndarray:
        # The weight of an example outside the window is noted until the window covers it again.
        beside = np.array([i in self._own for i in ids.tolist()], dtype=bool)
        noted = zip(ids[beside].tolist(), weight[beside].tolist(), strict=True)
        self._own = self._own | dict(noted)
        return np.where(beside, 0.0, weight)


def _best(tried: list[WindowCandidate], before: int) -> WindowCandidate:
    """Return the candidate with the least estimate, of equal ones the longest.

    Without any estimate (one class, or a batch without weight) the window keeps its start `before`.
    """
    known = [candidate for candidate in tried if not math.isnan(candidate.estimate)]
    if not known:
        return next((c for c in tried if c.start <= before), tried[-1])
    least = min(candidate.estimate for candidate in known)
    return max((c for c in known if c.estimate == least), key=lambda c: c.n_batches)
