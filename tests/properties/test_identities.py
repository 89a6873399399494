"""What must be equal: the model depends on the examples held, not on the way to them."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from ledger import MACHINES
from strategies import PROBE, examples

# The decision function of such data is 0, which NuSVC says.
pytestmark = pytest.mark.filterwarnings("ignore:NuSVC.* leaves no margin")

every_machine = pytest.mark.parametrize("name", MACHINES)


def kept(ledger):
    """Outcome now, for comparison after more has happened."""
    return ledger.outcome(PROBE)


@every_machine
@given(data=st.data())
def test_kkt_after_every_step(name, data):
    given_set = data.draw(examples(name))
    ledger = given_set.ledger()
    for i in range(len(given_set.y)):
        given_set.take(ledger, [i])
        if ledger.feasible():
            ledger.check(PROBE)
    for _ in range(data.draw(st.integers(1, 8))):
        key = data.draw(st.sampled_from(sorted(ledger.held)))
        if len(ledger.held) > 2 and data.draw(st.booleans()):
            ledger.forget([key])
        else:
            ledger.reweight([key], [data.draw(st.sampled_from([0.0, 1e-4, 0.3, 1.0, 5.0, 300.0]))])
        if ledger.feasible():
            ledger.check(PROBE)


@every_machine
@given(data=st.data())
def test_learn_then_forget_is_the_identity(name, data):
    given_set = data.draw(examples(name, low=6))
    base = data.draw(st.integers(2, len(given_set.y) - 1))
    ledger = given_set.ledger()
    given_set.take(ledger, slice(0, base))
    before = kept(ledger)
    new = given_set.take(ledger, slice(base, None))
    ledger.forget(data.draw(st.permutations(new)))
    before.assert_same(kept(ledger))


@every_machine
@given(data=st.data())
def test_order_of_arrival_does_not_matter(name, data):
    given_set = data.draw(examples(name))
    order = data.draw(st.permutations(range(len(given_set.y))))
    assume(given_set.w[order[0]] > 0)  # no model starts from nothing
    outcomes = []
    for rows in (range(len(order)), order):
        ledger = given_set.ledger()
        for i in rows:
            given_set.take(ledger, [i])
        outcomes.append(kept(ledger))
    outcomes[0].assert_same(outcomes[1])


@every_machine
@given(data=st.data())
def test_any_chunking_equals_fit(name, data):
    given_set = data.draw(examples(name))
    n = len(given_set.y)
    cuts = sorted(data.draw(st.sets(st.integers(1, n - 1), max_size=4)))
    streamed = given_set.ledger()
    for rows in np.split(np.arange(n), cuts):
        given_set.take(streamed, rows)
    whole = given_set.ledger().fit(given_set.X, given_set.y, given_set.w)
    whole.check(PROBE)
    kept(whole).assert_same(kept(streamed))


@every_machine
@given(data=st.data())
def test_weight_two_is_the_example_twice(name, data):
    given_set = data.draw(examples(name))
    n = len(given_set.y)
    twice = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=3, unique=True))
    heavy = given_set.ledger()
    w = given_set.w.copy()
    w[twice] *= 2
    given_set.take(heavy, slice(None), w)
    double = given_set.ledger()
    given_set.take(double, [*range(n), *twice])
    kept(heavy).assert_same(kept(double))


@every_machine
@given(data=st.data())
def test_weight_zero_is_absence(name, data):
    given_set = data.draw(examples(name, low=5))
    n = len(given_set.y)
    gone = data.draw(st.lists(st.integers(2, n - 1), min_size=1, max_size=4, unique=True))
    silenced, forgotten = given_set.ledger(), given_set.ledger()
    given_set.take(silenced, slice(None))
    given_set.take(forgotten, slice(None))
    silenced.reweight(gone, np.zeros(len(gone)))
    forgotten.forget(gone)
    kept(silenced).assert_same(kept(forgotten))
    silenced.reweight(gone, given_set.w[gone])  # and back again
    given_set.take(forgotten, gone)
    kept(silenced).assert_same(kept(forgotten))


@pytest.mark.parametrize("name", ["SVC", "SVR"])
@given(data=st.data())
def test_retune_there_and_back(name, data):
    given_set = data.draw(examples(name))
    ledger = given_set.ledger()
    given_set.take(ledger, slice(None))
    before = kept(ledger)
    for C in data.draw(st.lists(st.sampled_from([1e-3, 0.2, 5.0, 1e3]), min_size=1, max_size=3)):
        ledger.retune(C=C)
        ledger.check(PROBE)
    ledger.retune(C=given_set.params["C"])
    before.assert_same(kept(ledger))
