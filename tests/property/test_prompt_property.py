"""For any history and steps, the request is valid, fits its budget, and its record is exact."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bot.agent.actions import CompletedStep, StepDigest, ToolResult, repair_pairs
from bot.agent.model import Image, ModelReply, PromptMessage, ToolCall, ToolSpec
from bot.agent.openai_format import request_body
from bot.agent.prompt.assembly import assemble
from bot.agent.prompt.parts import PromptBudget, PromptParts
from memory.facts.selection import Memories
from memory.history.fact import Fact
from memory.history.ledger import LedgerEntry, LedgerTurn
from memory.history.message import Message, Quote, Sender
from memory.history.summary import Summary, SummaryText
from memory.history.talk import TalkLine
from memory.tokens import tokenizer_for
from tests.openai_checker.request import find_fault
from tests.unit.agent.kit import as_spoken, hit

TOKENIZER = tokenizer_for("gpt-4o")
ADD = ToolSpec(name="add", description="Add two numbers.", parameters={"type": "object", "properties": {}})

odd = st.sampled_from(["", " ", "\ud800", "<|endoftext|>", "🏳️‍🌈" * 20, "## Tool: add", "a\u2028## Tool: x"])
texts = odd | st.text(max_size=60) | st.integers(1, 900).map(lambda count: "word " * count)
call_ids = st.sampled_from(["a", "b", "fixed0000", "", " ", "x" * 41])
calls = st.lists(
    st.builds(ToolCall, id=call_ids, name=st.just("add"), arguments=texts.map(json.dumps)), max_size=3
).map(tuple)
entries = st.lists(
    st.builds(
        LedgerEntry,
        id=st.just("e"),
        kind=st.sampled_from(["tool", "delegation", "transfer"]),
        agent=texts,
        name=texts,
        input=texts,
        output=texts,
        is_error=st.booleans(),
    ),
    max_size=2,
).map(tuple)
turns = st.builds(
    LedgerTurn, first_sequence=st.integers(0, 9), last_sequence=st.integers(0, 9), entries=entries
)
steps = st.builds(
    CompletedStep,
    reply=st.builds(ModelReply, text=texts, tool_calls=calls),
    results=st.lists(
        st.builds(ToolResult, call_id=call_ids, name=st.just("add"), output=texts), max_size=3
    ).map(tuple),
)
summaries = st.builds(
    Summary,
    id=st.just("s"),
    builds_on=st.just(""),
    conversation_start=st.just(0),
    from_sequence=st.just(0),
    upto_sequence=st.just(0),
    text=st.builds(SummaryText, overview=texts, done=st.lists(texts, max_size=2).map(tuple)),
    tokens=st.just(1),
    model=st.just("m"),
    created_at=st.just(0.0),
)


def messages(role: st.SearchStrategy[Any]) -> st.SearchStrategy[Message]:
    return st.builds(
        Message,
        id=st.integers(0, 12).map("m{}".format),
        role=role,
        text=texts,
        sent_at=st.integers(0, 2_000_000_000).map(float),
        tokens=st.just(1),
        sender=st.none() | st.builds(Sender, id=st.just(1), name=texts),
        sequence=st.none() | st.integers(0, 9),
        note=st.just("") | texts,
        forwarded_from=st.just("") | texts,
        continues=st.sampled_from(["", "", "paste", "bundle"]),
        quote=st.none() | st.builds(Quote, telegram_message_id=st.just(1), sender_name=texts, text=texts),
    )


talk = st.builds(
    TalkLine,
    telegram_message_id=st.integers(0, 9),
    sender=st.builds(Sender, id=st.just(1), name=texts),
    text=texts,
    sent_at=st.integers(0, 9).map(float),
    is_service=st.booleans(),
)
pictures = st.lists(
    st.just(Image(data=b"\x89PNG\r\n\x1a\n", mime_type="image/png", tokens=85)), min_size=1, max_size=3
)
facts = st.lists(
    st.builds(
        Fact,
        id=st.integers(0, 20).map("f{}".format),
        subject=texts,
        statement=texts,
        said_by=st.none() | st.integers(0, 9),
        message_ids=st.lists(st.integers(0, 12).map("m{}".format), min_size=1, max_size=2).map(tuple),
        valid_from=st.integers(0, 9).map(float),
        valid_to=st.none() | st.just(9.0),
        confidence=st.just(0.5),
        is_corrected=st.booleans(),
    ),
    max_size=3,
)
said = messages(st.sampled_from(["user", "assistant", "system", "tool"]))
parts_of_prompts = st.builds(
    PromptParts,
    system=st.just("You are a test."),
    tools=st.lists(st.just(ADD), max_size=1),
    summary=st.none() | summaries,
    recalled=st.builds(
        Memories,
        messages=st.lists(said.map(hit), max_size=3).map(tuple),
        facts=facts.map(tuple),
        people=st.dictionaries(st.integers(0, 9), texts, max_size=3),
    ),
    window=st.lists(said, max_size=6),
    ledger=st.lists(turns, max_size=2),
    talk=st.lists(talk, max_size=3),
    prompt=st.lists(messages(st.just("user")), max_size=3),
    images=st.dictionaries(st.integers(0, 12).map("m{}".format), pictures, max_size=4),
    record=entries,
    task=texts,
    digest=st.none() | st.builds(StepDigest, covers=st.integers(0, 3), text=texts),
    steps=st.lists(steps, max_size=3),
    is_group=st.booleans(),
)
budgets = st.builds(
    PromptBudget,
    window=st.just(4_050),
    room=st.integers(250, 4_000),
    order=st.sampled_from(["described", "cached"]),
    chunk=st.integers(1, 20),
)
anything = st.lists(
    st.builds(
        PromptMessage,
        role=st.sampled_from(["user", "assistant", "tool"]),
        text=texts,
        tool_calls=calls,
        tool_call_id=st.none() | call_ids,
    ),
    max_size=10,
)


@given(parts_of_prompts, budgets)
def test_every_prompt_is_valid_fits_its_budget_and_has_an_exact_receipt(
    parts: PromptParts, budget: PromptBudget
) -> None:
    prompt = assemble(parts, budget, meter=TOKENIZER)

    body = as_sent(prompt.messages, parts.tools)
    assert find_fault(body) is None
    assert tokens_of(body) == prompt.record.tokens == sum(part.tokens for part in prompt.record.parts)
    assert prompt.record.tokens <= budget.room
    assert prompt.messages[0].text.startswith("You are a test.")


@given(parts_of_prompts, budgets)
def test_i13_an_assembled_prompt_needs_no_repair(parts: PromptParts, budget: PromptBudget) -> None:
    prompt = assemble(parts, budget, meter=TOKENIZER)

    assert repair_pairs(prompt.messages) == prompt.messages


@given(parts_of_prompts, budgets)
def test_the_record_lists_each_id_once_as_included_or_omitted(
    parts: PromptParts, budget: PromptBudget
) -> None:
    record = assemble(parts, budget, meter=TOKENIZER).record

    named = {part.part: [*part.included, *part.left_out] for part in record.parts}
    assert sorted(item.id for item in named.get("window", [])) == sorted(each.id for each in parts.window)
    assert sorted(item.id for item in named.get("recalled", [])) == sorted(
        each.message.id for each in parts.recalled.messages
    )
    assert sorted(item.id for item in named.get("facts", [])) == sorted(
        each.id for each in parts.recalled.facts
    )
    assert sorted(item.id for item in named.get("prompt", [])) == sorted(each.id for each in parts.prompt)


@given(anything)
def test_i13_a_repaired_request_is_valid_and_needs_no_second_repair(broken: list[PromptMessage]) -> None:
    repaired = repair_pairs(broken)

    assert find_fault(as_sent([PromptMessage(role="system", text="S"), *repaired], ())) is None
    assert repair_pairs(repaired) == repaired
    assert [each.text for each in repaired if each.role == "user"] == [
        each.text for each in broken if each.role == "user"
    ]


@given(messages(st.sampled_from(["user", "assistant"])), st.booleans())
def test_no_line_of_a_message_looks_like_a_record(message: Message, is_group: bool) -> None:
    lines = as_spoken(message, is_group=is_group).text.splitlines()

    assert not [line for line in lines if line.lstrip().startswith("## Tool:")]


def as_sent(sent: Sequence[PromptMessage], tools: Sequence[ToolSpec]) -> Mapping[str, Any]:
    return json.loads(json.dumps(request_body("gpt-4o", sent, tools), ensure_ascii=False).encode())


def content_tokens(content: str | Sequence[Mapping[str, Any]] | None) -> int:
    """Return the tokens of a text, or of a text and images."""
    if content is None or isinstance(content, str):
        return TOKENIZER.count(content or "")
    return sum(TOKENIZER.count(part["text"]) if part["type"] == "text" else 85 for part in content)


def tokens_of(body: Mapping[str, Any]) -> int:
    """Return the request's tokens from its body alone:

    4 for each message, call and tool, and 3 for the reply.
    """
    counted = [3]
    for message in body["messages"]:
        counted += [4, content_tokens(message["content"]), TOKENIZER.count(message.get("tool_call_id") or "")]
        for call in message.get("tool_calls", ()):
            told = (call["id"], call["function"]["name"], call["function"]["arguments"])
            counted += [4, *map(TOKENIZER.count, told)]
    for tool in body.get("tools", ()):
        function = tool["function"]
        schema = [function["name"], function["description"], function["parameters"]]
        counted += [4, TOKENIZER.count(json.dumps(schema, ensure_ascii=False))]
    return sum(counted)
