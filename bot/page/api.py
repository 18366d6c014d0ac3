"""The page under /app/: its files for anybody, and its API: who asks, how often they may, and JSON in and out."""

import asyncio
import hashlib
import json
import math
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import KW_ONLY, InitVar, dataclass, field
from functools import cache
from importlib import resources
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, cast

import structlog
from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.errors import TelegramFailure
from bot.page.visitors import LINK_HEADER, STATUSES, Authentication, PageError, Visitor
from bot.settings import PAGE_PATH
from memory.codec import parse_object
from memory.errors import MemoryFailure

log = structlog.get_logger()


OWNERS = 10_000
"""Maximum number of buckets. The one that was used longest ago is dropped, which fills it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """Requests that are allowed: so many a second, and `burst` at once."""

    per_second: float
    burst: int


class RateLimit:
    """One bucket for each owner. `clock` is monotonic seconds."""

    def __init__(self, rate: Rate, *, clock: Callable[[], float]) -> None:
        self._rate = rate
        self._clock = clock
        self._buckets: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()

    def take(self, owner: Hashable) -> float:
        """Take one request of this owner. Return 0, or the seconds until the next one is allowed."""
        now = self._clock()
        tokens, at = self._buckets.get(owner, (float(self._rate.burst), now))
        tokens = min(float(self._rate.burst), tokens + max(0.0, now - at) * self._rate.per_second)
        is_allowed = tokens >= 1.0
        self._buckets[owner] = (tokens - 1.0 if is_allowed else tokens, now)
        self._buckets.move_to_end(owner)
        if len(self._buckets) > OWNERS:
            self._buckets.popitem(last=False)
        return 0.0 if is_allowed else (1.0 - tokens) / self._rate.per_second


STATIC_PATH = f"{PAGE_PATH}static/"
_PAGE_FILE = "index.html"
WEB_CLIENTS = ("https://web.telegram.org", "https://*.web.telegram.org")
"""Telegram's clients that show the page in a frame."""
_TYPES: Mapping[str, str] = MappingProxyType(
    {
        ".html": "text/html; charset=utf-8",
        ".css": "text/css; charset=utf-8",
        ".js": "text/javascript; charset=utf-8",
        ".json": "application/json",
    }
)
"""Types of the files that are served; others are not."""
API_PATH = f"{PAGE_PATH}api/"
SESSION_PATH = f"{API_PATH}session"
_LONGEST_TOKEN = 200
_DIGITS = 19
BODY_LIMIT = 64 << 10
"""Maximum bytes of a request body."""
BODY_WITHIN_S = 10.0
"""Maximum time to receive a body."""
RETRY_AFTER_S = 3
OF_A_VISITOR = Rate(per_second=20, burst=60)
OF_STRANGERS = Rate(per_second=50, burst=200)
"""Refused requests of a process. Further ones get 429."""

Handler: TypeAlias = Callable[[Visitor, Request], Awaitable[Mapping[str, Any]]]
OpenSession: TypeAlias = Callable[[str], Awaitable[Mapping[str, Any] | None]]
"""Exchange the single-use token of a dashboard link for a session; None if the token is not valid (any more)."""
Method: TypeAlias = Literal["GET", "POST", "DELETE"]


def api_route(path: str, handler: Handler, method: Method = "GET") -> Route:
    """Return the route of a handler. It returns the JSON object of the response, or raises PageError.

    `path` comes after API_PATH and may have parameters, such as `contexts/{id}`.
    """

    async def answer(request: Request) -> Response:
        try:
            return json_response(await handler(cast(Visitor, request.state.visitor), request))
        except (PageError, MemoryFailure, TelegramFailure) as error:
            return error_response(error)

    return Route(API_PATH + path, answer, methods=[method])


@dataclass(slots=True)
class PageApi:
    """All requests under API_PATH. A visitor is identified before anything else is read or looked up."""

    routes: Sequence[Route]
    _: KW_ONLY
    authentication: Authentication
    open_session: OpenSession
    clock: InitVar[Callable[[], float]]
    """Monotonic seconds."""
    _visitors: RateLimit = field(init=False)
    _strangers: RateLimit = field(init=False)

    def __post_init__(self, clock: Callable[[], float]) -> None:
        self._visitors = RateLimit(OF_A_VISITOR, clock=clock)
        self._strangers = RateLimit(OF_STRANGERS, clock=clock)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with JSON: the handler's object, or `{"error", "message"}` with its status."""
        request = Request(scope, receive)
        try:
            if request.method == "POST" and scope["path"] == SESSION_PATH:
                answer: ASGIApp = json_response(await self._exchange(request))
            else:
                request.state.visitor = visitor = await self._identify(request)
                admit(self._visitors, visitor.key)
                answer = self._route_of(scope).handle
        except (PageError, MemoryFailure) as error:
            answer = error_response(error)
        await answer(scope, receive, send)

    def _route_of(self, scope: Scope) -> Route:
        """Return the route of this path and method, with its parameters in the scope."""
        for route in self.routes:
            match, parameters = route.matches(scope)
            if match is Match.FULL:
                scope.update(parameters)
                return route
        raise PageError("not_found", "There is nothing at this address.")

    async def _identify(self, request: Request) -> Visitor:
        authorization, link = (request.headers.get(name, "") for name in ("authorization", LINK_HEADER))
        try:
            return await self.authentication.identify(authorization, link)
        except PageError:
            admit(self._strangers, "strangers")
            raise

    async def _exchange(self, request: Request) -> Mapping[str, Any]:
        """Return the session for the token of a dashboard link. Only refused tokens count as requests of strangers."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        session = None
        if scheme.lower() == "dashboard" and 0 < len(token) <= _LONGEST_TOKEN:
            session = await self.open_session(token)
        if session is None:
            admit(self._strangers, "sessions")
            raise PageError(
                "unauthorized", "This link was used already or is too old. Run `mnemogram dashboard` again."
            )
        return session


def admit(limit: RateLimit, owner: str) -> None:
    """Take a request from the owner's rate. Raises PageError if there is none left."""
    wait_s = limit.take(owner)
    if wait_s:
        raise PageError(
            "too_many_requests", "Too many requests. Please wait a moment.", retry_after_s=math.ceil(wait_s)
        )


def _as_page_error(error: PageError | MemoryFailure | TelegramFailure) -> PageError:
    if isinstance(error, PageError):
        return error
    log.warning("page_request_failed", error=type(error).__name__)
    if isinstance(error, TelegramFailure):
        return PageError("unavailable", "Telegram does not answer. Please try again in a moment.")
    return PageError("unavailable", "The memory does not answer. Please try again in a moment.")


def json_response(document: Mapping[str, Any], status: int = 200) -> Response:
    """Return the document as ASCII JSON, which also carries characters that are no valid UTF-8."""
    body = json.dumps(document, separators=(",", ":"), allow_nan=False)
    return Response(body, status, {"Cache-Control": "no-store"}, media_type="application/json")


def error_response(failure: PageError | MemoryFailure | TelegramFailure) -> Response:
    """Return the response for an error. "unavailable" and "too_many_requests" say when to try again."""
    error = _as_page_error(failure)
    response = json_response({"error": error.code, "message": error.message}, STATUSES[error.code])
    if error.code in ("unavailable", "too_many_requests"):
        response.headers["Retry-After"] = str(error.retry_after_s or RETRY_AFTER_S)
    return response


async def read_object(request: Request) -> Mapping[str, Any]:
    """Return the JSON object of the body; {} for an empty body. Raises PageError for all else."""
    try:
        async with asyncio.timeout(BODY_WITHIN_S):
            document = parse_object(await _read(request) or b"{}")
    except (TimeoutError, ClientDisconnect):
        document = None
    if document is None:
        raise PageError("bad_request", "The request is not a JSON object.")
    return document


async def _read(request: Request) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > BODY_LIMIT:
            raise PageError("bad_request", "The request is too large.")
    return bytes(body)


def whole_number(
    request: Request, name: str, *, most: int, default: int | None = None, is_signed: bool = False
) -> int | None:
    """Return a number from 0 to `most` of the query, or the default. Raises PageError.

    `is_signed` also takes numbers down to `-most`, as imported messages have.
    """
    text = request.query_params.get(name)
    if text is None:
        return default
    digits = text.removeprefix("-") if is_signed else text
    if not (digits.isascii() and digits.isdecimal()) or len(digits) > _DIGITS or int(digits) > most:
        raise PageError("bad_request", f"{name} must be a number from {-most if is_signed else 0} to {most}.")
    return int(text)


class PageApp:
    """The page. Nothing is served before `publish`; API requests get a 503 before `api` is there."""

    def __init__(self) -> None:
        self.api: PageApi | None = None
        self._headers: Mapping[str, str] | None = None

    def publish(self, *, frame_ancestors: Sequence[str] = ()) -> None:
        """Serve the page. `frame_ancestors` may show it in a frame, besides Telegram's web clients."""
        self._headers = _headers([*WEB_CLIENTS, *frame_ancestors])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request under PAGE_PATH. Every response has the security headers."""
        headers = self._headers
        if headers is None:
            unknown = PageError("not_found", "This bot's memory page has no public address (PUBLIC_URL).")
            return await error_response(unknown)(scope, receive, send)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(headers)
            await send(message)

        if not scope["path"].startswith(API_PATH):
            return await _file_response(Request(scope))(scope, receive, send_with_headers)
        if self.api is None:
            starting = PageError("unavailable", "The bot is starting. Please try again in a moment.")
            return await error_response(starting)(scope, receive, send_with_headers)
        return await self.api(scope, receive, send_with_headers)


@dataclass(frozen=True, slots=True, kw_only=True)
class _StaticFile:
    content: bytes
    media_type: str
    etag: str


def _file_response(request: Request) -> Response:
    """Return the file, 304 if the client has it already, or an error as JSON."""
    file = _read_files().get(request.scope["path"])
    if file is None or request.method not in ("GET", "HEAD"):
        return error_response(PageError("not_found", "There is nothing at this address."))
    headers = {"ETag": file.etag, "Cache-Control": "no-cache"}
    if request.headers.get("if-none-match") == file.etag:
        return Response(status_code=304, headers=headers)
    return Response(file.content, headers=headers, media_type=file.media_type)


@cache
def _read_files() -> Mapping[str, _StaticFile]:
    """Return the files of `static` and its catalogue by path, read at the first request. Other paths do not exist."""
    files: dict[str, _StaticFile] = {}
    static = resources.files("bot.page").joinpath("static")
    for folder, prefix in ((static, ""), (static.joinpath("catalogue"), "catalogue/")):
        for entry in folder.iterdir():
            if media_type := _TYPES.get(PurePosixPath(entry.name).suffix):
                content = entry.read_bytes()
                etag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
                file = _StaticFile(content=content, media_type=media_type, etag=etag)
                files[STATIC_PATH + prefix + entry.name] = file
    return files | {PAGE_PATH: files[STATIC_PATH + _PAGE_FILE]}


def _headers(frame_ancestors: Sequence[str]) -> Mapping[str, str]:
    """Return the security headers. No script or style may stand in the page itself, and no other host is asked."""
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        f"base-uri 'none'; form-action 'none'; frame-ancestors {' '.join(frame_ancestors)}"
    )
    return {
        "Content-Security-Policy": policy,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
    }
