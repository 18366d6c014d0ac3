"""Comparison of prompt orders: the share of each request that repeats the one before, which providers bill as cached.

A conversation of 200 turns is told twice, in both orders, with a summary that takes in what is old and with the
window that is used without one. See benchmarks/README.md.
"""

import argparse
import asyncio
import json
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import takewhile
from random import Random

from rig.table import print_table

from bot.agent.actions import CompletedStep, ToolResult
from bot.agent.model import ModelReply, PromptMessage, ToolCall
from bot.agent.prompt.assembly import assemble
from bot.agent.prompt.parts import PromptBudget, PromptOrder, PromptParts
from bot.agent.tool import Tool
from bot.tools.current_time import current_time
from bot.tools.search_memory import search_memory
from examples.demo_tools import add, upper
from memory.chat_history import RankedMessage
from memory.facts.selection import Memories
from memory.history.ledger import LedgerEntry, LedgerTurn
from memory.history.message import Message, Role
from memory.history.selectors import (
    WINDOW_CHUNK,
    AfterSequence,
    MessageSelector,
    MessageWindowMessageSelector,
    TokenWindowMessageSelector,
)
from memory.history.summary import Summary, SummaryFact, SummaryText, render_summary
from memory.tokens import CachingTokenCounter, Tokenizer, load_encoding

TOOLS = [Tool.from_function(each).spec for each in (add, current_time, search_memory, upper)]
SYSTEM = (
    "You are Mnemogram, an assistant that remembers what it was told. Answer briefly and in the language of the user. "
    * 4
)
MODEL_WINDOW = 128_000
ANSWER_TOKENS = 4_096
TRIGGER_TOKENS = 16_000
KEPT_TOKENS = TRIGGER_TOKENS // 3
WINDOW_TOKENS, WINDOW_MESSAGES = 8_000, 50
RECALL_K = 8
TOOL_SHARE = 0.2

_LEAST_CACHED, _CACHE_STEP = 1_024, 128
"""OpenAI's rule: a prefix of 1,024 tokens or more is cached, in steps of 128."""
_METER = CachingTokenCounter(Tokenizer(encoding="o200k_base"))
_WORDS = (
    *("garden", "river", "window", "copper", "lantern", "violin", "harbour", "meadow", "kettle", "thunder"),
    *("pepper", "saddle", "walnut", "canvas"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn: its two messages, its recalled messages, and its tool call, if any."""

    asked: Message
    replied: Message
    recalled: tuple[Message, ...]
    ledger: LedgerTurn | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Result of an order. Shares are of all prompt tokens; tokens are per turn."""

    memory: str
    order: PromptOrder
    requests: int
    tokens_per_turn: float
    repeated_share: float
    cached_share: float
    uncached_per_turn: float


async def main() -> None:
    """Run the conversation in each order and print."""
    options = _options()
    turns = list(converse(Random(options.seed), options.turns))
    results: list[Result] = []
    for is_summarised in (True, False):
        for order in ("described", "cached"):
            requests = [each async for each in requests_of(turns, order=order, is_summarised=is_summarised)]
            memory = "summary and window" if is_summarised else "window of 8,000 tokens, 50 messages"
            results.append(weigh(requests, memory=memory, order=order, turns=len(turns)))
    if options.json:
        print(json.dumps([asdict(result) for result in results]))
    else:
        _print(results, turns=len(turns))


def converse(rng: Random, turns: int) -> Iterator[Turn]:
    """Return a conversation: about every fifth turn calls a tool, every turn recalls RECALL_K old messages."""
    said: list[Message] = []
    for number in range(turns):
        asked = _message(2 * number, "user", _text(rng, 10, 90))
        replied = _message(2 * number + 1, "assistant", _text(rng, 30, 160))
        ledger = None
        if rng.random() < TOOL_SHARE:
            entry = LedgerEntry(
                id=f"e{number}",
                kind="tool",
                agent="",
                name="search_memory",
                input=json.dumps({"query": _text(rng, 3, 6)}),
                output=_text(rng, 50, 400),
            )
            ledger = LedgerTurn(first_sequence=2 * number, last_sequence=2 * number + 1, entries=(entry,))
        recalled = tuple(rng.sample(said, min(RECALL_K, len(said))))
        yield Turn(asked=asked, replied=replied, recalled=recalled, ledger=ledger)
        said += [asked, replied]


async def requests_of(
    turns: Sequence[Turn], *, order: PromptOrder, is_summarised: bool
) -> AsyncGenerator[tuple[PromptMessage, ...]]:
    """Return every request of the conversation: one for a turn, and one more after a tool call."""
    budget = PromptBudget(window=MODEL_WINDOW, room=MODEL_WINDOW - ANSWER_TOKENS, order=order)
    said: list[Message] = []
    summary: Summary | None = None
    for number, turn in enumerate(turns):
        selector = _selector(summary, order=order, is_summarised=is_summarised)
        parts = PromptParts(
            system=SYSTEM,
            tools=TOOLS,
            summary=summary,
            recalled=Memories(
                messages=tuple(RankedMessage(message=each, score=1.0) for each in turn.recalled)
            ),
            window=await selector.select(_newest_first(said)),
            ledger=[each.ledger for each in turns[:number] if each.ledger],
            prompt=[turn.asked],
        )
        yield assemble(parts, budget, meter=_METER).messages
        if turn.ledger:
            done = replace(parts, steps=[_step(turn.ledger.entries[0])])
            yield assemble(done, budget, meter=_METER).messages
        said += [turn.asked, turn.replied]
        summary = _compressed(summary, said) if is_summarised else None


def weigh(
    requests: Sequence[Sequence[PromptMessage]], *, memory: str, order: PromptOrder, turns: int
) -> Result:
    """Measure how much of each request repeats the beginning of the one before it, token by token."""
    total = repeated = cached = 0
    before: list[int] = []
    for request in requests:
        tokens = _tokens(request)
        pairs = zip(before, tokens, strict=False)
        prefix = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        total += len(tokens)
        repeated += prefix
        cached += prefix // _CACHE_STEP * _CACHE_STEP if prefix >= _LEAST_CACHED else 0
        before = tokens
    return Result(
        memory=memory,
        order=order,
        requests=len(requests),
        tokens_per_turn=total / turns,
        repeated_share=repeated / total,
        cached_share=cached / total,
        uncached_per_turn=(total - cached) / turns,
    )


def _tokens(request: Sequence[PromptMessage]) -> list[int]:
    """Return the tokens of the request as a model reads it: the tools' schemas, then each message with its role."""
    encoding = load_encoding("o200k_base")
    told = [json.dumps([[tool.name, tool.description, dict(tool.parameters)] for tool in TOOLS])]
    for message in request:
        calls = "".join(f"{call.id} {call.name} {call.arguments}" for call in message.tool_calls)
        told.append(f"<{message.role} {message.tool_call_id or ''}>\n{message.text}{calls}\n")
    return [token for text in told for token in encoding.encode_ordinary(text)]


def _selector(summary: Summary | None, *, order: PromptOrder, is_summarised: bool) -> MessageSelector:
    if not is_summarised:
        chunk = WINDOW_CHUNK if order == "cached" else 1
        return TokenWindowMessageSelector(WINDOW_TOKENS, _METER, max_messages=WINDOW_MESSAGES, chunk=chunk)
    whole = MessageWindowMessageSelector(400)
    return AfterSequence(whole, summary.upto_sequence) if summary else whole


def _compressed(summary: Summary | None, said: Sequence[Message]) -> Summary | None:
    """Return the summary after a turn: a new one once the trigger is reached, of all but the newest messages."""
    covered = summary.upto_sequence + 1 if summary else 0
    if (
        sum(message.tokens for message in said[covered:]) + (summary.tokens if summary else 0)
        < TRIGGER_TOKENS
    ):
        return summary
    kept, tokens = len(said), 0
    while tokens + said[kept - 1].tokens <= KEPT_TOKENS:
        kept -= 1
        tokens += said[kept].tokens
    kept += kept % 2  # never between a message and its reply
    rng = Random(kept)
    text = SummaryText(
        overview=_text(rng, 60, 80),
        primary_goal=_text(rng, 10, 20),
        done=tuple(_text(rng, 8, 20) for _ in range(6)),
        facts=tuple(SummaryFact(about="Olga", fact=_text(rng, 8, 20)) for _ in range(12)),
        decisions=tuple(_text(rng, 8, 20) for _ in range(4)),
        next=_text(rng, 10, 20),
    )
    return Summary(
        id=f"s{kept}",
        builds_on=summary.id if summary else "",
        conversation_start=0,
        from_sequence=covered,
        upto_sequence=kept - 1,
        text=text,
        tokens=_METER.count(render_summary(text)),
        model="simulated",
        created_at=0.0,
    )


async def _newest_first(said: Sequence[Message]) -> AsyncGenerator[Message]:
    for message in reversed(said):
        yield message


def _step(entry: LedgerEntry) -> CompletedStep:
    call = ToolCall(id=f"call-{entry.id}", name=entry.name, arguments=entry.input)
    result = ToolResult(call_id=call.id, name=call.name, output=entry.output)
    return CompletedStep(reply=ModelReply(tool_calls=(call,)), results=(result,))


def _message(number: int, role: Role, text: str) -> Message:
    return Message(
        id=f"m{number}",
        role=role,
        text=text,
        sent_at=1.7e9 + 60 * number,
        tokens=_METER.count(text),
        sequence=number,
    )


def _text(rng: Random, least: int, most: int) -> str:
    return " ".join(rng.choices(_WORDS, k=rng.randint(least, most)))


def _print(results: Sequence[Result], *, turns: int) -> None:
    rows = [
        (
            result.memory,
            result.order,
            f"{result.tokens_per_turn:,.0f}",
            f"{result.repeated_share:.1%}",
            f"{result.cached_share:.1%}",
            f"{result.uncached_per_turn:,.0f}",
        )
        for result in results
    ]
    heads = (
        "memory",
        "order",
        "tokens/turn",
        "repeat the last prefix",
        "by OpenAI's rule",
        "billed in full/turn",
    )
    print_table(f"{turns} turns, {results[0].requests} requests", heads, rows)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(main())
