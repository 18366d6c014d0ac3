"""Stories of /stop, which overtakes the answer that it ends."""

import asyncio

from tests.scripted_replies import Reply, call, calls, held, stalled, text
from tests.scripted_script import ChatRequest, echo, last_user_text
from tests.story.expected import english
from tests.story.harness import BEN, CHIARA, WEEKEND, Story, StoryStores, running_bot

LONG_ENOUGH_S = 0.3
"""The scripted model has sent by then what it sends before it stalls."""


async def wait_for_the_beginning(bot: Story, *, prompts: int = 1) -> None:
    """Wait until the answers to this many prompts have begun."""
    await bot.wait_for_prompts(prompts)
    loop = asyncio.get_running_loop()
    begun = loop.time()
    await bot.wait_until(lambda: loop.time() > begun + LONG_ENOUGH_S)


async def test_a_stop_keeps_the_text_so_far_and_marks_it(stores: StoryStores) -> None:
    async with running_bot(stores, [stalled("one two three four five six", after=4)]) as bot:
        await bot.say(BEN, "count")
        await wait_for_the_beginning(bot)

        reply = await bot.wait_for_reply(await bot.say(BEN, "/stop"))
        await bot.wait_until_idle()

        assert reply["text"].startswith("one two")
        assert reply["text"].endswith("(stopped)")
        assert "six" not in reply["text"]
        question, answer = (await bot.history(BEN)).newest
        assert (question.text, question.is_stopped) == ("count", False)
        assert (answer.text + "\n\n(stopped)", answer.is_stopped) == (reply["text"], True)
        assert bot.said_in(BEN) == [reply["text"]]
        assert [(r["state"], r["reason"]) for r in await bot.records()] == [
            ("answered", "stopped"),
            ("answered", "stop"),
        ]


async def test_a_stop_before_the_first_word_is_reported(stores: StoryStores) -> None:
    never = asyncio.Event()
    async with running_bot(stores, [held(text("too late"), until=never)]) as bot:
        await bot.say(BEN, "count")
        await bot.wait_for_prompts(1)

        assert await bot.ask(BEN, "/stop") == english("stopped")

        await bot.wait_until_idle()
        assert await bot.lines(BEN) == [("user", "count")]
        never.set()


async def test_a_stop_without_a_running_answer_says_so(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        assert await bot.ask(BEN, "/stop") == english("nothing-to-stop")
        assert await bot.ask(BEN, "hello") == "echo: hello"
        await bot.wait_until_idle()
        assert await bot.ask(BEN, "/stop") == english("nothing-to-stop")


async def test_a_stop_also_ends_a_run_between_its_tools(stores: StoryStores) -> None:
    never = asyncio.Event()
    script = [calls(call("add", {"a": 2, "b": 3})), held(text("five"), until=never)]
    async with running_bot(stores, script) as bot:
        await bot.say(BEN, "add 2 and 3")
        await bot.wait_for_prompts(2)

        assert await bot.ask(BEN, "/stop") == english("stopped")

        assert await bot.lines(BEN) == [("user", "add 2 and 3")]
        never.set()


async def test_a_stop_ends_only_the_answer_of_its_chat(stores: StoryStores) -> None:
    answer = asyncio.Event()

    def script(request: ChatRequest) -> Reply:
        return held(echo(request), until=answer)

    async with running_bot(stores, script) as bot:
        await bot.say(BEN, "ben")
        await bot.say(CHIARA, "chiara")
        await bot.wait_for_prompts(2)

        await bot.ask(BEN, "/stop")

        answer.set()
        await bot.wait_until(lambda: bot.said_in(CHIARA) == ["echo: chiara"])
        assert bot.said_in(BEN) == [english("stopped")]


async def test_messages_after_a_stop_are_answered(stores: StoryStores) -> None:
    never = asyncio.Event()

    def script(request: ChatRequest) -> Reply:
        reply = echo(request)
        return held(reply, until=never) if last_user_text(request) == "one" else reply

    async with running_bot(stores, script) as bot:
        await bot.say(BEN, "one")
        await bot.wait_for_prompts(1)
        await bot.say(BEN, "/stop")
        await bot.say(BEN, "two")

        await bot.wait_until(lambda: "echo: two" in bot.said_in(BEN))
        await bot.wait_until_idle()

        assert [each["text"] for each in bot.shown_in(BEN)] == [english("stopped"), "echo: two"]
        never.set()


async def test_anybody_in_a_group_can_stop_an_answer(stores: StoryStores) -> None:
    never = asyncio.Event()
    async with running_bot(stores, [held(text("too late"), until=never)]) as bot:
        asked = await bot.say(BEN, "@mnemogram_bot count", chat=WEEKEND)
        await bot.wait_for_prompts(1)

        await bot.say(CHIARA, "/stop", chat=WEEKEND)

        assert (await bot.wait_for_reply(asked))["text"] == english("stopped")
        never.set()
