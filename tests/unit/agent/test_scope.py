"""Scopes: a tool out of scope is neither offered nor run, whatever a model, a delegation or a transfer asks for."""

from dataclasses import replace

import pytest

from bot.agent.context import AgentContext, Caller
from bot.agent.loop import run_agent
from bot.agent.team import Team, delegate_tool, transfer_tool
from bot.agent.tool import ANYWHERE, Scope, Tool
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

MEMBER = Caller(role="anyone", place="groups", chat_id=-5)
ADMINISTRATOR = replace(MEMBER, role="administrators")
OPERATOR = replace(MEMBER, role="operators")
OPERATORS = Scope(who="operators")

ran: list[str] = []


def close_shop(day: str = "today") -> str:
    """Close the shop."""
    ran.append(day)
    return f"closed {day}"


def add(a: int, b: int) -> int:
    """Add."""
    return a + b


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    ran.clear()


async def context_for(caller: Caller) -> AgentContext:
    return await make_context(prompt=[message(1, "Close it.")], caller=caller)


@pytest.mark.parametrize(
    ("scope", "caller", "may"),
    [
        (Scope(), Caller(), True),
        (Scope(who="administrators"), MEMBER, False),
        (Scope(who="administrators"), ADMINISTRATOR, True),
        (Scope(who="administrators"), OPERATOR, True),
        (OPERATORS, ADMINISTRATOR, False),
        (OPERATORS, OPERATOR, True),
        (Scope(where=frozenset(["private"])), OPERATOR, False),
        (Scope(where=frozenset(["groups"])), MEMBER, True),
        (Scope(where=frozenset(["groups"])), Caller(), False),
        (Scope(chats=frozenset([-5])), MEMBER, True),
        (Scope(chats=frozenset([-6])), OPERATOR, False),
        (Scope(chats=frozenset([-5])), Caller(role="operators"), False),
    ],
)
def test_a_scope_permits_its_people_in_its_places(scope: Scope, caller: Caller, may: bool) -> None:
    assert scope.permits(caller) is may


def test_two_scopes_together_permit_only_the_overlap() -> None:
    ours = Scope(who="administrators", chats=frozenset([-5, -6]))
    theirs = Scope(who="operators", where=frozenset(["groups"]), chats=frozenset([-6, -7]))

    both = Scope(who="operators", where=frozenset(["groups"]), chats=frozenset([-6]))
    assert ours.within(theirs) == theirs.within(ours) == both
    assert Scope().within(ours) == ours
    assert Scope(chats=frozenset([-5])).within(Scope(chats=frozenset([-6]))).is_empty
    assert Scope(where=frozenset()).is_empty
    assert not Scope(where=ANYWHERE).is_empty


async def test_a_tool_out_of_scope_is_neither_offered_nor_run() -> None:
    model = ScriptedModel(asks(call("close_shop")), says("No."))
    agent = make_agent(model, add, Tool.from_function(close_shop, scope=OPERATORS))

    await run_alone(agent, await context_for(ADMINISTRATOR), journal=DictJournal())

    assert [[tool.name for tool in request.tools] for request in model.requests] == [["add"], ["add"]]
    assert "There is no tool named 'close_shop'. The tools are: add." in model.requests[1].shown()[-1]
    assert ran == []


async def test_a_tool_in_scope_is_offered_and_runs() -> None:
    model = ScriptedModel(asks(call("close_shop")), says("Done."))
    agent = make_agent(model, Tool.from_function(close_shop, scope=OPERATORS))

    await run_alone(agent, await context_for(OPERATOR), journal=DictJournal())

    assert [tool.name for tool in model.requests[0].tools] == ["close_shop"]
    assert ran == ["today"]


async def test_the_run_refuses_a_tool_that_a_custom_agent_lets_through() -> None:
    model = ScriptedModel(asks(call("close_shop")), says("No."))
    agent = make_agent(model, Tool.from_function(close_shop, scope=OPERATORS))
    # As if its parser knew nothing of scopes.
    agent.parse_output = make_agent(model, close_shop).parse_output

    await run_alone(agent, await context_for(MEMBER), journal=DictJournal())

    assert ran == []
    assert "close_shop is not available any more." in model.requests[1].shown()[-1]


@pytest.mark.parametrize(("caller", "runs"), [(ADMINISTRATOR, []), (OPERATOR, ["today"])])
@pytest.mark.parametrize("handover", ["delegate_to_keeper", "transfer_to_keeper"])
async def test_a_delegation_or_transfer_has_the_permissions_of_the_asker(
    caller: Caller, runs: list[str], handover: str
) -> None:
    words = '{"task": "close"}' if handover.startswith("delegate") else '{"reason": "close"}'
    desk = ScriptedModel(asks(call(handover, words)), says("So be it."))
    keeper = ScriptedModel(asks(call("close_shop")), says("Hm."))
    team = Team(
        agents={
            "desk": make_agent(desk, delegate_tool("keeper", "Keeps."), transfer_tool("keeper", "Keeps.")),
            "keeper": make_agent(keeper, Tool.from_function(close_shop, scope=OPERATORS)),
        },
        main="desk",
    )

    await run_agent(team, await context_for(caller), journal=DictJournal())

    assert ran == runs
    assert bool(keeper.requests[0].tools) is bool(runs)
