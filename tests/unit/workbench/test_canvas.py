"""The canvas: every change is exact, can be taken back, and fails without a trace."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC as LibSVM

from supple.errors import InvalidInputError
from supple.kernels import KERNELS
from supple.workbench import _canvas
from supple.workbench._canvas import CANVAS_KERNELS, Canvas, Point, View
from supple.workbench._canvas_data import GENERATORS, draw, embedded


def canvas_of(n=40, seed=0, kernel="rbf", name="two moons"):
    return Canvas(draw(name, n, seed), kernel, C=1.0, gamma=1.0)


def decisions(canvas):
    return canvas.model.decision_function(canvas.view.grid())


def refitted(canvas):
    """Decision values on the grid by LIBSVM, from the points that the canvas shows."""
    points = list(canvas.points.values())
    kernel = canvas.kernel
    if kernel not in ("rbf", "linear", "poly"):
        kernel = KERNELS[kernel].of(gamma=canvas.gamma).extended
    other = LibSVM(C=canvas.C, gamma=canvas.gamma, kernel=kernel, coef0=1.0, tol=1e-10)
    other.fit(
        np.array([[p.x, p.y] for p in points]),
        [p.label for p in points],
        sample_weight=[p.weight for p in points],
    )
    return other.decision_function(canvas.view.grid())


@pytest.mark.parametrize("kernel", CANVAS_KERNELS)
def test_changes_equal_a_refit(kernel):
    canvas = canvas_of(kernel=kernel)
    canvas.learn(Point(0.3, 0.4, 1, 2.0))
    canvas.forget(3)
    canvas.alter(5, x=1.0, y=-0.5)
    canvas.alter(6, weight=0.2)
    canvas.alter(7, label=1 - canvas.points[7].label)
    canvas.retune(C=4.0)
    if kernel != "linear":
        canvas.retune(gamma=0.4)
    # LIBSVM stops at a tolerance, which the cubes of the poly kernel enlarge.
    np.testing.assert_allclose(decisions(canvas), refitted(canvas), atol=1e-4, rtol=1e-3)


def test_kernels_are_all_that_are_definite():
    assert set(CANVAS_KERNELS) == set(KERNELS) - {"sigmoid"}
    with pytest.raises(InvalidInputError, match="'kernel' must be one of rbf, "):
        canvas_of(kernel="sigmoid")


action = st.one_of(
    st.tuples(st.just("learn"), st.floats(-2, 2), st.floats(-2, 2), st.integers(0, 1)),
    st.tuples(st.just("forget"), st.integers(0, 30)),
    st.tuples(st.just("move"), st.integers(0, 30), st.floats(-2, 2), st.floats(-2, 2)),
    st.tuples(st.just("weight"), st.integers(0, 30), st.sampled_from([0.0, 0.5, 1.0, 5.0])),
    st.tuples(st.just("C"), st.floats(0.01, 100)),
    st.tuples(st.just("gamma"), st.floats(0.05, 20)),
    st.tuples(st.just("travel"), st.floats(0, 1)),
)


def perform(canvas, step):
    name, *values = step
    if name == "learn":
        canvas.learn(Point(*values))
    elif name == "forget":
        canvas.forget(values[0])
    elif name == "move":
        canvas.alter(values[0], x=values[1], y=values[2])
    elif name == "weight":
        canvas.alter(values[0], weight=values[1])
    elif name == "travel":
        canvas.travel(round(values[0] * len(canvas.changes)))
    else:
        canvas.retune(**{name: values[0]})


@settings(max_examples=25, deadline=None)
@given(st.lists(action, max_size=15))
@pytest.mark.filterwarnings("ignore::supple.NotReadyWarning")
def test_any_sequence_is_exact_and_can_be_taken_back(steps):
    canvas = canvas_of(8, name="two clouds")
    first, points = decisions(canvas), dict(canvas.points)
    for step in steps:
        if step[0] in ("forget", "move", "weight") and step[1] not in canvas.points:
            with pytest.raises(InvalidInputError, match="'point'"):
                perform(canvas, step)
        else:
            perform(canvas, step)
    assert set(canvas.model.ids_.tolist()) == set(canvas.points)
    if canvas.divided:
        assert canvas.model.kkt_violation_ < 1e-8
        np.testing.assert_allclose(decisions(canvas), refitted(canvas), atol=1e-4, rtol=1e-4)
    canvas.travel(len(canvas.changes))
    canvas.travel(0)
    assert canvas.points == points
    np.testing.assert_allclose(decisions(canvas), first, atol=1e-8)


def test_sets_are_those_of_the_margins():
    canvas = canvas_of(80, name="two clouds")
    codes = canvas.sets()
    assert set(codes.values()) == {0, 1, 2}
    for number, code in codes.items():
        margin = canvas._margin(number)
        assert margin == pytest.approx(1.0) if code == 1 else (margin < 1.0) == (code == 2)


def test_log_names_those_that_change_their_set():
    canvas = canvas_of(80)
    before = canvas.sets()
    entry = canvas.learn(Point(0.0, 0.0, 1))
    after = canvas.sets()
    moved = {number for number, code in before.items() if after[number] != code}
    assert {number for number, *_ in entry["moved"]} == moved
    assert entry["joined"] == _canvas.SETS[after[entry["point"]]]
    assert entry["steps"][0]["action"] == "learn"
    assert entry["kkt_before"] < 1e-9
    assert entry["kkt_after"] < 1e-9
    assert canvas.forget(entry["point"])["left"] == entry["joined"]


def test_a_movement_of_the_hand_is_one_change():
    canvas = canvas_of()
    start = canvas.points[4]
    for x in (0.1, 0.2, 0.3):
        entry = canvas.alter(4, 7, x=x, y=0.0)
    assert entry["updates"] == 3
    assert len(canvas.changes) == 1
    canvas.alter(4, 8, x=0.4, y=0.0)
    assert len(canvas.changes) == 2
    canvas.travel(0)
    assert canvas.points[4] == start


def test_a_change_in_the_past_takes_the_place_of_the_later_ones():
    canvas = canvas_of()
    for number in range(3):
        canvas.forget(number)
    canvas.travel(1)
    canvas.learn(Point(0.0, 0.0, 1))
    assert [change.kind for change in canvas.changes] == ["forget", "learn"]


def test_a_move_that_fails_leaves_the_canvas_as_it_was(monkeypatch):
    canvas = canvas_of()
    before, points = decisions(canvas), dict(canvas.points)
    learn, calls = canvas._learn_rows, []

    def failing(*args):
        calls.append(args)
        if len(calls) == 1:
            raise InvalidInputError("no")
        return learn(*args)

    monkeypatch.setattr(canvas, "_learn_rows", failing)
    with pytest.raises(InvalidInputError):
        canvas.alter(2, x=0.0, y=0.0)
    assert canvas.points == points
    assert not canvas.changes
    np.testing.assert_allclose(decisions(canvas), before, atol=1e-10)


@pytest.mark.filterwarnings("ignore::supple.NotReadyWarning")
def test_an_empty_canvas_and_one_class_have_no_boundary():
    canvas = Canvas(draw("two clouds", 0, 0), "rbf", 1.0, 1.0)
    assert canvas.decision_grid() is None
    canvas.retune(C=2.0)
    canvas.learn(Point(0.0, 0.0, 1))
    assert canvas.decision_grid() is None
    assert canvas.estimate() == (2, None)
    canvas.learn(Point(1.0, 0.0, 0))
    assert canvas.decision_grid().shape == (80 * 60,)
    canvas.forget(0)
    canvas.forget(1)
    assert canvas.decision_grid() is None
    assert canvas.model.C == 2.0


def test_estimates_leave_each_point_out():
    canvas = canvas_of(30, name="two clouds")
    version, found = canvas.estimate()
    assert version == 0
    assert canvas.estimate()[1] is found
    wrong = 0
    for number, point in list(canvas.points.items()):
        canvas.forget(number)
        value = canvas.model.decision_function([[point.x, point.y]])[0]
        wrong += (value > 0) != (point.label == 1)
        canvas.travel(canvas.position - 1)
    assert found["leave_one_out"] == pytest.approx(wrong / 30)
    assert found["difference"] < 1e-8


@pytest.mark.filterwarnings("ignore::supple.NotConvergedWarning")
def test_a_machine_that_rounding_keeps_from_its_optimum_has_no_estimates():
    canvas = canvas_of(1000, kernel="poly", name="two clouds")
    canvas.retune(C=1e6)
    assert not canvas.model.exact_
    _, found = canvas.estimate()
    assert found["leave_one_out"] is found["xi_alpha"] is None


def test_limits_of_points_and_changes(monkeypatch):
    monkeypatch.setattr(_canvas, "MOST_POINTS", 41)
    monkeypatch.setattr(_canvas, "MOST_CHANGES", 2)
    canvas = canvas_of(40)
    canvas.learn(Point(0.0, 0.0, 1))
    with pytest.raises(InvalidInputError, match="at most 41 points"):
        canvas.learn(Point(0.0, 0.0, 1))
    canvas.forget(0)
    canvas.forget(1)
    assert (len(canvas.changes), canvas.dropped) == (2, 1)
    canvas.travel(0)
    assert len(canvas.points) == 41


@pytest.mark.parametrize("name", GENERATORS)
def test_generators_draw_both_classes_within_the_view(name):
    data = draw(name, 101, 3)
    assert np.bincount(data.y).tolist() in ([51, 50], [50, 51])
    assert np.abs(data.X).max() < 8.0
    assert View.around(data.X).x0 < data.X[:, 0].min()


def test_one_class_against_the_others():
    data = embedded("yeast", (1, 2), "CYT", 300, 0)
    assert data.classes == ("the others", "CYT")
    assert len(data.y) == 300
    assert "300 of 1484" in data.note
    with pytest.raises(InvalidInputError, match="class of 'yeast'"):
        embedded("yeast", (1, 2), "nobody", 300, 0)
