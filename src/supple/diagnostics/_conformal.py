"""Conformal prediction: sets of labels with a guaranteed coverage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state

from supple.diagnostics._candidates import Candidates, Scores, first_equals, score_all
from supple.diagnostics._checks import examine
from supple.diagnostics._conformal_base import ConformalPredictor, check_level, fresh, held
from supple.errors import InvalidInputError
from supple.estimators import SVC
from supple.estimators._batch import check_batch, check_query
from supple.estimators._ids import IdsLike
from supple.estimators._machines import Machines
from supple.estimators._model import Batch, Model, Names
from supple.interrupts import Shielded
from supple.locks import guards
from supple.problems import CSVC

__all__ = ["ConformalClassifier"]

_AT_A_TIME = 64  # queries in the machines at a time


class ConformalClassifier(ClassifierMixin, ConformalPredictor):
    r"""Full conformal prediction with an exact support vector classifier.

    For each query and each possible label, the example is added to the classifier exactly, the
    nonconformity scores of all examples are computed, and the example is removed again, to the last
    bit. No examples are set aside for calibration, and nothing is fitted anew. The score is large
    for examples unlike the others:

    .. math::
        s_i = \frac{|x_i|}{C_i} + \bigl(1 - y_i f(x_i)\bigr) ,

    its dual coefficient as a share of its bound, the classical choice for support vector machines.
    The second term orders examples at 0 (where it is at most 0) and at the bound (where it is at
    least 0) by their margins; it is 0 for all others. With ``loss="squared_hinge"`` there is no
    bound, and the score is the second term. With several machines the score is the largest over
    those trained on the example. With the scores :math:`s_1, \dots, s_n` of the examples
    held and :math:`s_{n+1}` of the candidate,

    .. math:: p = \frac{\#\{i \le n + 1 : s_i \ge s_{n+1}\}}{n + 1} ,

    and if the examples are exchangeable, the p-value of the true label is at most
    :math:`\epsilon` with probability at most :math:`\epsilon`, whatever their distribution.

    Parameters
    ----------
    estimator : SVC, SimpleSVC or another exact classifier with cost C, default=None
        Copied at `fit`. None: ``SVC()``.
    mondrian : bool, default=False
        Compare a candidate only with the examples of its class, so that the guarantee holds within
        each class.
    smoothed : bool, default=False
        Count ties, including the candidate itself, by a random share: p-values of true labels are
        then uniform, as :class:`ExchangeabilityMartingale` assumes.
    random_state : int, RandomState instance or None, default=None
        Seed of these shares.

    Attributes
    ----------
    estimator_ : object
        The fitted classifier.
    classes_ : ndarray of shape (n_classes,)
        The labels, in the order of the columns of p-values and sets.

    Notes
    -----
    The guarantee assumes a classifier that treats all examples alike. ``gamma="scale"`` is computed
    from the first batch without the candidates: for a strict guarantee give a number. Examples of
    weight 0 do not count, candidates have weight 1, and the memory has no effect on them. The
    coefficients of examples with equal features and label are not unique; each gets their mean.

    References
    ----------
    V. Vovk, A. Gammerman, G. Shafer: Algorithmic Learning in a Random World. Springer 2005.

    Examples
    --------
    >>> from supple import SVC
    >>> from supple.datasets import load
    >>> from supple.diagnostics import ConformalClassifier
    >>> data = load("ionosphere")
    >>> conformal = ConformalClassifier(SVC(C=1.0, gamma=0.05)).fit(data.X[:300], data.y[:300])
    >>> sets = conformal.predict_set(data.X[300:], level=0.9)
    >>> sets.shape
    (51, 2)
    >>> conformal.p_values(data.X[300:302]).round(2).tolist()
    [[...], [...]]
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        mondrian: bool = False,
        smoothed: bool = False,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.mondrian = mondrian
        self.smoothed = smoothed
        self.random_state = random_state

    # ------------------------------------------------------------------ learning

    def fit(self, X: Any, y: Any, *, ids: IdsLike | None = None) -> Self:
        """Fit a copy of the estimator, replacing what was learned before.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points.
        y : array-like of shape (n_samples,)
            Class labels.
        ids : iterable of int, str or other hashable, default=None
            Ids of the examples, for `forget`.

        Returns
        -------
        self : object
        """
        return self._begin(fresh(self, SVC, CSVC).fit(X, y, ids=ids))

    def partial_fit(
        self, X: Any, y: Any, classes: ArrayLike | None = None, *, ids: IdsLike | None = None
    ) -> Self:
        """Learn further examples exactly; start if there are none.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            New points.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like, default=None
            All labels that may ever occur.
        ids : iterable of int, str or other hashable, default=None
            Ids of the examples, for `forget`.

        Returns
        -------
        self : object
        """
        if hasattr(self, "estimator_"):
            self.estimator_.partial_fit(X, y, classes, ids=ids)
            return self
        return self._begin(fresh(self, SVC, CSVC).partial_fit(X, y, classes, ids=ids))

    def _begin(self, estimator: Any) -> Self:
        self._random = check_random_state(self.random_state)
        self.estimator_ = estimator
        return self

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, in the order of the columns of p-values and sets."""
        labels: NDArray[Any] = held(self).classes_
        return labels

    # ------------------------------------------------------------------ prediction

    def p_values(self, X: Any) -> NDArray[np.float64]:
        """Return the p-value of every label for every query.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Query points.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
            Conformity of each label with the examples held; small values are strange.
        """
        estimator, action = held(self), "p_values"
        with guards(estimator).writing, Shielded():
            model, _ = examine(estimator, None, action)
            codes = Machines.of(estimator, model, action).classes.codes
            points = check_query(estimator, X, model)
            p = np.empty((points.shape[0], len(codes)))
            for start in range(0, len(p), _AT_A_TIME):
                part = points[start : start + _AT_A_TIME]
                p[start : start + _AT_A_TIME] = self._tried(model, part, codes)
        return p

    def predict_set(self, X: Any, level: float = 0.9) -> NDArray[np.bool_]:
        """Return the labels that cannot be ruled out.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Query points.
        level : float, default=0.9
            Required probability that a set contains the true label, between 0 and 1.

        Returns
        -------
        sets : ndarray of bool of shape (n_samples, n_classes)
            True for labels whose p-value is greater than ``1 - level``. A set may be empty: no
            label fits.
        """
        level = check_level(self, level)
        return np.asarray(self.p_values(X) > 1.0 - level)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label with the largest p-value, the first of equal ones.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Query points.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
        """
        p = self.p_values(X)
        return self.classes_.take(np.argmax(p, axis=1))

    def learn_p_values(self, X: Any, y: Any, *, ids: IdsLike | None = None) -> NDArray[np.float64]:
        """Learn examples one by one, and return the p-value of each before it was learned.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            New points, in the order of their arrival.
        y : array-like of shape (n_samples,)
            Their labels; new classes may appear.
        ids : iterable of int, str or other hashable, default=None
            Ids of the examples, for `forget`.

        Returns
        -------
        p : ndarray of shape (n_samples,)
            The p-value of the true label of each among the examples before it, 1 for the first
            of all if not smoothed. :class:`ExchangeabilityMartingale` takes these.
        """
        started = hasattr(self, "estimator_")
        estimator = self.estimator_ if started else fresh(self, SVC, CSVC)
        if not started:
            self._random = check_random_state(self.random_state)
        with guards(estimator).writing:
            batch, labels = _checked(estimator, X, y, ids)
            p = np.empty(len(labels))
            named = X.iloc if hasattr(X, "iloc") else batch.X  # a frame names its features
            for k in range(len(p)):
                row, label = named[k : k + 1], labels[k : k + 1]
                name = None if batch.ids is None else batch.ids[k : k + 1]
                p[k] = self._p_true(estimator, row, label, name)
                estimator.partial_fit(row, label, ids=name)
        self.estimator_ = estimator
        return p

    def _p_true(self, estimator: Any, row: Any, label: NDArray[Any], ids: Any) -> float:
        """Return the p-value of an example with its label."""
        model: Model | None = estimator.__dict__.get("_model")
        if model is None or not model.state.weight.any():
            return self._p(Scores(np.empty(0), 0.0), np.empty(0, dtype=bool))
        with Shielded():
            labels = estimator._later_labels(model, None)
            batch = check_batch(estimator, row, label, None, Names(ids), labels, model)
            code = int(batch.targets[0])
            if model.state.per_class[code] > 0 and model.state.head_states:
                _require_exact(estimator, model)
                for head in model.state.head_states.values():
                    if head.core.rough:  # once: paths keep Kx up to date
                        head.core.refresh()
                return float(self._tried(model, batch.X, [code])[0, 0])
            return self._of_new_class(estimator, model, batch)

    def _of_new_class(self, estimator: Any, model: Model, batch: Batch) -> float:
        """Return the p-value of the first example of a class, or of the very first example."""
        state, engine = model.state, estimator._exact(model)
        estimator._check_update(model, "learn_p_values")
        n = state.n
        with engine.what_if():
            with engine.operation() as op:
                ids = state.number(batch.ids, 1)
                engine.add(op, batch.X, batch.targets, batch.weight, ids, None)
            rows = first_equals(state.points(np.arange(n + 1)))
            scores = score_all(state, n + 1, rows)
            found = Scores(scores[:n], float(scores[n]))
            return self._p(found, self._among(model, n, int(batch.targets[0])))

    def _tried(self, model: Model, points: Any, codes: Sequence[int]) -> NDArray[np.float64]:
        """Return the p-values of some queries, one column for each class."""
        state = model.state
        among = [self._among(model, state.n, code) for code in codes]
        p = np.empty((points.shape[0], len(codes)))
        with Candidates(state, points, model.engine.run.threads) as candidates:
            for guest, row in enumerate(p):
                found = candidates.scores(guest, codes)
                row[:] = [self._p(s, a) for s, a in zip(found, among, strict=True)]
        return p

    def _among(self, model: Model, n: int, code: int) -> NDArray[np.bool_]:
        """Return which of the first n examples a candidate of a class is compared with."""
        store = model.state.store
        counted = store.weight[:n] > 0.0
        return np.asarray(counted & (store.y[:n] == code) if self.mondrian else counted)

    def _p(self, scores: Scores, among: NDArray[np.bool_]) -> float:
        tau = 1.0 - self._random.random_sample() if self.smoothed else None
        return scores.p_value(among, tau)


def _require_exact(estimator: Any, model: Model) -> None:
    if not (model.state.settings.exact and model.state.converged):
        raise InvalidInputError(
            f"The 'estimator' given to ConformalClassifier must be exact. Got a "
            f"{type(estimator).__name__} with exact_=False: its kernel is indefinite, or its last "
            "update was stopped by max_iter or by rounding. Choose another kernel, raise max_iter, "
            "or scale the features, and fit again."
        )


def _checked(estimator: Any, X: Any, y: Any, ids: IdsLike | None) -> tuple[Batch, NDArray[Any]]:
    """Return a checked batch and its labels."""
    model: Model | None = estimator.__dict__.get("_model")
    names = Names(ids, None)
    if model is None:
        twin = estimator._unfitted()
        table, _ = twin._first_labels(None)
        batch = check_batch(twin, X, y, None, names, table, None)
    else:
        estimator._check_update(model, "learn_p_values")
        table = estimator._later_labels(model, None)
        batch = check_batch(estimator, X, y, None, names, table, model)
        model.state.number(batch.ids, batch.X.shape[0])
    return batch, batch.labels.array(batch.targets.astype(np.intp).tolist())
