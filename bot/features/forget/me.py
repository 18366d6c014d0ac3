"""/forget me: erases what a person said, in a group here and in the private chat everywhere, with a signed receipt."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import structlog

from bot.errors import ChatUnreachable, TelegramFailure, TelegramRefused
from bot.transport.controls import FORGET_BUTTON, press_data
from bot.transport.forms import ChatPlace
from bot.transport.rich_text import RichText
from bot.transport.telegram_api import Button, TelegramApi
from bot.transport.words import Words, words_for
from bot.turn.commands import CommandCall
from bot.turn.commit import Reply
from bot.turn.forget_person import ForgetJobs, PersonCounts, dump_receipt_name
from bot.turn.forget_requests import ForgetJob, ReceiptPlace
from bot.turn.menus import CONFIRM_WITHIN_S
from bot.turn.person import Person

log = structlog.get_logger()

CHATS_SHOWN = 20
CONFIRMS = "me"
"""The value of the button; its owner is the person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetMe:
    """Asks with the counts by chat, and records the request when the button is pressed. A worker does it."""

    jobs: ForgetJobs
    clock: Callable[[], float]

    async def run(self, call: CommandCall) -> Reply:
        """Ask. Raises the store's errors."""
        person = call.message.sender_id
        if person is None or person <= 0:
            return Reply(text=call.words("forget-me-anonymous"))
        found = await self.jobs.finder.count(person, context=call.ref.context_id if call.is_group else "")
        words = call.words
        lines = [
            words("forget-me-asks", scope="here" if call.is_group else "everywhere"),
            words("forget-me-found" if found else "forget-me-nothing"),
            *_lines(words, found, has_titles=not call.is_group),
            words("forget-me-undo"),
        ]
        button = Button(
            text=words("forget-me-button"), data=press_data(FORGET_BUTTON, CONFIRMS, owner=person)
        )
        return Reply(rich=RichText(text="\n".join(lines)), buttons=[button])

    async def press(self, call: CommandCall) -> Reply:
        """Record the request. A repetition of an interrupted press changes nothing."""
        if str(call.person_id) != call.owner:
            return Reply(notice=call.words("forget-me-not-yours"))
        if self.clock() - call.message.date > CONFIRM_WITHIN_S:
            return Reply(notice=call.words("forget-me-expired"), closes_menu=True)
        callback, place = call.update.callback, call.message
        await self.jobs.requests.begin(
            Person(
                id=call.person_id,
                until=self.clock(),
                asked_by=call.update.update_id,
                asked_in=call.ref.context_id,
                below=call.snapshot.next_sequence,
            ),
            context=call.ref if call.is_group else None,
            tells=ReceiptPlace(
                chat_id=place.chat_id,
                thread_id=place.thread_id,
                is_direct=place.is_direct,
                language_code=callback.language_code if callback else "",
            ),
        )
        return Reply(text=call.words("forget-me-begun"))


def _lines(words: Words, found: Sequence[PersonCounts], *, has_titles: bool) -> list[str]:
    """Return a line of counts for each chat."""
    lines: list[str] = []
    for each in found[:CHATS_SHOWN]:
        counts = each.counts.by_name()
        things = words("list-separator").join(
            words(f"count-{name}", count=counts[name])
            for name in ("messages", "facts", "reminders", "talk")
            if counts[name]
        )
        lines.append(f"• {each.chat}: {things}" if has_titles and not each.is_of_other else f"• {things}")
    if len(found) > CHATS_SHOWN:
        lines.append(words("forget-me-more", count=len(found) - CHATS_SHOWN))
    return lines


async def send_receipt(telegram: TelegramApi, job: ForgetJob) -> bool:
    """Send the receipt of a request to the chat where it was made. Return False if it must be tried again."""
    place = job.tells
    if place is None:
        return True
    caption = RichText(text=words_for(place.language_code)("forget-me-done"))
    to = ChatPlace(chat_id=place.chat_id, thread_id=place.thread_id, is_direct=place.is_direct)
    try:
        name = dump_receipt_name(job)
        await telegram.send_file(to, job.receipt.encode(), name=name, caption=caption)
    except (ChatUnreachable, TelegramRefused) as failure:
        log.warning("receipt_not_sent", reason=type(failure).__name__)
    except TelegramFailure as failure:
        log.info("receipt_waits", reason=type(failure).__name__)
        return False
    return True
