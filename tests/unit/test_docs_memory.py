"""docs/memory.md: its examples run, and its quotations, tables and figures are right."""

import importlib
import re
import sys
from collections.abc import Generator, Sequence
from pathlib import Path
from types import ModuleType
from typing import get_args
from xml.etree import ElementTree as ET

import pytest

from bot.agent.actions import CompletedStep, StepDigest, ToolResult
from bot.agent.agents_file import TeamSpec, load_agents
from bot.agent.functions_based import FunctionsBasedAgent
from bot.agent.loop import run_agent
from bot.agent.model import ModelReply
from bot.agent.options import Options
from bot.agent.prompt.assembly import assemble, measure
from bot.agent.prompt.parts import AssembledPrompt, PartName, PromptBudget, PromptOrder, PromptParts
from bot.agent.team import Team, TeamLimits
from bot.agent.tool import Tool
from bot.agent.tool_output import render_reference
from bot.errors import ToolFailed
from bot.tools import BUILT_IN_TOOLS
from memory.artifacts.preview import preview
from memory.artifacts.store import Artifact
from memory.history.ledger import LedgerEntry, LedgerTurn, render_entry
from memory.history.message import Sender
from memory.history.summary import Summary, SummaryFact, SummaryText, render_summary
from memory.history.talk import TalkLine
from tests.messages import make_fact
from tests.unit.agent.kit import (
    TOKENIZER,
    DictJournal,
    ScriptedModel,
    asks,
    call,
    hit,
    make_agent,
    make_context,
    message,
    recalls,
    says,
)

DOCS = Path(__file__).resolve().parents[2] / "docs"
TEXT = (DOCS / "memory.md").read_text("utf-8")
PICTURE = DOCS / "prompt.svg"
_SVG = "{http://www.w3.org/2000/svg}"


def blocks(language: str) -> dict[str, str]:
    """Return the code blocks of a language, by the file name in their first line."""
    found = re.findall(rf"^```{language}\n(# (\S+)\n.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
    assert len(found) == len(re.findall(rf"^```{language}$", TEXT, re.MULTILINE)), "a block without a name"
    return {name: source for source, name in found}


def quoted() -> list[str]:
    """Return the text blocks of the document."""
    return [
        text.removesuffix("\n")
        for text in re.findall(r"^```text\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
    ]


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the table whose heading begins with this, without markup."""
    table = TEXT[TEXT.index(f"\n{heading}") :].lstrip("\n").partition("\n\n")[0]
    return [[cell.strip().strip("`") for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]


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


# The examples ---------------------------------------------------------------------------------------------
def test_every_example_is_tested_here() -> None:
    assert {*blocks("python"), *blocks("toml")} == {"pause_selector.py", "shop_tools.py", "team.toml"}
    assert set(re.findall(r"^```(\w+)$", TEXT, re.MULTILINE)) == {"python", "toml", "text"}


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
    assert render_reference(artifact, preview(output, at_most=largest // 3)) in quoted()


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


# Quotations, lists and figures
def test_the_documented_summary_is_rendered_so() -> None:
    text = SummaryText(
        overview="Olga plans a visit to her sister.",
        primary_goal="Find a train to Lisbon in May.",
        partial=("Compared the night trains",),
        facts=(SummaryFact(about="Olga", fact="her sister Anna lives in Lisbon"),),
        open_questions=("Does Anna have a spare room?",),
        next="Olga asks Anna, then books.",
    )

    assert render_summary(text) in quoted()


def test_the_table_lists_every_part_of_a_prompt() -> None:
    assert sorted(row[0] for row in rows("| part | content |")) == sorted(get_args(PartName))


@pytest.mark.parametrize("order", ["described", "cached"])
def test_the_picture_shows_the_parts_in_order(order: PromptOrder) -> None:
    column = next(group for group in ET.parse(PICTURE).iter(f"{_SVG}g") if group.get("id") == order)  # noqa: S314

    drawn = [part for group in column.iter() for part in group.get("data-parts", "").split()]

    assert drawn == [part.part for part in assembled(order=order).record.parts]


def test_the_picture_contains_only_text_and_shapes() -> None:
    tags = {element.tag.removeprefix(_SVG) for element in ET.parse(PICTURE).iter()}  # noqa: S314 - our own file

    assert tags == {"svg", "title", "desc", "style", "rect", "text", "g", "path"}
    assert not re.search(r"href|url\(|@import|@font-face", PICTURE.read_text("utf-8"))


def test_parts_are_dropped_in_the_documented_order() -> None:
    listed = re.findall(r"^\d+\. `(\w+)`:", TEXT, re.MULTILINE)
    whole = measure(PARTS, meter=TOKENIZER).tokens

    gave_way: list[str] = []
    for room in range(whole, 400, -20):
        for part in assembled(order="described", room=room).record.parts:
            is_smaller = any("no room" in item.why for item in part.left_out) or any(
                item.why for item in part.included
            )
            if is_smaller and part.part not in gave_way:
                gave_way.append(part.part)

    assert gave_way == listed


def assembled(*, order: PromptOrder, room: int = 100_000) -> AssembledPrompt:
    budget = PromptBudget(window=room + 100, room=room, order=order, chunk=1)
    return assemble(PARTS, budget, meter=TOKENIZER)


def _look(text: str) -> str:
    """Look something up."""
    return text


def _long(word: str) -> str:
    return f"{word} " * 300


def _entry(number: int) -> LedgerEntry:
    return LedgerEntry(
        id=f"e{number}", kind="tool", agent="a", name="look", input="{}", output=_long("found")
    )


def _step(number: int) -> CompletedStep:
    asked = call("look", call_id=f"c{number}")
    result = ToolResult(call_id=asked.id, name="look", output=_long("result"))
    return CompletedStep(reply=ModelReply(tool_calls=(asked,)), results=(result,))


PARTS = PromptParts(
    system="You are a test.",
    tools=[Tool.from_function(_look, name="look").spec],
    summary=Summary(
        id="s1",
        builds_on="",
        conversation_start=0,
        from_sequence=0,
        upto_sequence=9,
        text=SummaryText(overview=_long("earlier")),
        tokens=300,
        model="m",
        created_at=0,
    ),
    recalled=recalls(
        hit(message(1, _long("old"))),
        hit(message(2, _long("older"))),
        facts=[make_fact(statement=_long("one")), make_fact("f2", statement=_long("two"))],
    ),
    talk=[TalkLine(telegram_message_id=5, sender=Sender(id=1, name="Ben"), text=_long("talk"), sent_at=9.0)],
    window=[
        message(10, _long("question"), sequence=10),
        message(11, _long("answer"), role="assistant", sequence=11),
    ],
    ledger=[LedgerTurn(first_sequence=10, last_sequence=11, entries=(_entry(1),))],
    prompt=[message(12, _long("please"))],
    task=_long("task"),
    record=[_entry(2)],
    digest=StepDigest(covers=1, text=_long("done")),
    steps=[_step(1), _step(2)],
)
"""Every part of a prompt, each of some hundred tokens."""
