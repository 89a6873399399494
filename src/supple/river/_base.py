"""The base of the three adapters: named features, learning, unlearning."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import count
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from supple.diagnostics import LeaveOneOutCalibrator
from supple.errors import InvalidInputError
from supple.estimators._base import BaseSVM
from supple.estimators._params import show, takes_gamma
from supple.estimators._rvm import BaseRVM
from supple.estimators._widen import widen
from supple.river._features import as_points, check_row, frame_values

__all__ = ["Adapter"]


class Adapter:
    """An estimator of supple with named features.

    Every feature has its own column. A missing feature is 0. New features take free columns; if
    there are none, the model gets twice as many columns as it needs. Columns of zeros change no
    inner product and no distance, and so not the model. Names whose columns are zero in all
    examples held are dropped when columns are needed or an example is unlearned.
    """

    _accepted: tuple[type[Any], ...]
    # For error messages.
    _kind = "a classifier"
    _example = "SVC()"

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator
        self._check_estimator()
        self.estimator_ = clone(estimator)
        self._columns: dict[Hashable, int] = {}  # replaced, never changed in place

    def _check_estimator(self) -> None:
        name: str = type(self).__name__
        given: Any = self.estimator
        if isinstance(given, type) or not isinstance(given, self._accepted):
            raise InvalidInputError(
                f"The 'estimator' parameter of {name} must be {self._kind} of supple, such as "
                f"{self._example}. Got {show(given)} instead. Other estimators of scikit-learn "
                "are wrapped by river.compat.convert_sklearn_to_river."
            )
        machine = given
        if isinstance(given, LeaveOneOutCalibrator):
            machine = given.estimator
            if machine is None:
                return
        if isinstance(machine.kernel, str) and machine.kernel == "precomputed":
            raise InvalidInputError(
                f"The 'estimator' parameter of {name} cannot have kernel='precomputed', which "
                "takes no updates. Pass the kernel as a callable, kernel=function(X, Y)."
            )
        if isinstance(machine, BaseSVM) and machine._goes_by_time():
            raise InvalidInputError(
                f"The 'estimator' parameter of {name} cannot have a memory that goes by time: "
                f"River's methods take no timestamps. Got {show(given)} instead. Choose "
                "unit='examples'."
            )
        if isinstance(machine, BaseRVM) and self._gamma_by_name(machine) is not None:
            raise InvalidInputError(
                f"The 'gamma' parameter of {type(machine).__name__} must be a number in {name}: "
                f"{show(machine.gamma)} would be computed anew with every example. Got "
                f"{show(machine.gamma)} instead."
            )

    @staticmethod
    def _gamma_by_name(machine: Any) -> str | None:
        """Return "scale" or "auto" if gamma is computed from the first examples."""
        gamma = machine.gamma
        return gamma if isinstance(gamma, str) and takes_gamma(machine.kernel) else None

    # ------------------------------------------------------------------ the model

    def _machine(self) -> Any:
        """Return the estimator that holds the examples, None if nothing was ever learned."""
        machine = self.estimator_
        if isinstance(machine, LeaveOneOutCalibrator):
            machine = machine.__dict__.get("estimator_")
        return machine if machine is not None and "_model" in machine.__dict__ else None

    def _points(self) -> NDArray[np.float64]:
        """Return a copy of the points held, none if nothing was ever learned."""
        machine = self._machine()
        if machine is None:
            return np.empty((0, 0))
        if isinstance(machine, BaseRVM):
            return np.array(machine._held().X)
        state = machine._held().state
        return np.array(state.points(np.arange(state.n)))

    # ------------------------------------------------------------------ features

    def _assign(self, names: Iterable[Hashable]) -> tuple[dict[Hashable, int], int]:
        """Return the columns of all names, including these, and the number of columns."""
        machine, names = self._machine(), list(names)
        if machine is None:
            own = self._columns | dict.fromkeys(names, 0)
            return dict(zip(own, count(), strict=False)), max(1, len(own))
        width = int(machine.n_features_in_)
        # The end of a trial, estimator_.what_if(), may have removed a column.
        own = {name: column for name, column in self._columns.items() if column < width}
        new = [name for name in names if name not in own]
        if len(own) + len(new) > width:
            own = self._used(self._points())
            new = [name for name in names if name not in own]
            needed = len(own) + len(new)
            # Then at least half of the columns are free, so that this is rare.
            if 2 * needed > width:
                width = 2 * needed
                widen(machine, width)
        taken = set(own.values())
        free = (column for column in range(width) if column not in taken)
        return own | dict(zip(new, free, strict=False)), width

    def _used(self, points: NDArray[np.float64]) -> dict[Hashable, int]:
        """Return the columns of names without those that are zero in all these points."""
        used = set(np.flatnonzero(points.any(axis=0)).tolist())
        return {name: column for name, column in self._columns.items() if column in used}

    def _row(self, x: Any, *, learn: bool) -> NDArray[np.float64]:
        """Return the features of an example as a matrix of one row; `learn` new names."""
        columns, machine = self._columns, self._machine()
        if machine is not None and type(x) is dict:  # short cut
            row: list[Any] = [0.0] * machine.n_features_in_
            try:
                for name, value in x.items():
                    row[columns[name]] = value
            except (KeyError, IndexError):
                pass
            else:
                points = as_points(row)
                if points is not None:
                    return points
        values = check_row(x)
        names = values if learn else [name for name in values if values[name] != 0.0]
        columns, width = self._assign(names)
        if learn:
            self._columns = columns
        points = np.zeros((1, width))
        for name in names:
            points[0, columns[name]] = values[name]
        return points

    def _rows(self, X: Any, *, learn: bool) -> NDArray[np.float64]:
        """Return the rows of a data frame as a matrix; `learn` new names."""
        names, values = frame_values(X)
        columns, width = self._assign(names)
        if learn:
            self._columns = columns
        points = np.zeros((len(values), width))
        points[:, [columns[name] for name in names]] = values
        return points

    # ------------------------------------------------------------------ learning

    def _learn_one(self, x: Any, y: NDArray[Any] | None, w: Any) -> None:
        """Learn an example, or change nothing."""
        weight = None if type(w) is float and w == 1.0 else np.array([_check_weight(w)])
        before = self._columns
        try:
            self._learn(self._row(x, learn=True), y, weight)
        except BaseException:
            self._restore(before)
            raise

    def _learn_many(self, X: Any, y: NDArray[Any] | None, w: Any) -> None:
        """Learn the rows of a data frame, or change nothing."""
        if w is not None:
            w = np.array([_check_weight(value) for value in w])
        before = self._columns
        try:
            points = self._rows(X, learn=True)
            if len(points):
                self._learn(points, y, w)
        except BaseException:
            self._restore(before)
            raise

    def _restore(self, columns: dict[Hashable, int]) -> None:
        """Remove new names, except those of examples that were learned before the error.

        Warnings that are turned into errors come after the example was learned.
        """
        if columns is not self._columns:
            self._columns = columns | self._used(self._points())

    def _learn(
        self, X: NDArray[np.float64], y: NDArray[Any] | None, weight: NDArray[np.float64] | None
    ) -> None:
        if len(X) == 1:
            self._check_scale()
        self.estimator_.partial_fit(X, y, sample_weight=weight)

    def _check_scale(self) -> None:
        """Refuse to compute gamma from a single example, which has no variance."""
        machine = self._machine()
        if machine is None:
            machine = self._unfitted()
        elif isinstance(machine, BaseRVM) or machine._model.state.n:
            return
        if self._gamma_by_name(machine) == "scale":
            raise InvalidInputError(
                f"The 'gamma' parameter of {type(machine).__name__} must not be 'scale' if "
                "examples come one by one: it would be computed from the first of them alone. Give "
                "a number or 'auto' (1 / number of features), or start with learn_many."
            )

    def _unfitted(self) -> Any:
        """Return the estimator that will hold the examples."""
        given = self.estimator
        return given._template() if isinstance(given, LeaveOneOutCalibrator) else given

    # ------------------------------------------------------------------ unlearning

    def _unlearn(self, x: Any, y: NDArray[Any] | None) -> None:
        """Forget the latest example with these features and this label or target."""
        if not hasattr(self.estimator_, "forget"):
            raise InvalidInputError(
                f"The 'estimator' parameter of {type(self).__name__} is "
                f"{type(self.estimator_).__name__}, which cannot unlearn. Choose one with exact "
                f"updates, such as {self._example}."
            )
        values, points = check_row(x), self._points()
        row = np.zeros(points.shape[1])
        known = True
        for name, value in values.items():
            if name in self._columns:
                row[self._columns[name]] = value
            elif value != 0.0:
                known = False
        slot = self._find(points, row, y) if known and len(points) else None
        if slot is None:
            label = "" if y is None else f" and y={show(y[0].item())}"
            raise InvalidInputError(
                f"unlearn_one needs an example that is held. Got x={show(x)}{label}, which was "
                "never learned, was unlearned before, or was let go or merged by the memory."
            )
        self.estimator_.forget(self._machine().ids_[[slot]])
        points[slot] = 0.0
        self._columns = self._used(points)  # removes unused names as well

    def _find(
        self, points: NDArray[np.float64], row: NDArray[np.float64], y: NDArray[Any] | None
    ) -> int | None:
        """Return the slot of the latest example like this, None if there is none."""
        machine = self._machine()
        model = machine._model
        same = (points == row).all(axis=1)
        if y is not None:
            targets, labels = machine._targets.encode(y, 1, model.labels)
            same &= (model.state.y == targets[0]) & (labels is model.labels)
        # A merged example is none of its parts.
        merged = list(getattr(model.engine.memory, "stands_for_", ()))
        if merged:
            same &= ~np.isin(model.state.ids, merged)
        slots = np.flatnonzero(same)
        return int(slots[np.argmax(model.state.store.arrival[slots])]) if len(slots) else None


def _check_weight(w: Any) -> float:
    number = isinstance(w, Real) and not isinstance(w, bool)
    if not number or not 0.0 < w < float("inf"):
        raise InvalidInputError(
            f"The weight 'w' must be a finite number > 0. Got {show(w)} instead. Leave an example "
            "out that is to have no effect."
        )
    return float(w)
