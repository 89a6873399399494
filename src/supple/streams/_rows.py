"""Raw examples by id, before any transformation."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from supple.errors import DuplicateIdError, InvalidInputError, UnknownIdError
from supple.estimators._ids import check_groups, check_ids, check_missing
from supple.estimators._values import check_weight

__all__ = [
    "Example",
    "Examples",
    "check_alike",
    "check_raw",
    "find",
    "joined",
    "name_examples",
    "number_after",
    "paired",
]


class Example(NamedTuple):
    """One raw example; `label` and `group` may be None."""

    row: Any
    label: Any
    weight: float
    group: Any


Examples = dict[Any, Example]  # by id, in order of arrival


def check_raw(X: Any, y: Any, *, allow_nan: bool) -> tuple[Any, NDArray[Any] | None]:
    """Return points as an array, CSR, a DataFrame or an array of texts, and their targets."""
    try:
        if hasattr(X, "iloc") and X.ndim == 2:
            if not len(X):
                raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        elif _are_texts(X):
            X = np.fromiter(X, dtype=object, count=len(X))
        else:
            finite = "allow-nan" if allow_nan else True
            X = check_array(X, accept_sparse="csr", ensure_all_finite=finite, input_name="X")
        if y is not None:
            y = column_or_1d(check_array(y, ensure_2d=False, dtype=None, input_name="y"))
            check_consistent_length(X, y)
    except ValueError as error:
        raise InvalidInputError(str(error)) from error
    return X, y


def _are_texts(X: Any) -> bool:
    flat = isinstance(X, list | tuple) or getattr(X, "ndim", 0) == 1
    return flat and len(X) > 0 and all(isinstance(each, str) for each in X)


def name_examples(
    X: Any, y: Any, weight: Any, ids: Any, groups: Any, held: Mapping[Any, Example], next_id: int
) -> Examples:
    """Return new examples by id; raise if ids repeat or cannot be numbered."""
    n = X.shape[0]
    if ids is None and held and not isinstance(next(iter(held)), int):
        raise InvalidInputError(
            "'ids' must be given, one per row of X: those of the examples held are no integers, "
            "and cannot be continued by counting. Got None instead."
        )
    names = list(range(next_id, next_id + n)) if ids is None else check_ids(ids, n).tolist()
    seen: set[Any] = set()
    for name in names:
        if name in held or name in seen:
            raise DuplicateIdError(
                f"The id {name!r} is given twice or already held. Give every example its own."
            )
        seen.add(name)
    weights = check_weight(1.0 if weight is None else weight, n).tolist()
    labels = [None] * n if y is None else list(y)
    belong = [None] * n if groups is None else check_groups(groups, n).tolist()
    columns = zip(_rows(X), labels, weights, belong, strict=True)
    return {name: Example(*each) for name, each in zip(names, columns, strict=True)}


def _rows(X: Any) -> list[Any]:
    # Copies: a view of one row would keep its whole batch in memory.
    if hasattr(X, "iloc"):
        return [X.iloc[[i]].copy() for i in range(len(X))]
    if sp.issparse(X):
        return [X[[i]] for i in range(X.shape[0])]
    return [row.copy() for row in X] if X.ndim == 2 else list(X)


def joined(examples: Iterable[Example]) -> tuple[Any, NDArray[Any] | None]:
    """Return points and labels of examples."""
    chosen = list(examples)
    rows = [example.row for example in chosen]
    labels = [example.label for example in chosen]
    y = None if labels[0] is None else np.array(labels)
    if hasattr(rows[0], "iloc"):
        import pandas as pd

        return pd.concat(rows), y
    if sp.issparse(rows[0]):
        return sp.vstack(rows, format="csr"), y
    if isinstance(rows[0], str):
        return np.fromiter(rows, dtype=object, count=len(rows)), y
    return np.stack(rows), y


def find(
    examples: Examples, ids: Any, groups: Any = None, *, missing: str = "error"
) -> list[Hashable]:
    """Return the ids of examples given by ids or by groups."""
    if (ids is None) == (groups is None):
        raise InvalidInputError(
            f"forget takes either 'ids' or 'groups'. Got {'none' if ids is None else 'both'} of "
            "them instead."
        )
    known: Iterable[Any] = examples
    if groups is not None:
        known = {example.group for example in examples.values()} - {None}
    given = check_ids(ids) if groups is None else check_groups(groups)
    unknown = [name for name in given.tolist() if name not in known]
    if unknown and not check_missing(missing):
        what = "id" if groups is None else "group"
        raise UnknownIdError(
            f"No example buffered for the warm-up has the {what} {unknown[0]!r}. Pass "
            "missing='ignore' to pass over those that are unknown."
        )
    wanted = set(given.tolist())
    if groups is not None:
        return [name for name, example in examples.items() if example.group in wanted]
    return [name for name in examples if name in wanted]


def paired(ids: Any, sample_weight: Any) -> dict[Any, float]:
    """Return weights by id."""
    names = check_ids(ids, paired=np.ndim(sample_weight) > 0).tolist()
    return dict(zip(names, check_weight(sample_weight, len(names)).tolist(), strict=True))


def number_after(examples: Examples, next_id: int) -> int:
    """Return the number that follows all these ids."""
    return max([next_id, *(name + 1 for name in examples if isinstance(name, int))])


def check_alike(points: Any, groups: Any, held: Examples) -> None:
    """Raise if new examples and those held differ in their features or in having groups."""
    if not held:
        return
    first = next(iter(held.values()))
    width = first.row.shape[-1] if hasattr(first.row, "shape") else None
    found = points.shape[1] if points.ndim == 2 else None
    if found != width:
        raise InvalidInputError(
            f"X has {found} features, but StreamPipeline is expecting {width} features as input, "
            "as many as the examples before had."
        )
    if (groups is None) != (first.group is None):
        raise InvalidInputError(
            "'groups' must be given for all examples of a StreamPipeline or for none. Got "
            f"{groups!r:.60} instead."
        )
