"""The draft of a prompt: all its parts rendered and counted, each message once, before anything is left out."""

import json
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from bot.agent.actions import exchanges, repair_pairs
from bot.agent.model import Image, PromptMessage, ToolSpec
from bot.agent.prompt.parts import PartName, PromptParts, ReceiptItem
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
    as_prompt_message,
    group_continuations,
    quote_heard,
    quote_line,
    quote_neighbour,
    render_entries,
    without_marks,
)
from memory.history.ledger import render_entry
from memory.history.message import Message
from memory.history.selectors import TokenCounter
from memory.history.summary import render_summary

MESSAGE_OVERHEAD = 4
"""Tokens around each message, tool call and tool (OpenAI's cookbook counts 3 to 4)."""
REPLY_OVERHEAD = 3
"""Tokens that prime the reply. They are counted with the system prompt."""
HEARD_TOKENS = 2_000
"""The most that messages to others may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptPiece:
    """The smallest unit that stays or goes: whole `messages`, or a `text` under the heading of its section."""

    id: str
    tokens: int
    messages: tuple[PromptMessage, ...] = ()
    text: str = ""
    # The sequence of its message, or of the message beside which it stands.
    sequence: int | None = None
    # Orders the texts under a heading.
    sent_at: float = 0.0
    # The change that was made to it; "" for none.
    why: str = ""
    # The ids of messages that are rendered as one with it.
    others: tuple[str, ...] = ()

    def items(self, why: str = "") -> Iterator[ReceiptItem]:
        """Yield the lines of the receipt: one with all tokens, and one for each of the `others`."""
        yield ReceiptItem(id=self.id, tokens=self.tokens, why=why or self.why)
        for other in self.others:
            yield ReceiptItem(id=other, tokens=0, why=why or f"told as one with {self.id}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One part of a prompt. Its first piece is left out first.

    With a `heading` the texts of all pieces are one message of role "user". Texts of people, tools and models
    must not have the authority of a system message.
    """

    heading: str = ""
    # The reason in the receipt, if it is not the same in all prompts.
    why: str = ""
    separator: str = "\n"
    pieces: tuple[PromptPiece, ...] = ()
    left_out: tuple[ReceiptItem, ...] = ()
    tokens: int = 0

    def in_order(self) -> Sequence[PromptPiece]:
        """Return the pieces in the order of the prompt."""
        return sorted(self.pieces, key=lambda piece: piece.sent_at)

    def messages(self) -> tuple[PromptMessage, ...]:
        """Return the messages of the request; none without pieces."""
        if not self.heading:
            return tuple(message for piece in self.in_order() for message in piece.messages)
        if not self.pieces:
            return ()
        text = self.separator.join([self.heading, *(piece.text for piece in self.in_order())])
        return (PromptMessage(role="user", text=text),)

    def with_pieces(
        self, pieces: Sequence[PromptPiece], *, meter: TokenCounter, left_out: Sequence[ReceiptItem] = ()
    ) -> "Section":
        """Return the section with these pieces instead of its own, counted again."""
        changed = replace(self, pieces=tuple(pieces), left_out=(*self.left_out, *left_out))
        if self.heading:  # one text is counted whole, because a token may span two lines
            return replace(changed, tokens=sum(cost_of(each, meter) for each in changed.messages()))
        return replace(changed, tokens=sum(piece.tokens for piece in pieces))


PromptDraft = Mapping[PartName, Section]
"""All parts of a prompt, empty ones included."""


def cost_of(message: PromptMessage, meter: TokenCounter) -> int:
    """Return the tokens of a message in a request, with its calls, images and overhead."""
    calls = sum(
        MESSAGE_OVERHEAD + sum(map(meter.count, (call.id, call.name, call.arguments)))
        for call in message.tool_calls
    )
    call_id = meter.count(message.tool_call_id) if message.tool_call_id else 0
    images = sum(image.tokens for image in message.images)
    return MESSAGE_OVERHEAD + meter.count(message.text) + calls + call_id + images


def draft_prompt(parts: PromptParts, *, meter: TokenCounter) -> PromptDraft:
    """Return the sections of a prompt. Each message appears once: in `prompt`, else in the window, else recalled.

    Row M10 keeps the recalled copy of a message that is also in the window. Here the window keeps it, because a
    second copy would only take room. Tool messages of the window (they have no call) and blank replies are left
    out. A blank message of a user reads as it did when it was answered.
    """
    places: dict[str, str] = {}
    prompt = _prompt(parts, places, meter)
    window = _window(parts, places, meter)
    return {
        "system": _system(parts, meter),
        "tools": _tools(parts.tools, meter),
        "summary": _summary(parts, meter),
        "window": window,
        "recalled": _recalled(parts, places, meter),
        "heard": _heard(parts, meter),
        "ledger": _ledger(parts, window.pieces, meter),
        "prompt": prompt,
        "record": _record(parts, meter),
        "task": _under(TASK_HEADING, "task", without_marks(parts.task, is_group=parts.is_group), meter),
        "digest": _digest(parts, meter),
        "steps": _steps(parts, meter),
    }


def total_tokens(draft: PromptDraft) -> int:
    """Return the tokens of the request. The tools' share is an estimate: endpoints render schemas differently."""
    return sum(section.tokens for section in draft.values())


def _system(parts: PromptParts, meter: TokenCounter) -> Section:
    text = f"{parts.system}\n\n{GROUP_NOTE}" if parts.is_group else parts.system
    message = PromptMessage(role="system", text=text)
    piece = PromptPiece(id="system", messages=(message,), tokens=cost_of(message, meter) + REPLY_OVERHEAD)
    return Section().with_pieces([piece], meter=meter)


def _tools(tools: Sequence[ToolSpec], meter: TokenCounter) -> Section:
    pieces = [
        PromptPiece(
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


def _prompt(parts: PromptParts, places: dict[str, str], meter: TokenCounter) -> Section:
    """Return the messages to answer. Like the window and the recalled messages, it adds their ids to `places`."""
    fresh, repeated = _sift(parts.prompt, places, place="the prompt")
    pieces = [_spoken(together, parts, meter, images=parts.images) for together in group_continuations(fresh)]
    return Section().with_pieces(pieces, meter=meter, left_out=repeated)


def _window(parts: PromptParts, places: dict[str, str], meter: TokenCounter) -> Section:
    fresh, repeated = _sift(parts.window, places, place="the window")
    spoken: list[Message] = []
    left_out = [*_unselected(parts), *repeated]
    for message in fresh:
        if message.role == "tool" or (message.role != "user" and not message.text.strip()):
            why = "a tool message without its call" if message.role == "tool" else "it has no text"
            left_out.append(ReceiptItem(id=message.id, tokens=message.tokens, why=why))
        else:
            spoken.append(message)
    pieces = [_spoken(together, parts, meter) for together in group_continuations(spoken)]
    return Section().with_pieces(pieces, meter=meter, left_out=left_out)


def _spoken(
    together: Sequence[Message],
    parts: PromptParts,
    meter: TokenCounter,
    *,
    images: Mapping[str, Sequence[Image]] | None = None,
) -> PromptPiece:
    """Return the piece of messages that are rendered as one. Its place is that of the last message."""
    pictures = [image for message in together for image in (images or {}).get(message.id, ())]
    spoken = as_prompt_message(together, is_group=parts.is_group, images=pictures)
    return PromptPiece(
        id=together[0].id,
        others=tuple(message.id for message in together[1:]),
        messages=(spoken,),
        tokens=cost_of(spoken, meter),
        sequence=together[-1].sequence,
    )


def _unselected(parts: PromptParts) -> list[ReceiptItem]:
    """Return one item for all messages that were not read."""
    if not parts.unselected:
        return []
    why = f"older part of the conversation, {parts.unselected:,} messages: not selected, and no summary tells it"
    return [ReceiptItem(id="older", tokens=0, why=why)]


def _recalled(parts: PromptParts, places: dict[str, str], meter: TokenCounter) -> Section:
    """Return the hits with their neighbours, worst first. The prompt shows them oldest first."""
    hits = {hit.message.id: hit for hit in parts.recalled}
    fresh, repeated = _sift([hit.message for hit in parts.recalled], places, place="the recalled messages")
    pieces: list[PromptPiece] = []
    for message in fresh:
        hit = hits[message.id]
        neighbours, _ = _sift((*hit.before, *hit.after), places, place="the recalled messages")
        text = _quotation(message, neighbours, parts)
        why = f"with {len(neighbours)} beside it" if neighbours else ""
        piece = PromptPiece(
            id=message.id, text=text, tokens=meter.count(text), sent_at=message.sent_at, why=why
        )
        pieces.append(piece)
    return Section(heading=RECALLED_HEADING).with_pieces(pieces[::-1], meter=meter, left_out=repeated)


def _heard(parts: PromptParts, meter: TokenCounter) -> Section:
    """Return the newest lines within HEARD_TOKENS."""
    pieces: list[PromptPiece] = []
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
            pieces.append(PromptPiece(id=line_id, text=text, tokens=tokens))
    return Section(heading=HEARD_HEADING).with_pieces(pieces[::-1], meter=meter, left_out=left_out)


def _quotation(message: Message, neighbours: Sequence[Message], parts: PromptParts) -> str:
    """Return one line for the message and one for each neighbour.

    Ages refer to the message to answer, so that they stay the same within a run and in a provider's cache.
    """
    now = parts.prompt[-1].sent_at if parts.prompt else None
    sequence = message.sequence or 0
    before = [each for each in neighbours if (each.sequence or 0) < sequence]
    after = [each for each in neighbours if (each.sequence or 0) >= sequence]
    return "\n".join(
        [
            *(quote_neighbour(each, is_group=parts.is_group, side="before") for each in before),
            quote_line(message, is_group=parts.is_group, now=now),
            *(quote_neighbour(each, is_group=parts.is_group, side="after") for each in after),
        ]
    )


def _ledger(parts: PromptParts, window: Sequence[PromptPiece], meter: TokenCounter) -> Section:
    """Return the record of each turn beside its last message in the window. Turns outside the window are left out."""
    replies = {piece.sequence for piece in window if piece.messages[-1].role == "assistant"}
    sequences = sorted(piece.sequence for piece in window if piece.sequence is not None)
    pieces: list[PromptPiece] = []
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
        message = PromptMessage(role="user", text=render_entries(heading, turn.entries))
        pieces.append(
            PromptPiece(
                id=turn.entries[0].id,
                messages=(message,),
                tokens=cost_of(message, meter),
                sequence=sequences[place],
            )
        )
    return Section().with_pieces(pieces, meter=meter, left_out=left_out)


def _record(parts: PromptParts, meter: TokenCounter) -> Section:
    pieces: list[PromptPiece] = []
    for entry in parts.record:
        text = render_entry(entry)
        pieces.append(PromptPiece(id=entry.id, text=text, tokens=meter.count(text)))
    return Section(heading=RECORD_HEADING, separator="\n\n").with_pieces(pieces, meter=meter)


def _digest(parts: PromptParts, meter: TokenCounter) -> Section:
    if parts.digest is None:
        return Section(heading=DIGEST_HEADING)
    text = without_marks(parts.digest.text, is_group=parts.is_group)
    return _under(DIGEST_HEADING, f"steps 1-{parts.digest.covers}", text, meter)


def _steps(parts: PromptParts, meter: TokenCounter) -> Section:
    """Return the steps without a digest. A step and its results stay together, or the request would be invalid."""
    covered = parts.digest.covers if parts.digest else 0
    repaired = repair_pairs([each for step in parts.steps[covered:] for each in step.to_chat_messages()])
    pieces: list[PromptPiece] = []
    for messages in exchanges(repaired):
        calls = messages[0].tool_calls
        tokens = sum(cost_of(message, meter) for message in messages)
        pieces.append(PromptPiece(id=calls[0].id if calls else "", messages=tuple(messages), tokens=tokens))
    return Section().with_pieces(pieces, meter=meter)


def _under(heading: str, piece_id: str, text: str, meter: TokenCounter) -> Section:
    pieces = [PromptPiece(id=piece_id, text=text, tokens=meter.count(text))] if text.strip() else []
    return Section(heading=heading).with_pieces(pieces, meter=meter)


def _sift(
    messages: Sequence[Message], places: dict[str, str], *, place: str
) -> tuple[list[Message], list[ReceiptItem]]:
    """Return the messages that have no place yet, and items for the others. The former get this `place`."""
    fresh: list[Message] = []
    repeated: list[ReceiptItem] = []
    for message in messages:
        if message.id in places:
            why = f"it stands in {places[message.id]}"
            repeated.append(ReceiptItem(id=message.id, tokens=message.tokens, why=why))
        else:
            places[message.id] = place
            fresh.append(message)
    return fresh, repeated
