"""`POST /telegram/webhook`: 200 once the update is on disk, and never before."""

import asyncio
import hmac
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, cast

import structlog
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import Message, Receive, Scope, Send

from bot.observe import metrics
from bot.transport.ingest import Ingest
from memory.errors import CommandRefused, StoreFull, StoreUnavailable

log = structlog.get_logger()

BODY_LIMIT = 1 << 20
"""Bytes of a request body. Telegram's updates are far smaller."""
RETRY_AFTER_S = 3
"""What we ask Telegram to wait for while the store cannot take updates; it keeps them and the chat's order."""
BODY_WITHIN_S = 10.0
"""For a body of BODY_LIMIT at most to come in whole."""
UNREAD_LIMIT = 4 << 20
UNREAD_WAIT_S = 1.0
"""What is still thrown away of a body that was refused unread: so many bytes, for so long."""
SECRET_HEADER = "X-Telegram-Bot-Api-Secret-Token"  # noqa: S105 — a header's name
_SECRET_NAME = SECRET_HEADER.lower().encode()
_UPDATE_ID_LIMIT = 1 << 53
"""Update ids are scores of a sorted set: doubles, exact up to here."""
_NO_BODY = (b"content-length", b"0")
"""A body would be a write of its own, a third of what such an answer costs."""
_WRONG_SECRET: Message = {"type": "http.response.start", "status": 401, "headers": [_NO_BODY]}
_LAST_WRONG_SECRET: Message = {**_WRONG_SECRET, "headers": [_NO_BODY, (b"connection", b"close")]}
_END: Message = {"type": "http.response.body", "body": b""}


class Webhook:
    """The endpoint. `ingest` gives None until we know who we are; then Telegram is asked to come again."""

    def __init__(self, ingest: Callable[[], Ingest | None], *, secret: str) -> None:
        self._ingest = ingest
        self._secret = secret.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """200 stored, 401 wrong secret, 408 too slow, 413 too large, 400 not an update, 503 the store cannot take it.

        The secret comes before all else, the making of a request's object included: strangers have no other.
        """
        if not hmac.compare_digest(_secret_in(scope), self._secret):
            return await _turn_away(receive, send)
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
            return _come_again("starting")
        try:
            outcome = await ingest.take_in(update)
        except (StoreUnavailable, StoreFull, CommandRefused) as error:
            metrics.UPDATES.labels("failed").inc()
            log.warning("update_not_stored", update=update["update_id"], error=str(error))
            return _come_again("the store cannot take the update")
        if outcome == "full":
            return _come_again("too many updates of this chat are waiting")
        return JSONResponse({"ok": True, "outcome": outcome})


def _secret_in(scope: Scope) -> bytes:
    """What the header says, as it came: it may be any bytes."""
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    for name, value in headers:
        if name == _SECRET_NAME:
            return value
    return b""


async def _turn_away(receive: Receive, send: Send) -> None:
    """The 401, as cheap as can be. Who sent a whole request may keep the connection: a new one would cost us more."""
    metrics.WEBHOOK_REFUSED.labels("401").inc()
    if await _is_whole(receive):
        await send(_WRONG_SECRET)
        await send(_END)
    else:
        await _answer_early(_LAST_WRONG_SECRET, _END, receive, send)


async def _is_whole(receive: Receive) -> bool:
    """Whether the end of the request is here already."""
    with suppress(TimeoutError):
        async with asyncio.timeout(0):
            return not (await receive()).get("more_body")
    return False


async def _read(request: Request) -> bytes | None:
    """The body, or None as soon as it is known to be too large."""
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
    """An answer before the request has ended."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        start = {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
        await _answer_early(start, {"type": "http.response.body", "body": self.body}, receive, send)


async def _answer_early(start: Message, body: Message, receive: Receive, send: Send) -> None:
    """Closing at once, with bytes unread, would reset the connection, and the client would lose the answer with it.

    So it is sent, then what still comes is thrown away for a moment.
    """
    await send(start)
    await send({**body, "more_body": True})
    with suppress(TimeoutError):
        async with asyncio.timeout(UNREAD_WAIT_S):
            await _throw_away(receive)
    await send(_END)


async def _throw_away(receive: Receive) -> None:
    """Receive until the request has ended, or was too much."""
    received = 0
    while received < UNREAD_LIMIT:
        message = await receive()
        received += len(message.get("body", b""))
        if not message.get("more_body"):  # its end, or a disconnect
            return


def _come_again(why: str) -> Response:
    metrics.WEBHOOK_REFUSED.labels("503").inc()
    return JSONResponse({"ok": False, "error": why}, 503, headers={"Retry-After": str(RETRY_AFTER_S)})
