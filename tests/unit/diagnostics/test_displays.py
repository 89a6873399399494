"""Displays: the artists hold the right numbers, the model stays as it was, bad input is refused."""

import subprocess
import sys
from types import SimpleNamespace

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest
import scipy.sparse
from sklearn.calibration import CalibrationDisplay
from sklearn.exceptions import NotFittedError
from sklearn.metrics import ConfusionMatrixDisplay

import supple
import supple.diagnostics
from supple.diagnostics import (
    ConformalClassifier,
    ConformalDisplay,
    ConformalRegressor,
    CoverageDisplay,
    ExchangeabilityMartingale,
    InfluenceDisplay,
    IntervalDisplay,
    LeaveOneOutCalibrator,
    LeaveOneOutDisplay,
    MartingaleDisplay,
    XiAlphaDisplay,
    leave_one_out,
    xi_alpha,
)
from supple.errors import InvalidInputError, UnknownIdError


def sample(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] + 0.8 * rng.normal(size=n) > 0, "yes", "no")


def fingerprint(model):
    names = ("slot", "x", "lo", "hi", "kx")  # what_if lets the factor of the margin go
    heads = model._model.state.head_states.values()
    return [[getattr(head.core, name).tobytes() for name in names] for head in heads], model.C


@pytest.fixture
def model():
    return supple.SVC(C=1.0, gamma=0.3).fit(*sample())


@pytest.fixture
def regression():
    X, _ = sample(40)
    return supple.SVR(C=5.0, gamma=0.3).fit(X, np.sin(X[:, 0])), X, np.sin(X[:, 0])


@pytest.fixture(autouse=True)
def no_open_figures():
    yield
    plt.close("all")


def record(ids=(3, 4, 5, 6), effect=(0.1, -0.5, 0.0, 0.2)):
    return SimpleNamespace(ids=np.array(ids), effect=np.array(effect))


# ---------------------------------------------------------------------- xi-alpha


def test_estimates_over_C_are_those_of_fits(model):
    X, y = sample(60)
    X_test, y_test = sample(30, seed=1)
    before = fingerprint(model)
    values = [10.0, 0.1, 1.0]
    display = XiAlphaDisplay.from_estimator(model, values, X_test=X_test, y_test=y_test, rho=2.0)
    assert fingerprint(model) == before
    fits = [supple.SVC(C=C, gamma=0.3).fit(X, y) for C in sorted(values)]
    drawn = [
        (display.xi_alpha_line_, [xi_alpha(fit, rho=2.0).error for fit in fits]),
        (display.leave_one_out_line_, [leave_one_out(fit).error for fit in fits]),
        (display.test_line_, [1.0 - fit.score(X_test, y_test) for fit in fits]),
    ]
    for line, expected in drawn:
        assert np.array_equal(line.get_xdata(), sorted(values))
        assert np.allclose(line.get_ydata(), expected)


def test_range_of_C_around_that_of_the_model(model):
    display = XiAlphaDisplay.from_estimator(model)
    assert np.allclose(display.C[[0, 6, 12]], [0.01, 1.0, 100.0])
    assert display.test_line_ is None


def test_known_estimates_are_drawn(model):
    found = xi_alpha(model), leave_one_out(model)
    display = XiAlphaDisplay.from_estimates([1.0], [found[0]], [found[1]], color="k")
    assert display.xi_alpha_line_.get_ydata() == [found[0].error]
    assert display.xi_alpha_line_.get_color() == "k"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"C": [1.0, -1.0]}, "'C'"),
        ({"C": []}, "'C' given to XiAlphaDisplay must be a row of numbers"),
        ({"C": "many"}, "'C' given to XiAlphaDisplay"),
        ({"C": [1.0], "X_test": [[0.0, 0.0, 0.0]]}, "'y_test' given to XiAlphaDisplay"),
        ({"C": [1.0], "rho": 0.0}, "rho"),
    ],
)
def test_bad_range_leaves_the_model(model, arguments, message):
    before = fingerprint(model)
    with pytest.raises(InvalidInputError, match=message):
        XiAlphaDisplay.from_estimator(model, **arguments)
    assert fingerprint(model) == before
    assert not plt.get_fignums()


def test_models_without_C_are_refused():
    with pytest.raises(InvalidInputError, match="NuSVC"):
        XiAlphaDisplay.from_estimator(supple.NuSVC(gamma=0.3).fit(*sample()))
    with pytest.raises(InvalidInputError, match="XiAlphaDisplay"):
        XiAlphaDisplay.from_estimator("model")


def test_estimates_must_be_as_many_as_values(model):
    with pytest.raises(InvalidInputError, match="'xi_alpha' given to XiAlphaDisplay must be 2"):
        XiAlphaDisplay.from_estimates([1.0, 2.0], [xi_alpha(model)], [leave_one_out(model)] * 2)
    with pytest.raises(InvalidInputError, match="without error"):
        XiAlphaDisplay.from_estimates([1.0], [0.3], [leave_one_out(model)])


# ---------------------------------------------------------------------- leave-one-out


def test_sorted_decisions_of_each_class(model):
    _, y = sample()
    before = fingerprint(model)
    display = LeaveOneOutDisplay.from_estimator(model, kind="sorted")
    assert fingerprint(model) == before
    result = leave_one_out(model)
    drawn = {group.get_label(): group.get_offsets() for group in display.groups_}
    for label in ("no", "yes"):
        points = drawn[f"class {label}"]
        assert np.allclose(np.sort(points[:, 1]), np.sort(result.decision[y == label]))
    points = np.vstack(list(drawn.values()))
    assert np.all(np.diff(points[np.argsort(points[:, 0]), 1]) >= 0.0)
    wrong = display.errors_.get_offsets()[:, 1]
    assert np.allclose(wrong, result.decision[~result.correct])


def test_histogram_counts_all_examples(model):
    display = LeaveOneOutDisplay.from_estimator(model, bins=10)
    heights = [sum(bar.get_height() for bar in group) for group in display.groups_]
    _, y = sample()
    assert heights == [np.sum(y == "no"), np.sum(y == "yes")]
    wrong = np.sum(~display.result.correct)
    assert len(display.errors_.get_offsets()) == wrong
    assert display.errors_.get_label() == f"{wrong} errors"


def test_the_only_example_of_a_class_is_counted_in_the_legend():
    X, _ = sample(12)
    model = supple.SVC(gamma=0.3).fit(X, [1] + 11 * [0])
    display = LeaveOneOutDisplay.from_estimator(model)
    assert display.errors_.get_label() == "1 errors, 1 without a value"


def test_part_of_the_examples_by_id(model):
    display = LeaveOneOutDisplay.from_estimator(model, ids=[5, 2, 9], kind="sorted")
    assert display.y.tolist() == sample()[1][[5, 2, 9]].tolist()


def test_predictions_of_a_regression(regression):
    model, _, y = regression
    display = LeaveOneOutDisplay.from_estimator(model)
    points = display.groups_[0].get_offsets()
    result = leave_one_out(model)
    assert np.allclose(points, np.column_stack([y, result.prediction]))
    assert display.errors_ is None
    sorted_ = LeaveOneOutDisplay.from_result(result, kind="sorted")
    assert np.array_equal(np.sort(sorted_.groups_[0].get_offsets()[:, 1]), np.sort(result.residual))


def test_outlier_detectors_have_one_group():
    model = supple.OneClassSVM(nu=0.2, gamma=0.3).fit(sample()[0])
    display = LeaveOneOutDisplay.from_estimator(model, kind="sorted")
    assert len(display.groups_) == 1
    assert len(display.errors_.get_offsets()) == np.sum(~leave_one_out(model).correct)


def test_what_leave_one_out_cannot_draw(model, regression):
    result = leave_one_out(model)
    with pytest.raises(InvalidInputError, match="'kind' parameter of LeaveOneOutDisplay"):
        LeaveOneOutDisplay.from_result(result, kind="prediction")
    with pytest.raises(InvalidInputError, match="'y' given to LeaveOneOutDisplay"):
        LeaveOneOutDisplay.from_result(result, y=[0, 1])
    with pytest.raises(InvalidInputError, match="'y' given to LeaveOneOutDisplay"):
        LeaveOneOutDisplay(leave_one_out(regression[0]), y=np.zeros(40))
    with pytest.raises(InvalidInputError, match="without decision"):
        LeaveOneOutDisplay(3)
    assert not plt.get_fignums()


def test_several_classes_are_for_the_confusion_matrix():
    X, _ = sample()
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    model = supple.SVC(gamma=0.3).fit(X, y)
    with pytest.raises(InvalidInputError, match="ConfusionMatrixDisplay"):
        LeaveOneOutDisplay.from_estimator(model)
    result = leave_one_out(model)
    matrix = ConfusionMatrixDisplay.from_predictions(y, result.prediction).confusion_matrix
    assert matrix.trace() == result.correct.sum()


# ---------------------------------------------------------------------- probabilities


def test_calibration_display_of_scikit_learn():
    X, y = sample(120)
    likely = LeaveOneOutCalibrator(supple.SVC(gamma=0.3)).fit(X[:80], y[:80])
    display = CalibrationDisplay.from_estimator(likely, X[80:], y[80:], n_bins=4)
    assert np.array_equal(display.y_prob, likely.predict_proba(X[80:])[:, 1])


# ---------------------------------------------------------------------- conformal


def test_coverage_and_size_are_those_of_the_sets():
    X, y = sample(90)
    conformal = ConformalClassifier(supple.SVC(gamma=0.3)).fit(X[:60], y[:60])
    before = fingerprint(conformal.estimator_)
    display = ConformalDisplay.from_estimator(conformal, X[60:], y[60:], levels=[0.9, 0.6])
    assert fingerprint(conformal.estimator_) == before
    assert isinstance(display, CoverageDisplay)
    own = np.searchsorted(conformal.classes_, y[60:])
    for level, covered, size in zip(
        display.coverage_line_.get_xdata(),
        display.coverage_line_.get_ydata(),
        display.size_line_.get_ydata(),
        strict=True,
    ):
        sets = conformal.predict_set(X[60:], level=level)
        assert covered == sets[np.arange(30), own].mean()
        assert size == sets.sum(axis=1).mean()
    assert np.array_equal(display.coverage_line_.get_xdata(), [0.6, 0.9])
    assert display.size_ax_.figure is display.figure_


def test_label_of_no_column_is_in_no_set():
    display = ConformalDisplay.from_p_values([[1.0, 1.0]], ["c"], ["a", "b"], levels=[0.9])
    assert display.coverage.tolist() == [0.0]
    assert display.size.tolist() == [2.0]


@pytest.mark.parametrize("sparse", [False, True])
def test_intervals_over_a_feature(regression, sparse):
    _, X, y = regression
    conformal = ConformalRegressor(supple.SVR(C=5.0, gamma=0.3)).fit(X, y)
    asked = scipy.sparse.csr_matrix(X[:7]) if sparse else X[:7]
    display = ConformalDisplay.from_estimator(conformal, asked, y[:7] + 1.0, level=0.8, feature=1)
    assert isinstance(display, IntervalDisplay)
    assert display.ax_.get_xlabel() == "feature 1"
    ends = conformal.predict_interval(asked, level=0.8)
    drawn = np.array([segment for segment in display.intervals_.get_segments()])
    assert np.allclose(drawn[:, 0, 0], X[:7, 1])
    assert np.allclose(drawn[:, :, 1], ends)
    assert len(display.inside_.get_offsets()) + len(display.outside_.get_offsets()) == 7
    over = display.outside_.get_offsets()[:, 1]
    assert np.array_equal(np.sort(over), np.sort((y[:7] + 1.0)[y[:7] + 1.0 > ends[:, 1]]))


def test_infinite_intervals_are_counted():
    display = ConformalDisplay.from_intervals([[-np.inf, np.inf], [0.0, 1.0]], level=0.9)
    assert len(display.intervals_.get_segments()) == 1
    assert display.intervals_.get_label() == "intervals, level 0.9 (1 infinite)"
    assert display.inside_ is None


def test_bad_conformal_input(regression):
    X, y = sample()
    conformal = ConformalClassifier(supple.SVC(gamma=0.3)).fit(X, y)
    interval = ConformalRegressor(supple.SVR(gamma=0.3)).fit(*regression[1:])
    bad = [
        (lambda: ConformalDisplay.from_estimator(conformal, X), "'y'"),
        (lambda: ConformalDisplay.from_estimator(supple.SVC(), X, y), "'conformal'"),
        (lambda: ConformalDisplay.from_p_values([[0.5]], y, ["a"]), "'p'"),
        (lambda: ConformalDisplay.from_p_values([[0.5]], ["a"], ["a"], levels=[1.0]), "'level'"),
        (lambda: ConformalDisplay.from_estimator(interval, X, feature=3), "'feature'"),
        (lambda: ConformalDisplay.from_estimator(interval, X, feature=-1), "'feature'"),
        (lambda: ConformalDisplay.from_estimator(interval, X, level=2.0), "'level'"),
        (lambda: ConformalDisplay.from_intervals([1.0, 2.0]), "'intervals'"),
        (lambda: ConformalDisplay.from_intervals([[1.0, 2.0]], [1.0, 2.0]), "'y'"),
    ]
    for call, message in bad:
        with pytest.raises(InvalidInputError, match=message):
            call()
    with pytest.raises(NotFittedError):
        ConformalDisplay.from_estimator(ConformalClassifier(), X, y)
    assert not plt.get_fignums()


# ---------------------------------------------------------------------- influence


def test_those_without_which_the_model_is_better_come_first():
    display = InfluenceDisplay.from_influence(record(), n_worst=3, highlight=[5])
    assert display.drawn_ids_.tolist() == [4, 5, 3]
    assert [bar.get_width() for bar in display.bars_] == [-0.5, 0.0, 0.1]
    colours = [bar.get_facecolor() for bar in display.bars_]
    assert colours[0] == colours[2] != colours[1]
    assert [tick.get_text() for tick in display.ax_.get_yticklabels()] == ["4", "5", "3"]
    assert display.ax_.yaxis_inverted()


def test_ids_may_be_words():
    display = InfluenceDisplay.from_influence(record(ids=list("abcd")), highlight="b")
    assert display.drawn_ids_.tolist() == ["b", "c", "a", "d"]


def test_influence_is_asked_when_it_is_needed(model, monkeypatch):
    X, y = sample(10, seed=1)
    asked = []

    def influence(model, X_test, y_test, ids=None):
        asked.append((model, X_test, y_test, ids))
        return record()

    monkeypatch.setattr(supple.diagnostics, "influence", influence, raising=False)
    display = InfluenceDisplay.from_estimator(model, X, y, [3, 4], n_worst=1)
    assert display.drawn_ids_.tolist() == [4]
    assert asked == [(model, X, y, [3, 4])]


def test_bad_influence():
    bad = [
        (lambda: InfluenceDisplay.from_influence(3), "without ids, effect"),
        (lambda: InfluenceDisplay.from_influence(record(ids=[1])), "'ids'"),
        (lambda: InfluenceDisplay.from_influence(record(effect=[[1.0, 2.0]])), "'effect'"),
        (lambda: InfluenceDisplay.from_influence(record(), n_worst=0), "'n_worst'"),
        (lambda: InfluenceDisplay.from_influence(record(), n_worst=True), "'n_worst'"),
    ]
    for call, message in bad:
        with pytest.raises(InvalidInputError, match=message):
            call()
    with pytest.raises(UnknownIdError, match="highlight"):
        InfluenceDisplay.from_influence(record(), highlight=[99])
    assert not plt.get_fignums()


# ---------------------------------------------------------------------- martingale


def test_capital_after_each_example():
    p = np.random.default_rng(0).uniform(size=30) ** 3
    display = MartingaleDisplay.from_p_values(p, alarm=5.0)
    martingale = ExchangeabilityMartingale()
    values = [1.0] + [martingale.update(each).value_ for each in p]
    assert np.allclose(10.0 ** display.line_.get_ydata(), values)
    assert display.alarm_at == np.flatnonzero(np.array(values) >= 5.0)[0]
    assert np.allclose(display.alarm_line_.get_ydata(), np.log10(5.0))
    assert MartingaleDisplay.from_p_values([0.5]).alarm_at is None


@pytest.mark.parametrize("fitted", [False, True])
def test_stream_goes_through_a_copy(fitted):
    X, y = sample(50)

    def made():
        conformal = ConformalClassifier(supple.SVC(gamma=0.3), smoothed=True, random_state=0)
        return conformal.fit(X[:20], y[:20]) if fitted else conformal

    conformal = made()
    display = MartingaleDisplay.from_estimator(conformal, X[20:], y[20:])
    assert hasattr(conformal, "estimator_") == fitted
    assert not fitted or len(conformal.estimator_.ids_) == 20
    expected = ExchangeabilityMartingale().update(made().learn_p_values(X[20:], y[20:]))
    assert np.isclose(display.log_values[-1], expected.log_value_)


def test_bad_martingale():
    bad = [
        (lambda: MartingaleDisplay.from_p_values([]), "'p'"),
        (lambda: MartingaleDisplay.from_p_values([0.5, 0.0]), "'p'"),
        (lambda: MartingaleDisplay.from_p_values([0.5], alarm=1.0), "'alarm'"),
        (lambda: MartingaleDisplay.from_estimator(supple.SVC(), [[0.0]], [0]), "'conformal'"),
    ]
    for call, message in bad:
        with pytest.raises(InvalidInputError, match=message):
            call()
    assert not plt.get_fignums()


# ---------------------------------------------------------------------- all

DRAWN = [
    lambda **axes: InfluenceDisplay.from_influence(record(), **axes),
    lambda **axes: MartingaleDisplay.from_p_values([0.5, 0.1], **axes),
    lambda **axes: ConformalDisplay.from_intervals([[0.0, 1.0]], [0.5], **axes),
    lambda **axes: ConformalDisplay.from_p_values([[1.0, 0.1]], ["a"], ["a", "b"], **axes),
    lambda **axes: XiAlphaDisplay(C=[1.0], xi_alpha=[0.2], leave_one_out=[0.1]).plot(**axes),
    lambda **axes: LeaveOneOutDisplay.from_result(
        leave_one_out(supple.SVC(gamma=0.3).fit(*sample())), **axes
    ),
]


@pytest.mark.parametrize("draw", DRAWN)
def test_given_axes_are_used(draw):
    figure, ax = plt.subplots()
    display = draw(ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert plt.get_fignums() == [figure.number]
    other = display.plot()
    assert other is display
    assert display.figure_ is not figure


@pytest.mark.parametrize("draw", DRAWN)
def test_without_matplotlib_the_message_says_what_to_install(draw, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"Display needs matplotlib.*pip install matplotlib"):
        draw()


def test_import_does_not_load_matplotlib():
    code = "import sys, supple.diagnostics; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
