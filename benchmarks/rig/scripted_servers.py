"""A scripted Bot API and an OpenAI-compatible streaming model, in one process of their own. Run by whole_turn.py.

`python benchmarks/rig/scripted_servers.py PORT`. `POST /talk` lets people write: each chat gets its next line when the
line before is answered, but at most one in `pause_s` seconds. The response comes after the last answer.
"""

import asyncio
import json
import sys
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from bot.agent.summarizer import summary_fields
from memory.history.summary import SummaryText
from simulator.server import LOOPBACK, listening

REPLY = "You told me about the **garden** and the *lantern*. The rest of it was about the river. "
CHUNKS, CHUNK_PAUSE_S = 12, 0.01
ANSWERED_WITHIN_S = 60.0
_POLL_S = 10.0
_USER = {"is_bot": True, "id": 0, "first_name": "Bot", "username": "mnemogram_bot"}


@dataclass(slots=True)
class Account:
    """One bot's waiting updates, and the answers of its chats."""

    waiting: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])
    has_news: asyncio.Event = field(default_factory=asyncio.Event)
    answered: defaultdict[int, asyncio.Event] = field(default_factory=lambda: defaultdict(asyncio.Event))
    last_update: int = 0
    last_message: int = 0

    def write(self, chat: int, text: str) -> None:
        """Add an update with one message of a private chat."""
        self.last_update += 1
        self.last_message += 1
        person = {"id": chat, "is_bot": False, "first_name": "Anna"}
        message = {
            "message_id": self.last_message,
            "from": person,
            "chat": {"id": chat, "first_name": "Anna", "type": "private"},
            "date": int(time.time()),
            "text": text,
        }
        self.waiting[self.last_update] = {"update_id": self.last_update, "message": message}
        self.has_news.set()

    async def poll(self, offset: int, timeout_s: float) -> list[dict[str, Any]]:
        """Return the updates from `offset` on, which confirms those before it."""
        for update_id in [each for each in self.waiting if each < offset]:
            del self.waiting[update_id]
        if not self.waiting:
            self.has_news.clear()
            try:
                async with asyncio.timeout(min(timeout_s, _POLL_S)):
                    await self.has_news.wait()
            except TimeoutError:
                return []
        return list(self.waiting.values())[:100]


class Servers:
    """The routes. Each token has an account of its own."""

    def __init__(self) -> None:
        self._accounts: defaultdict[str, Account] = defaultdict(Account)

    def app(self) -> Starlette:
        """Build the ASGI app."""
        return Starlette(
            routes=[
                Route("/talk", self._talk, methods=["POST"]),
                Route("/v1/chat/completions", _complete, methods=["POST"]),
                Route("/bot{token}/{method}", self._call, methods=["GET", "POST"]),
            ]
        )

    async def _talk(self, request: Request) -> Response:
        order: dict[str, Any] = await request.json()
        account = self._accounts[order["token"]]
        begun = time.perf_counter()
        async with asyncio.TaskGroup() as people:
            tasks = [
                people.create_task(_converse(account, chat, order, first_at_s=number / len(order["chats"])))
                for number, chat in enumerate(order["chats"])
            ]
        delays = [delay for task in tasks for delay in task.result()]
        return JSONResponse({"seconds": time.perf_counter() - begun, "delays_s": delays})

    async def _call(self, request: Request) -> Response:
        token, method = request.path_params["token"], request.path_params["method"].lower()
        parameters = await call_parameters(request)
        account = self._accounts[token]
        result: Any = True
        if method == "getupdates":
            result = await account.poll(int(parameters.get("offset", 0)), float(parameters.get("timeout", 0)))
        elif method == "getme":
            result = {**_USER, "id": int(token.partition(":")[0])}
        elif method == "getwebhookinfo":
            result = {"url": "", "has_custom_certificate": False, "pending_update_count": 0}
        elif method == "sendmessage":
            result = _send(account, int(parameters["chat_id"]), parameters.get("text", ""))
        return JSONResponse({"ok": True, "result": result})


def _send(account: Account, chat: int, text: str) -> dict[str, Any]:
    account.last_message += 1
    account.answered[chat].set()
    place = {"id": chat, "first_name": "Anna", "type": "private"}
    return {
        "message_id": account.last_message,
        "from": _USER,
        "chat": place,
        "date": int(time.time()),
        "text": text,
    }


async def _converse(account: Account, chat: int, order: dict[str, Any], *, first_at_s: float) -> list[float]:
    """Ask about one old message after another, by words that all stand in its text (rig/instant.py): it is recalled."""
    delays: list[float] = []
    await asyncio.sleep(first_at_s * order["pause_s"])
    for _ in range(order["lines"]):
        answered = account.answered[chat]
        answered.clear()
        begun = time.perf_counter()
        old = (account.last_message * 74) % max(2, order["length"] // 2)
        account.write(chat, f"{old}: garden, river?")
        async with asyncio.timeout(ANSWERED_WITHIN_S):
            await answered.wait()
        delays.append(time.perf_counter() - begun)
        await asyncio.sleep(max(0.0, order["pause_s"] - delays[-1]))
    return delays


async def call_parameters(request: Request) -> dict[str, str]:
    body = await request.body()
    parameters = dict(request.query_params)
    if body.startswith(b"{"):
        return parameters | {name: str(value) for name, value in json.loads(body).items()}
    return parameters | dict(parse_qsl(body.decode()))


async def _complete(request: Request) -> Response:
    body: dict[str, Any] = await request.json()
    if body.get("stream"):
        return StreamingResponse(_stream(), media_type="text/event-stream")
    overview = SummaryText(overview="They talk about a garden. " * 40)
    message = {"role": "assistant", "content": json.dumps(summary_fields(overview))}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return JSONResponse(_chunk("chat.completion", [choice]))


async def _stream() -> AsyncIterator[str]:
    size = -(-len(REPLY) // CHUNKS)
    for start in range(0, len(REPLY), size):
        await asyncio.sleep(CHUNK_PAUSE_S)  # the pace of the model
        delta = {"role": "assistant", "content": REPLY[start : start + size]}
        choice = {"index": 0, "delta": delta, "finish_reason": None}
        yield f"data: {json.dumps(_chunk('chat.completion.chunk', [choice]))}\n\n"
    end = {"index": 0, "delta": {}, "finish_reason": "stop"}
    yield f"data: {json.dumps(_chunk('chat.completion.chunk', [end]))}\n\ndata: [DONE]\n\n"


def _chunk(kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": "c", "object": kind, "created": 0, "model": "scripted", "choices": choices}


async def main() -> None:
    """Serve until the process is ended."""
    async with listening(Servers().app(), host=LOOPBACK, port=int(sys.argv[1])):
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
