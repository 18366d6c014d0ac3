"""docs/memory.md: its quotations, tables and figures are right."""

import re
from pathlib import Path
from typing import get_args
from xml.etree import ElementTree as ET

import pytest

from bot.agent.actions import CompletedStep, StepDigest, ToolResult
from bot.agent.agents_file import load_agents
from bot.agent.model import ModelReply, PromptMessage
from bot.agent.prompt.assembly import assemble, measure
from bot.agent.prompt.draft import MESSAGE_OVERHEAD, cost_of
from bot.agent.prompt.parts import AssembledPrompt, PartName, PromptBudget, PromptOrder, PromptParts
from bot.agent.tool import Tool
from bot.features import ALL_TOOLS
from memory.history.ledger import LedgerEntry, LedgerTurn
from memory.history.message import Sender
from memory.history.summary import Summary, SummaryFact, SummaryText, render_summary
from memory.history.talk import TalkLine
from tests.messages import make_fact
from tests.unit.agent.kit import TOKENIZER, call, hit, message, recalls

pytestmark = pytest.mark.slow

DOCS = Path(__file__).resolve().parents[2] / "docs"
TEXT = (DOCS / "memory.md").read_text("utf-8")
PICTURE = DOCS / "prompt.svg"
_SVG = "{http://www.w3.org/2000/svg}"


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


def test_the_documented_tokens_of_a_request_are_right() -> None:
    spec = load_agents(None, built_in_tools=ALL_TOOLS)
    agent = spec.agents[spec.main]
    sizes = {tool.name: MESSAGE_OVERHEAD + TOKENIZER.count(tool.spec.described) for tool in agent.tools}
    reminders = sum(size for name, size in sizes.items() if "reminder" in name)
    instructions, in_group = (
        measure(PromptParts(system=agent.prompt, is_group=is_group), meter=TOKENIZER).tokens
        for is_group in (False, True)
    )
    always = reminders + sizes["current_time"]
    hi = instructions + always + cost_of(PromptMessage(role="user", text="hi"), TOKENIZER)

    cells = [row[1] for row in rows("| part | tokens |")]

    assert f'"hi" in an empty chat reads {hi} tokens' in TEXT
    assert cells[0] == f"{instructions}; {in_group - instructions} more in a group"
    assert cells[1] == f"{always}: reminders {reminders}, time {sizes['current_time']}"
    assert [int(cell.partition(",")[0]) for cell in cells[2:6]] == [
        sizes["search_memory"],
        sizes["read_artifact"],
        sizes["forget_fact"],
        sizes["draw"] + sizes["edit"],
    ]


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
    standing=[make_fact("w1", statement="wish " * 100, kind="standing")],
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
