"""Memories by themselves: who is forgotten, who is re-weighted, which parameters are refused."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from supple.errors import InvalidInputError
from supple.memory import Budget, Decay, KeepAll, Memory, SupportVectors, Window
from supple.memory.budget import least_relevant
from supple.memory.window import oldest

MEMORIES = [KeepAll(), Budget(7), SupportVectors("ruping", factor=2.0), Window(5), Decay(30.0)]


def held(n=0, **arrays):
    """Return examples as a memory sees them."""
    ids = np.asarray(arrays.pop("ids", np.arange(n)))
    support = np.asarray(arrays.pop("support", np.ones(len(ids))), dtype=bool)

    class Examples(SimpleNamespace):
        def __len__(self):
            return len(self.ids)

    return Examples(
        **{
            "ids": ids,
            "slots": np.arange(len(ids)),
            "weight": np.ones(len(ids)),
            "arrival": np.arange(len(ids)),
            "seen": len(ids),
            "depends_on_mass": False,
            "support": lambda: support,
            "needed": lambda: support,
        }
        | arrays
    )


# ---------------------------------------------------------------------- parameters


@pytest.mark.parametrize("memory", MEMORIES, ids=str)
def test_parameters_are_those_of_scikit_learn(memory):
    twin = clone(memory)
    assert twin == memory
    assert twin is not memory
    assert eval(repr(memory)) == memory
    memory.check()
    for name, value in memory.get_params().items():
        twin.set_params(**{name: value})
    assert twin == memory
    assert memory != Budget(1234)
    with pytest.raises(InvalidInputError, match="Invalid parameter 'colour'"):
        twin.set_params(colour="red")


@pytest.mark.parametrize(
    ("memory", "name"),
    [
        (Budget(1), "size"),
        (Budget(2.5), "size"),
        (Budget(True), "size"),
        (Budget("10"), "size"),
        (Budget(5, rule="youngest"), "rule"),
        (Budget(5, rule=None), "rule"),
        (Window(0), "size"),
        (Window(None), "size"),
        (Decay(0.0), "half_life"),
        (Decay(np.inf), "half_life"),
        (Decay(np.nan), "half_life"),
        (SupportVectors("rueping"), "weight"),
        (SupportVectors(0.0), "weight"),
        (SupportVectors(factor=-1.0), "factor"),
        (SupportVectors(reading="both"), "reading"),
        (SupportVectors(half_life=0), "half_life"),
    ],
    ids=str,
)
def test_bad_parameters(memory, name):
    words = rf"The '{name}' parameter of {type(memory).__name__} must be .* Got .* instead"
    with pytest.raises(InvalidInputError, match=words):
        memory.check()


@pytest.mark.parametrize("memory", MEMORIES, ids=str)
def test_the_parts_of_a_batch_are_the_batch(memory):
    for size, n in ((0, 1), (0, 23), (4, 9), (5, 23), (7, 1)):
        parts = memory.portions(size, n)
        assert np.concatenate([np.arange(n)[part] for part in parts]).tolist() == list(range(n))


def test_a_restored_memory_remembers_what_it_did():
    memory = SupportVectors("ruping")
    memory.before(held())
    memory.after(held(4, support=[1, 1, 0, 0]))
    before, restore = dict(memory.__dict__), memory.restorer()
    memory.before(held(2))
    memory.after(held(8))
    assert memory.__dict__ != before
    restore()
    assert memory.__dict__ == before


# ---------------------------------------------------------------------- who leaves


def test_the_smallest_coefficient_leaves():
    arrival = np.arange(3)
    assert least_relevant(np.array([3.0, 1.0, 2.0]), np.array([9.0, 0.0, 9.0]), arrival) == 1


def test_ties_go_by_margin_then_by_age():
    size = np.array([0.0, 0.0, 2.0, 0.0])
    assert least_relevant(size, np.array([1.5, 3.0, 9.0, 2.0]), np.arange(4)) == 1
    assert least_relevant(size, np.array([3.0, 3.0, 9.0, 3.0]), np.array([5, 4, 0, 7])) == 1
    # One class only: no machine, no margin.
    assert least_relevant(np.zeros(3), np.full(3, np.inf), np.array([4, 2, 3])) == 1


def test_oldest():
    assert oldest(np.array([12, 5, 7]), 1).tolist() == [1]
    assert sorted(oldest(np.array([12, 5, 7, 1, 9]), 3).tolist()) == [1, 2, 3]


def test_a_window_lets_the_oldest_go():
    arrival = np.array([9, 3, 7, 4, 8])
    assert Window(5).after(held(5, arrival=arrival)) is None
    assert sorted(Window(3).after(held(5, arrival=arrival)).forget) == [1, 3]


# ---------------------------------------------------------------------- who counts how much


def test_weights_fall_to_one_half_with_each_half_life():
    memory = Decay(16.0)
    change = memory.after(held(33))
    weight = np.ones(33)
    weight[change.slots] = change.weight
    assert_allclose(weight, 0.5 ** (np.arange(32, -1, -1) / 16), rtol=1e-15)
    assert len(change.forget) == 0
    assert memory.after(held(33)) is None  # nothing has come since


def test_weights_do_not_depend_on_the_batches():
    whole, parts = Decay(10.0), Decay(10.0)
    weight = np.ones(0)
    for n in (1, 2, 9, 10, 31, 60):
        weight = np.append(weight, np.ones(n - len(weight)))
        change = parts.after(held(n, weight=weight.copy()))
        if change is not None:
            weight[change.slots] = change.weight
    change = whole.after(held(60))
    expected = np.ones(60)
    expected[change.slots] = change.weight
    assert_allclose(weight, expected, rtol=1e-14)


def test_faint_examples_are_forgotten():
    change = Decay(2.0).after(held(30))
    assert change.forget.tolist() == list(range(9))  # more than ten half-lives before the last


def factors(memory, ids=(1, 2), support=20.0):
    return memory._factors(np.array(ids), support).tolist()


def with_past(*args, **kwargs):
    memory = SupportVectors(*args, **kwargs)
    memory.n_batches_, memory._trained, memory._seen = 4, 60.0, 200.0
    memory._born, memory._factor = {1: 3, 2: 1}, {2: 4.0}
    return memory


@pytest.mark.parametrize(
    ("memory", "expected"),
    [
        (with_past(), [1.0, 1.0]),
        (with_past(2.5, factor=2.0), [5.0, 5.0]),
        (with_past("ruping"), [3.0, 3.0]),
        (with_past("ruping", factor=0.5, reading="cumulative"), [5.0, 5.0]),
        (with_past(half_life=1.0), [0.5, 0.125]),
        (with_past("ruping", half_life=2.0), [3.0 * 2**-0.5, 3.0 * 2**-1.5]),
    ],
    ids=str,
)
def test_factors(memory, expected):
    assert_allclose(factors(memory), expected, rtol=1e-15)


def test_no_factor_fades_to_zero():
    assert min(factors(with_past(half_life=1e-6))) > 0.0


def test_before_the_first_batch_nothing_counts_more():
    assert factors(SupportVectors("ruping"), support=0.0) == [1.0, 1.0]


def test_own_weights_and_what_remains():
    memory = with_past()
    examples = held(ids=[1, 2], weight=np.array([2.0, 8.0]))
    assert memory.own_weight(examples).tolist() == [2.0, 2.0]
    memory.forgets(examples, np.array([1]))
    assert (memory._trained, memory._seen) == (58.0, 198.0)
    assert (memory._born, memory._factor) == ({2: 1}, {2: 4.0})
    memory.reweights(np.array([2]), np.ones(1))
    assert memory._factor == {}


def test_a_memory_is_a_class_of_its_own():
    assert all(isinstance(memory, Memory) for memory in MEMORIES)
