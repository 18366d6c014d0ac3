"""Stories of the Stop button: it ends its answer for its asker, and every press is answered."""

import asyncio

from tests.scripted_replies import held, stalled, text
from tests.scripted_script import echo
from tests.story.expected import english
from tests.story.harness import BEN, CHIARA, OLGA, WEEKEND, Json, Story, StoryStores, running_bot
from tests.story.test_stopping import wait_for_the_beginning


async def running_turn(bot: Story, chat: int) -> str:
    """Return the data of the Stop button of Ben's running turn."""
    (first,) = await bot.wait_for_waiting(1, chat=chat)
    return f"stop:{BEN}:{first}"


async def answer_to(bot: Story, press: str) -> tuple[str, bool]:
    """Return the answer to a press, and whether it is an alert."""

    def found() -> list[Json]:
        return [each for each in bot.callback_answers() if each["callback_query_id"] == press]

    await bot.wait_until(lambda: bool(found()))
    return found()[0].get("text", ""), bool(found()[0]["show_alert"])


async def test_a_pressed_stop_button_keeps_the_text_so_far(stores: StoryStores) -> None:
    script = [text("hello"), stalled("one two three four five six", after=4)]
    async with running_bot(stores, script) as bot:
        button = await bot.wait_for_reply(await bot.say(BEN, "hi"))
        await bot.say(BEN, "count")
        data = await running_turn(bot, BEN)
        await wait_for_the_beginning(bot, prompts=2)

        press = await bot.people.press(BEN, button, data, any_data=True)

        assert await answer_to(bot, press) == (english("stopped"), False)
        await bot.wait_until_idle()
        *_, question, answer = (await bot.history(BEN)).newest
        assert (question.text, answer.is_stopped) == ("count", True)
        assert answer.text.startswith("one two")
        assert bot.shown_in(BEN)[-1]["text"].endswith("(stopped)")
        assert [(record["state"], record["reason"]) for record in await bot.records()][1:] == [
            ("answered", "stopped")
        ] * 2


async def test_an_old_button_says_that_the_answer_is_finished_and_a_foreign_one_that_it_does_nothing(
    stores: StoryStores,
) -> None:
    async with running_bot(stores, echo) as bot:
        button = await bot.wait_for_reply(await bot.say(BEN, "@mnemogram_bot hi", chat=WEEKEND))
        await bot.wait_until_idle()

        for data in (f"stop:{BEN}:1", "stop", "buy:1", f"stop:{BEN}:1:2", "x"):
            told = "answer-written" if data.startswith("stop") else "button-unknown"
            press = await bot.people.press(BEN, button, data, any_data=True)
            assert await answer_to(bot, press) == (english(told), False)

        await bot.wait_until_finished(6)
        assert len(bot.shown_in(WEEKEND)) == 1
        assert len(await bot.lines(WEEKEND)) == 2


async def test_a_press_never_removes_a_finished_answer(stores: StoryStores) -> None:
    """This holds in private chats too:

    an answer that is written again has a Stop button, which may be pressed late.
    """
    async with running_bot(stores, echo) as bot:
        answer = await bot.wait_for_reply(await bot.say(BEN, "hi"))
        await bot.wait_until_idle()

        for data in (f"stop:{BEN}:1", "stop", "buy:1"):
            await answer_to(bot, await bot.people.press(BEN, answer, data, any_data=True))

        await bot.wait_until_finished(4)
        await bot.wait_until_idle()
        assert bot.shown_in(BEN) == [answer]


async def test_an_old_button_does_not_stop_the_running_answer(stores: StoryStores) -> None:
    answer = asyncio.Event()
    async with running_bot(stores, [text("hello"), held(text("two"), until=answer)]) as bot:
        button = await bot.wait_for_reply(await bot.say(BEN, "hi"))
        await bot.wait_until_idle()
        await bot.say(BEN, "count")
        await bot.wait_for_prompts(2)

        press = await bot.people.press(BEN, button, f"stop:{BEN}:1", any_data=True)

        assert await answer_to(bot, press) == (english("answer-written"), False)
        answer.set()
        await bot.wait_until_finished(3)
        assert [told for _, told in await bot.lines(BEN)][-2:] == ["count", "two"]


async def test_in_a_group_only_the_asker_and_administrators_can_press_stop(stores: StoryStores) -> None:
    never = asyncio.Event()
    async with running_bot(stores, [text("hello"), held(text("two"), until=never)]) as bot:
        button = await bot.wait_for_reply(await bot.say(BEN, "@mnemogram_bot hi", chat=WEEKEND))
        await bot.wait_until_idle()
        await bot.say(BEN, "@mnemogram_bot count", chat=WEEKEND)
        data = await running_turn(bot, WEEKEND)
        await bot.wait_for_prompts(2)

        by_chiara = await bot.people.press(CHIARA, button, data, any_data=True)
        assert await answer_to(bot, by_chiara) == (english("stop-not-yours"), True)
        by_olga = await bot.people.press(OLGA, button, data, any_data=True)

        assert await answer_to(bot, by_olga) == (english("stopped"), False)
        await bot.wait_until_finished(4)
        assert bot.shown_in(WEEKEND)[-1]["text"] == english("stopped")
        assert await bot.lines(WEEKEND) == [("user", "hi"), ("assistant", "hello"), ("user", "count")]
        never.set()
