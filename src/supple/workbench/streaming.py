"""Streams played over HTTP, by server-sent events.

A player runs only while a page listens: its batches are computed in the event stream itself, so
that it stops when the page is closed.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import threading
import time
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, HTTPException, Response
from fastapi.responses import StreamingResponse
from pydantic import Field
from starlette.concurrency import run_in_threadpool

from supple.workbench._answers import Body, plain_json
from supple.workbench._player import STREAMS, Player, StreamSpec

__all__ = ["Players", "router"]

router = APIRouter(prefix="/api/stream")

_BEAT = 0.1  # seconds between two checks of a waiting player
_SIGN = 10.0  # seconds between two heartbeats to a waiting page

Speed = Annotated[float, Field(ge=0.2, le=100.0, allow_inf_nan=False, strict=True)]


class Wanted(Body):
    """A request for a player."""

    stream: Literal["rotating_gaussians", "shifting_gaussians", "sea", "stagger", "hyperplane"] = (
        "rotating_gaussians"
    )
    n: Annotated[int, Field(ge=200, le=20_000, strict=True)] = 2000
    batch: Annotated[int, Field(ge=10, le=200, strict=True)] = 40
    seed: Annotated[int, Field(ge=0, le=2**31, strict=True)] = 0
    window: Annotated[int, Field(ge=1, le=50, strict=True)] = 5
    C: Annotated[float, Field(ge=1e-3, le=1e4, allow_inf_nan=False, strict=True)] = 1.0
    estimate: Literal["xi_alpha", "leave_one_out"] = "xi_alpha"
    speed: Speed = 10.0


class Control(Body):
    """A request to control a player."""

    action: Literal["pause", "resume", "stop", "speed"]
    speed: Speed | None = None


class Players:
    """The players by name; those without a listener end after a while.

    Parameters
    ----------
    most : int, default=8
        Most players held.
    patience : float, default=60.0
        Seconds that a player waits for its page to come back.
    """

    def __init__(self, most: int = 8, patience: float = 60.0) -> None:
        self.most, self.patience = most, patience
        self._held: dict[str, Player] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._held)

    def open(self, player: Player) -> str:
        """Hold a player and return its name."""
        with self._lock:
            self._let_go()
            if len(self._held) >= self.most:
                raise HTTPException(
                    429,
                    f"The workbench plays at most {self.most} streams at once. Stop one, or close "
                    "its page.",
                )
            name = secrets.token_urlsafe(12)
            self._held[name] = player
            return name

    def __getitem__(self, name: str) -> Player:
        with self._lock:
            self._let_go()
            if name not in self._held:
                raise HTTPException(404, "This stream is not held any more. Start it again.")
            return self._held[name]

    def close(self, name: str) -> None:
        """Stop and remove a player."""
        with self._lock:
            player = self._held.pop(name, None)
        if player is not None:
            player.stopped = True

    def _let_go(self) -> None:
        now = time.monotonic()
        for name, player in list(self._held.items()):
            if player.reader is None and now - player.left > self.patience:
                player.stopped = True
                del self._held[name]


players = Players()


@router.get("/streams")
def kinds() -> Response:
    """Name the streams that can be played."""
    return plain_json(
        [{"name": name, "title": kind.title, "about": kind.about} for name, kind in STREAMS.items()]
    )


@router.post("/players")
def begin(wanted: Wanted) -> Response:
    """Make a player; it starts with its event stream."""
    spec = wanted.model_dump()
    speed = spec.pop("speed")
    player = Player(StreamSpec(**spec), speed=speed)
    return plain_json({"player": players.open(player), **player.about()})


@router.get("/players/{name}")
def show(name: str) -> Response:
    """Return the state of a player, for a reloaded page."""
    return plain_json({"player": name, **players[name].about()})


@router.post("/players/{name}/control")
def control(name: str, told: Control) -> Response:
    """Pause, resume or stop a player, or change its speed."""
    player = players[name]
    if told.action == "stop":
        players.close(name)
    elif told.action == "speed":
        if told.speed is None:
            raise HTTPException(
                422, "The action 'speed' needs the field 'speed', batches a second."
            )
        player.speed = told.speed
    else:
        player.paused = told.action == "pause"
    return plain_json({"paused": player.paused, "stopped": player.stopped, "speed": player.speed})


@router.get("/players/{name}/events")
def events(
    name: str, last_event_id: Annotated[str | None, Header(max_length=20)] = None
) -> StreamingResponse:
    """Play, and send a record for every batch, starting after `Last-Event-ID`."""
    player = players[name]
    seen = last_event_id or ""
    start = int(seen) + 1 if seen.isascii() and seen.isdecimal() else 0
    return StreamingResponse(_play(player, start), media_type="text/event-stream")


async def _play(player: Player, start: int) -> AsyncIterator[str]:
    """Send the records from `start` on, then play until another stream takes over."""
    mine = player.reader = object()
    try:
        sent, spoken = start, time.monotonic()
        while player.reader is mine:
            begun = time.monotonic()
            if sent < len(player.records):
                yield _event("batch", player.records[sent], sent)
                sent, spoken = sent + 1, begun
                continue
            if player.finished:
                yield _event("end", {"stopped": player.stopped})
                return
            if player.paused:
                if begun - spoken > _SIGN:
                    yield ": waiting\n\n"
                    spoken = begun
                await asyncio.sleep(_BEAT)
                continue
            await run_in_threadpool(player.step)
            if sent < len(player.records):
                yield _event("batch", player.records[sent], sent)
                sent, spoken = sent + 1, time.monotonic()
            await _rest(player, begun)
    finally:
        if player.reader is mine:
            player.reader, player.left = None, time.monotonic()


async def _rest(player: Player, begun: float) -> None:
    """Wait until the next batch is due; a change of speed takes effect at once."""
    while not (player.stopped or player.paused):
        left = begun + 1.0 / player.speed - time.monotonic()
        if left <= 0.0:
            return
        await asyncio.sleep(min(left, _BEAT))


def _event(kind: str, data: dict[str, Any], number: int | None = None) -> str:
    mark = "" if number is None else f"id: {number}\n"
    return f"event: {kind}\n{mark}data: {json.dumps(data, allow_nan=False)}\n\n"
