"""The turn of a due reminder: send its text, or let the agent answer it, if its person may still use the bot."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

import structlog

from bot.agent.context import AgentContext
from bot.errors import TelegramFailure
from bot.inbox.records import TerminalState
from bot.observe import metrics
from bot.settings import Access
from bot.transport.gating import GROUPS
from bot.transport.ingest import has_access
from bot.transport.people import Guests
from bot.transport.rich_text import Entity, RichText, utf16_length
from bot.transport.words import Words
from bot.turn.commit import Committer, Reply
from bot.turn.question import Question
from bot.turn.store import Commit
from memory.characters import one_line
from memory.history.message import Message
from memory.history.selectors import TokenCounter
from memory.reminders.redis_reminders import ContextReminders, RedisReminders
from memory.reminders.reminder import Reminder, ReminderPlace
from memory.zones.clocks import find_zone

log = structlog.get_logger()

LATE_S = 5 * 60
"""A later reminder says when it was due."""
MISSED_S = 24 * 3600
"""A later reminder is only reported: its task is not run."""
_OUTSIDE = ("left", "kicked")
_NAME_CHARACTERS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class ReminderTurns:
    """Sends due reminders. Rights are those that their person has now."""

    access: Access
    guests: Guests
    member_status: Callable[[int, int], Awaitable[str]]
    """Asks Telegram for the status of a person in a chat."""
    reminders: RedisReminders
    committer: Committer
    tokenizer: TokenCounter

    def open(self, question: Question, context: AgentContext) -> None:
        """Let the agent set reminders in the place of the question; not without a memory."""
        message = question.first.message
        if question.to.inline_id and not question.first.is_kept:
            return
        reminders = ContextReminders(
            reminders=self.reminders,
            ref=question.claim.ref,
            epoch=lambda: question.history.epoch,
            place=ReminderPlace(
                chat_id=message.chat_id,
                thread_id=message.thread_id,
                is_direct=message.is_direct,
                chat_type=message.chat_type,
                language_code=message.language_code,
                reply_to=message.message_id if message.is_comment else None,
            ),
            is_due=message.message_id == 0,
            reply_id=question.reply_id,
        )
        context.conversation = replace(context.conversation, reminders=reminders)

    async def remind(self, question: Question) -> bool:
        """Send the reminder. Return True if the agent should answer it instead. Raises what the commit does."""
        reminder = question.first.reminder
        if reminder is None:
            return True
        refusal = await self._refusal(question, reminder)
        if refusal:
            await self._cancel(question, reminder, refusal)
            return False
        first, marks = question.first, self.committer.delivery.marks
        if reminder.runs_agent and await marks.is_marked(question.claim.ref.partition, question.to.chat_id):
            await self._end(question, state="ignored", reason="undeliverable_unreachable")
            return False
        late_s = max(0.0, self.reminders.now() - first.was_due_at)
        if not question.joined:
            metrics.REMINDER_LATENESS.observe(late_s)
        words, when = question.words, when_text(question.words, first.was_due_at, reminder.zone)
        notice = words("reminder-late", when=when) if late_s > LATE_S else ""
        if late_s > MISSED_S:
            text, outcome = words("reminder-missed", when=when, text=reminder.text), "missed"
        elif reminder.runs_agent:
            question.notice = notice
            metrics.REMINDERS.labels("run").inc()
            return True
        else:
            text, outcome = f"{reminder.text}\n\n{notice}".strip(), "sent"
        await self._send(question, _addressed(words, reminder, text))
        metrics.REMINDERS.labels(outcome).inc()
        log.info("reminder_sent", reminder=reminder.id, outcome=outcome, late_s=round(late_s, 1))
        return False

    async def _refusal(self, question: Question, reminder: Reminder) -> str:
        """Return the reason for which the person may not have this reminder any more, else "".

        If Telegram does not tell, the person is still in the group.
        """
        update, person = question.first, reminder.person_id
        chat_id, has_members = update.message.chat_id, update.message.chat_type in GROUPS
        has_members &= not update.message.is_direct  # Telegram names no members there
        if not await has_access(self.access, self.guests, person, chat_id, update.anchor_id):
            return "not_allowed"
        if has_members and person > 0:
            with suppress(TelegramFailure):
                if await self.member_status(chat_id, person) in _OUTSIDE:
                    return "not_a_member"
        return ""

    async def _cancel(self, question: Question, reminder: Reminder, reason: str) -> None:
        """Cancel a reminder without a word: its person has left."""
        await self.reminders.cancel(question.claim.ref, [reminder.id], epoch=question.snapshot.epoch)
        metrics.REMINDERS.labels("cancelled").inc()
        log.info("reminder_cancelled", reminder=reminder.id, reason=reason)
        await self._end(question, state="refused", reason=reason)

    async def _end(self, question: Question, *, state: TerminalState, reason: str) -> None:
        claim, epoch, update = question.claim, question.snapshot.epoch, question.first
        await self.committer.end(
            claim, update, Reply(), epoch=epoch, update_ids=[update.update_id], state=state, reason=reason
        )

    async def _send(self, question: Question, rich: RichText) -> None:
        """Send the text, and keep it as a message of ours, so that people can answer it."""
        ref, history, epoch = question.claim.ref, question.history, question.snapshot.epoch
        message = Message(
            id=question.reply_id,
            role="assistant",
            text=rich.text,
            sent_at=self.reminders.now(),
            tokens=self.tokenizer.count(rich.text),
        )
        await history.append(ref, [message], epoch=epoch)
        commit = Commit(
            update_ids=question.batch.update_ids,
            epoch=epoch,
            reason="reminder",
            messages=history.pending,
            parts=[replace(question.to, rich=rich, message_id=message.id)],
        )
        await self.committer.commit(question.claim, commit)


def _addressed(words: Words, reminder: Reminder, text: str) -> RichText:
    """Return the text as it is sent. In a group it mentions the person."""
    name = one_line(reminder.person_name, _NAME_CHARACTERS)  # it cannot turn the direction of the text
    if reminder.chat_type == "private" or not name or reminder.person_id <= 0:
        return RichText(text=words("reminder-due", text=text))
    whole = words("reminder-due-group", name=name, text=text)
    offset = utf16_length(whole[: whole.index(name)])
    mention = Entity(
        type="text_mention", offset=offset, length=utf16_length(name), user_id=reminder.person_id
    )
    return RichText(text=whole, entities=(mention,))


def when_text(words: Words, at: float, zone: str) -> str:
    """Return a date (Unix seconds) with its time in this zone, as people write it in the reader's language."""
    moment = datetime.fromtimestamp(at, find_zone(zone))
    return words("reminder-when", date=moment.date(), time=f"{moment:%H:%M}")
