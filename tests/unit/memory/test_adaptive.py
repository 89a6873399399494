"""A window chosen by an estimate: the same as by fits from nothing on every window."""

import math
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from supple import SVC, SVDD, SVR, InvalidInputError, NuSVC, OneClassSVM, WindowedSVC
from supple.diagnostics import leave_one_out, xi_alpha
from supple.memory import AdaptiveWindow

BATCH = 15


def turning(n_batches=8, turn=4, classes=2, seed=0, size=BATCH):
    """Return a stream of which the labels mean something else from batch `turn` on."""
    rng = np.random.default_rng(seed)
    n = n_batches * size
    y = rng.integers(0, classes, n)
    centres = rng.normal(scale=1.5, size=(classes, 3))
    X = rng.normal(size=(n, 3)) + centres[y]
    y[turn * size :] = (y[turn * size :] + 1) % classes
    return X, y, rng.uniform(0.5, 1.5, n)


def best_window(make, X, y, weight, starts, estimate):
    """Return start and estimates of the best window by a fit from nothing on each."""
    last, found = np.arange(starts[-1], len(y)), []
    for start in starts[::-1]:
        rows = np.arange(start, len(y))
        if len(np.unique(y[rows])) < 2:
            found.append(math.nan)
            continue
        model = make().fit(X[rows], y[rows], sample_weight=weight[rows], ids=rows)
        found.append(estimate(model, ids=last).error)
    least = np.nanmin(found)
    (places,) = np.nonzero(np.array(found) == least)
    return starts[::-1][places[-1]], found


CASES = {
    "two classes": (lambda **k: SVC(C=1.0, gamma=0.5, **k), 2, "xi_alpha"),
    "ovo": (lambda **k: SVC(C=2.0, gamma=0.5, **k), 4, "xi_alpha"),
    "ovr": (lambda **k: SVC(C=2.0, gamma=0.5, multi_class="ovr", **k), 3, "xi_alpha"),
    "left out": (lambda **k: SVC(C=1.0, gamma=0.5, **k), 2, "leave_one_out"),
    "left out, ovo": (lambda **k: SVC(C=1.0, gamma=0.5, **k), 3, "leave_one_out"),
    "linear": (lambda **k: SVC(C=0.5, kernel="linear", **k), 2, "xi_alpha"),
    "nu": (lambda **k: NuSVC(nu=0.15, gamma=0.5, **k), 2, "leave_one_out"),
}


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("case", CASES)
def test_windows_are_those_of_fits_from_nothing(case, form):
    make, classes, estimate = CASES[case]
    X, y, weight = turning(classes=classes)
    model = make(memory=AdaptiveWindow(estimate))
    judge = {"xi_alpha": xi_alpha, "leave_one_out": leave_one_out}[estimate]
    starts = []
    for start in range(0, len(y), BATCH):
        part, seen = slice(start, start + BATCH), start + BATCH
        starts.append(start)
        model.partial_fit(form(X[part]), y[part], sample_weight=weight[part])
        chosen, estimates = best_window(make, X[:seen], y[:seen], weight[:seen], starts, judge)
        memory = model.memory_
        assert_allclose([c.estimate for c in memory.window_search_], estimates, atol=1e-12)
        assert [c.start for c in memory.window_search_] == starts[::-1]
        assert memory.window_start_ == chosen
        rows = np.arange(chosen, seen)
        plain = make().fit(X[rows], y[rows], sample_weight=weight[rows])
        assert_allclose(
            model.decision_function(form(X)), plain.decision_function(X), atol=1e-6, rtol=1e-6
        )
        assert model.exact_
    assert_array_equal(np.sort(model.ids_), np.arange(len(y)))  # the others wait
    assert [choice.n_seen for choice in memory.window_history_] == [s + BATCH for s in starts]


def test_regression_goes_by_exact_residuals():
    rng = np.random.default_rng(1)
    X = rng.uniform(-2, 2, size=(120, 1))
    y = 2.0 * X[:, 0]
    y[60:] *= -1.0
    model = SVR(C=1.0, epsilon=0.05, kernel="linear", memory=AdaptiveWindow("leave_one_out"))
    for start in range(0, 120, 20):
        model.partial_fit(X[start : start + 20], y[start : start + 20])
        last = np.arange(start, start + 20)
        for candidate in model.memory_.window_search_:
            rows = np.arange(candidate.start, start + 20)
            plain = SVR(C=1.0, epsilon=0.05, kernel="linear").fit(X[rows], y[rows], ids=rows)
            assert_allclose(candidate.estimate, leave_one_out(plain, last).error, rtol=1e-6)
    assert model.memory_.window_start_ == 60


def test_a_window_can_grow_again():
    """In the middle one batch is of another world (scenario C of the paper)."""
    X, y, _ = turning(n_batches=14, turn=14, seed=2)
    strange = slice(5 * BATCH, 6 * BATCH)
    y[strange] = 1 - y[strange]
    model = WindowedSVC(gamma=0.5)
    for start in range(0, len(y), BATCH):
        model.partial_fit(X[start : start + BATCH], y[start : start + BATCH])
    sizes = [choice.n_batches for choice in model.window_history_]
    assert sizes[5] == 1
    assert sizes[-1] > 6


def test_how_many_examples_the_estimate_is_of():
    X, y, _ = turning()
    model = SVC(gamma=0.5, memory=AdaptiveWindow(n_estimated=40))
    for start in range(0, len(y), BATCH):
        model.partial_fit(X[start : start + BATCH], y[start : start + BATCH])
    search = model.memory_.window_search_
    assert search[0].n_batches == 3  # the fewest batches with 40 examples
    rows = np.arange(search[2].start, len(y))
    plain = SVC(gamma=0.5).fit(X[rows], y[rows], ids=rows)
    assert search[2].estimate == xi_alpha(plain, ids=np.arange(len(y) - 40, len(y))).error


def test_single_examples_as_batches():
    X, y, _ = turning(n_batches=3, turn=2, size=10)
    model = SVC(gamma=0.5, memory=AdaptiveWindow(n_estimated=8, longest=20))
    for row in range(len(y)):
        model.partial_fit(X[row : row + 1], y[row : row + 1])
        assert len(model.ids_) == min(row + 1, 20)
    assert model.exact_
    rows = np.flatnonzero(np.arange(len(y)) >= model.memory_.window_start_)
    plain = SVC(gamma=0.5).fit(X[rows], y[rows])
    assert_allclose(model.decision_function(X), plain.decision_function(X), atol=1e-7)


def test_a_weight_given_beside_the_window_waits_for_it():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 2))
    y = X[:, 0] > 0
    y[80:] = ~y[80:]
    model = WindowedSVC(kernel="linear").partial_fit(
        X[:20], y[:20], sample_weight=[0.0] + [1.0] * 19
    )
    model.reweight([3], [0.0])
    for start in range(20, 160, 20):
        model.partial_fit(X[start : start + 20], y[start : start + 20])
    assert model.window_start_ == 80
    before = model.decision_function(X)
    model.reweight([0, 3], [1.0, 2.0])  # which left with weight 0
    assert model.window_start_ == 80
    assert_array_equal(model.decision_function(X), before)
    assert model.memory_._own[0] == 1.0
    assert model.memory_._own[3] == 2.0


@pytest.mark.parametrize("n_estimated", [None, 5])
def test_a_batch_without_weight_leaves_the_window_where_it_began(n_estimated):
    X, y, _ = turning()
    model = WindowedSVC(gamma=0.5, n_estimated=n_estimated)
    for start in range(0, len(y), BATCH):
        model.partial_fit(X[start : start + BATCH], y[start : start + BATCH])
    start, decision = model.window_start_, model.decision_function(X)
    assert start > 0
    model.partial_fit(X[:5], y[:5], sample_weight=np.zeros(5))  # nothing to estimate on
    assert math.isnan(model.window_history_[-1].estimate)
    assert model.window_start_ == start
    assert_allclose(model.decision_function(X), decision, atol=1e-8)


def test_batches_of_one_class_wait_for_another():
    model = WindowedSVC(kernel="linear")
    model.partial_fit([[0.0], [1.0]], [0, 0])
    assert math.isnan(model.window_search_[0].estimate)
    assert model.predict([[5.0]]) == [0]
    model.partial_fit([[3.0], [4.0]], [1, 1])
    # The latest batch alone has no machine, both have one.
    assert math.isnan(model.window_search_[0].estimate)
    assert model.window_start_ == 0
    assert_array_equal(model.predict([[0.0], [4.0]]), [0, 1])


def test_the_longest_window_bounds_the_memory():
    X, y, _ = turning(n_batches=10)
    model = WindowedSVC(gamma=0.5, longest=3)
    for start in range(0, len(y), BATCH):
        model.partial_fit(X[start : start + BATCH], y[start : start + BATCH])
        assert len(model.ids_) <= 3 * BATCH
        assert len(model.window_search_) <= 3
    assert model.ids_.min() == len(y) - 3 * BATCH


class TestBesideTheWindow:
    """Examples that are held with weight 0."""

    @pytest.fixture
    def model(self):
        X, y, weight = turning()
        model = WindowedSVC(gamma=0.5)
        for start in range(0, len(y), BATCH):
            part = slice(start, start + BATCH)
            model.partial_fit(X[part], y[part], sample_weight=weight[part])
        assert model.window_start_ == 4 * BATCH
        return model

    def test_they_can_be_forgotten(self, model):
        X, _, _ = turning()
        before = model.decision_function(X)
        model.forget([0, 1, 2])
        assert_allclose(model.decision_function(X), before, rtol=1e-13)
        assert not np.isin([0, 1, 2], model.ids_).any()
        assert not set(model.memory_._own) & {0, 1, 2}

    def test_other_weights_are_noted_for_later(self, model):
        X, y, _ = turning()
        before = model.decision_function(X)
        model.reweight([0, len(y) - 1], [7.0, 0.5])
        weight = dict(zip(model.ids_.tolist(), model.sample_weight_.tolist(), strict=True))
        assert (weight[0], weight[len(y) - 1]) == (0.0, 0.5)
        assert model.memory_._own[0] == 7.0
        assert model.window_start_ == 4 * BATCH
        assert np.abs(model.decision_function(X) - before).max() < 1.0

    def test_copies_go_on_alike(self, model):
        X, y, _ = turning(n_batches=9)
        twin = pickle.loads(pickle.dumps(model))
        rows = slice(8 * BATCH, 9 * BATCH)
        for each in (model, twin):
            each.partial_fit(X[rows], y[rows])
        assert twin.window_search_ == model.window_search_
        assert_allclose(twin.decision_function(X), model.decision_function(X), atol=1e-9)

    def test_a_trial_is_undone(self, model):
        X, y, _ = turning(seed=3)
        before, decision = vars(model.memory_).copy(), model.decision_function(X)
        with model.what_if() as trial:
            trial.partial_fit(X[:BATCH], y[:BATCH])
            assert trial.window_history_ != before["window_history_"]
        after = vars(model.memory_)
        assert {k: v for k, v in after.items() if k != "_clock"} == {
            k: v for k, v in before.items() if k != "_clock"
        }
        assert_array_equal(model.decision_function(X), decision)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_random_streams(data):
    """Batches of any size, forgetting between them: the optimum on the window, always."""
    X, y, weight = turning(n_batches=6, turn=3, size=12, seed=data.draw(st.integers(0, 99)))
    model = SVC(C=1.0, gamma=0.5, memory=AdaptiveWindow(longest=data.draw(st.integers(1, 5))))
    start, held = 0, set()
    while start < len(y):
        stop = min(start + data.draw(st.integers(1, 20)), len(y))
        model.partial_fit(X[start:stop], y[start:stop], sample_weight=weight[start:stop])
        held = set(model.ids_.tolist())
        if data.draw(st.booleans()):
            gone = data.draw(st.sampled_from(sorted(held)))
            model.forget(gone)
        start = stop
    inside = model.ids_[model.sample_weight_ > 0.0]
    assert (inside >= model.memory_.window_start_).all()
    if len(np.unique(y[inside])) == 2:
        plain = SVC(C=1.0, gamma=0.5).fit(X[inside], y[inside], sample_weight=weight[inside])
        assert_allclose(model.decision_function(X), plain.decision_function(X), atol=1e-6)


@pytest.mark.parametrize(
    ("memory", "message"),
    [
        (AdaptiveWindow("error"), "'estimate' parameter of AdaptiveWindow must be one of"),
        (AdaptiveWindow(n_estimated=0), "'n_estimated' parameter of AdaptiveWindow"),
        (AdaptiveWindow(longest=1.5), "'longest' parameter of AdaptiveWindow"),
        (AdaptiveWindow(rho=-1.0), "'rho' parameter of AdaptiveWindow"),
    ],
)
def test_bad_parameters(memory, message):
    with pytest.raises(InvalidInputError, match=message):
        SVC(memory=memory).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (SVR(memory=AdaptiveWindow()), "estimate='leave_one_out'"),
        (NuSVC(memory=AdaptiveWindow()), "estimate='leave_one_out'"),
        (SVDD(memory=AdaptiveWindow("leave_one_out")), "no error to choose a window by"),
        (SVDD(memory=AdaptiveWindow()), "no error to choose a window by"),  # not by another, either
        (OneClassSVM(memory=AdaptiveWindow("leave_one_out")), "no error to choose a window by"),
    ],
    ids=lambda each: type(each).__name__,
)
def test_problems_without_the_estimate(model, message):
    with pytest.raises(InvalidInputError, match=message):
        model.fit([[0.0], [1.0], [2.0]], [0, 1, 1])


def test_presets_of_windowed_svc():
    X, y, _ = turning()
    batches = [slice(start, start + BATCH) for start in range(0, len(y), BATCH)]
    starts = {"full": 0, "last": 7 * BATCH, 3: 5 * BATCH}
    for window, start in starts.items():
        model = WindowedSVC(window=window, gamma=0.5)
        for part in batches:
            model.partial_fit(X[part], y[part])
        assert model.window_start_ == start
        with pytest.raises(AttributeError, match="window='adaptive'"):
            _ = model.window_search_
    model = WindowedSVC(window=40, unit="examples", gamma=0.5).fit(X, y)
    assert model.window_start_ == len(y) - 40
    with pytest.raises(InvalidInputError, match="'size' parameter of Window must be an int"):
        WindowedSVC(window=2.5).fit(X, y)
    with pytest.raises(InvalidInputError, match="'window' parameter of WindowedSVC"):
        WindowedSVC(window="best").fit(X, y)


def test_spans_of_numpy():
    X, y, _ = turning()
    minute, times = np.timedelta64(1, "m"), np.arange(len(y)) * 2.0
    model = WindowedSVC(window=minute, unit="time", gamma=0.5).fit(X, y, timestamps=times)
    assert model.window_start_ == len(y) - 30
    with pytest.raises(InvalidInputError, match="'size' parameter of Window must be an int"):
        WindowedSVC(window=minute, unit="batches").fit(X, y)  # no matter that NumPy compares them
    with pytest.raises(InvalidInputError, match="'size' parameter of Window must be a number"):
        WindowedSVC(window=-minute, unit="time").fit(X, y, timestamps=times)


def test_a_window_that_is_chosen_takes_no_timestamps():
    X, y, _ = turning()
    with pytest.raises(InvalidInputError, match="adaptive window, which counts batches"):
        WindowedSVC(unit="time").fit(X, y, timestamps=np.arange(len(y)))
