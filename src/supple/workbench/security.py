"""Access control: host, origin, token, size of requests, content policy."""

import hmac
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from supple.workbench.settings import Settings

COOKIE = "supple-token"
_READS = frozenset({"GET", "HEAD", "OPTIONS"})
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


class Guard:
    """Middleware that refuses requests before any other code sees them.

    Parameters
    ----------
    app : ASGI application
        The guarded application.
    settings : Settings
        Hosts, token and limits.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app, self._settings = app, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a refused request, or pass it on."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._refuse(scope, headers)
        if refusal is not None:
            await refusal(scope, receive, _dressed(scope, send))
            return
        limited = _Limited(receive, self._settings.max_bytes)
        await self._app(scope, limited, _dressed(scope, send))

    def _refuse(self, scope: Scope, headers: Headers) -> Response | None:
        host = headers.get("host", "")
        if not self._settings.serves(_hostname(host)):
            return _sentence(421, "This address does not belong to the workbench.")
        if scope["method"] not in _READS or scope["path"].startswith("/api/"):
            origin = headers.get("origin")
            foreign = origin is not None and urlsplit(origin).netloc.lower() != host.lower()
            if foreign or headers.get("sec-fetch-site") in ("cross-site", "same-site"):
                return _sentence(403, "A page of another site may not use the workbench.")
        if self._settings.token:
            refusal = self._check_token(scope, headers)
            if refusal is not None:
                return refusal
        size = headers.get("content-length", "0")
        if not size.isdigit() or int(size) > self._settings.max_bytes:
            return too_large(self._settings.max_bytes)
        return None

    def _check_token(self, scope: Scope, headers: Headers) -> Response | None:
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if scope["path"] == "/" and self._is_token(given):
            # Remove the token from the address bar: later requests send the cookie.
            welcome = RedirectResponse("/", status_code=303)
            welcome.set_cookie(COOKIE, given, httponly=True, samesite="strict", path="/")
            return welcome
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        if self._is_token(_cookie(headers.get("cookie", ""))) or self._is_token(bearer):
            return None
        return _sentence(401, "Open the address with the token that the terminal shows.")

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self._settings.token.encode())


class BodyTooLargeError(Exception):
    """A body without a stated length that exceeds the limit."""


class _Limited:
    """Passes on the body of a request up to the limit."""

    def __init__(self, receive: Receive, limit: int) -> None:
        self._receive, self._limit, self._seen = receive, limit, 0

    async def __call__(self) -> Message:
        message = await self._receive()
        self._seen += len(message.get("body", b""))
        if self._seen > self._limit:
            raise BodyTooLargeError
        return message


def too_large(limit: int) -> JSONResponse:
    """Return the answer to a request that is too large."""
    return _sentence(
        413, f"This is more than the workbench takes at once, {limit / 1e6:g} MB. Take fewer rows."
    )


def _sentence(status: int, text: str) -> JSONResponse:
    return JSONResponse({"detail": text}, status_code=status)


def _hostname(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _cookie(header: str) -> str:
    try:
        morsel = SimpleCookie(header).get(COOKIE)
    except CookieError:
        return ""
    return morsel.value if morsel is not None else ""


def _dressed(scope: Scope, send: Send) -> Send:
    """Return a `send` that adds the headers of every answer."""

    async def dress(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers[name] = value
            # Browsers must not cache the page beyond an update of the package.
            headers["Cache-Control"] = (
                "no-store" if scope["path"].startswith("/api/") else "no-cache"
            )
        await send(message)

    return dress
