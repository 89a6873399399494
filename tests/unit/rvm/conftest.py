"""Data for the tests of sparse Bayesian learning."""

import numpy as np
import pytest


@pytest.fixture
def noisy():
    """A kernel matrix of 60 points, a smooth function with noise, and unequal weights."""
    rng = np.random.default_rng(3)
    x = np.sort(rng.uniform(-4, 4, size=60))
    K = np.exp(-((x[:, None] - x) ** 2))
    t = np.sin(2 * x) + 5.0 + 0.2 * rng.normal(size=60)
    return K, t, rng.uniform(0.5, 2.0, size=60)


@pytest.fixture
def classes(noisy):
    """The same points in two classes that overlap."""
    K, t, weight = noisy
    rng = np.random.default_rng(4)
    return K, (t - 5.0 + 0.5 * rng.normal(size=60) > 0.0).astype(float), weight
