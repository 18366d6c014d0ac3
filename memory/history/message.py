"""One message of a conversation, and its form at rest."""

import re
from dataclasses import dataclass
from itertools import islice
from typing import Literal
from uuid import UUID, uuid5

from memory.characters import seen_characters

Role = Literal["user", "assistant", "system", "tool"]

CONVERSATION_ROLES: tuple[Role, ...] = ("user", "assistant")
"""The roles of a two-way conversation: what the window selectors choose from."""

NOTED = (
    *("photo", "livephoto", "video", "videomessage", "voicemessage", "audiofile", "document", "file"),
    *("animation", "sticker", "location", "livelocation", "venue", "contact", "poll", "quiz", "dice", "game"),
    *("story", "checklist", "picture", "image"),
)
"""What notes begin with (bot/transport/contents.py), after the article and without blanks."""

_TOLD_MARK = re.compile(rf"\((?:forwardedfrom|paidmedia|an?(?:{'|'.join(NOTED)}))")
_LONGEST_MARK = 20
_NAMESPACE = UUID("5d9e5d0e-52a5-4b0b-9a0c-6f1f6f0f5c11")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """Who wrote a message: a Telegram user (or channel) id and the name they showed then."""

    id: int
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """What a message answers to: the (part of the) message that was quoted, and whose it is ("" for the bot's own)."""

    telegram_message_id: int
    sender_name: str
    text: str


Continuation = Literal["", "paste", "bundle"]
"""How a message continues the one before it: as the rest of a text that Telegram has split, or as the next one of an
album or of forwarded messages. Prompts tell them as one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message of one context. `tokens` is the chat model's count of `told_text`; `sent_at` is Unix seconds.

    `text` is what its sender said: the text, the caption, or what was heard in a voice message. `note` is one line of
    ours on what came with it ("a photo", "a location at …"), `forwarded_from` the name of who wrote it first, `quote`
    what it answers to.

    `sequence` is given by the store when the message is appended (0, 1, 2 … per context) and is None before.
    `telegram_message_id` is the id in the chat that it came from; a reply that was split has its ids in the
    store's index only. `is_stopped` marks a reply that its reader ended; `edited_at` (Unix seconds) a message
    whose text was replaced since.
    """

    id: str
    role: Role
    text: str
    sent_at: float
    tokens: int
    sender: Sender | None = None
    telegram_message_id: int | None = None
    sequence: int | None = None
    is_stopped: bool = False
    edited_at: float | None = None
    note: str = ""
    forwarded_from: str = ""
    continues: Continuation = ""
    quote: Quote | None = None


def told_text(message: Message) -> str:
    """All that a message tells, in plain words: what indexes, summaries and searches read. Prompts mark its parts.

    The quotation is not in it: it is another message's text.
    """
    return told(message.text, note=message.note, forwarded_from=message.forwarded_from)


def told(text: str, *, note: str, forwarded_from: str) -> str:
    """The text with lines before it that tell where it came from and what came with it, in round brackets.

    A line of the text that begins like one of these is quoted with `> `.
    """
    name = " ".join(re.split(r"[()\s]+", forwarded_from)).strip()
    lines = [
        *([f"(forwarded from {name or 'somebody'})"] if forwarded_from else []),
        *([f"({note})"] if note else []),
        *(["".join(map(_unmarked, text.splitlines(keepends=True)))] if text else []),
    ]
    return "\n".join(lines)


def _unmarked(line: str) -> str:
    """The line, quoted if readers could take it for one of ours."""
    seen = seen_characters(line)
    if next(seen, "") != "(":  # nearly every line
        return line
    return f"> {line}" if _TOLD_MARK.match("(" + "".join(islice(seen, _LONGEST_MARK))) else line


def message_id(*parts: object) -> str:
    """The same parts give the same id (UUIDv5), so repeating an append is harmless."""
    return str(uuid5(_NAMESPACE, "\x1f".join(str(part) for part in parts)))


def is_indexed(message: Message) -> bool:
    """Whether recall can find the message: a user's or an assistant's, with text."""
    return message.role in CONVERSATION_ROLES and bool(told_text(message).strip())
