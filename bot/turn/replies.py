"""From a text to the parts that show it: rendered, split, and, where that is wished for, a long one as a document."""

import re
from dataclasses import dataclass, replace
from typing import Literal

from bot.transport.rendering import render
from bot.transport.rich_text import RichText, utf16_length
from bot.transport.splitting import MESSAGE_LIMIT, split
from bot.transport.words import Words
from bot.turn.outbox import Destination, Part, plan_changes, plan_parts

LongAnswers = Literal["parts", "document"]

PARTS_AT_MOST = 4
CODE_UNITS_AT_MOST = 3_500
"""A block of code that a message could not hold together with a sentence before it."""
FILE_NAME = "answer.md"

_CODE_BLOCK = re.compile(r"^(`{3,}|~{3,})[^\n]*\n(.*?)(?:^\1[`~]*\s*$|\Z)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyKey:
    """What the parts of one reply have in common: see `Part`."""

    update_id: int
    epoch: int
    message_id: str = ""
    edits: tuple[int, ...] = ()
    deletes: tuple[int, ...] = ()


def plan_reply(
    text: str, to: Destination, key: ReplyKey, *, words: Words, long_answers: LongAnswers = "parts"
) -> list[Part]:
    """The parts of a reply in Markdown; for an empty one only what takes messages away.

    A text of which Markdown leaves nothing goes as it is written.
    """
    shown = _messages(text, words)
    is_document = long_answers == "document" and _is_long(text, shown)
    texts = [_beginning(shown[0], words)] if is_document else shown
    parts = plan_parts(texts, to, update_id=key.update_id, epoch=key.epoch, message_id=key.message_id)
    like = _blank(to, key)
    if is_document:
        file = replace(like, number=1, kind="document", file_name=FILE_NAME, rich=RichText(text=text))
        parts.append(replace(file, message_id=key.message_id))
    return plan_changes(parts, like, edits=key.edits, deletes=key.deletes)


def plan_instead_of(document: Part) -> list[Part]:
    """The messages that show a document's text, for a chat that takes no files."""
    texts = split(render(document.rich.text)) or split(document.rich)
    return [
        replace(document, number=document.number + number, kind="text", file_name="", rich=rich)
        for number, rich in enumerate(texts)
    ]


def _messages(text: str, words: Words) -> list[RichText]:
    if not text:
        return []
    as_written = RichText(text=text)
    return split(render(text)) or split(as_written) or [RichText(text=words("nothing-to-show"))]


def _is_long(text: str, shown: list[RichText]) -> bool:
    blocks = (match[2] for match in _CODE_BLOCK.finditer(text))
    return len(shown) > PARTS_AT_MOST or any(utf16_length(block) > CODE_UNITS_AT_MOST for block in blocks)


def _beginning(first: RichText, words: Words) -> RichText:
    """The first message with the word that the rest is in the file."""
    note = words("rest-in-file", name=FILE_NAME)
    room = MESSAGE_LIMIT - utf16_length(note) - 2
    cut = split(first, room)[0]
    return RichText(text=f"{cut.text}\n\n{note}", entities=cut.entities)


def _blank(to: Destination, key: ReplyKey) -> Part:
    return Part(
        update_id=key.update_id,
        number=0,
        chat_id=to.chat_id,
        thread_id=to.thread_id,
        reply_to=None,
        rich=RichText(text=""),
        epoch=key.epoch,
    )
