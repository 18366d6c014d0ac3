"""A model endpoint that thinks for a moment and answers with the marks of what it was asked, each kept whole."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from bot.transport.http_server import serve_http
from simulator.offline_model.prompt import text_of

THINKS_S = 0.5
LONG_UNITS = 6_000
"""Of an answer that needs two messages."""

MARK = re.compile(r"line \d+ of chat \d+(?: at length)?\b")


def answer_to(mark: str) -> str:
    """Return the reply to a line. A line with "at length" gets one that no message can hold, with the mark at its end."""
    if "at length" not in mark:
        return f"**heard** {mark}"
    return "so be it\n\n" + "word " * (LONG_UNITS // 5) + f"\n\nheard {mark}"


@asynccontextmanager
async def echo_model() -> AsyncGenerator[str]:
    """Its base URL, until the block ends."""
    app = Starlette(routes=[Route("/v1/chat/completions", _complete, methods=["POST"])])
    async with serve_http(app) as server:
        yield f"{server.origin}/v1"


async def _complete(request: Request) -> StreamingResponse:
    body: dict[str, Any] = await request.json()
    return StreamingResponse(_stream(body["messages"]), media_type="text/event-stream")


async def _stream(messages: list[dict[str, Any]]) -> AsyncIterator[str]:
    await asyncio.sleep(THINKS_S)
    last = max((at for at, each in enumerate(messages) if each["role"] == "assistant"), default=-1)
    asked = [text_of(each) for each in messages[last + 1 :] if each["role"] == "user"]
    marks = [match[0] for text in asked for match in MARK.finditer(text)]
    said = "\n\n".join(answer_to(mark) for mark in dict.fromkeys(marks)) or "nothing"
    for delta in ({"role": "assistant", "content": said}, {}):
        choice = {"index": 0, "delta": delta, "finish_reason": None if delta else "stop"}
        chunk = {
            "id": "c",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": "echo",
            "choices": [choice],
        }
        yield f"data: {json.dumps(chunk)}\n\n"
    yield "data: [DONE]\n\n"
