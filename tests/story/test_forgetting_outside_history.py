"""Stories of /forget for messages outside the history, of which other records exist."""

import asyncio

import pytest

from bot.turn import answer
from tests.scripted_replies import Reply, held, text
from tests.scripted_script import ChatRequest
from tests.story.expected import english
from tests.story.harness import BEN, CHIARA, WEEKEND, Json, Story, StoryStores, receipt_of, running_bot

CANARY = "quokka"
DOCUMENT = f"a {CANARY} is a marsupial. ".encode() * 400
"""Too long to stand in a prompt as a whole: it is kept as an artifact."""


async def _forget(bot: Story, message: Json, *, by: int, chat: int) -> str:
    asked = await bot.say(by, "/forget", chat=chat, reply_to=message["message_id"])
    return receipt_of(await bot.wait_for_reply(asked))


async def test_overheard_talk_is_forgotten_by_its_speaker_only(stores: StoryStores) -> None:
    async with running_bot(stores, privacy_mode=False) as bot:
        secret = await bot.say(BEN, f"between us, {CANARY}", chat=WEEKEND)
        await bot.wait_until_finished(1)
        assert await bot.keys_with(CANARY) != []

        assert await _forget(bot, secret, by=CHIARA, chat=WEEKEND) == english("others-message")
        receipt = await _forget(bot, secret, by=BEN, chat=WEEKEND)

        assert receipt == (
            f"{english('receipt-proven')}\n{english('forgotten-unkept')}\n\n"
            "Erased: 1 message that wasn't meant for me."
        )
        await bot.wait_until_idle()
        assert await bot.keys_with(CANARY) == []
        assert await _forget(bot, secret, by=BEN, chat=WEEKEND) == english("not-kept")


async def test_quotations_of_an_unknown_message_are_forgotten_with_it(stores: StoryStores) -> None:
    async with running_bot(stores, [text("my commands")]) as bot:
        helped = await bot.wait_for_reply(await bot.say(BEN, "/help"))
        await bot.wait_for_reply(await bot.say(BEN, "what is that", reply_to=helped["message_id"]))
        assert await bot.keys_with("still search the old ones") != []

        receipt = await _forget(bot, helped, by=BEN, chat=BEN)

        assert receipt.endswith("Erased: 1 quotation.")
        assert await bot.keys_with("still search the old ones") == []
        assert [line for line, _ in await bot.lines(BEN)] == ["user", "assistant"]


async def test_the_document_of_a_failed_turn_is_forgotten_with_its_message(
    stores: StoryStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def break_down(*_: object, **__: object) -> None:
        raise RuntimeError("a bug")

    async with running_bot(stores) as bot:
        with monkeypatch.context() as broken:
            broken.setattr(answer, "run_agent", break_down)
            sent = await bot.people.document(BEN, DOCUMENT, name="report.txt", caption="read this")
            await bot.wait_until_finished(1)
            await bot.wait_for_reply(sent)  # the apology
        assert (await bot.records())[0]["state"] == "dead"
        assert await bot.keys_with(CANARY) != []

        assert await _forget(bot, sent, by=BEN, chat=BEN) == english("forgotten-unanswered")

        await bot.wait_until_idle()
        assert await bot.keys_with(CANARY) == []


async def test_the_document_of_a_restarted_turn_is_forgotten_with_its_message(stores: StoryStores) -> None:
    never = asyncio.Event()

    def script(request: ChatRequest) -> Reply:
        return held(text("late"), until=never) if "second" in str(request["messages"][-1]) else text("Noted.")

    async with running_bot(stores, script) as bot:
        sent = await bot.people.document(BEN, DOCUMENT, name="report.txt", caption="first")
        await bot.wait_for_reply(sent)
        await bot.people.edit(sent, "second")
        await bot.wait_for_prompts(2)
        await bot.people.edit(sent, "third")
        await bot.wait_until_finished(3)

        assert "1 saved document or result" in await _forget(bot, sent, by=BEN, chat=BEN)

        await bot.wait_until_idle()
        assert await bot.keys_with(CANARY) == []
        never.set()
