"""Erased and replaced words leave the files under DATA_DIR within a minute, wherever they were erased."""

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from chaos.rig.store_scan import file_words
from memory.embedded.supervisor import open_index_server
from memory.embedded.valkey import open_valkey
from memory.redis.client import open_redis
from tests.scripted_replies import Reply, held, text
from tests.scripted_script import ChatRequest, last_user_text
from tests.story.harness import (
    BEN,
    IDEAS,
    OLGA,
    WEEKEND,
    WORKSHOP,
    Story,
    StoryStores,
    buttons_of,
    running_bot,
)
from tests.story.page_visits import context_of, visiting
from tests.story.test_page_forgetting import messages_of

CANARY = "quokka"
SAID = f"@mnemogram_bot my secret is {CANARY}"
HELD, REPEAT = "held", "repeat"
WITHIN_S = 60.0


class Model:
    """Repeats what begins with REPEAT, and nothing else. Its answer to HELD waits for `release`."""

    def __init__(self) -> None:
        self.release = asyncio.Event()

    def __call__(self, request: ChatRequest) -> Reply:
        said = last_user_text(request)
        answer = text(said if said.startswith(REPEAT) else "Noted.")
        return held(answer, until=self.release) if said == HELD else answer


Act = Callable[[Story, Model], Awaitable[object]]
"""Says the canary and erases it. It says it in a way that shows that the search of the files finds it."""


async def _forget(bot: Story, _: Model) -> None:
    said = await bot.say(BEN, SAID)
    await bot.wait_for_reply(said)
    await bot.wait_for_reply(await bot.say(BEN, "/forget", reply_to=said["message_id"]))


async def _forget_the_answers_too(bot: Story, _: Model) -> None:
    said = await bot.say(BEN, f"{REPEAT} {CANARY}")
    await bot.wait_for_reply(said)
    receipt = await bot.wait_for_reply(await bot.say(BEN, "/forget", reply_to=said["message_id"]))
    await bot.people.press(BEN, receipt, buttons_of(receipt)[0])
    await bot.wait_for_receipt(receipt)


async def _edit_the_last(bot: Story, _: Model) -> None:
    said = await bot.say(BEN, SAID)
    await bot.wait_for_reply(said)
    await bot.people.edit(said, "my secret is mine")
    await bot.wait_for_prompts(2)


async def _edit_a_waiting(bot: Story, model: Model) -> None:
    await bot.say(BEN, HELD)
    await bot.wait_for_prompts(1)
    said = await bot.say(BEN, SAID)
    await bot.people.edit(said, "my secret is mine")
    await bot.wait_for_waiting(3)
    model.release.set()


async def _edit_an_older(bot: Story, _: Model) -> None:
    said = await bot.say(BEN, SAID)
    await bot.wait_for_reply(said)
    await bot.ask(BEN, "hello")
    await bot.people.edit(said, "my secret is mine")


async def _edit_overheard_talk(bot: Story, _: Model) -> None:
    said = await bot.say(BEN, f"the word is {CANARY}", chat=WEEKEND)
    await bot.wait_until_finished(1)
    await bot.people.edit(said, "the word is mine")


async def _ask_inline(bot: Story, _: Model) -> None:
    asked = await bot.page("inline_queries", {"chat_id": WEEKEND, "from_id": BEN, "query": CANARY})
    (result,) = asked["results"]
    chosen = {"inline_query_id": asked["inline_query_id"], "result_id": result["id"]}
    await bot.page("inline_results", {"chat_id": WEEKEND, "from_id": BEN} | chosen)
    await bot.wait_for_prompts(1)


async def _reset(bot: Story, _: Model) -> None:
    await bot.ask(BEN, SAID)
    await bot.reset(BEN)


async def _reset_all(bot: Story, _: Model) -> None:
    for thread in (IDEAS, None):
        await bot.ask(OLGA, SAID, chat=WORKSHOP, thread=thread)
    await bot.reset(OLGA, "all", chat=WORKSHOP)


async def _forget_on_the_page(bot: Story, _: Model) -> None:
    await bot.ask(BEN, SAID)
    async with visiting(bot, BEN) as page:
        ids = await messages_of(page, BEN)
        await page.do(f"contexts/{context_of(BEN)}/forget", {"message_ids": ids[:1]})


async def _reset_on_the_page(bot: Story, _: Model) -> None:
    await bot.ask(BEN, SAID)
    async with visiting(bot, BEN) as page:
        await page.do(f"contexts/{context_of(BEN)}/reset")


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncGenerator[StoryStores]:
    async with (
        open_valkey(tmp_path) as redis_url,
        open_index_server(tmp_path) as index,
        open_redis(redis_url) as redis,
    ):
        yield StoryStores(redis=redis, redis_url=redis_url, index=index)


@pytest.mark.parametrize(
    "act",
    [
        _forget,
        _forget_the_answers_too,
        _edit_the_last,
        _edit_a_waiting,
        _edit_an_older,
        _edit_overheard_talk,
        _ask_inline,
        _reset,
        _reset_all,
        _forget_on_the_page,
        _reset_on_the_page,
    ],
)
async def test_erased_words_leave_the_files_within_a_minute(
    stores: StoryStores, tmp_path: Path, act: Act, record_property: Callable[[str, object], None]
) -> None:
    model, seen = Model(), asyncio.Event()

    async def files_with_it() -> set[str]:
        found = await asyncio.to_thread(file_words, [tmp_path], re.compile(CANARY.encode()))
        return {name for names in found.values() for name in names}

    async def watch() -> None:
        while not await files_with_it():  # noqa: ASYNC110 - files do not notify
            await asyncio.sleep(0.01)
        seen.set()

    embedded: dict[str, Any] = {
        "redis_url": None,
        "qdrant_url": None,
        "qdrant_api_key": None,
        "data_dir": tmp_path,
    }
    async with running_bot(stores, model, inline=True, is_pushed=True, privacy_mode=False, **embedded) as bot:
        await bot.wait_until_down()
        watching = asyncio.create_task(watch())
        await act(bot, model)
        await seen.wait()  # otherwise the search would find nothing after the erasure either
        await watching
        await bot.wait_until_idle()
        last = time.monotonic()
        while left := await files_with_it():
            assert time.monotonic() - last < WITHIN_S, left
            await asyncio.sleep(0.3)
        record_property("seconds until the files are clean", round(time.monotonic() - last, 1))
