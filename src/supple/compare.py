"""The same stream through several estimators, measured at growing training sizes."""

import inspect
import pickle
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_outlier_detector, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array, check_random_state, check_X_y
from sklearn.utils.multiclass import check_classification_targets

from supple.errors import InvalidInputError

__all__ = ["Comparison", "Record", "compare"]


@dataclass(frozen=True)
class Record:
    """What one estimator did up to one training size; what is unknown is None.

    Attributes
    ----------
    estimator : str
        Its name in the mapping given to `compare`.
    n_train : int
        Examples of the stream that have arrived.
    mode : {"partial_fit", "fit"}
        Whether the estimator got only the new examples or was fitted anew to all so far.
    accuracy : float or None
        Share of correct predictions: on the test set, or without one on the new examples
        before they were learned.
    n_tested : int
        Number of these predictions.
    n_vectors : int or None
        Support vectors (`support_`) or relevance vectors (`relevance_`) of the model.
    fit_seconds, predict_seconds : float
        Time spent in training and in prediction since the last record.
    n_kernel_evals : int or None
        The attribute `n_kernel_evals_` of the model.
    model_bytes : int or None
        Size of the pickled model: what must be kept in order to go on, compiled parts included.
        What a model needs only while it works, such as a cache of kernel rows, is not counted.
    error : str or None
        Why the estimator failed here.
    """

    estimator: str
    n_train: int
    mode: Literal["partial_fit", "fit"]
    accuracy: float | None
    n_tested: int
    n_vectors: int | None
    fit_seconds: float
    predict_seconds: float
    n_kernel_evals: int | None
    model_bytes: int | None
    error: str | None


class Comparison(Iterator[Record]):
    """A running comparison: an iterator over its records, which does the work as it goes.

    To cancel it, stop iterating; `close` lets go of the models.

    Attributes
    ----------
    records : list of Record
        The records so far.
    n_total : int
        How many there will be if no estimator drops out.
    """

    def __init__(self, steps: Generator[Record, None, None], n_total: int) -> None:
        self._steps = steps
        self.records: list[Record] = []
        self.n_total = n_total

    def __next__(self) -> Record:
        record = next(self._steps)
        self.records.append(record)
        return record

    def close(self) -> None:
        """End the comparison; the records so far remain."""
        self._steps.close()

    def to_frame(self) -> Any:
        """Return the records so far as a pandas DataFrame, one row each."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(
                "to_frame needs pandas, which is not installed. Install it (pip install pandas) "
                "or use the list `records`."
            ) from error
        columns = [field.name for field in fields(Record)]
        return pd.DataFrame([asdict(record) for record in self.records], columns=columns)


def compare(
    estimators: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    X_test: Any = None,
    y_test: Any = None,
    sizes: int | Sequence[int] = 10,
    batch_size: int | None = None,
    shuffle: bool = False,
    random_state: int | None = None,
) -> Comparison:
    """Run the same stream through several classifiers and record how they fare.

    The stream is cut at growing sizes. At each of them every estimator in turn learns the new
    examples and is measured. One that has `partial_fit` gets only the new examples, any other one
    is fitted anew to all that have arrived; put an estimator into a pipeline to have it refitted
    although it could go on.

    An estimator that fails gives a record with the error, and the others go on. So does it itself
    at the next size, unless `partial_fit` failed: then it has missed examples and drops out.

    Parameters
    ----------
    estimators : mapping of str to estimator
        Classifiers of supple, scikit-learn, or with the same methods. They are cloned.
    X : array-like or CSR of shape (n_samples, n_features)
        The stream, in order of arrival.
    y : array-like of shape (n_samples,)
        Its labels, two classes or more.
    X_test, y_test : array-like, default=None
        Examples to be predicted at each size. Without them every new example is predicted before
        it is learned (prequential accuracy), by batches where learning goes by batches.
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
        An iterator over `Record`. Nothing is learned before the first one is asked for.

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
    X, y = check_X_y(X, y, accept_sparse="csr")
    check_classification_targets(y)
    classes = np.unique(y)
    if len(classes) < 2:
        raise InvalidInputError(
            f"compare needs a stream of two classes or more. Got only {classes.tolist()[0]!r} in "
            "y. Give examples of another class, too."
        )
    test = _check_test(X_test, y_test, X.shape[1], classes)
    steps = _check_sizes(sizes, len(y))
    if batch_size is not None and not _is_count(batch_size):
        raise InvalidInputError(
            f"The 'batch_size' parameter of compare must be None or an int >= 1. "
            f"Got {batch_size!r} instead."
        )
    rng = check_random_state(random_state)
    if shuffle:
        order = rng.permutation(len(y))
        X, y = X[order], y[order]
    seed = None if random_state is None else int(rng.randint(2**31 - 1))
    contenders = [_Contender(name, each, classes, seed) for name, each in estimators.items()]
    return Comparison(_run(contenders, X, y, test, steps, batch_size), len(steps) * len(contenders))


def _check_estimators(estimators: Any) -> None:
    if not isinstance(estimators, Mapping) or not estimators:
        raise InvalidInputError(
            "The 'estimators' parameter of compare must be a mapping of names to estimators, "
            f'such as {{"exact": SVC()}}. Got {estimators!r} instead.'
        )
    for name, estimator in estimators.items():
        usable = hasattr(estimator, "fit") and hasattr(estimator, "predict")
        if not usable or isinstance(estimator, type) or _is_no_classifier(estimator):
            raise InvalidInputError(
                f"compare takes classifiers with fit or partial_fit, and predict. The one named "
                f"{name!r} is {estimator!r}."
            )


def _is_no_classifier(estimator: Any) -> bool:
    try:
        return is_regressor(estimator) or is_outlier_detector(estimator)
    except AttributeError:  # it has scikit-learn's methods, but not its tags
        return False


def _check_test(
    X: Any, y: Any, width: int, classes: NDArray[Any]
) -> tuple[Any, NDArray[Any]] | None:
    if (X is None) != (y is None):
        raise InvalidInputError("Pass both X_test and y_test, or neither of them.")
    if X is None:
        return None
    X = check_array(X, accept_sparse="csr", input_name="X_test")
    y = check_array(y, ensure_2d=False, dtype=None, input_name="y_test")
    if X.shape != (len(y), width):
        raise InvalidInputError(
            f"X_test has shape {X.shape}; expected are {len(y)} rows, as many as y_test has "
            f"labels, of {width} features, as many as X has."
        )
    if not np.isin(y, classes).any():
        raise InvalidInputError(
            f"No label of y_test occurs in y: {np.unique(y)[:5]} and {classes[:5]}. Write the "
            "labels of both in the same way."
        )
    return X, y


def _is_count(value: Any) -> bool:
    is_int = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return is_int and bool(value >= 1)


def _check_sizes(sizes: Any, n: int) -> list[int]:
    if _is_count(sizes):
        k = min(int(sizes), n)
        return [round(n * (i + 1) / k) for i in range(k)]
    listed = list(sizes) if isinstance(sizes, Sequence | np.ndarray) else []
    growing = all(map(_is_count, listed)) and listed == sorted(set(listed))
    if not listed or not growing or listed[-1] > n:
        raise InvalidInputError(
            f"The 'sizes' parameter of compare must be an int >= 1 or growing ints from 1 to {n}, "
            f"the length of the stream. Got {sizes!r} instead."
        )
    return [int(size) for size in listed]


class _Contender:
    """One estimator on its way through the stream."""

    def __init__(self, name: str, estimator: Any, classes: NDArray[Any], seed: int | None) -> None:
        self.name = name
        self._template = _seeded(estimator, seed)
        self.mode: Literal["partial_fit", "fit"] = (
            "partial_fit" if hasattr(estimator, "partial_fit") else "fit"
        )
        self.model: Any = None
        self.behind = False  # has missed examples
        self._classes = classes

    def parts(self, start: int, stop: int, size: int | None) -> list[tuple[slice, slice]]:
        """Return, for each call of `learn`, which rows are new and which it gets."""
        if self.mode == "fit":
            return [(slice(start, stop), slice(0, stop))]
        size = size or stop - start
        new = [slice(i, min(i + size, stop)) for i in range(start, stop, size)]
        return list(zip(new, new, strict=True))

    def learn(self, X: Any, y: NDArray[Any]) -> None:
        if self.mode == "fit":
            self.model = clone(self._template).fit(X, y)
            return
        model, options = self.model, {}
        if model is None:
            model = clone(self._template)
            # scikit-learn's classifiers must be told all classes beforehand.
            if "classes" in inspect.signature(model.partial_fit).parameters:
                options["classes"] = self._classes
        self.behind = True
        model.partial_fit(X, y, **options)
        self.model, self.behind = model, False


def _seeded(estimator: Any, seed: int | None) -> Any:
    """Return a clone, with `seed` wherever a parameter random_state is None."""
    estimator = clone(estimator)
    if seed is not None:
        params = estimator.get_params(deep=True)
        free = [key for key, value in params.items() if value is None]
        estimator.set_params(**{key: seed for key in free if key.split("__")[-1] == "random_state"})
    return estimator


def _run(
    contenders: list[_Contender],
    X: Any,
    y: NDArray[Any],
    test: tuple[Any, NDArray[Any]] | None,
    sizes: list[int],
    batch_size: int | None,
) -> Generator[Record, None, None]:
    start = 0
    for stop in sizes:
        for contender in list(contenders):
            record = _step(contender, X, y, test, contender.parts(start, stop, batch_size))
            if contender.behind:
                contenders.remove(contender)
            yield record
        start = stop


def _step(
    contender: _Contender,
    X: Any,
    y: NDArray[Any],
    test: tuple[Any, NDArray[Any]] | None,
    parts: list[tuple[slice, slice]],
) -> Record:
    """Let `contender` learn the `parts`, predict what is to be predicted, and measure."""
    fitting, predicting = _Attempts(), _Attempts()
    correct = n_tested = 0

    def predict(points: Any, labels: NDArray[Any]) -> None:
        nonlocal correct, n_tested
        correct += int(np.sum(contender.model.predict(points) == labels))
        n_tested += len(labels)

    for new, rows in parts:
        if test is None and contender.model is not None:
            predicting.call(predict, X[new], y[new])
        fitting.call(contender.learn, X[rows], y[rows])
        if contender.behind:
            break
    if test is not None and fitting.error is None:
        predicting.call(predict, *test)
    return Record(
        estimator=contender.name,
        n_train=parts[-1][0].stop,
        mode=contender.mode,
        accuracy=correct / n_tested if n_tested else None,
        n_tested=n_tested,
        fit_seconds=fitting.seconds,
        predict_seconds=predicting.seconds,
        error=fitting.error or predicting.error,
        **(_UNKNOWN if fitting.error else _facts(contender.model)),
    )


class _Attempts:
    """Calls, their time and the first error: a failure must not end the other estimators."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.error: str | None = None

    def call(self, function: Callable[..., None], *arguments: Any) -> None:
        start = time.perf_counter()
        try:
            function(*arguments)
        except Exception as failure:
            self.error = self.error or f"{type(failure).__name__}: {failure}"
        self.seconds += time.perf_counter() - start


_UNKNOWN = dict.fromkeys(("n_vectors", "n_kernel_evals", "model_bytes"))


def _facts(model: Any) -> dict[str, int | None]:
    machine = model.steps[-1][1] if isinstance(model, Pipeline) else model
    vectors = _attribute(machine, "support_")
    if vectors is None:
        vectors = _attribute(machine, "relevance_")
    evaluations = _attribute(machine, "n_kernel_evals_")
    return {
        "n_vectors": None if vectors is None else len(vectors),
        "n_kernel_evals": None if evaluations is None else int(evaluations),
        "model_bytes": _pickled_bytes(model),
    }


def _attribute(machine: Any, name: str) -> Any:
    try:
        return getattr(machine, name)
    except Exception:  # it may be computed when asked for, and there may be no solution yet
        return None


class _Count:
    """A file that only counts what is written to it."""

    def __init__(self) -> None:
        self.bytes = 0

    def write(self, data: bytes) -> int:
        self.bytes += len(data)
        return len(data)

    def add(self, buffer: pickle.PickleBuffer) -> None:
        self.bytes += buffer.raw().nbytes


def _pickled_bytes(model: Any) -> int | None:
    """Return the size of the pickle without making it; None if the model has none."""
    count = _Count()
    try:
        pickle.Pickler(count, protocol=5, buffer_callback=count.add).dump(model)
    except Exception:  # a callable kernel, for example, may refuse in any way it likes
        return None
    return count.bytes
