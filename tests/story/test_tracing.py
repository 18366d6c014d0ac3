"""Stories of `mnemogram trace`: what the record of an update shows of its turn, and what it never shows."""

import asyncio
import json
import re
import time

import pytest

from bot.inbox.inspection import InboxInspection, UpdateRecord
from bot.turn.commit import TurnTrace
from bot.turn.outbox import SentPart
from memory.codec import parse_json
from tests.scripted_replies import call, calls, held, text
from tests.story.harness import BEN, Story, StoryStores, running_bot

CANARY = "quokka"


async def records_of(bot: Story) -> list[UpdateRecord]:
    """Return the records of all updates, in order."""
    inspection = InboxInspection(bot.redis, partitions=1, clock=time.time)
    names = await bot.redis.call("KEYS", "mnemogram:{m0}:update:*")
    found = [await inspection.find(int(name.rpartition(":")[2])) for name in sorted(names)]
    return sorted((each for each in found if each is not None), key=lambda each: each.update_id)


def turn_of(record: UpdateRecord) -> TurnTrace:
    turn = parse_json(TurnTrace, record.turn) if record.turn else None
    assert turn is not None
    return turn


async def test_a_record_shows_the_whole_life_of_its_update(
    stores: StoryStores, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = asyncio.Event()
    script = [
        held(text("one"), until=answer),
        calls(call("add", {"a": 2, "b": 3}), call(f"{CANARY}_tool", {})),
        text("It is 5."),
    ]
    async with running_bot(stores, script, models="gpt-5.4-mini:1:2") as bot:
        await bot.say(BEN, f"hello {CANARY}")
        await bot.wait_for_prompts(1)
        await bot.say(BEN, "add 2")
        last = await bot.say(BEN, "and 3")
        await bot.wait_for_waiting(3)
        answer.set()
        await bot.wait_for_reply(last)
        await bot.wait_until_finished(3)
        first, second, third = await records_of(bot)

    assert first.gate == "polling turn private_chat"
    assert [step.kind for step in turn_of(first).steps] == ["model"]
    turn = turn_of(second)
    first_call, *tools, last_call = [(step.kind, step.name, step.outcome) for step in turn.steps]
    assert first_call == last_call == ("model", "Mnemogram", "ok")
    assert sorted(tools) == [("tool", "add", "ok"), ("tool", "unknown", "error")]
    assert turn.usage.prompt_tokens > 0
    assert turn.micros == turn.usage.prompt_tokens + 2 * turn.usage.completion_tokens
    (sent,) = [parse_json(SentPart, line) for line in second.parts.values()]
    assert (sent.kind, sent.outcome, sent.telegram_id) == ("text", "sent", second.sent[0])
    assert second.times.begun is not None
    assert second.times.committed is not None
    assert second.times.received is not None
    assert second.times.finished is not None
    assert second.times.received <= second.times.begun <= second.times.committed <= second.times.finished
    assert (third.turn_of, third.turn, dict(third.parts)) == (second.update_id, "", {})
    assert CANARY not in repr([first, second, third])
    assert CANARY not in capsys.readouterr().err, (
        "nor do the logs tell a name that only the model has made up"
    )


@pytest.mark.parametrize("log_text", [False, True])
async def test_no_log_level_alone_writes_what_people_tools_and_the_model_say(
    stores: StoryStores, capsys: pytest.CaptureFixture[str], log_text: bool
) -> None:
    script = [
        calls(call("search_memory", {"query": f"the {CANARY}"}), call("add", {"a": CANARY, "b": 3})),
        text(f"It is a {CANARY}."),
    ]
    async with running_bot(stores, script, log_level="debug", log_text=log_text) as bot:
        await bot.ask(BEN, f"what is a {CANARY}?")
        await bot.wait_until_finished(1)

    logged = capsys.readouterr().err
    assert "tool_result" in logged
    assert (CANARY in logged, "texts_are_logged" in logged) == (log_text, log_text)


@pytest.mark.parametrize("log_text", [False, True])
async def test_at_debug_level_every_line_is_an_event_of_ours(
    stores: StoryStores, capsys: pytest.CaptureFixture[str], log_text: bool
) -> None:
    script = [calls(call("search_memory", {"query": "the harbour"})), text("**Here** it is.")]
    async with running_bot(
        stores, script, log_level="debug", log_format="json", log_text=log_text, is_pushed=True
    ) as bot:
        await bot.ask(BEN, "what do you know of the harbour?")
        await bot.wait_until_finished(1)

    events = [json.loads(line)["event"] for line in capsys.readouterr().err.splitlines()]
    assert {"ready", "llm_call", "tool_result", "agent_end"} <= set(events)
    assert [event for event in events if re.fullmatch("[a-z_]+", event) is None] == []
