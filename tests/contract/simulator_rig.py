"""A simulator on a free port, a webhook for its updates, and people who write to the bot."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import httpx

from simulator.api.config import DEFAULT_TOKEN, SimulatorConfig
from simulator.api.simulation import Simulation
from simulator.api.updates import UPDATE_KINDS
from simulator.service import create_app, serve
from tests.story.people import People

SECRET_HEADER = "x-telegram-bot-api-secret-token"
DEADLINE_S = 5.0


@dataclass(slots=True)
class Clock:
    """The real time, moved by `ahead_s`."""

    ahead_s: float = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Rig:
    """A running simulator.

    `url` is its address, `call` returns a Bot API response as it is. `simulation` is its state, for tests
    with much data.
    """

    url: str
    http: httpx.AsyncClient
    clock: Clock
    simulation: Simulation

    async def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        answer = await self.http.post(f"/bot{DEFAULT_TOKEN}/{method}", json=parameters)
        body: dict[str, Any] = answer.json()
        assert body["ok"] is (answer.status_code == 200)
        assert body.get("error_code", 200) == answer.status_code
        return body

    async def result(self, method: str, **parameters: Any) -> Any:
        body = await self.call(method, **parameters)
        assert body["ok"], body
        return body["result"]

    async def refusal(self, method: str, **parameters: Any) -> str:
        body = await self.call(method, **parameters)
        assert not body["ok"], body
        return body["description"]

    async def page(self, path: str, **body: Any) -> Any:
        answer = await self.http.post(f"/api/{path}", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def say(
        self, chat_id: int, text: str, *, from_id: int | None = None, **more: Any
    ) -> dict[str, Any]:
        return await self.page("messages", chat_id=chat_id, from_id=from_id or chat_id, text=text, **more)

    @property
    def people(self) -> People:
        return People(simulator=self.http)

    async def updates(self) -> list[dict[str, Any]]:
        """Return all pending updates for the bot without confirming them."""
        return await self.result("getUpdates", allowed_updates=sorted(UPDATE_KINDS))

    async def messages(self, chat_id: int) -> list[dict[str, Any]]:
        """Return the messages of a chat that the page shows, without service messages."""
        shown = (await self.world())["messages"]
        return [one for one in shown if one["chat"]["id"] == chat_id and "text" in one]

    async def world(self) -> dict[str, Any]:
        return (await self.http.get("/api/world")).json()

    async def pending(self) -> int:
        return (await self.result("getWebhookInfo"))["pending_update_count"]

    @asynccontextmanager
    async def events(self, *, after: int | None = None) -> AsyncGenerator[AsyncIterator[dict[str, Any]]]:
        """Read the page's events, each with its `id`. It is connected when entered."""
        headers = {} if after is None else {"Last-Event-ID": str(after)}
        async with self.http.stream("GET", "/api/events", headers=headers) as answer:
            lines = answer.aiter_lines()
            assert await anext(lines) == "retry: 1000"
            yield _events_of(lines)


@asynccontextmanager
async def simulator(**changes: Any) -> AsyncGenerator[Rig]:
    """Open a simulator in this process, without a port, events or broken connections.

    `changes` are fields of its configuration.
    """
    config, clock = _config(changes)
    app = create_app(config)
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(base_url="http://simulator", transport=transport) as http,
    ):
        yield Rig(url="", http=http, clock=clock, simulation=app.state.simulation)


@asynccontextmanager
async def served_simulator(**changes: Any) -> AsyncGenerator[Rig]:
    """Serve a simulator on a free port."""
    config, clock = _config(changes)
    async with (
        serve(config) as served,
        httpx.AsyncClient(base_url=served.url, timeout=DEADLINE_S, trust_env=False) as http,
    ):
        yield Rig(url=served.url, http=http, clock=clock, simulation=served.simulation)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A webhook's answer. None closes the connection. `hold` is awaited first."""

    status: int | None = 200
    headers: dict[str, str] = field(default_factory=dict[str, str])
    hold: asyncio.Event | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    at: float
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def text(self) -> str:
        """Return the text of the update's message."""
        return self.body["message"]["text"]


@dataclass(slots=True)
class Sink:
    """A webhook that records each POST and answers as `decide` says.

    `under_way` holds unanswered requests.
    """

    url: str = ""
    posts: list[Post] = field(default_factory=list[Post])
    decide: Callable[[Post], Reply] = lambda _: Reply()
    under_way: int = 0
    most_under_way: int = 0

    def texts(self) -> list[str]:
        return [post.text for post in self.posts]

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (post := await _read_post(reader)) is not None:
                self.posts.append(post)
                self.under_way += 1
                self.most_under_way = max(self.most_under_way, self.under_way)
                reply = self.decide(post)
                if reply.hold is not None:
                    await reply.hold.wait()
                self.under_way -= 1
                if reply.status is None:
                    break
                head = "".join(f"{name}: {value}\r\n" for name, value in reply.headers.items())
                writer.write(f"HTTP/1.1 {reply.status} X\r\ncontent-length: 0\r\n{head}\r\n".encode())
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()


@asynccontextmanager
async def listening_sink() -> AsyncGenerator[Sink]:
    sink = Sink()
    connections: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.add(asyncio.create_task(sink.answer(reader, writer)))

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    sink.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/telegram/webhook"
    try:
        yield sink
    finally:
        server.close()
        for task in connections:
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)


async def eventually(holds: Callable[[], bool]) -> None:
    """Wait until `holds()`; fails after `DEADLINE_S`."""
    async with asyncio.timeout(DEADLINE_S):
        while not holds():  # noqa: ASYNC110 - what is waited for has no event to wait on
            await asyncio.sleep(0.005)


async def next_event(events: AsyncIterator[dict[str, Any]], kind: str) -> dict[str, Any]:
    """Return the next event of this type."""
    async with asyncio.timeout(DEADLINE_S):
        async for event in events:
            if event["type"] == kind:
                return event
    raise AssertionError(f"the stream ended before {kind}")


def _config(changes: dict[str, Any]) -> tuple[SimulatorConfig, Clock]:
    clock = Clock()
    return replace(SimulatorConfig(clock=clock, retry_scale=0.01), **changes), clock


async def _events_of(lines: AsyncIterator[str]) -> AsyncIterator[dict[str, Any]]:
    number = 0
    async for line in lines:
        name, _, value = line.partition(": ")
        if name == "id":
            number = int(value)
        elif name == "data":
            yield json.loads(value) | {"id": number}


async def _read_post(reader: asyncio.StreamReader) -> Post | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    except asyncio.IncompleteReadError:
        return None
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:])}
    body = await reader.readexactly(int(headers["content-length"]))
    return Post(at=time.monotonic(), headers=headers, body=json.loads(body))
