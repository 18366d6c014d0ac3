"""People who open the memory page of a story's bot, over HTTP, with data that are signed as Telegram signs them."""

import json
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import httpx

from bot.agent.agents_file import Options
from bot.app.page import open_page_api
from bot.app.stores import IntakeStores
from bot.features.parts import Models, Outside
from bot.page.api import PageApi, PageApp
from bot.transport.gating import BotIdentity
from bot.transport.migrations import Migrations
from bot.transport.page_links import PagePlace, sign_place
from bot.transport.people import Guests
from bot.transport.telegram_api import open_files, open_telegram
from tests.contract.simulator_rig import Clock
from tests.local_http import local_client
from tests.page_http import hash_of, serve_page
from tests.story.harness import BOT, DEADLINE_S, Json, Story, make_ref


def sign_init_data(person: int, *, token: str, now: float | None = None, **fields: str) -> str:
    """Return initData of a person."""
    user = json.dumps({"id": person, "first_name": "Somebody", "language_code": "en"})
    fields = {"user": user, "auth_date": str(int(time.time() if now is None else now)), **fields}
    return urlencode({**fields, "hash": hash_of(fields, token)})


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

    async def delete(self, path: str) -> httpx.Response:
        """DELETE a path of the API."""
        return await self.http.delete(f"/app/api/{path}", headers=dict(self.headers))

    async def do(self, path: str, body: Mapping[str, Any] | None = None) -> Json:
        """Return the document of a POST that succeeds."""
        answer = await self.send(path, body)
        assert answer.status_code == 200, answer.text
        return answer.json()


@asynccontextmanager
async def visiting(
    bot: Story, person: int, *, group: int | None = None, thread: int | None = None, link: str = ""
) -> AsyncGenerator[Visit]:
    """Open the page as a person, by the signed link of a group if one is named, or by this signed link."""
    token = bot.settings.token
    headers = {"Authorization": f"tma {sign_init_data(person, token=token)}"}
    if group is not None:
        link = sign_place(PagePlace(chat_id=group, thread_id=thread), token)
    if link:
        headers["Mnemogram-Link"] = link
    async with local_client(bot.http_url, timeout_s=DEADLINE_S) as http:
        yield Visit(http=http, headers=headers)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageServer:
    """The page of a process that only takes updates, beside the bot. `clock` is its time."""

    http: httpx.AsyncClient
    api: PageApi
    clock: Clock
    token: str

    def visit(self, person: int, *, group: int | None = None, token: str = "") -> Visit:
        """Return a window of this person; `token` is that of the bot for which the data were signed."""
        init_data = sign_init_data(person, token=token or self.token, now=self.clock())
        headers = {"Authorization": f"tma {init_data}"}
        if group is not None:
            headers["Mnemogram-Link"] = sign_place(PagePlace(chat_id=group), self.token)
        return Visit(http=self.http, headers=headers)


@asynccontextmanager
async def page_server(bot: Story, **changes: Any) -> AsyncGenerator[PageServer]:
    """Serve the page on the bot's stores, as `mnemogram serve` does, with these settings changed."""
    settings, clock = bot.settings.model_copy(update=changes), Clock()

    async with AsyncExitStack() as stack:
        telegram = await stack.enter_async_context(
            open_telegram(token=settings.token, api_url=settings.telegram_api_url)
        )
        files = open_files(telegram.find_file, token=settings.token, api_url=settings.telegram_api_url)
        stores = IntakeStores(
            redis=bot.redis,
            guests=Guests(bot.redis, clock=clock),
            migrations=Migrations(bot.redis, clock=clock),
        )
        outside = Outside(
            stack=stack,
            telegram=telegram,
            files=await stack.enter_async_context(files),
            bot=BotIdentity(id=BOT, username="mnemogram_bot"),
            models=Models(chat={}, summary=None),
        )
        page = PageApp()
        page.publish()
        page.api = await stack.enter_async_context(
            open_page_api(settings, stores, outside, Options(), clock=clock)
        )
        server = await stack.enter_async_context(serve_page(page))
        http = await stack.enter_async_context(local_client(server.origin, timeout_s=DEADLINE_S))
        yield PageServer(http=http, api=page.api, clock=clock, token=settings.token)


def context_of(chat: int, thread: int | None = None) -> str:
    """Return the id of a chat's context."""
    return make_ref(chat, thread).context_id
