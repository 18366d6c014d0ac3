"""/reminders lists and cancels the reminders of a chat or topic."""

from dataclasses import dataclass, replace

from bot.features.parts import Built, Parts
from bot.features.reminders.lists import SHOWN_CHARACTERS, parse_press, reminders_buttons, reminders_text
from bot.features.reminders.timezone import TimezoneCommand
from bot.features.reminders.turns import ReminderTurns
from bot.transport.paging import page_start
from bot.turn.commands import CommandCall
from bot.turn.commit import Reply
from bot.turn.hooks import Hooks
from bot.turn.permissions import Permissions
from memory.characters import one_line
from memory.reminders.redis_reminders import RedisReminders


@dataclass(frozen=True, slots=True, kw_only=True)
class RemindersCommand:
    """Shows the reminders of the chat or topic to everybody in it, because everybody there will read them.

    Only the person who has set a reminder, and the owners of the chat's memory, cancel it. All raise Fenced, Forgotten
    and the store's errors.
    """

    permissions: Permissions
    reminders: RedisReminders

    async def run(self, call: CommandCall) -> Reply:
        """Show the first page."""
        return await self._page(call, reader=call.user_id)

    async def press(self, call: CommandCall) -> Reply | None:
        """Turn the page or cancel a reminder, in the message of the list.

        A press on a reminder that was sent or cancelled since gets a notice and the present list.
        """
        press = parse_press(call.argument)
        if press is None:
            return None
        (first, chosen), text = press, ""
        reminder = await self.reminders.get(call.ref, chosen) if chosen else None
        if reminder is not None:
            owner = reminder.person_id
            if not await self.permissions.may_change(call.message, call.person_id, owner=owner):
                return Reply(notice=call.words("reminders-not-yours"))
            await self.reminders.cancel(call.ref, [reminder.id], epoch=call.snapshot.epoch)
            text = call.words("reminders-cancelled", text=one_line(reminder.text, SHOWN_CHARACTERS))
        notice = call.words("reminders-gone") if chosen and reminder is None else ""
        reply = await self._page(call, reader=call.person_id, first=first, notice=text)
        return replace(reply, edits=call.menu, notice=notice)

    async def _page(self, call: CommandCall, *, reader: int, first: int = 0, notice: str = "") -> Reply:
        """Show the page in the reader's time zone; in that of the first reminder if it is unknown."""
        reminders = await self.reminders.list(call.ref)
        first = page_start(first, len(reminders))
        zone = await self.reminders.zone_of(reader) or (reminders[0].zone if reminders else "UTC")
        rich = reminders_text(
            call.words, reminders, first=first, zone=zone, is_group=call.is_group, notice=notice
        )
        return Reply(rich=rich, buttons=reminders_buttons(call.words, reminders, first=first))


async def build(parts: Parts) -> Built:
    """Return the commands, their buttons, and the hooks: the tools' place to set them, a due one, a location."""
    stores = parts.stores
    rows = RedisReminders(stores.redis, clock=parts.clock)
    reminders = RemindersCommand(permissions=parts.permissions, reminders=rows)
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
