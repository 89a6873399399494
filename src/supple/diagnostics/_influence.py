"""Influence: how much better or worse a model is on a test set without each example."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple._core import make_ready_for_paths
from supple.diagnostics._checks import check_kind, check_two, examine, require_rows, warn_inexact
from supple.diagnostics._losses import ClassLoss, Loss, OutlierLoss, loss_for
from supple.diagnostics._solutions import Solution, decide, solution
from supple.engine import State
from supple.engine.departures import departures, move_without
from supple.engine.head import HeadState
from supple.estimators._batch import check_query
from supple.estimators._ids import IdsLike
from supple.estimators._outlier import BOUNDARY
from supple.estimators._params import resolve_threads
from supple.interrupts import Interruptible, Shielded
from supple.locks import guards
from supple.progress import SILENCE, Progress
from supple.solvers import solve

__all__ = ["Influence", "influence"]

_ACTION = "influence"
_AT_A_TIME = 256  # models held at a time, fewer if each has many decision values
_VALUES = 2**23


@dataclass(frozen=True, eq=False)
class Influence:
    """How the loss on a test set changes when examples are left out, each alone.

    Attributes
    ----------
    loss : str
        Name of the loss.
    base : float
        Mean loss of the model on the test set.
    n : int
        Number of examples asked for.
    n_solved : int
        Number of examples that a solver had to remove; the others change nothing.
    ids : ndarray of shape (n,)
        Their ids.
    effect : ndarray of shape (n,)
        Mean loss without the example minus `base`. Negative: the model is better without it.
        Positive: the model needs it.
    """

    loss: str
    base: float
    n: int
    n_solved: int
    ids: NDArray[Any]
    effect: NDArray[np.float64]

    @property
    def order(self) -> NDArray[np.intp]:
        """Positions in `ids` from the most negative effect to the most positive one."""
        return np.argsort(self.effect, kind="stable")

    @property
    def ranking(self) -> NDArray[Any]:
        """The ids in this order: first those without which the model is better."""
        return np.asarray(self.ids[self.order])

    def __repr__(self) -> str:
        return (
            f"Influence(loss={self.loss!r}, base={self.base:.4g}, n={self.n}, "
            f"n_solved={self.n_solved}, effect={self.effect.min():.3g} to {self.effect.max():.3g})"
        )


def influence(
    model: Any,
    X_test: Any,
    y_test: Any,
    ids: IdsLike | None = None,
    *,
    loss: str | None = None,
    n_jobs: int | None = None,
    verbose: bool | int = False,
) -> Influence:
    r"""Compute how the loss on a test set changes without each example.

    With :math:`f^{\setminus i}` the exact model without example :math:`i`, its effect is

    .. math::
        e_i = \frac{1}{m} \sum_{j=1}^m L\bigl(y_j, f^{\setminus i}(z_j)\bigr)
            - \frac{1}{m} \sum_{j=1}^m L\bigl(y_j, f(z_j)\bigr) :

    **negative if the model is better without the example**, as with a wrong label, positive if the
    model needs it. Each example is removed along the exact path as in `forget`, and restored to the
    last bit. An example that is not a support vector has no effect and costs nothing, except in
    `NuSVC`, `OneClassSVM` and `SVDD`, whose QPs depend on the weight of all examples.

    Parameters
    ----------
    model : SVC, NuSVC, SVR, OneClassSVM, SVDD or another estimator with exact updates
        Fitted and exact; it is not changed. Other threads that use it wait.
    X_test : {array-like, sparse matrix} of shape (n_test, n_features)
        Test points.
    y_test : array-like of shape (n_test,)
        Labels of classes that the model knows; targets; +1 for inliers and -1 for outliers.
    ids : int, str or other hashable, or iterable of these, default=None
        The examples to leave out, one at a time. None: all that the model holds.
    loss : {"hinge", "error"}, {"absolute", "squared"} or {"error"}, default=None
        Classifiers: the hinge loss or the share of wrong predictions. Regression: absolute or
        squared residuals. Outlier detectors: the share of wrong predictions. None: the first.
    n_jobs : int, default=None
        Threads that may factor a large margin system; -1 for all processors.
    verbose : bool, default=False
        Print the progress about once a second.

    Returns
    -------
    result : Influence
        Effects, and the ids ranked by them.

    Notes
    -----
    The hinge loss is :math:`\max(0, 1 - m)` with the margin :math:`m = y f(z)`. With several
    classes, :math:`m = \min_{c \ne y} f_{yc}(z)` is the smallest lead of the label over another
    class: :math:`f_{yc}` is the machine of the two classes, or half the difference of theirs with
    ``multi_class="ovr"``. Without the only example of a class, all other classes lead it by 1, and
    predictions are among these.

    An example leaves with its whole weight. Gamma and class weights of the model are not computed
    anew. The memory has no effect.

    Examples
    --------
    >>> from supple import SVC
    >>> from supple.datasets import load
    >>> from supple.diagnostics import influence
    >>> data = load("ionosphere")
    >>> y = data.y.copy()
    >>> y[7] = "g" if y[7] == "b" else "b"  # a wrong label
    >>> model = SVC(C=1.0, gamma=0.03).fit(data.X[:250], y[:250])
    >>> result = influence(model, data.X[250:], data.y[250:])
    >>> bool(result.effect[7] < 0)  # the model is better without it
    True
    >>> worst = result.ranking[:5]  # ids
    >>> before = model.score(data.X[250:], data.y[250:])
    >>> bool(model.forget(worst).score(data.X[250:], data.y[250:]) >= before)
    True
    """
    check_kind(model, _ACTION)
    threads = resolve_threads(_ACTION, n_jobs)
    progress = Progress(_ACTION) if verbose else None
    with guards(model).writing, Shielded():
        fitted, slots = examine(model, ids, _ACTION)
        judge = loss_for(model, fitted, _ACTION)
        require_rows(X_test, "X_test", _ACTION, "points with their targets in 'y_test'")
        points = check_query(model, X_test, fitted)
        judge.prepare(_ACTION, loss, y_test, points.shape[0])
        run = _Run(fitted.state, judge, points, slots, threads, progress)
        return run.result()


class _Run:
    """Computes effects block by block of examples, and in each block machine by machine."""

    def __init__(
        self,
        state: State,
        judge: Loss,
        points: Any,
        slots: NDArray[np.int64],
        threads: int,
        progress: Progress | None,
    ) -> None:
        self.state, self.judge, self.points, self.slots = state, judge, points, slots
        self._threads, self._progress = threads, progress
        self._n_inexact = 0

    def result(self) -> Influence:
        """Return the effects of all examples."""
        judge, n_test = self.judge, self.points.shape[0]
        base, doubt = np.empty((n_test, len(judge.keys))), 0.0
        for column in range(len(judge.keys)):
            with self._machine(column) as head, Interruptible(), self._progress or SILENCE:
                now = solution(self.state, head.core)
                base[:, column] = self._values(column, head, [now])[0]
                doubt = self._doubt(now)
        at_base = judge.of(base, doubt)
        gone, moving = self._vanishing(), self._moving()
        effect = np.zeros(len(self.slots))
        (concerned,) = np.nonzero(moving.any(axis=1) | (gone >= 0))
        step = max(1, min(_AT_A_TIME, _VALUES // max(1, base.size)))
        for start in range(0, len(concerned), step):
            block = concerned[start : start + step]
            if self._progress is not None:
                self._progress.at("example", start + 1, len(concerned))
            values, doubts = self._without(block, moving[block], base)
            for k, without, unsure in zip(block.tolist(), values, doubts, strict=True):
                own = None if gone[k] < 0 else int(gone[k])
                effect[k] = judge.of(without, unsure, own) - at_base
        warn_inexact(self._n_inexact, "without an example")
        ids = np.asarray(self.state.ids[self.slots])
        n_solved = int(np.count_nonzero(moving.any(axis=1)))
        return Influence(judge.name, at_base, len(ids), n_solved, ids, effect)

    # ------------------------------------------------------------------ who matters

    def _vanishing(self) -> NDArray[np.intp]:
        """Return for each example the place of its class if it is its only example, else -1."""
        state, judge = self.state, self.judge
        out = np.full(len(self.slots), -1, dtype=np.intp)
        if isinstance(judge, ClassLoss):
            machines, weight = judge.machines, state.weight
            place = machines.places(state.y)
            counts = np.bincount(place[weight > 0.0], minlength=machines.n_classes)
            own = place[self.slots]
            sole = (weight[self.slots] > 0.0) & (counts[own] == 1)
            out[sole] = own[sole]
        else:
            check_two(state, _ACTION)
        return out

    def _moving(self) -> NDArray[np.bool_]:
        """Return which machines (columns) must be solved without which examples (rows)."""
        state, judge, gone = self.state, self.judge, self._vanishing()
        y, weight = state.y[self.slots], state.weight[self.slots]
        out = np.empty((len(self.slots), len(judge.keys)), dtype=bool)
        for column, key in enumerate(judge.keys):
            needed = state.plan.members(key, y) & (weight > 0.0)
            if not state.problem.needs_mass:
                with self._machine(column), Interruptible():  # reading may refresh Kx
                    reader = state.heads[key]
                    needed &= np.isin(self.slots, np.concatenate([reader.slots, reader.bounding()]))
            if isinstance(judge, ClassLoss):
                # Without the only example of a class there is no machine for it.
                sides = [p for p in judge.machines.sides[column] if p is not None]
                needed &= ~((gone >= 0) & (np.isin(gone, sides) | (judge.machines.n_classes == 2)))
            out[:, column] = needed
        return out

    # ------------------------------------------------------------------ without them

    def _without(
        self, block: NDArray[np.intp], moving: NDArray[np.bool_], base: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the values of all machines without each of some examples, and their doubts."""
        values, doubts = np.tile(base, (len(block), 1, 1)), np.zeros(len(block))
        for column in range(moving.shape[1]):
            (rows,) = np.nonzero(moving[:, column])
            if not len(rows):
                continue
            if self._progress is not None:
                self._progress.at("machine", column + 1, moving.shape[1])
            with self._machine(column) as head:
                found = self._solutions(head, self.slots[block[rows]])
                with Interruptible(), self._progress or SILENCE:
                    values[rows, :, column] = self._values(column, head, found)
            doubts[rows] = [self._doubt(one) for one in found]
        return values, doubts

    @contextmanager
    def _machine(self, column: int) -> Iterator[HeadState]:
        """Yield a head, and restore it at the end."""
        state = self.state
        gram, head = state.gram, state.head_states[self.judge.keys[column]]
        assert gram is not None
        before, gram.core.threads = gram.core.threads, self._threads
        saved = head.core.save(for_trials=True)
        try:
            yield head
        finally:
            head.core.restore(saved)
            gram.core.threads = before
            gram.core.release()

    def _solutions(self, head: HeadState, slots: NDArray[np.int64]) -> list[Solution]:
        """Return the solutions of a head without each of these members."""
        state, core = self.state, head.core
        leaving = departures(state, head, slots)
        with Interruptible(), self._progress or SILENCE:
            make_ready_for_paths(core)
        ready, found = core.save(for_trials=True), []
        for k in range(len(slots)):
            with Interruptible(), self._progress or SILENCE:
                result = solve(core, move_without(core, leaving, k), state.settings, cold=False)
                found.append(solution(state, core))
            self._n_inexact += not result.within_tolerance
            core.restore(ready)
        return found

    def _values(
        self, column: int, head: HeadState, solutions: list[Solution]
    ) -> NDArray[np.float64]:
        values = decide(self.state, self.points, head.core.slot, solutions)
        return values * float(self.judge.signs[column])

    def _doubt(self, one: Solution) -> float:
        """Return the size up to which a decision value of an outlier detector may be 0."""
        if not isinstance(self.judge, OutlierLoss):
            return 0.0
        return max(one.doubt, BOUNDARY * abs(one.decision_rule.intercept))
