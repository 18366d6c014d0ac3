"""One message of a conversation, and its text as prompts, indexes and summaries read it."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import accumulate, islice
from typing import ClassVar, Literal, NamedTuple, cast
from uuid import UUID, uuid5

from memory.characters import seen_characters
from memory.codec import Id

Role = Literal["user", "assistant", "system", "tool"]

Origin = Literal[
    "typed", "spoken", "quoted", "forwarded", "via_bot", "attached", "transcribed", "tool", "bot", "imported"
]
"""Whose words a part of a message is.

typed, spoken: the sender's own. quoted: of the message that it replies to. forwarded: of another writer. via_bot: a
result of another bot's inline mode. attached: a document, a contact, a place, a poll, or a file's name. transcribed:
heard in a file that is no voice message. imported: the sender's own in another service, or that of its assistant.
tool, bot: of a tool, of the assistant. In a message of a person the latter
is the task of a reminder that the assistant has set."""
OWN_ORIGINS: frozenset[Origin] = frozenset(["typed", "spoken"])
"""Origins of words that people write here themselves."""
SOURCE_ORIGINS: frozenset[Origin] = frozenset([*OWN_ORIGINS, "imported"])
"""Origins that facts may rest on."""
ImportedFrom = Literal["", "Telegram", "ChatGPT", "Claude"]
"""The service whose export a message comes from; "" for one that was written here."""
REQUEST_ORIGINS: frozenset[Origin] = frozenset([*OWN_ORIGINS, "bot"])
"""Origins of texts that the assistant may act on."""
MENTION = "@"
"""Mark of the name of a mentioned person that a text hides: `my boss (@Anna Silva)`. That person has chosen it."""
EXPIRED = "an expired message"
"""Note of a message without a word: it became too old, and the facts that rest on it were to stay."""
TRANSCRIBED = "transcribed"
"""Word of notes on recordings that were heard."""

CONVERSATION_ROLES: tuple[Role, ...] = ("user", "assistant")
"""Roles of a two-way conversation; the window selectors choose from them."""

NOTED = (
    *("photo", "livephoto", "video", "videomessage", "voicemessage", "audiofile", "document", "file"),
    *("animation", "sticker", "location", "livelocation", "venue", "contact", "poll", "quiz", "dice", "game"),
    *("story", "checklist", "picture", "image", "gift", "giveaway", "invoice", "reminder", "expiredmessage"),
)
"""First words of notes (bot/transport/contents.py), after the article and without blanks."""

_NOTE_MARK = re.compile(
    rf"\((?:forwardedfrom|sentthroughanotherbot|wordsofothers|paidmedia|an?(?:{'|'.join(NOTED)}))"
)
_HIDDEN = re.compile(rf"(?i) ?\((?:{MENTION}[^()\n]*|(?:[a-z][\w+.-]*://|(?:mailto|tel|tg|ton):)[^\s()]*)\)")
"""Name or address that a text hides (bot/transport/received_text.py)."""
_LONGEST_MARK = 24
_OLD_TRANSCRIPT = re.compile(rf"(?!a (?:voice|video) message|.*another voice).*, {TRANSCRIBED}", re.DOTALL)
"""Note of a recording that is no voice message, in older stores and exports: its transcript is the text."""
_NAMESPACE = UUID("5d9e5d0e-52a5-4b0b-9a0c-6f1f6f0f5c11")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """Sender of a message: a Telegram user (or channel) id, and the name shown at that time."""

    id: Id
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """Quotation in a reply: the quoted text, its message, and its sender ("" for the bot)."""

    telegram_message_id: Id
    sender_name: str
    text: str
    """Empty if only a file is quoted."""
    file: str = ""
    """Note on the file of the quoted message as it was read, with the text that it has."""
    sender_id: Id | None = None
    """The author, also of a forwarded message; None if hidden, for the bot, and in older records."""

    @property
    def shown(self) -> str:
        """The quotation for people, with the file in round brackets."""
        return " ".join(filter(None, [self.text, self.file and f"({self.file})"]))


class MessagePart(NamedTuple):
    """Words of one message that have one origin."""

    origin: Origin
    text: str


MetadataValue = str | bool | int | float
METADATA_LIMIT = 64
"""Entries of one message's metadata."""

Continuation = Literal["", "paste", "bundle"]
"""Kind of continuation: "paste" is the rest of a text that Telegram split, "bundle" the next message of an album or of
forwarded messages. Prompts show such messages as one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message of one context."""

    SCRIPT_FIELDS: ClassVar = frozenset({"quote"})
    """Goes when the quoted message is forgotten."""
    id: str
    role: Role
    text: str
    """Text, caption, or transcript of a voice message."""
    sent_at: float
    """Unix seconds."""
    tokens: int
    """The chat model's count of `render_message`."""
    sender: Sender | None = None
    telegram_message_id: int | None = None
    """Id in the chat that it came from. A split reply has its ids in the store's index only."""
    sequence: int | None = None
    """Number in the context (0, 1, 2 …), None before the message is appended."""
    is_stopped: bool = False
    """True for a reply that its reader stopped."""
    is_refused: bool = False
    """True after a model's filter refused it: prompts, summaries, facts and recall leave it out until it is edited."""
    edited_at: float | None = None
    """Unix seconds of the last edit."""
    note: str = ""
    """One line of ours about attachments, such as "a photo"."""
    forwarded_from: str = ""
    """Name of the original sender."""
    forwarded_id: Id | None = None
    """Id of the original sender; None if hidden, and in older records."""
    origin: Origin = "typed"
    """Whose words the `text` is, if a person sent it; `text_origin` is right for each role."""
    imported_from: ImportedFrom = ""
    continues: Continuation = ""
    quote: Quote | None = None
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict[str, MetadataValue], hash=False)
    """Facts of a program that uses the library, which its searches can filter by. No prompt has them."""


def check_metadata(metadata: object, argument: str) -> Mapping[str, MetadataValue]:
    """Return the metadata. Raises ValueError, which names the argument, for anything that cannot be filtered by."""
    if not isinstance(metadata, Mapping) or len(cast("Mapping[object, object]", metadata)) > METADATA_LIMIT:
        raise ValueError(f"`{argument}` must map up to {METADATA_LIMIT} names to values.")
    for name, value in cast("Mapping[object, object]", metadata).items():
        if not isinstance(name, str) or not name.strip():
            raise ValueError(f"A name in `{argument}` must be a text that is not empty.")
        if not isinstance(value, str | int | float) or (
            isinstance(value, float) and not math.isfinite(value)
        ):
            raise ValueError(
                f"`{argument}`: a text, a finite number or a boolean must be the value of {name!r}."
            )
    return cast("Mapping[str, MetadataValue]", metadata)


def text_origin(message: Message) -> Origin:
    """Return whose words the text is."""
    if message.imported_from and not message.forwarded_from and message.origin in OWN_ORIGINS:
        return "imported"
    if message.role != "user":
        return "tool" if message.role == "tool" else "bot"
    if message.forwarded_from:
        return "forwarded"
    is_old = message.origin == "typed" and _OLD_TRANSCRIPT.fullmatch(message.note)
    return "transcribed" if is_old else message.origin


def people_of(message: Message) -> set[int]:
    """Return the people whose words a message is, as far as ids tell: its sender, and who wrote what is forwarded."""
    sender = message.sender.id if message.sender and message.role == "user" else None
    return {each for each in (sender, message.forwarded_id) if each is not None}


def writing_of(message: Message) -> str:
    """Return the writer and the second of a message, which every export of its chat has; "" without a writer."""
    return f"{message.sender.id} {int(message.sent_at)}" if message.sender else ""


def forwarded_name(message: Message) -> str:
    """Return the name of the author of forwarded words without an id, else ""."""
    return "" if message.forwarded_id is not None else message.forwarded_from


def parts_of(message: Message) -> list[MessagePart]:
    """Return the words of a message by their origin, in the order of prompts. Empty parts are left out.

    The note on a voice message has no words of anybody.
    """
    note: Origin = "transcribed" if f", {TRANSCRIBED}" in message.note else "attached"
    parts = [
        MessagePart("quoted", message.quote.shown if message.quote else ""),
        MessagePart(note, "" if message.origin == "spoken" else message.note),
        MessagePart(text_origin(message), message.text),
    ]
    return [part for part in parts if part.text.strip()]


def own_words(message: Message) -> str:
    """Return what a person typed or spoke; "" if only others speak.

    Lines that they quote with `>`, blocks of code, addresses in round brackets, and names that mentioned people have
    chosen are left out.
    """
    if message.role != "user" or text_origin(message) not in SOURCE_ORIGINS:
        return ""
    text = _HIDDEN.sub("", message.text) if "(" in message.text else message.text
    return "".join(_unquoted_lines(text)) if _may_quote(text) else text


def clock_of(message: Message) -> int | None:
    """Return the person whose time zone shows when the message was sent; None for that of the reader.

    The ids of an imported file may be made up, and would tell the zones of people in other chats.
    """
    return message.sender.id if message.sender and not message.imported_from else None


def has_request(messages: Iterable[Message]) -> bool:
    """Return True if somebody asks for something: with words of their own, or by a reminder that is due."""
    return any(
        text_origin(each) == "bot" or own_words(each).strip() for each in messages if each.role == "user"
    )


def origin_mark(origin: Origin, name: str) -> str:
    """Return the words that tell readers where a text comes from; "" for one that needs none.

    `name` is the first author of a forwarded text, or the service of an imported one.
    """
    if origin in REQUEST_ORIGINS:
        return ""
    if origin in ("forwarded", "imported"):
        return f"{origin} from {name}"
    return "sent through another bot" if origin == "via_bot" else f"words of others, {origin}"


def foreign_origins(message: Message) -> list[Origin]:
    """Return the origins of the words in a person's message that are not the sender's own; [] for other messages."""
    if message.role != "user":
        return []
    origins: list[Origin] = [part.origin for part in parts_of(message) if part.origin not in SOURCE_ORIGINS]
    is_quoting = _may_quote(message.text) and "".join(_unquoted_lines(message.text)) != message.text
    if is_quoting and "quoted" not in origins and text_origin(message) in SOURCE_ORIGINS:
        origins.insert(0, "quoted")
    return origins


def _may_quote(text: str) -> bool:
    return ">" in text or "```" in text


def _unquoted_lines(text: str) -> Iterator[str]:
    """Yield the lines that are neither quoted nor in a block of code. One without an end goes to the text's end."""
    fence = ""
    for line in text.splitlines(keepends=True):
        shown = line.strip()
        rest = shown.lstrip("`")
        if fence:
            fence = "" if not rest and shown.startswith(fence) else fence
        elif shown.startswith("```") and "`" not in rest:
            fence = shown[: len(shown) - len(rest)]
        elif not shown.startswith(">"):
            yield line


def render_message(message: Message) -> str:
    """Return the message with its notes in plain words, for indexes, summaries and searches. Prompts mark its parts.

    The quotation is left out: it is another message's text. So is the service of an imported message.
    """
    origin = text_origin(message) if message.role == "user" else "typed"
    return render_text(
        message.text,
        note=message.note,
        forwarded_from=message.forwarded_from,
        origin="typed" if origin == "imported" else origin,
    )


def render_text(text: str, *, note: str, forwarded_from: str, origin: Origin = "typed") -> str:
    """Return the text after lines about its origin and its attachments, in round brackets.

    A line of the text that looks like one of these lines is quoted with `> `.
    """
    if origin == "typed" and not (note or forwarded_from) and text.isascii() and "(" not in text:
        return text  # nearly every message
    name = " ".join(re.split(r"[()\s]+", forwarded_from)).strip()
    mark = origin_mark("forwarded" if forwarded_from else origin, name or "somebody")
    lines = [
        *([f"({mark})"] if mark else []),
        *([f"({_enclosed(note)})"] if note else []),
        *(["".join(map(_unmarked, text.splitlines(keepends=True)))] if text else []),
    ]
    return "\n".join(lines)


def _enclosed(note: str) -> str:
    """Return the note without round brackets if one of a name in it would end the note.

    Texts of files stand in quotation marks, and no name has these.
    """
    names, quotation, text = note.partition('"')
    depths = accumulate((each == "(") - (each == ")") for each in names)
    if min(depths, default=0) >= 0:
        return note
    return f"{re.sub('[()]', ' ', names)}{quotation}{text}"


def _unmarked(line: str) -> str:
    """Return the line, quoted if readers could take it for one of ours."""
    seen = seen_characters(line)
    if next(seen, "") != "(":  # nearly every line
        return line
    return f"> {line}" if _NOTE_MARK.match("(" + "".join(islice(seen, _LONGEST_MARK))) else line


def message_id(*parts: object) -> str:
    """Return the id (UUIDv5) of these parts: the same parts give the same id, so repeating an append is harmless."""
    return str(uuid5(_NAMESPACE, "\x1f".join(map(str, parts))))


def sequence_of(message: Message) -> int:
    """Return the sequence of a message; -1 before it is appended."""
    return -1 if message.sequence is None else message.sequence


def is_indexed(message: Message) -> bool:
    """Return True if recall can find the message: it is a user's or an assistant's, with text, and not refused."""
    is_usable = message.role in CONVERSATION_ROLES and not message.is_refused
    return is_usable and bool(render_message(message).strip())


def edit_message(message: Message, *, text: str, note: str | None, tokens: int, edited_at: float) -> Message:
    """Return the edited message; None keeps its note. Other words may pass the filter that refused it."""
    edited = replace(
        message, text=text, note=message.note if note is None else note, tokens=tokens, edited_at=edited_at
    )
    is_same = render_message(edited) == render_message(message)
    return replace(edited, is_refused=message.is_refused and is_same)
