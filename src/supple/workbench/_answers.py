"""Requests and answers of the playground and of the streams."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import Response
from pydantic import BaseModel, ConfigDict, Field

__all__ = ["Body", "Number", "plain_json"]

Number = Annotated[float, Field(ge=-1e6, le=1e6, allow_inf_nan=False, strict=True)]


class Body(BaseModel):
    """A request without unknown fields."""

    model_config = ConfigDict(extra="forbid")


def plain_json(content: Any) -> Response:
    """Answer by plain values without FastAPI's slow encoder."""
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    return Response(text, media_type="application/json")
