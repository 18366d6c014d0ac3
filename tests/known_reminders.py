"""Reminders that were set before a test looks."""

import time
from collections.abc import Sequence

from memory.history.message import Sender
from memory.keys import ContextRef
from memory.redis.client import RedisClient
from memory.reminders.redis_reminders import RedisReminders
from memory.reminders.reminder import Reminder

DAY_S = 86_400.0


def make_reminder(reminder_id: str, sender: Sender, text: str, *, chat: int, **changes: object) -> Reminder:
    """Return a reminder of a person, by default for tomorrow in Berlin."""
    now = time.time()
    fields: dict[str, object] = {
        "due_at": now + DAY_S,
        "zone": "Europe/Berlin",
        "starts_at": "2026-11-25T09:00:00",
        "chat_type": "private" if chat > 0 else "supergroup",
        "created_at": now,
        **changes,
    }
    return Reminder(
        id=reminder_id,
        text=text,
        person_id=sender.id,
        person_name=sender.name,
        chat_id=chat,
        **fields,  # pyright: ignore[reportArgumentType]
    )


async def set_reminders(
    redis: RedisClient, ref: ContextRef, reminders: Sequence[Reminder], *, epoch: int = 0
) -> None:
    """Store reminders in a context."""
    store = RedisReminders(redis, clock=time.time)
    for reminder in reminders:
        assert await store.add(ref, reminder, epoch=epoch) == "added"
