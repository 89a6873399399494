"""Relevance vector regression with estimated noise."""

from __future__ import annotations

import numpy as np

from supple.errors import InvalidInputError
from supple.progress import Progress
from supple.rvm._gaussian import Floats, Posterior, SparseGaussian, burst, left

# Smallest noise variance, as a share of the variance of the targets: if the functions reproduce the
# targets, the likelihood grows without bound as the noise vanishes.
_LEAST_NOISE = 1e-6
# Initial noise, in the same unit. The evidence has several maxima: a small noise leads to models
# with many functions, a large one to models with few. The better one is taken.
_FIRST_NOISE = (0.1, 0.01)
_SMALLEST, _LARGEST = 1e-140, 1e140  # targets; squares of them are variances
_UNBROKEN = 200  # moves after which S and Q are computed anew


def regress(
    K: Floats,
    t: Floats,
    weight: Floats,
    tol: float,
    max_iter: int,
    progress: Progress | None = None,
) -> Posterior:
    """Maximise the evidence (25) over the precisions and the noise.

    Parameters
    ----------
    K : ndarray of shape (n, p)
        Kernel values k(x_n, x_j), one column for each basis function.
    t, weight : ndarray of shape (n,)
        Targets, and weights > 0.
    tol : float
        Moves that gain less in log evidence are not made, > 0.
    max_iter : int
        Largest number of moves, -1 for no limit.
    progress : Progress, optional
        Receives the progress of the search.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 21)
    >>> K = np.exp(-((x[:, None] - x) ** 2))
    >>> found = regress(K, 3.0 * K[:, 5] + 1.0, np.ones(21), 1e-6, -1)
    >>> found.members, found.mean.round(2), round(found.bias, 2)
    (array([5]), array([3.]), 1.0)
    """
    # Relative to one target, so that the mean of equal targets is exact.
    shift = t[0] + np.average(t - t[0], weights=weight)
    scale = float(np.abs(t - shift).max())
    n = float(weight.sum())
    if scale <= np.finfo(float).eps * abs(shift):
        none = np.empty(0)
        empty = np.empty(0, dtype=np.intp)
        return Posterior(
            empty, none, none, np.empty((0, 0)), float(shift), 0.0, none, 0.0, np.inf, 0, True
        )
    if n <= 1.0:
        raise InvalidInputError(
            f"The weights of the examples sum to {n:.3g}. A weight says how many copies of an "
            "example there are, and the noise takes more than one to estimate. Scale the weights "
            "to a mean of 1."
        )
    if not _SMALLEST < scale < _LARGEST:
        raise InvalidInputError(
            f"The targets differ by {scale:.0e} from their mean, whose square float64 cannot hold. "
            "Rescale y."
        )
    z = (t - shift) / scale
    scale *= float(np.sqrt(np.average(z * z, weights=weight)))
    z = (t - shift) / scale
    n_iter = 0
    searches = []
    for number, noise in enumerate(_FIRST_NOISE, start=1):
        if progress is not None:
            progress.at("search", number, len(_FIRST_NOISE), alike=False)
        search = _Regression(K, z, weight, noise)
        moves, converged = search.run(
            tol, max_iter if max_iter < 0 else max_iter - n_iter, progress
        )
        searches.append(search)
        n_iter += moves
        if not converged:
            break
    search = max(searches, key=_Regression.evidence)
    model, centre = search.model, search.model.centre()
    return Posterior(
        members=model.members,
        alpha=model.alpha / scale**2,
        mean=model.mean * scale,
        covariance=model.covariance * scale**2,
        bias=float(shift) - float(centre @ model.mean) * scale,
        bias_variance=scale**2 / model.total,
        centre=centre,
        noise=search.noise * scale**2,
        log_evidence=search.evidence() + (1.0 - n) * float(np.log(scale)),
        n_iter=n_iter,
        converged=converged,
    )


class _Regression:
    """Moves and noise in turn, on targets of mean 0 and variance 1."""

    def __init__(self, K: Floats, z: Floats, weight: Floats, noise: float) -> None:
        self._n = float(weight.sum())
        self.noise = noise
        b = weight / self.noise
        self.model = SparseGaussian(K, b, b * z)
        self._square = float(weight @ (z * z))  # <z, z> with noise 1; z has mean 0

    def evidence(self) -> float:
        """Return the log marginal likelihood (25)."""
        model = self.model
        fit = self._square / self.noise - float(model.h[model.members] @ model.mean)
        return 0.5 * float(
            np.log(model.alpha).sum()
            - model.log_det
            - np.log(model.total)
            - fit
            - (self._n - 1.0) * np.log(2.0 * np.pi)
            - self._n * np.log(self.noise)
        )

    def run(self, tol: float, max_iter: int, progress: Progress | None) -> tuple[int, bool]:
        """Return the number of moves, and whether the search has converged."""
        n_iter = 0
        evidence = self.evidence()
        while True:
            # Make all moves that gain at this noise first: an earlier update, when few functions
            # explain little, raises the noise and ends in a poorer maximum.
            most = left(max_iter, n_iter, _UNBROKEN)
            made = len(burst(self.model, tol, most, progress=progress))
            n_iter += made
            self.model.refresh()
            if n_iter == max_iter and self.model.best().gain >= tol:
                return n_iter, False
            if made < _UNBROKEN:
                self._improve_noise()
            before, evidence = evidence, self.evidence()
            # A promised gain that does not occur is rounding.
            if evidence <= before + tol:
                return n_iter, True

    def _improve_noise(self) -> None:
        """Change the noise by (26), if that raises the evidence."""
        model = self.model
        before, old = self.evidence(), self.noise
        # Residual by the normal equations: <z, z> - 2 <z, f> + <f, f>, times the noise.
        fit = float(model.h[model.members] @ model.mean)
        penalty = float(model.alpha @ model.mean**2)
        residual = max(self._square - old * (fit + penalty), 0.0)
        determined = 1.0 + float((1.0 - model.alpha * model.covariance.diagonal()).sum())
        steps = [(residual + old * determined) / self._n]  # EM step, never decreases the evidence
        if determined < self._n:
            steps.insert(0, residual / (self._n - determined))  # mostly faster
        for noise in steps:
            self._set_noise(max(noise, _LEAST_NOISE))
            if self.evidence() >= before:
                return
        self._set_noise(old)

    def _set_noise(self, noise: float) -> None:
        self.model.rescale(self.noise / noise)
        self.noise = noise
