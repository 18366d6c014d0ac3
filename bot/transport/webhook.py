"""The HTTP side: health, metrics, and the webhook, which answers 200 only after the update is on disk."""

import asyncio
import hmac
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, cast

import structlog
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.observe import metrics
from bot.transport.ingest import Ingest
from memory.errors import CommandRefused, StoreFull, StoreUnavailable

log = structlog.get_logger()

BODY_LIMIT = 1 << 20
"""Maximum bytes of a request body. Telegram's updates are far smaller."""
RETRY_AFTER_S = 3
"""Retry-After while the store cannot take updates. Telegram keeps them and their order in the chat."""
BODY_WITHIN_S = 10.0
"""Maximum time to receive a body."""
UNREAD_LIMIT = 4 << 20
UNREAD_WAIT_S = 1.0
"""Bytes and seconds for which an unread body is discarded after its refusal."""
SECRET_HEADER = "X-Telegram-Bot-Api-Secret-Token"  # noqa: S105 — a header's name
_SECRET_NAME = SECRET_HEADER.lower().encode()
_UPDATE_ID_LIMIT = 1 << 53
"""Update ids are scores of a sorted set: doubles, which are exact up to this number."""
_NO_BODY = (b"content-length", b"0")
"""A body would need a write of its own, a third of the cost of such an answer."""
_WRONG_SECRET: Message = {"type": "http.response.start", "status": 401, "headers": [_NO_BODY]}
_LAST_WRONG_SECRET: Message = {**_WRONG_SECRET, "headers": [_NO_BODY, (b"connection", b"close")]}
_END: Message = {"type": "http.response.body", "body": b""}


def create_http_app(
    *, webhook: "Webhook | None", what_is_down: Callable[[], Awaitable[dict[str, str]]], webhook_path: str
) -> ASGIApp:
    """Return the app; a worker has no webhook. `what_is_down` names each failing part with one sentence.

    Updates skip the router, because refusing strangers must be cheap.
    """

    async def live(_: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def ready(_: Request) -> Response:
        down = await what_is_down()
        status = "down" if down else "ok"
        return JSONResponse({"status": status, "down": down}, 503 if down else 200)

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
        is_update = scope["type"] == "http" and scope["path"] == webhook_path and scope["method"] == "POST"
        await (webhook if webhook is not None and is_update else rest)(scope, receive, send)

    return app


class Webhook:
    """The endpoint. While `ingest` returns None (the bot's identity is unknown), Telegram is asked to retry."""

    def __init__(self, ingest: Callable[[], Ingest | None], *, secret: str) -> None:
        self._ingest = ingest
        self._secret = secret.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 200 stored, 401 wrong secret, 408 slow, 413 too large, 400 no update, 503 store unavailable.

        The secret is checked first, before a request object is built, because strangers fail here.
        """
        if not hmac.compare_digest(_secret_in(scope), self._secret):
            return await _refuse_stranger(receive, send)
        answer = await self._answer(Request(scope, receive))
        return await answer(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        try:
            async with asyncio.timeout(BODY_WITHIN_S):
                body = await _read(request)
        except ClientDisconnect:
            return _refused(400, "the body ended early")
        except TimeoutError:
            return _refused(408, "the body took too long", is_read=False)
        if body is None:
            return _refused(413, "larger than 1 MiB", is_read=False)
        update = _parse(body)
        if update is None:
            return _refused(400, "not a JSON object with an integer update_id")
        try:
            return await self._take_in(update)
        except RecursionError:
            return _refused(400, "nested too deeply")

    async def _take_in(self, update: Mapping[str, Any]) -> Response:
        ingest = self._ingest()
        if ingest is None:
            return _retry_later("starting")
        try:
            outcome = await ingest.take_in(update)
        except (StoreUnavailable, StoreFull, CommandRefused) as error:
            metrics.UPDATES.labels("failed").inc()
            log.warning("update_not_stored", update=update["update_id"], error=str(error))
            return _retry_later("the store cannot take the update")
        if outcome == "full":
            return _retry_later("too many updates of this chat are waiting")
        return JSONResponse({"ok": True, "outcome": outcome})


def _secret_in(scope: Scope) -> bytes:
    """Return the header's value, which may be any bytes."""
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    for name, value in headers:
        if name == _SECRET_NAME:
            return value
    return b""


async def _refuse_stranger(receive: Receive, send: Send) -> None:
    """Answer 401 at the lowest cost. After a complete request the connection stays open: a new one would cost more."""
    metrics.WEBHOOK_REFUSED.labels("401").inc()
    if await _is_whole(receive):
        await send(_WRONG_SECRET)
        await send(_END)
    else:
        await _answer_early(_LAST_WRONG_SECRET, _END, receive, send)


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
    try:
        update: Any = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(update, dict):
        return None
    fields = cast("Mapping[str, Any]", update)
    number = fields.get("update_id")
    is_id = isinstance(number, int) and not isinstance(number, bool) and abs(number) < _UPDATE_ID_LIMIT
    return fields if is_id else None


def _refused(status: int, why: str, *, is_read: bool = True) -> Response:
    metrics.WEBHOOK_REFUSED.labels(str(status)).inc()
    if is_read:
        return JSONResponse({"ok": False, "error": why}, status)
    return _EarlyAnswer({"ok": False, "error": why}, status, headers={"Connection": "close"})


class _EarlyAnswer(JSONResponse):
    """A response before the end of the request."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        start = {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
        await _answer_early(start, {"type": "http.response.body", "body": self.body}, receive, send)


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
