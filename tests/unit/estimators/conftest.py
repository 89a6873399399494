"""Estimators and data for the tests in this folder."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from supple import (
    SVC,
    SVDD,
    SVR,
    BudgetSVC,
    BudgetSVDD,
    NuSVC,
    OneClassSVM,
    SimpleSVC,
)

MAKERS = {
    "SVC": lambda **k: SVC(**k),
    "SimpleSVC": lambda **k: SimpleSVC(**k),
    "NuSVC": lambda **k: NuSVC(**{"nu": 0.6, **k}),
    "SVR": lambda **k: SVR(**k),
    "OneClassSVM": lambda **k: OneClassSVM(**k),
    "SVDD": lambda **k: SVDD(**{"C": 0.2, **k}),
    "BudgetSVC": lambda **k: BudgetSVC(**k),
    "BudgetSVDD": lambda **k: BudgetSVDD(**{"C": 0.2, **k}),
}


@pytest.fixture(params=list(MAKERS))
def make(request):
    """Make one of the estimators that hold all of `data`, with settings that have a solution."""
    return MAKERS[request.param]


@pytest.fixture
def data():
    """Two overlapping classes whose labels also serve as regression targets."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = np.arange(40) % 2
    X[y == 1] += 1.0
    return X, y


@pytest.fixture
def iris():
    """Three classes, standardised: LIBSVM's single precision is then good to 1e-5."""
    X, y = load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X + np.random.default_rng(0).normal(scale=0.2, size=X.shape), y
