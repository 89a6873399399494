"""Class labels and the integer codes that stand for them inside the engine."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets

from supple.errors import InvalidInputError
from supple.estimators._params import show

_WORDS = {"b": "numbers", "i": "numbers", "u": "numbers", "f": "numbers", "U": "strings"}
# Below this length a dictionary look-up per example is faster than sorting.
_FEW = 64


def as_labels(y: Any) -> NDArray[Any]:
    """Return y as a 1-D array of discrete labels, or raise as scikit-learn does."""
    y = np.asarray(y)
    kind = y.dtype.kind
    if kind == "O" and y.ndim == 1:
        _words(y)
    whole = kind in "biuU" or (kind == "f" and bool((np.isfinite(y) & (y == np.trunc(y))).all()))
    if not (y.ndim == 1 and whole):
        # Integers and strings need no further check; scikit-learn explains the other cases.
        try:
            check_classification_targets(y)
        except ValueError as error:
            raise InvalidInputError(
                f"{error} Input y must be class labels. A regressor such as SVR takes numbers; "
                "numpy.digitize makes classes of them."
            ) from None
    return y


def _words(labels: NDArray[Any]) -> str:
    """Name the kind of `labels`; objects must be strings throughout."""
    if labels.dtype.kind == "O" and all(isinstance(label, str) for label in labels):
        return "strings"
    word = _WORDS.get(labels.dtype.kind)
    if word is None:
        raise InvalidInputError(
            "Unknown label type: class labels must be an array of numbers or of strings. Got "
            f"{labels.dtype} with {sorted({type(label).__name__ for label in labels})} instead. "
            "Convert them, for instance by [str(label) for label in y]."
        )
    return word


def _distinct(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the labels in y in order of appearance, and which of them each entry is."""
    if y.dtype.kind == "i" and 0 < np.ptp(y) < len(y):  # by counting, without a sort
        offset = y - y.min()
        place = np.full(offset.max() + 1, len(y))
        place[offset[::-1]] = np.arange(len(y))[::-1]
        first = np.sort(place[place < len(y)])
        code = np.empty_like(place)
        code[offset[first]] = np.arange(len(first))
        return y[first], code[offset]
    values, first, inverse = np.unique(y, return_index=True, return_inverse=True)
    order = first.argsort()
    return values[order], order.argsort()[inverse]


class LabelTable:
    """Labels and their codes, numbered in order of appearance; immutable.

    An update uses the table that :meth:`encode` returns; the model adopts it if the engine
    succeeds.

    Examples
    --------
    >>> codes, table = LabelTable().encode(np.array(["b", "a", "b"]))
    >>> codes
    array([0., 1., 0.])
    >>> table.array([1, 0])
    array(['a', 'b'], dtype='<U1')
    """

    __slots__ = ("_codes", "_declared", "_dtype", "_labels", "_word")

    def __init__(self) -> None:
        self._codes: dict[Any, int] = {}
        self._labels: dict[int, Any] = {}
        self._dtype: np.dtype[Any] | None = None
        self._word: str | None = None
        self._declared: frozenset[Any] | None = None

    def _copy(self) -> LabelTable:
        other = LabelTable()
        other._codes, other._labels = dict(self._codes), dict(self._labels)
        other._dtype, other._word, other._declared = self._dtype, self._word, self._declared
        return other

    def encode(self, y: NDArray[Any]) -> tuple[NDArray[np.float64], LabelTable]:
        """Return the codes of `y` and the table that knows all its labels."""
        if len(y) < _FEW and self._holds(y.dtype):
            labels = y.tolist()
            codes = [self._codes.get(label, -1) for label in labels]
            if min(codes) >= 0 and (self._declared is None or self._declared.issuperset(labels)):
                return np.array(codes, dtype=np.float64), self
        self._check_kind(_words(y), "y")
        labels, which = _distinct(y)
        self._check_declared(labels.tolist())
        table = self._with(labels, y.dtype)
        code_of = np.array([table._codes[label] for label in labels.tolist()], dtype=np.float64)
        return code_of[which], table

    def declare(self, classes: ArrayLike | None, present: Iterable[Any]) -> LabelTable:
        """Return the table that admits only `classes`; `present` are the labels in use."""
        if classes is None:
            return self
        given = as_labels(classes)
        if given.ndim != 1 or given.size == 0:
            raise InvalidInputError(
                "'classes' must be a non-empty one-dimensional sequence. Got shape "
                f"{given.shape} instead. Give all labels that may occur, such as [0, 1]."
            )
        self._check_kind(_words(given), "classes")
        declared = frozenset(given.tolist())
        if self._declared is not None and declared != self._declared:
            raise InvalidInputError(
                f"'classes' is {sorted(declared)}, but an earlier call declared "
                f"{sorted(self._declared)}. Declare them once, or call fit to start again."
            )
        unlisted = set(present) - declared
        if unlisted:
            raise InvalidInputError(
                f"'classes' is {sorted(declared)} and lacks {sorted(unlisted)}, of which the model "
                "holds examples. List these, too, or forget their examples first."
            )
        table = self._with(np.unique(given), given.dtype)._copy()
        table._declared = declared
        return table

    def weights(self, class_weight: dict[Any, float] | None) -> tuple[dict[int, float], LabelTable]:
        """Return class weights by code, and the table that has a code for each of them."""
        if not class_weight:
            return {}, self
        keys = np.asarray(list(class_weight))
        self._check_kind(_words(keys), "class_weight")
        table = self._with(keys, self._dtype)
        codes = (table._codes[key] for key in keys.tolist())
        return dict(zip(codes, map(float, class_weight.values()), strict=True)), table

    def beyond(self, other: LabelTable) -> list[Any]:
        """Return the labels that `other` does not have."""
        return [label for label in self._codes if label not in other._codes]

    def only(self, codes: Collection[int]) -> LabelTable:
        """Return the table with only the labels of these codes and the declared ones.

        New labels reuse the free codes.
        """
        declared = self._declared or ()
        gone = [x for x, code in self._codes.items() if code not in codes and x not in declared]
        if not gone:
            return self
        table = self._copy()
        for label in gone:
            del table._labels[table._codes.pop(label)]
        return table

    def __len__(self) -> int:
        return len(self._codes)

    @property
    def declared(self) -> list[int]:
        """Codes of the declared classes, none if nothing was declared."""
        return [self._codes[label] for label in self._declared or ()]

    def label(self, code: int) -> Any:
        """Return the label of a code."""
        return self._labels[code]

    def array(self, codes: Iterable[int]) -> NDArray[Any]:
        """Return the labels of `codes` as an array of the dtype the user gave."""
        return np.array([self._labels[code] for code in codes], dtype=self._dtype)

    def _holds(self, dtype: np.dtype[Any]) -> bool:
        """Whether labels of `dtype` fit into the table's dtype as they are."""
        own = self._dtype
        return own is not None and dtype.kind == own.kind and dtype.itemsize <= own.itemsize

    def _with(self, labels: NDArray[Any], dtype: np.dtype[Any] | None) -> LabelTable:
        """Return a table that has `labels` too and whose arrays hold `dtype` too."""
        if self._dtype is not None and dtype is not None:
            dtype = np.result_type(self._dtype, dtype)
        new = [label for label in labels.tolist() if label not in self._codes]
        if not new and dtype == self._dtype:
            return self
        table = self._copy()
        free = (code for code in count() if code not in table._labels)
        for label in new:
            code = next(free)
            table._codes[label], table._labels[code] = code, label
        table._dtype, table._word = dtype, _words(labels)
        return table

    def _check_kind(self, word: str, name: str) -> None:
        if self._word is not None and word != self._word:
            raise InvalidInputError(
                f"The labels in '{name}' are {word}, but the labels known so far (from earlier "
                f"batches, classes or class_weight) are {self._word}. Use one type of label "
                "throughout."
            )

    def _check_declared(self, labels: list[Any]) -> None:
        unlisted = [] if self._declared is None else sorted(set(labels) - self._declared)
        if unlisted:
            raise InvalidInputError(
                f"y contains {unlisted}, not among the declared classes "
                f"{sorted(self._declared or ())}. List every class in 'classes' at the first "
                "partial_fit, or do not give 'classes' to let classes appear at any time."
            )


def whole_class_weight(
    owner: str,
    given: Any,
    by_code: dict[int, float],
    codes: NDArray[np.float64],
    weight: NDArray[np.float64],
    labels: LabelTable,
) -> dict[int, float]:
    """Return the class weights of a training set, which has at least two classes.

    `given` is the user's class_weight, `by_code` the same by code unless it is "balanced".
    """
    total = np.bincount(codes.astype(np.intp), weights=weight)
    (present,) = total.nonzero()
    if len(present) < 2:
        raise InvalidInputError(
            "The number of classes has to be greater than one; got "
            f"{len(present)} class with positive weight in y: "
            f"{', '.join(show(labels.label(code)) for code in present.tolist())}. Give {owner} "
            "examples of another class, too; partial_fit may start with one."
        )
    if given == "balanced":
        with np.errstate(over="ignore"):  # weights beyond float64 are refused with the boxes
            balanced = total.sum() / (len(present) * total[present])
        return dict(zip(present.tolist(), balanced.tolist(), strict=True))
    if not by_code:
        return by_code
    held = np.flatnonzero(np.bincount(codes.astype(np.intp))).tolist()
    unknown, bare = set(by_code).difference(held), set(held).difference(by_code)
    # As in scikit-learn, weights of absent classes are allowed.
    if unknown and bare:
        raise InvalidInputError(
            f"The 'class_weight' parameter of {owner} has "
            f"{[labels.label(code) for code in unknown]}, which are not in y. The "
            f"classes, {[labels.label(code) for code in bare]}, are not in "
            "class_weight. Name the classes as they are in y."
        )
    return by_code
