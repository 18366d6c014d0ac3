"""The bot on an independent Bot API: telemelya writes the updates and records the bot's calls."""

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.app.service import run_service
from bot.settings import WEBHOOK_PATH
from bot.transport.http_server import serve_http
from chaos.rig.system import free_port
from memory.embedded.supervisor import IndexEndpoint
from memory.redis.client import RedisClient
from tests.scripted_openai import scripted_openai
from tests.scripted_replies import call, calls, text
from tests.stores import plain_valkey
from tests.story.harness import StoryStores, story_settings

T = TypeVar("T")

TOKEN = "123456789:telemelya-token-not-a-secret"
CHAT, PERSON = 12345, {"id": 12345, "first_name": "Ana", "username": "ana"}
DEADLINE_S = 20.0
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Telemelya:
    """The running server with its control API."""

    client: httpx.AsyncClient

    async def send(self, **update: Any) -> int:
        """Make telemelya push an update to the webhook. Return the HTTP status."""
        sent = await self._control(
            "POST", "send_update", json={"chat_id": CHAT, "from_user": PERSON, **update}
        )
        return int(sent["delivery"]["status_code"])

    async def wait_for_button(self, word: str) -> str:
        """Return the data of a button that begins with this word."""

        async def data() -> str | None:
            recorded = (await self._control("GET", "responses"))["responses"]
            found = re.search(rf"{word}:[^\"\\]+", json.dumps(recorded))
            return found[0] if found else None

        return await _first_found(data)

    async def calls(self, method: str) -> list[dict[str, Any]]:
        """Return all calls so far, oldest first, except messages with a Stop button or the one of /reset.

        A Stop button exists only while an answer is slow.
        """
        recorded = (await self._control("GET", "responses"))["responses"]
        raw = [each["raw"] for each in recorded if each["method"] == method]
        asking = re.compile(r'"callback_data": "(?:stop|reset)\b')
        return [call for call in raw if not asking.search(json.dumps(call.get("reply_markup")))]

    async def wait_for(self, method: str, *, count: int = 1) -> dict[str, Any]:
        """Return the `count`-th call of this method. Fail after DEADLINE_S."""

        async def nth() -> dict[str, Any] | None:
            return dict(enumerate(await self.calls(method), start=1)).get(count)

        return await _first_found(nth)

    async def wait_for_webhook(self) -> str:
        """Return the address that the bot gave to setWebhook."""

        async def address() -> str:
            return (await self.client.post(f"/bot{TOKEN}/getWebhookInfo")).json()["result"]["url"]

        return await _first_found(address)

    async def _control(self, verb: str, path: str, **request: Any) -> dict[str, Any]:
        answer = await self.client.request(
            verb,
            f"/api/v1/test/{path}",
            params={"bot_token": TOKEN},
            headers={"Authorization": "Bearer any"},
            **request,
        )
        assert answer.status_code == 200, answer.text
        return answer.json()


async def _first_found(look: Callable[[], Awaitable[T | None]]) -> T:
    """Return the first result of `look` that is not empty. Fail after DEADLINE_S."""
    async with asyncio.timeout(DEADLINE_S):
        while True:
            if found := await look():
                return found
            await asyncio.sleep(0.02)


@pytest.fixture
async def telemelya(tmp_path: Path) -> AsyncGenerator[Telemelya]:
    """Run the server as a process with its own Valkey."""
    async with plain_valkey(tmp_path) as redis_url:
        environment = os.environ | {"REDIS_URL": redis_url, "PYTHONPATH": str(ROOT), "AUTH_KEYS": ""}
        server = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.outside.telemelya_server"),
            cwd=tmp_path,
            env=environment,
            stdout=asyncio.subprocess.PIPE,
        )
        assert server.stdout is not None
        try:
            address = (await asyncio.wait_for(server.stdout.readline(), DEADLINE_S)).decode().strip()
            async with httpx.AsyncClient(base_url=address, timeout=DEADLINE_S, trust_env=False) as client:
                yield Telemelya(client=client)
        finally:
            server.terminate()
            await server.wait()


@dataclass(slots=True, kw_only=True)
class Relay:
    """A proxy that adds what telemelya does not send: the secret of setWebhook, and keyboards of pressed messages."""

    address: str
    secret: str = ""


@pytest.fixture
async def relay(
    telemelya: Telemelya, redis: RedisClient, redis_url: str, index_endpoint: IndexEndpoint
) -> AsyncGenerator[Relay]:
    """Run the whole service behind a relay, with telemelya as its Telegram and a scripted model."""
    script = [
        replace(text("**Noted**, `Ana`: see [the list](https://example.com/list)."), chunk_delay_s=0.06),
        calls(call("add", {"a": 2, "b": 3})),
        "It is _five_.",
    ]
    stores = StoryStores(redis=redis, redis_url=redis_url, index=index_endpoint)
    port, stopping = free_port(), asyncio.Event()
    async with scripted_openai(script) as model, _open_relay(port) as relay:
        settings = story_settings(
            stores,
            model_url=model.base_url,
            telegram_url=str(telemelya.client.base_url),
            telegram_bot_token=TOKEN,
            webhook_url=relay.address,
            http_port=port,
        )
        relay.secret = settings.secret
        service = asyncio.create_task(run_service(settings, serve=True, work=True, stopping=stopping))
        try:
            assert await telemelya.wait_for_webhook() == relay.address + WEBHOOK_PATH
            yield relay
        finally:
            stopping.set()
            await service
    assert model.invalid_requests == []


@asynccontextmanager
async def _open_relay(port: int) -> AsyncGenerator[Relay]:
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client:

        async def hand_on(request: Request) -> Response:
            headers = {"X-Telegram-Bot-Api-Secret-Token": relay.secret}
            update = await request.json()
            if press := update.get("callback_query"):
                button = {"text": "pressed", "callback_data": press["data"]}
                press["message"]["reply_markup"] = {"inline_keyboard": [[button]]}
            answer = await client.post(WEBHOOK_PATH, json=update, headers=headers)
            return Response(answer.content, status_code=answer.status_code)

        routes = [Route(WEBHOOK_PATH, hand_on, methods=["POST"])]
        async with serve_http(Starlette(routes=routes)) as server:
            relay = Relay(address=server.origin)
            yield relay


async def test_the_bot_answers_through_an_independent_bot_api(telemelya: Telemelya, relay: Relay) -> None:
    assert await telemelya.send(text="remember: Ana likes figs") == 200
    first = await telemelya.wait_for("sendMessage")
    assert await telemelya.send(text="add 2 and 3") == 200
    second = await telemelya.wait_for("sendMessage", count=2)

    assert (first["chat_id"], first["text"]) == (CHAT, "Noted, Ana: see the list.")
    assert first["entities"] == [
        {"type": "bold", "offset": 0, "length": 5},
        {"type": "code", "offset": 7, "length": 3},
        {"type": "text_link", "offset": 16, "length": 8, "url": "https://example.com/list"},
    ]
    assert (second["text"], second["entities"]) == (
        "It is five.",
        [{"type": "italic", "offset": 6, "length": 4}],
    )
    typing = await telemelya.calls("sendChatAction")
    assert {(each["chat_id"], each["action"]) for each in typing} == {(CHAT, "typing")}


async def test_commands_and_forgetting_work_on_an_independent_bot_api(
    telemelya: Telemelya, relay: Relay
) -> None:
    await telemelya.send(text="remember: Ana likes figs")
    await telemelya.wait_for("sendMessage")

    await telemelya.send(command="/memory")
    kept = await telemelya.wait_for("sendMessage", count=2)
    await telemelya.send(command="/reset")
    button = await telemelya.wait_for_button("reset")
    await telemelya.send(callback_data=button, callback_message_id=1)
    receipt = await telemelya.wait_for("editMessageText")
    await telemelya.send(command="/memory")
    after = await telemelya.wait_for("sendMessage", count=3)

    assert kept["text"].startswith("I remember 2 messages from this chat")
    assert "I checked: nothing is left." in receipt["text"]
    assert after["text"] == "I don't remember anything from this chat."


async def test_an_update_without_the_secret_is_refused_and_not_answered(
    telemelya: Telemelya, relay: Relay
) -> None:
    right, relay.secret = relay.secret, "guessed"

    assert await telemelya.send(text="let me in") == 401

    relay.secret = right
    await telemelya.send(text="remember: Ana likes figs")
    await telemelya.wait_for("sendMessage")
    assert len(await telemelya.calls("sendMessage")) == 1
