"""Windows and decay by batches and by time."""

import datetime

import numpy as np
import pandas
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from supple import LASVC, SVC, SVDD, SVR, InvalidInputError
from supple.memory import Decay, Window


def stamped(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, (X[:, 0] > 0).astype(int), np.cumsum(rng.exponential(size=n))


@pytest.mark.parametrize("size", [1, 7, 60])
def test_a_window_of_time(size):
    X, y, times = stamped()
    model = SVC(gamma=0.5, memory=Window(12.0, unit="time"))
    for start in range(0, 60, size):
        part = slice(start, start + size)
        model.partial_fit(X[part], y[part], timestamps=times[part])
        now = times[: start + size][-1]
        inside = np.flatnonzero((times > now - 12.0) & (times <= now))
        assert_array_equal(np.sort(model.ids_), inside)
    plain = SVC(gamma=0.5).fit(X[inside], y[inside])
    assert_allclose(model.decision_function(X), plain.decision_function(X), atol=1e-8)


def test_decay_by_time_and_by_batches():
    X, y, times = stamped()
    by_time = SVC(gamma=0.5, memory=Decay(10.0, unit="time"))
    by_batch = SVC(gamma=0.5, memory=Decay(2.0, unit="batches"))
    for start in range(0, 60, 10):
        part = slice(start, start + 10)
        by_time.partial_fit(X[part], y[part], timestamps=times[part])
        by_batch.partial_fit(X[part], y[part])
    ticks = np.floor(16 * times / 10.0)
    weight = 2.0 ** (-(ticks[-1] - ticks) / 16)
    assert_allclose(by_time.sample_weight_[np.argsort(by_time.ids_)], weight, rtol=1e-9)
    halves = 0.5 ** ((5 - np.arange(60) // 10) / 2.0)
    assert_allclose(by_batch.sample_weight_[np.argsort(by_batch.ids_)], halves, rtol=1e-9)
    plain = SVC(gamma=0.5).fit(X, y, sample_weight=weight)
    assert_allclose(by_time.decision_function(X), plain.decision_function(X), atol=1e-7)


def test_what_has_faded_is_forgotten_and_the_clock_drops_it():
    X, y, times = stamped(200)
    model = SVC(gamma=0.5, memory=Decay(2.0, unit="time"))
    for row in range(200):
        model.partial_fit(X[row : row + 1], y[row : row + 1], timestamps=times[row : row + 1])
    assert len(model.ids_) < 60
    assert len(model.memory_._clock.marks) < 60


def test_datetimes():
    days = np.datetime64("2024-01-01") + np.arange(30)
    X = np.arange(30.0)[:, None]
    week = datetime.timedelta(days=7)
    model = SVR(memory=Window(week, unit="time")).fit(X, X[:, 0], timestamps=days)
    assert_array_equal(np.sort(model.ids_), np.arange(23, 30))
    python = [datetime.datetime(2024, 1, 1) + datetime.timedelta(days=k) for k in range(30)]
    same = SVR(memory=Window(7 * 86400, unit="time")).fit(X, X[:, 0], timestamps=python)
    assert_array_equal(same.ids_, model.ids_)
    again = SVR(memory=Window(np.timedelta64(7, "D"), unit="time")).fit(X, X[:, 0], timestamps=days)
    assert_array_equal(again.ids_, model.ids_)


@pytest.mark.filterwarnings("error")
def test_datetimes_with_a_time_zone_are_moments():
    zones = [datetime.timezone(datetime.timedelta(hours=hours)) for hours in (0, 5, -7)]
    start = datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)
    moments = [start + datetime.timedelta(minutes=k) for k in range(30)]
    given = [moment.astimezone(zones[k % 3]) for k, moment in enumerate(moments)]
    X = np.arange(30.0)[:, None]
    model = SVR(memory=Window(60.0 * 7, unit="time")).fit(X, X[:, 0], timestamps=given)
    assert_array_equal(np.sort(model.ids_), np.arange(23, 30))
    with pytest.raises(InvalidInputError, match="all of one kind"):
        model.partial_fit(X[:2], X[:2, 0], timestamps=[given[-1], given[-1].replace(tzinfo=None)])
    table = pandas.Series(pandas.to_datetime(given, utc=True)).dt.tz_convert("Europe/Berlin")
    same = SVR(memory=Window(60.0 * 7, unit="time")).fit(X, X[:, 0], timestamps=table)
    assert_array_equal(same.ids_, model.ids_)
    table[5] = pandas.NaT
    with pytest.raises(InvalidInputError, match=r"must be finite\. Got NaT in row 5"):
        same.fit(X, X[:, 0], timestamps=table)


def test_numbers_as_objects_are_numbers():
    times = np.arange(0, 300, 10).astype(object)
    X = np.arange(30.0)[:, None]
    model = SVR(memory=Window(60.0, unit="time")).fit(X, X[:, 0], timestamps=times)
    assert_array_equal(np.sort(model.ids_), np.arange(24, 30))


def test_a_window_whose_examples_were_all_forgotten_goes_on():
    X, _, times = stamped()
    model = SVDD(C=0.3, memory=Window(5.0, unit="time")).fit(X[:20], timestamps=times[:20])
    model.forget(model.ids_)
    model.partial_fit(X[20:40], timestamps=times[20:40])
    assert set(model.ids_.tolist()) <= set(range(20, 40))


BAD = {
    "none": (None, "'timestamps' must be given"),
    "backwards": ([5.0, 4.0], "must not run backwards. Got 4 in row 1 after 5"),
    "before the last": ([1.0, 9.0], "must not run backwards. Got 1 in row 0 after 3"),
    "nan": ([4.0, np.nan], "must be finite"),
    "nat": (np.array(["2024-01-01", "NaT"], dtype="M8[D]"), "must be finite"),
    "shape": ([4.0], r"must have shape \(2,\)"),
    "strings": (["a", "b"], "'timestamps' must be numbers or datetimes"),
    "datetimes": (
        np.array(["2024-01-01", "2024-01-02"], dtype="M8[D]"),
        "must be numbers, as those of earlier calls. Got datetimes instead",
    ),
    "mixed": ([4.0, "b", None], "'timestamps' must"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_timestamps_leave_the_model_as_it_was(kind):
    timestamps, message = BAD[kind]
    model = SVC(kernel="linear", memory=Window(10.0, unit="time"))
    model.fit([[0.0], [1.0]], [0, 1], timestamps=[2.0, 3.0])
    before = model.ids_.copy(), model.decision_function([[0.3]])
    with pytest.raises(InvalidInputError, match=message):
        model.partial_fit([[2.0], [3.0]], [1, 1], timestamps=timestamps)
    assert_array_equal(model.ids_, before[0])
    assert_array_equal(model.decision_function([[0.3]]), before[1])
    model.partial_fit([[2.0]], [1], timestamps=[3.0])  # equal times are fine


@pytest.mark.parametrize(
    "model", [SVC(), SVC(memory=Window(3)), SVC(memory=Decay()), LASVC()], ids=repr
)
def test_timestamps_that_nobody_looks_at_are_refused(model):
    with pytest.raises(InvalidInputError, match="'timestamps' have no meaning for"):
        model.fit([[0.0], [1.0]], [0, 1], timestamps=[0.0, 1.0])


@pytest.mark.parametrize(
    ("memory", "message"),
    [
        (Window(3, unit="weeks"), "'unit' parameter of Window must be one of"),
        (Window(0.5, unit="batches"), "'size' parameter of Window must be an int"),
        (Window(-1.0, unit="time"), "'size' parameter of Window must be a number"),
        (Decay(datetime.timedelta(0), unit="time"), "'half_life' parameter of Decay"),
    ],
)
def test_bad_parameters(memory, message):
    with pytest.raises(InvalidInputError, match=message):
        SVC(memory=memory).fit([[0.0], [1.0]], [0, 1])
