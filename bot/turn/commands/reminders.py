"""/reminders lists and cancels the reminders of a chat or topic, /timezone keeps a person's time zone."""

from dataclasses import dataclass, replace
from datetime import datetime
from zoneinfo import ZoneInfo

from bot.transport.gating import TIMEZONE_BUTTON
from bot.transport.paging import page_start
from bot.transport.reminder_lists import (
    SHOWN_CHARACTERS,
    parse_press,
    reminders_buttons,
    reminders_text,
)
from bot.transport.rich_text import RichText
from bot.transport.telegram_api import Button
from bot.turn.chat_events import Buttons
from bot.turn.commands.call import CommandCall
from bot.turn.commit import Reply
from bot.turn.permissions import Permissions
from memory.characters import one_line
from memory.reminders.recurrence import BadTime, closest_zones, find_zone
from memory.reminders.redis_reminders import RedisReminders

_LONGEST_NAME = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class RemindersCommand:
    """Shows the reminders of the chat or topic to everybody in it, because everybody there will read them.

    Only the person who has set a reminder, and the owners of the chat's memory, cancel it. All raise Fenced, Forgotten
    and the store's errors.
    """

    permissions: Permissions
    reminders: RedisReminders
    buttons: Buttons

    async def run(self, call: CommandCall) -> Reply:
        """Show the first page."""
        return await self._page(call, reader=call.user_id)

    async def press(self, call: CommandCall) -> Reply:
        """Turn the page or cancel a reminder, in the message of the list.

        A press on a reminder that was sent or cancelled since gets a notice and the present list.
        """
        press, callback = parse_press(call.argument), call.update.callback
        if press is None or callback is None:
            await self.buttons.answer(call.update, "button-unknown")
            return Reply()
        (first, chosen), presser, notice = press, callback.sender_id, ""
        reminder = await self.reminders.get(call.ref, chosen) if chosen else None
        if reminder is not None:
            owner = reminder.person_id
            if not await self.permissions.may_change(call.message, presser, owner=owner):
                await self.buttons.answer(call.update, "reminders-not-yours", is_alert=True)
                return Reply()
            await self.reminders.cancel(call.ref, [reminder.id], epoch=call.snapshot.epoch)
            notice = call.words("reminders-cancelled", text=one_line(reminder.text, SHOWN_CHARACTERS))
        is_gone = bool(chosen) and reminder is None
        await self.buttons.answer(call.update, "reminders-gone" if is_gone else "", is_alert=is_gone)
        reply = await self._page(call, reader=presser, first=first, notice=notice)
        return replace(reply, edits=(call.message.message_id,))

    async def _page(self, call: CommandCall, *, reader: int, first: int = 0, notice: str = "") -> Reply:
        """Show the page in the reader's time zone; in that of the first reminder if it is unknown."""
        reminders = await self.reminders.list(call.ref)
        first = page_start(first, len(reminders))
        zone = await self.reminders.zone_of(reader) or (reminders[0].zone if reminders else "UTC")
        rich = reminders_text(
            call.words, reminders, first=first, zone=zone, is_group=call.is_group, notice=notice
        )
        return Reply(rich=rich, buttons=reminders_buttons(call.words, reminders, first=first))


@dataclass(frozen=True, slots=True, kw_only=True)
class TimezoneCommand:
    """Shows, changes and deletes the time zone of the sender, which holds in all chats."""

    reminders: RedisReminders
    buttons: Buttons

    async def run(self, call: CommandCall) -> Reply:
        """Show the zone, or change it. Similar names of an unknown one get buttons."""
        name = call.argument.strip()
        if not name:
            zone = await self.reminders.zone_of(call.user_id)
            text = self._now(call, "timezone-shown", zone) if zone else call.words("timezone-none")
            return Reply(rich=RichText(text=text))
        if name.casefold() == "off":
            await self.reminders.set_zone(call.user_id, None)
            return Reply(text=call.words("timezone-off"))
        try:
            return await self._set(call, call.user_id, find_zone(name).key)
        except BadTime:
            similar = closest_zones(name)
        if not similar:
            unknown = call.words("timezone-unknown", name=one_line(name, _LONGEST_NAME))
            return Reply(rich=RichText(text=unknown))
        buttons = [
            Button(text=zone, data=f"{TIMEZONE_BUTTON}:{zone}", row=row) for row, zone in enumerate(similar)
        ]
        return Reply(text=call.words("timezone-choose"), buttons=buttons)

    async def press(self, call: CommandCall) -> Reply:
        """Set the zone of the person who has sent the command's question. A press by others sets theirs."""
        callback = call.update.callback
        try:
            zone = find_zone(call.argument.partition(":")[2]).key
        except BadTime:
            zone = ""
        if not zone or callback is None:
            await self.buttons.answer(call.update, "button-unknown")
            return Reply()
        await self.buttons.answer(call.update)
        reply = await self._set(call, callback.sender_id, zone)
        return reply if call.is_group else replace(reply, edits=(call.message.message_id,))

    async def _set(self, call: CommandCall, person: int, zone: str) -> Reply:
        await self.reminders.set_zone(person, zone)
        return Reply(rich=RichText(text=self._now(call, "timezone-set", zone)))

    def _now(self, call: CommandCall, key: str, zone: str) -> str:
        """Return the sentence of this key with the zone and the time of day there."""
        now = datetime.fromtimestamp(self.reminders.now(), ZoneInfo(zone))
        return call.words(key, zone=zone, time=f"{now:%H:%M}")
