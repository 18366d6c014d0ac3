"""Makes a prompt fit a number of tokens, least important parts first, and never breaks it."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from bot.agent.model import PromptMessage, ToolSpec
from bot.agent.prompt import PromptDraft
from bot.errors import PromptTooLong
from memory.message_selectors import TokenCounter

MESSAGE_OVERHEAD = 4
"""Tokens around each message, and around each tool call or tool in it (OpenAI's cookbook counts 3 to 4)."""
REPLY_OVERHEAD = 3
"""Tokens that prime the reply."""

_LEAST_RESULT = 32
_LEAST_PROMPT = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class _Room:
    """How many tokens a draft may take, and how to count them."""

    tokens: int
    meter: TokenCounter

    def excess(self, draft: PromptDraft) -> int:
        return sum(map(self.cost, draft.messages())) - self.tokens

    def cost(self, message: PromptMessage) -> int:
        calls = sum(
            MESSAGE_OVERHEAD + sum(map(self.meter.count, (call.id, call.name, call.arguments)))
            for call in message.tool_calls
        )
        answered = self.meter.count(message.tool_call_id) if message.tool_call_id else 0
        return MESSAGE_OVERHEAD + self.meter.count(message.text) + calls + answered


def measure(draft: PromptDraft, tools: Sequence[ToolSpec], meter: TokenCounter) -> int:
    """The tokens of the request: the tools' schemas are an estimate, since endpoints render them in their own way."""
    return _Room(tokens=-_fixed_cost(tools, meter), meter=meter).excess(draft)


def fit(draft: PromptDraft, tools: Sequence[ToolSpec], *, meter: TokenCounter, room: int) -> PromptDraft:
    """The draft in at most `room` tokens, tools included; the draft itself if it fits.

    Goes first: the recalled lines, the worst hit first; then the window, oldest first. Then tool results and
    after them the user's messages are cut in the middle, the longest most. Last go whole steps and all but
    the newest of the user's messages. Raises PromptTooLong when the system prompt and the tools leave no room.
    """
    available = _Room(tokens=room - _fixed_cost(tools, meter), meter=meter)
    for shrink in _SHRINKS:
        if available.excess(draft) <= 0:
            return draft
        draft = shrink(draft, available)
    if available.excess(draft) > 0:
        raise PromptTooLong
    return draft


def _without_recalled(draft: PromptDraft, room: _Room) -> PromptDraft:
    while draft.recalled and room.excess(draft) > 0:
        draft = replace(draft, recalled=draft.recalled[:-1])
    return draft


def _with_newest_window(draft: PromptDraft, room: _Room) -> PromptDraft:
    excess, kept = room.excess(draft), draft.window
    while kept and excess > 0:
        excess -= room.cost(kept[0])
        kept = kept[1:]
    return replace(draft, window=kept)


def _with_cut_results(draft: PromptDraft, room: _Room) -> PromptDraft:
    results = [message for step in draft.steps for message in step if message.role == "tool"]
    cut = iter(_cut_longest(results, room.excess(draft), room.meter, least=_LEAST_RESULT))
    steps = (
        tuple(next(cut) if message.role == "tool" else message for message in step) for step in draft.steps
    )
    return replace(draft, steps=tuple(steps))


def _with_cut_prompt(draft: PromptDraft, room: _Room) -> PromptDraft:
    cut = _cut_longest(draft.prompt, room.excess(draft), room.meter, least=_LEAST_PROMPT)
    return replace(draft, prompt=tuple(cut))


def _with_newest_steps(draft: PromptDraft, room: _Room) -> PromptDraft:
    while draft.steps and room.excess(draft) > 0:
        draft = replace(draft, steps=draft.steps[1:])
    return draft


def _with_newest_prompt(draft: PromptDraft, room: _Room) -> PromptDraft:
    while len(draft.prompt) > 1 and room.excess(draft) > 0:
        draft = replace(draft, prompt=draft.prompt[1:])
    return draft


_SHRINKS: tuple[Callable[[PromptDraft, _Room], PromptDraft], ...] = (
    _without_recalled,
    _with_newest_window,
    _with_cut_results,
    _with_cut_prompt,
    _with_newest_steps,
    _with_newest_prompt,
)


def _cut_longest(
    messages: Sequence[PromptMessage], excess: int, meter: TokenCounter, *, least: int
) -> list[PromptMessage]:
    """The messages with `excess` tokens less, the longest cut most; none is cut below `least` tokens."""
    sizes = [meter.count(message.text) for message in messages]
    level = max(least, _level(sizes, sum(sizes) - excess))
    return [
        replace(message, text=meter.cut_middle(message.text, level)) if size > level else message
        for message, size in zip(messages, sizes, strict=True)
    ]


def _level(sizes: Sequence[int], available: int) -> int:
    """The highest level at which the sizes, each cut down to it, sum up to at most `available`."""
    left = available
    for position, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - position)
        if size > share:
            return share
        left -= size
    return max(sizes, default=0)


def _fixed_cost(tools: Sequence[ToolSpec], meter: TokenCounter) -> int:
    schemas = (
        json.dumps([tool.name, tool.description, tool.parameters], ensure_ascii=False) for tool in tools
    )
    return REPLY_OVERHEAD + sum(MESSAGE_OVERHEAD + meter.count(schema) for schema in schemas)
