"""Words that an edit replaced, or that nothing keeps, count as erased: so they leave the embedded store's files."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from memory import keys
from tests.scripted_replies import Reply, held, text
from tests.scripted_script import ChatRequest, last_user_text
from tests.story.harness import BEN, WEEKEND, Story, StoryStores, running_bot

Act = Callable[[Story], Awaitable[object]]
HELD = "held"


async def _edit_the_last(bot: Story) -> None:
    said = await bot.say(BEN, "my code is 4711")
    await bot.wait_for_reply(said)
    await bot.wait_until_idle()
    await _count_from_here(bot)
    await bot.people.edit(said, "my code is secret")


async def _edit_an_older(bot: Story) -> None:
    said = await bot.say(BEN, "my code is 4711")
    await bot.wait_for_reply(said)
    await bot.ask(BEN, "hello")
    await bot.wait_until_idle()
    await _count_from_here(bot)
    await bot.people.edit(said, "my code is secret")


async def _edit_a_waiting(bot: Story) -> None:
    await bot.say(BEN, HELD)
    await bot.wait_for_prompts(1)
    said = await bot.say(BEN, "my code is 4711")
    await _count_from_here(bot)
    await bot.people.edit(said, "my code is secret")
    await bot.wait_for_waiting(3)


async def _edit_overheard_talk(bot: Story) -> None:
    said = await bot.say(BEN, "my code is 4711", chat=WEEKEND)
    await bot.wait_until_finished(1)
    await bot.people.edit(said, "my code is secret")
    await bot.wait_until_finished(2)


async def _ask_inline(bot: Story) -> None:
    asked = await bot.page("inline_queries", {"chat_id": WEEKEND, "from_id": BEN, "query": "who is 4711?"})
    (result,) = asked["results"]
    chosen = {"inline_query_id": asked["inline_query_id"], "result_id": result["id"]}
    await bot.page("inline_results", {"chat_id": WEEKEND, "from_id": BEN} | chosen)
    await bot.wait_for_prompts(1)


async def _send_an_argument(bot: Story) -> None:
    await bot.ask(BEN, "/timezone of my safe, 4711")


async def _count_from_here(bot: Story) -> None:
    await bot.redis.call("SET", keys.partition_key(0, "erasures"), 0)


@pytest.mark.parametrize(
    "act",
    [_edit_the_last, _edit_an_older, _edit_a_waiting, _edit_overheard_talk, _ask_inline, _send_an_argument],
)
async def test_replaced_and_unkept_words_count_as_erased(stores: StoryStores, act: Act) -> None:
    answer = asyncio.Event()

    def script(request: ChatRequest) -> Reply:
        return held(text("yes"), until=answer) if last_user_text(request) == HELD else text("yes")

    async with running_bot(stores, script, inline=True, is_pushed=True, privacy_mode=False) as bot:
        await bot.wait_until_down()
        await act(bot)
        answer.set()

        async def are_gone() -> bool:
            counted = int(await bot.redis.call("GET", keys.partition_key(0, "erasures")) or 0)
            return counted > 0 and await bot.keys_with("4711") == []

        await bot.wait_until_true(are_gone)
