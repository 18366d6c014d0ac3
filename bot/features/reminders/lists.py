"""The list that /reminders shows: its times, text and buttons, and the data of the buttons (pure)."""

import re
from collections.abc import Sequence
from datetime import datetime

from bot.transport.paging import PAGE_SIZE, page_buttons, page_line
from bot.transport.rich_text import RichText
from bot.transport.telegram_api import Button
from bot.transport.words import Words
from memory.characters import one_line
from memory.reminders.recurrence import NAMED_RULES
from memory.reminders.reminder import Reminder
from memory.zones.names import find_zone

SHOWN_CHARACTERS = 200
"""Characters of a reminder's text in a list."""
_NAME_CHARACTERS = 40
_DATA = re.compile(r"reminders:(\d{1,6}):([0-9a-f]{8})?")
_CANCEL_ROW, _PAGES_ROW = range(2)
_NAMES = {rule: name for name, rule in NAMED_RULES.items()}


def press_data(first: int, reminder_id: str = "") -> str:
    """Return the data of a button that cancels a reminder, or that shows the page which begins at `first`.

    It has at most 25 bytes.
    """
    return f"reminders:{first}:{reminder_id}"


def parse_press(data: str) -> tuple[int, str] | None:
    """Return the arguments of `press_data`; None if no list has such a button."""
    match = _DATA.fullmatch(data)
    return match and (int(match[1]), match[2] or "")


def when_text(words: Words, at: float, zone: str) -> str:
    """Return a date (Unix seconds) with its time in this zone, as people write it in the reader's language."""
    moment = datetime.fromtimestamp(at, find_zone(zone))
    return words("reminder-when", date=moment.date(), time=f"{moment:%H:%M}")


def reminders_text(
    words: Words, reminders: Sequence[Reminder], *, first: int, zone: str, is_group: bool, notice: str
) -> RichText:
    """Return one page of the sorted reminders below a notice, with times of `zone`.

    Nothing of it is rendered as markup. In groups each line names the person.
    """
    if not reminders:
        return RichText(text="\n\n".join(filter(None, [notice, words("reminders-none")])))
    lines = [words("reminders-title")]
    for number, reminder in enumerate(reminders[first : first + PAGE_SIZE], first + 1):
        lines.append(_line(words, reminder, number=number, zone=zone, is_group=is_group))
    lines.append(page_line(words, first=first, total=len(reminders)))
    notes = [words("reminders-buttons"), words("reminders-zone", zone=zone)]
    paragraphs = [notice, "\n".join(filter(None, lines)), "\n".join(notes)]
    return RichText(text="\n\n".join(filter(None, paragraphs)))


def reminders_buttons(words: Words, reminders: Sequence[Reminder], *, first: int) -> list[Button]:
    """Return the buttons of a page: a row that cancels, and a row that turns the page."""
    shown = enumerate(reminders[first : first + PAGE_SIZE], first + 1)
    cancel = [
        Button(text=words("list-delete", number=number), data=press_data(first, reminder.id), row=_CANCEL_ROW)
        for number, reminder in shown
    ]
    return cancel + page_buttons(words, first=first, total=len(reminders), row=_PAGES_ROW, data=press_data)


def _line(words: Words, reminder: Reminder, *, number: int, zone: str, is_group: bool) -> str:
    when = when_text(words, reminder.due_at, zone)
    if reminder.repeats:
        kind = _NAMES.get(reminder.repeats, "other")
        when = words("reminder-when-repeated", when=when, repeats=kind)
    text = one_line(reminder.text, SHOWN_CHARACTERS)
    name = one_line(reminder.person_name, _NAME_CHARACTERS)
    if is_group and name:
        return words("reminders-line-by", number=number, when=when, name=name, text=text)
    return words("reminders-line", number=number, when=when, text=text)
