"""A canvas: an exact machine on points in the plane, and all changes that led to it."""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple import SVC
from supple.diagnostics import leave_one_out, xi_alpha
from supple.engine import Step
from supple.errors import InvalidInputError
from supple.kernels import KERNELS
from supple.workbench._canvas_data import CanvasData

__all__ = ["CANVAS_KERNELS", "Canvas", "Change", "Point", "View"]

MOST_POINTS = 2000
MOST_CHANGES = 1000  # that can be undone
CACHE = 32  # MB, the kernel values of all points
SETS = ("reserve", "margin", "error")
DEGREE, COEF0 = 3, 1.0
# Only with a positive semi-definite kernel is every update exact.
CANVAS_KERNELS = tuple(
    name
    for name, kind in KERNELS.items()
    if kind.of(gamma=1.0, degree=DEGREE, coef0=COEF0).definite
)


@dataclass(frozen=True)
class Point:
    """An example on the canvas."""

    x: float
    y: float
    label: int
    weight: float = 1.0

    @property
    def place(self) -> tuple[float, float, int]:
        """The part that requires forgetting and learning when it changes."""
        return self.x, self.y, self.label


@dataclass(frozen=True)
class Change:
    """One change of the canvas, with its `inverse`.

    A new point has no `before`, a removed one no `after`. For a change of parameters both are
    dictionaries, and there is no point.
    """

    kind: str
    before: Any
    after: Any
    point: int | None = None
    gesture: int | None = None
    updates: int = 1

    @property
    def inverse(self) -> Change:
        """The change that undoes this one."""
        return replace(self, before=self.after, after=self.before)

    def continues(self, earlier: Change) -> bool:
        """Whether this change continues the gesture of an earlier one."""
        return self.gesture is not None and (self.gesture, self.kind, self.point) == (
            earlier.gesture,
            earlier.kind,
            earlier.point,
        )


@dataclass(frozen=True)
class View:
    """The part of the plane that is drawn, and the grid on it."""

    x0: float
    x1: float
    y0: float
    y1: float
    columns: int = 80
    rows: int = 60

    @classmethod
    def around(cls, X: NDArray[np.float64]) -> View:
        """Return a view of all these points with a margin."""
        if not len(X):
            return cls(-4.0, 4.0, -3.0, 3.0)
        low, high = X.min(axis=0), X.max(axis=0)
        room = np.maximum(0.12 * (high - low), 0.5)
        (x0, y0), (x1, y1) = (low - room).tolist(), (high + room).tolist()
        return cls(x0, x1, y0, y1)

    def grid(self) -> NDArray[np.float64]:
        """Return the points of the grid, row by row from y0."""
        x = np.linspace(self.x0, self.x1, self.columns)
        y = np.linspace(self.y0, self.y1, self.rows)
        return np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)


@dataclass
class Canvas:
    """An exact machine on points in the plane.

    Every change is one exact update (a point that moves is forgotten and learned again); a
    change that fails leaves the canvas unchanged. Going back in time applies the exact inverses,
    the latest first. Use it within ``with canvas.lock``.

    Parameters
    ----------
    data : CanvasData
        The points at the start.
    kernel : str
        One of `CANVAS_KERNELS`.
    C, gamma : float

    Examples
    --------
    >>> from supple.workbench._canvas_data import draw
    >>> canvas = Canvas(draw("two moons", 40, seed=0), "rbf", C=1.0, gamma=1.0)
    >>> canvas.learn(Point(0.0, 0.0, 1))["kind"]
    'learn'
    >>> len(canvas.points), canvas.travel(0)["updates"], len(canvas.points)
    (41, 1, 40)
    """

    data: CanvasData
    kernel: str
    C: float
    gamma: float
    lock: threading.Lock = field(default_factory=threading.Lock)
    points: dict[int, Point] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)
    position: int = 0
    dropped: int = 0  # changes too old to be taken back
    version: int = 0  # grows with every update

    def __post_init__(self) -> None:
        if self.kernel not in CANVAS_KERNELS:
            raise InvalidInputError(
                f"'kernel' must be one of {', '.join(CANVAS_KERNELS)}. Got {self.kernel!r} instead."
            )
        self.view = View.around(self.data.X)
        self._grid = self.view.grid()
        self._steps: list[Step] = []
        self._next = len(self.data.y)
        self.model = SVC(
            C=self.C,
            kernel=self.kernel,
            gamma=self.gamma,
            degree=DEGREE,
            coef0=COEF0,
            cache_size=CACHE,
        )
        self._fitted = False
        self._estimating = threading.Lock()
        self._estimated: tuple[int, dict[str, Any] | None] = (-1, None)
        if len(self.data.y):
            self._learn_rows(self.data.X, self.data.y, np.arange(len(self.data.y)))
        for number, (x, label) in enumerate(zip(self.data.X, self.data.y, strict=True)):
            self.points[number] = Point(float(x[0]), float(x[1]), int(label))

    # ------------------------------------------------------------------ changes

    def learn(self, point: Point) -> dict[str, Any]:
        """Add a point."""
        if len(self.points) >= MOST_POINTS:
            raise InvalidInputError(
                f"A canvas holds at most {MOST_POINTS} points. Forget some before you add others."
            )
        number, self._next = self._next, self._next + 1
        return self._do(Change("learn", None, point, number))

    def forget(self, number: int) -> dict[str, Any]:
        """Remove a point as if it had never been there."""
        return self._do(Change("forget", self._point(number), None, number))

    def alter(self, number: int, gesture: int | None = None, **values: Any) -> dict[str, Any]:
        """Move a point, or give it another label or weight."""
        before = self._point(number)
        after = replace(before, **values)
        kind = "move" if before.place != after.place else "reweight"
        return self._do(Change(kind, before, after, number, gesture))

    def retune(self, gesture: int | None = None, **values: float) -> dict[str, Any]:
        """Move C along the exact path, or go to another gamma."""
        if "gamma" in values and self.kernel == "linear":
            raise InvalidInputError("The linear kernel has no gamma. Choose another kernel.")
        before = {name: getattr(self, name) for name in values}
        kind = " and ".join(sorted(values))
        return self._do(Change(kind, before, values, gesture=gesture))

    def travel(self, position: int) -> dict[str, Any]:
        """Go to the canvas after the first `position` changes, by exact inverse steps."""
        if not 0 <= position <= len(self.changes):
            raise InvalidInputError(
                f"'to' must be a number from 0 to {len(self.changes)}. Got {position} instead."
            )
        with self._logged("travel") as entry:
            while self.position > position:
                self._apply(self.changes[self.position - 1].inverse)
                self.position -= 1
                entry["updates"] += 1
            while self.position < position:
                self._apply(self.changes[self.position])
                self.position += 1
                entry["updates"] += 1
        return entry

    def _point(self, number: int) -> Point:
        if number not in self.points:
            raise InvalidInputError(
                f"'point' must be the number of a point on the canvas. Got {number} instead, which "
                "was forgotten or never there."
            )
        return self.points[number]

    def _do(self, change: Change) -> dict[str, Any]:
        """Make a change, and record it unless it continues a gesture."""
        with self._logged(change.kind, change.point) as entry:
            self._apply(change)
            del self.changes[self.position :]
            if self.changes and change.continues(self.changes[-1]):
                start = self.changes.pop()
                change = replace(change, before=start.before, updates=start.updates + 1)
            self.changes.append(change)
            if len(self.changes) > MOST_CHANGES:
                del self.changes[0]
                self.dropped += 1
            self.position = len(self.changes)
            entry["updates"] = change.updates
        return entry

    @contextmanager
    def _logged(self, kind: str, point: int | None = None) -> Iterator[dict[str, Any]]:
        """Yield the log entry of a change, with the values before and after it."""
        entry: dict[str, Any] = {"kind": kind, "point": point, "updates": 0}
        sets, entry["kkt_before"] = self.sets(), self._kkt()
        entry["margin_before"] = self._margin(point)
        self._steps.clear()
        begun = time.perf_counter()
        yield entry
        entry["microseconds"] = 1e6 * (time.perf_counter() - begun)
        entry["steps"] = [
            {"action": step.action, "route": step.route, "breakpoints": step.breakpoints,
             "iterations": step.iterations}
            for step in self._steps[-20:]
        ]  # fmt: skip
        after = self.sets()
        entry["moved"] = [
            [number, SETS[sets[number]], SETS[code]]
            for number, code in after.items()
            if sets.get(number, code) != code
        ]
        entry["kkt_after"], entry["margin_after"] = self._kkt(), self._margin(point)
        if point is not None and (point in after) != (point in sets):
            entry["joined" if point in after else "left"] = SETS[
                after.get(point, sets.get(point, 0))
            ]

    # ------------------------------------------------------------------ the machine

    def _apply(self, change: Change) -> None:
        """Apply a change to the machine, which is unchanged if that fails."""
        if change.point is None:
            if self._fitted:
                self.model.retune(**change.after)
            else:
                self.model.set_params(**change.after)
            self.C, self.gamma = float(self.model.C), float(self.model.gamma)
        else:
            self._apply_to_point(change.point, change.before, change.after)
        self.version += 1

    def _apply_to_point(self, number: int, before: Point | None, after: Point | None) -> None:
        if after is None:
            self.model.forget(number)
            del self.points[number]
            return
        if before is None:
            self._learn(number, after)
        elif before.place == after.place:
            self.model.reweight(number, after.weight)
        else:
            self.model.forget(number)
            try:
                self._learn(number, after)
            except BaseException:
                self._learn(number, before)
                raise
        self.points[number] = after

    def _learn(self, number: int, point: Point) -> None:
        self._learn_rows(
            np.array([[point.x, point.y]]),
            np.array([point.label]),
            np.array([number]),
            np.array([point.weight]),
        )

    def _learn_rows(self, X: Any, y: Any, ids: Any, weight: Any = None) -> None:
        self.model.partial_fit(X, y, classes=[0, 1], ids=ids, sample_weight=weight)
        if not self._fitted:
            # The engine exists from the first example on.
            self.model._model.engine.run.listeners.append(self._steps.append)
            self._fitted = True

    # ------------------------------------------------------------------ what is shown

    def alphas(self) -> dict[int, float]:
        """Return the dual variables of the support vectors by number."""
        if not self.points:
            return {}
        values = np.abs(np.asarray(self.model.dual_coef_)).ravel().tolist()
        return dict(zip(self.model.support_ids_.tolist(), values, strict=True))

    def sets(self) -> dict[int, int]:
        """Return the set of every point: 0 reserve, 1 on the margin, 2 error."""
        found = dict.fromkeys(self.points, 0)
        for number, alpha in self.alphas().items():
            bound = self.C * self.points[number].weight
            found[number] = 2 if alpha >= bound * (1.0 - 1e-10) else 1
        return found

    def _kkt(self) -> float:
        return float(self.model.kkt_violation_) if self.points else 0.0

    def _margin(self, number: int | None) -> float | None:
        """Return y f(x) of a point, if it is there and there are two classes."""
        if number not in self.points or not self.divided:
            return None
        point = self.points[number]
        value = float(self.model.decision_function([[point.x, point.y]])[0])
        return value if point.label == 1 else -value

    @property
    def divided(self) -> bool:
        """Whether both classes have points with weight, so that there is a boundary."""
        return len({point.label for point in self.points.values() if point.weight > 0.0}) == 2

    def decision_grid(self) -> NDArray[np.float32] | None:
        """Return the decision values on the grid of the view, None if there is no boundary."""
        if not self.divided:
            return None
        return np.asarray(self.model.decision_function(self._grid), dtype=np.float32)

    # ------------------------------------------------------------------ estimates

    def estimate(self) -> tuple[int, dict[str, Any] | None]:
        """Return the version of the canvas and `estimates` of it, None without a boundary.

        They take longer than an update and are computed from a copy, so that changes need not
        wait. The method takes the lock itself; of concurrent calls one computes.
        """
        with self._estimating:
            with self.lock:
                if self._estimated[0] == self.version:
                    return self._estimated
                version = self.version
                model = copy.deepcopy(self.model) if self.divided else None
            self._estimated = version, None if model is None else estimates(model)
            return self._estimated


def estimates(model: SVC) -> dict[str, Any]:
    """Return the xi-alpha bound, the exact leave-one-out error, and a refit beside the machine.

    Both estimates are None if the machine is not exact.

    Examples
    --------
    >>> from supple.workbench._canvas_data import draw
    >>> canvas = Canvas(draw("two clouds", 40, seed=0), "rbf", C=1.0, gamma=1.0)
    >>> found = estimates(canvas.model)
    >>> found["leave_one_out"] <= found["xi_alpha"], found["difference"] < 1e-8
    (True, True)
    """
    held = model._model.state
    X, y, weight = held.points(np.arange(held.n)), held.y, held.weight
    begun = time.perf_counter()
    refit = SVC(**model.get_params()).fit(X, y, sample_weight=weight)
    seconds = time.perf_counter() - begun
    difference = np.abs(refit.decision_function(X) - model.decision_function(X)).max()
    # At a huge C rounding can keep a machine from its optimum, which both estimates need.
    exact = model.exact_
    return {
        "xi_alpha": xi_alpha(model).error if exact else None,
        "leave_one_out": leave_one_out(model).error if exact else None,
        "refit_microseconds": 1e6 * seconds,
        "difference": float(difference),
    }
