"""A summary of a study, one line per machine."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from supple.study._run import StudyRecord

__all__ = [
    "CurvePoint",
    "MachineSummary",
    "Score",
    "learning_curves",
    "scores_by_repetition",
    "summarise",
]


class Score(NamedTuple):
    """The accuracy of a machine in one repetition, and the correlation of repetitions."""

    accuracy: float
    correlation: float


@dataclass(frozen=True)
class MachineSummary:
    """One machine over all repetitions; unknown values are None.

    Attributes
    ----------
    machine : str
        Its label.
    repetitions : int
        Number of repetitions that count: with held-out rows those that end with a model, in the
        prequential protocol those without any error.
    n_train : int
        Examples learned in a repetition.
    accuracy, deviation : float or None
        Mean and standard deviation over the repetitions: with held-out rows of the accuracy at the
        largest training size, in the prequential protocol of that of all predictions.
    n_vectors : float or None
        Mean number of vectors at the largest training size.
    fit_seconds, predict_seconds : float
        Mean time of a whole repetition.
    model_bytes : float or None
        Mean size of the model at the largest training size.
    errors : tuple of str
        Why it failed, each reason once.
    """

    machine: str
    repetitions: int
    n_train: int
    accuracy: float | None
    deviation: float | None
    n_vectors: float | None
    fit_seconds: float
    predict_seconds: float
    model_bytes: float | None
    errors: tuple[str, ...]


def scores_by_repetition(records: Iterable[StudyRecord]) -> dict[str, dict[int, Score]]:
    """Return the score of each machine in each repetition that counts."""
    scores: dict[str, dict[int, Score]] = {}
    for (machine, repetition), own in _runs(records).items():
        entries = scores.setdefault(machine, {})
        counted = [record for record in own if record.accuracy is not None]
        last = own[-1]
        if not counted or last.error:
            continue
        if last.n_test:
            share = last.n_test / (last.n_train + last.n_test)
            entries[repetition] = Score(float(counted[-1].accuracy or 0.0), share)
        elif not any(record.error for record in own):  # all were scored on the same examples
            weights = [record.n_tested for record in counted]
            mean = np.average([record.accuracy or 0.0 for record in counted], weights=weights)
            entries[repetition] = Score(float(mean), 0.0)
    return scores


def summarise(records: Iterable[StudyRecord]) -> list[MachineSummary]:
    """Return one summary per machine, in the order of the study.

    Examples
    --------
    >>> from supple.study import DataSpec, StudySpec, execute, parse_machine, summarise
    >>> machines = (parse_machine("svc"), parse_machine("libsvm"))
    >>> spec = StudySpec("sonar", DataSpec("embedded", "sonar"), machines, repetitions=2, points=1)
    >>> [(each.machine, each.n_vectors) for each in summarise(execute(spec))]
    [('svc', 117.5), ('libsvm', 117.5)]
    """
    listed = list(records)
    scores = scores_by_repetition(listed)
    runs = _runs(listed)
    return [
        _summary(machine, scores[machine], [own for key, own in runs.items() if key[0] == machine])
        for machine in scores
    ]


def _runs(records: Iterable[StudyRecord]) -> dict[tuple[str, int], list[StudyRecord]]:
    runs: dict[tuple[str, int], list[StudyRecord]] = {}
    for record in records:
        runs.setdefault((record.machine, record.repetition), []).append(record)
    return runs


def _summary(
    machine: str, scores: dict[int, Score], runs: list[list[StudyRecord]]
) -> MachineSummary:
    # An unfinished or failed repetition would distort the means.
    longest = max(len(own) for own in runs)
    whole = [own for own in runs if len(own) == longest]
    ends = [own[-1] for own in whole]
    accuracies = [score.accuracy for score in scores.values()]
    return MachineSummary(
        machine=machine,
        repetitions=len(scores),
        n_train=max(end.n_train for end in ends),
        accuracy=_mean(accuracies),
        deviation=float(np.std(accuracies, ddof=1)) if len(accuracies) > 1 else None,
        n_vectors=_mean([end.n_vectors for end in ends]),
        fit_seconds=float(np.mean([sum(r.fit_seconds for r in own) for own in whole])),
        predict_seconds=float(np.mean([sum(r.predict_seconds for r in own) for own in whole])),
        model_bytes=_mean([end.model_bytes for end in ends]),
        errors=tuple(dict.fromkeys(r.error for own in runs for r in own if r.error)),
    )


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


@dataclass(frozen=True)
class CurvePoint:
    """One machine at one training size, as means over the repetitions; unknown values are None.

    Attributes
    ----------
    n_train : int
        Examples that have arrived.
    accuracy, n_vectors : float or None
        Means of the records.
    seconds : float
        Time of training from the first example on.
    """

    n_train: int
    accuracy: float | None
    n_vectors: float | None
    seconds: float


def learning_curves(records: Iterable[StudyRecord]) -> dict[str, list[CurvePoint]]:
    """Return for each machine its curve over the training size, for pictures.

    Examples
    --------
    >>> from supple.study import DataSpec, StudySpec, execute, learning_curves, parse_machine
    >>> machines = (parse_machine("svc"),)
    >>> spec = StudySpec("sonar", DataSpec("embedded", "sonar"), machines, repetitions=1, points=2)
    >>> [point.n_train for point in learning_curves(execute(spec))["svc"]]
    [73, 146]
    """
    found: dict[str, dict[int, list[tuple[StudyRecord, float]]]] = {}
    for (machine, _), own in _runs(records).items():
        spent = 0.0
        for record in own:
            spent += record.fit_seconds
            if record.error is None:
                sizes = found.setdefault(machine, {})
                sizes.setdefault(record.n_train, []).append((record, spent))
    return {
        machine: [
            CurvePoint(
                n_train,
                _mean([record.accuracy for record, _ in each]),
                _mean([record.n_vectors for record, _ in each]),
                float(np.mean([seconds for _, seconds in each])),
            )
            for n_train, each in sorted(sizes.items())
        ]
        for machine, sizes in found.items()
    }
