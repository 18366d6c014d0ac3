"""Stories of messages in bursts: lines during an answer, long pastes, albums, forwards."""

import asyncio

import pytest

from bot.app import turns as assembly
from bot.turn.batch import BurstWaits
from tests.scripted_replies import Reply, held, text
from tests.scripted_script import ChatRequest, echo, last_user_text
from tests.sent_files import make_picture
from tests.story.expected import english
from tests.story.harness import BEN, CHIARA, WEEKEND, StoryStores, running_bot
from tests.story.prompts import prompt_texts

SOON = BurstWaits(bundle_s=0.3, paste_s=0.3)
"""People in a test are quicker than their apps."""
TELEGRAMS_LIMIT = 4096


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assembly, "BURST_WAITS", SOON)


def noted(_: ChatRequest) -> Reply:
    return text("Noted.")


async def test_lines_sent_during_an_answer_join_the_next_prompt_in_order(stores: StoryStores) -> None:
    answer = asyncio.Event()

    def script(request: ChatRequest) -> Reply:
        return held(text("first"), until=answer) if last_user_text(request) == "one" else text("second")

    async with running_bot(stores, script) as bot:
        await bot.say(BEN, "one")
        await bot.wait_for_prompts(1)
        for line in ("two", "three", "four"):
            await bot.say(BEN, line)
        await bot.wait_for_waiting(4)
        answer.set()

        await bot.wait_until_finished(4)

        assert prompt_texts(bot.prompts()[-1]) == ["one", "first", "two", "three", "four"]
        assert len(bot.prompts()) == 2
        assert [line for _, line in await bot.lines(BEN)] == [
            "one",
            "first",
            "two",
            "three",
            "four",
            "second",
        ]


async def test_a_paste_that_telegram_split_is_one_message_and_one_turn(stores: StoryStores) -> None:
    words = " ".join(f"word{number}" for number in range(1200))
    assert len(words) > 2 * TELEGRAMS_LIMIT
    async with running_bot(stores, noted) as bot:
        await bot.say(BEN, words)

        await bot.wait_until_finished(3)

        kept = (await bot.history(BEN)).newest
        assert [message.continues for message in kept[:-1]] == ["", "paste", "paste"]
        assert len(bot.prompts()) == 1
        (prompt,) = prompt_texts(bot.prompts()[0])
        assert "".join(prompt.split()) == "".join(words.split())
        assert bot.said_in(BEN) == ["Noted."]


async def test_an_album_is_one_message_and_one_turn(stores: StoryStores) -> None:
    async with running_bot(stores, noted, openai_vision=True) as bot:
        await bot.people.album(BEN, "my garden", "", "")

        await bot.wait_until_finished(3)

        assert bot.said_in(BEN) == ["Noted."]
        assert len(bot.prompts()) == 1
        kept = (await bot.history(BEN)).newest
        assert [message.continues for message in kept[:-1]] == ["", "bundle", "bundle"]
        assert kept[0].text == "my garden"


async def test_a_comment_and_its_forwards_are_one_message(stores: StoryStores) -> None:
    async with running_bot(stores, echo) as bot:
        first = await bot.say(CHIARA, "the lake is frozen", chat=WEEKEND)
        second = await bot.say(CHIARA, "bring skates", chat=WEEKEND)

        await bot.people.forward(BEN, [first, second], comment="what does she mean?")

        await bot.wait_until_finished(3)
        kept = (await bot.history(BEN)).newest
        assert [(message.text, message.continues) for message in kept[:-1]] == [
            ("what does she mean?", ""),
            ("the lake is frozen", "bundle"),
            ("bring skates", "bundle"),
        ]
        assert [bool(message.forwarded_from) for message in kept[:-1]] == [False, True, True]
        assert len(bot.shown_in(BEN)) == 1


async def test_a_stop_ends_the_wait_for_further_messages(
    stores: StoryStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assembly, "BURST_WAITS", BurstWaits(bundle_s=60, paste_s=60))
    async with running_bot(stores, noted) as bot:
        await bot.say(BEN, "x" * TELEGRAMS_LIMIT)

        assert await bot.ask(BEN, "/stop") == english("stopped")

        assert bot.prompts() == []
        await bot.wait_until_idle()


async def test_a_picture_and_the_question_after_it_are_one_turn(
    stores: StoryStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assembly, "BURST_WAITS", BurstWaits(bundle_s=1.0))
    async with running_bot(stores, noted, openai_vision=True) as bot:
        await bot.people.photo(BEN)
        await bot.say(BEN, "what is it?")
        await bot.wait_until_finished(2)

        kept = (await bot.history(BEN)).newest
        assert [(each.text, each.continues) for each in kept[:-1]] == [("", ""), ("what is it?", "bundle")]
        assert (len(bot.prompts()), bot.said_in(BEN)) == (1, ["Noted."])


async def test_pictures_of_two_people_at_once_belong_to_the_questions_of_their_senders(
    stores: StoryStores,
) -> None:
    never = asyncio.Event()

    def script(request: ChatRequest) -> Reply:
        has_picture = "image_url" in str(request["messages"][-1])
        return text("Seen.") if has_picture else held(text("Which one?"), until=never)

    async with running_bot(stores, script, privacy_mode=False, openai_vision=True) as bot:
        for person, line in ((BEN, "is it a tent?"), (CHIARA, "is it a boat?")):
            await bot.say(person, f"@mnemogram_bot {line}", chat=WEEKEND)
        await bot.wait_for_prompts(1)
        for person, width in ((BEN, 20), (CHIARA, 30)):
            await bot.people.photo(person, data=make_picture(width), chat=WEEKEND)
        await bot.wait_until_finished(4)

        assert bot.said_in(WEEKEND) == ["Seen.", "Seen."]
        kept = (await bot.history(WEEKEND)).newest
        assert [(each.text, each.note) for each in kept if each.role == "user"] == [
            ("is it a tent?", ""),
            ("", "a photo, 20×6"),
            ("is it a boat?", ""),
            ("", "a photo, 30×6"),
        ]


async def test_a_question_and_the_picture_after_it_are_one_turn(stores: StoryStores) -> None:
    never = asyncio.Event()

    def script(request: ChatRequest) -> Reply:
        is_alone = last_user_text(request) == "what is this?"
        return held(text("Which one?"), until=never) if is_alone else text("A tent.")

    async with running_bot(stores, script, openai_vision=True) as bot:
        await bot.ask(BEN, "hello")
        await bot.say(BEN, "what is this?")
        await bot.wait_for_prompts(2)
        await bot.people.photo(BEN)
        await bot.wait_until_finished(3)

        assert bot.said_in(BEN) == ["A tent.", "A tent."]
        asked = (await bot.history(BEN)).newest[2:-1]
        assert [each.continues for each in asked] == ["", "bundle"]
