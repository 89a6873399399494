"""What the package shows of itself, and what every estimator offers."""

import inspect
import subprocess
import sys

import numpy as np
import pytest

import supple

ESTIMATORS = [
    each
    for each in map(supple.__dict__.get, supple.__all__)
    if inspect.isclass(each) and hasattr(each, "fit")
]


def test_dir_shows_public_names_only():
    assert set(dir(supple)) == {*supple.__all__, "datasets", "diagnostics", "errors", "streams"}
    assert all(hasattr(supple, name) for name in dir(supple))


def test_importing_the_package_loads_no_streams():
    check = "import sys, supple; assert not any('supple.streams' in name for name in sys.modules)"
    subprocess.run([sys.executable, "-c", check], check=True)
    assert callable(supple.compare)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: each.__name__)
def test_every_estimator_takes_threads_and_counts_kernel_values(estimator):
    assert len(ESTIMATORS) == 14
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] > 0).astype(int)
    seed = {"random_state": 0} if "random_state" in estimator().get_params() else {}
    one = estimator(**seed).fit(X, y)
    two = estimator(n_jobs=2, **seed).fit(X, y)
    assert one.n_kernel_evals_ > 0
    assert isinstance(one.n_kernel_evals_, int)
    np.testing.assert_allclose(two.predict(X), one.predict(X), rtol=1e-9)
