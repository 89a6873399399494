"""How much the support vectors of earlier batches count (Syed, Liu & Sung 1999; Rüping 2001)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

__all__ = ["Past", "SupportPolicy"]


@dataclass(frozen=True)
class Past:
    """What is remembered of examples that are no longer held, and of those that are.

    Numbers of examples are sums of the weights that the user gave, so that an example of weight 2
    is the same as two examples.
    """

    batches: int = 0
    trained: float = 0.0  # examples of the latest training set: batch and older support vectors
    seen: float = 0.0  # examples of all batches
    support: float = 0.0  # support vectors of the latest training set
    born: Mapping[Hashable, int] = field(default_factory=dict)  # batch of each example held, by id
    factor: Mapping[Hashable, float] = field(default_factory=dict)  # on the user's weight, by id

    def own_weight(self, ids: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Return the user's weights of examples that have `weight` in the model."""
        return weight / np.array([self.factor.get(i, 1.0) for i in ids.tolist()])

    def without(self, forgotten: np.ndarray, held: np.ndarray) -> Past:
        """Return what remains when examples with these weights of the user are forgotten.

        They count no longer. Support vectors are counted again before the next batch.
        """
        number, kept = float(forgotten.sum()), set(held.tolist())
        return replace(
            self,
            trained=max(self.trained - number, 0.0) if kept else 0.0,
            seen=max(self.seen - number, 0.0),
            support=0.0,
            born={i: batch for i, batch in self.born.items() if i in kept},
            factor={i: value for i, value in self.factor.items() if i in kept},
        )

    def only(self, ids: np.ndarray, support: np.ndarray, weight: np.ndarray) -> Past:
        """Return what remains when of the latest training set the examples `ids` are kept.

        Those in `support`, with `weight` in the model, are its support vectors.
        """
        kept = ids.tolist()
        return replace(
            self,
            support=float(self.own_weight(support, weight).sum()),
            born={i: self.born.get(i, self.batches - 1) for i in kept},
            factor={i: self.factor[i] for i in kept if i in self.factor},
        )


@dataclass(frozen=True)
class SupportPolicy:
    """The factor on the weights of old support vectors when a new batch comes.

    Parameters
    ----------
    level : float or None
        L, or None for Rüping's ratio of examples to support vectors.
    factor : float
        Multiplies L.
    cumulative : bool
        Whether the ratio counts all examples so far instead of the latest training set.
    half_life : float or None
        Batches after which the factor of a support vector has fallen to one half.

    Examples
    --------
    >>> past = Past(batches=3, trained=100.0, seen=250.0, support=20.0, born={7: 2, 4: 0})
    >>> SupportPolicy(None, 1.0, False, None).factors(past, np.array([7, 4]))
    array([5., 5.])
    >>> SupportPolicy(1.0, 1.0, False, 1.0).factors(past, np.array([7, 4]))
    array([0.5  , 0.125])
    """

    level: float | None
    factor: float
    cumulative: bool
    half_life: float | None

    def factors(self, past: Past, ids: np.ndarray) -> np.ndarray:
        """Return the factors on the user's weights for the batch that follows `past`."""
        level = self.level
        if level is None:
            examples = past.seen if self.cumulative else past.trained
            level = examples / past.support if past.support else 1.0
        out = np.full(len(ids), self.factor)
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite will be refused
            if self.half_life is not None:
                born = np.array([past.born.get(i, past.batches - 1) for i in ids.tolist()])
                out *= 0.5 ** ((past.batches - born) / self.half_life)
            out *= level
        # Not 0: the user's own weight would be lost.
        return np.maximum(out, np.finfo(np.float64).tiny)
