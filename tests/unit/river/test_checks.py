"""River's own checks of an estimator."""

import random

import numpy as np
import pytest

river = pytest.importorskip("river")

from river import checks  # noqa: E402

from supple.river import AnomalyDetector, Classifier, Regressor  # noqa: E402


def clusters(model, scale=1):
    """A stand-in for the credit cards that River downloads: one example in twenty is strange."""
    rng = np.random.default_rng(0)
    rows = []
    for _ in range(300 * scale):
        strange = rng.random() < 0.05
        values = rng.normal(size=6) + 4.0 * strange
        rows.append((dict(zip("abcdef", values.tolist(), strict=True)), strange))
    yield rows


@pytest.fixture
def run(monkeypatch):
    def check(model):
        if isinstance(model, AnomalyDetector):
            monkeypatch.setattr(checks, "_yield_datasets", clusters)
        random.seed(0)  # the checks shuffle features
        checks.check_estimator(model)

    return check


@pytest.mark.parametrize("adapter", [Classifier, Regressor, AnomalyDetector])
def test_defaults_pass_all_checks_of_river(adapter, run):
    assert not adapter()._unit_test_skips()
    run(adapter())
