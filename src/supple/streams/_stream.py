"""A stream: examples in order of arrival, and its known changes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.errors import InvalidInputError
from supple.streams._checks import check_count, check_data, check_timestamps, is_count

__all__ = ["Stream", "as_stream"]


@dataclass(frozen=True, eq=False, repr=False)
class Stream:
    """Examples in order of arrival, and the change points of their distribution.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The points, all finite, or a sequence of n_samples texts.
    y : array-like of shape (n_samples,), default=None
        Labels or target values; None if there are none.
    name : str, default="stream"
        Its name.
    change_points : tuple of int, default=()
        Positions of the first example of every new concept; of a gradual change, its beginning and
        its end. Empty if unknown.
    timestamps : array-like of shape (n_samples,), default=None
        When each example arrived: non-decreasing numbers or datetimes.
    metadata : mapping, default={}
        Further information. "feature_names", taken from X if it is a DataFrame, are the keys of the
        features for River's learners.

    Examples
    --------
    >>> from supple.streams import Stream
    >>> stream = Stream([[0.0], [1.0], [2.0]], [0, 1, 1], change_points=(2,))
    >>> stream
    <Stream stream: 3 examples, 1 features, changes at 2>
    >>> [len(y) for X, y in stream.batches(2)]
    [2, 1]
    """

    X: Any
    y: Any = None
    name: str = "stream"
    change_points: tuple[int, ...] = ()
    timestamps: Any = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        X, y = _points(self.X, self.y)
        n = X.shape[0]
        points = tuple(self.change_points)
        growing = all(is_count(p) for p in points) and list(points) == sorted(set(points))
        if not growing or (points and points[-1] >= n):
            raise InvalidInputError(
                f"The 'change_points' parameter of Stream must be growing ints from 1 to {n - 1}. "
                f"Got {self.change_points!r} instead."
            )
        times = None if self.timestamps is None else check_timestamps(self.timestamps, n)
        if hasattr(self.X, "columns"):
            names = {"feature_names": tuple(self.X.columns)}
            object.__setattr__(self, "metadata", names | dict(self.metadata))
        checked = {"X": X, "y": y, "change_points": points, "timestamps": times}
        for key, value in checked.items():
            object.__setattr__(self, key, value)  # the only way in a frozen dataclass

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def __repr__(self) -> str:
        parts = [f"{len(self)} examples"]
        parts.append(f"{self.X.shape[1]} features" if self.X.ndim == 2 else "texts")
        if self.change_points:
            parts.append("changes at " + ", ".join(map(str, self.change_points)))
        return f"<Stream {self.name}: {', '.join(parts)}>"

    def batches(self, size: int) -> Iterator[tuple[Any, Any]]:
        """Yield (X, y) of `size` examples at a time; the last part may be smaller.

        Parameters
        ----------
        size : int
            Number of examples, >= 1.

        Yields
        ------
        X, y : array-like
            Points and targets; y is None if the stream has none.
        """
        size = check_count(size, "size", "batches")
        for start in range(0, len(self), size):
            rows = slice(start, start + size)
            yield self.X[rows], None if self.y is None else self.y[rows]


def _points(X: Any, y: Any) -> tuple[Any, NDArray[Any] | None]:
    flat = isinstance(X, list | tuple) or getattr(X, "ndim", 0) == 1
    texts = flat and len(X) > 0 and all(isinstance(each, str) for each in X)
    if not texts:
        return check_data(X, y)
    # Texts have no numbers: check the targets with a dummy column.
    targets = check_data(np.zeros((len(X), 1)), y)[1]
    return np.fromiter(X, dtype=object, count=len(X)), targets


def as_stream(X: Any, y: Any, timestamps: Any) -> Stream:
    """Return the stream that the user gave, as a Stream or as arrays."""
    if not isinstance(X, Stream):
        return Stream(X, y, timestamps=timestamps)
    if y is not None or timestamps is not None:
        raise InvalidInputError(
            "A Stream has its own targets and timestamps. Pass it alone, or X, y and timestamps "
            "as arrays."
        )
    return X
