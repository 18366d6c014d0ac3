"""Stories of the button that confirms a /reset, and of the one under /start."""

import pytest

from bot.features.reset import command as reset
from memory import keys
from tests.scripted_script import echo
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
    receipt_of,
    running_bot,
)
from tests.story.test_stop_buttons import answer_to


async def the_question(bot: Story, person: int, *, chat: int | None = None) -> dict[str, object]:
    return await bot.wait_for_reply(await bot.say(person, "/reset", chat=chat))


async def test_a_reset_asks_first_and_erases_nothing_before_the_button_is_pressed(
    stores: StoryStores,
) -> None:
    async with running_bot(stores, echo) as bot:
        await bot.ask(BEN, "hello")

        question = await the_question(bot, BEN)

        assert question["text"] == english("reset-asks", scope="chat")
        assert len(await bot.lines(BEN)) == 2


async def test_a_reset_of_an_empty_chat_asks_nothing(stores: StoryStores) -> None:
    async with running_bot(stores, echo) as bot:
        assert await bot.ask(BEN, "/reset") == english("reset-nothing")


async def test_the_button_survives_a_restart_and_works_once(stores: StoryStores) -> None:
    async with running_bot(stores, echo) as bot:
        await bot.ask(BEN, "hello")
        question = await the_question(bot, BEN)
        (data,) = buttons_of(question)
        await bot.stop()
        await bot.people.press(BEN, question, data)
        second = await bot.people.press(BEN, question, data)
        bot.start()

        receipt = await bot.wait_for_receipt(question)

        assert "Erased: 2 messages" in receipt
        assert await answer_to(bot, second) == (english("button-unknown"), True)
        await bot.wait_until_idle()
        assert receipt_of(bot.shown_in(BEN)[-1]) == receipt


async def test_only_the_person_who_asked_may_press(stores: StoryStores) -> None:
    async with running_bot(stores, echo) as bot:
        await bot.ask(BEN, "@mnemogram_bot hello", chat=WEEKEND)
        question = await the_question(bot, OLGA, chat=WEEKEND)
        (data,) = buttons_of(question)

        for stranger in (BEN, CHIARA):
            press = await bot.people.press(stranger, question, data)
            assert await answer_to(bot, press) == (english("reset-not-yours"), True)

        assert len(await bot.lines(WEEKEND)) == 2
        forged = data.replace(str(OLGA), str(BEN))
        press = await bot.people.press(BEN, question, forged, any_data=True)
        assert await answer_to(bot, press) == (english("button-unknown"), False)
        await bot.people.press(OLGA, question, data)
        assert "Erased: 2 messages" in await bot.wait_for_receipt(question)


async def test_any_administrator_may_press_if_an_anonymous_one_asked(stores: StoryStores) -> None:
    async with running_bot(stores, echo) as bot:
        await bot.ask(BEN, "@mnemogram_bot hello", chat=WEEKEND)
        asked = await bot.people.send(OLGA, chat=WEEKEND, text="/reset", anonymous=True)
        question = await bot.wait_for_reply(asked)
        (data,) = buttons_of(question)

        press = await bot.people.press(BEN, question, data)
        assert await answer_to(bot, press) == (english("reset-not-yours"), True)
        await bot.people.press(OLGA, question, data)

        assert "Erased: 2 messages" in await bot.wait_for_receipt(question)


async def test_a_late_press_erases_nothing_and_removes_the_button(
    stores: StoryStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reset, "CONFIRM_WITHIN_S", -60.0)
    async with running_bot(stores, echo) as bot:
        await bot.ask(BEN, "hello")
        question = await the_question(bot, BEN)

        press = await bot.people.press(BEN, question, buttons_of(question)[0])

        assert await answer_to(bot, press) == (english("reset-expired"), True)
        assert await bot.wait_for_receipt(question) == question["text"]
        assert len(await bot.lines(BEN)) == 2


async def test_a_forged_button_does_nothing(stores: StoryStores) -> None:
    async with running_bot(stores, echo) as bot:
        await bot.ask(BEN, "hello")
        question = await the_question(bot, BEN)

        for data in ("reset", "reset:all", "reset:1:what:1", f"reset:{BEN}:chat:9"):
            press = await bot.people.press(BEN, question, data, any_data=True)
            assert (await answer_to(bot, press))[0] == english("button-unknown")

        assert len(await bot.lines(BEN)) == 2
        assert await bot.redis.call("GET", keys.context_key(make_ref(BEN), "epoch")) is None


async def test_the_button_of_start_answers_with_the_help_text(stores: StoryStores) -> None:
    async with running_bot(stores, echo) as bot:
        start = await bot.wait_for_reply(await bot.say(BEN, "/start"))

        press = await bot.people.press(BEN, start, buttons_of(start)[0])

        assert await answer_to(bot, press) == ("", False)
        await bot.wait_until(lambda: len(bot.shown_in(BEN)) == 2)
        assert bot.shown_in(BEN)[-1]["text"] == await bot.ask(BEN, "/help")
