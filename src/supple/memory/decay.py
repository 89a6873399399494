"""Weights that fall with the age of the examples."""

from __future__ import annotations

from datetime import timedelta

import numpy as np

from supple.memory._base import Change, Held, Memory
from supple.memory._clock import UNITS, Clock, in_seconds

__all__ = ["Decay"]

_TICKS = 16  # steps in which a weight falls to one half
_HALVES = 10  # half-lives after which an example is forgotten


class Decay(Memory):
    """Halve the weight of an example with every `half_life` that passes.

    With the user's weight w_i, example i now has the weight::

        w_i 2^(-(t(now) - t(moment_i)) / 16),    t(s) = floor(16 s / half_life),

    that is w_i 2^(-age_i / half_life) in sixteen equal steps for each half. With
    ``unit="examples"`` the weights do not depend on the division into batches. All weights fall
    at the same time, and the model is the exact optimum for the present weights. An example is
    forgotten after ten half-lives, at 1/1024 of its weight, so that about ten half-lives of
    examples are held. Klinkenberg & Joachims (2000) name such weights beside windows; Rüping
    (2001) asks for weights below 1 where concepts drift.

    Parameters
    ----------
    half_life : float or timedelta, default=500
        Number of examples or batches, or span of time, > 0; in seconds if the timestamps are
        datetimes.
    unit : {"examples", "batches", "time"}, default="examples"
        What `half_life` counts. A batch is what one call of `fit` or `partial_fit` learns. For
        "time" these must be given `timestamps`, which never run backwards.

    Examples
    --------
    >>> from supple import SVC
    >>> from supple.memory import Decay
    >>> model = SVC(kernel="linear", C=1.0, memory=Decay(half_life=2))
    >>> _ = model.fit([[0.0], [1.0]], [0, 1]).partial_fit([[2.0]], [1])
    >>> model.sample_weight_.round(3)
    array([0.5  , 0.707, 1.   ])
    """

    def __init__(self, half_life: float | timedelta = 500.0, unit: str = "examples") -> None:
        self.half_life = half_life
        self.unit = unit
        self._clock = Clock(unit)
        self._applied = -np.inf  # tick of the present weights

    def check(self) -> None:
        self._check_choice("unit", UNITS)
        self._check_positive("half_life", in_seconds(self.half_life))

    def _ticks(self, moments: np.ndarray) -> np.ndarray:
        return np.floor(_TICKS * (moments / float(in_seconds(self.half_life))))

    def arrives(self, seen: int, n: int, times: np.ndarray | None) -> None:
        self._clock = self._clock.arrived(seen, n, times)

    def portions(self, held: int, n: int) -> list[slice]:
        # In a longer part, the first examples would be forgotten at once.
        span = _HALVES * float(in_seconds(self.half_life)) if self.unit == "examples" else n
        step = max(1, int(min(span, n)))
        return [slice(a, min(a + step, n)) for a in range(0, n, step)]

    def after(self, held: Held) -> Change | None:
        now = float(self._ticks(np.array(self._clock.now(held.seen))))
        if now == self._applied:
            return None
        born = self._ticks(self._clock.moments(held.arrival))
        steps = now - np.maximum(born, self._applied)
        self._applied = now
        faint = now - born > _HALVES * _TICKS
        lower = (steps > 0.0) & ~faint
        if self.unit != "examples":
            staying = held.arrival[~faint]
            self._clock = self._clock.without(int(staying.min()) if len(staying) else held.seen - 1)
        if not (lower.any() or faint.any()):
            return None
        weight = held.weight[lower] * np.exp2(-steps[lower] / _TICKS)
        return Change(held.slots[lower], weight, held.slots[faint])
