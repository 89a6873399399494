"""Alarms come at the stated rate, soon after a change, and bad input changes nothing."""

import pickle

import numpy as np
import pytest
from scipy import integrate, stats
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from supple import SVDD, InfeasibleError, OneClassSVM
from supple.diagnostics import DriftEvent, DriftWatch
from supple.diagnostics._change_statistic import Ranks, ShiryaevRoberts, bets
from supple.errors import InvalidInputError

SMALL = {"n_fit": 60, "n_reference": 50}


def normal(n, d=2, seed=0, shift=0.0):
    return np.random.default_rng(seed).normal(size=(n, d)) + shift


def situation(watch):
    """Return all that a watch knows, the random numbers to come included."""
    return pickle.dumps((watch._state, watch._rng.bit_generator.state))


class Odd(SVDD):
    """A detector that breaks."""

    def score_samples(self, X):
        return np.full(len(X), np.nan)


# ---------------------------------------------------------------------- the statistic


def test_each_bet_is_a_density():
    for power in range(3):
        for direction in range(4):
            whole, _ = integrate.quad(
                lambda p, k=power, j=direction: bets(np.array(p))[k, j], 0.0, 1.0, points=[0.5]
            )
            assert whole == pytest.approx(1.0, abs=1e-9)
    assert bets(np.linspace(0.0, 1.0, 1001)).max() < 22.0


@pytest.mark.parametrize("ties", [False, True])
def test_p_values_are_uniform_and_independent(ties):
    rng = np.random.default_rng(1)
    first, second = [], []
    for _ in range(1500):
        ranks = Ranks(most=1000)
        scores = rng.integers(0, 3, 6) if ties else rng.normal(size=6)
        p = [ranks.p_value(float(s), 1.0 - rng.random()) for s in scores]
        first.append(p[-2])
        second.append(p[-1])
    assert stats.kstest(first, "uniform").pvalue > 0.01
    assert stats.kstest(second, "uniform").pvalue > 0.01
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.08


def test_ranks_by_counting():
    rng = np.random.default_rng(2)
    scores, taus = rng.integers(0, 20, 200).astype(float), rng.random(200)
    ranks = Ranks(most=50)
    for k, (score, tau) in enumerate(zip(scores, taus, strict=True)):
        before = scores[: min(k, 50)]
        expected = ((before < score).sum() + tau * ((before == score).sum() + 1)) / (
            len(before) + 1
        )
        assert ranks.p_value(score, tau) == pytest.approx(expected, rel=1e-14)
    assert len(ranks) == 50


def test_statistic_by_its_definition():
    p = np.random.default_rng(3).random(30)
    statistic = ShiryaevRoberts()
    for each in p:
        statistic.update(each)
    table = bets(p)  # powers, directions, time
    sums = sum(table[:, :, start:].prod(axis=2) for start in range(len(p)))
    assert statistic.value == pytest.approx(sums.mean(), rel=1e-12)


@pytest.mark.parametrize("run_length", [100.0, 1000.0])
def test_threshold_gives_the_run_length(run_length):
    rng, width, n = np.random.default_rng(4), 400, int(8 * run_length)
    each, alarms = np.zeros((3, 4, width)), 0
    for _ in range(n):
        each = (1.0 + each) * bets(rng.random(width))
        hit = each.mean(axis=(0, 1)) >= ShiryaevRoberts.threshold(run_length)
        alarms += hit.sum()
        each[:, :, hit] = 0.0
    assert n * width / alarms == pytest.approx(run_length, rel=0.1)


# ---------------------------------------------------------------------- validity and power


@pytest.mark.parametrize("law", ["normal", "heavy", "ties"])
def test_false_alarms_come_at_the_stated_rate(law):
    rng = np.random.default_rng(5)
    draw = {
        "normal": rng.normal,
        "heavy": lambda size: rng.standard_cauchy(size),
        "ties": lambda size: rng.integers(0, 4, size),
    }[law]
    alarms = watched = 0
    for seed in range(20):
        watch = DriftWatch(run_length=300, n_reference=50, random_state=seed)
        events = watch.update_scores(draw(size=2000))
        alarms += len(events)
        watched += sum(e.n_watched for e in events) + watch._state.n_watched
    assert watched > 20_000
    assert 0.6 < alarms / watched * 300 < 1.6


def test_rate_with_a_detector():
    alarms = watched = 0
    for seed in range(12):
        watch = DriftWatch(SVDD(nu=0.2, gamma=0.3), run_length=200, random_state=seed, **SMALL)
        events = watch.update(normal(1500, seed=seed))
        alarms += len(events)
        watched += sum(e.n_watched for e in events) + watch._state.n_watched
    assert 0.5 < alarms / watched * 200 < 2.0


@pytest.mark.parametrize(
    ("after", "direction"),
    [
        (lambda z: z - 1.5, "lower"),
        (lambda z: z + 1.5, "higher"),
        (lambda z: 6.0 * z, "wider"),
        (lambda z: 0.1 * z, "narrower"),
    ],
)
def test_changes_of_scores_and_their_direction(after, direction):
    z = normal(1200, 1, seed=6)[:, 0]
    watch = DriftWatch()
    assert watch.update_scores(z[:1000]) == []
    (event, *_) = watch.update_scores(after(z[1000:]))
    assert event.direction == direction
    assert 1000 <= event.position < 1040
    assert event.statistic >= watch.threshold_
    assert event.n_watched == event.position + 1 - watch.n_reference


@pytest.mark.parametrize("kind", [SVDD, OneClassSVM])
def test_a_world_that_moves_or_shrinks_is_seen(kind):
    # At the centre scores are flat: those of a small world are ordinary and close together.
    for change, directions in (
        (lambda X: X + 3.0, {"lower", "wider"}),
        (lambda X: 0.2 * X, {"higher", "narrower"}),
    ):
        watch = DriftWatch(kind(nu=0.2, gamma=0.3), **SMALL)
        assert watch.update(normal(600)) == []
        (event, *_) = watch.update(change(normal(150, seed=1)))
        assert event.direction in directions
        assert event.position < 700


def test_a_pipeline_may_be_the_detector():
    watch = DriftWatch(make_pipeline(StandardScaler(), SVDD(nu=0.2)), **SMALL)
    X = 1e4 * normal(500)
    assert watch.update(X) == []
    assert len(watch.update(X[:50] + 5e4)) == 1


# ---------------------------------------------------------------------- the way it works


def test_batches_do_not_matter():
    X = np.vstack([normal(300), normal(300, shift=2.5, seed=1)])
    whole, single = (DriftWatch(SVDD(nu=0.2, gamma=0.3), **SMALL) for _ in range(2))
    events = whole.update(X)
    assert events
    assert [event for k in range(len(X)) for event in single.update(X[k : k + 1])] == events
    assert whole.events_ == single.events_ == events
    assert whole.statistic_ == single.statistic_
    assert whole.n_ == single.n_ == 600


def test_phases_and_a_new_start():
    watch = DriftWatch(SVDD(nu=0.2, gamma=0.3), **SMALL)
    assert (watch.phase_, watch.estimator_) == ("fitting", None)
    watch.update(normal(60))
    assert watch.phase_ == "gathering"
    model = watch.estimator_
    watch.update(normal(50, seed=1))
    assert watch.phase_ == "watching"
    assert watch.estimator_ is model
    watch.update(normal(400, seed=2))
    shifted = normal(500, seed=3, shift=4.0)
    (event,) = watch.update(shifted)
    assert watch.phase_ == "watching"  # of the new world, which raises no alarm
    assert watch.estimator_ is not model
    begin = event.position + 1 - 510
    again = SVDD(nu=0.2, gamma=0.3).fit(shifted[begin : begin + 60])
    np.testing.assert_allclose(
        watch.estimator_.score_samples(shifted), again.score_samples(shifted), atol=1e-9
    )


def test_the_estimator_given_is_not_touched():
    detector = SVDD(nu=0.2, gamma=0.3)
    DriftWatch(detector, **SMALL).update(normal(100))
    assert not hasattr(detector, "n_features_in_")


def test_pickle_goes_on_alike():
    watch = DriftWatch(SVDD(nu=0.2, gamma=0.3), **SMALL)
    watch.update(normal(200))
    other = pickle.loads(pickle.dumps(watch))
    X = normal(100, seed=7, shift=1.0)
    assert other.update(X) == watch.update(X)
    assert other.statistic_ == watch.statistic_


def test_the_seed_decides():
    scores = np.zeros(400)  # nothing but ties
    values = [DriftWatch(random_state=seed) for seed in (0, 0, 1)]
    for watch in values:
        watch.update_scores(scores)
    assert values[0].statistic_ == values[1].statistic_ != values[2].statistic_


# ---------------------------------------------------------------------- on_drift


def test_all_listeners_hear_of_each_alarm():
    one, two = [], []
    watch = DriftWatch(on_drift=[one.append, two.append])
    z = normal(900, 1)[:, 0]
    z[600:] += 9.0
    events = watch.update_scores(z)
    assert one == two == events == watch.events_
    assert isinstance(events[0], DriftEvent)


def test_a_listener_that_raises():
    def broken(event):
        raise KeyError("no such pager")

    heard, z = [], np.append(normal(600, 1)[:, 0], np.full(300, 9.0))
    watch, quiet = DriftWatch(on_drift=[broken, heard.append]), DriftWatch()
    with pytest.raises(KeyError, match="no such pager"):
        watch.update_scores(z)
    assert quiet.update_scores(z) == watch.events_ == heard
    assert situation(watch) == situation(quiet)
    several = DriftWatch(on_drift=[broken, broken])
    with pytest.raises(ExceptionGroup, match="on_drift"):
        several.update_scores(z)


# ---------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    "X",
    [
        [[np.nan, 0.0]],
        [[np.inf, 0.0]],
        np.empty((0, 2)),
        np.empty((2, 0)),
        [0.0, 1.0],
        [[0.0, 1.0, 2.0]],
        [["a", "b"]],
        [[0.0], [0.0, 1.0]],
        np.array([["2020-01-01", "2020-01-02"]], dtype="datetime64[D]"),
        np.array([[1, 2]], dtype="timedelta64[s]"),
        np.array([[1j, 2.0]]),
        None,
    ],
)
def test_bad_rows_change_nothing(X):
    watch = DriftWatch(SVDD(nu=0.2, gamma=0.3), **SMALL)
    watch.update(normal(150))
    before = situation(watch)
    with pytest.raises(InvalidInputError, match="'X'"):
        watch.update(X)
    assert situation(watch) == before


@pytest.mark.parametrize(
    "scores",
    [np.nan, [1.0, np.inf], [], [[1.0]], "now", np.datetime64("2020-01-01"), None, [1.0, "x"]],
)
def test_bad_scores_change_nothing(scores):
    watch = DriftWatch()
    watch.update_scores(normal(300, 1)[:, 0])
    before = situation(watch)
    with pytest.raises(InvalidInputError, match="'scores'"):
        watch.update_scores(scores)
    assert situation(watch) == before


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("run_length", 99),
        ("run_length", np.inf),
        ("run_length", "long"),
        ("run_length", True),
        ("n_fit", 0),
        ("n_fit", 2.5),
        ("n_reference", 0),
        ("random_state", -1),
        ("random_state", None),
        ("on_drift", 3),
        ("on_drift", [print, 3]),
        ("estimator", SVDD),
        ("estimator", 3),
    ],
)
def test_bad_parameters(name, value):
    with pytest.raises(InvalidInputError, match=f"'{name}' parameter of DriftWatch"):
        DriftWatch(**{name: value})


def test_rows_and_scores_are_not_mixed():
    with pytest.raises(InvalidInputError, match="estimator"):
        DriftWatch().update([[1.0]])
    with pytest.raises(InvalidInputError, match="takes no scores"):
        DriftWatch(SVDD()).update_scores(1.0)


def test_a_fit_that_fails_changes_nothing():
    watch = DriftWatch(SVDD(C=1e-3), **SMALL)  # a thousand examples make a ball, not sixty
    watch.update(normal(59))
    before = situation(watch)
    with pytest.raises(InfeasibleError):
        watch.update(normal(5, seed=1))
    assert situation(watch) == before


def test_a_detector_that_scores_nan_changes_nothing():
    watch = DriftWatch(Odd(nu=0.2), **SMALL)
    watch.update(normal(60))
    before = situation(watch)
    with pytest.raises(InvalidInputError, match="scores of the estimator"):
        watch.update(normal(2))
    assert situation(watch) == before
