"""Relevance vector regression."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin

from supple import rvm
from supple.errors import OverfitWarning, warn_user
from supple.estimators._batch import check_query
from supple.estimators._docs import completed_by
from supple.estimators._model import Batch
from supple.estimators._rvm import BaseRVM
from supple.estimators._targets import Numbers
from supple.estimators.rvc import RVC
from supple.locks import reads, replaces
from supple.progress import Progress

# Determined parameters per target beyond which the noise estimate is meaningless.
_MOST_DETERMINED = 0.5


@completed_by(RVC)
class RVR(RegressorMixin, BaseRVM):
    """Fit a function by few kernels, with error bars, by sparse Bayesian learning.

    The model is::

        y_i = f(x_i) + noise,    f(x) = b + sum_j w_j k(x, x_j),    w_j ~ N(0, 1 / alpha_j),

    with a flat prior on b and Gaussian noise. The precisions alpha_j and the noise maximise the
    marginal likelihood prod_i p(y_i | f(x_i))^sample_weight_i, integrated over b and w. Most
    alpha_j become infinite; the x_j of the others are the relevance vectors. The kernel need not
    be positive definite. The search is that of Tipping and Faul, one alpha_j at a time, and ends
    at a local maximum.

    Attributes
    ----------
    relevance_ : ndarray of shape (n_relevance,)
        Positions of the relevance vectors among the examples, in order of arrival.
    n_relevance_ : ndarray of shape (1,)
        Number of relevance vectors; 0 if the model is the bias alone.
    dual_coef_, alpha_ : ndarray of shape (1, n_relevance)
        Posterior means of the weights, and their prior precisions.
    intercept_ : ndarray of shape (1,)
        Posterior mean of b.
    noise_ : float
        Standard deviation of the noise, at least a thousandth of that of the targets: without a
        bound the likelihood of an interpolating model is infinite. 0 if all targets are equal.
    log_marginal_likelihood_ : float
        Logarithm of the marginal likelihood; infinite if all targets are equal.
    n_iter_ : int
        Number of changes of an alpha_j that were made.

    Notes
    -----
    With narrow kernels (large gamma), the marginal likelihood may be largest for a model that
    nearly interpolates the targets; the error bars are then far too small. A fit that ends with
    more than half as many determined parameters as targets gives an OverfitWarning.

    A fit holds the n x n kernel matrix. The machine is a batch method: `partial_fit` stores the
    examples and fits to all of them.

    Examples
    --------
    >>> import numpy as np
    >>> from supple import RVR
    >>> x = np.linspace(-10, 10, 100)[:, None]
    >>> noise = np.random.default_rng(0).normal(scale=0.1, size=100)
    >>> model = RVR(gamma=0.1).fit(x, np.sinc(x[:, 0] / np.pi) + noise)
    >>> bool(model.n_relevance_[0] < 10), round(model.noise_, 1)
    (True, 0.1)
    >>> mean, std = model.predict([[0.0]], return_std=True)
    >>> bool(abs(mean[0] - 1.0) < 2 * std[0])
    True
    """

    _targets = Numbers()

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        max_iter: int = -1,
        verbose: bool | int = False,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _train(
        self, K: NDArray[np.float64], batch: Batch, whole: bool, progress: Progress | None
    ) -> tuple[list[int], list[rvm.Posterior]]:
        self._check_heaviest(batch.weight)
        at = np.flatnonzero(batch.weight)
        found = rvm.regress(
            K[np.ix_(at, at)] if len(at) < len(K) else K,
            batch.targets[at],
            batch.weight[at],
            float(self.tol),
            int(self.max_iter),
            progress,
        )
        return [], [found.among(at)]

    def _report(self, action: str, seconds: float) -> None:
        super()._report(action, seconds)
        model = self._held()
        determined, n = model.machines[0].determined, float(model.weight.sum())
        if len(model.slots) and determined > _MOST_DETERMINED * n:
            warn_user(
                f"RVR spends {determined:.0f} parameters on {n:.0f} targets. With so narrow a "
                "kernel the marginal likelihood is largest where functions explain what is noise: "
                "noise_ and the error bars are too small. Choose a smaller gamma (now "
                f"{model.gamma:.3g}) or another kernel.",
                OverfitWarning,
            )

    @completed_by(RVC.fit)
    @replaces
    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the function to a training set, replacing what was learned before.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Target values.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0. Weight 2 is the same as two copies of an example; the sum must exceed 1
            unless all targets are equal.
        """
        return self._learn(X, y, sample_weight, whole=True)

    @completed_by(RVC.partial_fit)
    @replaces
    def partial_fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Store examples and fit to all that are held; start a model if there is none.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Their target values.
        """
        return self._learn(X, y, sample_weight, whole=False)

    @reads
    def predict(
        self, X: Any, return_std: bool = False
    ) -> NDArray[np.float64] | tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Predict targets, on request with error bars.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Query points.
        return_std : bool, default=False
            Whether to return standard deviations too.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            Posterior means of f(x).
        y_std : ndarray of shape (n_samples,)
            Standard deviations of a target at x, sqrt(noise_^2 + Var f(x)), if `return_std`.
        """
        model = self._held()
        mean, variance = model.moments(check_query(self, X, model), self._threads())
        if not return_std:
            return mean[:, 0]
        return mean[:, 0], np.sqrt(variance[:, 0] + model.machines[0].noise)

    @property
    @reads
    def noise_(self) -> float:
        """Standard deviation of the noise."""
        return float(np.sqrt(self._held().machines[0].noise))

    @property
    @reads
    def log_marginal_likelihood_(self) -> float:
        """Logarithm of the marginal likelihood."""
        return self._held().machines[0].log_evidence

    @property
    @reads
    def n_iter_(self) -> int:
        """Number of changes that were made."""
        return self._held().machines[0].n_iter
