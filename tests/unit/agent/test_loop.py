"""The loop of a run: limits, journal, traces, and cleanup."""

import asyncio
import json

import pytest
from structlog.testing import capture_logs

from bot.agent.context import AgentContext
from bot.agent.model import ModelReply, Usage
from bot.agent.tool import Tool
from bot.agent.tool_calls import AT_ONCE
from bot.errors import Fenced, ModelUnavailable, TurnStopped
from bot.observe.metrics import TOOL_CALLS
from examples.demo_tools import add, upper
from memory.codec import dump_json
from memory.errors import Forgotten
from tests.unit.agent.kit import (
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
    wait_until,
)

ASK = message(0, "add 2 and 3")
ADD = call("add", '{"a": 2, "b": 3}', call_id="c1")


async def test_t02_model_and_tools_alternate_until_a_reply_without_calls() -> None:
    model = ScriptedModel(asks(ADD), asks(call("upper", '{"text": "five"}', call_id="c2")), says("FIVE"))
    context = await make_context(prompt=[ASK])

    reply = await run_alone(make_agent(model, add, upper), context, journal=DictJournal())

    assert reply == "FIVE"
    assert sum(context.record.usages, Usage()) == Usage(prompt_tokens=30, completion_tokens=6)
    assert model.requests[2].shown() == [
        "system: You are a test.",
        "user: add 2 and 3",
        'assistant:  add({"a": 2, "b": 3}) #c1',
        "tool #c1: 5",
        'assistant:  upper({"text": "five"}) #c2',
        "tool #c2: FIVE",
    ]


async def test_m11_completed_steps_are_in_each_prompt_and_never_in_the_history() -> None:
    context = await make_context(prompt=[ASK])
    agent = make_agent(ScriptedModel(asks(ADD), says("5"), says("hello")), add)

    await run_alone(agent, context, journal=DictJournal())
    steps = len(context.thinking.completed_steps)
    await run_alone(agent, context, journal=DictJournal())

    assert (steps, len(context.thinking.completed_steps)) == (1, 0)
    assert [each async for each in context.chat_history.messages(whole=True)] == []


async def test_m11_a_resumed_run_repeats_no_finished_call() -> None:
    ran: list[str] = []

    def note(text: str) -> str:
        ran.append(text)
        return f"noted {text}"

    both = asks(call("note", '{"text": "a"}', call_id="c1"), call("note", '{"text": "b"}', call_id="c2"))
    journal = DictJournal(refusal={"model:2": Fenced()})
    with pytest.raises(Fenced):
        await run_alone(
            make_agent(ScriptedModel(both, both), note), await make_context(prompt=[ASK]), journal=journal
        )
    assert list(journal.steps) == ["model:1", "tool:1:0", "tool:1:1"]
    del journal.steps["tool:1:1"]
    journal.refusal = {}
    model = ScriptedModel(says("done"))

    context = await make_context(prompt=[ASK])
    reply = await run_alone(make_agent(model, note), context, journal=journal)

    assert reply == "done"
    assert sorted(ran) == ["a", "b", "b"]
    assert model.requests[0].shown()[-2:] == ["tool #c1: noted a", "tool #c2: noted b"]
    assert sum(context.record.usages, Usage()) == Usage(prompt_tokens=20, completion_tokens=4)


async def test_a_run_that_ended_before_its_commit_is_replayed_and_only_its_reply_is_asked_again() -> None:
    journal = DictJournal()
    await run_alone(
        make_agent(ScriptedModel(asks(ADD), says("5")), add),
        await make_context(prompt=[ASK]),
        journal=journal,
    )
    model = ScriptedModel(says("It is 5."))

    reply = await run_alone(make_agent(model, add), await make_context(prompt=[ASK]), journal=journal)

    assert list(journal.steps) == ["model:1", "tool:1:0"]
    assert (reply, len(model.requests)) == ("It is 5.", 1)


async def test_m12_a_run_makes_exactly_n_actions() -> None:
    model = ScriptedModel(asks(ADD), asks(ADD), says("never asked as an action"))
    context = await make_context(prompt=[ASK])

    with capture_logs() as logs:
        await run_alone(make_agent(model, add), context, journal=DictJournal(), max_actions=2)

    assert [entry["max_actions"] for entry in logs if entry["event"] == "run_limit_reached"] == [2]
    assert [bool(request.tools) for request in model.requests] == [True, True, False]


async def test_t03_at_the_limit_one_more_request_without_tools_gives_the_answer() -> None:
    model = ScriptedModel(*[asks(ADD)] * 5, says("So far: 5."))
    context = await make_context(prompt=[ASK])

    reply = await run_alone(make_agent(model, add), context, journal=DictJournal())

    assert reply == "So far: 5."
    assert len(model.requests) == 6
    assert model.requests[5].tools == ()


async def test_t03_a_model_without_a_last_answer_gets_a_default_one() -> None:
    model = ScriptedModel(asks(ADD), asks(ADD))
    context = await make_context(prompt=[ASK])

    reply = await run_alone(make_agent(model, add), context, journal=DictJournal(), max_actions=1)

    assert reply == (
        "I ran out of steps (1) before I had a final answer. Ask me to go on, or ask for less at once."
    )


async def test_m12_the_output_of_a_final_tool_is_the_reply() -> None:
    final = Tool.from_function(upper, is_final=True)
    model = ScriptedModel(asks(ADD, call("upper", '{"text": "done"}', call_id="c2")))

    reply = await run_alone(
        make_agent(model, add, final), await make_context(prompt=[ASK]), journal=DictJournal()
    )

    assert (reply, len(model.requests)) == ("DONE", 1)


async def test_m12_a_final_tool_that_fails_or_says_nothing_does_not_end_the_run() -> None:
    final = Tool.from_function(upper, is_final=True)
    model = ScriptedModel(
        asks(call("upper", "{}")), asks(call("upper", '{"text": " "}', call_id="c2")), says("sorry")
    )

    reply = await run_alone(make_agent(model, final), await make_context(prompt=[ASK]), journal=DictJournal())

    assert reply == "sorry"


async def test_m12_a_tool_runs_at_most_as_often_as_its_limit() -> None:
    ran: list[int] = []

    def count(number: int) -> str:
        ran.append(number)
        return f"number {number}"

    limited = Tool.from_function(count, max_calls=3)
    one = asks(*(call("count", json.dumps({"number": n}), call_id=f"a{n}") for n in range(2)))
    wrong = asks(call("count", '{"number": "x"}', call_id="w"))
    two = asks(*(call("count", json.dumps({"number": n}), call_id=f"b{n}") for n in range(2, 4)))
    model = ScriptedModel(one, wrong, two, says("ok"))

    await run_alone(make_agent(model, limited), await make_context(prompt=[ASK]), journal=DictJournal())

    assert sorted(ran) == [0, 1, 2]
    assert model.requests[3].shown()[-2:] == [
        "tool #b2: number 2",
        "tool #b3: count has reached its limit of 3 calls in this run.",
    ]


async def test_m13_every_call_gets_exactly_one_result_in_order() -> None:
    slow_done = asyncio.Event()

    async def slow() -> str:
        await slow_done.wait()
        return "slow"

    async def quick() -> str:
        slow_done.set()
        return "quick"

    async def broken() -> str:
        raise OSError("a secret path")

    model = ScriptedModel(
        ModelReply(
            tool_calls=(
                call("slow"),
                call("nowhere"),
                call("functions.quick"),
                call("broken"),
                call("quick", "[1]"),
            )
        ),
        says("ok"),
    )
    errors = sample(TOOL_CALLS, "mnemogram_tool_calls_total", outcome="error")

    await run_alone(
        make_agent(model, slow, quick, broken), await make_context(prompt=[ASK]), journal=DictJournal()
    )

    assert model.requests[1].shown()[2:] == [
        "assistant:  slow({}) #call00000 nowhere({}) #call00001 quick({}) #call00002 broken({}) #call00003"
        " quick({}) #call00004",
        "tool #call00000: slow",
        "tool #call00001: There is no tool named 'nowhere'. The tools are: broken, quick, slow.",
        "tool #call00002: quick",
        "tool #call00003: broken failed (OSError).",
        "tool #call00004: The arguments must be one JSON object with named values, not [1]",
    ]
    assert sample(TOOL_CALLS, "mnemogram_tool_calls_total", outcome="error") == errors + 3


async def test_calls_of_one_action_run_concurrently_up_to_a_limit() -> None:
    running, most, release = 0, 0, asyncio.Event()

    async def work() -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await release.wait()
        running -= 1

    model = ScriptedModel(asks(*(call("work", call_id=f"c{n}") for n in range(20))), says("ok"))
    context = await make_context(prompt=[ASK])
    run = asyncio.create_task(run_alone(make_agent(model, work), context, journal=DictJournal()))
    await wait_until(lambda: running == AT_ONCE)
    release.set()
    await run

    assert most == AT_ONCE
    assert len(context.thinking.completed_steps[0].results) == 20


async def test_m14_messages_appended_by_a_tool_are_in_the_next_prompt() -> None:
    async def note(context: AgentContext, text: str) -> None:
        await context.chat_history.append_assistant_message(text)

    model = ScriptedModel(asks(call("note", '{"text": "Noted: milk"}', call_id="c1")), says("ok"))

    await run_alone(make_agent(model, note), await make_context(prompt=[ASK]), journal=DictJournal())

    assert model.requests[1].shown()[1] == "assistant: Noted: milk"


async def test_m16_the_listeners_get_the_reply_in_order() -> None:
    emitted: list[str] = []

    async def first(reply: str) -> None:
        emitted.append(f"first {reply}")

    async def second(reply: str) -> None:
        emitted.append(f"second {reply}")

    context = await make_context(prompt=[ASK], listeners=[first, second])

    await run_alone(make_agent(ScriptedModel(asks(ADD), says("5")), add), context, journal=DictJournal())

    assert emitted == ["first 5", "second 5"]


async def test_m17_the_status_names_the_tool_and_stays_outside_the_history() -> None:
    told: list[str] = []

    async def tell(text: str) -> None:
        told.append(text)

    context = await make_context(prompt=[ASK], on_status=tell, on_text=tell)
    model = ScriptedModel(asks(ADD, call("nowhere")), says("It is 5."))

    await run_alone(make_agent(model, add), context, journal=DictJournal())

    assert told == ["Running tool add", "It is 5."]
    assert [each async for each in context.chat_history.messages(whole=True)] == []


async def test_t04_a_run_has_traces_of_model_calls_tool_results_and_its_end() -> None:
    model = ScriptedModel(asks(ADD), says("It is 5."))
    context = await make_context(prompt=[ASK])

    with capture_logs() as logs:
        await run_alone(make_agent(model, add), context, journal=DictJournal())

    # What tools and models say is in the traces with LOG_TEXT alone (tests/story/test_tracing.py).
    traced = ("llm_call", "tool_result", "agent_end")
    assert [(entry["event"], entry.get("detail")) for entry in logs if entry["event"] in traced] == [
        ("llm_call", "Turn 1 (2 messages)"),
        ("tool_result", None),
        ("llm_call", "Turn 2 (4 messages)"),
        ("agent_end", None),
    ]


@pytest.mark.parametrize("error", [Fenced(), Forgotten(), TurnStopped()])
async def test_an_error_of_the_journal_ends_the_run_unchanged_and_cancels_other_tools(
    error: Exception,
) -> None:
    stopped: list[str] = []

    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.append("wait")

    model = ScriptedModel(asks(call("wait", call_id="c0"), ADD))
    journal = DictJournal(refusal={"tool:1:1": error})

    with pytest.raises(type(error)) as raised:
        await run_alone(make_agent(model, wait, add), await make_context(prompt=[ASK]), journal=journal)

    assert raised.value is error
    assert stopped == ["wait"]


async def test_a_failing_model_ends_the_run_and_finished_steps_stay_in_the_journal() -> None:
    journal = DictJournal()
    model = ScriptedModel(asks(ADD), ModelUnavailable())

    with pytest.raises(ModelUnavailable):
        await run_alone(make_agent(model, add), await make_context(prompt=[ASK]), journal=journal)

    assert list(journal.steps) == ["model:1", "tool:1:0"]


async def test_a_cancelled_run_leaves_no_task_behind() -> None:
    started: list[int] = []

    async def wait(number: int) -> None:
        started.append(number)
        await asyncio.Event().wait()

    calls = (call("wait", json.dumps({"number": n}), call_id=f"c{n}") for n in range(3))
    before = asyncio.all_tasks()
    run = asyncio.create_task(
        run_alone(
            make_agent(ScriptedModel(asks(*calls)), wait),
            await make_context(prompt=[ASK]),
            journal=DictJournal(),
        )
    )
    await wait_until(lambda: len(started) == 3)

    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run

    assert asyncio.all_tasks() == before


async def test_a_replayed_call_of_a_missing_tool_is_answered() -> None:
    journal = DictJournal(steps={"model:1": dump_json(ModelReply, asks(ADD))})
    model = ScriptedModel(says("ok"))

    await run_alone(make_agent(model, upper), await make_context(prompt=[ASK]), journal=journal)

    assert model.requests[0].shown()[-1] == "tool #c1: add is not available any more."


async def test_a_run_without_actions_is_refused() -> None:
    context = await make_context(prompt=[ASK])
    with pytest.raises(ValueError, match="at least one action"):
        await run_alone(make_agent(ScriptedModel()), context, journal=DictJournal(), max_actions=0)
