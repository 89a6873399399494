"""Support vectors stand for their batches (Syed, Liu & Sung 1999; Rüping 2001)."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from supple.memory._base import Change, Held, Memory

__all__ = ["SupportVectors"]


class SupportVectors(Memory):
    """Keep only the support vectors of every batch, and re-weight the old ones.

    Each batch B is learned with the support vectors S of the step before, whose costs become::

        C_i = C lambda_i w_i,    lambda_i = factor * L * 2^(-age_i / half_life),

    w_i the user's weights, age_i >= 1 the number of batches since example i came. L = 1 is the
    SV-incremental algorithm of Syed, Liu & Sung (1999). ``weight="ruping"`` is SV-L-incremental
    (Rüping 2001): a support vector stands for the examples that were dropped, L = n / n_SV. A head
    without a support vector on its margin also keeps the examples that bound its constant, so that
    nothing changes when the others leave. Without a head all examples are kept. If the problem
    depends on the number of examples (nu), idle examples leave when the next batch arrives.

    Parameters
    ----------
    weight : float or "ruping", default=1.0
        L: a number, or the number of examples in the previous training set divided by that of its
        support vectors.
    factor : float, default=1.0
        Multiplies L; Rüping found 2 to be good.
    reading : {"literal", "cumulative"}, default="literal"
        Whether n of "ruping" counts the previous training set (its batch and the support vectors
        it started with), or all examples so far.
    half_life : float, default=None
        Number of batches after which an old support vector counts half, for drifting concepts.
        None: age does not matter.

    Attributes
    ----------
    n_batches_ : int
        Batches learned so far.

    Examples
    --------
    >>> import numpy as np
    >>> from supple import NuSVC
    >>> from supple.memory import SupportVectors
    >>> X = np.arange(20.0)[:, None]
    >>> model = NuSVC(nu=0.2, kernel="linear", memory=SupportVectors(weight="ruping"))
    >>> model = model.partial_fit(X[::2], X[::2, 0] > 9.5).partial_fit(X[1::2], X[1::2, 0] > 9.5)
    >>> len(model.ids_) < 20, model.memory_.n_batches_
    (True, 2)
    """

    def __init__(
        self,
        weight: float | str = 1.0,
        *,
        factor: float = 1.0,
        reading: str = "literal",
        half_life: float | None = None,
    ) -> None:
        self.weight = weight
        self.factor = factor
        self.reading = reading
        self.half_life = half_life
        self.n_batches_ = 0
        # Numbers of examples are sums of the user's weights: weight 2 is two examples.
        self._trained = 0.0  # of the latest training set: batch and older support vectors
        self._seen = 0.0  # of all batches
        self._born: dict[Hashable, int] = {}  # batch of each example held
        self._factor: dict[Hashable, float] = {}  # on the user's weight
        self._idle: frozenset[Hashable] = frozenset()  # ids that leave with the next batch

    def check(self) -> None:
        if self.weight != "ruping":
            self._check_positive("weight")
        self._check_positive("factor")
        self._check_choice("reading", ("literal", "cumulative"))
        if self.half_life is not None:
            self._check_positive("half_life")

    # ------------------------------------------------------------------ a batch

    def before(self, held: Held) -> Change | None:
        ids, own = held.ids, self.own_weight(held)
        factors = self._factors(ids, float(own[held.support()].sum()))
        self._idle = frozenset(ids[~held.needed()].tolist() if held.depends_on_mass else ())
        self._factor = dict(zip(ids.tolist(), factors.tolist(), strict=True))
        self._trained = float(own.sum())
        self.n_batches_ += 1
        with np.errstate(over="ignore"):  # the engine refuses weights that are too large
            weight = own * factors
        changed = weight != held.weight
        return Change(held.slots[changed], weight[changed]) if changed.any() else None

    def after(self, held: Held) -> Change | None:
        ids = held.ids.tolist()
        new = np.array([i not in self._born for i in ids], dtype=bool)
        number = float(held.weight[new].sum())
        self._trained, self._seen = self._trained + number, self._seen + number
        self._born = {i: self._born.get(i, self.n_batches_ - 1) for i in ids}
        return self.drop_idle(held)

    def drop_idle(self, held: Held) -> Change | None:
        """Order examples to leave that no head needs; for nu problems only the old ones."""
        ids = held.ids.tolist()
        if held.depends_on_mass:
            leaving = np.array([i in self._idle for i in ids], dtype=bool)
        else:
            leaving = ~held.needed()
        self._remember_only({i for i, gone in zip(ids, leaving, strict=True) if not gone})
        return Change(forget=held.slots[leaving]) if leaving.any() else None

    def _factors(self, ids: np.ndarray, support: float) -> np.ndarray:
        """Return the factors on the user's weights for the next batch."""
        level: Any = self.weight
        if level == "ruping":
            examples = self._seen if self.reading == "cumulative" else self._trained
            level = examples / support if support else 1.0
        out = np.full(len(ids), float(self.factor))
        with np.errstate(over="ignore", invalid="ignore"):  # refused by the engine
            if self.half_life is not None:
                born = np.array([self._born[i] for i in ids.tolist()], dtype=float)
                out *= 0.5 ** ((self.n_batches_ - born) / self.half_life)
            out *= level
        # Not 0: the user's own weight would be lost.
        return np.maximum(out, np.finfo(np.float64).tiny)

    # ------------------------------------------------------------------ what is remembered

    def own_weight(self, held: Held) -> np.ndarray:
        """Return the user's weights of the examples held."""
        return held.weight / np.array([self._factor.get(i, 1.0) for i in held.ids.tolist()])

    def _remember_only(self, ids: set[Hashable]) -> None:
        self._born = {i: batch for i, batch in self._born.items() if i in ids}
        self._factor = {i: value for i, value in self._factor.items() if i in ids}

    def forgets(self, held: Held, ids: np.ndarray) -> None:
        leaving = set(ids.tolist())
        names = held.ids.tolist()
        gone = np.array([i in leaving for i in names], dtype=bool)
        number = float(self.own_weight(held)[gone].sum())
        self._trained = max(self._trained - number, 0.0) if not gone.all() else 0.0
        self._seen = max(self._seen - number, 0.0)
        self._remember_only(set(names) - leaving)

    def reweights(self, ids: np.ndarray, weight: np.ndarray) -> np.ndarray:
        # The weights given are the user's own from now on.
        given = set(ids.tolist())
        self._factor = {i: value for i, value in self._factor.items() if i not in given}
        return weight

    def refined(self, held: Held, others: np.ndarray, number: float) -> Change | None:
        """Note that examples with this sum of weights were given again; order idle ones to leave.

        Examples in the mask `others` were not given again and keep their factors.
        """
        own = self.own_weight(held)
        self._trained = float(own[others].sum()) + number
        ids = held.ids
        self._factor = {i: self._factor.get(i, 1.0) for i in ids[others].tolist()}
        self._born = {i: self._born.get(i, self.n_batches_ - 1) for i in ids.tolist()}
        return self.drop_idle(held)
