"""Records of a prequential evaluation, as a list, a frame, a table and a picture."""

from collections.abc import Generator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from supple.errors import InvalidInputError
from supple.streams._metrics import Scores
from supple.streams._report import Run, draw_lines, frame_of, latest_table, new_axes
from supple.streams._stream import Stream

__all__ = ["Event", "Prequential", "PrequentialRecord"]

_COUNTS = ("n_vectors", "fit_seconds", "predict_seconds", "model_bytes", "n_learned")
_NAMES = {
    "kappa_t": "kappa-T",
    "kappa_m": "kappa-M",
    "mae": "mean absolute error",
    "rmse": "root mean squared error",
    "r2": "R²",
    "auc": "AUC",
    "alarm_share": "share of alarms",
    "n_vectors": "vectors",
    "fit_seconds": "seconds of training",
    "predict_seconds": "seconds of prediction",
    "model_bytes": "bytes of the model",
    "n_learned": "examples learned",
}


class Event(NamedTuple):
    """An event reported by a learner: its `kind` and `detail`.

    `n_seen` is the number of examples that had arrived.

    Examples
    --------
    >>> from supple.streams import Event
    >>> Event("window_start_", 120, n_seen=200).kind
    'window_start_'
    """

    kind: str
    detail: Any
    n_seen: int


@dataclass(frozen=True)
class PrequentialRecord:
    """Scores of one learner up to one position of the stream; unknown values are None.

    Attributes
    ----------
    learner : str
        Its name in the mapping given to `prequential`.
    n_seen : int
        Examples that have arrived and were predicted.
    timestamp : object
        When the latest of them arrived, if known.
    n_learned : int
        Examples that the learner has learned.
    n_unanswered : int
        Examples without an answer, because the learner had not learned enough or failed. For
        classifiers they are errors; in other scores they do not count.
    cumulative, windowed : Scores
        Metrics of all predictions so far, and of the latest `window` ones.
    events : tuple of Event
        Events since the last record.
    fit_seconds, predict_seconds : float
        Processor time of training and of prediction since the last record.
    n_vectors : int or None
        Support vectors (`support_`) or relevance vectors (`relevance_`) of the model.
    model_bytes : int or None
        Size of the pickled model; None if it cannot be pickled.
    error : str or None
        Why the learner failed here.

    Examples
    --------
    >>> from supple import SVC
    >>> from supple.streams import prequential, sea
    >>> run = prequential(sea(300, random_state=0), learners={"exact": SVC()}, window=100)
    >>> [(record.n_seen, record.n_learned) for record in run]
    [(100, 100), (200, 200), (300, 300)]
    """

    learner: str
    n_seen: int
    timestamp: Any
    n_learned: int
    n_unanswered: int
    cumulative: Scores
    windowed: Scores
    events: tuple[Event, ...]
    fit_seconds: float
    predict_seconds: float
    n_vectors: int | None
    model_bytes: int | None
    error: str | None


class Prequential(Run[PrequentialRecord]):
    """A running prequential evaluation: an iterator over its records, which does the work.

    Printed, it is a table of the latest record of each learner; ``run[name]`` is that record. To
    cancel the run, stop iterating or press Ctrl-C: the records so far remain.

    Attributes
    ----------
    records : list of PrequentialRecord
        The records so far.
    n_total : int
        Number of records if no learner drops out.
    metrics : tuple of str
        The fields of `Scores` for learners of this kind, the most important one first.
    models : mapping of str to object
        The present learners, except those that have learned nothing yet.

    Examples
    --------
    >>> from supple import SVC
    >>> from supple.streams import prequential, sea
    >>> run = prequential(sea(200, random_state=0), learners={"exact": SVC()}, window=100)
    >>> _ = list(run)
    >>> run["exact"].cumulative.accuracy > 0.7
    True
    """

    def __init__(
        self,
        steps: Generator[PrequentialRecord, None, None],
        n_total: int,
        metrics: tuple[str, ...],
        stream: Stream,
        learners: Mapping[str, Any],
    ) -> None:
        super().__init__(steps, n_total, metrics)
        self._stream = stream
        self._learners = learners

    @property
    def models(self) -> dict[str, Any]:
        """The present learners by name."""
        return {k: each.model for k, each in self._learners.items() if each.model is not None}

    def __getitem__(self, name: str) -> PrequentialRecord:
        for record in reversed(self.records):
            if record.learner == name:
                return record
        known = list(dict.fromkeys(record.learner for record in self.records))
        raise InvalidInputError(
            f"There is no record of a learner {name!r} yet. Known are {known}. Iterate over the "
            "run first, for example with list(run)."
        )

    def __repr__(self) -> str:
        head = f"Prequential on {self._stream.name}: {len(self.records)} of {self.n_total} records"
        table = latest_table(self.records, "learner", "n_seen", self.metrics, "cumulative")
        return "\n".join([head, *table])

    def to_frame(self) -> Any:
        """Return the records so far as a pandas DataFrame, one row each.

        Cumulative scores have their own names (``accuracy``), windowed ones ``windowed_accuracy``
        and so on.

        Returns
        -------
        pandas.DataFrame
            Scores of other kinds of learners are left out.
        """
        plain = [name for name in PrequentialRecord.__annotations__ if name not in _NESTED]
        windowed = [f"windowed_{metric}" for metric in self.metrics]
        columns = [*plain[:5], *self.metrics, *windowed, *plain[5:]]
        return frame_of([self._flat(record) for record in self.records], columns)

    def _flat(self, record: PrequentialRecord) -> dict[str, Any]:
        row = vars(record) | asdict(record.cumulative)
        return row | {f"windowed_{k}": v for k, v in asdict(record.windowed).items()}

    def plot(self, field: str | None = None, *, windowed: bool = True, ax: Any = None) -> Any:
        """Draw a score against the position in the stream, one line for each learner.

        Vertical lines mark the change points of the stream.

        Parameters
        ----------
        field : str, default=None
            One of `metrics`, or "n_vectors", "n_learned", "fit_seconds", "predict_seconds" or
            "model_bytes". None takes the first of `metrics`.
        windowed : bool, default=True
            Whether a metric is that of the latest window rather than of all predictions so far.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        matplotlib.figure.Figure
            The figure, for instance for ``savefig``.
        """
        field = self.metrics[0] if field is None else field
        allowed = (*self.metrics, *_COUNTS)
        if field not in allowed:
            raise InvalidInputError(
                f"The 'field' parameter of plot must be None or one of {', '.join(allowed)}. "
                f"Got {field!r} instead."
            )
        if not self.records:
            raise InvalidInputError(
                "There are no records to draw yet. Iterate over the run first, for example with "
                "list(run)."
            )
        key = f"windowed_{field}" if windowed and field in self.metrics else field
        points = ((r.learner, r.n_seen, self._flat(r)[key]) for r in self.records)
        axes = new_axes() if ax is None else ax
        for position in self._stream.change_points:
            if position <= self.records[-1].n_seen:
                axes.axvline(position, color="0.6", linestyle="--", linewidth=1)
        return draw_lines(axes, points, "examples seen", _NAMES.get(field, field))


_NESTED = ("cumulative", "windowed")
