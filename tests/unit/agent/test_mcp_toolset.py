"""The tools of MCP servers in an agent: references, limits, room, pictures, and calls that a crash interrupts."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from bot.agent.actions import PICTURES_GONE, PICTURES_HEADING
from bot.agent.context import Caller
from bot.agent.functions_based import PromptLimits
from bot.agent.mcp_servers import McpReference, McpToolset, fit_tools
from bot.agent.model import Image
from bot.agent.tool import Scope, Tool
from bot.agent.tool_calls import OUTCOME_UNKNOWN
from bot.agent.tool_output import Illustrated
from bot.errors import TurnStopped
from tests.unit.agent.kit import (
    DictJournal,
    ScriptedModel,
    asks,
    call,
    make_agent,
    make_context,
    message,
    run_alone,
    says,
)

PICTURE = Image(data=b"\x89PNG\r\n\x1a\n", mime_type="image/png", tokens=85)


class Servers:
    """MCP servers with tools that the test may change."""

    def __init__(self, **tools: Mapping[str, Tool]) -> None:
        self.tools = tools
        self.asked: list[str] = []

    async def tools_of(self, server: str) -> Mapping[str, Tool]:
        self.asked.append(server)
        return self.tools.get(server, {})


def tool(name: str, function: Any = None, **fields: Any) -> Tool:
    """Return a tool that returns its name."""

    async def run() -> str:
        return name

    return replace(Tool.from_function(function or run, name=name), **fields)


def toolset(*references: str, roles: Sequence[Any] = (), **limits: Any) -> McpToolset:
    parsed = [McpReference.parse(each) for each in references]
    return McpToolset(
        references=tuple(each for each in parsed if each),
        limit=lambda each: replace(each, **limits),
        roles=frozenset(roles),
    )


async def test_an_agent_has_the_tools_that_its_references_name() -> None:
    servers = Servers(
        a={"add": tool("a__add"), "sub": tool("a__sub")}, b={"add": tool("b__add"), "sub": tool("b__sub")}
    )

    loaded = await toolset("mcp:a/*", "mcp:b/sub", "mcp:b/gone", max_calls=3).load(servers)

    assert list(loaded) == ["a__add", "a__sub", "b__sub"]
    assert [each.max_calls for each in loaded.values()] == [3, 3, 3]
    assert servers.asked == ["a", "b"]


@pytest.mark.parametrize(("timeout_s", "used"), [(5.0, 5.0), (600.0, 30.0)])
async def test_a_tools_own_time_out_never_exceeds_that_of_its_server(timeout_s: float, used: float) -> None:
    loaded = await toolset("mcp:a/*", timeout_s=timeout_s).load(Servers(a={"add": tool("a__add")}))

    assert loaded["a__add"].timeout_s == used


async def test_the_prompt_offers_the_present_tools_after_the_agents_own() -> None:
    servers = Servers(a={"add": tool("a__add"), "secret": tool("a__secret", scope=Scope(who="operators"))})
    model = ScriptedModel(asks(call("a__add")), asks(call("a__add")), says("done"))
    agent = make_agent(model, tool("own"), mcp=toolset("mcp:a/*"), servers=servers)

    async def stop_server() -> str:
        servers.tools = {}
        return "added"

    servers.tools["a"] = {**servers.tools["a"], "add": tool("a__add", stop_server)}
    reply = await run_alone(agent, await make_context(prompt=[message(0, "add")]), journal=DictJournal())

    assert reply == "done"
    assert [[each.name for each in request.tools] for request in model.requests] == [
        ["own", "a__add"],
        ["own"],
        ["own"],
    ]
    assert model.requests[2].messages[-1].text == "There is no tool named 'a__add'. The tools are: own."


async def test_a_tool_out_of_the_callers_scope_is_neither_offered_nor_run() -> None:
    servers = Servers(a={"wipe": tool("a__wipe", scope=Scope(who="operators"))})
    model = ScriptedModel(asks(call("a__wipe")), says("no"), asks(call("a__wipe")), says("yes"))
    agent = make_agent(model, mcp=toolset("mcp:a/*", roles=["operators"]), servers=servers)

    await run_alone(agent, await make_context(prompt=[message(0, "wipe")]), journal=DictJournal())
    operator = await make_context(prompt=[message(0, "wipe")], caller=Caller(role="operators"))
    await run_alone(agent, operator, journal=DictJournal())

    assert [len(request.tools) for request in model.requests] == [0, 0, 1, 1]
    assert [model.requests[number].messages[-1].text for number in (1, 3)] == [
        "There is no tool named 'a__wipe'. The tools are: none.",
        "a__wipe",
    ]
    assert agent.roles == {"operators"}


async def test_the_largest_tools_are_left_out_if_a_window_is_too_small() -> None:
    small = tool("a__small")
    large = replace(small, spec=replace(small.spec, name="a__large", description="much " * 400))
    servers = Servers(a={"large": large, "small": small})
    agent = make_agent(
        ScriptedModel(says("hi")),
        limits=PromptLimits(context_window=700, answer_tokens=100),
        mcp=toolset("mcp:a/*"),
        servers=servers,
    )

    assert list(await agent.all_tools()) == ["a__small"]
    assert list(fit_tools(servers.tools["a"], room=10_000, at_most=1, size=lambda _: 1)) == ["large"]


async def test_a_call_that_a_crash_interrupted_is_not_run_again_unless_it_is_repeatable() -> None:
    ran: list[str] = []

    async def pay() -> str:
        ran.append("pay")
        return "paid"

    async def look() -> str:
        ran.append("look")
        return "seen"

    tools = tool("pay", pay, is_repeatable=False), tool("look", look)
    both = asks(call("pay"), call("look"))
    journal = DictJournal(refusal={"tool:1:0": ConnectionError(), "tool:1:1": ConnectionError()})
    context = await make_context(prompt=[message(0, "pay")])
    with pytest.raises(ConnectionError):  # the worker dies after the calls and before their results are kept
        await run_alone(make_agent(ScriptedModel(both), *tools), context, journal=journal)
    assert "tool:1:0/begun" in journal.steps
    assert "tool:1:1/begun" not in journal.steps

    journal.refusal = {}
    model = ScriptedModel(says("I do not know"))
    await run_alone(
        make_agent(model, *tools), await make_context(prompt=[message(0, "pay")]), journal=journal
    )

    assert sorted(ran[:2]) == ["look", "pay"]
    assert ran[2:] == ["look"]
    assert [each.text for each in model.requests[0].messages[-2:]] == [OUTCOME_UNKNOWN, "seen"]


async def test_an_interrupted_call_has_an_unknown_outcome_also_if_its_server_is_gone() -> None:
    journal = DictJournal()
    model = ScriptedModel(asks(call("a__pay")))
    servers = Servers(a={"pay": tool("a__pay", is_repeatable=False)})
    journal.refusal = {"tool:1:0": ConnectionError()}
    agent = make_agent(model, mcp=toolset("mcp:a/*"), servers=servers)
    context = await make_context(prompt=[message(0, "pay")])
    with pytest.raises(ConnectionError):
        await run_alone(agent, context, journal=journal)

    journal.refusal, servers.tools = {}, {}
    again = ScriptedModel(says("unknown"))
    agent = make_agent(again, mcp=toolset("mcp:a/*"), servers=servers)
    await run_alone(agent, await make_context(prompt=[message(0, "pay")]), journal=journal)

    assert again.requests[0].messages[-1].text == OUTCOME_UNKNOWN


async def test_a_call_does_not_begin_if_the_journal_refuses_its_beginning() -> None:
    ran: list[str] = []

    async def pay() -> str:
        ran.append("pay")
        return "paid"

    journal = DictJournal(refusal={"tool:1:0/begun": TurnStopped()})
    agent = make_agent(ScriptedModel(asks(call("pay"))), tool("pay", pay, is_repeatable=False))
    with pytest.raises(TurnStopped):
        await run_alone(agent, await make_context(prompt=[message(0, "pay")]), journal=journal)

    assert ran == []


async def test_pictures_of_results_follow_them_as_data_and_a_replay_says_that_they_are_gone() -> None:
    async def draw() -> str:
        return Illustrated.of("a tree", [PICTURE])

    tools = tool("draw", draw), tool("own")
    model = ScriptedModel(asks(call("draw"), call("own"), call("draw", call_id="again")), says("a tree"))
    journal = DictJournal()
    await run_alone(
        make_agent(model, *tools), await make_context(prompt=[message(0, "draw")]), journal=journal
    )
    replayed = ScriptedModel(says("gone"))
    await run_alone(
        make_agent(replayed, *tools), await make_context(prompt=[message(0, "draw")]), journal=journal
    )

    *_, first, own, second, shown = model.requests[1].messages
    assert [each.role for each in (first, own, second, shown)] == ["tool", "tool", "tool", "user"]
    assert (shown.text, shown.images) == (PICTURES_HEADING.format(names="draw"), (PICTURE, PICTURE))
    assert replayed.requests[0].messages[-1].role == "tool"
    assert replayed.requests[0].messages[-1].text == f"a tree\n{PICTURES_GONE}"


async def test_pictures_of_results_give_way_before_their_texts() -> None:
    async def draw() -> str:
        return Illustrated.of("a tree", [replace(PICTURE, tokens=6_990)])

    model = ScriptedModel(asks(call("draw")), says("a tree"))
    agent = make_agent(model, tool("draw", draw))
    await run_alone(agent, await make_context(prompt=[message(0, "draw")]), journal=DictJournal())

    result, shown = model.requests[1].messages[-2:]
    assert result.text == "a tree"
    assert shown.images == ()
    assert "could not be shown" in shown.text
