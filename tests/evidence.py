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
