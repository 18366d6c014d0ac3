"""Stories of groups that become supergroups: the id changes, the memory stays."""

import asyncio

import pytest

from memory import keys
from tests.scripted_replies import Reply, held
from tests.scripted_script import ChatRequest, echo, last_user_text
from tests.story.expected import english
from tests.story.harness import BEN, OLGA, WEEKEND, StoryStores, make_ref, running_bot
from tests.story.prompts import prompt_texts

CANARY = "quokka"


@pytest.mark.parametrize("order", ["old_first", "new_first"])
async def test_the_memory_stays_with_either_message_first(stores: StoryStores, order: str) -> None:
    async with running_bot(stores) as bot:
        first = await bot.say(BEN, f"@mnemogram_bot the word is {CANARY}", chat=WEEKEND)
        await bot.wait_for_reply(first)
        new = await bot.people.upgrade(WEEKEND, by=OLGA, order=order)
        await bot.wait_until_finished(3)
        await bot.ask(BEN, "@mnemogram_bot what is the word?", chat=new)

        assert CANARY in str(prompt_texts(bot.prompts()[-1])[:-1])
        assert len(await bot.lines(WEEKEND)) == 4
        assert bot.said_in(new)[0].endswith("what is the word?")
        assert len(bot.said_in(new)) == 1
        assert [r["reason"] for r in await bot.records()][1:3] == ["migration", "migration"]


async def test_a_message_of_the_supergroup_never_replaces_one_of_the_group(stores: StoryStores) -> None:
    async with running_bot(stores, operator_ids="9999") as bot:
        kept = await bot.say(BEN, f"@mnemogram_bot the word is {CANARY}", chat=WEEKEND)
        await bot.wait_for_reply(kept)
        new = await bot.people.upgrade(WEEKEND, by=OLGA)
        await bot.wait_until_finished(3)

        forget = await bot.say(OLGA, "/forget", chat=new, reply_to=None)
        await bot.wait_for_reply(forget)

        assert (
            await bot.redis.call("HGET", keys.context_key(make_ref(WEEKEND), "telegram"), kept["message_id"])
            is None
        )
        assert len(await bot.lines(WEEKEND)) == 2


async def test_an_answer_written_during_a_migration_goes_to_the_new_id(stores: StoryStores) -> None:
    moved = asyncio.Event()

    def script(request: ChatRequest) -> Reply:
        reply = echo(request)
        return held(reply, until=moved) if "wait" in last_user_text(request) else reply

    async with running_bot(stores, script, streaming=False) as bot:
        await bot.say(BEN, f"@mnemogram_bot wait for the {CANARY}", chat=WEEKEND)
        await bot.wait_for_prompts(1)
        new = await bot.people.upgrade(WEEKEND, by=OLGA)
        moved.set()
        await bot.wait_until(lambda: len(bot.said_in(new)) == 1)

        assert bot.said_in(new)[0].endswith(f"wait for the {CANARY}")
        assert bot.said_in(WEEKEND) == []
        await bot.ask(BEN, "@mnemogram_bot and now?", chat=new)
        assert len(await bot.lines(WEEKEND)) == 4


async def test_a_reset_works_with_either_id(stores: StoryStores) -> None:
    async with running_bot(stores, partitions=4, privacy_mode=False) as bot:
        new = await bot.people.upgrade(WEEKEND, by=OLGA)
        for number in (WEEKEND, new):
            await bot.ask(BEN, f"@mnemogram_bot the word is {CANARY}", chat=new)
            await bot.say(BEN, f"between us: {CANARY}", chat=new)

            receipt = await bot.ask(OLGA, f"/reset {number}")

            assert english("count-messages", count=2) in receipt
            assert await bot.keys_with(CANARY) == []
