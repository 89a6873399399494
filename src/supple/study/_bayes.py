"""The probability that one machine is better than another: Bayesian correlated t-test."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from numbers import Real

import numpy as np
from scipy.stats import t as student

from supple.errors import InvalidInputError
from supple.study._run import StudyRecord
from supple.study._summary import scores_by_repetition

__all__ = ["PairVerdict", "compare_machines", "correlated_t_test"]


@dataclass(frozen=True)
class PairVerdict:
    """The posterior comparison of two machines after all repetitions.

    Attributes
    ----------
    first, second : str
        Labels of the machines.
    n : int
        Repetitions in which both were measured.
    mean : float
        Mean difference of their accuracies, that of the first minus that of the second.
    low, high : float
        The difference lies between them with probability 0.95.
    first_better, equivalent, second_better : float
        Probabilities that the first is better by more than `rope`, that the difference is smaller
        than that, and that the second is better; their sum is 1.
    rope : float
        Half the width of the region of practical equivalence.
    """

    first: str
    second: str
    n: int
    mean: float
    low: float
    high: float
    first_better: float
    equivalent: float
    second_better: float
    rope: float

    def __str__(self) -> str:
        verdicts = {
            f"{self.first} is better than {self.second}": self.first_better,
            f"{self.first} and {self.second} are equivalent": self.equivalent,
            f"{self.second} is better than {self.first}": self.second_better,
        }
        text = max(verdicts, key=lambda each: verdicts[each])
        return f"{text} with probability {verdicts[text]:.2f}"


def compare_machines(records: Iterable[StudyRecord], rope: float = 0.01) -> list[PairVerdict]:
    """Compare the accuracies of all pairs of machines over the repetitions of a study.

    The difference of accuracies has the posterior of the Bayesian correlated t-test: Student's t
    with n - 1 degrees of freedom, the mean of the n differences, and the scale::

        sqrt((1 / n + rho / (1 - rho)) s²),    rho = n_test / (n_train + n_test),

    where s² is their variance and rho their correlation due to overlapping training sets. In the
    prequential protocol rho = 0: the differences come from random orders of arrival or new streams
    of a generator, and the result refers to these.

    Parameters
    ----------
    records : iterable of StudyRecord
        The records of a study of two repetitions or more.
    rope : float, default=0.01
        Differences below this are of no practical interest (region of practical equivalence).

    Returns
    -------
    list of PairVerdict
        Pairs that have two repetitions or more in common, in the order of the machines.

    References
    ----------
    A. Benavoli, G. Corani, J. Demšar, M. Zaffalon: Time for a change: a tutorial for comparing
    multiple classifiers through Bayesian analysis. JMLR 18, 2017.

    Examples
    --------
    >>> from supple.study import DataSpec, StudySpec, compare_machines, execute, parse_machine
    >>> machines = (parse_machine("svc"), parse_machine("libsvm"))
    >>> spec = StudySpec("sonar", DataSpec("embedded", "sonar"), machines, repetitions=3, points=1)
    >>> print(compare_machines(execute(spec))[0])
    svc and libsvm are equivalent with probability 1.00
    """
    if isinstance(rope, bool) or not isinstance(rope, Real) or not 0.0 <= rope < 1.0:
        raise InvalidInputError(
            f"The 'rope' parameter of compare_machines must be a number from 0 to 1, such as 0.01. "
            f"Got {rope!r} instead."
        )
    scores = scores_by_repetition(records)
    verdicts = []
    for first, second in combinations(scores, 2):
        shared = sorted(scores[first].keys() & scores[second].keys())
        if len(shared) < 2:
            continue
        differences = [
            scores[first][each].accuracy - scores[second][each].accuracy for each in shared
        ]
        rho = float(np.mean([scores[first][each].correlation for each in shared]))
        verdicts.append(_verdict(first, second, differences, rho, float(rope)))
    return verdicts


def correlated_t_test(
    differences: Sequence[float], rho: float, rope: float
) -> tuple[float, float, float]:
    """Return the probabilities that the mean difference is below, within and above the rope.

    Parameters
    ----------
    differences : sequence of float
        Differences of two machines, one per repetition, two or more.
    rho : float
        Correlation of two of them, from 0 to 1 excluded.
    rope : float
        Half the width of the region of practical equivalence, which is [-rope, rope].

    Examples
    --------
    >>> from supple.study import correlated_t_test
    >>> [round(p, 3) for p in correlated_t_test([0.02, 0.04, 0.03, 0.03], 0.1, 0.01)]
    [0.002, 0.011, 0.987]
    """
    mean, scale, freedom = _posterior(differences, rho)
    if scale == 0.0:
        return float(mean < -rope), float(-rope <= mean <= rope), float(mean > rope)
    below = float(student.cdf(-rope, freedom, mean, scale))
    above = float(student.sf(rope, freedom, mean, scale))
    return below, max(0.0, 1.0 - below - above), above


def _posterior(differences: Sequence[float], rho: float) -> tuple[float, float, int]:
    """Return mean, scale and degrees of freedom of the posterior."""
    values = np.asarray(differences, dtype=np.float64)
    n = len(values)
    deviation = 0.0 if values.min() == values.max() else float(values.std(ddof=1))
    return float(values.mean()), deviation * sqrt(1.0 / n + rho / (1.0 - rho)), n - 1


def _verdict(
    first: str, second: str, differences: list[float], rho: float, rope: float
) -> PairVerdict:
    mean, scale, freedom = _posterior(differences, rho)
    reach = float(student.ppf(0.975, freedom)) * scale
    below, within, above = correlated_t_test(differences, rho, rope)
    n = len(differences)
    return PairVerdict(
        first, second, n, mean, mean - reach, mean + reach, above, within, below, rope
    )
