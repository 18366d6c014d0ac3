"""The draft of a prompt: all its parts rendered and counted, each message once, before anything is left out."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter

from bot.agent.actions import exchanges, repair_pairs
from bot.agent.model import Image, PromptMessage
from bot.agent.prompt.parts import (
    TALK_ITEM,
    ChatView,
    LeftOutCause,
    PartName,
    PromptParts,
    RecordItem,
    quoted_key,
)
from bot.agent.prompt.text import (
    DIGEST_HEADING,
    FACTS_HEADING,
    GROUP_NOTE,
    INCOGNITO_NOTE,
    LEDGER_HEADING,
    QUOTED_NOTE,
    REBUILDING_NOTE,
    RECALLED_HEADING,
    RECORD_HEADING,
    STANDING_HEADING,
    SUMMARY_HEADING,
    TALK_HEADING,
    TASK_HEADING,
    UNANSWERED_HEADING,
    as_prompt_message,
    group_continuations,
    quote_fact,
    quote_hit,
    quote_neighbour,
    quote_talk,
    render_entries,
    without_marks,
)
from memory.chat_history import RankedMessage
from memory.facts.selection import RecallBudget
from memory.history.fact import STANDING_LIMIT, Fact
from memory.history.ledger import render_entry
from memory.history.message import Message, foreign_origins
from memory.history.selectors import TokenCounter
from memory.history.summary import Summary, render_summary

MESSAGE_OVERHEAD = 4
"""Tokens around each message, tool call and tool (OpenAI's cookbook counts 3 to 4)."""
REPLY_OVERHEAD = 3
"""Tokens that prime the reply. They are counted with the system prompt."""
TALK_TOKENS = 2_000
"""The most that messages to others may take."""
STANDING_TOKENS = 300
"""The most that standing wishes may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptPiece:
    """The smallest unit that stays or goes: whole `messages`, or a `text` under the heading of its section."""

    id: str
    tokens: int
    messages: tuple[PromptMessage, ...] = ()
    text: str = ""
    # The sequence of its message. The record of a turn has the sequence of the message next to it.
    sequence: int | None = None
    # Orders the texts under a heading.
    sent_at: float = 0.0
    # The change that was made to it; "" for none.
    why: str = ""
    # The ids of messages that are rendered as one with it.
    others: tuple[str, ...] = ()

    def items(self, why: str = "", cause: LeftOutCause = "") -> list[RecordItem]:
        """Return the lines of the record: one with all tokens, and one for each of the `others`."""
        items = [RecordItem(id=self.id, tokens=self.tokens, why=why or self.why, cause=cause)]
        if self.others:
            why = why or f"told as one with {self.id}"
            items += [RecordItem(id=other, tokens=0, why=why, cause=cause) for other in self.others]
        return items


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One part of a prompt. Its first piece is left out first.

    With a `heading` the texts of all pieces are one message of role "user". Texts of people, tools and models
    must not have the authority of a system message.
    """

    heading: str = ""
    # The reason in the record, if it is not the same in all prompts.
    why: str = ""
    separator: str = "\n"
    pieces: tuple[PromptPiece, ...] = ()
    left_out: tuple[RecordItem, ...] = ()
    tokens: int = 0

    def in_order(self) -> Sequence[PromptPiece]:
        """Return the pieces in the order of the prompt."""
        return sorted(self.pieces, key=attrgetter("sent_at"))

    def text_message(self) -> PromptMessage:
        """Return the texts of all pieces under the heading as one message."""
        lines = [self.heading, *(piece.text for piece in self.in_order())]
        return PromptMessage(role="user", text=self.separator.join(lines))

    def with_pieces(
        self, pieces: Sequence[PromptPiece], *, meter: TokenCounter, left_out: Sequence[RecordItem] = ()
    ) -> "Section":
        """Return the section with these pieces instead of its own, counted again."""
        tokens = 0 if self.heading else sum([piece.tokens for piece in pieces])
        changed = replace(self, pieces=tuple(pieces), left_out=(*self.left_out, *left_out), tokens=tokens)
        if self.heading and pieces:  # one text is counted whole, because a token may span two lines
            return replace(changed, tokens=cost_of(changed.text_message(), meter))
        return changed


EMPTY = Section()
PromptDraft = Mapping[PartName, Section]
"""All parts of a prompt, empty ones included."""


def cost_of(message: PromptMessage, meter: TokenCounter) -> int:
    """Return the tokens of a message in a request, with its calls, images and overhead."""
    tokens = MESSAGE_OVERHEAD + meter.count(message.text)
    if message.opaque:
        tokens += meter.count(message.opaque)
    if message.tool_call_id:
        tokens += meter.count(message.tool_call_id)
    for call in message.tool_calls:
        tokens += MESSAGE_OVERHEAD
        tokens += meter.count(call.id) + meter.count(call.name) + meter.count(call.arguments)
        tokens += meter.count(call.opaque) if call.opaque else 0
    for image in message.images:
        tokens += image.tokens
    return tokens


def draft_prompt(parts: PromptParts, *, meter: TokenCounter) -> PromptDraft:
    """Return the sections of a prompt. Each message appears once: in `prompt`, else in the window, else recalled.

    The window keeps a message that was also recalled, because a second copy would only take room. Tool
    messages of the window (they have no call) and blank replies are left out. A blank message of a user reads as it did
    when it was answered.
    """
    notes = [GROUP_NOTE] if parts.is_group else []
    notes += [QUOTED_NOTE] if any(map(foreign_origins, (*parts.window, *parts.prompt))) else []
    notes += [INCOGNITO_NOTE] if parts.is_incognito else []
    notes += [REBUILDING_NOTE] if parts.recalled.is_incomplete else []
    system = PromptMessage(role="system", text="\n\n".join([parts.system, *notes]))
    tokens = cost_of(system, meter) + REPLY_OVERHEAD
    tools = [
        PromptPiece(id=tool.name, tokens=MESSAGE_OVERHEAD + meter.count(tool.described))
        for tool in parts.tools
    ]
    places: dict[str, str] = {}
    to_answer, repeated = _take_places(parts.prompt, places, place="the prompt")
    prompt = EMPTY.with_pieces(
        _message_pieces(to_answer, parts, meter, images=parts.images), meter=meter, left_out=repeated
    )
    window = _window(parts, places, meter)
    task = without_marks(parts.task, is_group=parts.is_group) if parts.task else ""
    return {
        "system": Section(
            tokens=tokens, pieces=(PromptPiece(id="system", messages=(system,), tokens=tokens),)
        ),
        "tools": EMPTY.with_pieces(tools, meter=meter),
        "summary": _summary(parts.summary, parts, meter) if parts.summary else EMPTY,
        "window": window,
        "recalled": _recalled(parts, places, meter) if parts.recalled.messages else EMPTY,
        "facts": _facts(parts, places, meter) if parts.recalled.facts else EMPTY,
        "talk": _talk(parts, meter) if parts.talk else EMPTY,
        "standing": _standing(parts, meter) if parts.standing else EMPTY,
        "ledger": _ledger(parts, window.pieces, meter) if parts.ledger else EMPTY,
        "prompt": prompt,
        "record": _record(parts, meter) if parts.record else EMPTY,
        "task": _text_section(TASK_HEADING, "task", task, meter) if task else EMPTY,
        "digest": _digest(parts, meter) if parts.digest else EMPTY,
        "steps": _steps(parts, meter) if parts.steps else EMPTY,
    }


def total_tokens(draft: PromptDraft) -> int:
    """Return the tokens of the request. The tools' share is an estimate: endpoints render schemas differently."""
    return sum([section.tokens for section in draft.values()])


def _summary(summary: Summary, parts: PromptParts, meter: TokenCounter) -> Section:
    text = without_marks(render_summary(summary.text), is_group=parts.is_group)
    section = _text_section(SUMMARY_HEADING, summary.id, text, meter)
    first, last = summary.conversation_start, summary.upto_sequence
    return replace(section, why=f"it stands for the messages with the sequences {first} to {last}")


def _window(parts: PromptParts, places: dict[str, str], meter: TokenCounter) -> Section:
    new, repeated = _take_places(parts.window, places, place="the window")
    left_out: list[RecordItem] = []
    if parts.unselected:  # one item for all messages that were not read
        why = f"older part of the conversation, {parts.unselected:,} messages: not selected, and no summary tells it"
        left_out.append(
            RecordItem(id="older", tokens=0, why=why, cause="not_selected", count=parts.unselected)
        )
    left_out += repeated
    messages: list[Message] = []
    for message in new:
        if message.role == "tool" or (message.role != "user" and not message.text.strip()):
            why = "a tool message without its call" if message.role == "tool" else "it has no text"
            left_out.append(RecordItem(id=message.id, tokens=message.tokens, why=why, cause="no_text"))
        else:
            messages.append(message)
    return EMPTY.with_pieces(_message_pieces(messages, parts, meter), meter=meter, left_out=left_out)


def _message_pieces(
    messages: Sequence[Message],
    parts: PromptParts,
    meter: TokenCounter,
    *,
    images: Mapping[str, Sequence[Image]] | None = None,
) -> list[PromptPiece]:
    """Return the pieces of these messages. Those that are rendered as one have the place of the last of them."""
    pieces: list[PromptPiece] = []
    for group in group_continuations(messages):
        ids = [message.id for message in group]
        keys = [key for each in group for key in (each.id, *([quoted_key(each)] if each.quote else ()))]
        pictures = [image for key in keys for image in images.get(key, ())] if images else []
        rendered = as_prompt_message(group, is_group=parts.is_group, images=pictures, clocks=parts.clocks)
        piece = PromptPiece(
            id=ids[0],
            others=tuple(ids[1:]),
            messages=(rendered,),
            tokens=cost_of(rendered, meter),
            sequence=group[-1].sequence,
        )
        pieces.append(piece)
    return pieces


def _recalled(parts: PromptParts, places: dict[str, str], meter: TokenCounter) -> Section:
    """Return the hits with their neighbours, worst first. The prompt shows them oldest first."""
    hits = {hit.message.id: hit for hit in parts.recalled.messages}
    messages = [hit.message for hit in parts.recalled.messages]
    new, repeated = _take_places(messages, places, place="the recalled messages")
    pieces: list[PromptPiece] = []
    for message in new:
        hit = hits[message.id]
        neighbours, _ = _take_places((*hit.before, *hit.after), places, place="the recalled messages")
        text = _quotation(hit, neighbours, parts)
        why = f"with {len(neighbours)} beside it" if neighbours else ""
        piece = PromptPiece(
            id=message.id, text=text, tokens=meter.count(text), sent_at=message.sent_at, why=why
        )
        pieces.append(piece)
    return Section(heading=RECALLED_HEADING).with_pieces(pieces[::-1], meter=meter, left_out=repeated)


def _facts(parts: PromptParts, places: Mapping[str, str], meter: TokenCounter) -> Section:
    """Return the facts, worst first. The prompt shows them in the order of their days.

    A fact whose message is in the prompt adds nothing, unless a person has corrected it.
    """
    pieces: list[PromptPiece] = []
    left_out: list[RecordItem] = []
    for fact in reversed(parts.recalled.facts):
        place = next((places[each] for each in fact.message_ids if each in places), "")
        if place and not fact.is_corrected:
            why = f"its message stands in {place}"
            left_out.append(RecordItem(id=fact.id, tokens=0, why=why, cause="repeated"))
            continue
        text = _fact_line(fact, parts.recalled.people, parts)
        pieces.append(PromptPiece(id=fact.id, text=text, tokens=meter.count(text), sent_at=fact.valid_from))
    return Section(heading=FACTS_HEADING).with_pieces(pieces, meter=meter, left_out=left_out)


def _fact_line(fact: Fact, people: Mapping[int, str], view: ChatView) -> str:
    speaker = people.get(fact.said_by or 0, "") if view.is_group else ""
    return quote_fact(fact, speaker=speaker, clocks=view.clocks)


def recall_budget(
    *, lines: int, tokens: int, view: ChatView, people: Mapping[int, str], now: float, meter: TokenCounter
) -> RecallBudget:
    """Return the budget of recalled lines in a prompt: their number, and their tokens as the prompt quotes them."""

    def cost(line: RankedMessage | Fact) -> int:
        if isinstance(line, Fact):
            return meter.count(_fact_line(line, people, view))
        return meter.count(quote_hit(line, is_group=view.is_group, now=now, clocks=view.clocks))

    heading = max(map(meter.count, (RECALLED_HEADING, FACTS_HEADING))) + MESSAGE_OVERHEAD
    return RecallBudget(lines=lines, tokens=tokens, cost=cost, heading=heading)


def _talk(parts: PromptParts, meter: TokenCounter) -> Section:
    """Return the newest lines within TALK_TOKENS. Older ones are one item of the record, and are not counted."""
    pieces: list[PromptPiece] = []
    left_out: list[RecordItem] = []
    room = TALK_TOKENS
    for line in reversed(parts.talk):
        text, line_id = quote_talk(line, parts.clocks), f"{TALK_ITEM}{line.telegram_message_id}"
        tokens = meter.count(text)
        room -= tokens
        if room < 0:
            why = f"older than the newest {TALK_TOKENS:,} tokens of such talk"
            older = len(parts.talk) - len(pieces)
            left_out.append(RecordItem(id=line_id, tokens=0, why=why, cause="no_room", count=older))
            break
        pieces.append(PromptPiece(id=line_id, text=text, tokens=tokens))
    return Section(heading=TALK_HEADING).with_pieces(pieces[::-1], meter=meter, left_out=left_out)


def _standing(parts: PromptParts, meter: TokenCounter) -> Section:
    """Return the newest STANDING_LIMIT wishes within STANDING_TOKENS, newest first in the prompt."""
    pieces: list[PromptPiece] = []
    left_out: list[RecordItem] = []
    room = STANDING_TOKENS
    for fact in parts.standing:
        text = f"- {fact.statement}"
        tokens = meter.count(f"{text}\n")
        room = -1 if len(pieces) == STANDING_LIMIT else room - tokens
        if room < 0:
            why = f"older than the newest {STANDING_LIMIT} within {STANDING_TOKENS} tokens"
            older = len(parts.standing) - len(pieces)
            left_out.append(RecordItem(id=fact.id, tokens=0, why=why, cause="no_room", count=older))
            break
        pieces.append(PromptPiece(id=fact.id, text=text, tokens=tokens, sent_at=-fact.valid_from))
    return Section(heading=STANDING_HEADING).with_pieces(pieces[::-1], meter=meter, left_out=left_out)


def _quotation(hit: RankedMessage, neighbours: Sequence[Message], parts: PromptParts) -> str:
    """Return one line for the hit and one for each neighbour.

    Ages refer to the message to answer, so that they stay the same within a run and in a provider's cache.
    """
    now = parts.prompt[-1].sent_at if parts.prompt else None
    sequence = hit.message.sequence or 0
    before = [each for each in neighbours if (each.sequence or 0) < sequence]
    after = [each for each in neighbours if (each.sequence or 0) >= sequence]
    beside = partial(quote_neighbour, is_group=parts.is_group, clocks=parts.clocks)
    return "\n".join(
        [
            *(beside(each, side="before") for each in before),
            quote_hit(hit, is_group=parts.is_group, now=now, clocks=parts.clocks),
            *(beside(each, side="after") for each in after),
        ]
    )


def _ledger(parts: PromptParts, window: Sequence[PromptPiece], meter: TokenCounter) -> Section:
    """Return the record of each turn, next to its last message in the window. Leave out turns outside the window."""
    replies = {piece.sequence for piece in window if piece.messages[-1].role == "assistant"}
    sequences = sorted(piece.sequence for piece in window if piece.sequence is not None)
    pieces: list[PromptPiece] = []
    left_out: list[RecordItem] = []
    for turn in parts.ledger:
        if not turn.entries:
            continue
        place = bisect_right(sequences, turn.last_sequence) - 1
        if place < 0 or sequences[place] < turn.first_sequence:
            why = "its turn is not in the window"
            left_out.append(RecordItem(id=turn.entries[0].id, tokens=0, why=why, cause="not_selected"))
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
    return EMPTY.with_pieces(pieces, meter=meter, left_out=left_out)


def _record(parts: PromptParts, meter: TokenCounter) -> Section:
    pieces: list[PromptPiece] = []
    for entry in parts.record:
        text = render_entry(entry)
        pieces.append(PromptPiece(id=entry.id, text=text, tokens=meter.count(text)))
    return Section(heading=RECORD_HEADING, separator="\n\n").with_pieces(pieces, meter=meter)


def _digest(parts: PromptParts, meter: TokenCounter) -> Section:
    if parts.digest is None:
        return EMPTY
    text = without_marks(parts.digest.text, is_group=parts.is_group)
    return _text_section(DIGEST_HEADING, f"steps 1-{parts.digest.covers}", text, meter)


def _steps(parts: PromptParts, meter: TokenCounter) -> Section:
    """Return the steps without a digest. A step, its results and their pictures stay together."""
    covered = parts.digest.covers if parts.digest else 0
    repaired = repair_pairs([each for step in parts.steps[covered:] for each in step.to_chat_messages()])
    pieces: list[PromptPiece] = []
    for messages in exchanges(repaired):
        tokens, calls = sum(cost_of(message, meter) for message in messages), messages[0].tool_calls
        if messages[0].images and pieces:
            step = pieces.pop()
            tokens += step.tokens
            pieces.append(replace(step, messages=(*step.messages, *messages), tokens=tokens))
        else:
            pieces.append(
                PromptPiece(id=calls[0].id if calls else "", messages=tuple(messages), tokens=tokens)
            )
    return EMPTY.with_pieces(pieces, meter=meter)


def _text_section(heading: str, piece_id: str, text: str, meter: TokenCounter) -> Section:
    if not text.strip():
        return EMPTY
    piece = PromptPiece(id=piece_id, text=text, tokens=meter.count(text))
    return Section(heading=heading).with_pieces([piece], meter=meter)


def _take_places(
    messages: Sequence[Message], places: dict[str, str], *, place: str
) -> tuple[list[Message], list[RecordItem]]:
    """Return the messages that have no place yet, and items for the others. The former get this `place`."""
    new: list[Message] = []
    repeated: list[RecordItem] = []
    for message in messages:
        if message.id in places:
            why = f"it stands in {places[message.id]}"
            repeated.append(RecordItem(id=message.id, tokens=message.tokens, why=why, cause="repeated"))
        else:
            places[message.id] = place
            new.append(message)
    return new, repeated
