"""The record of a reminder, and its limits."""

import hashlib
from dataclasses import dataclass

from memory.codec import Id

LONGEST_TEXT = 1_000
"""Characters of a reminder's text."""
PER_PERSON = 50
"""Reminders of one person in a context."""
PER_CHAT = 200
"""Reminders of a context."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReminderPlace:
    """The place where a reminder is sent."""

    chat_id: int
    thread_id: int | None = None
    is_direct: bool = False
    """True in the direct messages of a channel, where `thread_id` is the topic of one person."""
    reply_to: int | None = None
    """The Telegram message that asked for it in the comments of a channel: only a reply is shown there."""
    chat_type: str
    language_code: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reminder(ReminderPlace):
    """A text that is sent, or a task that the agent runs, at a time that a person has set."""

    id: str
    """Eight hex digits, unique in the context."""
    text: str
    runs_agent: bool = False
    """True if the text is a task for the agent. Otherwise it is sent as it is."""
    due_at: float
    """Unix seconds of the next date."""
    zone: str
    """IANA name of the time zone in which dates repeat."""
    starts_at: str
    """Local date and time of the first date in `zone`, in ISO format without an offset."""
    repeats: str = ""
    """Recurrence rule (RFC 5545) without its prefix; "" for a single date."""
    person_id: Id
    """The person who has set it. Rights and limits are theirs."""
    person_name: str
    created_at: float
    """Unix seconds."""
    message_ids: tuple[str, ...] = ()
    """The messages of the history that asked for it, and their answer. An erasure of one of them erases it too."""


def reminder_id(call_key: str) -> str:
    """Return the id of the reminder that this tool call sets. A repeated call gets the same id."""
    return hashlib.sha256(call_key.encode()).hexdigest()[:8]
