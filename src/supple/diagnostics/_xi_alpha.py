"""Joachims' estimates of error, recall and precision from the solution alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.diagnostics._checks import check_kind, examine
from supple.errors import InvalidInputError
from supple.estimators._classifier import BaseClassifier
from supple.estimators._ids import IdsLike
from supple.estimators._machines import Machines
from supple.estimators._params import show
from supple.estimators._xi_alpha import XiAlphaTest
from supple.locks import guards
from supple.problems import CSVC

__all__ = ["MachineXiAlpha", "XiAlpha", "xi_alpha"]

_ACTION = "xi_alpha"


@dataclass(frozen=True)
class MachineXiAlpha:
    """The estimates for one binary machine of a classifier.

    Attributes
    ----------
    positive, negative : label
        The classes that it tells apart; `negative` is None for one class against the rest.
    error, recall, precision, f1 : float
        As in :class:`XiAlpha`, for the positive class.
    n : int
        Number of examples on the two sides.
    radius : float
        R^2 of the machine.
    """

    positive: Any
    negative: Any
    error: float
    recall: float
    precision: float
    f1: float
    n: int
    radius: float

    def __repr__(self) -> str:
        against = "the rest" if self.negative is None else repr(self.negative)
        return (
            f"MachineXiAlpha({self.positive!r} against {against}: {_rates(self)}, n={self.n}, "
            f"radius={self.radius:.4g})"
        )


@dataclass(frozen=True)
class XiAlpha:
    """Estimates of the performance of a classifier on new examples.

    Attributes
    ----------
    error : float
        Share of the examples that count as errors.
    recall, precision, f1 : float
        Of ``classes_[1]``; of more than two classes the means over all. NaN where there is nothing
        to count.
    n : int
        Number of examples asked for.
    rho : float
        As given.
    radius : float
        The largest R^2 of a machine.
    bounded : bool
        Whether an R^2 is a bound instead of the largest difference of kernel values.
    heads : tuple of MachineXiAlpha
        The estimates for each binary machine, in scikit-learn's order.
    """

    error: float
    recall: float
    precision: float
    f1: float
    n: int
    rho: float
    radius: float
    bounded: bool
    heads: tuple[MachineXiAlpha, ...]

    def __repr__(self) -> str:
        radius = f"{'<=' if self.bounded else ''}{self.radius:.4g}"
        return (
            f"XiAlpha({_rates(self)}, n={self.n}, rho={self.rho:g}, radius={radius}, "
            f"heads={len(self.heads)})"
        )


def _rates(record: MachineXiAlpha | XiAlpha) -> str:
    names = ("error", "recall", "precision", "f1")
    return ", ".join(f"{name}={getattr(record, name):.3f}" for name in names)


def xi_alpha(model: Any, ids: IdsLike | None = None, rho: float = 1.0) -> XiAlpha:
    r"""Estimate error, recall and precision by the :math:`\xi\alpha` method of Joachims.

    No example is left out and nothing is solved: the estimates follow from the dual variables
    :math:`\alpha_i = |x_i|` and the losses :math:`\xi_i = \max(0, 1 - y_i f(x_i))` of the model.
    An example counts as an error if

    .. math:: \rho\,\alpha_i R^2 + \xi_i \ge 1, \qquad R^2 = \max_{x, x'} k(x, x) - k(x, x') .

    With :math:`\rho = 2` every leave-one-out error is counted, provided that each class keeps a
    support vector inside its box when an example is left out. Joachims recommends
    :math:`\rho = 1`, which on average still overestimates the error. With :math:`d` the number of
    examples that count as errors, :math:`d_+` of them among the :math:`n_+` positive ones and
    :math:`d_-` among the others, the estimates are

    .. math::
        \text{error} = \frac{d}{n},\quad
        \text{recall} = 1 - \frac{d_+}{n_+},\quad
        \text{precision} = \frac{n_+ - d_+}{n_+ - d_+ + d_-},\quad
        F_1 = \frac{2 (n_+ - d_+)}{2 n_+ - d_+ + d_-} .

    Parameters
    ----------
    model : SVC, SimpleSVC, BudgetSVC or SVIncrementalSVC
        A fitted classifier with the hinge loss; it is not changed.
    ids : int, str or other hashable, or iterable of these, default=None
        The examples to count, say those of the latest batch. None: all that the model holds.
    rho : float, default=1.0
        Greater than 0.

    Returns
    -------
    estimates : XiAlpha
        With more than two classes, an example counts as an error unless it surely wins the vote:
        every machine that was trained on it and in which the test above holds votes for the other
        side, the others vote as they do now, and ties go the way `predict` takes (with
        `break_ties`, against it). One class against the rest: a single such machine is enough.
        Recall, precision and F1 are then means over the classes, where an error of one class counts
        against all others.

    Notes
    -----
    Examples are counted, not weights; these enter through :math:`\alpha_i \le C w_i`.
    The only example of its class always counts as an error. R^2 is computed for each machine from
    all kernel values among its examples. Beyond 4000 examples it is an upper bound (`bounded`): 1
    for rbf, by the Cauchy-Schwarz inequality for others.

    References
    ----------
    T. Joachims: Estimating the generalization performance of an SVM efficiently. ICML 2000.

    Examples
    --------
    >>> from supple import SVC
    >>> from supple.datasets import load
    >>> from supple.diagnostics import xi_alpha
    >>> data = load("ionosphere")
    >>> model = SVC(C=1.0).partial_fit(data.X[:250], data.y[:250])
    >>> model = model.partial_fit(data.X[250:], data.y[250:])
    >>> xi_alpha(model, rho=2.0).error >= xi_alpha(model).error
    True
    >>> xi_alpha(model, ids=range(250, 351)).n  # the latest batch
    101
    """
    check_kind(model, _ACTION)
    if not isinstance(rho, Real) or isinstance(rho, bool) or not 0.0 < float(rho) < math.inf:
        raise InvalidInputError(
            f"The 'rho' parameter of {_ACTION} must be a number > 0. Got {show(rho)} instead. 1 is "
            "the estimate, 2 the upper bound of the theory."
        )
    with guards(model).reading:
        return _estimate(model, ids, float(rho))


def _estimate(estimator: Any, ids: IdsLike | None, rho: float) -> XiAlpha:
    fitted = estimator._fitted()
    if not (isinstance(estimator, BaseClassifier) and isinstance(fitted.state.problem, CSVC)):
        raise InvalidInputError(
            f"{_ACTION} is for classifiers with the hinge loss: SVC, SimpleSVC, BudgetSVC and "
            f"SVIncrementalSVC. Got {type(estimator).__name__} instead. leave_one_out takes other "
            "machines, too."
        )
    if fitted.state.problem.squared:
        raise InvalidInputError(
            f"{_ACTION} is for the hinge loss, whose coefficients C bounds. Got a "
            f"{type(estimator).__name__} with loss='squared_hinge' instead. leave_one_out takes "
            "either loss."
        )
    machines = Machines.of(estimator, fitted, _ACTION)
    model, slots = examine(estimator, ids, _ACTION)
    test = XiAlphaTest(rho)
    own, against, wrong = test.of(model.state, machines, slots)
    heads = []
    for column, (key, (positive, negative)) in enumerate(
        zip(machines.keys, machines.sides, strict=True)
    ):
        member = (own == positive) | (own == negative) | (negative is None)
        heads.append(
            MachineXiAlpha(
                machines.label(positive),
                machines.label(negative),
                *_of_class((own == positive)[member], against[member, column]),
                n=int(member.sum()),
                radius=test.radii[key][0],
            )
        )
    return XiAlpha(
        *_summary(machines, own, wrong),
        n=len(slots),
        rho=rho,
        radius=max(radius for radius, _ in test.radii.values()),
        bounded=not all(exact for _, exact in test.radii.values()),
        heads=tuple(heads),
    )


def _of_class(
    positive: NDArray[np.bool_], wrong: NDArray[np.bool_]
) -> tuple[float, float, float, float]:
    """Return error, recall, precision and F1 of a class from the examples that count as errors."""
    right, missed = int((positive & ~wrong).sum()), int((positive & wrong).sum())
    taken = int((~positive & wrong).sum())
    return (
        _share(missed + taken, len(positive)),
        _share(right, right + missed),
        _share(right, right + taken),
        _share(2 * right, 2 * right + missed + taken),
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else math.nan


def _summary(
    machines: Machines, own: NDArray[np.intp], wrong: NDArray[np.bool_]
) -> tuple[float, float, float, float]:
    """Return error, recall, precision and F1 of the second of two classes, or means over all."""
    if machines.n_classes == 2:
        return _of_class(own == 1, wrong)
    each = np.array([_of_class(own == place, wrong) for place in range(machines.n_classes)])
    present = np.isfinite(each).any(axis=0)
    means = [math.nan] * 4
    for column in np.flatnonzero(present).tolist():
        means[column] = float(np.nanmean(each[:, column]))
    return float(wrong.mean()), means[1], means[2], means[3]
