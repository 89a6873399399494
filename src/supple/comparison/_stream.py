"""The comparison of estimators on one stream."""

from collections.abc import Generator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from supple.comparison._records import Comparison, Record
from supple.errors import InvalidInputError
from supple.streams._checks import check_data, is_count
from supple.streams._measure import UNKNOWN, Attempts, facts, first_options, seeded
from supple.streams._metrics import Kind, kind_of

__all__ = ["compare"]

_Data = tuple[Any, NDArray[Any] | None]  # points and their targets


def compare(
    estimators: Mapping[str, Any],
    X: Any,
    y: Any = None,
    *,
    X_test: Any = None,
    y_test: Any = None,
    sizes: int | Sequence[int] = 10,
    batch_size: int | None = None,
    shuffle: bool = False,
    random_state: int | None = None,
) -> Comparison:
    """Run the same stream through several estimators and record their scores and costs.

    The stream is cut at growing sizes. At each of them every estimator learns the new examples and
    is measured. An estimator with `partial_fit` gets only the new examples, any other one is fitted
    anew to all so far; put an estimator into a pipeline to have it refitted in any case.

    An estimator that fails gives a record with the error and continues at the next size, unless
    `partial_fit` failed: then it has missed examples and drops out. The others continue.

    Parameters
    ----------
    estimators : mapping of str to estimator
        Classifiers, regressors or outlier detectors, all of one kind, of supple, scikit-learn, or
        with the same methods. They are cloned.
    X : array-like or CSR of shape (n_samples, n_features)
        The stream, in order of arrival.
    y : array-like of shape (n_samples,), default=None
        Its labels, of two classes or more, or its target values. For outlier detectors None, or 1
        for inliers and -1 for outliers: they do not learn from these, but are scored by them.
    X_test, y_test : array-like, default=None
        Examples to be predicted at each size. Without them every new example is predicted before
        it is learned (prequential scores), by batches where learning goes by batches. Outlier
        detectors need no `y_test`.
    sizes : int or sequence of int, default=10
        Training sizes at which to measure, growing; an int is the number of equal steps.
    batch_size : int, default=None
        Examples in one call of `partial_fit`; None passes all of a step at once.
    shuffle : bool, default=False
        Whether the stream is shuffled first.
    random_state : int, default=None
        Seed of the shuffling, and of every estimator that has a parameter `random_state` which is
        None. With a seed everything but the times is the same in every run.

    Returns
    -------
    Comparison
        An iterator over `Record`; the work is done during the iteration.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from supple import SVC, compare
    >>> from supple.datasets import load
    >>> X_train, X_test, y_train, y_test = load("monks1").split()
    >>> contenders = {"exact": SVC(C=10, gamma=0.1), "sgd": SGDClassifier(random_state=0)}
    >>> run = compare(contenders, X_train, y_train, X_test=X_test, y_test=y_test, sizes=[60, 124])
    >>> for record in run:
    ...     print(record.n_train, record.estimator, record.mode, record.n_vectors)
    60 exact partial_fit 55
    60 sgd partial_fit None
    124 exact partial_fit 104
    124 sgd partial_fit None
    """
    _check_estimators(estimators)
    kind = kind_of(estimators)
    X, y = check_data(X, y)
    kind.check_stream(y)
    test = None
    if X_test is not None:
        test = check_data(X_test, y_test, "_test", X.shape[1])
        kind.check_test(test[1], y)
    elif y_test is not None:
        raise InvalidInputError("y_test needs X_test. Pass both X_test and y_test, or neither.")
    steps = _check_sizes(sizes, X.shape[0])
    if batch_size is not None and not is_count(batch_size):
        raise InvalidInputError(
            f"The 'batch_size' parameter of compare must be None or an int >= 1. "
            f"Got {batch_size!r} instead."
        )
    rng = check_random_state(random_state)
    if shuffle:
        order = rng.permutation(X.shape[0])
        X, y = X[order], None if y is None else y[order]
    seed = None if random_state is None else int(rng.randint(2**31 - 1))
    contenders = [_Contender(name, each, kind, y, seed) for name, each in estimators.items()]
    run = _run(contenders, kind, X, y, test, steps, batch_size)
    return Comparison(run, len(steps) * len(contenders), kind.metrics)


def _check_estimators(estimators: Any) -> None:
    if not isinstance(estimators, Mapping) or not estimators:
        raise InvalidInputError(
            "The 'estimators' parameter of compare must be a mapping of names to estimators, "
            f'such as {{"exact": SVC()}}. Got {estimators!r} instead.'
        )
    for name, estimator in estimators.items():
        usable = hasattr(estimator, "fit") and hasattr(estimator, "predict")
        if not usable or isinstance(estimator, type):
            raise InvalidInputError(
                f"compare takes classifiers, regressors or outlier detectors with fit or "
                f"partial_fit, and predict. The one named {name!r} is {estimator!r}."
            )


def _check_sizes(sizes: Any, n: int) -> list[int]:
    if is_count(sizes):
        k = min(int(sizes), n)
        return [round(n * (i + 1) / k) for i in range(k)]
    listed = list(sizes) if isinstance(sizes, Sequence | np.ndarray) else []
    growing = all(map(is_count, listed)) and listed == sorted(set(listed))
    if not listed or not growing or listed[-1] > n:
        raise InvalidInputError(
            f"The 'sizes' parameter of compare must be an int >= 1 or growing ints from 1 to {n}, "
            f"the length of the stream. Got {sizes!r} instead."
        )
    return [int(size) for size in listed]


class _Contender:
    """One estimator of the comparison."""

    def __init__(
        self, name: str, estimator: Any, kind: Kind, y: NDArray[Any] | None, seed: int | None
    ) -> None:
        self.name = name
        self._template = seeded(estimator, seed)
        self.mode: Literal["partial_fit", "fit"] = (
            "partial_fit" if hasattr(estimator, "partial_fit") else "fit"
        )
        self.model: Any = None
        self.stale = False  # has missed examples
        self._takes_targets = kind.takes_targets
        self._classes = kind.classes(y)

    def parts(self, start: int, stop: int, size: int | None) -> list[tuple[slice, slice]]:
        """Return, for each call of `learn`, which rows are new and which it gets."""
        if self.mode == "fit":
            return [(slice(start, stop), slice(0, stop))]
        size = size or stop - start
        new = [slice(i, min(i + size, stop)) for i in range(start, stop, size)]
        return list(zip(new, new, strict=True))

    def learn(self, X: Any, y: NDArray[Any] | None) -> None:
        data = (X, y) if self._takes_targets else (X,)
        if self.mode == "fit":
            self.model = clone(self._template).fit(*data)
            return
        model, options = self.model, {}
        if model is None:
            model = clone(self._template)
            options = first_options(model, self._classes)
        self.stale = True
        model.partial_fit(*data, **options)
        self.model, self.stale = model, False


def _run(
    contenders: list[_Contender],
    kind: Kind,
    X: Any,
    y: NDArray[Any] | None,
    test: _Data | None,
    sizes: list[int],
    batch_size: int | None,
) -> Generator[Record, None, None]:
    start = 0
    for stop in sizes:
        for contender in list(contenders):
            parts = contender.parts(start, stop, batch_size)
            record = _step(contender, kind, (X, y), test, parts)
            if contender.stale:
                contenders.remove(contender)
            yield record
        start = stop


def _step(
    contender: _Contender,
    kind: Kind,
    stream: _Data,
    test: _Data | None,
    parts: list[tuple[slice, slice]],
) -> Record:
    """Let `contender` learn the `parts` and predict, and measure both."""
    fitting, predicting, scoring = Attempts(), Attempts(), Attempts()
    scores: dict[str, Any] = {}
    answers: list[NDArray[Any]] = []
    truth: list[NDArray[Any] | None] = []

    def predict(X: Any, y: NDArray[Any] | None) -> None:
        answers.append(kind.answers(contender.model, X, scored=y is not None))
        truth.append(y)

    def score() -> None:
        known = [y for y in truth if y is not None]
        targets = np.concatenate(known) if known else None
        scores.update(kind.scores(np.concatenate(answers), targets))

    for new, rows in parts:
        if test is None and contender.model is not None:
            predicting.call(predict, *_rows(stream, new))
        fitting.call(contender.learn, *_rows(stream, rows))
        if contender.stale:
            break
    if test is not None and fitting.error is None:
        predicting.call(predict, *test)
    if answers:
        scoring.call(score)
    return Record(
        estimator=contender.name,
        n_train=parts[-1][0].stop,
        mode=contender.mode,
        n_tested=sum(map(len, answers)),
        fit_seconds=fitting.seconds,
        predict_seconds=predicting.seconds,
        error=fitting.error or predicting.error or scoring.error,
        **(UNKNOWN if fitting.error else facts(contender.model)),
        **scores,
    )


def _rows(data: _Data, rows: slice) -> _Data:
    X, y = data
    return X[rows], None if y is None else y[rows]
