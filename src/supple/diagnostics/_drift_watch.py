"""An alarm when the points of a stream change, before there are labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from supple.diagnostics._change_statistic import Ranks, ShiryaevRoberts
from supple.diagnostics._drift_checks import (
    check_parameters,
    check_rows,
    check_scores,
    listeners,
)
from supple.locks import LOCK, reads, writes

__all__ = ["DriftEvent", "DriftWatch"]

# Most scores that later ones are compared with.
_MOST_SCORES = 10_000


@dataclass(frozen=True)
class DriftEvent:
    """An alarm of a DriftWatch.

    Attributes
    ----------
    position : int
        Place in the stream of the example that raised it, from 0.
    direction : {"lower", "higher", "wider", "narrower"}
        How the scores differ from the earlier ones. For `score_samples`, lower means stranger and
        higher more ordinary; wider means that both extremes have become frequent. An alarm after
        a few extreme scores may say wider even if all are at one end.
    statistic : float
        The statistic at that example.
    n_watched : int
        Examples watched since the start or the last alarm, including this one.
    """

    position: int
    direction: str
    statistic: float
    n_watched: int


@dataclass
class _State:
    """The state of a watch."""

    ranks: Ranks
    statistic: ShiryaevRoberts = field(default_factory=ShiryaevRoberts)
    n_seen: int = 0
    n_watched: int = 0
    waiting: list[NDArray[np.float64]] = field(default_factory=list)  # rows to fit a model to
    model: Any = None
    width: int | None = None  # number of features, once it is known
    events: list[DriftEvent] = field(default_factory=list)

    def copy(self) -> _State:
        """Return a copy; fitted models are shared, since they are never changed."""
        return replace(
            self,
            ranks=self.ranks.copy(),
            statistic=self.statistic.copy(),
            waiting=self.waiting.copy(),
            events=self.events.copy(),
        )


class DriftWatch:
    r"""Raise an alarm when P(x) changes, with a stated number of false alarms.

    A novelty detector, fitted to the beginning of the stream and then constant, scores its points;
    or scores are given. The rank of each score among the earlier ones is a p-value, with ties
    divided at random. While the scores are exchangeable, the p-values are independent and uniform
    for every distribution of the scores. The Shiryaev-Roberts statistic sums bets :math:`b_k`
    against this, of four kinds and three strengths,

    .. math:: R_n = \frac{1}{12} \sum_k R_n^k, \qquad R_n^k = (1 + R_{n-1}^k)\, b_k(p_n) ,

    and there is an alarm when :math:`R_n` reaches a threshold. Since :math:`R_n - n` is a
    martingale, the mean number of examples until a false alarm is at least the threshold; the
    threshold is chosen by simulation such that it is `run_length`. A stationary stream of n
    examples has about n / `run_length` false alarms.

    After an alarm the watch starts anew: it fits a new model to the next rows and gathers new
    scores. During the first `n_fit` + `n_reference` examples there is no alarm.

    Parameters
    ----------
    estimator : SVDD, OneClassSVM or another outlier detector, default=None
        A detector with `fit` and `score_samples`, say a pipeline that scales; it is cloned. None:
        scores are given, to `update_scores`.
    run_length : float, default=10_000
        Mean number of examples between two false alarms, at least 100.
    n_fit : int, default=300
        Examples to fit the detector to.
    n_reference : int, default=200
        Scores gathered before alarms are possible. A change within them is not detected.
    on_drift : callable or sequence of callables, default=None
        Called with each :class:`DriftEvent` after `update` or `update_scores` has processed its
        input. Each is called even if another one raises; the error then goes to the caller,
        several errors as an ExceptionGroup. The state of the watch is not affected.
    random_state : int, default=0
        Seed of the random parts of the p-values.

    Attributes
    ----------
    events_ : list of DriftEvent
        All alarms so far.
    statistic_, threshold_ : float
        The statistic, 0 at the start, and the value that raises an alarm.
    phase_ : {"fitting", "gathering", "watching"}
        Whether the next example goes into the model, the first scores, or the statistic.
    n_ : int
        Number of examples seen.
    estimator_ : object or None
        The detector in use, None while there is none.

    Notes
    -----
    A change that does not affect the distribution of the scores cannot be detected: choose a
    detector that is sensitive to the changes that matter. Dependent examples, as in a time series,
    raise more false alarms. The detector does not learn after its fit, because its scores would not
    be exchangeable. Later scores are compared with the first 10,000: a change that takes thousands
    of examples is detected late, and beyond these the rate of false alarms is higher, in
    simulations by 31 % at a `run_length` of 100,000.

    References
    ----------
    V. Vovk, I. Nouretdinov, A. Gammerman: Testing exchangeability on-line. ICML 2003.
    M. Pollak: Average run lengths of an optimal method of detecting a change in distribution.
    Annals of Statistics 15, 1987.

    Examples
    --------
    >>> import numpy as np
    >>> from supple import SVDD
    >>> from supple.diagnostics import DriftWatch
    >>> rng = np.random.default_rng(0)
    >>> watch = DriftWatch(SVDD(nu=0.1, gamma=0.1), on_drift=lambda event: print(event.direction))
    >>> watch.update(rng.normal(size=(1500, 3)))  # quiet
    []
    >>> events = watch.update(rng.normal(size=(100, 3)) + 3.0)
    lower
    >>> events[0].position < 1510
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        run_length: float = 10_000,
        n_fit: int = 300,
        n_reference: int = 200,
        on_drift: Callable[[DriftEvent], Any] | Sequence[Callable[[DriftEvent], Any]] | None = None,
        random_state: int = 0,
    ) -> None:
        self.estimator = estimator
        self.run_length = run_length
        self.n_fit = n_fit
        self.n_reference = n_reference
        self.on_drift = on_drift
        self.random_state = random_state
        check_parameters(self)
        self._rng = np.random.default_rng(random_state)
        self._state = _State(self._no_scores())

    # ------------------------------------------------------------------ taking in

    @writes
    def update(self, X: ArrayLike) -> list[DriftEvent]:
        """Process rows of the stream.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New points in their order, one or many; the division into calls does not matter.

        Returns
        -------
        list of DriftEvent
            The alarms that they raised.
        """
        return self._take(check_rows(self, X, self._state.width), self._take_rows)

    @writes
    def update_scores(self, scores: ArrayLike) -> list[DriftEvent]:
        """Process scores of new examples.

        Parameters
        ----------
        scores : float or array-like of shape (n_samples,)
            Finite numbers in their order: scores of a detector that does not change, p-values,
            errors, or other values whose distribution should not change.

        Returns
        -------
        list of DriftEvent
            The alarms that they raised.
        """
        return self._take(check_scores(self, scores), self._take_scores)

    def _take(
        self,
        values: NDArray[np.float64],
        take: Callable[[NDArray[np.float64]], None],
    ) -> list[DriftEvent]:
        """Process all values or, on failure, none; then call the callbacks."""
        before, random = self._state.copy(), self._rng.bit_generator.state
        try:
            take(values)
        except BaseException:
            self._state, self._rng.bit_generator.state = before, random
            raise
        events = self._state.events[len(before.events) :]
        self._tell(events)
        return events

    def _take_rows(self, X: NDArray[np.float64]) -> None:
        state = self._state
        state.width = X.shape[1]
        while len(X):
            if state.model is None:
                X = self._prepare(X)
            else:
                scores = check_scores(self, state.model.score_samples(X), found=True)
                X = X[self._until_alarm(scores) :]

    def _prepare(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Collect rows for the model, fit it when they suffice, and return the remaining rows."""
        state = self._state
        n = self.n_fit - len(state.waiting)
        state.waiting.extend(X[:n].copy())
        state.n_seen += len(X[:n])
        if len(state.waiting) == self.n_fit:
            state.model = clone(self.estimator).fit(np.array(state.waiting))
            state.waiting = []
        return X[n:]

    def _take_scores(self, scores: NDArray[np.float64]) -> None:
        while len(scores):
            scores = scores[self._until_alarm(scores) :]

    def _until_alarm(self, scores: NDArray[np.float64]) -> int:
        """Process scores up to the first alarm, and return their number."""
        state = self._state
        for k, score in enumerate(scores.tolist(), start=1):
            ready = len(state.ranks) >= self.n_reference
            # In (0, 1]: no p-value is 0.
            p = state.ranks.p_value(score, 1.0 - self._rng.random())
            state.n_seen += 1
            if not ready:
                continue
            state.n_watched += 1
            state.statistic.update(p)
            if state.statistic.value >= self.threshold_:
                self._raise_alarm()
                return k
        return len(scores)

    def _raise_alarm(self) -> None:
        """Record the alarm and start anew."""
        state = self._state
        event = DriftEvent(
            position=state.n_seen - 1,
            direction=state.statistic.direction,
            statistic=state.statistic.value,
            n_watched=state.n_watched,
        )
        state.events.append(event)
        state.ranks, state.statistic = self._no_scores(), ShiryaevRoberts()
        state.n_watched, state.model = 0, None

    def _no_scores(self) -> Ranks:
        return Ranks(most=max(_MOST_SCORES, self.n_reference))

    def _tell(self, events: list[DriftEvent]) -> None:
        """Call all callbacks, even if one raises."""
        errors = []
        for event in events:
            for each in listeners(self.on_drift):
                try:
                    each(event)
                except Exception as error:
                    errors.append(error)
        if len(errors) == 1:
            raise errors[0]
        if errors:
            raise ExceptionGroup("Several calls of 'on_drift' of DriftWatch have failed.", errors)

    # ------------------------------------------------------------------ what it knows

    @property
    def events_(self) -> list[DriftEvent]:
        """All alarms so far."""
        return list(self._state.events)

    @property
    def statistic_(self) -> float:
        """The statistic."""
        return self._state.statistic.value

    @property
    def threshold_(self) -> float:
        """Value of the statistic that raises an alarm."""
        return ShiryaevRoberts.threshold(self.run_length)

    @property
    def n_(self) -> int:
        """Number of examples seen."""
        return self._state.n_seen

    @property
    def estimator_(self) -> Any:
        """The detector in use."""
        return self._state.model

    @property
    def phase_(self) -> str:
        """What the next example is for."""
        if self.estimator is not None and self._state.model is None:
            return "fitting"
        return "watching" if len(self._state.ranks) >= self.n_reference else "gathering"

    @reads
    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != LOCK}

    def __repr__(self) -> str:
        return (
            f"DriftWatch(run_length={self.run_length:g}, n={self.n_}, phase={self.phase_!r}, "
            f"events={len(self._state.events)})"
        )
