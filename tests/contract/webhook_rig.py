"""The webhook over real HTTP: the served application, with an inbox on the real store."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from bot.features import CONTROLS
from bot.inbox.redis_inbox import RedisInbox
from bot.settings import WEBHOOK_PATH, Access
from bot.transport.gating import BotIdentity
from bot.transport.http_server import SECRET_HEADER, Webhook, create_http_app, serve_http
from bot.transport.ingest import DoorRules, Ingest
from memory.redis.client import RedisClient
from tests.anchors import no_migrations

SECRET = "the-secret_0"
BOT = BotIdentity(id=4242, username="mnemogram_bot")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pushed:
    """The response to raw bytes on a new connection. `is_closed`: the server closed the connection."""

    status: int
    is_closed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """The webhook as Telegram sees it."""

    http: httpx.AsyncClient
    port: int

    async def push(
        self,
        update: object,
        *,
        secret: str | bytes | None = SECRET,
        extra: Mapping[str, str] | None = None,
        **changes: Any,
    ) -> httpx.Response:
        """POST an update as JSON, or bytes as they are, with `extra` headers."""
        body = update if isinstance(update, bytes) else json.dumps(update).encode()
        given = secret.encode() if isinstance(secret, str) else secret
        headers = {} if given is None else {SECRET_HEADER.encode(): given}
        headers |= {name.encode(): value.encode() for name, value in (extra or {}).items()}
        return await self.http.post(WEBHOOK_PATH, content=body, headers=headers, **changes)

    async def push_raw(self, headers: dict[str, str], body: bytes) -> Pushed:
        """POST these bytes, send nothing more, and read the response and its rest."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        head = {"Host": "localhost", SECRET_HEADER: SECRET} | headers
        lines = [f"POST {WEBHOOK_PATH} HTTP/1.1", *(f"{name}: {value}" for name, value in head.items())]
        try:
            writer.write("\r\n".join([*lines, "", ""]).encode() + body)
            async with asyncio.timeout(5):
                status = int((await reader.readline()).split()[1])
                is_closed = await _ends(reader)
        finally:
            writer.transport.abort()
        return Pushed(status=status, is_closed=is_closed)

    async def push_in_a_row(self, updates: Sequence[object]) -> list[dict[str, Any]]:
        """POST all updates at once on one connection, then read the body of each response."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        bodies: list[dict[str, Any]] = []
        try:
            for update in updates:
                body = json.dumps(update).encode()
                head = f"POST {WEBHOOK_PATH} HTTP/1.1\r\nHost: a\r\n{SECRET_HEADER}: {SECRET}"
                writer.write(f"{head}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
            async with asyncio.timeout(5):
                for _ in updates:
                    answer_head = (await reader.readuntil(b"\r\n\r\n")).decode()
                    length = int(answer_head.split("content-length: ")[1].split("\r\n")[0])
                    bodies.append(json.loads(await reader.readexactly(length)))
        finally:
            writer.transport.abort()
        return bodies

    async def push_bytes(self, *pieces: bytes, answers: int) -> list[int]:
        """Send these pieces one after the other on one connection. Return the status of each response."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        statuses: list[int] = []
        try:
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
            async with asyncio.timeout(5):
                while len(statuses) < answers:
                    head = (await reader.readuntil(b"\r\n\r\n")).decode()
                    await reader.readexactly(int(head.split("content-length: ")[1].split("\r\n")[0]))
                    statuses.append(int(head.split()[1]))
        finally:
            writer.transport.abort()
        return statuses


def make_post(update: object, secret: str) -> bytes:
    """Return the bytes of a post of this update."""
    body = json.dumps(update).encode()
    head = (
        f"POST {WEBHOOK_PATH} HTTP/1.1\r\nHost: a\r\n{SECRET_HEADER}: {secret}\r\nContent-Length: {len(body)}"
    )
    return f"{head}\r\n\r\n".encode() + body


@asynccontextmanager
async def served_webhook(
    redis: RedisClient,
    *,
    box_limit: int = 100,
    down: Mapping[str, str] | None = None,
    is_ready: bool = True,
    before_health: Callable[[], Awaitable[object]] | None = None,
) -> AsyncGenerator[Endpoint]:
    """Serve the webhook on this store. `down` is the content of /health/ready, after `before_health`."""
    inbox = RedisInbox(redis, partitions=1, box_limit=box_limit, clock=lambda: 1000.0)
    ingest = (
        Ingest(
            inbox.accept,
            controls=CONTROLS,
            bot=BOT,
            access=Access(),
            rules=DoorRules(partitions=1),
            anchors=no_migrations(),
        )
        if is_ready
        else None
    )

    async def what_is_down() -> dict[str, str]:
        if before_health:
            await before_health()
        return dict(down or {})

    webhook = Webhook(secret=SECRET, path=WEBHOOK_PATH, ingest=ingest)
    app = create_http_app(webhook=webhook, what_is_down=what_is_down, webhook_path=WEBHOOK_PATH)
    async with (
        serve_http(app, door=webhook) as server,
        httpx.AsyncClient(base_url=server.origin, timeout=5, trust_env=False) as http,
    ):
        yield Endpoint(http=http, port=http.base_url.port or 0)


def make_message_update(update_id: object = 1, text: str = "hello", *, chat: int = 7) -> dict[str, Any]:
    """Return an update with a message in a private chat."""
    person = {"id": chat, "is_bot": False, "first_name": "Anna"}
    message = {"message_id": 3, "date": 900, "chat": {"id": chat, "type": "private"}, "from": person}
    return {"update_id": update_id, "message": message | {"text": text}}


async def _ends(reader: asyncio.StreamReader) -> bool:
    try:
        await reader.read()
    except ConnectionError:
        return True
    return reader.at_eof()
