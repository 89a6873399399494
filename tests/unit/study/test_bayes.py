"""The Bayesian correlated t-test against Student's t by hand and by brute force."""

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import gamma
from scipy.stats import t as student

from supple.errors import InvalidInputError
from supple.study import StudyRecord, compare_machines, correlated_t_test


def record(repetition, machine, accuracy, n_test=30, **changes):
    fields = dict(
        repetition=repetition, machine=machine, n_train=70, n_test=n_test, n_tested=30,
        accuracy=accuracy, n_vectors=5, fit_seconds=0.1, predict_seconds=0.1, n_kernel_evals=1,
        model_bytes=10, mode="fit", error=None, n_total=10,
    )  # fmt: skip
    return StudyRecord(**{**fields, **changes})


def test_by_hand():
    """Differences 0, 2, 4: mean 2, deviation 2; rho = 0 makes the scale 2 / sqrt(3).

    P(mu > 2) = 1/2 by symmetry. With two degrees of freedom the distribution function of t is
    1/2 + x / (2 sqrt(2 + x²)); at -2 it stands at x = -4 / (2 / sqrt(3)) = -2 sqrt(3).
    """
    below, within, above = correlated_t_test([0.0, 2.0, 4.0], 0.0, 2.0)
    x = -2 * sqrt(3)
    assert above == pytest.approx(0.5)
    assert below == pytest.approx(0.5 + x / (2 * sqrt(2 + x * x)))
    assert below + within + above == pytest.approx(1.0)


@pytest.mark.parametrize("rho", [0.0, 0.1, 0.5])
def test_against_scipy_and_the_integral_of_the_density(rho):
    differences = np.random.default_rng(1).normal(0.01, 0.03, size=10)
    n, rope = 10, 0.01
    scale = sqrt((1 / n + rho / (1 - rho)) * differences.var(ddof=1))
    below, within, above = correlated_t_test(differences.tolist(), rho, rope)
    posterior = student(n - 1, loc=differences.mean(), scale=scale)
    assert below == pytest.approx(posterior.cdf(-rope))
    assert above == pytest.approx(1 - posterior.cdf(rope))

    def density(mu):
        z = (mu - differences.mean()) / scale
        constant = gamma(n / 2) / (gamma((n - 1) / 2) * sqrt((n - 1) * np.pi) * scale)
        return constant * (1 + z * z / (n - 1)) ** (-n / 2)

    assert within == pytest.approx(quad(density, -rope, rope)[0])


@pytest.mark.parametrize(
    ("differences", "verdict"),
    [([0.0, 0.0], (0, 1, 0)), ([0.05, 0.05], (0, 0, 1)), ([-0.05] * 3, (1, 0, 0))],
)
def test_equal_differences_leave_no_doubt(differences, verdict):
    assert correlated_t_test(differences, 0.3, 0.01) == verdict


def test_pairs_use_the_share_that_is_held_out_as_correlation():
    a, b = [0.9, 0.8, 0.95], [0.85, 0.82, 0.9]
    records = [record(i, "a", each) for i, each in enumerate(a)]
    records += [record(i, "b", each) for i, each in enumerate(b)]
    (pair,) = compare_machines(records, rope=0.02)
    below, within, above = correlated_t_test([x - y for x, y in zip(a, b, strict=True)], 0.3, 0.02)
    assert (pair.first_better, pair.equivalent, pair.second_better) == (above, within, below)
    assert pair.low < pair.mean < pair.high
    assert pair.mean == pytest.approx(np.mean(a) - np.mean(b))


def test_prequential_records_are_weighted_and_count_as_independent():
    records = []
    for i, (a, b) in enumerate([(0.9, 0.8), (0.7, 0.8), (0.9, 0.9)]):
        for machine, accuracy in (("a", a), ("b", b)):
            records.append(record(i, machine, None, 0, n_tested=0, n_train=10))
            records.append(record(i, machine, accuracy, 0, n_tested=10, n_train=20))
            records.append(record(i, machine, 0.5, 0, n_tested=30, n_train=50))
    (pair,) = compare_machines(records)
    differences = [(10 * d) / 40 for d in (0.1, -0.1, 0.0)]
    expected = correlated_t_test(differences, 0.0, 0.01)
    assert pair.second_better == pytest.approx(expected[0])
    assert pair.first_better == pytest.approx(expected[2])


def test_a_failure_early_on_does_not_count_against_held_out_rows():
    records = [record(i, machine, 0.9) for i in range(3) for machine in "ab"]
    early = [replace(r, n_train=10, error="one class", accuracy=None) for r in records]
    assert len(compare_machines(early + records)) == 1
    prequential = [replace(r, n_test=0) for r in early + records]
    assert compare_machines(prequential) == []


def test_a_machine_that_failed_is_not_compared():
    records = [record(i, machine, 0.9) for i in range(3) for machine in "ab"]
    records = [replace(r, error="no", accuracy=None) if r.machine == "b" else r for r in records]
    assert compare_machines(records) == []
    assert compare_machines([record(0, machine, 0.9) for machine in "ab"]) == []


@pytest.mark.parametrize("rope", [-0.1, 1.0, float("nan"), "0.1", True])
def test_a_wrong_rope_is_refused(rope):
    with pytest.raises(InvalidInputError, match="rope"):
        compare_machines([], rope)
