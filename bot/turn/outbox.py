"""The outbox: from a reply's text to its parts, one Telegram message each, and their simpler forms."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from bot.errors import ChatMigrated, FileExpired, MessageGone, TelegramRefused, ThreadGone
from bot.transport.forms import ChatPlace
from bot.transport.ingest import WaitingUpdate
from bot.transport.inline import quoted_question
from bot.transport.rendering import render_messages
from bot.transport.rich_text import Entity, RichText, utf16_length
from bot.transport.splitting import MESSAGE_LIMIT, split
from bot.transport.telegram_api import Button
from bot.transport.words import Words
from memory.codec import dump_json, parse_json
from memory.history.ledger import LedgerFile

PartKind = Literal["text", "document", "photo", "voice", "delete"]
LongAnswers = Literal["parts", "document"]

MESSAGES_AT_MOST = 10
"""Messages of one answer. A longer one is its beginning and a file."""
PARTS_AT_MOST = 4
"""The same for the option "document"."""
CODE_UNITS_AT_MOST = 3_500
"""The size of a code block that fits into one message together with a sentence before it."""
FILE_NAME = "answer.md"
VOICE_NAME = "answer.ogg"
CAPTION_LIMIT = 1_024
"""UTF-16 units of the text below a file."""

_CODE_BLOCK = re.compile(r"^(`{3,}+|~{3,}+)[^\n]*+\n(.*?)(?:^\1[`~]*\s*$|\Z)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Address(ChatPlace):
    """The place of one message in Telegram."""

    reply_to: int | None
    is_comment: bool = False
    """True in a thread that is no topic, such as the comments of a channel.

    Such a thread is a chain of replies (PaulSonOfLars/gotgbot#196), so it shows nothing but replies."""
    inline_id: str = ""
    """The inline message that the text replaces, in a chat that nobody knows; `chat_id` is the person who asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part(Address):
    """One Telegram message to send."""

    update_id: int
    """Together with `number`: makes each line in the outbox unique."""
    number: int
    rich: RichText
    epoch: int
    message_id: str = ""
    """The history's id of the answer; empty for a text that is not in the history."""
    kind: PartKind = "text"
    edits: int | None = None
    """The Telegram message that a text replaces, or that a "delete" removes."""
    file_name: str = ""
    file_id: str = ""
    """The kept file that is sent (memory/artifacts/store.py), with `rich` as its caption; "": `rich` is the file."""
    instead: str = ""
    """Markdown that is sent if a kept file has expired or is refused.

    For an answer's own file: the end of its messages, if they are cut."""
    caption: str = ""
    """Words under a file that is not kept."""
    is_without_file: bool = False
    """True after the chat has refused a file with this text."""
    buttons: tuple[Button, ...] = ()
    keeps_text: bool = False
    """True for a "delete" that removes only the buttons."""
    is_kept: bool = True
    """False for a reply in incognito: when it is sent, it leaves the store's files too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentPart:
    """One part of the reply, kept in the record of the turn's first update (sent.lua)."""

    number: int
    kind: str
    outcome: str
    repeats: int = 0
    """Sends that were repeated because their outcome was unknown."""
    refusals: int = 0
    waited_s: float = 0.0
    at: float = 0.0
    """Unix seconds."""
    telegram_id: int | None = None
    """The message that shows the part; None if there is none."""
    claim: str = ""
    """Entry and delivery of the claim under which it was sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """The updates that wait while an answer is delivered."""

    payloads: Sequence[str]
    """The first of them, in the order of the box."""
    first_update: int | None
    """The first update of the answered turn; None for an apology."""


def blank_part(update: WaitingUpdate, *, epoch: int) -> Part:
    """Return the part without a text that every part of a reply to this update is made of.

    In a group the reply quotes the message, if there is one. The question of an inline message stands above its answer.
    """
    message = update.message
    is_quoting = message.chat_type != "private" and message.message_id != 0
    asked_in = update.reminder.reply_to if update.reminder else None
    return Part(
        update_id=update.update_id,
        number=0,
        chat_id=message.chat_id,
        thread_id=message.thread_id,
        is_direct=message.is_direct,
        reply_to=message.message_id if is_quoting else asked_in,
        is_comment=message.is_comment or asked_in is not None,
        rich=quoted_question(message.text) if update.inline_id else RichText(text=""),
        epoch=epoch,
        inline_id=update.inline_id,
        is_kept=not update.is_incognito,
    )


def plan_reply(
    text: str,
    blank: Part,
    *,
    words: Words,
    long_answers: LongAnswers = "parts",
    edits: Sequence[int] = (),
    deletes: Sequence[int] = (),
    buttons: Sequence[Button] = (),
) -> list[Part]:
    """Return the parts of a reply in Markdown; an empty text only deletes messages.

    The parts replace the Telegram messages `edits`. If Markdown leaves nothing of a text, it goes as it is.
    The buttons are under the last text.
    """
    shown = _messages(text, words)
    if blank.inline_id:
        return [_inline_part(shown or _messages(words("nothing-to-show"), words), blank, words)]
    is_document = long_answers == "document" and _is_long(text, shown)
    parts = plan_parts(shown, blank, words=words, source=text, is_document=is_document, buttons=buttons)
    return plan_changes(parts, blank, edits=edits, deletes=deletes)


def plan_spoken(
    text: str,
    blank: Part,
    *,
    file_id: str,
    words: Words,
    long_answers: LongAnswers = "parts",
    deletes: Sequence[int] = (),
    buttons: Sequence[Button] = (),
) -> list[Part]:
    """Return the parts of a reply that a file speaks, with its text as the caption.

    A text that is too long, or has buttons, follows in messages of its own.
    """
    texts = _messages(text, words)
    voice = replace(blank, kind="voice", file_id=file_id, file_name=VOICE_NAME)
    if len(texts) == 1 and utf16_length(texts[0].text) <= CAPTION_LIMIT and not buttons:
        parts = [replace(voice, rich=texts[0])]
    else:
        is_document = long_answers == "document" and _is_long(text, texts)
        is_document |= len(texts) == MESSAGES_AT_MOST  # the voice is a message too
        below = replace(_follow(blank), number=1)
        texts_below = plan_parts(
            texts, below, words=words, source=text, is_document=is_document, buttons=buttons
        )
        parts = [voice, *texts_below]
    return plan_changes(parts, blank, edits=(), deletes=deletes)


def plan_parts(
    texts: Sequence[RichText],
    blank: Part,
    *,
    words: Words | None = None,
    source: str = "",
    is_document: bool = False,
    buttons: Sequence[Button] = (),
) -> list[Part]:
    """Return the parts in order, numbered from the blank's number. Only the last text has the buttons.

    Only the first quotes the message that it answers; in comments all do. With `words`, more than MESSAGES_AT_MOST
    texts become their beginning and a file with the `source`. `is_document` wants that for fewer texts too.
    """
    is_document |= len(texts) > MESSAGES_AT_MOST
    if words is not None and is_document:
        texts = [_ended(texts[0], words("rest-in-file", name=FILE_NAME))]
    parts = [
        replace(_follow(blank) if at else blank, number=blank.number + at, rich=rich)
        for at, rich in enumerate(texts)
    ]
    parts[-1:] = [replace(part, buttons=tuple(buttons)) for part in parts[-1:]]
    if words is not None and is_document:
        parts.append(plan_document(source, replace(_follow(blank), number=blank.number + 1), words))
    return parts


def plan_document(source: str, blank: Part, words: Words) -> Part:
    """Return the part of a whole answer as a file with its Markdown."""
    rich, end = RichText(text=source), words("rest-not-shown")
    return replace(blank, kind="document", file_name=FILE_NAME, rich=rich, instead=end)


def plan_files(files: Sequence[LedgerFile], blank: Part, *, first_number: int, words: Words) -> list[Part]:
    """Return a part for each file that the answer's tools have made."""
    return [
        replace(
            _follow(blank),
            number=first_number + at,
            kind="photo" if file.is_picture else "document",
            rich=_caption(file.prompt),
            file_name=file.name,
            file_id=file.id,
            instead=words("file-not-sent", name=f"`{file.name}`"),
        )
        for at, file in enumerate(files)
    ]


def plan_changes(
    parts: Sequence[Part], blank: Part, *, edits: Sequence[int], deletes: Sequence[int]
) -> list[Part]:
    """Return the parts with their texts in place of `edits`, in order, and then the deletions.

    Messages of `edits` that no text replaces are deleted too.
    """
    replaced = iter(edits)
    changed = [replace(part, edits=next(replaced, None)) if part.kind == "text" else part for part in parts]
    gone = replace(blank, kind="delete", rich=RichText(text=""), reply_to=None, message_id="")
    deleted = [
        replace(gone, number=len(changed) + number, edits=each)
        for number, each in enumerate((*replaced, *deletes))
    ]
    return [*changed, *deleted]


def with_stop_button(parts: Sequence[Part], stop: Button) -> list[Part]:
    """Return the parts with this button under a first one that edits a message, until all others are sent.

    An answer of one or two messages needs no button.
    """
    shown = [part for part in parts if part.kind != "delete"]
    if len(shown) < 3 or parts[0].kind != "text" or parts[0].edits is None:
        return list(parts)
    first, *others = parts
    (end,) = plan_changes([], first, edits=(), deletes=[parts[0].edits])
    return [
        replace(first, buttons=(stop,)),
        *others,
        replace(end, number=first.number + len(parts), keeps_text=True),
    ]


def plan_texts_of(document: Part) -> list[Part]:
    """Return the messages in place of a file, for a chat that takes no files, or if its bytes have expired.

    The caption of a voice is a message by itself. There is none in place of a voice whose text follows. A file in
    place of messages that others must not wait for becomes one message.
    """
    if document.kind == "voice":
        spoken = replace(document, kind="text", file_name="", file_id="")
        return [spoken] if document.rich else []
    text = document.instead if document.file_id else document.rich.text
    texts = render_messages(text) or split(RichText(text=text))
    blank = replace(
        document, kind="text", file_name="", file_id="", instead="", caption="", is_without_file=True
    )
    if document.caption:
        is_begun = document.number > 0
        texts = [RichText(text=document.instead) if is_begun else _ended(texts[0], document.instead)]
    elif not document.file_id and len(texts) >= MESSAGES_AT_MOST:  # the beginning was sent before
        texts[MESSAGES_AT_MOST - 2 :] = [_ended(texts[MESSAGES_AT_MOST - 2], document.instead)]
    return [replace(blank, number=document.number + number, rich=rich) for number, rich in enumerate(texts)]


def next_form(part: Part, refusal: TelegramRefused | ChatMigrated) -> Part | None:
    """Return the next form of a part that Telegram refused, or None if there is none left.

    Each form has less than the one before, so that this ends. A chat that has moved gets the part at its new id.
    A message that cannot be edited is sent again. A deleted topic is left out, but not one of direct messages.
    Everything else becomes plain text that quotes nothing and has no links under it. A refused photo becomes a
    document, which has no other form.
    """
    match refusal:
        case ChatMigrated():
            return moved_part(part, refusal.new_chat_id)
        case MessageGone() if part.kind == "text" and part.edits is not None:
            return replace(part, edits=None)
        case ThreadGone() if part.thread_id is not None and not part.is_direct:
            return replace(part, thread_id=None, reply_to=None)
        case TelegramRefused() if part.kind == "photo" and not isinstance(refusal, FileExpired):
            return replace(part, kind="document")
        case TelegramRefused() if part.kind == "text":
            presses = tuple(button for button in part.buttons if button.data)
            plain = replace(part, rich=RichText(text=part.rich.text), buttons=presses)
            if not part.is_comment or plain == part:
                plain = replace(plain, reply_to=None)
            return None if plain == part else plain
        case _:
            return None


def moved_part(part: Part, chat_id: int) -> Part | None:
    """Return the part for the chat's new id, or None for a deletion: message ids differ there."""
    if part.kind == "delete" or chat_id == part.chat_id:
        return None
    return replace(part, chat_id=chat_id, thread_id=None, reply_to=None, edits=None)


def dump_part(part: Part) -> str:
    """Return the part's line in the outbox: the same part gives the same line."""
    return dump_json(Part, part)


def parse_part(line: str) -> Part:
    """Return the part that `dump_part` wrote. Raises RecordCorrupt."""
    return parse_json(Part, line)


def _messages(text: str, words: Words) -> list[RichText]:
    if not text:
        return []
    as_written = RichText(text=text)
    return render_messages(text) or split(as_written) or [RichText(text=words("nothing-to-show"))]


def _inline_part(shown: Sequence[RichText], blank: Part, words: Words) -> Part:
    """Return the one part that replaces an inline message: the question, and as much of the answer as fits."""
    cut = f"\n\n{words('inline-cut')}"
    question = f"{blank.rich.text}\n\n" if blank.rich else ""  # no words of a refused person are kept
    above = utf16_length(question)
    room = MESSAGE_LIMIT - above - utf16_length(cut)
    is_cut = len(shown) > 1 or utf16_length(shown[0].text) > MESSAGE_LIMIT - above
    answer = split(shown[0], room)[0] if is_cut else shown[0]
    moved = (replace(entity, offset=entity.offset + above) for entity in answer.entities)
    text = f"{question}{answer.text}{cut if is_cut else ''}"
    return replace(blank, rich=RichText(text=text, entities=(*blank.rich.entities, *moved)))


def _follow(blank: Part) -> Part:
    """Return the blank of a part after the first: it quotes nothing, except in comments."""
    return blank if blank.is_comment else replace(blank, reply_to=None)


def _caption(prompt: str) -> RichText:
    """Return the words that a picture was made from, as a quotation that opens at a tap."""
    cut = split(RichText(text=prompt), CAPTION_LIMIT)
    text = cut[0].text if cut else ""
    quotation = Entity(type="expandable_blockquote", offset=0, length=utf16_length(text))
    return RichText(text=text, entities=(quotation,)) if text else RichText(text="")


def _is_long(text: str, shown: list[RichText]) -> bool:
    blocks = (match[2] for match in _CODE_BLOCK.finditer(text))
    return len(shown) > PARTS_AT_MOST or any(utf16_length(block) > CODE_UNITS_AT_MOST for block in blocks)


def _ended(message: RichText, note: str) -> RichText:
    """Return the message with this sentence at its end, cut if it has no room."""
    room = MESSAGE_LIMIT - utf16_length(note) - 2
    cut = split(message, room)[0]
    return RichText(text=f"{cut.text}\n\n{note}", entities=cut.entities)
