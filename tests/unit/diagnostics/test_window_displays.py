"""Pictures of windows: the right ranges, the right surface, and clear refusals."""

import matplotlib

matplotlib.use("Agg")
import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

import supple
from supple.diagnostics import CourseDisplay, WindowDisplay, WindowSearchDisplay
from supple.errors import InvalidInputError


def axes():
    return Figure().subplots()


class TestWindows:
    """Windows, the search for them, and errors over time."""

    @pytest.fixture
    def model(self):
        X = np.random.default_rng(0).normal(size=(160, 2))
        y = X[:, 0] > 0
        y[80:] = X[80:, 0] < 0
        model = supple.WindowedSVC(kernel="linear")
        for start in range(0, 160, 20):
            model.partial_fit(X[start : start + 20], y[start : start + 20])
        return model

    def test_ranges(self, model):
        display = WindowDisplay.from_estimator(model, change_points=[5], ax=axes())
        history = model.window_history_
        segments = np.array(display.ranges_.get_segments())
        assert_allclose(segments[:, 1, 0] - segments[:, 0, 0], [c.n_batches for c in history])
        assert_allclose(segments[:, 0, 1], np.arange(1, 9))

    def test_surface(self, model):
        display = WindowSearchDisplay.from_estimator(model, ax=axes())
        for after, choice in enumerate(model.window_history_):
            assert display.chosen[after] == after + 2 - choice.n_batches
            for candidate in choice.search:
                begin = after + 1 - candidate.n_batches
                assert display.surface[begin, after] == candidate.estimate
        assert np.isnan(display.surface[3, 1])

    def test_course(self):
        display = CourseDisplay({"a": [1.0, np.nan], "b": [2.0, 3.0]}, x=[5, 6]).plot(axes())
        assert_allclose(display.lines_["b"].get_xydata(), [[5, 2], [6, 3]])

    @pytest.mark.parametrize(
        "call",
        [
            lambda: WindowDisplay.from_estimator(supple.SVC()),
            lambda: WindowSearchDisplay.from_estimator(supple.WindowedSVC(window="full")),
            lambda: WindowSearchDisplay([[0.1, 0.2]]),
            lambda: CourseDisplay({}),
            lambda: CourseDisplay({"a": [1.0], "b": [1.0, 2.0]}),
            lambda: WindowDisplay("abc"),
        ],
    )
    def test_bad_input(self, call):
        with pytest.raises(InvalidInputError, match="given to"):
            call()
