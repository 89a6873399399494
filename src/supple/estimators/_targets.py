"""Checks and encodings of y: ignored, numbers, or labels."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.estimators._labels import LabelTable, as_labels
from supple.estimators._values import check_numeric, check_targets


class Targets:
    """No targets: y is ignored."""

    # Keywords of scikit-learn's check of y; None if y is ignored.
    y_check: ClassVar[dict[str, Any] | None] = None

    def plain(self, y: Any, n: int) -> bool:
        """Whether `n` targets need no conversion, so that scikit-learn need not check them."""
        return True

    def check_raw(self, y: Any) -> None:
        """Raise for values that scikit-learn would convert by mistake."""

    def converted(self, raw: Any, y: Any) -> Any:
        """Return targets that scikit-learn has checked; `raw` is what the user gave."""
        return y

    def encode(self, y: Any, n: int, labels: LabelTable) -> tuple[NDArray[np.float64], LabelTable]:
        """Return the engine's targets and the label table that knows them."""
        return np.zeros(n), labels


class Numbers(Targets):
    """Targets of regression."""

    y_check = {"y_numeric": True}

    def plain(self, y: Any, n: int) -> bool:
        plain = type(y) is np.ndarray and y.dtype == np.float64 and y.shape == (n,)
        return plain and bool(np.isfinite(y).all())

    def check_raw(self, y: Any) -> None:
        check_numeric(y)

    def converted(self, raw: Any, y: Any) -> Any:
        return check_targets(raw, y)

    def encode(self, y: Any, n: int, labels: LabelTable) -> tuple[NDArray[np.float64], LabelTable]:
        return np.ascontiguousarray(y), labels


class Labels(Targets):
    """Labels of classes."""

    y_check: ClassVar[dict[str, Any] | None] = {}

    def plain(self, y: Any, n: int) -> bool:
        if type(y) is not np.ndarray or y.shape != (n,):
            return False
        kind = y.dtype.kind
        return kind in "biuU" or (kind == "f" and bool(np.isfinite(y).all()))

    def encode(self, y: Any, n: int, labels: LabelTable) -> tuple[NDArray[np.float64], LabelTable]:
        return labels.encode(as_labels(y))


def first_labels(
    class_weight: Any, classes: ArrayLike | None
) -> tuple[LabelTable, dict[int, float]]:
    """Return the label table of a classifier before its first batch, and weights by code."""
    given = class_weight if isinstance(class_weight, dict) else None
    weights, labels = LabelTable().weights(given)
    return labels.declare(classes, ()), weights
