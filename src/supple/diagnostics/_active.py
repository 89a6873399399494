"""Active learning: which examples of a pool to label next."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from supple.diagnostics._candidates import Candidates
from supple.diagnostics._checks import check_kind, examine, require_rows
from supple.diagnostics._solutions import Solution, decide
from supple.engine.head import Key
from supple.errors import InvalidInputError
from supple.estimators._batch import check_query
from supple.estimators._classifier import BaseClassifier
from supple.estimators._machines import Machines
from supple.estimators._model import Model
from supple.estimators._params import show
from supple.interrupts import Interruptible, Shielded
from supple.locks import guards
from supple.problems import CSVC
from supple.progress import Progress

__all__ = ["expected_error_reduction", "uncertainty_sampling"]

_AT_A_TIME = 64  # candidates in the machines at a time
_VALUES = 2**23


def uncertainty_sampling(model: Any, X_pool: Any, n_instances: int = 1) -> NDArray[np.intp]:
    r"""Choose the points of a pool about which a classifier is least sure.

    The margin of these is smallest: :math:`|f(z)|` for two classes, and for several the smallest
    lead of the predicted class over another one,
    :math:`\max_k \min_{c \ne k} f_{kc}(z)`, with :math:`f_{kc}` the machine of the two classes, or
    half the difference of theirs with ``multi_class="ovr"``.

    Parameters
    ----------
    model : SVC, NuSVC, LASVC or another support vector classifier of supple
        Fitted, with examples of at least two classes.
    X_pool : {array-like, sparse matrix} of shape (n_pool, n_features)
        Points without labels.
    n_instances : int, default=1
        Number of points to choose, at most n_pool.

    Returns
    -------
    positions : ndarray of int of shape (n_instances,)
        Rows of `X_pool`, the least sure first, of equal ones the first.

    Examples
    --------
    >>> from supple import SVC
    >>> from supple.datasets import load
    >>> from supple.diagnostics import uncertainty_sampling
    >>> data = load("banana")
    >>> model = SVC(gamma=1.0).fit(data.X[:20], data.y[:20])
    >>> (row,) = uncertainty_sampling(model, data.X[20:500])
    >>> model = model.partial_fit(data.X[20:500][[row]], data.y[20:500][[row]])
    """
    action = "uncertainty_sampling"
    if not isinstance(model, BaseClassifier):
        what = model.__name__ if isinstance(model, type) else type(model).__name__
        raise InvalidInputError(
            f"The 'model' given to {action} must be a fitted support vector classifier of supple, "
            f"such as SVC. Got {what} instead. Of a wrapper give the estimator inside."
        )
    with guards(model).reading:
        fitted = model._fitted()
        model._require_ready(fitted, "cannot choose yet")
        machines = Machines.of(model, fitted, action)
        points = _pool(model, fitted, X_pool, action)
        count = _count("n_instances", n_instances, points.shape[0], action)
        values = model._machines(points, fitted, machines.classes)
    margin = machines.margins(values).max(axis=1)
    return np.argsort(margin, kind="stable")[:count]


def expected_error_reduction(
    model: Any,
    X_pool: Any,
    n_instances: int = 1,
    *,
    slope: float = 4.0,
    X_risk: Any = None,
    n_candidates: int | None = None,
    random_state: Any = None,
    verbose: bool | int = False,
) -> NDArray[np.intp]:
    r"""Choose the points of a pool whose labels reduce the expected error most.

    Each candidate :math:`z` is added to the classifier exactly with each possible label :math:`k`,
    the expected error of the classifier :math:`f^{+(z, k)}` is computed, and the candidate is
    removed again, to the last bit:

    .. math::
        R(z) = \sum_k P_f(k \mid z)\, \frac{1}{m} \sum_{j=1}^m
            \Bigl(1 - \max_c P_{f^{+(z, k)}}(c \mid u_j)\Bigr) .

    The smallest :math:`R` is chosen. Probabilities are a sigmoid of the decision values with a
    fixed slope :math:`s`, :math:`P_f(+ \mid z) = 1 / (1 + e^{-s f(z)})`, for several classes the
    softmax of :math:`\frac{s}{K} \sum_{c \ne k} f_{kc}(z)`, with :math:`f_{kc}` the machine of
    the two classes, or half the difference of theirs with ``multi_class="ovr"``. They are not
    calibrated, since there are few examples at the beginning.

    Parameters
    ----------
    model : SVC, SimpleSVC or another exact classifier with the hinge loss
        Fitted and exact, with examples of at least two classes; it is not changed.
    X_pool : {array-like, sparse matrix} of shape (n_pool, n_features)
        Points without labels.
    n_instances : int, default=1
        Number of points to choose, at most n_pool. Several are judged each alone.
    slope : float, default=4.0
        The slope of the sigmoid, > 0. With 4, points on the margin are right with probability 0.98.
    X_risk : {array-like, sparse matrix} of shape (m, n_features), default=None
        Points :math:`u_j` at which errors are expected. None: the whole pool.
    n_candidates : int, default=None
        Number of points of the pool to try, drawn at random. None: all.
    random_state : int, RandomState instance or None, default=None
        Seed of this draw.
    verbose : bool, default=False
        Print the progress about once a second.

    Returns
    -------
    positions : ndarray of int of shape (n_instances,)
        Rows of `X_pool`, the best first, of equal ones the first.

    Notes
    -----
    Labels are those of the classes that have examples. The weight of a
    candidate is that of its class. The memory has no effect.

    References
    ----------
    N. Roy, A. McCallum: Toward optimal active learning through sampling estimation of error
    reduction. ICML 2001.

    Examples
    --------
    >>> from supple import SVC
    >>> from supple.datasets import load
    >>> from supple.diagnostics import expected_error_reduction
    >>> data = load("banana")
    >>> model = SVC(gamma=1.0).fit(data.X[:20], data.y[:20])
    >>> (row,) = expected_error_reduction(model, data.X[20:120])
    >>> model = model.partial_fit(data.X[20:120][[row]], data.y[20:120][[row]])
    """
    action = "expected_error_reduction"
    check_kind(model, action)
    slope = _slope(slope, action)
    progress = Progress(action) if verbose else None
    with guards(model).writing, Shielded():
        fitted, _ = examine(model, None, action)
        if not isinstance(fitted.state.problem, CSVC):
            raise InvalidInputError(
                f"The 'model' given to {action} must be an exact classifier with the hinge loss, "
                f"such as SVC. Got {type(model).__name__} instead. uncertainty_sampling takes all "
                "support vector classifiers."
            )
        machines = Machines.of(model, fitted, action)
        pool = _pool(model, fitted, X_pool, action)
        tried = np.arange(pool.shape[0])
        if n_candidates is not None:
            number = _count("n_candidates", n_candidates, len(tried), action)
            drawn = check_random_state(random_state).choice(len(tried), number, replace=False)
            tried = np.sort(drawn)
        count = _count("n_instances", n_instances, len(tried), action)
        at = pool if X_risk is None else _pool(model, fitted, X_risk, action, "X_risk")
        risk = _expected_risk(fitted, machines, pool[tried], at, slope, progress)
    return tried[np.argsort(risk, kind="stable")[:count]]


def _pool(model: Any, fitted: Model, X: Any, action: str, name: str = "X_pool") -> Any:
    """Return the pool in the form in which the model holds its points."""
    require_rows(X, name, action, "points without labels")
    return check_query(model, X, fitted)


def _count(name: str, value: Any, most: int, action: str) -> int:
    good = isinstance(value, Integral) and not isinstance(value, bool)
    if not (good and 1 <= int(value) <= most):
        raise InvalidInputError(
            f"The '{name}' given to {action} must be an integer from 1 to {most}, the number of "
            f"points to choose from. Got {show(value)} instead."
        )
    return int(value)


def _slope(value: Any, action: str) -> float:
    good = isinstance(value, Real) and not isinstance(value, bool)
    if not (good and 0.0 < float(value) < np.inf):
        raise InvalidInputError(
            f"The 'slope' given to {action} must be a number > 0. Got {show(value)} instead. 4.0 "
            "makes points on the margin right with probability 0.98."
        )
    return float(value)


def _expected_risk(
    fitted: Model,
    machines: Machines,
    candidates: Any,
    at: Any,
    slope: float,
    progress: Progress | None,
) -> NDArray[np.float64]:
    """Return the expected risk (49) after each candidate is labelled."""
    n, classes = candidates.shape[0], machines.n_classes
    values = classes * at.shape[0] * len(machines.keys)
    step = max(1, min(_AT_A_TIME, _VALUES // values))
    out = np.empty(n)
    for start in range(0, n, step):
        if progress is not None:
            progress.at("candidate", start + 1, n)
        part = candidates[start : start + step]
        probability, risk = _looked_ahead(fitted, machines, part, at, slope)
        out[start : start + step] = (probability * risk).sum(axis=1)
    return out


def _looked_ahead(
    fitted: Model, machines: Machines, guests: Any, at: Any, slope: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the probabilities of the classes of some candidates, and the risk with each."""
    state, codes = fitted.state, machines.classes.codes
    n, m, k = guests.shape[0], at.shape[0], len(codes)
    values = np.empty((n * k, m, len(machines.keys)))
    own = np.empty((n, len(machines.keys)))
    with Candidates(state, guests, fitted.engine.run.threads) as candidates:
        found: list[dict[Key, Solution]] = []
        for guest in range(n):
            found += candidates.solutions(guest, codes)
        for column, (key, sign) in enumerate(
            zip(machines.keys, machines.classes.signs.tolist(), strict=True)
        ):
            rows = [row for row, changed in enumerate(found) if key in changed]
            solutions = [candidates.present(key), *(found[row][key] for row in rows)]
            members = candidates.members(key)
            with Interruptible():
                now, *after = sign * decide(state, at, members, solutions)
                own[:, column] = sign * decide(state, guests, members, solutions[:1])[0]
            values[:, :, column] = now
            if rows:
                values[rows, :, column] = after
    sure = machines.probabilities(values.reshape(n * k * m, -1), slope).max(axis=1)
    return machines.probabilities(own, slope), 1.0 - sure.reshape(n, k, m).mean(axis=2)
