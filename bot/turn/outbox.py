"""The outbox's parts: what is still to be sent of a committed reply, one Telegram message each."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from bot.transport.rich_text import Entity, RichText

PartKind = Literal["text", "document", "delete"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One Telegram message to send. `update_id` and `number` make each part's line in the outbox its own.

    `message_id` is the id in the history that the text belongs to, empty for a text that is not in it. `edits` is the
    Telegram message that a text replaces, or that a "delete" takes away. A "document" is sent as a file of this name.
    """

    update_id: int
    number: int
    chat_id: int
    thread_id: int | None
    reply_to: int | None
    rich: RichText
    epoch: int
    message_id: str = ""
    kind: PartKind = "text"
    edits: int | None = None
    file_name: str = ""


_PLAIN_FIELDS = ("update_id", "number", "chat_id", "thread_id", "reply_to", "epoch", "message_id")
_LATER_FIELDS = ("kind", "edits", "file_name")
"""Fields that older versions did not write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """Where a reply goes: the chat, its topic, and the message that it answers (quoted in groups)."""

    chat_id: int
    thread_id: int | None = None
    reply_to: int | None = None


def plan_parts(
    texts: Sequence[RichText], to: Destination, *, update_id: int, epoch: int, message_id: str = ""
) -> list[Part]:
    """The parts in order; only the first one quotes the message that it answers."""
    return [
        Part(
            update_id=update_id,
            number=number,
            chat_id=to.chat_id,
            thread_id=to.thread_id,
            reply_to=to.reply_to if number == 0 else None,
            rich=rich,
            epoch=epoch,
            message_id=message_id,
        )
        for number, rich in enumerate(texts)
    ]


def plan_changes(
    parts: Sequence[Part], like: Part, *, edits: Sequence[int], deletes: Sequence[int]
) -> list[Part]:
    """The parts with their texts in the place of these Telegram messages, in order; then what is to go.

    Of `edits`, those that no text replaces are deleted too. `like` says where, for an answer without parts.
    """
    replaced = iter(edits)
    changed = [replace(part, edits=next(replaced, None)) if part.kind == "text" else part for part in parts]
    gone = [
        replace(
            like,
            kind="delete",
            number=len(changed) + number,
            edits=each,
            rich=RichText(text=""),
            reply_to=None,
        )
        for number, each in enumerate((*replaced, *deletes))
    ]
    return [*changed, *(replace(part, message_id="", file_name="") for part in gone)]


def is_repeatable(part: Part) -> bool:
    """Whether doing it twice is as good as once: a message's text is replaced, or it is taken away."""
    return part.edits is not None


def dump_part(part: Part) -> str:
    """The part as one line of ASCII JSON: the same part is always the same line."""
    fields = {
        "update_id": part.update_id,
        "number": part.number,
        "chat_id": part.chat_id,
        "thread_id": part.thread_id,
        "reply_to": part.reply_to,
        "text": part.rich.text,
        "entities": [entity.to_dict() for entity in part.rich.entities],
        "epoch": part.epoch,
        "message_id": part.message_id,
        "kind": part.kind,
        "edits": part.edits,
        "file_name": part.file_name,
    }
    return json.dumps(fields, separators=(",", ":"))


def parse_part(line: str) -> Part | None:
    """The inverse of `dump_part`; fields that we do not know are left out, and None is a line that is no part."""
    try:
        fields = json.loads(line)
        entities = tuple(Entity(**entity) for entity in fields["entities"])
        known = {name: fields[name] for name in _PLAIN_FIELDS}
        known |= {name: fields[name] for name in _LATER_FIELDS if name in fields}
        return Part(rich=RichText(text=fields["text"], entities=entities), **known)
    except (ValueError, KeyError, TypeError):
        return None
