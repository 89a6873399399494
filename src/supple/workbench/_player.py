"""Plays a drifting stream: windowed machines, an alarm, a novelty score."""

from __future__ import annotations

import base64
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple import SVDD, WindowedSVC, streams
from supple.diagnostics import DriftWatch
from supple.memory import Window
from supple.workbench._canvas import View

__all__ = ["STREAMS", "Player", "StreamSpec"]

CACHE = 50  # MB of kernel values, for each machine


@dataclass(frozen=True)
class Kind:
    """A stream that can be played."""

    make: Callable[..., streams.Stream]
    title: str
    about: str


STREAMS = {
    "rotating_gaussians": Kind(
        streams.rotating_gaussians,
        "Rotating Gaussians",
        "Two round classes turn about their middle by 90 degrees at every change.",
    ),
    "shifting_gaussians": Kind(
        streams.shifting_gaussians,
        "Shifting Gaussians",
        "Two round classes move along the line between them at every change.",
    ),
    "sea": Kind(
        streams.sea,
        "SEA concepts",
        "A threshold on the sum of two features changes. The points themselves do not: an alarm "
        "on the points is false, only labels show the change.",
    ),
    "stagger": Kind(
        streams.stagger,
        "STAGGER concepts",
        "Things of a size, colour and shape; the rule changes, the points do not.",
    ),
    "hyperplane": Kind(
        streams.hyperplane,
        "Turning hyperplane",
        "A hyperplane in ten dimensions that turns all the time.",
    ),
}


@dataclass(frozen=True)
class StreamSpec:
    """The parameters of a player.

    Attributes
    ----------
    stream : str
        A key of STREAMS.
    n, batch, seed : int
        Number of examples, examples of a batch, seed.
    window : int
        Batches in the fixed window.
    C : float
        Cost of the machines.
    estimate : {"xi_alpha", "leave_one_out"}
        Estimate of the adaptive window.
    """

    stream: str = "rotating_gaussians"
    n: int = 2000
    batch: int = 40
    seed: int = 0
    window: int = 5
    C: float = 1.0
    estimate: str = "xi_alpha"


@dataclass
class Player:
    """Plays a stream batch by batch; each batch is predicted before it is learned.

    Parameters
    ----------
    spec : StreamSpec

    Examples
    --------
    >>> player = Player(StreamSpec(n=200, batch=50))
    >>> while not player.finished:
    ...     player.step()
    >>> [record["at"] for record in player.records]
    [50, 100, 150, 200]
    >>> sorted(player.records[-1]["errors"])
    ['adaptive', 'fixed', 'full', 'last']
    """

    spec: StreamSpec
    records: list[dict[str, Any]] = field(default_factory=list)
    paused: bool = False
    stopped: bool = False
    speed: float = 10.0  # batches a second
    reader: object | None = None  # the only event stream that may continue
    left: float = field(default_factory=time.monotonic)  # when the last reader went
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        spec = self.spec
        self.stream = STREAMS[spec.stream].make(spec.n, random_state=spec.seed)
        first = np.asarray(self.stream.X[: spec.batch], dtype=np.float64)
        gamma = 1.0 / (first.shape[1] * float(first.var()))
        self.machines = {
            name: WindowedSVC(
                window=window,
                estimate=spec.estimate,
                longest=20,
                C=spec.C,
                gamma=gamma,
                cache_size=CACHE,
            )
            for name, window in self.windows.items()
        }
        # Half the width of the classifiers: a smooth description of where points lie.
        self.watch = DriftWatch(
            SVDD(nu=0.1, gamma=gamma / 2), run_length=max(spec.n, 1000), n_fit=100, n_reference=100
        )
        self.novelty = SVDD(nu=0.1, gamma=gamma / 2, memory=Window(200, "examples"))
        self.view = View.around(np.asarray(self.stream.X)[:, :2])
        self._flat = self.stream.X.shape[1] == 2

    @property
    def windows(self) -> dict[str, Any]:
        """The strategies by name."""
        return {"adaptive": "adaptive", "fixed": self.spec.window, "last": "last", "full": "full"}

    @property
    def finished(self) -> bool:
        """Whether the stream is over or was stopped."""
        return self.stopped or len(self.records) * self.spec.batch >= self.spec.n

    def about(self) -> dict[str, Any]:
        """Return the data for a page before the first record."""
        return {
            "spec": asdict(self.spec),
            "changes": list(self.stream.change_points),
            "windows": self.windows,
            "view": asdict(self.view),
            "features": self.stream.X.shape[1],
            "paused": self.paused,
            "speed": self.speed,
        }

    def step(self) -> None:
        """Play the next batch, if there is one, and add a record."""
        with self.lock:
            if self.finished:
                return
            start = len(self.records) * self.spec.batch
            rows = slice(start, min(start + self.spec.batch, self.spec.n))
            X, y = self.stream.X[rows], np.asarray(self.stream.y[rows])
            record = {
                "number": len(self.records),
                "at": rows.stop,
                **self._classify(X, y, first=start == 0),
                **self._look(X, first=start == 0),
                "points": np.column_stack([X[:, :2], y]).round(4).tolist(),
                "grid": self._grid(),
            }
            if self.records:
                self.records[-1]["grid"] = None  # large, and already sent
            self.records.append(record)

    def _classify(self, X: Any, y: NDArray[Any], *, first: bool) -> dict[str, Any]:
        errors: dict[str, float | None] = {}
        held: dict[str, int] = {}
        milliseconds: dict[str, float] = {}
        for name, machine in self.machines.items():
            begun = time.perf_counter()
            errors[name] = None if first else float(np.mean(machine.predict(X) != y))
            machine.partial_fit(X, y, classes=[0, 1])
            held[name] = int(np.count_nonzero(machine.sample_weight_))
            milliseconds[name] = round(1e3 * (time.perf_counter() - begun), 3)
        return {
            "errors": errors,
            "held": held,
            "start": self.machines["adaptive"].window_start_,
            "milliseconds": milliseconds,
        }

    def _look(self, X: Any, *, first: bool) -> dict[str, Any]:
        """Return alarms and the novelty score, which do not use labels."""
        alarms = [asdict(event) for event in self.watch.update(X)]
        scores = None if first else np.asarray(self.novelty.decision_function(X))
        self.novelty.partial_fit(X)
        return {
            "alarms": alarms,
            "phase": self.watch.phase_,
            "outside": None if scores is None else float(np.mean(scores < 0.0)),
        }

    def _grid(self) -> str | None:
        """Return the adaptive machine's decision values for streams in the plane."""
        if not self._flat:
            return None
        values = self.machines["adaptive"].decision_function(self.view.grid())
        return base64.b64encode(np.asarray(values, dtype="<f4").tobytes()).decode()
