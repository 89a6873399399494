"""A picture of novelty shows the scores, the alarms and what is known."""

import sys

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from supple import SVDD
from supple.diagnostics import DriftEvent, NoveltyDisplay
from supple.errors import InvalidInputError


@pytest.fixture(autouse=True)
def no_figures_left():
    yield
    plt.close("all")


def test_scores_alarms_and_truth():
    scores = np.array([1.0, -2.0, 0.5])
    events = [1, DriftEvent(2, "lower", 9.0, 1)]
    display = NoveltyDisplay.from_scores(scores, alarms=events, truth=[0, 1, 0])
    np.testing.assert_array_equal(display.line_.get_ydata(), -scores)
    assert display.alarms.tolist() == [1, 2]
    assert len(display.ax_.lines) == 4  # novelty, boundary, two alarms
    assert len(display.ax_.collections) == 1
    assert display.figure_ is display.ax_.figure


def test_on_axes_of_the_caller():
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = SVDD(nu=0.2).fit(X)
    figure, ax = plt.subplots()
    display = NoveltyDisplay.from_estimator(model, X, ax=ax)
    assert (display.ax_, display.figure_) == (ax, figure)
    np.testing.assert_allclose(display.novelty, -model.decision_function(X))


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"scores": []}, "scores"),
        ({"scores": [[1.0]]}, "scores"),
        ({"scores": [1.0], "truth": [1, 0]}, "truth"),
        ({"scores": [1.0], "alarms": ["noon"]}, "alarms"),
    ],
)
def test_bad_input(given, name):
    with pytest.raises(InvalidInputError, match=f"'{name}'"):
        NoveltyDisplay.from_scores(**given)
    assert not plt.get_fignums()


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="needs matplotlib"):
        NoveltyDisplay.from_scores([1.0])
