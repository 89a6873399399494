"""Test, then train: every example is predicted before it is learned."""

import time
from collections.abc import Generator, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from supple.errors import InvalidInputError
from supple.progress import Progress
from supple.streams._checks import check_count, check_share
from supple.streams._learners import Learner, make_learner
from supple.streams._measure import Attempts, attribute, facts, machine_of
from supple.streams._metrics import Kind, Scores, kind_of
from supple.streams._plan import Arrival, Plan
from supple.streams._records import Event, Prequential, PrequentialRecord
from supple.streams._stream import as_stream

__all__ = ["prequential"]

_WATCHED = ("window_start_", "drift_detected", "n_drifts_detected")


def prequential(
    stream: Any,
    y: Any = None,
    learners: Mapping[str, Any] | None = None,
    *,
    timestamps: Any = None,
    batch_size: int = 1,
    window: int = 1000,
    record_every: int | None = None,
    delay: Any = 0,
    label_probability: float = 1.0,
    watch: Sequence[str] = _WATCHED,
    random_state: int | None = None,
    verbose: bool = False,
) -> Prequential:
    """Run several learners through one stream, each example predicted before it is learned.

    A batch of examples arrives, every learner predicts it, then learns those examples whose labels
    have arrived. The scores are those of `Scores`, over all predictions so far (cumulative) and
    over the latest `window` ones (windowed). A learner that cannot answer yet gives no answer; for
    a classifier that is an error.

    A learner that fails to predict gives no answers but continues; one that fails to learn drops
    out with a last record. The record has the error, and the other learners continue.

    Parameters
    ----------
    stream : Stream or array-like or CSR of shape (n_samples, n_features)
        The examples, in order of arrival.
    y : array-like of shape (n_samples,), default=None
        Labels or target values, if `stream` is an array. For outlier detectors None, or 1 for
        inliers and -1 for outliers: they do not learn from these, but are scored by them.
    learners : mapping of str to learner
        Classifiers, regressors or outlier detectors, all of one kind: estimators of supple and
        scikit-learn with `partial_fit`, and models of River (`learn_one`), which get features as
        dicts and keep their own seeds. They are cloned.
    timestamps : array-like of shape (n_samples,), default=None
        When each example arrived, if `stream` is an array: numbers or datetimes. They are in the
        records, and are passed to learners whose `partial_fit` takes `timestamps`; of supple's
        estimators those whose memory has ``unit="time"``.
    batch_size : int, default=1
        Examples that are predicted and learned at a time.
    window : int, default=1000
        Number of the latest predictions in windowed scores.
    record_every : int, default=None
        Examples from one record to the next; None means `window`, so that windows do not overlap.
    delay : int, float or timedelta, default=0
        How long a label takes to arrive. An int counts examples: the label of example i is learned
        before example i + delay + 1 is predicted. A float or timedelta is a span of `timestamps`:
        the label is learned before the first example that arrives later than that.
    label_probability : float, default=1.0
        Share of the labels that arrive at all, drawn at random. The predictions of the others are
        scored as well.
    watch : sequence of str, default=("window_start_", "drift_detected", "n_drifts_detected")
        Attributes, or methods without arguments, of learners. When one of them changes, the record
        has an `Event` of that name. A learner with a method ``on_drift(function)`` gets a function;
        each call of it is an event named "drift".
    random_state : int, default=None
        Seed of the labels that arrive, and of every estimator that has a parameter `random_state`
        which is None.
    verbose : bool, default=False
        Print the progress, one line a second.

    Returns
    -------
    Prequential
        An iterator over `PrequentialRecord`; the work is done during the iteration.

    See Also
    --------
    supple.compare : Measures at growing sizes, also estimators without partial_fit.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from supple import SVC
    >>> from supple.memory import Window
    >>> from supple.streams import prequential, rotating_gaussians
    >>> stream = rotating_gaussians(600, n_concepts=2, random_state=0)
    >>> learners = {"window": SVC(memory=Window(100)), "sgd": SGDClassifier(random_state=0)}
    >>> run = prequential(stream, learners=learners, window=300)
    >>> for record in run:
    ...     print(record.learner, record.n_seen, record.windowed.accuracy > 0.8)
    window 300 True
    sgd 300 True
    window 600 True
    sgd 600 True
    """
    given = as_stream(stream, y, timestamps)
    _check_learners(learners)
    assert learners is not None
    kind = kind_of(learners, "prequential")
    kind.check_stream(given.y)
    batch_size = check_count(batch_size, "batch_size", "prequential")
    window = check_count(window, "window", "prequential")
    every = window if record_every is None else record_every
    every = check_count(every, "record_every", "prequential")
    share = check_share(label_probability, "label_probability", "prequential")
    watched = _check_names(watch)
    arrival = Arrival(given, delay)
    if not kind.takes_targets and (arrival.late or share < 1.0):
        raise InvalidInputError(
            "Outlier detectors learn without labels, so prequential has nothing to hold back. "
            "Leave 'delay' and 'label_probability' out."
        )
    rng = check_random_state(random_state)
    labelled = rng.uniform(size=len(given)) < share
    seed = None if random_state is None else int(rng.randint(2**31 - 1))
    names = given.metadata.get("feature_names")
    classes = kind.classes(given.y)
    made = {k: make_learner(k, each, kind, classes, seed, names) for k, each in learners.items()}
    runners = [_Runner(name, each, kind, watched) for name, each in made.items()]
    plan = Plan(given, kind, arrival, labelled, batch_size, window, every)
    steps = _run(runners, plan, Progress("prequential") if verbose else None)
    n_records = len([stop for start, stop in plan.batches() if plan.closes(start, stop)])
    return Prequential(steps, n_records * len(runners), kind.stream_metrics, given, made)


def _check_learners(learners: Any) -> None:
    if not isinstance(learners, Mapping) or not learners:
        raise InvalidInputError(
            "The 'learners' parameter of prequential must be a mapping of names to learners, such "
            f'as {{"exact": SVC()}}. Got {learners!r} instead.'
        )
    for name, learner in learners.items():
        if isinstance(learner, type):
            raise InvalidInputError(
                f"prequential takes learners, not their classes. The one named {name!r} is "
                f"{learner!r}. Call it first."
            )


def _check_names(watch: Any) -> list[str]:
    listed = isinstance(watch, Sequence) and not isinstance(watch, str)
    if not listed or not all(isinstance(name, str) for name in watch):
        raise InvalidInputError(
            "The 'watch' parameter of prequential must be a sequence of names of attributes, such "
            f"as ['window_start_']. Got {watch!r} instead."
        )
    return list(watch)


class _Runner:
    """One learner, its answers, and what was measured since its last record."""

    def __init__(self, name: str, learner: Learner, kind: Kind, watch: Sequence[str]) -> None:
        self.name = name
        self.failed = False
        self._learner = learner
        self._kind = kind
        self._watched: dict[str, Any] = dict.fromkeys(watch)
        self._hooked: Any = None
        self._answers: list[NDArray[Any]] = []
        self._n_seen = self._n_learned = self._next = 0
        self._start_anew()

    def _start_anew(self) -> None:
        self._fitting, self._predicting = Attempts(time.process_time), Attempts(time.process_time)
        self._events: list[Event] = []

    def predict(self, X: Any) -> None:
        learner, given = self._learner, []

        def ask(rows: Any) -> None:
            given.append(learner.predict(rows))

        n = X.shape[0]
        well = self._predicting.call(ask, learner.rows(X))
        self._answers.append(given[0] if well else self._kind.silence(n))
        self._n_seen += n

    def learn(self, plan: Plan) -> None:
        chosen = plan.arrived(self._next, self._n_seen)
        self._next = plan.known(self._n_seen)
        if not len(chosen):
            return
        stream = plan.stream
        y = stream.y[chosen] if plan.labels else None
        times = None if stream.timestamps is None else stream.timestamps[chosen]
        rows = self._learner.rows(stream.X[chosen])
        self.failed = not self._fitting.call(self._learner.learn, rows, y, times)
        if not self.failed:
            self._n_learned += len(chosen)
            self._look()

    def _look(self) -> None:
        """Record changes of the watched attributes."""
        machine = machine_of(self._learner.model)
        hook = attribute(machine, "on_drift")
        if callable(hook) and self._hooked is not machine:
            self._hooked = machine
            hook(_Ear(self))
        for name, before in self._watched.items():
            now = self._learner.told(name)
            if now is not None and not np.array_equal(now, before):
                self._watched[name] = now
                if before is not None or np.any(now):  # a count that starts at 0 is not an event
                    self.note(name, now)

    def note(self, kind: str, detail: Any) -> None:
        """Keep an event for the next record."""
        self._events.append(Event(kind, detail, self._n_seen))

    def record(self, plan: Plan) -> PrequentialRecord:
        answers = np.concatenate(self._answers)
        self._answers = [answers]
        model = self._learner.model
        measured = {} if model is None or self.failed else facts(model)
        times = plan.stream.timestamps
        record = PrequentialRecord(
            learner=self.name,
            n_seen=self._n_seen,
            timestamp=None if times is None else times[self._n_seen - 1],
            n_learned=self._n_learned,
            n_unanswered=self._kind.count_silent(answers),
            cumulative=self._scores(answers, plan, 0),
            windowed=self._scores(answers, plan, max(0, self._n_seen - plan.window)),
            events=tuple(self._events),
            fit_seconds=self._fitting.seconds,
            predict_seconds=self._predicting.seconds,
            n_vectors=measured.get("n_vectors"),
            model_bytes=measured.get("model_bytes"),
            error=self._fitting.error or self._predicting.error,
        )
        self._start_anew()
        return record

    def _scores(self, answers: NDArray[Any], plan: Plan, start: int) -> Scores:
        rows = slice(start, self._n_seen)
        truth = None if plan.truth is None else plan.truth[rows]
        return self._kind.stream_scores(answers[rows], truth, plan.hits[rows])


class _Ear:
    """A callback for drifts. Its pickle is empty, so as not to add to the size of the model."""

    def __init__(self, runner: _Runner | None = None) -> None:
        self._runner = runner

    def __call__(self, *details: Any) -> None:
        if self._runner is not None:
            self._runner.note("drift", details[0] if len(details) == 1 else details)

    def __reduce__(self) -> tuple[type[Self], tuple[()]]:
        return type(self), ()


def _run(
    runners: list[_Runner], plan: Plan, progress: Progress | None
) -> Generator[PrequentialRecord, None, None]:
    n = len(plan.stream)
    for start, stop in plan.batches():
        if progress is not None:
            progress.at("example", start + 1, n)
        for runner in runners:
            runner.predict(plan.stream.X[start:stop])
            runner.learn(plan)
        for runner in list(runners):
            if runner.failed or plan.closes(start, stop):
                yield runner.record(plan)
            if runner.failed:
                runners.remove(runner)
        if not runners:
            return
