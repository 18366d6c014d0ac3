"""HTTP: a server in the running event loop, with health, metrics, and the webhook.

The webhook answers 200 only after the update is on disk.
"""

import asyncio
import errno
import hmac
import json
import socket
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, cast

import structlog
import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from bot.errors import PortInUse
from bot.inbox.records import Accepted
from bot.observe import metrics
from bot.transport.http_connection import CYCLE, HEAD_S, Connection, Door, Headers, WaitingConnections
from bot.transport.ingest import Ingest
from bot.transport.json_fields import int_in
from memory.codec import parse_object
from memory.errors import CommandRefused, StoreFull, StoreUnavailable

log = structlog.get_logger()

LOOPBACK = "127.0.0.1"
_PATIENCE_S = 2.0
_ACCEPTED_AT_ONCE = 16
"""Backlog for asyncio, which accepts this number of connections in a row and does nothing else meanwhile."""
_BACKLOG = 2048
_REQUESTS = 512
"""Requests to other paths than the webhook that are answered at once. Further ones get a 503."""
_UNREAD_AT_ONCE = 256
"""Strangers whose unread body is discarded. Further ones are cut off at once."""

BODY_LIMIT = 1 << 20
"""Maximum bytes of a request body. Telegram's updates are far smaller."""
RETRY_AFTER_S = 3
"""Retry-After while the store cannot take updates. Telegram keeps them and their order in the chat."""
BODY_WITHIN_S = 10.0
"""Maximum time to receive a body."""
UNREAD_LIMIT = 4 << 20
UNREAD_WAIT_S = 1.0
"""Bytes and seconds for which an unread body is discarded after its refusal."""
WARN_EVERY_S = 60.0
"""Refused posts are logged together, once in this time."""
SECRET_HEADER = "X-Telegram-Bot-Api-Secret-Token"  # noqa: S105 — a header's name
_SECRET_NAME = SECRET_HEADER.lower().encode()
_UPDATE_ID_LIMIT = 1 << 53
"""Update ids are scores of a sorted set: doubles, which are exact up to this number."""
_NO_BODY = (b"content-length", b"0")
"""A body would need a write of its own, a third of the cost of such an answer."""
_STRANGER = 401
_WRONG_SECRET: Message = {"type": "http.response.start", "status": _STRANGER, "headers": [_NO_BODY]}
_LAST_WRONG_SECRET: Message = {**_WRONG_SECRET, "headers": [_NO_BODY, (b"connection", b"close")]}
_END: Message = {"type": "http.response.body", "body": b""}


def create_http_app(
    *,
    webhook: "Webhook | None",
    what_is_down: Callable[[], Awaitable[dict[str, str]]],
    webhook_path: str,
    what_is_at_risk: Callable[[], dict[str, str]] = dict,
    page: ASGIApp | None = None,
    page_path: str = "",
) -> ASGIApp:
    """Return the app; a worker has no webhook and no page. `what_is_down` names each failing part with one sentence.
    `what_is_at_risk` does so for parts that still work.

    A webhook that only got wrong secrets is named, but stays ready: strangers can send those too.

    Updates skip the router, because refusing strangers must be cheap, and the limit of requests, because strangers
    may fill it. The page gets all paths under `page_path`.
    """
    free = asyncio.Semaphore(_REQUESTS)

    async def live(_: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def ready(_: Request) -> Response:
        down = await what_is_down()
        status = "down" if down else "ok"
        caution = webhook.caution if webhook else None
        cautions = what_is_at_risk() | ({"webhook": caution} if caution else {})
        named = {"cautions": cautions} if cautions else {}
        return JSONResponse({"status": status, "down": down} | named, 503 if down else 200)

    async def show_metrics(_: Request) -> Response:
        return Response(metrics.render(), media_type=metrics.CONTENT_TYPE)

    async def refuse_updates(_: Request) -> Response:
        return JSONResponse({"ok": False, "error": "this process takes no updates"}, 404)

    rest = Starlette(
        routes=[
            Route(webhook_path, refuse_updates, methods=["POST"]),
            Route("/health/live", live),
            Route("/health/ready", ready),
            Route("/metrics", show_metrics),
        ]
    )

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope["path"]
        if webhook is not None and path == webhook_path and scope["method"] == "POST":
            await webhook(scope, receive, send)
        elif free.locked():
            await _Refusal(503, "too many requests at once")(scope, receive, send)
        else:
            async with free:
                answer = page if page is not None and path.startswith(page_path) else rest
                await answer(scope, receive, send)

    return app


class Webhook:
    """The endpoint. Without `ingest`, because the bot's identity is unknown yet, Telegram is asked to retry.

    As the server's `Door` it refuses strangers before the app is called.
    """

    def __init__(self, *, secret: str, path: str, ingest: Ingest | None = None) -> None:
        self.ingest = ingest
        self._url = path.encode()
        self._secret = secret.encode()
        self._refusals = _Refusals()
        self._unread = asyncio.Semaphore(_UNREAD_AT_ONCE)
        self._has_had_secret = False

    @property
    def caution(self) -> str | None:
        """One sentence for /health/ready if every post so far had no secret or a wrong one, else None."""
        if self._has_had_secret or not self._refusals.strangers:
            return None
        return (
            f"all posts so far ({self._refusals.strangers}) were refused with 401: "
            f"a proxy may drop the header {SECRET_HEADER}"
        )

    def is_stranger(self, url: bytes, headers: Headers) -> bool:
        """Return True if a post to this URL is an update without the secret."""
        return url == self._url and not self._has_secret(headers)

    def count_stranger(self, headers: Headers) -> None:
        """Count a refused post."""
        self._refusals.count(
            _STRANGER, "wrong secret" if _SECRET_NAME in dict(headers) else "no secret header"
        )

    def _has_secret(self, headers: Headers) -> bool:
        return hmac.compare_digest(dict(headers).get(_SECRET_NAME, b""), self._secret)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 200 stored, 401 wrong secret, 408 slow, 413 too large, 400 no update, 503 store unavailable.

        Strangers whose request has come in one piece were refused before (`Connection`).
        """
        headers = cast(Headers, scope["headers"])
        if not self._has_secret(headers):
            self.count_stranger(headers)
            return await self._refuse_stranger(receive, send)
        self._has_had_secret = True
        cycle = cast(RequestResponseCycle, scope["extensions"][CYCLE])
        body = _body_at_once(cycle)
        if body is None:
            body = await _read_in_time(Request(scope, receive))
        answer = body if isinstance(body, Response) else await self._store(body)
        if isinstance(answer, _Refusal):
            self._refusals.count(answer.status_code, answer.why)
        if isinstance(answer, Response):
            return await answer(scope, receive, send)
        if cycle.keep_alive and not cycle.disconnected and not cycle.flow.write_paused:
            return _confirm_at_once(cycle, answer)
        return await JSONResponse(_confirmation(answer))(scope, receive, send)

    async def _refuse_stranger(self, receive: Receive, send: Send) -> None:
        """Answer 401 at the lowest cost.

        After a complete request the connection stays open, because a new one would cost more.
        """
        if await _is_whole(receive):
            await send(_WRONG_SECRET)
            await send(_END)
        elif self._unread.locked():
            await send(_LAST_WRONG_SECRET)
            await send(_END)
        else:
            async with self._unread:
                await _answer_early(_LAST_WRONG_SECRET, _END, receive, send)

    async def _store(self, body: bytes) -> Accepted | Response:
        """Return the outcome of a stored update, or the refusal."""
        update = _parse(body)
        if update is None:
            return _Refusal(400, "not a JSON object with an integer update_id")
        if self.ingest is None:
            return _retry_later("starting")
        try:
            outcome = await self.ingest.take_in(update)
        except RecursionError:
            return _Refusal(400, "nested too deeply")
        except (StoreUnavailable, StoreFull, CommandRefused) as error:
            metrics.UPDATES.labels("failed").inc()
            log.warning("update_not_stored", update=update["update_id"], error=str(error))
            return _retry_later("the store cannot take the update")
        return _retry_later("too many updates of this chat are waiting") if outcome == "full" else outcome


def _body_at_once(cycle: RequestResponseCycle) -> bytes | None:
    """Return the body if all of it has come with the head, as Telegram's do: it needs no deadline."""
    return None if cycle.more_body or len(cycle.body) > BODY_LIMIT else bytes(cycle.body)


async def _read_in_time(request: Request) -> bytes | Response:
    """Return the body, or the refusal of a slow, unfinished or large one."""
    try:
        async with asyncio.timeout(BODY_WITHIN_S):
            body = await _read(request)
    except ClientDisconnect:
        return _Refusal(400, "the body ended early")
    except TimeoutError:
        return _Refusal(408, "the body took too long", is_read=False)
    return _Refusal(413, "larger than 1 MiB", is_read=False) if body is None else body


def _confirmation(outcome: Accepted) -> dict[str, object]:
    return {"ok": True, "outcome": outcome}


@cache
def _whole_confirmation(outcome: Accepted) -> bytes:
    body = json.dumps(_confirmation(outcome), separators=(",", ":"))
    head = f"HTTP/1.1 200 OK\r\ncontent-length: {len(body)}\r\ncontent-type: application/json"
    return f"{head}\r\n\r\n{body}".encode()


def _confirm_at_once(cycle: RequestResponseCycle, outcome: Accepted) -> None:
    """Write head and body in one system call. uvicorn's `send` makes two, a tenth of the cost of an update."""
    cycle.response_started = cycle.response_complete = True
    cycle.transport.write(_whole_confirmation(outcome))
    cycle.on_response()


async def _is_whole(receive: Receive) -> bool:
    """Return True if the end of the request has already arrived."""
    with suppress(TimeoutError):
        async with asyncio.timeout(0):
            return not (await receive()).get("more_body")
    return False


async def _read(request: Request) -> bytes | None:
    """Return the body, or None as soon as it is too large."""
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > BODY_LIMIT:
        return None
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > BODY_LIMIT:
            return None
    return bytes(body)


def _parse(body: bytes) -> Mapping[str, Any] | None:
    update = parse_object(body) or {}
    number = int_in(update, "update_id")
    return None if number is None or abs(number) >= _UPDATE_ID_LIMIT else update


class _Refusal(JSONResponse):
    """A refusal with its reason. `is_read` is False before the end of the request."""

    def __init__(self, status: int, why: str, *, is_read: bool = True) -> None:
        super().__init__({"ok": False, "error": why}, status, None if is_read else {"Connection": "close"})
        self.why = why
        self._is_read = is_read

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._is_read:
            await super().__call__(scope, receive, send)
        else:
            start = {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
            await _answer_early(start, {"type": "http.response.body", "body": self.body}, receive, send)


class _Refusals:
    """Counts refused posts, and warns of them once in WARN_EVERY_S with their reasons. One per event loop."""

    def __init__(self) -> None:
        self.strangers = 0
        """Posts without the right secret."""
        self._counts = Counter[str]()
        self._timer: asyncio.TimerHandle | None = None

    def count(self, status: int, why: str) -> None:
        """Count a refused post; the first one is logged at once."""
        metrics.WEBHOOK_REFUSED.labels(str(status)).inc()
        self.strangers += status == _STRANGER
        self._counts[f"{status} {why}"] += 1
        if self._timer is None:
            self._warn()

    def _warn(self) -> None:
        """Log the counts since the last warning. Without any, the next refused post is logged at once again."""
        self._timer = None
        if self._counts:
            log.warning("webhook_refused", count=self._counts.total(), reasons=dict(self._counts))
            self._counts.clear()
            self._timer = asyncio.get_running_loop().call_later(WARN_EVERY_S, self._warn)


async def _answer_early(start: Message, body: Message, receive: Receive, send: Send) -> None:
    """Send the response, then discard input for a moment.

    Closing at once with unread bytes would reset the connection, and the client would lose the response.
    """
    await send(start)
    await send({**body, "more_body": True})
    with suppress(TimeoutError):
        async with asyncio.timeout(UNREAD_WAIT_S):
            await _discard(receive)
    await send(_END)


async def _discard(receive: Receive) -> None:
    """Receive until the request ends or exceeds UNREAD_LIMIT."""
    received = 0
    while received < UNREAD_LIMIT:
        message = await receive()
        received += len(message.get("body", b""))
        if not message.get("more_body"):  # its end, or a disconnect
            return


def _retry_later(why: str) -> Response:
    metrics.WEBHOOK_REFUSED.labels("503").inc()
    return JSONResponse({"ok": False, "error": why}, 503, headers={"Retry-After": str(RETRY_AFTER_S)})


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpServer:
    """A listening server; `origin` is `http://HOST:PORT` with the actual port."""

    origin: str
    _server: uvicorn.Server

    async def end(self, *, drain_s: float) -> None:
        """Stop listening, give running responses `drain_s` seconds, then drop every connection."""
        for listening in self._server.servers:
            listening.close()
        answering = list(self._server.server_state.tasks)
        if answering and drain_s:
            await asyncio.wait(answering, timeout=drain_s)
        for connection in self._server.server_state.connections:
            cast("Any", connection).transport.abort()
        answering = list(self._server.server_state.tasks)
        if answering:
            _, stuck = await asyncio.wait(answering, timeout=_PATIENCE_S)
            for task in stuck:
                task.cancel()
        for listening in self._server.servers:
            await listening.wait_closed()


@asynccontextmanager
async def serve_http(
    app: ASGIApp,
    *,
    host: str = LOOPBACK,
    port: int = 0,
    drain_s: float = 0,
    head_s: float = HEAD_S,
    door: Door | None = None,
) -> AsyncGenerator[HttpServer]:
    """Serve `app` until the block ends; port 0 takes a free one. Raises PortInUse, or OSError for a bad host.

    `door` refuses posts without a call of `app`.
    """
    listener = _listen(host, port)
    config = uvicorn.Config(
        app,
        http=cast(
            "Any",
            partial(
                Connection, head_s=head_s, silent=WaitingConnections(), idle=WaitingConnections(), door=door
            ),
        ),
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="error",  # without this, each invalid request of a stranger is a warning
        backlog=_ACCEPTED_AT_ONCE,
        access_log=False,
        proxy_headers=False,
    )
    config.load()
    server = uvicorn.Server(config)
    # `serve` would take over SIGINT and SIGTERM, and `shutdown` waits for what still answers.
    server.lifespan = config.lifespan_class(config)
    await server.startup(sockets=[listener])
    listener.listen(_BACKLOG)
    shown = f"[{host}]" if ":" in host else host
    serving = HttpServer(origin=f"http://{shown}:{listener.getsockname()[1]}", _server=server)
    try:
        yield serving
    finally:
        await serving.end(drain_s=drain_s)


def _listen(host: str, port: int) -> socket.socket:
    # asyncio turns Nagle's delay off only for a named protocol. Otherwise each response takes 40 ms longer.
    listener = socket.socket(
        socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP
    )
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise PortInUse(f"port {port} on {host} is in use by another program") from error
        raise
    listener.setblocking(False)
    return listener
