"""Answers that a browser saves as a file."""

from urllib.parse import quote

from starlette.responses import Response


def as_file(content: str | bytes, media: str, name: str) -> Response:
    """Return an answer that the browser saves under `name` and never opens in the page."""
    return Response(
        content,
        media_type=media,
        headers={"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"},
    )
