"""Updates of our own, as they wait in the inbox: due reminders, and notices for operators."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from bot.transport.contents import plain_words
from bot.transport.gating import GROUPS, Admission
from bot.transport.ingest import WaitingUpdate
from bot.transport.migrations import Migrations
from bot.transport.updates import TEXT, IncomingMessage
from memory.codec import dump_json
from memory.reminders.reminder import Reminder
from memory.zones.clocks import find_zone


@dataclass(frozen=True, slots=True, kw_only=True)
class ReminderUpdates:
    """Makes the updates of due reminders."""

    migrations: Migrations
    clock: Callable[[], float]

    async def payload_of(self, reminder: Reminder, was_due_at: float) -> str:
        """Return the update as JSON. A script numbers it.

        A group that became a supergroup is reached by its present id. Raises the store's errors, and BadTime for an
        unknown time zone.
        """
        chat_id, chat_type = reminder.chat_id, reminder.chat_type
        if chat_type == GROUPS[0]:
            chat_id = (await self.migrations.present_ids()).get(chat_id, chat_id)
            chat_type = chat_type if chat_id == reminder.chat_id else GROUPS[1]
        update = WaitingUpdate(
            update_id=0,
            admission=Admission(action="remind", reason="due"),
            message=IncomingMessage(
                chat_id=chat_id,
                chat_type=chat_type,
                thread_id=reminder.thread_id,
                is_direct=reminder.is_direct,
                sender_id=reminder.person_id,
                sender_name=reminder.person_name,
                language_code=reminder.language_code or "",
                message_id=0,
                date=int(self.clock()),
                kind=TEXT,
                text=reminder.text,
                note=_note(reminder, was_due_at),
            ),
            anchor_id=await self.migrations.resolve(chat_id),
            reminder=reminder,
            was_due_at=was_due_at,
        )
        return dump_json(WaitingUpdate, update)


def notice_payload(person: int, text: str, *, now: float) -> str:
    """Return the JSON of an update that sends this text to a person in private. A script numbers it."""
    message = IncomingMessage(
        chat_id=person,
        chat_type="private",
        thread_id=None,
        sender_id=person,
        sender_name="",
        language_code="",
        message_id=0,
        date=int(now),
        kind=TEXT,
        text=text,
    )
    admission = Admission(action="notice", reason="budget")
    update = WaitingUpdate(update_id=0, admission=admission, message=message, anchor_id=person)
    return dump_json(WaitingUpdate, update)


def _note(reminder: Reminder, was_due_at: float) -> str:
    """Return the line for the model: this message is a task that was set earlier."""
    name = plain_words(re.sub(r"[()]", " ", reminder.person_name)) or "somebody"
    moment = datetime.fromtimestamp(was_due_at, find_zone(reminder.zone))
    return f"a reminder that {name} has set, due at {moment:%Y-%m-%d %H:%M} {reminder.zone}"
