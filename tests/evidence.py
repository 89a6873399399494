"""Marginal likelihoods of sparse Bayesian models from their definition: dense, slow, independent.

A flat prior on the bias is the limit of N(0, v) times sqrt(2 pi v), v -> inf. For Gaussian noise
that is the restricted likelihood: with C the covariance of the targets without the bias,
log N(t; b, C) integrated over b.
"""

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit


def gaussian(Phi, alpha, t, precision):
    """Return the log evidence of t = b + Phi w + noise; alpha by column, inf for absent ones."""
    C = np.diag(1.0 / precision) + (Phi / alpha) @ Phi.T
    inverse = np.linalg.inv(C)
    one = np.ones(len(t))
    mass = one @ inverse @ one
    b = (one @ inverse @ t) / mass
    log_det = np.linalg.slogdet(C)[1]
    residual = t - b
    return -0.5 * (
        (len(t) - 1) * np.log(2 * np.pi) + log_det + np.log(mass) + residual @ inverse @ residual
    )


def statistics(Phi, alpha, t, precision):
    """Return phi'P phi and phi'P t of every column, P the inverse covariance, bias taken out."""
    C = np.diag(1.0 / precision) + (Phi / alpha) @ Phi.T
    inverse = np.linalg.inv(C)
    u = inverse.sum(axis=1)
    P = inverse - np.outer(u, u) / u.sum()
    return np.einsum("ij,ij->j", Phi, P @ Phi), Phi.T @ P @ t


def mode(Phi, alpha, t, weight):
    """Return bias and weights that maximise the log posterior of the logistic model."""
    used = np.isfinite(alpha)
    A, a = Phi[:, used], alpha[used]

    def loss(v):
        eta = v[0] + A @ v[1:]
        slope = weight * (expit(eta) - t)
        value = weight @ (np.logaddexp(0.0, eta) - t * eta) + 0.5 * a @ v[1:] ** 2
        return value, np.append(slope.sum(), A.T @ slope + a * v[1:])

    def curvature(v):
        eta = v[0] + A @ v[1:]
        full = np.column_stack([np.ones(len(t)), A])
        b = weight * expit(eta) * expit(-eta)
        return (full * b[:, None]).T @ full + np.diag(np.append(0.0, a))

    start = np.zeros(1 + used.sum())
    found = minimize(
        loss, start, jac=True, hess=curvature, method="trust-exact", options={"gtol": 1e-9}
    )
    w = np.zeros(Phi.shape[1])
    w[used] = found.x[1:]
    return found.x[0], w, -found.fun, curvature(found.x)


def laplace(Phi, alpha, t, weight):
    """Return Laplace's approximation of the log evidence of the logistic model."""
    _, _, height, H = mode(Phi, alpha, t, weight)
    used = np.isfinite(alpha)
    return height + 0.5 * (np.log(alpha[used]).sum() - np.linalg.slogdet(H)[1] + np.log(2 * np.pi))


def classical(Phi, t, weight, first=1.0, sweeps=300, largest=1e9):
    """Return precisions by the algorithm of Tipping's paper, with a flat prior on the bias.

    All functions from the start, all precisions changed at once (MacKay), those beyond `largest`
    dropped, until none changes by more than a hundredth.
    """
    members = np.arange(Phi.shape[1])
    alpha, v = np.full(len(members), first), np.zeros(1 + len(members))
    for _ in range(sweeps):
        A = np.column_stack([np.ones(len(t)), Phi[:, members]])
        prior = np.append(0.0, alpha)
        v, H = _newton(A, prior, t, weight, v)
        variance = np.linalg.inv(H).diagonal()[1:]
        changed = (1.0 - alpha * variance) / v[1:] ** 2
        keep = (changed > 0.0) & (changed < largest)
        steady = keep.all() and np.abs(np.log(changed / alpha)).max(initial=0.0) < 1e-2
        members, alpha, v = members[keep], changed[keep], v[np.append(True, keep)]
        if steady:
            break
    out = np.full(Phi.shape[1], np.inf)
    out[members] = alpha
    return out


def _newton(A, prior, t, weight, v):
    """Return the maximum of the log posterior and the negative Hessian there."""

    def value(v):
        eta = A @ v
        return weight @ (t * eta - np.logaddexp(0.0, eta)) - 0.5 * prior @ v**2

    for _ in range(100):
        p = expit(A @ v)
        H = (A * (weight * p * (1.0 - p))[:, None]).T @ A + np.diag(prior)
        slope = A.T @ (weight * (t - p)) - prior * v
        step = np.linalg.solve(H, slope)
        if slope @ step < 1e-8:
            break
        length = 1.0
        while value(v + length * step) < value(v) and length > 1e-10:
            length /= 2.0
        v = v + length * step
    return v, H
