"""One message of a conversation, and its form at rest."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast
from uuid import UUID, uuid5

Role = Literal["user", "assistant", "system", "tool"]

CONVERSATION_ROLES: tuple[Role, ...] = ("user", "assistant")
"""The roles of a two-way conversation: what the window selectors choose from."""

_NAMESPACE = UUID("5d9e5d0e-52a5-4b0b-9a0c-6f1f6f0f5c11")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """Who wrote a message: a Telegram user (or channel) id and the name they showed then."""

    id: int
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message of one context. `tokens` is the chat model's count of `text`; `sent_at` is Unix seconds.

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


def message_id(*parts: object) -> str:
    """The same parts give the same id (UUIDv5), so repeating an append is harmless."""
    return str(uuid5(_NAMESPACE, "\x1f".join(str(part) for part in parts)))


def is_indexed(message: Message) -> bool:
    """Whether recall can find the message: a user's or an assistant's, with text."""
    return message.role in CONVERSATION_ROLES and bool(message.text.strip())


def dump_message(message: Message) -> str:
    """The message as one JSON line of ASCII; the sequence stays with the store's index."""
    fields: dict[str, Any] = {
        "id": message.id,
        "role": message.role,
        "text": message.text,
        "sent_at": message.sent_at,
        "tokens": message.tokens,
    }
    if message.sender is not None:
        fields["sender"] = {"id": message.sender.id, "name": message.sender.name}
    if message.telegram_message_id is not None:
        fields["telegram_message_id"] = message.telegram_message_id
    if message.is_stopped:
        fields["is_stopped"] = True
    if message.edited_at is not None:
        fields["edited_at"] = message.edited_at
    return json.dumps(fields, separators=(",", ":"))


def parse_message(line: str, *, sequence: int | None) -> Message:
    """The inverse of `dump_message`; raises ValueError or KeyError on a line that is not one."""
    fields = cast(Mapping[str, Any], json.loads(line))
    sender = fields.get("sender")
    return Message(
        id=fields["id"],
        role=fields["role"],
        text=fields["text"],
        sent_at=fields["sent_at"],
        tokens=fields["tokens"],
        sender=Sender(id=sender["id"], name=sender["name"]) if sender else None,
        telegram_message_id=fields.get("telegram_message_id"),
        sequence=sequence,
        is_stopped=fields.get("is_stopped", False),
        edited_at=fields.get("edited_at"),
    )
