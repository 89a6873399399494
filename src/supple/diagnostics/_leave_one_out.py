"""Exact leave-one-out predictions and error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.diagnostics._checks import check_kind, check_two, examine, warn_inexact
from supple.estimators._classifier import BaseClassifier
from supple.estimators._ids import IdsLike
from supple.estimators._left_out import LeftOut
from supple.estimators._machines import Machines
from supple.estimators._outlier import BOUNDARY, BaseOutlier
from supple.estimators._params import resolve_threads
from supple.interrupts import Shielded
from supple.locks import guards
from supple.progress import Progress

__all__ = ["LeaveOneOut", "leave_one_out"]

_ACTION = "leave_one_out"


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """Leave-one-out predictions of a model.

    Attributes
    ----------
    error : float
        Classifiers: share of wrong predictions. Outlier detectors: share of examples that are
        outliers to the others. Regression: mean absolute residual.
    n : int
        Number of examples asked for.
    n_solved : int
        Number of examples that a solver had to remove.
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
    r"""Leave out each example in turn, and predict it by the model without it.

    Example :math:`i` is removed as in `forget`: its box
    :math:`[\mathrm{lo}_i, \mathrm{hi}_i]` closes along the exact path, and at the optimum

    .. math::
        f^{\setminus i}(x_i) = \sum_{j \ne i} k(x_i, x_j)\, x_j^{\setminus i} + \mu^{\setminus i}

    is computed; then the model is restored to the last bit. An example that is not a support vector
    of a machine costs nothing, except in `NuSVC`, `OneClassSVM` and `SVDD`, whose QPs depend on the
    weight of all examples.

    Parameters
    ----------
    model : SVC, NuSVC, SVR, OneClassSVM, SVDD or another estimator with exact updates
        Fitted and exact; it is not changed. Other threads that use it wait.
    ids : int, str or other hashable, or iterable of these, default=None
        The examples to leave out, one at a time. None: all that the model holds.
    n_jobs : int, default=None
        Threads that may factor a large margin system; -1 for all processors.
    verbose : bool, default=False
        Print the progress about once a second.

    Returns
    -------
    result : LeaveOneOut
        Decision values, predictions and error. The only example of a class is an error: without it
        the prediction is among the other classes.

    Notes
    -----
    An example leaves with its whole weight; `error` counts examples, not weights. Gamma and class
    weights of the model are not computed anew (``gamma="scale"``, ``class_weight="balanced"``). The
    memory has no effect.

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
        state = fitted.state
        ids_left = np.asarray(state.ids[slots])
        left = LeftOut(state, slots, threads, progress)
        if isinstance(model, BaseClassifier):
            machines = Machines.of(model, fitted, _ACTION)
            values, winner, correct = left.classified(machines)
            return _record(
                left,
                ids_left,
                error=float(np.mean(~correct)),
                decision=values[:, 0] if machines.n_classes == 2 else values,
                prediction=machines.classes.labels.take(winner),
                correct=correct,
            )
        check_two(state, _ACTION)
        value, doubt = left.single()
        if isinstance(model, BaseOutlier):
            (head,) = state.heads.values()
            value[np.abs(value) <= np.maximum(doubt, BOUNDARY * abs(head.intercept))] = 0.0
            inside = value >= 0.0
            return _record(
                left,
                ids_left,
                error=float(np.mean(~inside)),
                decision=value,
                prediction=np.where(inside, 1, -1),
                correct=inside,
            )
        residual = state.y[slots] - value
        error = float(np.abs(residual).mean())
        values = value.copy()
        return _record(
            left, ids_left, error=error, decision=value, prediction=values, residual=residual
        )


def _record(left: LeftOut, ids: NDArray[Any], **fields: Any) -> LeaveOneOut:
    """Return the result, after a warning if some of it is not exact."""
    warn_inexact(left.n_inexact, "without an example")
    return LeaveOneOut(n=len(ids), n_solved=int(left.solved.sum()), ids=ids, **fields)
