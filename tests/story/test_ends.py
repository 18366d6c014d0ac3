"""Stories of long answers: they end after ten messages, and a stop, a reset or a question ends their delivery."""

import time
from dataclasses import replace

import pytest

from bot.app import turns
from bot.transport.rates import OF_TELEGRAM
from bot.turn import screens
from memory.reminders.redis_reminders import RedisReminders
from tests.scripted_replies import Reply, call, calls, pieces, text
from tests.scripted_script import ChatRequest, echo, last_user_text
from tests.story.expected import english
from tests.story.harness import (
    BEN,
    CHIARA,
    OLGA,
    WEEKEND,
    Story,
    StoryStores,
    buttons_of,
    make_ref,
    running_bot,
)

pytestmark = pytest.mark.slow

AT_ME = "@mnemogram_bot "
LONG = "\n\n".join(f"Paragraph {number}. " + "word " * 700 for number in range(9))
"""Nine messages."""


@pytest.fixture
def real_rates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Send as slowly as Telegram allows: five messages at once, then one a second."""
    monkeypatch.setattr(turns, "OF_THE_SIMULATOR", OF_TELEGRAM)


def long_then_echo(request: ChatRequest) -> Reply:
    return text(LONG) if last_user_text(request).endswith("write") else echo(request)


def slow_paragraphs() -> Reply:
    """Return the long answer, slow enough for a preview."""
    return replace(pieces(*(f"{each}\n\n" for each in LONG.split("\n\n"))), chunk_delay_s=0.3)


async def _wait_for_five(bot: Story, chat: int) -> None:
    await bot.wait_until(lambda: len(bot.shown_in(chat)) >= 5)


async def test_an_answer_of_sixty_messages_is_two(stores: StoryStores) -> None:
    whole = "\n\n".join(f"Paragraph {number}. " + "word " * 700 for number in range(60))

    def script(request: ChatRequest) -> Reply:
        return text(whole if last_user_text(request).endswith("book") else "next")

    async with running_bot(stores, script) as bot:
        await bot.say(BEN, "write a book")
        await bot.wait_until(lambda: any("document" in each for each in bot.shown_in(BEN)))
        assert await bot.ask(BEN, "and?") == "next"

        beginning, file, _ = bot.shown_in(BEN)
        assert beginning["text"].startswith("Paragraph 0.")
        assert beginning["text"].endswith(english("rest-in-file", name="answer.md"))
        content = await bot.simulator.get(f"/api/files/{file['document']['file_id']}")
        assert content.text == whole
        assert (await bot.lines(BEN))[1] == ("assistant", whole)


@pytest.mark.usefixtures("real_rates")
async def test_a_stop_ends_the_delivery_and_the_history_keeps_what_was_sent(stores: StoryStores) -> None:
    async with running_bot(stores, long_then_echo, streaming=False) as bot:
        await bot.say(BEN, "write")
        await _wait_for_five(bot, BEN)
        await bot.say(BEN, "/stop")
        await bot.wait_until_idle()

        *sent, notice = bot.shown_in(BEN)
        assert 5 <= len(sent) < 9
        assert notice["text"] == english("stopped-sending")
        *_, answer = (await bot.history(BEN)).newest
        assert answer.is_stopped
        assert answer.text == "\n\n".join(each["text"] for each in sent)
        assert [(r["state"], r["reason"]) for r in await bot.records()] == [
            ("answered", "stopped"),
            ("answered", "stop"),
        ]
        assert await bot.ask(BEN, "hello") == "echo: hello"
        assert await bot.ask(BEN, "/stop") == english("nothing-to-stop")


@pytest.mark.usefixtures("real_rates")
async def test_the_stop_button_stays_during_the_delivery_and_ends_it(
    stores: StoryStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screens, "STOP_BUTTON_AFTER_S", 0.0)
    async with running_bot(stores, [slow_paragraphs()]) as bot:
        await bot.say(BEN, "write")
        await _wait_for_five(bot, BEN)
        button, *_ = bot.shown_in(BEN)
        (stop,) = button["reply_markup"]["inline_keyboard"][0]
        await bot.people.press(BEN, button, stop["callback_data"])
        await bot.wait_until_idle()

        *sent, notice = bot.shown_in(BEN)  # without the button
        assert 3 <= len(sent) < 9
        assert notice["text"] == english("stopped-sending")
        assert [each["text"] for each in bot.callback_answers()] == [english("stopped")]
        assert (await bot.history(BEN)).newest[-1].is_stopped


@pytest.mark.usefixtures("real_rates")
async def test_in_a_group_the_stop_button_stays_at_the_first_message_until_the_last(
    stores: StoryStores,
) -> None:
    async with running_bot(stores, [slow_paragraphs()]) as bot:
        await bot.say(BEN, AT_ME + "write", chat=WEEKEND)
        await bot.wait_until(lambda: len(bot.shown_in(WEEKEND)) == 3)
        first = bot.shown_in(WEEKEND)[0]
        await bot.people.press(BEN, first, buttons_of(first)[0])
        await bot.wait_until_idle()

        *sent, notice = bot.shown_in(WEEKEND)
        assert 3 <= len(sent) < 9
        assert notice["text"] == english("stopped-sending")
        assert [each["text"] for each in bot.callback_answers()] == [english("stopped")]
        assert (await bot.history(WEEKEND)).newest[-1].text == "\n\n".join(each["text"] for each in sent)


async def test_the_stop_button_of_a_group_goes_with_the_last_message(stores: StoryStores) -> None:
    async with running_bot(stores, [slow_paragraphs()]) as bot:
        await bot.wait_for_reply(await bot.say(BEN, AT_ME + "write", chat=WEEKEND))
        await bot.wait_until_idle()

        shown = [each["message"] for each in bot.events if each["type"] == "edit"]
        assert [bool(buttons_of(each)) for each in shown][-2:] == [True, False]
        assert shown[-2]["text"] == shown[-1]["text"]
        assert len(bot.shown_in(WEEKEND)) == 9
        assert not any(map(buttons_of, bot.shown_in(WEEKEND)))


@pytest.mark.usefixtures("real_rates")
async def test_a_question_waits_for_one_message(stores: StoryStores) -> None:
    async with running_bot(stores, long_then_echo, streaming=False) as bot:
        await bot.say(BEN, "write")
        await _wait_for_five(bot, BEN)
        before = len(bot.shown_in(BEN))
        assert (await bot.wait_for_reply(await bot.say(BEN, "and then?"))).get("caption") == english(
            "whole-in-file"
        )
        await bot.wait_until_idle()

        *_, file, answer = shown = bot.shown_in(BEN)
        assert len(shown) <= before + 3  # one may have been on its way
        assert answer["text"] == "echo: and then?"
        content = await bot.simulator.get(f"/api/files/{file['document']['file_id']}")
        assert content.text == LONG
        assert (await bot.lines(BEN))[1] == ("assistant", LONG)


@pytest.mark.usefixtures("real_rates")
async def test_a_reset_from_outside_counts_what_was_not_sent(stores: StoryStores) -> None:
    async with running_bot(stores, long_then_echo, streaming=False) as bot:
        await bot.say(BEN, "write")
        await _wait_for_five(bot, BEN)
        receipt = await bot.ask(OLGA, f"/reset {BEN}")
        await bot.wait_until_idle()

        unsent = 9 - len(bot.shown_in(BEN))
        assert unsent > 0
        assert english("count-unsent", count=unsent) in receipt


@pytest.mark.usefixtures("real_rates")
async def test_a_confirmed_reset_ends_the_delivery_and_counts_it(stores: StoryStores) -> None:
    async with running_bot(stores, long_then_echo, streaming=False) as bot:
        await bot.ask(BEN, "hello")
        question = await bot.wait_for_reply(await bot.say(BEN, "/reset"))
        await bot.say(BEN, "write")
        await bot.wait_until(lambda: len(bot.shown_in(BEN)) >= 6)
        (button,) = question["reply_markup"]["inline_keyboard"][0]
        await bot.people.press(BEN, question, button["callback_data"])
        receipt = await bot.wait_for_receipt(question)
        await bot.wait_until_idle()

        unsent = 9 - (len(bot.shown_in(BEN)) - 2)
        assert unsent > 0
        assert english("count-unsent", count=unsent) in receipt
        assert await bot.lines(BEN) == []


async def test_all_messages_of_an_answer_stay_in_the_comments(stores: StoryStores) -> None:
    async with running_bot(stores, [text(LONG), text(LONG * 2), text("short")]) as bot:
        group = await bot.people.upgrade(WEEKEND, by=OLGA)
        post = await bot.say(OLGA, "A post of the channel", chat=group)
        for words in ("write", "write more", "hello"):
            asked = await bot.say(CHIARA, AT_ME + words, chat=group, reply_to=post["message_id"])
            await bot.wait_for_reply(asked)
            await bot.wait_until_idle()

        own = bot.shown_in(group)
        assert len(own) == 9 + 2 + 1
        assert {each.get("message_thread_id") for each in own} == {post["message_id"]}


async def test_a_reminder_from_the_comments_stays_there(stores: StoryStores) -> None:
    script = [
        calls(call("set_reminder", {"when": "in 1 minute", "text": "Tea", "zone": "UTC"})),
        text("I will."),
    ]
    async with running_bot(stores, script) as bot:
        group = await bot.people.upgrade(WEEKEND, by=OLGA)
        post = await bot.say(OLGA, "A post of the channel", chat=group)
        asked = await bot.say(CHIARA, AT_ME + "remind me", chat=group, reply_to=post["message_id"])
        await bot.wait_for_reply(asked)
        await bot.wait_until_idle()
        ref = make_ref(WEEKEND)
        (reminder,) = await RedisReminders(bot.redis, clock=time.time).list(ref)
        store = RedisReminders(bot.redis, clock=time.time)
        await store.cancel(ref, [reminder.id], epoch=0)
        assert reminder.reply_to == asked["message_id"]

        assert await store.add(ref, replace(reminder, id="0a1b2c3d", due_at=time.time()), epoch=0) == "added"
        await bot.wait_until(lambda: any("Tea" in each["text"] for each in bot.shown_in(group)))

        due = bot.shown_in(group)[-1]
        assert (due["message_thread_id"], due["reply_to_message"]["message_id"]) == (
            post["message_id"],
            asked["message_id"],
        )
