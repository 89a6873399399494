"""Run a study."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from supple.comparison import compare
from supple.errors import InvalidInputError
from supple.study._data import Data, data_of
from supple.study._machines import MACHINES
from supple.study._spec import StudySpec
from supple.study._table import Table

__all__ = ["StudyRecord", "execute"]


@dataclass(frozen=True)
class StudyRecord:
    """Results of one machine at one training size of one repetition; unknown values are None.

    Attributes
    ----------
    repetition : int
        Number of the repetition, from 0.
    machine : str
        The label of the machine.
    n_train : int
        Examples that have arrived.
    n_test : int
        Examples that are held out; 0 in the prequential protocol.
    n_tested : int
        Predictions that were scored for this record.
    accuracy : float or None
        Share of them that were correct.
    n_vectors : int or None
        Support vectors or relevance vectors.
    fit_seconds, predict_seconds : float
        Time of training and of prediction since the last record of the machine.
    n_kernel_evals, model_bytes : int or None
        Kernel values computed for learning, and the size of the pickled model.
    mode : {"partial_fit", "fit"}
        Whether the machine got only the new examples or was fitted anew to all so far.
    error : str or None
        Why the machine failed here.
    n_total : int
        Number of records of the whole study if no machine drops out.
    """

    repetition: int
    machine: str
    n_train: int
    n_test: int
    n_tested: int
    accuracy: float | None
    n_vectors: int | None
    fit_seconds: float
    predict_seconds: float
    n_kernel_evals: int | None
    model_bytes: int | None
    mode: Literal["partial_fit", "fit"]
    error: str | None
    n_total: int


@dataclass(frozen=True, eq=False)
class _Part:
    """The stream of one repetition, and the held-out rows if there are any."""

    X: Any
    y: NDArray[Any]
    X_test: Any = None
    y_test: NDArray[Any] | None = None


def execute(
    spec: StudySpec, *, table: Table | None = None, folder: str | Path | None = None
) -> Iterator[StudyRecord]:
    """Run a study: an iterator over its records that does the work.

    The study is checked and its data are read at once; the machines learn during the iteration.
    Stop iterating to cancel.

    Parameters
    ----------
    spec : StudySpec
        The study.
    table : Table, default=None
        The table, if ``spec.data.source`` is "file" and the file has been read already.
    folder : str or Path, default=None
        Folder of relative paths; None is the working folder.

    Returns
    -------
    iterator of StudyRecord
        By repetition, training size and machine.

    Examples
    --------
    >>> from supple.study import DataSpec, StudySpec, execute, parse_machine
    >>> machines = (parse_machine("svc"), parse_machine("libsvm"))
    >>> spec = StudySpec("sonar", DataSpec("embedded", "sonar"), machines, repetitions=1, points=2)
    >>> for record in execute(spec):
    ...     print(record.machine, record.n_train, record.n_vectors)
    svc 73 70
    libsvm 73 70
    svc 146 119
    libsvm 146 119
    """
    spec.check()
    data = data_of(spec.data, folder, table=table, seed=spec.seed)
    first = _part(spec, data, 0)
    points = min(spec.points, len(first.y))
    n_total = spec.repetitions * points * len(spec.machines)
    return _records(spec, data, first, n_total)


def _records(spec: StudySpec, data: Data, part: _Part, n_total: int) -> Iterator[StudyRecord]:
    estimators = {each.label: MACHINES[each.machine].make(each.params) for each in spec.machines}
    for repetition in range(spec.repetitions):
        if repetition > 0:
            if spec.data.source == "generator":
                data = data_of(spec.data, seed=spec.seed + repetition)
            part = _part(spec, data, repetition)
        run = compare(
            estimators,
            part.X,
            part.y,
            X_test=part.X_test,
            y_test=part.y_test,
            sizes=spec.points,
            batch_size=spec.batch_size,
            random_state=spec.seed + repetition,
        )
        for record in run:
            yield StudyRecord(
                repetition=repetition,
                machine=record.estimator,
                n_train=record.n_train,
                n_test=0 if part.y_test is None else len(part.y_test),
                n_tested=record.n_tested,
                accuracy=record.accuracy,
                n_vectors=record.n_vectors,
                fit_seconds=record.fit_seconds,
                predict_seconds=record.predict_seconds,
                n_kernel_evals=record.n_kernel_evals,
                model_bytes=record.model_bytes,
                mode=record.mode,
                error=record.error,
                n_total=n_total,
            )


def _part(spec: StudySpec, data: Data, repetition: int) -> _Part:
    """Return the stream and the held-out rows of a repetition, ordered and scaled."""
    rng = np.random.default_rng([spec.seed, repetition])
    rows = _order(spec, data, rng)[: spec.data.rows]
    held = _held_out(spec, data.y[rows], rng)
    train, test = rows[~held], rows[held]
    y, y_test = data.y[train], data.y[test]
    if spec.data.order == "drift":
        y, y_test = _renamed(y, y_test)
    _check_part(y)
    steps = min(spec.points, len(train))
    warm = len(train) if len(test) else max(2, round(len(train) / steps))
    X, X_test = _prepared(spec, data.X[train], data.X[test], warm)
    return _Part(X, y, X_test, y_test) if len(test) else _Part(X, y)


def _order(spec: StudySpec, data: Data, rng: np.random.Generator) -> NDArray[np.intp]:
    if spec.data.order == "as is":
        return np.arange(len(data.y))
    if spec.data.order == "sorted":
        assert spec.data.by is not None
        return data.sorted_by(spec.data.by)
    return rng.permutation(len(data.y))


def _held_out(spec: StudySpec, y: NDArray[Any], rng: np.random.Generator) -> NDArray[np.bool_]:
    """Return a mask of held-out rows: the given share of each class."""
    held = np.zeros(len(y), dtype=bool)
    if spec.protocol == "held-out":
        for label in np.unique(y):
            own = rng.permutation(np.flatnonzero(y == label))
            held[own[: round(spec.test_share * len(own))]] = True
        if not held.any() or held.all():
            raise InvalidInputError(
                f"Of {len(y)} rows, a 'test_share' of {spec.test_share} leaves nothing to "
                f"{'learn' if held.any() else 'test'}. Take more rows or another share."
            )
    return held


def _renamed(y: NDArray[Any], y_test: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Rename every class to the next one from the middle of the stream on."""
    classes = np.unique(np.concatenate([y, y_test]))

    def turned(labels: NDArray[Any]) -> NDArray[Any]:
        return classes[(np.searchsorted(classes, labels) + 1) % len(classes)]

    half = len(y) // 2
    return np.concatenate([y[:half], turned(y[half:])]), turned(y_test)


def _check_part(y: NDArray[Any]) -> None:
    if len(np.unique(y)) < 2:
        raise InvalidInputError(
            f"The {len(y)} rows to learn are of one class only, {y[0]!s:.60}. Take more rows, or "
            "the order 'random'."
        )


def _prepared(spec: StudySpec, X: Any, X_test: Any, warm: int) -> tuple[Any, Any]:
    """Return both parts scaled by the first `warm` rows of the stream."""
    if spec.data.prepare == "none" or sp.issparse(X):
        return X, X_test
    seen = X[:warm].astype(np.float64)
    mean, deviation = seen.mean(axis=0), seen.std(axis=0)
    deviation[seen.min(axis=0) == seen.max(axis=0)] = 1.0
    return (X - mean) / deviation, (X_test - mean) / deviation
