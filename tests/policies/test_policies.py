"""Who is forgotten, and how much old support vectors count."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from supple.policies import Past, SupportPolicy, least_relevant, oldest


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
    assert oldest(np.array([12, 5, 7])) == 1


PAST = Past(batches=4, trained=60.0, seen=200.0, support=20.0, born={1: 3, 2: 1}, factor={2: 4.0})
IDS = np.array([1, 2])


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (SupportPolicy(1.0, 1.0, False, None), [1.0, 1.0]),
        (SupportPolicy(2.5, 2.0, False, None), [5.0, 5.0]),
        (SupportPolicy(None, 1.0, False, None), [3.0, 3.0]),
        (SupportPolicy(None, 0.5, True, None), [5.0, 5.0]),
        (SupportPolicy(1.0, 1.0, False, 1.0), [0.5, 0.125]),
        (SupportPolicy(None, 1.0, False, 2.0), [3.0 * 2**-0.5, 3.0 * 2**-1.5]),
    ],
)
def test_factors(policy, expected):
    assert_allclose(policy.factors(PAST, IDS), expected, rtol=1e-15)


def test_no_factor_fades_to_zero():
    assert SupportPolicy(1.0, 1.0, False, 1e-6).factors(PAST, IDS).min() > 0.0


def test_before_the_first_batch_nothing_counts_more():
    assert SupportPolicy(None, 1.0, False, None).factors(Past(), IDS).tolist() == [1.0, 1.0]


def test_own_weights_and_what_remains():
    assert PAST.own_weight(IDS, np.array([2.0, 8.0])).tolist() == [2.0, 2.0]
    left = PAST.only(np.array([2]), np.array([2]), np.array([8.0]))
    assert (left.support, dict(left.born), dict(left.factor)) == (2.0, {2: 1}, {2: 4.0})
