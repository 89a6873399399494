"""Relevance vector machines: sparse Bayesian learning on the columns of a kernel matrix.

The model is f(x) = b + sum_j w_j k(x, x_j) with a flat prior on b and w_j ~ N(0, 1 / alpha_j). The
precisions alpha_j maximise the marginal likelihood ("evidence"), and for most j that means
alpha_j = inf, so w_j = 0. The symbols and equation numbers are those of section 8 of
docs/theory.md. There is no QP, and the engine is not used.
"""

from supple.rvm._classification import classify
from supple.rvm._gaussian import Posterior, SparseGaussian
from supple.rvm._regression import regress

__all__ = ["Posterior", "SparseGaussian", "classify", "regress"]
