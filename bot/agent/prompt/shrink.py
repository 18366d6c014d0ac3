"""How one part of a prompt is made smaller: pieces dropped, texts cut in the middle, images left out."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from bot.agent.model import PromptMessage, PromptRole
from bot.agent.prompt.section import Piece, Section, cost_of
from bot.agent.prompt.text import UNSHOWN
from memory.history.selectors import TokenCounter, chunk_start

CUT = "cut in the middle"


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """How many tokens too many there are, and the reason that the receipt gives for what is left out."""

    excess: int
    why: str
    chunk: int
    meter: TokenCounter


def drop(section: Section, need: Need, *, in_chunks: bool = False, keep: int = 0) -> Section:
    """Without as many of its first pieces as it takes, but the last `keep`."""
    excess = need.excess
    while excess > 0 and len(section.pieces) > keep:
        number = min(_how_many(section.pieces, excess), len(section.pieces) - keep)
        if in_chunks:
            number += chunk_start([piece.sequence for piece in section.pieces[number:]], need.chunk)
        smaller = section.with_pieces(
            section.pieces[number:],
            meter=need.meter,
            left_out=[
                item for piece in section.pieces[:number] for item in piece.items(f"no room: {need.why}")
            ],
        )
        excess -= section.tokens - smaller.tokens
        section = smaller
    return section


def cut_messages(section: Section, need: Need, *, roles: Collection[PromptRole], least: int) -> Section:
    """With the texts of these roles cut in the middle, the longest most; none below `least` tokens."""
    told = [message for piece in section.pieces for message in piece.messages if message.role in roles]
    sizes = [need.meter.count(message.text) for message in told]
    level = max(least, _level(sizes, sum(sizes) - need.excess))
    sized = iter(sizes)
    pieces: list[Piece] = []
    for piece in section.pieces:
        messages, tokens = list(piece.messages), piece.tokens
        for place, message in enumerate(messages):
            size = next(sized) if message.role in roles else 0
            if size > level:
                messages[place] = _cut(message, level, need.meter)
                tokens += need.meter.count(messages[place].text) - size
        why = CUT if tokens < piece.tokens else piece.why
        pieces.append(replace(piece, messages=tuple(messages), tokens=tokens, why=why))
    return section.with_pieces(pieces, meter=need.meter)


def drop_images(section: Section, need: Need) -> Section:
    """With a line in the place of images, those of the first pieces first."""
    excess = need.excess
    pieces = list(section.pieces)
    for place, piece in enumerate(pieces):
        shown = sum(len(message.images) for message in piece.messages)
        if excess <= 0 or not shown:
            continue
        messages = tuple(map(_without_images, piece.messages))
        tokens = sum(cost_of(message, need.meter) for message in messages)
        excess -= piece.tokens - tokens
        why = f"without its {shown} images: no room"
        pieces[place] = replace(piece, messages=messages, tokens=tokens, why=why)
    return section.with_pieces(pieces, meter=need.meter)


def cut_text(section: Section, need: Need, *, least: int) -> Section:
    """With the one text under its heading cut in the middle, to no less than `least` tokens."""
    excess = need.excess
    while excess > 0 and section.pieces and section.pieces[0].tokens > least:
        piece = section.pieces[0]
        text = need.meter.cut_middle(piece.text, max(least, piece.tokens - excess))
        shorter = replace(piece, text=text, tokens=need.meter.count(text), why=CUT)
        smaller = section.with_pieces([shorter], meter=need.meter)
        if shorter.tokens >= piece.tokens:  # a counter that cannot cut this text any more
            break
        excess -= section.tokens - smaller.tokens
        section = smaller
    return section


def _how_many(pieces: Sequence[Piece], excess: int) -> int:
    """How many of the first pieces have `excess` tokens together; all of them if they have less."""
    freed = 0
    for number, piece in enumerate(pieces, start=1):
        freed += piece.tokens
        if freed >= excess:
            return number
    return len(pieces)


def _cut(message: PromptMessage, tokens: int, meter: TokenCounter) -> PromptMessage:
    return replace(message, text=meter.cut_middle(message.text, tokens))


def _without_images(message: PromptMessage) -> PromptMessage:
    return replace(message, text=f"{message.text}\n{UNSHOWN}", images=()) if message.images else message


def _level(sizes: Sequence[int], available: int) -> int:
    """The highest level at which the sizes, each cut down to it, sum up to at most `available`."""
    left = available
    for position, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - position)
        if size > share:
            return share
        left -= size
    return max(sizes, default=0)
