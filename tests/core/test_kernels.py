"""Kernel values of the core against their formulas, in every form of the examples."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import pairwise

from supple.gram import gram_for
from supple.kernels import RBF, Linear, Poly, Sigmoid

KERNELS = {
    "linear": (Linear(), pairwise.linear_kernel),
    "rbf": (RBF(0.3), lambda A, B: pairwise.rbf_kernel(A, B, gamma=0.3)),
    "narrow rbf": (RBF(30.0), lambda A, B: pairwise.rbf_kernel(A, B, gamma=30.0)),
    "poly": (
        Poly(gamma=0.2, coef0=1.0, degree=3),
        lambda A, B: pairwise.polynomial_kernel(A, B, 3, 0.2, 1.0),
    ),
    "sigmoid": (
        Sigmoid(gamma=0.1, coef0=-0.5),
        lambda A, B: pairwise.sigmoid_kernel(A, B, 0.1, -0.5),
    ),
}
FORMS = {
    "float64": np.asarray,
    "float32": lambda X: X.astype(np.float32),
    "csr": sp.csr_matrix,
}


def points(n, d, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7)
    return X.astype(np.float32).astype(np.float64)  # every form can hold these numbers


@pytest.mark.parametrize("d", [1, 7, 16, 33])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", KERNELS)
def test_values(name, form, d):
    kernel, formula = KERNELS[name]
    X, Z = points(70, d, 0), points(9, d, 1)
    gram = gram_for(kernel, FORMS[form](X), 1 << 21)
    gram.append(FORMS[form](X))
    values = gram.block(np.arange(70), FORMS[form](Z))
    assert values == pytest.approx(formula(Z, X), rel=1e-11, abs=1e-13)
    assert gram.diagonal(np.arange(70)) == pytest.approx(np.diag(formula(X, X)), rel=1e-11)


@pytest.mark.parametrize("name", KERNELS)
def test_other_parameters_for_the_same_examples(name):
    kernel, formula = KERNELS[name]
    X = points(30, 4, 0)
    gram = gram_for(RBF(2.0), X, 1 << 21)
    gram.append(X)
    gram.block(np.arange(30), X)
    gram.set_kernel(kernel)
    assert gram.block(np.arange(30), X) == pytest.approx(formula(X, X), rel=1e-11, abs=1e-13)
