"""Stories of WHILE_BUSY: the effect of a message on a running answer."""

import asyncio

from tests.scripted_replies import Reply, held, stalled, text
from tests.scripted_script import ChatRequest, echo, last_user_text
from tests.story.harness import BEN, CHIARA, WEEKEND, StoryStores, running_bot
from tests.story.prompts import prompt_texts
from tests.story.test_stopping import wait_for_the_beginning


async def test_a_new_message_interrupts_an_unwritten_answer_and_is_answered_with_it(
    stores: StoryStores,
) -> None:
    never = asyncio.Event()

    def script(request: ChatRequest) -> Reply:
        return held(echo(request), until=never) if last_user_text(request) == "one" else text("both")

    async with running_bot(stores, script, while_busy="interrupt") as bot:
        await bot.say(BEN, "one")
        await bot.wait_for_prompts(1)

        await bot.say(BEN, "two")

        await bot.wait_until_finished(2)
        assert prompt_texts(bot.prompts()[-1]) == ["one", "two"]
        assert await bot.lines(BEN) == [("user", "one"), ("user", "two"), ("assistant", "both")]
        assert [message["text"] for message in bot.shown_in(BEN)] == ["both"]
        never.set()


async def test_a_new_message_ends_a_half_written_answer_and_is_answered_next(stores: StoryStores) -> None:
    script = [stalled("one two three four five six", after=4), text("next")]
    async with running_bot(stores, script, while_busy="interrupt") as bot:
        await bot.say(BEN, "count")
        await wait_for_the_beginning(bot)

        await bot.say(BEN, "enough")

        await bot.wait_until_finished(2)
        question, partial, then, answer = (await bot.history(BEN)).newest
        assert (question.text, then.text, answer.text) == ("count", "enough", "next")
        assert partial.is_stopped
        assert partial.text.startswith("one two")
        first, second = bot.shown_in(BEN)
        assert first["text"].endswith("(stopped)")
        assert second["text"] == "next"


async def test_another_persons_message_interrupts_no_answer(stores: StoryStores) -> None:
    answer = asyncio.Event()

    def script(request: ChatRequest) -> Reply:
        return held(echo(request), until=answer)

    async with running_bot(stores, script, while_busy="interrupt") as bot:
        await bot.say(BEN, "@mnemogram_bot one", chat=WEEKEND)
        await bot.wait_for_prompts(1)
        await bot.say(CHIARA, "@mnemogram_bot two", chat=WEEKEND)
        await bot.wait_for_waiting(2, chat=WEEKEND)
        answer.set()

        await bot.wait_until_finished(2)

        assert len(bot.prompts()) == 2
        assert [role for role, _ in await bot.lines(WEEKEND)] == ["user", "assistant"] * 2
