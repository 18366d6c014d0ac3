"""Large tool results of a run on the real store: in the prompt, the journal and the ledger."""

import json

import pytest

from bot.agent.actions import ToolResult
from bot.agent.context import AgentContext
from bot.agent.loop import run_agent
from bot.agent.tool import Tool
from bot.agent.tool_calls import LONGEST_REPLY
from bot.errors import Fenced, ToolFailed
from bot.observe.metrics import ARTIFACTS
from bot.tools.read_artifact import read_artifact
from memory.artifacts.store import ContextArtifacts
from memory.codec import parse_json
from memory.errors import Forgotten
from memory.keys import context_key
from memory.redis.client import RedisClient
from tests.unit.agent.kit import (
    REF,
    DictJournal,
    ScriptedModel,
    asks,
    call,
    make_agent,
    make_context,
    message,
    run_alone,
    sample,
    says,
)
from tests.unit.agent.team_kit import TeamModel, make_team

ASK = message(0, "list them")
LIMIT = 1_000


def many(count: int) -> list[int]:
    """Return this many numbers."""
    return list(range(count))


async def open_context(redis: RedisClient, *, epoch: int = 0) -> AgentContext:
    artifacts = ContextArtifacts(
        redis, REF, epoch=lambda: epoch, clock=lambda: 1_800_000_000.0, ttl_s=600, keep_beyond=LIMIT
    )
    return await make_context(prompt=[ASK], artifacts=artifacts, request_id="5")


def counting(count: int) -> ScriptedModel:
    return ScriptedModel(asks(call("many", json.dumps({"count": count}), call_id="c1")), says("ok"))


async def test_i06_a_large_result_is_an_artifact_in_prompt_journal_and_ledger(redis: RedisClient) -> None:
    context, journal, model = await open_context(redis), DictJournal(), counting(5_000)
    before = sample(ARTIFACTS, "mnemogram_artifacts_total", outcome="kept")

    await run_alone(make_agent(model, many), context, journal=journal)

    assert sample(ARTIFACTS, "mnemogram_artifacts_total", outcome="kept") == before + 1
    result = context.thinking.completed_steps[0].results[0]
    assert result.output.startswith(f"[artifact {result.artifact_id}: the result of many, ")
    assert len(result.output) < LIMIT
    assert parse_json(ToolResult, journal.steps["tool:1:0"]) == result
    assert (context.record.ledger[0].artifact_id, context.record.ledger[0].output) == (
        result.artifact_id,
        result.output,
    )
    assert model.requests[1].messages[-1].text == result.output
    assert context.artifacts is not None
    whole = await context.artifacts.read(result.artifact_id, start=0, length=100_000)
    assert json.loads(whole) == many(5_000)


async def test_i06_a_result_at_the_limit_is_unchanged(redis: RedisClient) -> None:
    context = await open_context(redis)

    def lines(count: int) -> str:
        return "x" * count

    asked = asks(call("lines", f'{{"count": {LIMIT}}}'), call("lines", f'{{"count": {LIMIT + 1}}}'))
    await run_alone(make_agent(ScriptedModel(asked, says("ok")), lines), context, journal=DictJournal())

    kept, moved = context.thinking.completed_steps[0].results
    assert (kept.output, kept.artifact_id) == ("x" * LIMIT, "")
    assert moved.artifact_id


async def test_i06_short_final_and_artifact_reading_results_are_no_artifacts(redis: RedisClient) -> None:
    context = await open_context(redis)

    def report() -> str:
        return "word " * 40_000

    final = Tool.from_function(report, is_final=True)
    first = counting(5_000)
    await run_alone(make_agent(first, many), context, journal=DictJournal())
    made = context.record.ledger[0].artifact_id
    reading = call("read_artifact", json.dumps({"artifact_id": made, "length": LIMIT}), call_id="r1")
    model = ScriptedModel(asks(reading), asks(call("report", call_id="f1")))

    reply = await run_alone(make_agent(model, read_artifact, final), context, journal=DictJournal())

    read, reported = (step.results[0] for step in context.thinking.completed_steps)
    assert len(read.output) > LIMIT
    assert (read.artifact_id, reported.artifact_id) == ("", "")
    assert len(reply) < LONGEST_REPLY + 100


async def test_i06_large_errors_and_large_delegated_answers_are_artifacts_too(redis: RedisClient) -> None:
    def fail() -> None:
        raise ToolFailed("wrong " * 1_000)

    context = await open_context(redis)
    model = TeamModel(
        {
            "desk": [
                asks(
                    call("fail", call_id="f1"), call("delegate_to_checker", '{"task": "Tell."}', call_id="d1")
                ),
                says("ok"),
            ],
            "checker: Tell.": [says("told " * 1_000)],
        }
    )

    await run_agent(make_team(model, fail), context, journal=DictJournal())

    failed, delegated = context.record.ledger
    assert (failed.is_error, delegated.is_error) == (True, False)
    assert failed.artifact_id != delegated.artifact_id
    assert delegated.output.startswith(
        f"[artifact {delegated.artifact_id}: the result of delegate_to_checker"
    )
    assert failed.artifact_id


async def test_i06_a_resumed_run_replaces_its_own_artifact(redis: RedisClient) -> None:
    journal = DictJournal(refusal={"tool:1:0": Fenced()})
    before, after = await open_context(redis), await open_context(redis)
    with pytest.raises(Fenced):
        await run_alone(make_agent(counting(5_000), many), before, journal=journal)
    journal.refusal = {}

    await run_alone(make_agent(ScriptedModel(says("ok")), many), after, journal=journal)

    (key,) = await redis.call("KEYS", "*artifact:*")
    assert str(key).endswith(after.record.ledger[0].artifact_id)


async def test_i06_a_reset_meanwhile_ends_the_run(redis: RedisClient) -> None:
    context = await open_context(redis)
    await redis.call("SET", context_key(REF, "epoch"), 1)

    with pytest.raises(Forgotten):
        await run_alone(make_agent(counting(5_000), many), context, journal=DictJournal())


async def test_i06_without_a_store_a_large_result_is_cut() -> None:
    context = await make_context(prompt=[ASK])

    await run_alone(make_agent(counting(30_000), many), context, journal=DictJournal())

    assert "characters left out" in context.thinking.completed_steps[0].results[0].output
