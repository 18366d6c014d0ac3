"""Requests to Chat Completions as the endpoint receives them, and streams in pieces of any size."""

import asyncio
import base64
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.agent.model import PromptMessage
from bot.agent.openai_model import open_openai_model
from bot.agent.openai_stream import EventStream

STREAM = (
    b": a comment\r\n\r\n"
    b'event: message\ndata: {"a": 1}\n\n'
    b'data:{"b":\ndata: 2}\r\n\r\n'
    b"id: 7\rdata: three\r\r\n"
    b"data: [DONE]\n\n"
)
EVENTS = [b'{"a": 1}', b'{"b":\n2}', b"three", b"[DONE]"]


@given(st.lists(st.integers(0, len(STREAM)), max_size=8).map(sorted))
def test_events_are_the_same_however_the_stream_is_divided(cuts: list[int]) -> None:
    events = EventStream()
    received = [
        event
        for start, end in zip([0, *cuts], [*cuts, len(STREAM)], strict=True)
        for event in events.feed(STREAM[start:end])
    ]
    assert received == EVENTS


def test_an_event_without_its_end_is_not_complete() -> None:
    assert EventStream().feed(b'data: {"a": 1}\n') == []


@dataclass(slots=True)
class Endpoint:
    """An endpoint that ends each stream a moment after [DONE]. It records connections and the heads of requests."""

    port: int = 0
    connections: int = 0
    heads: list[str] = field(default_factory=list[str])

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                self.heads.append(head)
                length = head.lower().partition("content-length: ")[2].partition("\r")[0]
                await reader.readexactly(int(length))
                chunk = b'{"choices": [{"delta": {"content": "Hi"}, "finish_reason": "stop"}]}'
                event = b"data: %s\n\ndata: [DONE]\n\n" % chunk
                writer.write(
                    b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n%x\r\n%s\r\n" % (len(event), event)
                )
                await writer.drain()
                await asyncio.sleep(0)
                writer.write(b"0\r\n\r\n")
        except asyncio.IncompleteReadError:
            writer.close()


@asynccontextmanager
async def endpoint() -> AsyncGenerator[Endpoint]:
    told = Endpoint()
    async with await asyncio.start_server(told.serve, "127.0.0.1", 0) as server:
        told.port = server.sockets[0].getsockname()[1]
        yield told


async def ask(base_url: str, *, times: int = 1) -> None:
    async with open_openai_model(model="m", api_key="sk-key", base_url=base_url) as model:
        for _ in range(times):
            reply = await model.chat([PromptMessage(role="user", text="Hello")], ())
            assert reply.text == "Hi"


async def test_a_request_has_the_key_and_the_account_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
    async with endpoint() as server:
        await ask(f"http://127.0.0.1:{server.port}/v1/")

    (head,) = server.heads
    assert head.startswith("POST /v1/chat/completions HTTP/1.1\r\n")
    for line in ("authorization: bearer sk-key", "openai-organization: org-1", "openai-project: proj-1"):
        assert f"\r\n{line}\r\n" in head.lower()


async def test_credentials_of_the_base_url_take_the_place_of_the_key() -> None:
    async with endpoint() as server:
        await ask(f"http://anna:p%40ss@127.0.0.1:{server.port}/v1")

    assert f"authorization: Basic {base64.b64encode(b'anna:p@ss').decode()}" in server.heads[0]
    assert "sk-key" not in server.heads[0]


async def test_a_connection_is_used_again_after_the_end_of_a_stream() -> None:
    async with endpoint() as server:
        await ask(f"http://127.0.0.1:{server.port}/v1", times=3)

    assert (len(server.heads), server.connections) == (3, 1)
