"""Reminders on the page: people see what is set, with its next date, and delete it."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import structlog
from starlette.requests import Request
from starlette.routing import Route

from bot.page.access import ChatAccess, PageContext
from bot.page.api import RateLimit, admit, api_route
from bot.page.documents import Document, erasure_document
from bot.page.visitors import PageError, Visitor
from bot.transport.texts import forgotten_text
from bot.transport.words import words_for
from memory.erasure import ErasureReceipt
from memory.errors import Forgotten
from memory.history.redis_history import RedisHistory
from memory.history.store import RecordCounts
from memory.reminders.redis_reminders import RedisReminders
from memory.reminders.reminder import Reminder

log = structlog.get_logger()

_SHOWN = ("id", "text", "runs_agent", "due_at", "zone", "starts_at", "repeats", "created_at")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReminderPages:
    """The requests about reminders. A deletion does not wait for the chat's line."""

    access: ChatAccess
    history: RedisHistory
    reminders: RedisReminders
    changes: RateLimit

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            api_route("contexts/{id}/reminders", self.list_reminders),
            api_route("contexts/{id}/reminders/{reminder_id}", self.delete, "DELETE"),
        ]

    async def list_reminders(self, visitor: Visitor, request: Request) -> Mapping[str, Any]:
        """Return all reminders of the context, the next one first."""
        context = await self.access.find(visitor, request.path_params["id"])
        found = await self.reminders.list(context.ref)
        return {"reminders": [_describe(reminder, visitor, context) for reminder in found]}

    async def delete(self, visitor: Visitor, request: Request) -> Mapping[str, Any]:
        """Delete a reminder and return the receipt; null if it was gone."""
        context = await self.access.find(visitor, request.path_params["id"])
        admit(self.changes, visitor.key)
        ref, reminder_id = context.ref, request.path_params["reminder_id"]
        epoch = (await self.history.load(ref, limit=0)).epoch
        reminder = await self.reminders.get(ref, reminder_id)
        if reminder is not None and not may_cancel(reminder, visitor, context):
            raise PageError("forbidden", "You may delete only reminders that you have set.")
        erased = 0
        with suppress(Forgotten):
            erased = await self.reminders.cancel(ref, [reminder_id], epoch=epoch)
        if not erased:
            return {"receipt": None}
        left = await self.reminders.get(ref, reminder_id)
        receipt = ErasureReceipt(
            erased=RecordCounts(reminders=erased), left=RecordCounts(reminders=int(left is not None))
        )
        log.info("page_deleted_reminder", context=ref.context_id, is_proven=receipt.is_proven)
        text = forgotten_text(words_for(visitor.language), receipt, key="forgotten-reminder")
        return {"receipt": erasure_document(receipt, text)}


def may_cancel(reminder: Reminder, visitor: Visitor, context: PageContext) -> bool:
    """Return True if the visitor has set the reminder, or may forget everything here."""
    return reminder.person_id == visitor.user_id or context.rights.may_forget_all


def _describe(reminder: Reminder, visitor: Visitor, context: PageContext) -> Document:
    """Return the document of a reminder."""
    return {
        **{name: getattr(reminder, name) for name in _SHOWN},
        "person": {"id": reminder.person_id, "name": reminder.person_name},
        "is_mine": reminder.person_id == visitor.user_id,
        "may_cancel": may_cancel(reminder, visitor, context),
    }
