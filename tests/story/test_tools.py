"""Stories of tools, of the typing action, and of the emitted reply."""

import asyncio
import json

from tests.scripted_replies import call, calls, held, text
from tests.scripted_script import echo
from tests.story.harness import BEN, BUGS, WORKSHOP, Story, StoryStores, running_bot
from tests.story.prompts import prompt_texts, tool_results


async def test_typing_is_shown_while_a_tool_runs(stores: StoryStores) -> None:
    answer = asyncio.Event()
    script = [calls(call("add", {"a": 2, "b": 3})), held(text("It is 5."), until=answer)]
    async with running_bot(stores, script) as bot:
        asked = await bot.say(BEN, "add 2 and 3")
        await bot.wait_for_prompts(2)
        await bot.wait_until(lambda: bot.actions_in(BEN) == ["typing"])
        answer.set()

        assert (await bot.wait_for_reply(asked))["text"] == "It is 5."
        assert tool_results(bot.prompts()[1]) == ["5"]


async def test_typing_is_shown_in_the_topic(stores: StoryStores) -> None:
    answer = asyncio.Event()
    async with running_bot(stores, lambda request: held(echo(request), until=answer)) as bot:
        asked = await bot.say(BEN, "@mnemogram_bot hello", chat=WORKSHOP, thread=BUGS)
        await bot.wait_until(lambda: bool(bot.actions_in(WORKSHOP)))
        answer.set()
        await bot.wait_for_reply(asked)

        shown = [event for event in bot.events if event["type"] == "action"]
        assert [(event["chat_id"], event.get("message_thread_id")) for event in shown] == [(WORKSHOP, BUGS)]


async def test_a_failed_typing_action_changes_nothing(stores: StoryStores) -> None:
    answer = asyncio.Event()
    async with running_bot(stores, lambda request: held(echo(request), until=answer)) as bot:
        await bot.page("faults", {"method": "sendChatAction", "error": "500", "times": 5})
        asked = await bot.say(BEN, "hello")
        await bot.wait_until_true(lambda: _was_called(bot, "sendChatAction"))
        answer.set()

        assert (await bot.wait_for_reply(asked))["text"] == "echo: hello"


async def _was_called(bot: Story, method: str) -> bool:
    return bool(await bot.people.calls(method))


async def test_m11_m17_thoughts_and_status_of_a_run_never_enter_the_history(stores: StoryStores) -> None:
    script = [
        calls(call("add", {"a": 2, "b": 3}), content="Let me see"),
        text("It is 5."),
        text("You are welcome."),
    ]
    async with running_bot(stores, script, recall_k=0, ledger_in_prompt=False) as bot:
        await bot.ask(BEN, "add 2 and 3")
        await bot.ask(BEN, "thanks")

        assert await bot.lines(BEN) == [
            ("user", "add 2 and 3"),
            ("assistant", "It is 5."),
            ("user", "thanks"),
            ("assistant", "You are welcome."),
        ]
        assert prompt_texts(bot.prompts()[2]) == ["add 2 and 3", "It is 5.", "thanks"]
        assert "Running tool" not in str(bot.prompts())


async def test_m16_the_reply_of_a_run_is_sent_and_stored(stores: StoryStores) -> None:
    async with running_bot(stores, [text("the reply")]) as bot:
        assert await bot.ask(BEN, "hello") == "the reply"

        assert bot.said_in(BEN) == ["the reply"]
        assert (await bot.lines(BEN))[-1] == ("assistant", "the reply")


async def test_m14_a_tool_searches_the_memory_of_its_own_chat(stores: StoryStores) -> None:
    found = calls(call("search_memory", {"query": "my sister Anna"}))
    script = [text("Noted."), found, text("In Lisbon.")]
    async with running_bot(stores, script, recall_k=0) as bot:
        await bot.ask(BEN, "my sister Anna lives in Lisbon")
        await bot.wait_until_indexed()
        await bot.ask(BEN, "where is she")

        (result,) = tool_results(bot.prompts()[2])
        assert "my sister Anna lives in Lisbon" in result


async def test_m12_t03_at_the_limit_of_actions_the_last_answer_gets_no_tools(stores: StoryStores) -> None:
    again = calls(call("add", {"a": 2, "b": 3}))
    async with running_bot(stores, [again, again, text("I could not finish.")], max_actions=2) as bot:
        assert await bot.ask(BEN, "add for ever") == "I could not finish."

        bodies = [request.body for request in bot.model.chat_requests]
        assert ["tools" in body for body in bodies] == [True, True, False]


async def test_t02_every_call_of_a_reply_gets_its_result_in_order(stores: StoryStores) -> None:
    several = calls(
        call("add", {"a": 1, "b": 1}), call("upper", {"text": "x"}), call("add", {"a": 2, "b": 2})
    )
    async with running_bot(stores, [several, text("done")]) as bot:
        await bot.ask(BEN, "all at once")

        messages = bot.prompts()[1]
        asked = next(message["tool_calls"] for message in messages if message.get("tool_calls"))
        answered = [message["tool_call_id"] for message in messages if message["role"] == "tool"]
        assert answered == [each["id"] for each in asked]
        assert tool_results(messages) == ["2", "X", "4"]
        assert [json.loads(each["function"]["arguments"]) for each in asked][1] == {"text": "x"}
