"""Stories of inline mode: asked in any chat, answered in place once, with nothing of any chat's memory."""

import asyncio

import pytest

from bot.transport.ingest import inline_ref
from memory import keys
from tests.scripted_replies import held, text
from tests.story.expected import english
from tests.story.harness import BEN, BOT, CHIARA, OLGA, WEEKEND, Json, Story, StoryStores, running_bot

QUESTION = "what is the wifi password?"


async def ask(bot: Story, person: int, question: str = QUESTION, *, chat: int = WEEKEND) -> Json:
    return await bot.page("inline_queries", {"chat_id": chat, "from_id": person, "query": question})


async def choose(bot: Story, person: int, asked: Json, *, chat: int = WEEKEND) -> Json:
    """Choose the one result, and return the person's message as it is sent."""
    (result,) = asked["results"]
    chosen = {"inline_query_id": asked["inline_query_id"], "result_id": result["id"]}
    return await bot.page("inline_results", {"chat_id": chat, "from_id": person} | chosen)


def now(bot: Story, message: Json) -> Json:
    """Return the message as it is shown now."""
    same = [
        event["message"]
        for event in bot.events
        if event["type"] in ("message", "edit")
        and event["message"]["message_id"] == message["message_id"]
        and event["message"]["chat"]["id"] == message["chat"]["id"]
    ]
    return same[-1] if same else message


async def answered(bot: Story, message: Json) -> str:
    """Wait for the answer in place of the message, and return its text without the question."""
    await bot.wait_until(lambda: "reply_markup" not in now(bot, message))
    return now(bot, message)["text"].removeprefix(f"{QUESTION}\n\n")


def edits_of(bot: Story, message: Json) -> int:
    return sum(
        event["type"] == "edit" and event["message"]["message_id"] == message["message_id"]
        for event in bot.events
    )


async def test_a_question_in_a_group_is_answered_in_place_without_any_memory(stores: StoryStores) -> None:
    async with running_bot(stores, inline=True, is_pushed=True) as bot:
        await bot.wait_until_down()
        await bot.ask(BEN, "my secret is amaranth")
        await bot.say(OLGA, "the group's word is begonia", chat=WEEKEND)
        await bot.ask(OLGA, "@mnemogram_bot remember cypress", chat=WEEKEND)
        await bot.ask(CHIARA, "mine is dahlia")
        before = len(bot.prompts())

        asked = await ask(bot, BEN)
        assert len(bot.prompts()) == before  # no model runs before the choice
        sent = await choose(bot, BEN, asked)
        answer = await answered(bot, sent)
        await bot.wait_until_idle()

        assert (sent["from"]["id"], sent["via_bot"]["id"]) == (BEN, BOT)
        assert QUESTION in answer
        (prompt,) = bot.prompts()[before:]
        for word in ("amaranth", "begonia", "cypress", "dahlia"):
            assert word not in str(prompt)
        assert edits_of(bot, sent) == 1
        assert len(bot.said_in(BEN)) == 1
        assert await bot.keys_with("wifi") == []
        assert ("answered", "") in [(each["state"], each.get("reason", "")) for each in await bot.records()]


async def test_with_inline_memory_the_private_chat_of_the_asker_is_remembered(stores: StoryStores) -> None:
    async with running_bot(stores, inline=True, inline_memory=True) as bot:
        await bot.ask(BEN, "my secret is amaranth")
        await bot.ask(OLGA, "@mnemogram_bot remember cypress", chat=WEEKEND)
        await bot.ask(CHIARA, "mine is dahlia")
        before = len(bot.prompts())

        sent = await choose(bot, BEN, await ask(bot, BEN))
        await answered(bot, sent)
        await bot.wait_until_idle()

        (prompt,) = bot.prompts()[before:]
        assert "amaranth" in str(prompt)
        assert "cypress" not in str(prompt)
        assert "dahlia" not in str(prompt)
        assert (await bot.lines(BEN))[-2] == ("user", QUESTION)
        assert len(bot.said_in(BEN)) == 1

        await bot.reset(BEN)
        await bot.wait_until_idle()
        assert await bot.lines(BEN) == []


async def test_a_reset_from_elsewhere_ends_a_running_question_without_its_words(stores: StoryStores) -> None:
    never = asyncio.Event()
    async with running_bot(
        stores,
        lambda _: held(text("It is 1234."), until=never),
        inline=True,
        inline_memory=True,
        operator_ids={OLGA},
    ) as bot:
        sent = await choose(bot, BEN, await ask(bot, BEN))
        await bot.wait_for_prompts(1)

        await bot.ask(OLGA, f"/reset {BEN}")

        assert await answered(bot, sent) == english("inline-erased")
        await bot.wait_until_idle()
        assert await bot.keys_with("wifi") == []
        never.set()


async def test_without_the_setting_no_inline_updates_are_asked_for(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.ask(BEN, "hello")
        assert (await ask(bot, BEN))["results"] == []
        allowed = (await bot.simulator.post(f"/bot{bot.settings.token}/getWebhookInfo")).json()["result"]
        assert "inline_query" not in allowed["allowed_updates"]
        assert "chosen_inline_result" not in allowed["allowed_updates"]


@pytest.mark.slow
async def test_a_crash_between_choice_and_answer_is_answered_once_after_the_restart(
    stores: StoryStores,
) -> None:
    answer = asyncio.Event()
    async with running_bot(stores, lambda _: held(text("It is 1234."), until=answer), inline=True) as bot:
        sent = await choose(bot, BEN, await ask(bot, BEN))
        await bot.wait_for_prompts(1)
        await bot.stop()
        assert "reply_markup" in now(bot, sent)
        box = keys.context_key(inline_ref(BOT, BEN, partitions=1), "box")
        assert await bot.redis.call("ZCARD", box) == 1

        bot.start()
        await bot.wait_for_prompts(2)
        answer.set()
        assert await answered(bot, sent) == "It is 1234."
        await bot.wait_until_idle()
        assert edits_of(bot, sent) == 1


async def test_a_stranger_gets_no_result_and_one_who_lost_access_a_sentence(stores: StoryStores) -> None:
    async with running_bot(stores, inline=True, allowed_user_ids={BEN}) as bot:
        assert (await ask(bot, CHIARA))["results"] == []
        asked = await ask(bot, BEN)
        await bot.stop()
        bot.settings = bot.settings.model_copy(update={"allowed_user_ids": frozenset({OLGA})})
        sent = await choose(bot, BEN, asked)
        bot.start()

        assert await answered(bot, sent) == english("refused")
        assert bot.prompts() == []


async def test_a_limit_ends_as_a_sentence_in_place_of_the_answer(stores: StoryStores) -> None:
    async with running_bot(stores, inline=True, user_messages_per_minute=1) as bot:
        await bot.ask(BEN, "hello")
        await bot.ask(BEN, "hello again")  # the private chat was told already
        sent = await choose(bot, BEN, await ask(bot, BEN))
        assert (await answered(bot, sent)).startswith(english("limit-user-messages", limit=1, wait="x")[:20])


async def test_a_long_answer_is_cut_with_a_sentence(stores: StoryStores) -> None:
    async with running_bot(stores, lambda _: text("word " * 3000), inline=True) as bot:
        sent = await choose(bot, BEN, await ask(bot, BEN))
        answer = await answered(bot, sent)
        assert answer.endswith(english("inline-cut"))
        assert len(now(bot, sent)["text"]) <= 4096
        assert edits_of(bot, sent) == 1
