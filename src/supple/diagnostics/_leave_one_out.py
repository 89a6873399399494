"""Exact leave-one-out: what the model says of each example when it has never seen it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.diagnostics._checks import check_kind, examine
from supple.diagnostics._classes import Machines
from supple.diagnostics._departures import answers, departures
from supple.engine import State
from supple.engine.head import Key
from supple.errors import InexactWarning, InfeasibleError, warn_user
from supple.estimators._classifier import BaseClassifier
from supple.estimators._ids import IdsLike
from supple.estimators._model import Model
from supple.estimators._outlier import BaseOutlier
from supple.estimators._params import resolve_threads
from supple.interrupts import Shielded
from supple.locks import guards
from supple.progress import Progress

__all__ = ["LeaveOneOut", "leave_one_out"]

_ACTION = "leave_one_out"
_BOUNDARY = 1e-12  # as for decision values of outlier detectors, relative to the intercept


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """What a model says of examples that it has never seen, each left out in turn.

    Attributes
    ----------
    error : float
        Classifiers: share of wrong predictions. Outlier detectors: share of examples that are
        outliers to the others. Regression: mean absolute residual.
    n : int
        Number of examples asked for.
    n_solved : int
        How many of them had to be removed to know the answer.
    ids : ndarray of shape (n,)
        Their ids.
    decision : ndarray of shape (n,) or (n, n_machines)
        Decision values. Two classes: positive for ``classes_[1]``. More classes: one column per
        pair of classes, positive for the first, or per class with ``multi_class="ovr"``; NaN for
        machines of a class that has no other example.
    prediction : ndarray of shape (n,)
        Predicted labels, values, or +1 and -1 for inliers and outliers.
    correct : ndarray of bool of shape (n,) or None
        Whether the prediction is the label, or +1 for outlier detectors; None for regression.
    residual : ndarray of shape (n,) or None
        Target minus prediction; for regression only.
    """

    error: float
    n: int
    n_solved: int
    ids: NDArray[Any]
    decision: NDArray[np.float64]
    prediction: NDArray[Any]
    correct: NDArray[np.bool_] | None = None
    residual: NDArray[np.float64] | None = None

    def __repr__(self) -> str:
        return f"LeaveOneOut(error={self.error:.4g}, n={self.n}, n_solved={self.n_solved})"


def leave_one_out(
    model: Any,
    ids: IdsLike | None = None,
    *,
    n_jobs: int | None = None,
    verbose: bool | int = False,
) -> LeaveOneOut:
    r"""Leave out each example in turn, and see what the model without it says of it.

    Example :math:`i` leaves as in `forget`: its box :math:`[\mathrm{lo}_i, \mathrm{hi}_i]` closes
    along the exact path, and at the optimum without it

    .. math::
        f^{\setminus i}(x_i) = \sum_{j \ne i} k(x_i, x_j)\, x_j^{\setminus i} + \mu^{\setminus i}

    is read off; then the model is put back as it was, to the last bit. An example that is no
    support vector of a machine leaves it unchanged, and costs nothing. That is not so for `NuSVC`,
    `OneClassSVM` and `SVDD`, whose programmes depend on the weight of all examples.

    Parameters
    ----------
    model : SVC, NuSVC, SVR, OneClassSVM, SVDD or another estimator with exact updates
        Fitted and exact; it is not changed. Other threads that use it wait.
    ids : int, str or other hashable, or iterable of these, default=None
        The examples to leave out, one at a time. None: all that the model holds.
    n_jobs : int, default=None
        Threads that may factor a large margin system; -1 for all processors.
    verbose : bool, default=False
        Say once a second how far it has come.

    Returns
    -------
    result : LeaveOneOut
        Decision values, predictions and error. The only example of a class is an error: without it
        the prediction is among the other classes.

    Notes
    -----
    An example leaves with its whole weight; `error` counts examples, not weights. Gamma and class
    weights stay as they are in the model, even if they were computed from the examples
    (``gamma="scale"``, ``class_weight="balanced"``). A memory is not asked.

    Examples
    --------
    >>> from supple import SVC
    >>> from supple.datasets import load
    >>> from supple.diagnostics import leave_one_out
    >>> data = load("ionosphere")
    >>> model = SVC(C=1.0, gamma=0.03).fit(data.X, data.y)
    >>> result = leave_one_out(model)
    >>> round(result.error * result.n)  # wrong predictions
    21
    >>> leave_one_out(model, ids=[7]).prediction == model.forget(7).predict(data.X[[7]])
    array([ True])
    """
    check_kind(model, _ACTION)
    threads = resolve_threads(_ACTION, n_jobs)
    progress = Progress(_ACTION) if verbose else None
    with guards(model).writing, Shielded():
        fitted, slots = examine(model, ids, _ACTION)
        if isinstance(model, BaseClassifier):
            return _classified(model, fitted, slots, threads, progress)
        run = _Run(fitted.state, slots, threads, progress)
        value, doubt = run.single()
        if isinstance(model, BaseOutlier):
            value[np.abs(value) <= doubt] = 0.0
            inside = value >= 0.0
            prediction = np.where(inside, 1, -1)
            error = float(np.mean(~inside))
            return run.record(error=error, decision=value, prediction=prediction, correct=inside)
        residual = fitted.state.y[slots] - value
        error = float(np.abs(residual).mean())
        return run.record(error=error, decision=value, prediction=value.copy(), residual=residual)


class _Run:
    """The heads of a state, one after the other, and how many examples took work."""

    def __init__(
        self,
        state: State,
        slots: NDArray[np.int64],
        threads: int,
        progress: Progress | None,
    ) -> None:
        self.state, self.slots = state, slots
        self._threads, self._progress = threads, progress
        self._solved = np.zeros(len(slots), dtype=bool)
        self._n_inexact = 0

    def head(self, key: Key, which: NDArray[np.bool_]) -> tuple[Any, Any]:
        """Return decision values of some of the examples in a head, and their doubts."""
        state = self.state
        assert state.gram is not None
        before = state.gram.core.threads
        state.gram.core.threads = self._threads
        try:
            head = state.head_states[key]
            leaving = departures(state, head, self.slots[which])
            found = answers(state, head, leaving, self._progress)
        finally:
            state.gram.core.threads = before
            state.gram.core.release()
        self._solved[which] |= found.solved
        self._n_inexact += int(np.sum(~found.kept))
        return found.value, found.doubt

    def single(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the same of all examples in the only head there is."""
        weight = self.state.weight
        if np.count_nonzero(weight) < 2:
            raise InfeasibleError(
                f"{_ACTION} needs two examples with weight: without the only one there is no "
                "model. Add examples by partial_fit."
            )
        (key,) = self.state.head_states
        value, doubt = self.head(key, np.ones(len(self.slots), dtype=bool))
        intercept = abs(self.state.heads[key].intercept)
        return value, np.maximum(doubt, _BOUNDARY * intercept)

    def record(self, **fields: Any) -> LeaveOneOut:
        """Return the result, after a warning if some of it is not exact."""
        if self._n_inexact:
            warn_user(
                f"{self._n_inexact} of the models without an example meet the optimality "
                "conditions less well than promised: rounding or max_iter allows no better. Scale "
                "the features, lower C, or raise max_iter.",
                InexactWarning,
            )
        ids = np.asarray(self.state.ids[self.slots])
        return LeaveOneOut(n=len(ids), n_solved=int(self._solved.sum()), ids=ids, **fields)


def _classified(
    estimator: BaseClassifier,
    model: Model,
    slots: NDArray[np.int64],
    threads: int,
    progress: Progress | None,
) -> LeaveOneOut:
    """Return the result for a classifier."""
    machines = Machines.of(estimator, model, _ACTION)
    state, classes = model.state, machines.classes
    own = machines.places(state.y[slots])
    counts = np.bincount(machines.places(state.y[state.weight > 0.0]), minlength=machines.n_classes)
    sole = (counts[own] == 1) & (state.weight[slots] > 0.0)
    run = _Run(state, slots, threads, progress)
    member = np.column_stack([state.plan.members(key, state.y[slots]) for key in machines.keys])
    values = np.full(member.shape, np.nan)
    if not member.all():  # some machines have never seen some of the examples
        decision = state.decision(state.points(slots), threads).take(classes.columns, axis=1)
        values[~member] = (decision * classes.signs)[~member]
    for column, (key, side) in enumerate(zip(machines.keys, machines.sides, strict=True)):
        if progress is not None:
            progress.at("machine", column + 1, len(machines.keys))
        # Without the only example of a class its machines do not exist.
        gone = sole & (np.isin(own, [p for p in side if p is not None]) | (machines.n_classes == 2))
        which = member[:, column] & ~gone
        if which.any():
            values[which, column] = run.head(key, which)[0] * classes.signs[column]
    winner = machines.winners(values)
    for place in np.unique(own[sole]).tolist():
        winner[sole & (own == place)] = machines.winners_without(
            place, values[sole & (own == place)]
        )
    correct = (winner == own) & ~sole
    return run.record(
        error=float(np.mean(~correct)),
        decision=values[:, 0] if machines.n_classes == 2 else values,
        prediction=classes.labels.take(winner),
        correct=correct,
    )
