"""A collection in which another category becomes relevant (Klinkenberg & Joachims 2000)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from supple.errors import InvalidInputError
from supple.streams._checks import check_count, check_data
from supple.streams._stream import Stream

__all__ = ["relevance_change"]

# Table 1 of the paper: the probability p_t that a document of the first category is relevant, for
# batches 0 to 19. A document of the second one is relevant with probability 1 - p_t.
_TABLE = {
    "A": [1.0] * 10 + [0.0] * 10,
    "B": [1.0] * 8 + [0.8, 0.6, 0.4, 0.2] + [0.0] * 8,
    "C": [1.0] * 9 + [0.0] * 2 + [1.0] * 9,
}
_CHANGES = {"A": (10,), "B": (8, 12), "C": (9, 11)}
_COLUMNS = 20


def relevance_change(
    X: Any,
    labels: Any,
    scenario: str = "A",
    *,
    relevant: tuple[Any, Any],
    n_batches: int = 20,
    batch_size: int = 130,
    random_state: Any = None,
) -> Stream:
    """Make a stream from a labelled collection, in which the relevant category changes.

    The examples are divided at random into batches of equal size, those of every category as
    equally as possible. y = 1 if an example is relevant, else -1. At first those of category
    ``relevant[0]`` are relevant, later those of ``relevant[1]``; others never are. In batch t, an
    example of ``relevant[0]`` is relevant with a probability p_t, one of ``relevant[1]`` with
    1 - p_t, drawn for each example by itself. For 20 batches (table 1 of the paper)::

        A    p = 1 for t < 10, then 0                         an abrupt change
        B    p = 1 for t < 8, then 0.8, 0.6, 0.4, 0.2, then 0 a gradual one
        C    p = 0 for t = 9 and t = 10, else 1               a brief change

    Other numbers of batches stretch or shorten the table.

    Parameters
    ----------
    X : array-like or CSR of shape (n_samples, n_features)
        The collection, in any order.
    labels : array-like of shape (n_samples,)
        The category of each example.
    scenario : {"A", "B", "C"}, default="A"
        When which category is relevant.
    relevant : tuple of two labels
        The category that is relevant first, and the one that takes its place.
    n_batches : int, default=20
        Number of batches.
    batch_size : int, default=130
        Number of examples in each. Surplus examples are left out at random.
    random_state : int or RandomState, default=None
        Seed of the division and of the relevance in scenario B.

    Returns
    -------
    Stream
        Change points are where batches begin: of scenario B where the change begins and where it
        has ended. The `metadata` has "rows" (positions in `X`), "categories", "batch_size" and
        "probability" (p_t of each batch).

    References
    ----------
    R. Klinkenberg & T. Joachims (2000). Detecting concept drift with support vector machines.
    Proceedings of ICML, 487-494.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from supple.streams import relevance_change
    >>> X, labels = load_digits(return_X_y=True)
    >>> stream = relevance_change(X, labels, "C", relevant=(1, 3), batch_size=80, random_state=0)
    >>> stream
    <Stream relevance_change C: 1600 examples, 64 features, changes at 720, 880>
    """
    X, labels = check_data(X, labels)
    assert labels is not None
    first, second = _check_relevant(relevant, labels)
    if scenario not in _TABLE:
        raise InvalidInputError(
            f"The 'scenario' parameter of relevance_change must be 'A', 'B' or 'C'. Got "
            f"{scenario!r} instead."
        )
    check_count(n_batches, "n_batches", "relevance_change")
    check_count(batch_size, "batch_size", "relevance_change")
    rng = check_random_state(random_state)
    rows = _deal(labels, n_batches, batch_size, rng)
    probability = np.array(_TABLE[scenario])[np.arange(n_batches) * _COLUMNS // n_batches]
    p = np.repeat(probability, batch_size)
    interested = rng.uniform(size=len(rows)) < p  # in the first category
    category = labels[rows]
    y = np.where(((category == first) & interested) | ((category == second) & ~interested), 1, -1)
    starts = [-(-change * n_batches // _COLUMNS) for change in _CHANGES[scenario]]
    changes = sorted({start * batch_size for start in starts if 0 < start < n_batches})
    metadata = {
        "rows": rows,
        "categories": category,
        "batch_size": batch_size,
        "probability": probability,
    }
    name = f"relevance_change {scenario}"
    return Stream(X[rows], y, name, tuple(changes), metadata=metadata)


def _check_relevant(relevant: Any, labels: NDArray[Any]) -> tuple[Any, Any]:
    known = np.unique(labels)
    pair = tuple(relevant) if isinstance(relevant, tuple | list) else ()
    if len(pair) != 2 or pair[0] == pair[1] or not np.isin(pair, known).all():
        raise InvalidInputError(
            "The 'relevant' parameter of relevance_change must be two different labels, such as "
            f"{tuple(known[:2].tolist())!r}. Got {relevant!r} instead."
        )
    return pair


def _deal(labels: NDArray[Any], n_batches: int, size: int, rng: Any) -> NDArray[np.intp]:
    """Return positions, batch after batch, with each label spread as equally as possible."""
    n = n_batches * size
    if n > len(labels):
        raise InvalidInputError(
            f"{n_batches} batches of {size} examples need {n}. Got {len(labels)} instead. "
            f"Set batch_size to {len(labels) // n_batches} or less."
        )
    chosen = rng.permutation(len(labels))[:n]
    # In the order of labels, batch k gets every n_batches-th example.
    hands = chosen[np.argsort(labels[chosen], kind="stable")].reshape(size, n_batches).T
    return np.concatenate([rng.permutation(hand) for hand in hands])
