"""The logistic likelihood: the mode of the weights and Laplace's approximation of the evidence."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_solve, cholesky
from scipy.linalg.lapack import dtrtri
from scipy.special import expit

from supple.rvm._gaussian import Floats, Posterior

_NEWTON_STEPS = 100
_NEWTON_GAIN = 1e-10  # of the log posterior; far below any tolerance of the evidence


class Peak(NamedTuple):
    """The end of Newton's method: weights, values, precisions (27), and the factor."""

    w: Floats
    bias: float
    eta: Floats
    p: Floats
    b: Floats
    centre: Floats
    L: Floats  # of the Hessian, the bias integrated out
    log_evidence: float

    def root_covariance(self) -> Floats:
        """Return a matrix R with covariance R'R."""
        if not len(self.L):
            return self.L  # LAPACK takes no empty matrices
        inverse: Floats = dtrtri(self.L, lower=1)[0]
        return inverse


class Mode(NamedTuple):
    """A posterior at its mode, with values, probabilities and precisions (27)."""

    posterior: Posterior
    eta: Floats
    p: Floats
    b: Floats


class Logistic:
    """Two classes and a kernel matrix; parameters as for :func:`classify`."""

    def __init__(self, K: Floats, t: Floats, weight: Floats) -> None:
        self.K, self.t, self.weight = K, t, weight

    @property
    def prior_bias(self) -> float:
        """Log odds of the classes: the mode of the bias without functions."""
        return float(np.log(self.weight @ self.t) - np.log(self.weight @ (1.0 - self.t)))

    def linearised(self, mode: Mode) -> Floats:
        """Return precisions times targets of the Gaussian model (27)."""
        return mode.b * mode.eta + self.weight * (self.t - mode.p)

    def mode(self, members: NDArray[np.intp], alpha: Floats, w: Floats, bias: float) -> Mode | None:
        """Find the mode for fixed precisions; None if float64 does not suffice."""
        peak = self.climb(np.ascontiguousarray(self.K[:, members]), alpha, w, bias)
        if peak is None:
            return None
        root = peak.root_covariance()
        posterior = Posterior(
            members.copy(), alpha.copy(), peak.w, root.T @ root, peak.bias,
            1.0 / float(peak.b.sum()), peak.centre, 0.0, peak.log_evidence, 0, False,
        )  # fmt: skip
        return Mode(posterior, peak.eta, peak.p, peak.b)

    def climb(
        self, Phi: Floats, alpha: Floats, w: Floats, bias: float, enough: float = 0.0
    ) -> Peak | None:
        """Take steps of Newton's method until the next one promises a negligible gain.

        With `enough` > 0 a smaller gain is negligible, and precisions and Hessian are those of the
        last step but one, which saves a factorisation.
        """
        t, weight = self.t, self.weight

        def value(eta: Floats, w: Floats) -> float:
            # After a far too long step the log posterior is -inf or NaN; the step is then halved.
            with np.errstate(over="ignore", invalid="ignore"):
                return float(weight @ (t * eta - np.logaddexp(0.0, eta)) - 0.5 * alpha @ (w * w))

        def next_step() -> tuple[Floats, float, float]:
            error = weight * (t - expit(eta))
            slope, slope_bias = error @ Phi - alpha * w, float(error.sum())
            step = cho_solve((L, True), slope - centre * slope_bias, check_finite=False)
            step_bias = slope_bias / total - float(centre @ step)
            return step, step_bias, float(slope @ step) + slope_bias * step_bias

        eta = Phi @ w + bias
        height = value(eta, w)
        for k in range(_NEWTON_STEPS):
            if enough and k and next_step()[2] < enough:
                break
            p = expit(eta)
            b = weight * p * expit(-eta)
            total = float(b.sum())
            if not total > 0.0:
                return None
            centre = b @ Phi / total
            away = (Phi - centre) * np.sqrt(b)[:, None]
            H = away.T @ away
            H.flat[:: len(H) + 1] += alpha
            try:
                L = cholesky(H, lower=True, check_finite=False)
            except LinAlgError:
                return None
            step, step_bias, promise = next_step()
            if promise < max(enough, _NEWTON_GAIN):
                break
            direction, length = Phi @ step + step_bias, 1.0
            while not value(eta + length * direction, w + length * step) >= height:
                length /= 2.0
                if length < 1e-10:  # no ascent, up to rounding
                    break
            w, bias, eta = w + length * step, bias + length * step_bias, eta + length * direction
            height = value(eta, w)
        log_det = 2.0 * float(np.log(L.diagonal()).sum()) + np.log(total)
        evidence = height + 0.5 * (float(np.log(alpha).sum()) - log_det + np.log(2.0 * np.pi))
        return Peak(w, float(bias), eta, p, b, centre, L, float(evidence))
