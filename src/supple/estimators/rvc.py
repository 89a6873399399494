"""Relevance vector classification."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logsumexp
from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import StrOptions

from supple import rvm
from supple.errors import InfeasibleError
from supple.estimators._batch import check_query
from supple.estimators._classifier import BaseClassifier
from supple.estimators._docs import completed_by
from supple.estimators._labels import LabelTable, whole_class_weight
from supple.estimators._model import Batch
from supple.estimators._params import check_class_weight, show
from supple.estimators._rvm import BaseRVM, Relevance
from supple.estimators._targets import Labels, first_labels
from supple.locks import reads, replaces
from supple.multiclass import OneVsOne, OneVsRest, Plan
from supple.progress import Progress


class RVC(ClassifierMixin, BaseRVM):
    """Classify by few kernels, with probabilities, by sparse Bayesian learning.

    For two classes the model is::

        p(y = 1 | x) = 1 / (1 + exp(-f(x))),    f(x) = b + sum_j w_j k(x, x_j),
        w_j ~ N(0, 1 / alpha_j),

    with a flat prior on b. The precisions alpha_j maximise the marginal likelihood
    prod_i p(y_i | x_i)^c_i, integrated over b and w by Laplace's approximation, with
    c_i = sample_weight_i * class_weight[y_i]. Most alpha_j become infinite; the x_j of the others
    are the relevance vectors. The kernel need not be positive definite. The search changes all
    alpha_j at once (MacKay), then one at a time (Tipping and Faul), from several starts; each ends
    at a local maximum, and the highest is taken.

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        As in :class:`SVC`.
    degree : int, default=3
        Degree of the polynomial kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        Kernel coefficient. "scale" is 1 / (n_features * X.var()) and "auto" is 1 / n_features, of
        all examples held.
    coef0 : float, default=0.0
        Constant in the polynomial and sigmoid kernels.
    tol : float, default=1e-3
        Gain in the logarithm of the marginal likelihood below which a change is not made.
    class_weight : dict or "balanced", default=None
        Factors on the weights by label, 1 for those not named. "balanced" gives every class the
        same total.
    max_iter : int, default=-1
        Limit on the number of changes in each machine, beyond which there is a NotConvergedWarning;
        -1 for none.
    verbose : bool or int, default=False
        Print one line for each fit and, about once a second, the progress of long ones.
    n_jobs : int, default=None
        Threads that compute kernel values; None means 1, -1 all processors. The search uses one
        thread, and its result does not depend on their number.
    multi_class : {"ovr", "ovo"}, default="ovr"
        One machine per class against the rest, or one per pair of classes. All share the kernel
        matrix.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted labels of the classes that have examples with positive weight.
    relevance_ : ndarray of shape (n_relevance,)
        Positions of the relevance vectors of all machines among the examples, in order of arrival.
    relevance_vectors_ : ndarray or CSR of shape (n_relevance, n_features)
        Relevance vectors.
    n_relevance_ : ndarray of shape (n_machines,)
        Number of relevance vectors of each machine; 0 if it is the bias alone.
    dual_coef_, alpha_ : ndarray of shape (n_machines, n_relevance)
        Posterior modes of the weights, and their prior precisions (infinite where a machine does
        not use a vector).
    intercept_ : ndarray of shape (n_machines,)
        Posterior modes of b.
    log_marginal_likelihood_ : ndarray of shape (n_machines,)
        Logarithm of the marginal likelihood, Laplace's approximation.
    n_iter_ : ndarray of shape (n_machines,)
        Number of changes that were made, of one alpha_j or of all at once, from all starts.
    n_samples_seen_ : int
        Examples learned since the last `fit`.
    n_kernel_evals_ : int
        Kernel values computed for learning since the last `fit`: the square of the number of
        examples held, at every fit; none if the kernel is precomputed.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had string column names.

    Notes
    -----
    A fit holds the n x n kernel matrix. The machine is a batch method: `partial_fit` stores the
    examples and fits to all of them.

    Examples
    --------
    >>> import numpy as np
    >>> from supple import RVC
    >>> x = np.linspace(-3, 3, 60)[:, None]
    >>> model = RVC(gamma=0.5).fit(x, np.where(np.abs(x[:, 0]) < 1, "in", "out"))
    >>> model.predict([[0.0], [2.0]])
    array(['in', 'out'], dtype='<U3')
    >>> bool(model.n_relevance_[0] < 5), bool(model.predict_proba([[2.0]])[0, 1] > 0.9)
    (True, True)
    """

    _parameter_constraints: dict[str, Any] = {
        **BaseRVM._parameter_constraints,
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "multi_class": [StrOptions({"ovr", "ovo"})],
    }
    _targets = Labels()

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        class_weight: Any = None,
        max_iter: int = -1,
        verbose: bool | int = False,
        n_jobs: int | None = None,
        multi_class: str = "ovr",
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.multi_class = multi_class

    # ------------------------------------------------------------------ hooks of the base

    def _first_labels(self, classes: ArrayLike | None) -> tuple[LabelTable, dict[int, float]]:
        return first_labels(self.class_weight, classes)

    def _check_params(self) -> None:
        if isinstance(self.class_weight, dict):
            check_class_weight(type(self).__name__, self.class_weight)

    def _later_labels(self, model: Relevance, classes: ArrayLike | None) -> LabelTable:
        held = np.unique(model.targets).astype(np.intp).tolist()  # also those of weight 0
        return model.labels.declare(classes, map(model.labels.label, held))

    def _train(
        self, K: NDArray[np.float64], batch: Batch, whole: bool, progress: Progress | None
    ) -> tuple[list[int], list[rvm.Posterior]]:
        y, weight, labels = batch.targets, batch.weight, batch.labels
        total = np.bincount(y.astype(np.intp), weights=weight)
        codes = sorted(np.flatnonzero(total).tolist(), key=labels.label)
        if len(codes) < 2 and not whole:
            return codes, []  # a stream may begin with one class
        given = self.class_weight if isinstance(self.class_weight, dict) else None
        by_code = labels.weights(given)[0]
        if whole or self.class_weight == "balanced":
            name = type(self).__name__
            by_code = whole_class_weight(name, self.class_weight, by_code, y, weight, labels)
        factor = np.array([by_code.get(code, 1.0) for code in range(int(y.max()) + 1)])
        weight = weight * factor[y.astype(np.intp)]
        self._check_heaviest(weight)
        machines = []
        plan, keys = self._plan(codes)
        for number, key in enumerate(keys, start=1):
            if progress is not None:
                progress.at("machine", number, len(keys))
            at = np.flatnonzero(plan.members(key, y) & (weight > 0.0))
            found = rvm.classify(
                K[np.ix_(at, at)] if len(at) < len(K) else K,
                (plan.targets(key, y[at]) > 0.0).astype(np.float64),
                weight[at],
                float(self.tol),
                int(self.max_iter),
                progress,
            )
            machines.append(found.among(at))
        return codes, machines

    def _plan(self, codes: list[int]) -> tuple[Plan, list[tuple[int, ...]]]:
        """Return the plan and its machines; for two classes one, positive on the second."""
        plan: Plan = OneVsRest() if self.multi_class == "ovr" else OneVsOne()
        return plan, plan.keys(codes if len(codes) > 2 else codes[::-1])

    # ------------------------------------------------------------------ public methods

    @completed_by(BaseClassifier.fit)
    @replaces
    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the machine to a training set, replacing what was learned before."""
        return self._learn(X, y, sample_weight, whole=True)

    @completed_by(BaseClassifier.partial_fit)
    @replaces
    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Store examples and fit to all that are held; start a model if there is none.

        Parameters
        ----------
        classes : array-like, default=None
            All labels that may ever occur; other labels are then an error.

        Returns
        -------
        self : object
            The model that `fit` gives on all examples held.
        """
        return self._learn(X, y, sample_weight, classes, whole=False)

    @reads
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the log odds of the predictive probabilities.

        For one machine they are the moderated f(x), m / sqrt(1 + pi v / 8) with the posterior
        mean m and variance v of f(x); they approach 0 as v grows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Query points.

        Returns
        -------
        decision : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes: positive for ``classes_[1]``. More classes: one column per class, for
            ``multi_class="ovo"`` the sum of its probabilities against the others.
        """
        model = self._held()
        odds = self._odds(X, model)
        if len(model.codes) == 2:
            return odds[:, 0]
        if model.params["multi_class"] == "ovr":
            return odds
        votes = np.zeros((len(odds), len(model.codes)))
        for column, (i, j) in zip(odds.T, _pairs(model), strict=True):
            votes[:, i] += expit(column)
            votes[:, j] += expit(-column)
        return votes

    def _odds(self, X: Any, model: Relevance) -> NDArray[np.float64]:
        """Return the moderated log odds, one column for each machine."""
        query = check_query(self, X, model)
        if len(model.codes) < 2:
            raise InfeasibleError(
                f"The decision function of {type(self).__name__} needs two classes; so far only "
                f"class {show(self.classes_[0])} has examples with weight. predict gives that one."
            )
        mean, variance = model.moments(query, self._threads())
        return mean / np.sqrt(1.0 + np.pi / 8.0 * variance)

    @reads
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict the probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Query points.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
            Two classes: 1 / (1 + exp(-decision)). One-vs-rest: the same for each class, divided
            by their sum. One-vs-one: the mean of the pairwise probabilities, divided by theirs.
        """
        model = self._held()
        if len(model.codes) < 2:
            return np.ones((check_query(self, X, model).shape[0], 1))
        decision = self.decision_function(X)
        if decision.ndim == 1:
            return np.column_stack([expit(-decision), expit(decision)])
        if model.params["multi_class"] == "ovr":
            # Far from every class all may underflow; relative to the largest they do not.
            logs = -np.logaddexp(0.0, -decision)
            decision = np.exp(logs - logs.max(axis=1, keepdims=True))
        return decision / decision.sum(axis=1, keepdims=True)

    @reads
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict the logarithm of the probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Query points.

        Returns
        -------
        log_p : ndarray of shape (n_samples, n_classes)
            Logarithms of `predict_proba`, finite even where a probability underflows.
        """
        model = self._held()
        if len(model.codes) < 2:
            return np.zeros((check_query(self, X, model).shape[0], 1))
        odds = self._odds(X, model)
        if len(model.codes) == 2:
            return -np.logaddexp(0.0, np.column_stack([odds, -odds]))
        if model.params["multi_class"] == "ovr":
            logs = -np.logaddexp(0.0, -odds)
        else:
            logs = np.full((len(odds), len(model.codes)), -np.inf)
            for column, (i, j) in zip(odds.T, _pairs(model), strict=True):
                logs[:, i] = np.logaddexp(logs[:, i], -np.logaddexp(0.0, -column))
                logs[:, j] = np.logaddexp(logs[:, j], -np.logaddexp(0.0, column))
        return logs - logsumexp(logs, axis=1, keepdims=True)

    @reads
    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each point.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Query points.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            Labels of the most probable classes.
        """
        model = self._held()
        if len(model.codes) < 2:
            return self.classes_.repeat(check_query(self, X, model).shape[0])
        decision = self.decision_function(X)
        if decision.ndim == 1:
            return self.classes_.take((decision >= 0.0).astype(np.intp))
        return self.classes_.take(decision.argmax(axis=1))

    # ------------------------------------------------------------------ fitted attributes

    @property
    @reads
    def classes_(self) -> NDArray[Any]:
        """Sorted labels of the classes that have examples with positive weight."""
        model = self._held()
        return model.labels.array(model.codes)

    @property
    @reads
    def log_marginal_likelihood_(self) -> NDArray[np.float64]:
        """Logarithm of the marginal likelihood of each machine."""
        return np.array([machine.log_evidence for machine in self._held().machines])

    @property
    @reads
    def n_iter_(self) -> NDArray[np.int32]:
        """Number of changes that were made in each machine."""
        return np.array([machine.n_iter for machine in self._held().machines], dtype=np.int32)


def _pairs(model: Relevance) -> Iterator[tuple[int, int]]:
    """Return the pairs of classes in the order of the one-vs-one machines."""
    return combinations(range(len(model.codes)), 2)
