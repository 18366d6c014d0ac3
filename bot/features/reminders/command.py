"""/reminders lists and cancels the reminders of a chat or topic."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.features.parts import Built, Parts
from bot.features.reminders.timezone import TimezoneCommand
from bot.features.reminders.turns import ReminderTurns, when_text
from bot.transport.words import Words
from bot.turn.commands import CommandCall
from bot.turn.commit import Reply
from bot.turn.hooks import Hooks
from bot.turn.menus import ListEntry, ListMenu, ListPress, parse_list_press
from memory.characters import one_line
from memory.reminders.recurrence import NAMED_RULES
from memory.reminders.redis_reminders import RedisReminders
from memory.reminders.reminder import Reminder

SHOWN_CHARACTERS = 200
"""Characters of a reminder's text in a list."""
_NAME_CHARACTERS = 40
_NAMES = {rule: name for name, rule in NAMED_RULES.items()}
_LIST = ListMenu(word="reminders", actions={"delete": "list-delete"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RemindersCommand:
    """Shows the reminders of the chat or topic to everybody in it, because everybody there will read them.

    Only the person who has set a reminder, and the owners of the chat's memory, cancel it. All raise Fenced, Forgotten
    and the store's errors.
    """

    reminders: RedisReminders

    async def run(self, call: CommandCall) -> Reply:
        """Show the first page."""
        return await self._page(call, ListPress(owner=call.person_id))

    async def press(self, call: CommandCall) -> Reply | None:
        """Turn the page or cancel a reminder, in the message of the list.

        A press on a reminder that was sent or cancelled since gets a notice and the present list.
        """
        press = parse_list_press(call.owner, call.argument)
        if press is None:
            return None
        if not call.menu:  # the data may be made up, and would tell the zone of any person
            press = replace(press, owner=call.person_id)
        if press.verb == "page":
            return await self._page(call, press)
        reminder = await self.reminders.get(call.ref, press.token)
        if reminder is None:
            return replace(await self._page(call, press), notice=call.words("reminders-gone"))
        if not await call.may_change(owner=reminder.person_id):
            return Reply(notice=call.words("reminders-not-yours"))
        await self.reminders.cancel(call.ref, [reminder.id], epoch=call.snapshot.epoch)
        notice = call.words("reminders-cancelled", text=one_line(reminder.text, SHOWN_CHARACTERS))
        return await self._page(call, press, notice=notice)

    async def _page(self, call: CommandCall, press: ListPress, *, notice: str = "") -> Reply:
        """Show the page in the zone of the person who asked for the list, whoever turns it.

        If that is unknown, it is the zone of the first reminder.
        """
        reminders = await self.reminders.list(call.ref)
        zone = await self.reminders.zone_of(press.owner) or (reminders[0].zone if reminders else "UTC")
        return reminders_page(
            call.words, reminders, at=press, zone=zone, is_group=call.is_group, notice=notice
        )


def reminders_page(
    words: Words, reminders: Sequence[Reminder], *, at: ListPress, zone: str, is_group: bool, notice: str
) -> Reply:
    """Return one page of the sorted reminders with times of `zone`. In groups each line names the person."""
    notes = [words("reminders-buttons"), words("reminders-zone", zone=zone)]

    def show(reminder: Reminder, number: int) -> ListEntry:
        line = _line(words, reminder, number=number, zone=zone, is_group=is_group)
        return ListEntry(heading=words("reminders-title"), line=line, token=reminder.id)

    return _LIST.page(
        words, reminders, show, at=at, notice=notice, notes=notes if reminders else [words("reminders-none")]
    )


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


async def build(parts: Parts) -> Built:
    """Return the commands, their buttons, and the hooks: the tools' place to set them, a due one, a location."""
    stores = parts.stores
    rows = RedisReminders(stores.redis, clock=parts.clock)
    reminders = RemindersCommand(reminders=rows)
    timezone = TimezoneCommand(reminders=rows)
    turns = ReminderTurns(
        access=parts.permissions.access,
        guests=stores.guests,
        member_status=parts.outside.telegram.member_status,
        reminders=rows,
        committer=parts.committer,
        tokenizer=parts.tokenizer,
    )
    return Built(
        commands={"reminders": reminders.run, "timezone": timezone.run},
        buttons={"reminders": reminders.press, "timezone": timezone.press},
        hooks=Hooks(before_run=(turns.open,), takes=(timezone.takes,), own_turns=(turns.remind,)),
    )
