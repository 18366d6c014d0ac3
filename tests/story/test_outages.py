"""Stories of outages around the bot and of the bot itself: nothing is lost, nothing happens twice."""

import asyncio
from typing import Any

import pytest

from bot.inbox.worker import Worker
from bot.turn import answer
from tests.scripted_replies import Reply, call, calls, held, text
from tests.scripted_script import ChatRequest, echo
from tests.store_proxy import index_proxy, redis_proxy
from tests.story.expected import english
from tests.story.harness import BEN, CHIARA, StoryStores, make_ref, running_bot, take_the_context_away
from tests.story.index_points import points_with
from tests.story.prompts import recalled, tool_results

pytestmark = pytest.mark.slow

CANARY = "quokka"


async def test_m18_a_reply_is_stored_before_it_is_sent(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.page("faults", {"method": "sendMessage", "error": "429", "retry_after": 1, "times": 1})
        await bot.say(BEN, "hello")

        async def is_kept() -> bool:
            return await bot.lines(BEN) == [("user", "hello"), ("assistant", "echo: hello")]

        await bot.wait_until_true(is_kept)
        assert bot.said_in(BEN) == []
        assert (await bot.records())[0]["state"] == "delivering"
        await bot.wait_until(lambda: bot.said_in(BEN) == ["echo: hello"])
        await bot.wait_until_idle()
        assert len(bot.prompts()) == 1


async def test_an_interrupted_send_is_repeated_once_without_another_model_call(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        await bot.page("faults", {"method": "sendMessage", "error": "cut", "times": 5})
        await bot.say(BEN, "hello")
        await bot.wait_until_finished(1)
        await bot.wait_until_idle()

        assert bot.said_in(BEN) == ["echo: hello"] * 2
        assert len(bot.prompts()) == 1
        assert len(await bot.lines(BEN)) == 2


async def test_a_person_who_blocked_the_bot_gets_no_messages_and_keeps_their_memory(
    stores: StoryStores,
) -> None:
    answer = asyncio.Event()
    async with running_bot(stores, [text("one"), held(text("two"), until=answer)]) as bot:
        await bot.ask(BEN, "hello")
        await bot.say(BEN, "are you there")
        await bot.wait_for_prompts(2)
        await bot.page("blocks", {"chat_id": BEN, "blocked": True})
        answer.set()
        await bot.wait_until_idle()

        states = [(r["state"], r["reason"]) for r in await bot.records()]
        assert ("ignored", "undeliverable_unreachable") in states
        assert bot.said_in(BEN) == ["one"]
        assert [text for _, text in await bot.lines(BEN)] == ["hello", "one", "are you there", "two"]


async def test_a_taken_over_turn_resumes_without_repeating_calls(stores: StoryStores) -> None:
    answer, asked = asyncio.Event(), 0

    def script(request: ChatRequest) -> Reply:
        nonlocal asked
        asked += 1
        if asked == 1:
            return calls(call("current_time", {}))
        return held(text("done"), until=answer) if asked == 2 else text("done")

    async with running_bot(stores, script, lease_s=1) as bot:
        await bot.say(BEN, "what time is it")
        await bot.wait_for_prompts(2)
        await take_the_context_away(bot)

        await bot.wait_until(lambda: bot.said_in(BEN) == ["done"])
        answer.set()
        await bot.wait_until_idle()

        assert len(bot.prompts()) == 3
        assert tool_results(bot.prompts()[2]) == tool_results(bot.prompts()[1])
        assert await bot.lines(BEN) == [("user", "what time is it"), ("assistant", "done")]
        assert bot.said_in(BEN) == ["done"]


async def test_a_stopped_bot_hands_back_its_turn_and_the_next_start_answers_it(
    stores: StoryStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Worker.run.__kwdefaults__ is not None
    monkeypatch.setitem(Worker.run.__kwdefaults__, "grace_s", 0.1)
    never, is_first = asyncio.Event(), True

    def script(request: ChatRequest) -> Reply:
        nonlocal is_first
        was_first, is_first = is_first, False
        return held(text("too late"), until=never) if was_first else echo(request)

    async with running_bot(stores, script) as bot:
        await bot.say(BEN, "hello")
        await bot.wait_for_prompts(1)
        await bot.stop()

        assert (await bot.records())[0]["attempts"] == "0"
        await bot.say(BEN, "are you there")
        bot.start()

        await bot.wait_until(lambda: bot.said_in(BEN)[-1:] == ["echo: are you there"])
        await bot.wait_until_idle()
        assert "too late" not in bot.said_in(BEN)
        assert [line for role, line in await bot.lines(BEN) if role == "user"] == ["hello", "are you there"]
        never.set()


async def test_a_stopped_bot_finishes_its_running_turn(stores: StoryStores) -> None:
    answer = asyncio.Event()
    async with running_bot(stores, [held(text("done"), until=answer)]) as bot:
        await bot.say(BEN, "hello")
        await bot.wait_for_prompts(1)
        stopping = asyncio.create_task(bot.stop())
        answer.set()
        await stopping

        assert bot.said_in(BEN) == ["done"]
        assert (await bot.records())[0]["state"] == "answered"


@pytest.mark.parametrize("is_pushed", [True, False], ids=["by webhook", "by polling"])
async def test_an_outage_of_the_store_needs_no_restart_and_loses_nothing(
    stores: StoryStores, redis_url: str, is_pushed: bool
) -> None:
    async with (
        redis_proxy(redis_url) as way,
        running_bot(stores, is_pushed=is_pushed, redis_url=way.redis_url, lease_s=1) as bot,
    ):
        await bot.wait_until_down()
        await bot.ask(BEN, "before")
        await way.cut()
        await bot.say(BEN, "meanwhile")
        await bot.say(CHIARA, "meanwhile")
        assert "redis" in (await bot.health())[1]
        await way.mend()

        await bot.wait_until(lambda: bot.said_in(BEN)[1:] == ["echo: meanwhile"] == bot.said_in(CHIARA))
        await bot.wait_until_idle()
        assert [record["state"] for record in await bot.records()] == ["answered"] * 3
        assert (await bot.health())[0] == 200


async def test_an_outage_of_the_store_during_a_turn_costs_no_answer(
    stores: StoryStores, redis_url: str
) -> None:
    answer = asyncio.Event()

    def script(request: ChatRequest) -> Reply:
        return held(echo(request), until=answer)

    async with (
        redis_proxy(redis_url) as way,
        running_bot(stores, script, redis_url=way.redis_url, lease_s=1) as bot,
    ):
        await bot.say(BEN, "hello")
        await bot.wait_for_prompts(1)
        await way.cut()
        answer.set()
        await way.mend()

        await bot.wait_until(lambda: bot.said_in(BEN) == ["echo: hello"])
        await bot.wait_until_idle()
        assert await bot.lines(BEN) == [("user", "hello"), ("assistant", "echo: hello")]


async def test_without_the_index_the_bot_answers_without_recall_and_reports_it(stores: StoryStores) -> None:
    async with (
        index_proxy(stores.index.url) as way,
        running_bot(stores, qdrant_url=way.http_url, window_tokens=64, openai_summary_model="") as bot,
    ):
        await bot.wait_until_down()
        await bot.ask(BEN, "my sister Anna lives in Lisbon")
        await way.cut()

        assert await bot.ask(BEN, "where does Anna live") == "echo: where does Anna live"

        assert recalled(bot.prompts()[-1]) == ""
        status, down = await bot.health()
        assert (status, list(down)) == (503, ["qdrant"])
        assert english("memory-unsearchable") in await bot.ask(BEN, "/memory")
        await way.mend()
        await bot.wait_until_down()
        await bot.wait_until_indexed()
        await bot.ask(BEN, "where does my sister live")
        assert "Lisbon" in str(bot.prompts()[-1])


async def test_a_reset_without_the_index_says_so_and_is_finished_later(stores: StoryStores) -> None:
    async with index_proxy(stores.index.url) as way, running_bot(stores, qdrant_url=way.http_url) as bot:
        await bot.ask(BEN, f"my secret is {CANARY}")
        await bot.wait_until_indexed()
        await way.cut()

        receipt = await bot.reset(BEN)

        assert receipt.startswith(english("receipt-index-away"))
        assert "nothing is left" not in receipt
        assert await bot.keys_with(CANARY) == []
        await way.mend()
        await bot.wait_until_indexed()
        assert await points_with(stores.index, make_ref(BEN).context_id) == []


async def test_an_update_that_fails_repeatedly_becomes_a_dead_letter_and_the_chat_goes_on(
    stores: StoryStores, monkeypatch: pytest.MonkeyPatch
) -> None:

    run_agent = answer.run_agent

    async def break_at_poison(agent: Any, context: Any, **given: Any) -> Any:
        if any("poison" in message.text for message in context.user_messages):
            await given["journal"].show_in(shown["message_id"])
            raise RuntimeError("a bug, with a secret")
        return await run_agent(agent, context, **given)

    monkeypatch.setattr(answer, "run_agent", break_at_poison)
    async with running_bot(stores) as bot:
        shown = await bot.wait_for_reply(
            await bot.say(BEN, "hi")
        )  # stands for what shows that a turn is at work

        await bot.say(BEN, "poison")
        await bot.wait_until(lambda: [m["text"] for m in bot.shown_in(BEN)] == [english("buried")])

        assert await bot.ask(BEN, "hello") == "echo: hello"
        records = await bot.records()
        assert (records[1]["state"], records[1]["attempts"]) == ("dead", "3")
        assert "secret" not in str(bot.said_in(BEN))
