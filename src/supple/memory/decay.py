"""Examples count less as they grow old."""

from __future__ import annotations

import numpy as np

from supple.memory._base import Change, Held, Memory

__all__ = ["Decay"]

_TICKS = 16  # steps in which a weight falls to one half
_HALVES = 10  # half-lives after which an example is forgotten


class Decay(Memory):
    """Let the weight of an example fall to one half with every `half_life` examples that follow.

    Example i, of which the user's weight is w_i, counts after n examples::

        w_i 2^(-(t(n - 1) - t(arrival_i)) / 16),    t(k) = floor(16 k / half_life),

    that is w_i 2^(-age_i / half_life) in sixteen equal steps for each half, however the examples
    are divided into batches. All weights fall together, and the model is the exact optimum of the
    weights in force. An example is forgotten after ten half-lives, when it counts 1/1024 of its own
    weight, so that about ten half-lives of examples are held. Klinkenberg & Joachims (2000) name
    such weights beside windows; Rüping (2001) asks for weights below 1 where concepts drift.

    Parameters
    ----------
    half_life : float, default=500
        Number of examples, > 0.

    Examples
    --------
    >>> from supple import SVC
    >>> from supple.memory import Decay
    >>> model = SVC(kernel="linear", C=1.0, memory=Decay(half_life=2))
    >>> _ = model.fit([[0.0], [1.0]], [0, 1]).partial_fit([[2.0]], [1])
    >>> model.sample_weight_.round(3)
    array([0.5  , 0.707, 1.   ])
    """

    def __init__(self, half_life: float = 500.0) -> None:
        self.half_life = half_life
        self._applied = 0.0  # ticks up to which the weights have fallen

    def check(self) -> None:
        self._check_positive("half_life")

    def _ticks(self, examples: np.ndarray) -> np.ndarray:
        return np.floor(_TICKS * (examples / float(self.half_life)))

    def portions(self, held: int, n: int) -> list[slice]:
        # Of more than this, the first would be forgotten at once.
        step = max(1, int(_HALVES * self.half_life))
        return [slice(a, min(a + step, n)) for a in range(0, n, step)]

    def after(self, held: Held) -> Change | None:
        now = float(self._ticks(np.array(held.seen - 1)))
        if now == self._applied:
            return None
        born = self._ticks(held.arrival)
        steps = now - np.maximum(born, self._applied)
        self._applied = now
        faint = now - born > _HALVES * _TICKS
        lower = (steps > 0.0) & ~faint
        weight = held.weight[lower] * np.exp2(-steps[lower] / _TICKS)
        return Change(held.slots[lower], weight, held.slots[faint])
