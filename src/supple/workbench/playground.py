"""The playground over HTTP: one exact machine on a canvas for each session of a browser."""

from __future__ import annotations

import base64
import secrets
import threading
import time
from collections import OrderedDict
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Response
from pydantic import Field

from supple.datasets import names
from supple.workbench._answers import Body, Number, plain_json
from supple.workbench._canvas import CANVAS_KERNELS, MOST_POINTS, Canvas, Point
from supple.workbench._canvas_data import GENERATORS, CanvasData, describe, draw, embedded

__all__ = ["Sessions", "router"]

router = APIRouter(prefix="/api/playground")

Weight = Annotated[float, Field(ge=0.0, le=1000.0, allow_inf_nan=False, strict=True)]
Cost = Annotated[float, Field(ge=1e-4, le=1e6, allow_inf_nan=False, strict=True)]
Width = Annotated[float, Field(ge=1e-4, le=1e4, allow_inf_nan=False, strict=True)]
Whole = Annotated[int, Field(ge=0, le=2**31, strict=True)]


class Source(Body):
    """Where the points of a new canvas come from."""

    source: Literal["generated", "embedded", "empty"] = "generated"
    name: Annotated[str, Field(max_length=80)] = "two moons"
    n: Annotated[int, Field(ge=2, le=1000, strict=True)] = 200
    seed: Whole = 0
    features: tuple[Whole, Whole] = (0, 1)
    positive: Annotated[str, Field(max_length=80)] | None = None
    kernel: Annotated[str, Field(max_length=80)] = "rbf"
    C: Cost = 1.0
    gamma: Width | None = None

    def data(self) -> CanvasData:
        """Return the points."""
        if self.source == "embedded":
            return embedded(self.name, self.features, self.positive, self.n, self.seed)
        if self.source == "empty":
            return draw("two clouds", 0, self.seed)
        return draw(self.name, self.n, self.seed)


class Learn(Body):
    """Add a point."""

    action: Literal["learn"]
    x: Number
    y: Number
    label: Annotated[int, Field(ge=0, le=1, strict=True)]
    weight: Weight = 1.0


class Forget(Body):
    """Remove a point."""

    action: Literal["forget"]
    point: Whole


class Move(Body):
    """Move a point: forget and learn as one step."""

    action: Literal["move"]
    point: Whole
    x: Number
    y: Number
    gesture: Whole | None = None


class Relabel(Body):
    """Give a point the other label."""

    action: Literal["relabel"]
    point: Whole
    label: Annotated[int, Field(ge=0, le=1, strict=True)]


class Reweight(Body):
    """Change the weight of a point."""

    action: Literal["reweight"]
    point: Whole
    weight: Weight


class RetuneC(Body):
    """Move C along the exact path."""

    action: Literal["C"]
    value: Cost
    gesture: Whole | None = None


class RetuneGamma(Body):
    """Go to another gamma."""

    action: Literal["gamma"]
    value: Width
    gesture: Whole | None = None


class Travel(Body):
    """Go back or forth in time."""

    action: Literal["travel"]
    to: Whole


Action = Annotated[
    Learn | Forget | Move | Relabel | Reweight | RetuneC | RetuneGamma | Travel,
    Field(discriminator="action"),
]


@dataclass
class Sessions:
    """The canvases by session, the least recently used first.

    Parameters
    ----------
    most : int, default=32
        Most canvases held. Beyond them the least recently used one ends, if it is idle.
    idle : float, default=60.0
        Seconds without a request after which a session counts as idle.
    """

    most: int = 32
    idle: float = 60.0
    _held: OrderedDict[str, tuple[Canvas, float]] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __len__(self) -> int:
        return len(self._held)

    def open(self, canvas: Canvas) -> str:
        """Hold a canvas and return the name of its session."""
        with self._lock:
            if len(self._held) >= self.most:
                name, (_, used) = next(iter(self._held.items()))
                if time.monotonic() - used < self.idle:
                    raise HTTPException(
                        429,
                        f"The workbench holds at most {self.most} canvases, and all are in use. "
                        "Close another page or try again in a minute.",
                    )
                del self._held[name]
            name = secrets.token_urlsafe(12)
            self._held[name] = canvas, time.monotonic()
            return name

    def __getitem__(self, name: str) -> Canvas:
        with self._lock:
            if name not in self._held:
                raise HTTPException(
                    404, "This canvas is not held any more. Load data to begin another one."
                )
            canvas, _ = self._held[name]
            self._held[name] = canvas, time.monotonic()
            self._held.move_to_end(name)
            return canvas

    def close(self, name: str) -> None:
        """End a session; unknown ones have already ended."""
        with self._lock:
            self._held.pop(name, None)


sessions = Sessions()


@router.get("/sources")
def sources() -> Response:
    """Name the generators, the embedded sets and the kernels."""
    return plain_json(
        {"generated": list(GENERATORS), "embedded": names(), "kernels": CANVAS_KERNELS}
    )


@router.get("/sources/{name}")
def source(name: str) -> Response:
    """Name the features and classes of an embedded set."""
    if name not in names():
        raise HTTPException(404, f"No embedded set has this name. There are {', '.join(names())}.")
    return plain_json(describe(name))


@router.post("/sessions")
def begin(wanted: Source) -> Response:
    """Put data on a new canvas."""
    data = wanted.data()
    gamma = data.gamma if wanted.gamma is None else wanted.gamma
    canvas = Canvas(data, wanted.kernel, wanted.C, gamma)
    name = sessions.open(canvas)
    return _show(name, canvas, None)


@router.get("/sessions/{name}")
def show(name: str) -> Response:
    """Return a canvas, for a reloaded page."""
    canvas = sessions[name]
    with canvas.lock:
        return _show(name, canvas, None)


@router.delete("/sessions/{name}")
def end(name: str) -> Response:
    """End a session."""
    sessions.close(name)
    return plain_json({"closed": True})


@router.post("/sessions/{name}/changes")
def change(name: str, action: Action) -> Response:
    """Make one exact update, and return the canvas after it."""
    canvas = sessions[name]
    with canvas.lock:
        begun = time.perf_counter()
        entry = _perform(canvas, action)
        return _show(name, canvas, entry, begun)


@router.get("/sessions/{name}/estimates")
def estimate(name: str) -> Response:
    """Return estimates of the error, and the time of a refit."""
    version, found = sessions[name].estimate()
    return plain_json({"version": version, "estimates": found})


def _perform(canvas: Canvas, action: Any) -> dict[str, Any]:
    match action:
        case Learn():
            return canvas.learn(Point(action.x, action.y, action.label, action.weight))
        case Forget():
            return canvas.forget(action.point)
        case Move():
            return canvas.alter(action.point, action.gesture, x=action.x, y=action.y)
        case Relabel():
            return canvas.alter(action.point, label=action.label)
        case Reweight():
            return canvas.alter(action.point, weight=action.weight)
        case RetuneC():
            return canvas.retune(action.gesture, C=action.value)
        case RetuneGamma():
            return canvas.retune(action.gesture, gamma=action.value)
        case _:
            return canvas.travel(action.to)


def _show(
    name: str, canvas: Canvas, entry: dict[str, Any] | None, begun: float | None = None
) -> Response:
    """Return the canvas for the page."""
    begun = time.perf_counter() if begun is None else begun
    sets, alphas = canvas.sets(), canvas.alphas()
    points = [
        [i, p.x, p.y, p.label, p.weight, sets[i], alphas.get(i, 0.0)]
        for i, p in canvas.points.items()
    ]
    shown = time.perf_counter()
    grid = canvas.decision_grid()
    return plain_json(
        {
            "session": name,
            "version": canvas.version,
            "view": asdict(canvas.view),
            "kernel": canvas.kernel,
            "C": canvas.C,
            "gamma": canvas.gamma,
            "axes": canvas.data.axes,
            "classes": canvas.data.classes,
            "note": canvas.data.note,
            "most_points": MOST_POINTS,
            "points": points,
            "grid": None
            if grid is None
            else base64.b64encode(grid.astype("<f4").tobytes()).decode(),
            "history": {
                "position": canvas.position,
                "length": len(canvas.changes),
                "dropped": canvas.dropped,
            },
            "entry": entry,
            "timing": {
                "without_grid_ms": 1e3 * (shown - begun),
                "grid_ms": 1e3 * (time.perf_counter() - shown),
            },
        }
    )
