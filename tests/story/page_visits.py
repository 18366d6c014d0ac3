"""People who open the memory page of a story's bot, over HTTP, with data that are signed as Telegram signs them."""

import hashlib
import hmac
import json
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import httpx

from bot.transport.page_links import PagePlace, sign_place
from tests.local_http import local_client
from tests.story.harness import DEADLINE_S, Json, Story, make_ref


def sign_init_data(person: int, *, token: str, now: float | None = None, **fields: str) -> str:
    """Return initData of a person, written down independently of our code."""
    user = json.dumps({"id": person, "first_name": "Somebody", "language_code": "en"})
    fields = {"user": user, "auth_date": str(int(time.time() if now is None else now)), **fields}
    secret = hmac.new(b"WebAppData", token.encode(), hashlib.sha256).digest()
    lines = "\n".join(sorted(f"{name}={value}" for name, value in fields.items()))
    return urlencode({**fields, "hash": hmac.new(secret, lines.encode(), hashlib.sha256).hexdigest()})


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """One window with the page."""

    http: httpx.AsyncClient
    headers: Mapping[str, str]

    async def ask(self, path: str, **query: str | int) -> httpx.Response:
        """GET a path of the API."""
        return await self.http.get(f"/app/api/{path}", params=query, headers=dict(self.headers))

    async def read(self, path: str, **query: str | int) -> Json:
        """Return the document of a GET that succeeds."""
        answer = await self.ask(path, **query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def send(self, path: str, body: Mapping[str, Any] | None = None) -> httpx.Response:
        """POST to a path of the API."""
        return await self.http.post(f"/app/api/{path}", json=body or {}, headers=dict(self.headers))

    async def do(self, path: str, body: Mapping[str, Any] | None = None) -> Json:
        """Return the document of a POST that succeeds."""
        answer = await self.send(path, body)
        assert answer.status_code == 200, answer.text
        return answer.json()


@asynccontextmanager
async def visiting(
    bot: Story, person: int, *, group: int | None = None, thread: int | None = None
) -> AsyncGenerator[Visit]:
    """Open the page as a person, by the signed link of a group if one is named."""
    token = bot.settings.token
    headers = {"Authorization": f"tma {sign_init_data(person, token=token)}"}
    if group is not None:
        headers["Mnemogram-Link"] = sign_place(PagePlace(chat_id=group, thread_id=thread), token)
    async with local_client(bot.http_url, timeout_s=DEADLINE_S) as http:
        yield Visit(http=http, headers=headers)


def context_of(chat: int, thread: int | None = None) -> str:
    """Return the id of a chat's context."""
    return make_ref(chat, thread).context_id
