"""Assembles a request that fits the model's window, with a receipt of its contents and the reasons."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from bot.agent.model import PromptMessage
from bot.agent.prompt.draft import PromptDraft, Section, draft_prompt, total_tokens
from bot.agent.prompt.fit import fit
from bot.agent.prompt.parts import (
    AssembledPrompt,
    PartName,
    PromptBudget,
    PromptOrder,
    PromptParts,
    PromptReceipt,
    PromptSize,
    ReceiptPart,
)
from memory.history.selectors import TokenCounter

_RUN: tuple[PartName, ...] = ("prompt", "record", "task", "digest", "steps")
_ORDERS: Mapping[PromptOrder, tuple[PartName, ...]] = {
    "described": ("system", "tools", "recalled", "heard", "summary", "ledger", "window", *_RUN),
    # Parts that change with every message come last: providers bill an equal beginning as cached.
    "cached": ("system", "tools", "summary", "ledger", "window", "recalled", "heard", *_RUN),
}
_REASONS: Mapping[PartName, str] = {
    "system": "the agent's instructions",
    "tools": "the tools that it may call",
    "summary": "it stands for the older part of the conversation",
    "recalled": "found by a search for the newest message",
    "heard": "said in this chat lately, and not to the bot",
    "window": "the newest messages of the conversation",
    "ledger": "what was called for replies in the window",
    "prompt": "the messages to answer",
    "record": "what other agents of this run called",
    "task": "what the delegating agent wants done",
    "digest": "it stands for the first steps of this run",
    "steps": "what this run has done so far",
}


def assemble(
    parts: PromptParts, budget: PromptBudget, *, meter: TokenCounter, agent: str = ""
) -> AssembledPrompt:
    """Return the request of these parts in at most `budget.room` tokens, by the count of `meter`.

    The table in bot/agent/prompt/fit.py has the order in which parts give way. Raises PromptTooLong if the
    system prompt and the tools alone leave no room.
    """
    chunk = budget.chunk if budget.order == "cached" else 1
    draft = fit(draft_prompt(parts, meter=meter), room=budget.room, chunk=chunk, meter=meter)
    return AssembledPrompt(
        messages=tuple(_messages(draft, budget.order)), receipt=_receipt(draft, budget, agent)
    )


def measure(parts: PromptParts, *, meter: TokenCounter) -> PromptSize:
    """Return the size of a request with all these parts."""
    draft = draft_prompt(parts, meter=meter)
    older = sum(piece.tokens for piece in draft["steps"].pieces[:-1])
    return PromptSize(tokens=total_tokens(draft), older_steps=older)


def _messages(draft: PromptDraft, order: PromptOrder) -> Iterator[PromptMessage]:
    for part in _ORDERS[order]:
        if part == "window":
            yield from _conversation(draft["window"], draft["ledger"])
        elif part != "ledger":
            yield from draft[part].messages()


def _conversation(window: Section, ledger: Section) -> Iterator[PromptMessage]:
    """Yield the window. The record of a turn comes before its reply, or after its messages without a reply."""
    records: dict[int | None, list[PromptMessage]] = defaultdict(list)
    for piece in ledger.pieces:
        records[piece.sequence] += piece.messages
    for piece in window.pieces:
        record = records.pop(piece.sequence, []) if piece.sequence is not None else []
        is_reply = piece.messages[-1].role == "assistant"
        yield from (*record, *piece.messages) if is_reply else (*piece.messages, *record)


def _receipt(draft: PromptDraft, budget: PromptBudget, agent: str) -> PromptReceipt:
    return PromptReceipt(
        agent=agent,
        order=budget.order,
        window=budget.window,
        room=budget.room,
        tokens=total_tokens(draft),
        parts=tuple(
            ReceiptPart(
                part=part,
                tokens=draft[part].tokens,
                why=draft[part].why or _REASONS[part],
                included=tuple(item for piece in draft[part].in_order() for item in piece.items()),
                left_out=draft[part].left_out,
            )
            for part in _ORDERS[budget.order]
            if draft[part].pieces or draft[part].left_out
        ),
    )
