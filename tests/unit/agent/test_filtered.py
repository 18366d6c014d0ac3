"""A refused prompt: which part is asked for again, what is at fault, and what the rest of the run goes without."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from structlog.testing import capture_logs

from bot.agent.actions import CompletedStep, ToolResult
from bot.agent.context import AgentContext, Delegation
from bot.agent.filtered import RESULT_LEFT_OUT
from bot.errors import ModelFiltered
from memory.history.fact import Fact
from memory.history.ledger import LedgerEntry
from memory.history.message import Message, Quote, Sender
from memory.history.talk import TalkLine
from tests.unit.agent.kit import (
    DictJournal,
    ScriptedModel,
    asks,
    call,
    hit,
    make_agent,
    make_context,
    message,
    recalls,
    run_alone,
    says,
)

ASK = message(9, "where does Anna live?")
QUOTING = replace(ASK, quote=Quote(telegram_message_id=5, sender_name="Ben", text="Anna moved"))
TALK = (
    TalkLine(telegram_message_id=3, sender=Sender(id=8, name="Ben"), text="hello there", sent_at=ASK.sent_at),
)
HITS = [hit(message(number, f"memory {number}")) for number in range(4)]
REFUSED = ModelFiltered()


@dataclass(slots=True)
class Marks:
    ids: set[str] = field(default_factory=set[str])
    quoted: set[int] = field(default_factory=set[int])

    async def add(self, ids: Collection[str], quoted: Collection[int]) -> None:
        self.ids |= set(ids)
        self.quoted |= set(quoted)


async def context_with(marks: Marks, *, prompt: Message = ASK, **details: Any) -> AgentContext:
    return await make_context(prompt=[prompt], refuse=marks.add, **details)


async def ask(model: ScriptedModel, context: AgentContext) -> str:
    return (await make_agent(model).next_action(context)).text


def shown(model: ScriptedModel, number: int = -1) -> str:
    return "\n".join(model.requests[number].shown())


async def test_the_question_alone_is_asked_once() -> None:
    model, marks = ScriptedModel(REFUSED), Marks()

    with pytest.raises(ModelFiltered):
        await ask(model, await context_with(marks))

    assert len(model.requests) == 1
    assert marks == Marks()


async def test_at_most_two_more_requests_find_that_the_question_is_at_fault() -> None:
    model, marks = ScriptedModel(REFUSED, REFUSED, REFUSED), Marks()
    context = await context_with(marks, history=[message(0, "hi")], talk=TALK)
    context.thinking.recalled = recalls(*HITS)

    with pytest.raises(ModelFiltered):
        await ask(model, context)

    assert (len(model.requests), marks, context.record.left_out) == (3, Marks(), [])
    assert [note.outcome for note in context.record.notes] == ["ModelFiltered"] * 2
    assert "hi" in shown(model, 1)
    assert shown(model).splitlines() == ["system: You are a test.", "user: where does Anna live?"]


async def test_the_better_half_of_the_memories_is_tried_and_the_others_are_at_fault() -> None:
    model, marks = ScriptedModel(REFUSED, says("bare"), says("better")), Marks()
    context = await context_with(marks)
    fact = Fact(
        id="f1",
        subject="Anna",
        statement="Lives.",
        said_by=7,
        message_ids=("m77",),
        valid_from=0.0,
        confidence=1.0,
    )
    context.thinking.recalled = recalls(
        *HITS[:3], replace(HITS[3], before=(message(50, "before it"),)), facts=[fact]
    )

    with capture_logs() as logs:
        assert await ask(model, context) == "better"

    assert marks.ids == {"m2", "m3", "m50", "m77"}
    assert context.thinking.recalled == recalls(*HITS[:2])
    assert context.record.left_out == ["memories"]
    (event,) = [each for each in logs if each["event"] == "model_filtered"]
    assert (event["at_fault"], event["messages"]) == ("memories", ["m2", "m3", "m50", "m77"])


async def test_the_half_that_is_refused_again_is_at_fault() -> None:
    model, marks = ScriptedModel(REFUSED, says("bare"), REFUSED), Marks()
    context = await context_with(marks)
    context.thinking.recalled = recalls(*HITS)

    assert await ask(model, context) == "bare"

    assert marks.ids == {"m0", "m1"}
    assert context.thinking.recalled == recalls()


async def test_of_talk_and_memories_the_talk_is_left_out_if_the_memories_pass() -> None:
    model, marks = ScriptedModel(REFUSED, says("bare"), says("better")), Marks()
    context = await context_with(marks, talk=TALK)
    context.thinking.recalled = recalls(*HITS)

    assert await ask(model, context) == "better"

    assert (context.record.left_out, marks.ids, context.conversation.talk) == (["talk"], set(), ())
    assert "memory 3" in shown(model)


async def test_of_talk_and_memories_the_memories_are_at_fault_if_they_are_refused() -> None:
    model, marks = ScriptedModel(REFUSED, says("bare"), REFUSED), Marks()
    context = await context_with(marks, talk=TALK)
    context.thinking.recalled = recalls(*HITS)

    assert await ask(model, context) == "bare"

    assert (context.record.left_out, marks.ids) == (["memories"], {"m0", "m1", "m2", "m3"})


async def test_a_quotation_is_suspected_first() -> None:
    model, marks = ScriptedModel(REFUSED, says("bare")), Marks()
    context = await context_with(marks, prompt=QUOTING, talk=TALK)
    context.thinking.recalled = recalls(*HITS)

    assert await ask(model, context) == "bare"

    assert (context.record.left_out, marks) == (["quote"], Marks(quoted={5}))
    assert [each.quote for each in context.user_messages] == [None]


async def test_the_rest_of_the_run_goes_without_the_conversation() -> None:
    model, marks = ScriptedModel(REFUSED, asks(call("look")), says("done")), Marks()
    context = await context_with(marks, history=[message(0, "hi"), message(1, "hello", role="assistant")])

    def look() -> str:
        """Look."""
        return "a house"

    assert await run_alone(make_agent(model, look), context, journal=DictJournal()) == "done"

    assert context.record.left_out == ["conversation"]
    assert "hi" not in shown(model)
    assert "a house" in shown(model)


async def test_results_of_tools_are_replaced_in_the_run_and_in_the_ledger() -> None:
    model, marks = ScriptedModel(asks(call("look")), REFUSED, asks(call("look")), says("done")), Marks()
    context = await context_with(marks, history=[message(0, "hi")], request_id="r1")
    results = iter(["a poison", "a house"])

    def look() -> str:
        """Look."""
        return next(results)

    assert await run_alone(make_agent(model, look), context, journal=DictJournal()) == "done"

    assert RESULT_LEFT_OUT in shown(model)
    assert "a poison" not in shown(model)
    assert [entry.output for entry in context.record.ledger] == [RESULT_LEFT_OUT, "a house"]
    assert (context.record.left_out, marks) == ([], Marks())


async def test_after_a_transfer_the_question_alone_may_be_all_that_passes() -> None:
    model, marks = ScriptedModel(REFUSED, REFUSED, says("alone")), Marks()
    entry = LedgerEntry(id="r1:tool:1:0", kind="tool", agent="a", name="look", input="{}", output="a house")
    context = await context_with(marks, history=[message(0, "hi")], ledger=[entry])
    result = ToolResult(call_id="look-0", name="look", output="a house")
    context.thinking.completed_steps.append(CompletedStep(reply=asks(call("look")), results=(result,)))

    assert await ask(model, context) == "alone"

    assert shown(model).splitlines() == ["system: You are a test.", "user: where does Anna live?"]
    assert (context.record.left_out, context.record.ledger) == ([], [entry])


async def test_a_delegation_leaves_out_nothing_for_good() -> None:
    model, marks = ScriptedModel(REFUSED, says("bare"), REFUSED), Marks()
    context = await context_with(marks)
    context.delegation = Delegation(path="a", task="find it", depth=1)
    context.thinking.recalled = recalls(*HITS)

    assert await ask(model, context) == "bare"

    assert (context.record.left_out, marks, context.thinking.recalled) == ([], Marks(), recalls())
