"""Stories of limits: a clear sentence without a model call or a stored message; and /usage."""

import asyncio
import re
import time

from bot.turn.store import TurnStore
from memory.history.redis_history import RedisHistory
from memory.tokens import tokenizer_for
from simulator.offline_model.wire import prompt_tokens
from tests.messages import some_messages
from tests.scripted_replies import Reply, call, calls, held, stalled, text, without_usage
from tests.scripted_script import ChatRequest, echo, last_user_text
from tests.story.expected import english
from tests.story.harness import (
    BEN,
    CHIARA,
    OLGA,
    WEEKEND,
    Story,
    StoryStores,
    make_ref,
    running_bot,
    take_the_context_away,
)
from tests.story.test_stopping import wait_for_the_beginning

CANARY = "quokka"


async def test_a_limit_of_messages_is_reported_once_before_a_model_call(stores: StoryStores) -> None:
    async with running_bot(stores, user_messages_per_minute=2) as bot:
        assert await bot.ask(BEN, "one") == "echo: one"
        assert await bot.ask(BEN, "two") == "echo: two"

        told = await bot.ask(BEN, f"three {CANARY}")
        await bot.say(BEN, f"four {CANARY}")
        await bot.wait_until_finished(4)

        assert re.fullmatch(
            r"I can answer you 2 times a minute, and you've reached that limit\. Please try again in \d+ seconds\.",
            told,
        )
        assert len(bot.said_in(BEN)) == 3
        assert [(r["state"], r["reason"]) for r in (await bot.records())[2:]] == [
            ("refused", "limit_user_messages")
        ] * 2
        assert len(bot.prompts()) == 2
        assert await bot.keys_with(CANARY) == []
        assert (await bot.ask(BEN, "/help")).startswith("I remember")


async def test_a_chat_over_its_daily_tokens_is_refused_and_operators_are_not(stores: StoryStores) -> None:
    async with running_bot(stores, chat_tokens_per_day=1) as bot:
        assert (await bot.ask(BEN, "@mnemogram_bot one", chat=WEEKEND)).startswith("echo:")

        told = await bot.ask(CHIARA, "@mnemogram_bot two", chat=WEEKEND)

        assert told.startswith("This chat has used its 1 token for today.")
        assert (await bot.ask(OLGA, "@mnemogram_bot three", chat=WEEKEND)).startswith("echo:")
        assert await bot.ask(CHIARA, "in private") == "echo: in private"


def by_channel(channel: int, number: int) -> dict[str, object]:
    """Return a line to the bot that somebody writes to the group as this channel."""
    return {
        "message_id": 9_000 + number,
        "date": 1_800_000_000 + number,
        "chat": {"id": WEEKEND, "type": "group", "title": "Weekend plans"},
        "from": {"id": 136_817_688, "is_bot": True, "first_name": "Channel", "username": "Channel_Bot"},
        "sender_chat": {"id": channel, "type": "channel", "title": f"Channel {number}"},
        "text": f"@mnemogram_bot line {number}",
        "entities": [{"type": "mention", "offset": 0, "length": 14}],
    }


async def test_one_who_writes_as_many_channels_reaches_the_limit_of_a_person(stores: StoryStores) -> None:
    async with running_bot(stores, user_messages_per_minute=2) as bot:
        await bot.ask(CHIARA, "hello")
        for number in range(1, 7):
            await bot.push({"message": by_channel(-1_001_000 - number, number)})
            await bot.wait_until_finished(1 + number)
        outcomes = [(record["state"], record["reason"]) for record in (await bot.records())[1:]]
        person = await bot.ask(BEN, "@mnemogram_bot and I", chat=WEEKEND)

    assert [state for state, _ in outcomes] == ["answered"] * 2 + ["refused"] * 4
    assert {reason for _, reason in outcomes[2:]} == {"limit_user_messages"}
    assert person.startswith("echo:")


async def test_one_without_access_who_writes_as_many_channels_is_refused_once(stores: StoryStores) -> None:
    async with running_bot(stores, allowed_user_ids=str(CHIARA)) as bot:
        await bot.ask(CHIARA, "hello")
        for number in range(1, 4):
            await bot.push({"message": by_channel(-1_001_000 - number, number)})
            await bot.wait_until_finished(1 + number)

        assert bot.said_in(WEEKEND) == [english("refused")]


async def test_usage_shows_the_usage_and_limits_of_a_person_and_a_chat(stores: StoryStores) -> None:
    async with running_bot(
        stores, models="gpt-5.4-mini:1000000:0", chat_tokens_per_day=100_000, user_messages_per_minute=9
    ) as bot:
        await bot.ask(BEN, "@mnemogram_bot hello", chat=WEEKEND)
        await bot.ask(BEN, "hello")

        told = await bot.ask(BEN, "/usage", chat=WEEKEND)

        you, chat = (int(n.replace(",", "")) for n in re.findall(r": ([\d,]+) tokens, cost [\d,]+\.", told))
        assert 0 < chat < you
        assert told.startswith("Today's usage (UTC):\nYou: ")
        assert "Limits for each person: 9 messages a minute.\n" in told
        assert "Limits for each chat: 100,000 tokens a day.\n" in told
        assert (await bot.ask(CHIARA, "/usage")).startswith(english("usage-none"))
        assert "All chats: " in await bot.ask(OLGA, "/stats")


async def test_stats_count_what_waits_without_their_own_update(stores: StoryStores) -> None:
    answer = asyncio.Event()
    async with running_bot(stores, [held(text("done"), until=answer)]) as bot:
        assert english("stats-queue", count=0) in await bot.ask(OLGA, "/stats")
        await bot.wait_until_idle()
        await bot.say(BEN, "hello")
        await bot.wait_for_prompts(1)

        assert "In the queue: 1. The oldest has been waiting for " in await bot.ask(OLGA, "/stats")
        answer.set()


async def test_a_taken_over_turn_is_recorded_like_an_uninterrupted_one(stores: StoryStores) -> None:
    whole = await _used(stores, is_interrupted=False)
    await stores.redis.call("FLUSHALL")
    assert await _used(stores, is_interrupted=True) == whole
    assert int(whole["prompt"]) > 0


async def _used(stores: StoryStores, *, is_interrupted: bool) -> dict[str, str]:
    """Return the recorded usage of a turn of two model calls.

    If it is interrupted, a second worker repeats the second one.
    """
    answer, asked = asyncio.Event(), 0

    def script(_: ChatRequest) -> Reply:
        nonlocal asked
        asked += 1
        if asked == 1:
            return calls(call("upper", {"text": "tea"}))
        return held(text("done"), until=answer) if asked == 2 and is_interrupted else text("done")

    async with running_bot(stores, script, lease_s=1) as bot:
        await bot.say(BEN, "shout tea")
        await bot.wait_for_prompts(2)
        if is_interrupted:
            await take_the_context_away(bot)
        await bot.wait_until(lambda: bot.said_in(BEN) == ["done"])
        answer.set()
        await bot.wait_until_idle()
        return await _booked(bot)


async def test_a_person_who_stops_every_answer_still_reaches_the_limit(stores: StoryStores) -> None:
    script = [stalled("one two three four five six", after=4)]
    async with running_bot(stores, script, user_tokens_per_day=1) as bot:
        await bot.say(BEN, "count")
        await wait_for_the_beginning(bot)
        await bot.wait_for_reply(await bot.say(BEN, "/stop"))

        assert (await bot.ask(BEN, "count on")).startswith("You've used your 1 token for today.")
        stopped = await _booked(bot)
        assert int(stopped["prompt"]) > 0
        assert int(stopped["completion"]) >= 2, "what was written by then"


async def test_a_person_whose_answers_all_time_out_still_reaches_the_limit(stores: StoryStores) -> None:
    async with running_bot(
        stores, [stalled("one two three four", after=4)], turn_deadline_s=1, user_tokens_per_day=1
    ) as bot:
        assert "one two" not in await bot.ask(BEN, "count")
        assert (await bot.ask(BEN, "count on")).startswith("You've used your 1 token for today.")


async def test_an_endpoint_without_usage_is_limited_by_our_count(stores: StoryStores) -> None:
    async with running_bot(
        stores, lambda request: without_usage(echo(request)), user_tokens_per_day=1
    ) as bot:
        assert await bot.ask(BEN, "one") == "echo: one"

        assert (await bot.ask(BEN, "two")).startswith("You've used your 1 token for today.")
        counted = await _booked(bot)
        assert int(counted["prompt"]) > 0
        assert int(counted["completion"]) == tokenizer_for("gpt-4o").count("echo: one")


async def test_a_restarted_run_is_recorded_in_addition_to_the_answering_one(stores: StoryStores) -> None:
    never = asyncio.Event()

    def script(request: ChatRequest) -> Reply:
        return held(text("late"), until=never) if last_user_text(request) == "first" else text("done")

    async with running_bot(stores, script) as bot:
        asked = await bot.say(BEN, "first")
        await bot.wait_for_prompts(1)
        await bot.people.edit(asked, "second")
        await bot.wait_for_reply(asked)
        await bot.wait_until_idle()
        never.set()
        told = prompt_tokens(bot.model.chat_requests[-1].body)
        assert int((await _booked(bot))["prompt"]) > 1.5 * told


async def test_an_answer_that_begins_again_because_a_message_was_forgotten_is_recorded_each_time(
    stores: StoryStores,
) -> None:
    answer = asyncio.Event()
    async with running_bot(stores, lambda request: held(echo(request), until=answer)) as bot:
        history = RedisHistory(stores.redis)
        await history.append(make_ref(BEN), some_messages(2), epoch=0)
        asked = await bot.say(BEN, "hello")
        await bot.wait_for_prompts(1)
        await history.delete(make_ref(BEN), ["m0"], epoch=0)  # as the page does
        answer.set()
        await bot.wait_for_reply(asked)
        await bot.wait_until_idle()
        asked_for = [prompt_tokens(request.body) for request in bot.model.chat_requests]

        assert len(asked_for) == 2
        assert int((await _booked(bot))["prompt"]) == sum(asked_for)


async def test_an_answer_erased_by_a_reset_is_still_recorded(stores: StoryStores) -> None:
    answer = asyncio.Event()
    async with running_bot(stores, [held(text("done"), until=answer)]) as bot:
        await bot.say(BEN, "hello")
        await bot.wait_for_prompts(1)
        await TurnStore(stores.redis, clock=time.time).reset(make_ref(BEN))
        answer.set()
        await bot.wait_until_idle()
        assert bot.said_in(BEN) == []
        assert int((await _booked(bot))["prompt"]) > 0


async def test_edits_that_restart_an_answer_count_as_messages(stores: StoryStores) -> None:
    never = asyncio.Event()
    async with running_bot(
        stores, lambda request: held(echo(request), until=never), user_messages_per_minute=2
    ) as bot:
        asked = await bot.say(BEN, "one")
        await bot.wait_for_prompts(1)
        await bot.people.edit(asked, "two")
        await bot.wait_for_prompts(2)

        await bot.people.edit(asked, "three")

        assert "2 times a minute" in (await bot.wait_for_reply(asked))["text"]
        assert len(bot.prompts()) == 2
        never.set()


async def test_a_refused_edit_keeps_the_old_answer(stores: StoryStores) -> None:
    def script(request: ChatRequest) -> Reply:
        never = asyncio.Event()
        return held(echo(request), until=never) if "two" in last_user_text(request) else echo(request)

    async with running_bot(stores, script, user_messages_per_minute=2) as bot:
        asked = await bot.say(BEN, "one")
        answer = await bot.wait_for_reply(asked)
        await bot.people.edit(asked, "two")
        await bot.wait_until(
            lambda: bot.shown_in(BEN)[-1]["text"] != "echo: one"
        )  # it shows the next answer growing

        await bot.people.edit(asked, "three")

        await bot.wait_until(lambda: "2 times a minute" in bot.said_in(BEN)[-1])
        shown = bot.shown_in(BEN)[0]
        assert (shown["message_id"], shown["text"]) == (answer["message_id"], "echo: one")
        assert [said for _, said in await bot.lines(BEN)] == ["three", "echo: one"]


async def _booked(bot: Story) -> dict[str, str]:
    (day,) = await bot.keys_with(":all:0:")
    return await bot.redis.call("HGETALL", day)
