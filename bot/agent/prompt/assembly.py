"""Assembles a request that fits the model's window, with a record of its contents and the reasons.

The table GIVES_WAY has the order in which parts become smaller.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from bot.agent.model import PromptMessage, PromptRole
from bot.agent.prompt.draft import PromptDraft, PromptPiece, Section, cost_of, draft_prompt, total_tokens
from bot.agent.prompt.parts import (
    AssembledPrompt,
    PartName,
    PromptBudget,
    PromptOrder,
    PromptParts,
    PromptRecord,
    PromptSize,
    RecordPart,
)
from bot.agent.prompt.text import UNSHOWN, cut_marked
from bot.errors import PromptTooLong
from memory.history.selectors import TokenCounter, chunk_start

CUT = "cut in the middle"


_FOUND: tuple[PartName, ...] = ("recalled", "facts", "talk")
_RUN: tuple[PartName, ...] = ("standing", "prompt", "record", "task", "digest", "steps")
_ORDERS: Mapping[PromptOrder, tuple[PartName, ...]] = {
    "described": ("system", "tools", *_FOUND, "summary", "ledger", "window", *_RUN),
    # Parts that change with every message come last: providers bill an equal beginning as cached.
    "cached": ("system", "tools", "summary", "ledger", "window", *_FOUND, *_RUN),
}
_REASONS: Mapping[PartName, str] = {
    "system": "the agent's instructions",
    "tools": "the tools that it may call",
    "summary": "it stands for the older part of the conversation",
    "recalled": "found by a search for the newest message",
    "facts": "found by the same search, in place of their messages",
    "talk": "said in this chat lately, and not to the bot",
    "standing": "how the person who asks wants to be answered",
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

    Raises PromptTooLong if the system prompt and the tools alone leave no room.
    """
    draft = draft_prompt(parts, meter=meter)
    tokens = total_tokens(draft)
    if tokens > budget.room:
        draft = _fit(draft, excess=tokens - budget.room, budget=budget, meter=meter)
        tokens = total_tokens(draft)
    messages, record_parts = _render(draft, budget.order)
    record = PromptRecord(
        agent=agent,
        order=budget.order,
        window=budget.window,
        room=budget.room,
        tokens=tokens,
        parts=record_parts,
    )
    return AssembledPrompt(messages=messages, record=record)


def measure(parts: PromptParts, *, meter: TokenCounter) -> PromptSize:
    """Return the size of a request with all these parts."""
    draft = draft_prompt(parts, meter=meter)
    older = sum(piece.tokens for piece in draft["steps"].pieces[:-1])
    return PromptSize(tokens=total_tokens(draft), older_steps=older)


def _render(
    draft: PromptDraft, order: PromptOrder
) -> tuple[tuple[PromptMessage, ...], tuple[RecordPart, ...]]:
    """Return the messages of the request, and the record of each part that has or had something."""
    messages: list[PromptMessage] = []
    record: list[RecordPart] = []
    for name in _ORDERS[order]:
        section = draft[name]
        if not section.pieces and not section.left_out:
            continue
        pieces = section.in_order() if section.heading else section.pieces
        if section.heading and pieces:
            messages.append(section.text_message())
        elif name == "window" and draft["ledger"].pieces:
            messages += _window_with_records(draft)
        elif name != "ledger":
            for piece in pieces:
                messages += piece.messages
        part = RecordPart(
            part=name,
            tokens=section.tokens,
            why=section.why or _REASONS[name],
            included=tuple([item for piece in pieces for item in piece.items()]),
            left_out=section.left_out,
        )
        record.append(part)
    return tuple(messages), tuple(record)


def _window_with_records(draft: PromptDraft) -> list[PromptMessage]:
    """Return the window. The record of a turn comes before its reply, or after its messages without a reply."""
    records: dict[int | None, list[PromptMessage]] = defaultdict(list)
    for piece in draft["ledger"].pieces:
        records[piece.sequence] += piece.messages
    messages: list[PromptMessage] = []
    for piece in draft["window"].pieces:
        record = records.pop(piece.sequence, []) if piece.sequence is not None else []
        is_reply = piece.messages[-1].role == "assistant"
        messages += (*record, *piece.messages) if is_reply else (*piece.messages, *record)
    return messages


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """The number of excess tokens, and the reason that the record gives for everything left out."""

    excess: int
    why: str
    # A window loses messages up to a multiple of it.
    chunk: int
    meter: TokenCounter


def drop(section: Section, need: Need, *, in_chunks: bool = False, keep: int = 0) -> Section:
    """Return the section without as many of its first pieces as necessary, but with the last `keep`."""
    excess = need.excess
    while excess > 0 and len(section.pieces) > keep:
        number = min(_count_to_drop(section.pieces, excess), len(section.pieces) - keep)
        if in_chunks:
            number += chunk_start([piece.sequence for piece in section.pieces[number:]], need.chunk)
        smaller = section.with_pieces(
            section.pieces[number:],
            meter=need.meter,
            left_out=[
                item
                for piece in section.pieces[:number]
                for item in piece.items(f"no room: {need.why}", "no_room")
            ],
        )
        excess -= section.tokens - smaller.tokens
        section = smaller
    return section


def cut_messages(section: Section, need: Need, *, roles: Collection[PromptRole], least: int) -> Section:
    """Return the section with texts of these roles cut in the middle, the longest most; none below `least` tokens."""
    messages = [message for piece in section.pieces for message in piece.messages if message.role in roles]
    sizes = [need.meter.count(message.text) for message in messages]
    level = max(least, _level(sizes, sum(sizes) - need.excess))
    sized = iter(sizes)
    pieces: list[PromptPiece] = []
    for piece in section.pieces:
        changed, tokens = list(piece.messages), piece.tokens
        for place, message in enumerate(changed):
            size = next(sized) if message.role in roles else 0
            if size > level:
                changed[place] = replace(message, text=cut_marked(message.text, level, need.meter))
                tokens += need.meter.count(changed[place].text) - size
        why = CUT if tokens < piece.tokens else piece.why
        pieces.append(replace(piece, messages=tuple(changed), tokens=tokens, why=why))
    return section.with_pieces(pieces, meter=need.meter)


def drop_images(section: Section, need: Need) -> Section:
    """Return the section with a line in place of images, those of the first pieces first."""
    excess = need.excess
    pieces = list(section.pieces)
    for place, piece in enumerate(pieces):
        count = sum(len(message.images) for message in piece.messages)
        if excess <= 0 or not count:
            continue
        messages = tuple(map(_without_images, piece.messages))
        tokens = sum(cost_of(message, need.meter) for message in messages)
        excess -= piece.tokens - tokens
        why = f"without its {count} images: no room"
        pieces[place] = replace(piece, messages=messages, tokens=tokens, why=why)
    return section.with_pieces(pieces, meter=need.meter)


def cut_text(section: Section, need: Need, *, least: int) -> Section:
    """Return the section with its one text cut in the middle, to no less than `least` tokens."""
    excess = need.excess
    while excess > 0 and section.pieces and section.pieces[0].tokens > least:
        piece = section.pieces[0]
        text = need.meter.cut_middle(piece.text, max(least, piece.tokens - excess))
        shorter = replace(piece, text=text, tokens=need.meter.count(text), why=CUT)
        smaller = section.with_pieces([shorter], meter=need.meter)
        if shorter.tokens >= piece.tokens:  # the counter cannot cut this text any further
            break
        excess -= section.tokens - smaller.tokens
        section = smaller
    return section


@dataclass(frozen=True, slots=True, kw_only=True)
class Concession:
    """One part that gives way, the way it becomes smaller, and the reason for its place in the table."""

    part: PartName
    shrink: Callable[[Section, Need], Section]
    why: str


GIVES_WAY = (
    # Contents that are also elsewhere, or can be found again.
    Concession(part="recalled", shrink=drop, why="the worst hit goes first, it can be searched for again"),
    Concession(part="facts", shrink=drop, why="the worst fact goes first, its messages can be searched for"),
    Concession(part="talk", shrink=drop, why="the oldest line goes first, it was not said to the bot"),
    Concession(
        part="ledger", shrink=partial(drop, in_chunks=True), why="the replies tell what came of old calls"
    ),
    Concession(part="window", shrink=partial(drop, in_chunks=True), why="the oldest message goes first"),
    Concession(part="summary", shrink=partial(cut_text, least=64), why="its ends tell most"),
    # The work of this run, which can be repeated.
    Concession(part="record", shrink=drop, why="the oldest call of another agent goes first"),
    Concession(part="steps", shrink=drop_images, why="the tools can be called again"),
    Concession(
        part="steps",
        shrink=partial(cut_messages, roles=("tool",), least=32),
        why="the longest result gives most",
    ),
    Concession(part="digest", shrink=partial(cut_text, least=64), why="its ends tell most"),
    # The subject of the answer.
    Concession(part="prompt", shrink=drop_images, why="the text can be answered without them"),
    Concession(
        part="prompt",
        shrink=partial(cut_messages, roles=("user", "assistant"), least=16),
        why="the longest message gives most",
    ),
    Concession(part="task", shrink=partial(cut_text, least=32), why="its ends tell most"),
    # Parts that are still too large after all cuts. A call never goes without its results.
    Concession(part="standing", shrink=drop, why="the oldest wish goes first"),
    Concession(part="summary", shrink=drop, why="the present message needs it"),
    Concession(part="digest", shrink=drop, why="the present message needs it"),
    Concession(part="steps", shrink=drop, why="the oldest step goes first"),
    Concession(part="prompt", shrink=partial(drop, keep=1), why="the newest message is the one to answer"),
)
"""The parts in the order in which they give way."""


def _fit(draft: PromptDraft, *, excess: int, budget: PromptBudget, meter: TokenCounter) -> PromptDraft:
    """Return the draft with `excess` tokens less, by the rows of GIVES_WAY.

    Raises PromptTooLong if the system prompt and the tools leave no room.
    """
    fitted = dict(draft)
    chunk = budget.chunk if budget.order == "cached" else 1
    for row in GIVES_WAY:
        before = fitted[row.part]
        fitted[row.part] = row.shrink(before, Need(excess=excess, why=row.why, chunk=chunk, meter=meter))
        excess -= before.tokens - fitted[row.part].tokens
        if excess <= 0:
            return fitted
    raise PromptTooLong


def _count_to_drop(pieces: Sequence[PromptPiece], excess: int) -> int:
    """Return how many of the first pieces have `excess` tokens together; all of them if they have less."""
    freed = 0
    for number, piece in enumerate(pieces, start=1):
        freed += piece.tokens
        if freed >= excess:
            return number
    return len(pieces)


def _without_images(message: PromptMessage) -> PromptMessage:
    return replace(message, text=f"{message.text}\n{UNSHOWN}", images=()) if message.images else message


def _level(sizes: Sequence[int], available: int) -> int:
    """Return the highest level at which the sizes, each cut down to it, sum up to at most `available`."""
    left = available
    for position, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - position)
        if size > share:
            return share
        left -= size
    return max(sizes, default=0)
