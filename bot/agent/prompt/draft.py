"""Everything that a prompt could tell, rendered and counted, each message once: before anything gives way."""

import json
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace

from bot.agent.actions import exchanges, repair_pairs
from bot.agent.model import Image, PromptMessage, ToolSpec
from bot.agent.prompt.parts import PartName, PromptParts, ReceiptItem
from bot.agent.prompt.section import MESSAGE_OVERHEAD, Piece, Section, cost_of
from bot.agent.prompt.text import (
    DIGEST_HEADING,
    GROUP_NOTE,
    HEARD_HEADING,
    LEDGER_HEADING,
    RECALLED_HEADING,
    RECORD_HEADING,
    SUMMARY_HEADING,
    TASK_HEADING,
    UNANSWERED_HEADING,
    quote_beside,
    quote_heard,
    quote_line,
    spoken_as_one,
    tell_entries,
    told_together,
    without_marks,
)
from memory.history.ledger import render_entry
from memory.history.message import Message
from memory.history.selectors import TokenCounter
from memory.history.summary import render_summary

REPLY_OVERHEAD = 3
"""Tokens that prime the reply; they are counted with the system prompt."""

HEARD_TOKENS = 2_000
"""Of talk that was not addressed to the bot no more is told."""

PromptDraft = Mapping[PartName, Section]
"""All parts of a prompt, also the empty ones."""


def draft_prompt(parts: PromptParts, *, meter: TokenCounter) -> PromptDraft:
    """The sections of a prompt. A message is told once: in `prompt`, or else in the window, or else recalled.

    Row M10 keeps the first of the recalled and the window. Here the window keeps it: a quotation of what
    stands in the conversation anyway would only take room. A tool message of the window (it has no call) and a
    blank reply are left out. A blank message of a user reads as it did when it was answered.
    """
    known: dict[str, str] = {}
    prompt = _prompt(parts, known, meter)
    window = _window(parts, known, meter)
    return {
        "system": _system(parts, meter),
        "tools": _tools(parts.tools, meter),
        "summary": _summary(parts, meter),
        "window": window,
        "recalled": _recalled(parts, known, meter),
        "heard": _heard(parts, meter),
        "ledger": _ledger(parts, window.pieces, meter),
        "prompt": prompt,
        "record": _record(parts, meter),
        "task": _under(TASK_HEADING, "task", without_marks(parts.task, is_group=parts.is_group), meter),
        "digest": _digest(parts, meter),
        "steps": _steps(parts, meter),
    }


def total_tokens(draft: PromptDraft) -> int:
    """What the request takes. The tools' share is an estimate: endpoints render schemas in their own ways."""
    return sum(section.tokens for section in draft.values())


def _system(parts: PromptParts, meter: TokenCounter) -> Section:
    text = f"{parts.system}\n\n{GROUP_NOTE}" if parts.is_group else parts.system
    message = PromptMessage(role="system", text=text)
    piece = Piece(id="system", messages=(message,), tokens=cost_of(message, meter) + REPLY_OVERHEAD)
    return Section().with_pieces([piece], meter=meter)


def _tools(tools: Sequence[ToolSpec], meter: TokenCounter) -> Section:
    pieces = [
        Piece(
            id=tool.name,
            tokens=MESSAGE_OVERHEAD
            + meter.count(
                json.dumps([tool.name, tool.description, dict(tool.parameters)], ensure_ascii=False)
            ),
        )
        for tool in tools
    ]
    return Section().with_pieces(pieces, meter=meter)


def _summary(parts: PromptParts, meter: TokenCounter) -> Section:
    if parts.summary is None:
        return Section(heading=SUMMARY_HEADING)
    text = without_marks(render_summary(parts.summary.text), is_group=parts.is_group)
    first, last = parts.summary.conversation_start, parts.summary.upto_sequence
    section = _under(SUMMARY_HEADING, parts.summary.id, text, meter)
    return replace(section, why=f"it stands for the messages with the sequences {first} to {last}")


def _prompt(parts: PromptParts, known: dict[str, str], meter: TokenCounter) -> Section:
    """Learns into `known` the ids that it tells, as the window and the recalled messages do."""
    fresh, repeated = _sift(parts.prompt, known, place="the prompt")
    pieces = [_spoken(together, parts, meter, images=parts.images) for together in told_together(fresh)]
    return Section().with_pieces(pieces, meter=meter, left_out=repeated)


def _window(parts: PromptParts, known: dict[str, str], meter: TokenCounter) -> Section:
    fresh, repeated = _sift(parts.window, known, place="the window")
    told: list[Message] = []
    left_out = [*_unselected(parts), *repeated]
    for message in fresh:
        if message.role == "tool" or (message.role != "user" and not message.text.strip()):
            why = "a tool message without its call" if message.role == "tool" else "it has no text"
            left_out.append(ReceiptItem(id=message.id, tokens=message.tokens, why=why))
        else:
            told.append(message)
    pieces = [_spoken(together, parts, meter) for together in told_together(told)]
    return Section().with_pieces(pieces, meter=meter, left_out=left_out)


def _spoken(
    together: Sequence[Message],
    parts: PromptParts,
    meter: TokenCounter,
    *,
    images: Mapping[str, Sequence[Image]] | None = None,
) -> Piece:
    """Messages that are told as one. Beside the others of its turn it stands where the last of them does."""
    shown = [image for message in together for image in (images or {}).get(message.id, ())]
    spoken = spoken_as_one(together, is_group=parts.is_group, images=shown)
    return Piece(
        id=together[0].id,
        others=tuple(message.id for message in together[1:]),
        messages=(spoken,),
        tokens=cost_of(spoken, meter),
        sequence=together[-1].sequence,
    )


def _unselected(parts: PromptParts) -> list[ReceiptItem]:
    """One item for all: they were not read."""
    if not parts.unselected:
        return []
    why = f"older part of the conversation, {parts.unselected:,} messages: not selected, and no summary tells it"
    return [ReceiptItem(id="older", tokens=0, why=why)]


def _recalled(parts: PromptParts, known: dict[str, str], meter: TokenCounter) -> Section:
    """The worst hit gives way first, with what is told beside it; told are they from the oldest to the newest."""
    hits = {hit.message.id: hit for hit in parts.recalled}
    fresh, repeated = _sift([hit.message for hit in parts.recalled], known, place="the recalled messages")
    pieces: list[Piece] = []
    for message in fresh:
        hit = hits[message.id]
        beside, _ = _sift((*hit.before, *hit.after), known, place="the recalled messages")
        text = _quotation(message, beside, parts)
        why = f"with {len(beside)} beside it" if beside else ""
        piece = Piece(id=message.id, text=text, tokens=meter.count(text), told_at=message.sent_at, why=why)
        pieces.append(piece)
    return Section(heading=RECALLED_HEADING).with_pieces(pieces[::-1], meter=meter, left_out=repeated)


def _heard(parts: PromptParts, meter: TokenCounter) -> Section:
    """The newest lines within HEARD_TOKENS."""
    pieces: list[Piece] = []
    left_out: list[ReceiptItem] = []
    room = HEARD_TOKENS
    for line in reversed(parts.heard):
        text, line_id = quote_heard(line), f"heard:{line.telegram_message_id}"
        tokens = meter.count(text)
        room -= tokens
        if room < 0:
            why = f"older than the newest {HEARD_TOKENS:,} tokens of such talk"
            left_out.append(ReceiptItem(id=line_id, tokens=tokens, why=why))
        else:
            pieces.append(Piece(id=line_id, text=text, tokens=tokens))
    return Section(heading=HEARD_HEADING).with_pieces(pieces[::-1], meter=meter, left_out=left_out)


def _quotation(message: Message, beside: Sequence[Message], parts: PromptParts) -> str:
    """The message and those beside it, a line each. Its age is that at the message to answer: it stays the same in a
    run, and for a provider's cache.
    """
    now = parts.prompt[-1].sent_at if parts.prompt else None
    sequence = message.sequence or 0
    before = [each for each in beside if (each.sequence or 0) < sequence]
    after = [each for each in beside if (each.sequence or 0) >= sequence]
    return "\n".join(
        [
            *(quote_beside(each, is_group=parts.is_group, side="before") for each in before),
            quote_line(message, is_group=parts.is_group, now=now),
            *(quote_beside(each, is_group=parts.is_group, side="after") for each in after),
        ]
    )


def _ledger(parts: PromptParts, window: Sequence[Piece], meter: TokenCounter) -> Section:
    """Each turn beside the last of its messages that the window tells; a turn outside the window is left out."""
    replies = {piece.sequence for piece in window if piece.messages[-1].role == "assistant"}
    sequences = sorted(piece.sequence for piece in window if piece.sequence is not None)
    pieces: list[Piece] = []
    left_out: list[ReceiptItem] = []
    for turn in parts.ledger:
        if not turn.entries:
            continue
        place = bisect_right(sequences, turn.last_sequence) - 1
        if place < 0 or sequences[place] < turn.first_sequence:
            why = "its turn is not in the window"
            left_out.append(ReceiptItem(id=turn.entries[0].id, tokens=0, why=why))
            continue
        heading = LEDGER_HEADING if sequences[place] in replies else UNANSWERED_HEADING
        message = PromptMessage(role="user", text=tell_entries(heading, turn.entries))
        pieces.append(
            Piece(
                id=turn.entries[0].id,
                messages=(message,),
                tokens=cost_of(message, meter),
                sequence=sequences[place],
            )
        )
    return Section().with_pieces(pieces, meter=meter, left_out=left_out)


def _record(parts: PromptParts, meter: TokenCounter) -> Section:
    pieces: list[Piece] = []
    for entry in parts.record:
        text = render_entry(entry)
        pieces.append(Piece(id=entry.id, text=text, tokens=meter.count(text)))
    return Section(heading=RECORD_HEADING, separator="\n\n").with_pieces(pieces, meter=meter)


def _digest(parts: PromptParts, meter: TokenCounter) -> Section:
    if parts.digest is None:
        return Section(heading=DIGEST_HEADING)
    text = without_marks(parts.digest.text, is_group=parts.is_group)
    return _under(DIGEST_HEADING, f"steps 1-{parts.digest.covers}", text, meter)


def _steps(parts: PromptParts, meter: TokenCounter) -> Section:
    """The steps that no digest tells, each with its results: only so are they a valid request."""
    covered = parts.digest.covers if parts.digest else 0
    repaired = repair_pairs([each for step in parts.steps[covered:] for each in step.to_chat_messages()])
    pieces: list[Piece] = []
    for messages in exchanges(repaired):
        calls = messages[0].tool_calls
        tokens = sum(cost_of(message, meter) for message in messages)
        pieces.append(Piece(id=calls[0].id if calls else "", messages=tuple(messages), tokens=tokens))
    return Section().with_pieces(pieces, meter=meter)


def _under(heading: str, piece_id: str, text: str, meter: TokenCounter) -> Section:
    pieces = [Piece(id=piece_id, text=text, tokens=meter.count(text))] if text.strip() else []
    return Section(heading=heading).with_pieces(pieces, meter=meter)


def _sift(
    messages: Sequence[Message], known: dict[str, str], *, place: str
) -> tuple[list[Message], list[ReceiptItem]]:
    """Those that are not `known` yet, which become known as told in `place`; and those that are."""
    fresh: list[Message] = []
    repeated: list[ReceiptItem] = []
    for message in messages:
        if message.id in known:
            why = f"it stands in {known[message.id]}"
            repeated.append(ReceiptItem(id=message.id, tokens=message.tokens, why=why))
        else:
            known[message.id] = place
            fresh.append(message)
    return fresh, repeated
