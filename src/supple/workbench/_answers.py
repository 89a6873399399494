"""Routes that answer a bad request by a sentence, whatever application they are part of."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Sequence
from typing import Annotated, Any

from fastapi import HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, Field

from supple.errors import SuppleError

__all__ = ["Body", "Number", "SentenceRoute", "plain_json", "sentence"]

LARGEST_BODY = 64 * 1024  # bytes; a change of a canvas takes about a hundred

Number = Annotated[float, Field(ge=-1e6, le=1e6, allow_inf_nan=False, strict=True)]


class Body(BaseModel):
    """A request that names nothing unknown."""

    model_config = ConfigDict(extra="forbid")


class SentenceRoute(APIRoute):
    """A route whose errors are ``{"detail": "a sentence"}`` with a status of the 400s."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler of the route with its errors turned into sentences."""
        handle = super().get_route_handler()

        async def answer(request: Request) -> Response:
            length = request.headers.get("content-length", "0")
            if not length.isdecimal() or int(length) > LARGEST_BODY:
                raise HTTPException(413, f"The request must be at most {LARGEST_BODY} bytes long.")
            try:
                return await handle(request)
            except RequestValidationError as error:
                raise HTTPException(422, sentence(error.errors())) from None
            except SuppleError as error:
                raise HTTPException(400, _printable(str(error))) from None

        return answer


def sentence(errors: Sequence[Any]) -> str:
    """Say what is wrong with a request: the field, the rule and the value."""
    first = errors[0]
    if first["type"] == "json_invalid":
        return "The request must be valid JSON. Check its quotes, commas and brackets."
    place = [str(part) for part in first["loc"][1:]]
    name = place[-1] if place else "request"
    rule = first["msg"][0].lower() + first["msg"][1:].rstrip(".")
    got = (
        "" if first["type"] in ("missing", "extra_forbidden") else f" Got {_short(first)} instead."
    )
    return _printable(f"The field '{name}' is not right: {rule}.{got}")


def _short(error: Any) -> str:
    text = repr(error.get("input"))
    return text if len(text) <= 60 else text[:57] + "..."


def _printable(text: str) -> str:
    """Return text that has a UTF-8 form: JSON may bring half of a surrogate pair."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def plain_json(content: Any) -> Response:
    """Answer by plain values, which FastAPI's encoder need not look through one by one."""
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    return Response(text, media_type="application/json")
