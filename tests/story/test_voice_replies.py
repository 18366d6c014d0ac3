"""Stories of spoken answers: voice messages with their text, /voice, limits, and every reason to write instead."""

import asyncio
from time import time
from typing import Any

import pytest

from bot.features.voice import speech
from bot.turn.answer_receipt import load_receipts
from bot.turn.store import TurnStore
from memory import keys
from tests.scripted_replies import Failure, slow
from tests.scripted_speech import Speech
from tests.sent_files import make_voice_note
from tests.story.expected import english
from tests.story.harness import (
    BEN,
    IDEAS,
    OLGA,
    WEEKEND,
    WORKSHOP,
    Json,
    Story,
    StoryStores,
    buttons_of,
    make_ref,
    running_bot,
)
from tests.story.test_inline import QUESTION, answered, ask, choose
from tests.story.test_stop_buttons import answer_to

pytestmark = pytest.mark.slow

SPEAKING: dict[str, Any] = {"openai_speech_model": "speak-1", "voice_replies": "always"}
MARKDOWN = (
    "# Plan\n\n- **Buy** [three lemons](https://a.example)\n\n```py\nprint(1)\n```\n\nSee https://a.example"
)
READ_ALOUD = "Plan\n\nBuy three lemons\n\nSee"


async def voice_to(bot: Story, message: Json) -> Json:
    """Return the reply, which must be a voice message with the real bytes of the endpoint."""
    reply = await bot.wait_for_reply(message)
    assert reply["voice"]["mime_type"] == "audio/ogg", reply
    file = await bot.simulator.get(f"/api/files/{reply['voice']['file_id']}")
    assert file.content.startswith(b"OggS")
    assert b"OpusHead" in file.content
    return reply


def spoken(bot: Story) -> list[str]:
    return [request.body["input"] for request in bot.model.speech_requests]


async def kept_files(bot: Story, chat: int = BEN) -> int:
    await bot.wait_until_idle()
    return int(await bot.redis.call("EXISTS", keys.context_key(make_ref(chat), "files")))


async def test_an_answer_is_a_voice_message_with_its_text_below(stores: StoryStores) -> None:
    async with running_bot(stores, [MARKDOWN], **SPEAKING) as bot:
        reply = await voice_to(bot, await bot.say(BEN, "what now?"))

        assert reply["caption"].startswith("Plan\n\n• Buy three lemons")
        (request,) = bot.model.speech_requests
        assert (request.body["model"], request.body["response_format"]) == ("speak-1", "opus")
        assert request.body["input"] == READ_ALOUD
        assert (await bot.lines(BEN))[-1] == ("assistant", MARKDOWN)
        assert await kept_files(bot) == 0
        forgotten = await bot.say(BEN, "/forget", reply_to=reply["message_id"])
        await bot.wait_for_reply(forgotten)
        assert [role for role, _ in await bot.lines(BEN)] == ["user"]


async def test_a_text_beyond_a_caption_follows_the_voice_message(stores: StoryStores) -> None:
    long = " ".join(["word"] * 300)
    async with running_bot(stores, [long], **SPEAKING) as bot:
        reply = await voice_to(bot, await bot.say(BEN, "tell me"))
        await bot.wait_until_idle()

        assert "caption" not in reply
        assert bot.said_in(BEN) == ["", long]


async def test_by_default_answers_are_texts_and_a_voice_choice_is_kept_for_the_chat(
    stores: StoryStores,
) -> None:
    hearing: dict[str, Any] = {"openai_transcription_model": "hear-1", "openai_speech_model": "speak-1"}
    async with running_bot(stores, **hearing) as bot:
        assert "text" in await bot.wait_for_reply(await bot.people.voice(BEN))
        shown = await bot.wait_for_reply(await bot.say(BEN, "/voice"))
        assert shown["text"].startswith(english("voice-current", choice="never"))
        await answer_to(bot, await bot.people.press(BEN, shown, buttons_of(shown)[1]))

        await voice_to(bot, await bot.people.voice(BEN))
        assert await bot.ask(BEN, "written") == "echo: written"
        await bot.ask(BEN, "/new")
        assert (await bot.ask(BEN, "/voice always")).startswith(english("voice-current", choice="always"))
        await voice_to(bot, await bot.say(BEN, "written"))
        assert (await bot.ask(OLGA, "elsewhere")) == "echo: elsewhere"
        await bot.reset(BEN)
        assert await bot.ask(BEN, "after") == "echo: after"


async def test_only_administrators_choose_and_each_topic_has_its_own_choice(stores: StoryStores) -> None:
    async with running_bot(stores, openai_speech_model="speak-1") as bot:
        shown = await bot.wait_for_reply(await bot.say(BEN, "/voice", chat=WEEKEND))
        press = await bot.people.press(BEN, shown, buttons_of(shown)[2])
        assert await answer_to(bot, press) == (english("administrators-only"), True)
        named = await bot.ask(BEN, "/voice always", chat=WEEKEND)
        assert named == english("administrators-only")

        await bot.ask(OLGA, "/voice always", chat=WORKSHOP, thread=IDEAS)
        await voice_to(bot, await bot.say(BEN, "@mnemogram_bot one", chat=WORKSHOP, thread=IDEAS))
        assert (await bot.ask(BEN, "@mnemogram_bot two", chat=WORKSHOP)).endswith("two")


async def test_without_a_speech_model_the_command_says_so(stores: StoryStores) -> None:
    async with running_bot(stores, voice_replies="always") as bot:
        assert await bot.ask(BEN, "/voice") == english("voice-none")
        assert await bot.ask(BEN, "hello") == "echo: hello"


@pytest.mark.parametrize(
    "behaviour",
    [
        Speech(failure=Failure(status=400, message="no such voice")),
        Speech(data=b""),
        Speech(data=b"ID3 not an ogg at all"),
        Speech(data=make_voice_note(0)),
    ],
    ids=["refused", "empty", "invalid", "silent"],
)
async def test_failed_speech_is_a_text(stores: StoryStores, behaviour: Speech) -> None:
    async with running_bot(stores, **SPEAKING) as bot:
        bot.model.speech = behaviour
        assert await bot.ask(BEN, "hello") == "echo: hello"
        assert len(spoken(bot)) == 1


async def test_speech_that_takes_too_long_is_a_text(
    stores: StoryStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speech, "SPEECH_S", 0.05)
    async with running_bot(stores, **SPEAKING) as bot:
        bot.model.speech = Speech(gate=asyncio.Event())
        assert await bot.ask(BEN, "hello") == "echo: hello"


async def test_a_stop_ends_the_speech_and_keeps_the_answer(stores: StoryStores) -> None:
    async with running_bot(stores, **SPEAKING) as bot:
        bot.model.speech = Speech(gate=asyncio.Event())
        asked = await bot.say(BEN, "hello")
        await bot.wait_until(lambda: bool(spoken(bot)))
        await bot.say(BEN, "/stop")
        assert (await bot.wait_for_reply(asked))["text"] == "echo: hello"
        assert (await bot.lines(BEN))[-1] == ("assistant", "echo: hello")


async def test_a_text_that_the_endpoint_does_not_take_is_not_spoken(stores: StoryStores) -> None:
    async with running_bot(stores, ["a" * 4_097, "```\ncode only\n```"], **SPEAKING) as bot:
        await bot.ask(BEN, "long")
        await bot.wait_until_idle()
        assert sum(map(len, bot.said_in(BEN))) == 4_097
        assert await bot.ask(BEN, "code") == "code only"
        assert spoken(bot) == []


@pytest.mark.parametrize(
    ("error", "description"),
    [
        ("400", "VOICE_MESSAGES_FORBIDDEN"),
        ("400", "not enough rights to send voice notes to the chat"),
        ("403", "CHAT_SEND_VOICES_FORBIDDEN"),
    ],
)
async def test_a_chat_without_voice_messages_gets_the_text_once(
    stores: StoryStores, error: str, description: str
) -> None:
    long = " ".join(["word"] * 300)
    async with running_bot(stores, ["**short**", long], **SPEAKING) as bot:
        await bot.people.fault(error, method="sendVoice", description=description, times=9)
        short = await bot.wait_for_reply(await bot.say(BEN, "hello"))
        assert (short["text"], short["entities"][0]["type"]) == ("short", "bold")
        assert await bot.ask(BEN, "again") == long
        await bot.wait_until_idle()
        assert bot.said_in(BEN) == ["short", long]
        assert await kept_files(bot) == 0


async def test_a_voice_message_with_an_unknown_outcome_is_sent_at_most_twice(stores: StoryStores) -> None:
    async with running_bot(stores, **SPEAKING) as bot:
        await bot.people.fault("cut", method="sendVoice", times=1)
        await voice_to(bot, await bot.say(BEN, "hello"))
        await bot.wait_until_idle()
        assert len(await bot.people.calls("sendVoice")) == 2
        assert len(spoken(bot)) == 1


async def test_a_file_that_is_gone_is_replaced_by_the_text(stores: StoryStores) -> None:
    async with running_bot(stores, **SPEAKING) as bot:
        await bot.people.fault("429", method="sendVoice", retry_after=1, times=1)
        asked = await bot.say(BEN, "hello")
        await bot.wait_until(lambda: bool(spoken(bot)))
        key = keys.context_key(make_ref(BEN), "files")

        async def is_erased() -> bool:
            return bool(await bot.redis.call("DEL", key))

        await bot.wait_until_true(is_erased)
        assert (await bot.wait_for_reply(asked))["text"] == "echo: hello"


async def test_a_reset_erases_a_file_that_waits(stores: StoryStores) -> None:
    async with running_bot(stores, **SPEAKING) as bot:
        await bot.people.fault("429", method="sendVoice", retry_after=600, hold=False, times=1)
        await bot.say(BEN, "hello")
        key = keys.context_key(make_ref(BEN), "files")

        async def is_kept() -> bool:
            return bool(await bot.redis.call("EXISTS", key))

        await bot.wait_until_true(is_kept)
        assert 0 < int(await bot.redis.call("TTL", key)) <= keys.FILES_TTL_S
        await bot.wait_until_true(lambda: _has_failed(bot))
        await TurnStore(bot.redis, clock=time).reset(make_ref(BEN))
        assert int(await bot.redis.call("EXISTS", key)) == 0


async def _has_failed(bot: Story) -> bool:
    return bool(await bot.people.calls("sendVoice"))


async def test_speech_is_counted_with_its_price_and_ends_at_the_limit(stores: StoryStores) -> None:
    models = "gpt-5.4-mini:1:1,speak-1:100:1000000"
    limit: dict[str, Any] = {"user_money_per_day": 0.5, "models": models}
    async with running_bot(stores, **SPEAKING, **limit) as bot:
        shown = await bot.wait_for_reply(await bot.say(BEN, "/model"))
        assert buttons_of(shown) == []
        await voice_to(bot, await bot.say(BEN, "hello"))
        await bot.wait_until_idle()
        answer = (await bot.history(BEN)).newest[-1]
        receipt = (await load_receipts(bot.redis, make_ref(BEN), [answer.id]))[answer.id]
        speaking = next(each for each in receipt.models if each.model == "speak-1")
        assert speaking.completion_tokens == round(speech.TOKENS_PER_MINUTE / 60)
        assert speaking.prompt_tokens > 0
        assert receipt.micros is not None
        assert receipt.micros > 1_000_000 * speaking.completion_tokens


@pytest.mark.parametrize("limit", ["user_money_per_day", "chat_money_per_day", "money_per_month"])
async def test_near_a_limit_of_money_the_answer_is_a_text(stores: StoryStores, limit: str) -> None:
    limits: dict[str, Any] = {"models": "gpt-5.4-mini:0:0,speak-1:1000000:0", limit: 3.0}
    async with running_bot(stores, **SPEAKING, **limits) as bot:
        await voice_to(bot, await bot.say(BEN, "one"))
        assert await bot.ask(BEN, "two and many more words than the rest of today's money pays for") != ""
        await bot.wait_until_idle()
        assert "text" in bot.shown_in(BEN)[-1]
        assert len(spoken(bot)) == 1


async def test_a_crash_after_the_speech_does_not_pay_twice(stores: StoryStores) -> None:
    async with running_bot(stores, **SPEAKING) as bot:
        bot.model.speech = Speech()
        await bot.people.fault("429", method="sendVoice", retry_after=1, times=1)
        asked = await bot.say(BEN, "hello")
        await bot.wait_until(lambda: bool(spoken(bot)))
        await bot.stop()
        bot.start()
        await voice_to(bot, asked)
        assert len(spoken(bot)) == 1


async def test_in_a_group_the_voice_replaces_the_preview(stores: StoryStores) -> None:
    tale = " ".join(f"word{number}" for number in range(40))
    async with running_bot(stores, [slow(tale, chunk_delay_s=0.08)], **SPEAKING) as bot:
        asked = await bot.say(BEN, "@mnemogram_bot tell", chat=WEEKEND)

        def is_spoken() -> bool:
            return any("voice" in each for each in bot.shown_in(WEEKEND))

        await bot.wait_until(is_spoken)
        await bot.wait_until_idle()
        (reply,) = bot.shown_in(WEEKEND)
        assert reply["caption"] == tale
        assert reply["reply_to_message"]["message_id"] == asked["message_id"]


async def test_an_edited_question_replaces_the_voice_message(stores: StoryStores) -> None:
    """Its preview cannot be the old voice message, which no edit turns into a text."""
    tale = " ".join(f"word{number}" for number in range(40))
    async with running_bot(stores, ["one", slow(tale, chunk_delay_s=0.08)], **SPEAKING) as bot:
        asked = await bot.say(BEN, "tell")
        await voice_to(bot, asked)
        await bot.wait_until_idle()
        await bot.people.edit(asked, "tell a tale")
        await bot.wait_until(lambda: [each.get("caption") for each in bot.shown_in(BEN)] == [tale])
        assert await bot.people.calls("editMessageText")


@pytest.mark.parametrize("inline_memory", [False, True])
async def test_an_inline_question_is_answered_in_place_and_not_spoken(
    stores: StoryStores, inline_memory: bool
) -> None:
    async with running_bot(stores, inline=True, inline_memory=inline_memory, **SPEAKING) as bot:
        await voice_to(bot, await bot.say(BEN, "hello"))
        sent = await choose(bot, BEN, await ask(bot, BEN))
        assert QUESTION in await answered(bot, sent)
        await bot.wait_until_idle()
        assert spoken(bot) == ["echo: hello"]
        assert len(bot.shown_in(BEN)) == 1
