"""docs/agents.md: its examples run, and do what it says."""

import importlib
import re
import sys
from collections.abc import Generator, Sequence
from pathlib import Path
from types import ModuleType

import pytest

from bot.agent.agents_file import Options, TeamSpec, load_agents
from bot.agent.functions_based import FunctionsBasedAgent
from bot.agent.loop import run_agent
from bot.agent.team import Team, TeamLimits
from bot.agent.tool import Tool
from bot.agent.tool_output import preview, render_reference
from bot.errors import ToolFailed
from bot.features import BUILT_IN_TOOLS
from memory.artifacts.store import Artifact
from memory.history.ledger import render_entry
from tests.unit.agent.kit import (
    DictJournal,
    ScriptedModel,
    asks,
    call,
    make_agent,
    make_context,
    message,
    says,
)
from tests.unit.test_docs_memory import quoted

pytestmark = pytest.mark.slow

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "agents.md").read_text("utf-8")


def blocks(language: str) -> dict[str, str]:
    """Return the code blocks of a language, by the file name in their first line."""
    found = re.findall(rf"^```{language}\n(# (\S+)\n.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
    assert len(found) == len(re.findall(rf"^```{language}$", TEXT, re.MULTILINE)), "a block without a name"
    return {name: source for source, name in found}


@pytest.fixture
def folder(tmp_path: Path) -> Generator[Path]:
    """Return a folder with every example as its file. Changes of sys are undone."""
    path, modules = list(sys.path), set(sys.modules)
    examples = blocks("python") | blocks("toml")
    for name, source in examples.items():
        (tmp_path / name).write_text(source, "utf-8")
    yield tmp_path
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if f"{name}.py" in examples:
            del sys.modules[name]


def imported(folder: Path, name: str) -> ModuleType:
    sys.path.append(str(folder))
    return importlib.import_module(name)


def shop(folder: Path) -> TeamSpec:
    return load_agents(folder / "team.toml", built_in_tools=BUILT_IN_TOOLS)


def test_every_example_is_tested_here() -> None:
    assert {*blocks("python"), *blocks("toml")} == {"pause_selector.py", "shop_tools.py", "team.toml"}
    assert set(re.findall(r"^```(\w+)$", TEXT, re.MULTILINE)) == {"python", "toml"}


async def test_the_selector_ends_the_window_at_a_pause(folder: Path) -> None:
    select = imported(folder, "pause_selector").SinceLastPause(seconds=3600, at_most=3)
    spoken = [message(0, "Long ago."), message(90, "Hello."), message(91, "Hi.", role="assistant")]
    context = await make_context(
        history=[*spoken, message(92, "8", role="tool"), message(93, "How are you?")]
    )

    chosen = await context.chat_history.select_messages(select)

    assert [each.text for each in chosen] == ["Hello.", "Hi.", "How are you?"]


async def test_the_selector_stops_at_its_limit(folder: Path) -> None:
    select = imported(folder, "pause_selector").SinceLastPause(seconds=3600, at_most=2)
    context = await make_context(history=[message(number, f"Line {number}.") for number in range(5)])

    chosen = await context.chat_history.select_messages(select)

    assert [each.text for each in chosen] == ["Line 3.", "Line 4."]


async def test_the_agent_with_that_selector_answers_from_its_window(folder: Path) -> None:
    model = ScriptedModel(says("Fine."))
    agent: FunctionsBasedAgent = imported(folder, "pause_selector").build_agent(model)
    context = await make_context(
        history=[message(0, "Long ago."), message(90, "Hello.")], prompt=[message(91, "How are you?")]
    )

    reply = await run_agent(Team.of(agent), context, journal=DictJournal())

    assert reply == "Fine."
    assert model.requests[0].shown() == [
        "system: You help with whatever is being talked about now.",
        "user: Hello.",
        "user: How are you?",
    ]


async def test_the_tools_answer_and_fail_as_documented(folder: Path) -> None:
    tools = imported(folder, "shop_tools")
    stock = Tool.from_function(tools.in_stock)
    context = await make_context()

    assert stock.spec.description == "Say how many pieces of an item are in stock."
    assert await stock.call('{"item": "milk"}', context) == "0"
    with pytest.raises(ToolFailed, match=r"^The shop has no gold\. It sells bread, milk, tea\.$"):
        await stock.call('{"item": "gold"}', context)


async def test_the_tool_with_a_context_reads_this_chat_and_hides_the_context(folder: Path) -> None:
    asked = Tool.from_function(imported(folder, "shop_tools").asked_before)
    history = [
        message(0, "Is there Tea?"),
        message(1, "Tea? Yes.", role="assistant"),
        message(2, "No tea, thanks."),
    ]
    context = await make_context(history=[*history, message(3, "Bread then.")])

    assert list(asked.spec.parameters["properties"]) == ["word", "at_most"]
    assert await asked.call('{"word": "tea"}', context) == '["Is there Tea?","No tea, thanks."]'
    assert await asked.call('{"word": "tea", "at_most": 1}', context) == '["No tea, thanks."]'
    with pytest.raises(ToolFailed):
        await asked.call('{"word": "tea", "at_most": 21}', context)


async def test_a_large_result_gets_the_documented_reference(folder: Path) -> None:
    sales = Tool.from_function(imported(folder, "shop_tools").sales)
    largest = Options().artifact_chars

    output = await sales.call('{"days": 365}', await make_context())

    assert len(output) > largest
    artifact = Artifact(id="a5d8f0c21b7e", tool="sales", length=len(output), ends_at=0)
    ours, heading, rows, rest = render_reference(artifact, preview(output, at_most=largest // 3)).split("\n")
    assert "\n".join([ours, heading, f"{rows[:112]} …", rest]) in quoted()


def test_the_agents_file_loads_with_its_tools_and_limits(folder: Path) -> None:
    team = shop(folder)

    assert (team.main, team.limits) == ("Shop", TeamLimits(delegation_depth=1, delegations=4, transfers=2))
    assert {name: sorted(tool.name for tool in agent.tools) for name, agent in team.agents.items()} == {
        "Shop": [
            *("asked_before", "delegate_to_analyst", "in_stock"),
            *("read_artifact", "search_memory", "transfer_to_complaints"),
        ],
        "analyst": ["read_artifact", "sales"],
        "complaints": ["read_artifact", "search_memory", "transfer_to_Shop"],
    }
    (limited,) = (tool for tool in team.agents["analyst"].tools if tool.name == "sales")
    assert (limited.timeout_s, limited.max_calls) == (10, 3)


async def test_the_sub_agents_work_and_see_as_documented(folder: Path) -> None:
    models = {
        "Shop": ScriptedModel(
            asks(call("in_stock", '{"item": "tea"}')),
            asks(call("delegate_to_analyst", '{"task": "What sold best yesterday?"}')),
            asks(call("transfer_to_complaints", '{"reason": "The tea was cold."}')),
        ),
        "analyst": ScriptedModel(asks(call("sales", '{"days": 1}')), says("Tea, 6 times.")),
        "complaints": ScriptedModel(says("I am sorry about your tea.")),
    }
    context = await make_context(prompt=[message(0, "My tea was cold!")])

    reply = await run_agent(built(shop(folder), models), context, journal=DictJournal())

    assert (reply, context.agent_name) == ("I am sorry about your tea.", "complaints")
    asked, done = models["analyst"].requests
    assert {tool.name for tool in asked.tools} == {"sales"}  # there is nothing for read_artifact yet
    assert "## Tool: in_stock" in joined(asked.shown())  # the top level's
    assert "What sold best yesterday?" in joined(asked.shown())
    assert "sales({" in joined(done.shown())
    before, after = models["Shop"].requests[1:]
    assert "## Tool: sales" not in joined(before.shown())
    assert "## Tool: sales" in joined(after.shown())  # the delegated agent's
    (taken,) = models["complaints"].requests
    assert "in_stock({" in joined(taken.shown())  # it goes on with the finished steps
    assert [render_entry(entry).partition("\n")[0] for entry in context.record.ledger] == [
        "## Tool: in_stock",
        "## Tool: sales",
        "## Delegation: Shop → analyst",
        "## Transfer: Shop → complaints",
    ]
    assert render_entry(context.record.ledger[0]) in quoted()


def built(spec: TeamSpec, models: dict[str, ScriptedModel]) -> Team:
    """Return the team of the file, each agent with its own model."""
    agents = {name: _agent(name, each.prompt, each.tools, models[name]) for name, each in spec.agents.items()}
    within = {name: each.within_delegation() for name, each in spec.agents.items()}
    delegates = {name: _agent(name, each.prompt, each.tools, models[name]) for name, each in within.items()}
    return Team(agents=agents, main=spec.main, delegates=delegates, limits=spec.limits)


def _agent(name: str, prompt: str, tools: Sequence[Tool], model: ScriptedModel) -> FunctionsBasedAgent:
    agent = make_agent(model, *tools, name=name)
    agent.prompt = prompt
    return agent


def joined(messages: Sequence[str]) -> str:
    return "\n".join(messages)
