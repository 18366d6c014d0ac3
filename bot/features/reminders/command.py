"""/reminders lists and cancels the reminders of a chat or topic. /timezone shows, changes and deletes a time zone."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.features.parts import Built, Parts
from bot.features.reminders.turns import ReminderTurns, when_text
from bot.transport.rich_text import RichText
from bot.transport.telegram_api import Button
from bot.transport.updates import IncomingMessage
from bot.transport.words import Words
from bot.turn.commands import CommandCall, Handler
from bot.turn.commit import Reply
from bot.turn.hooks import Hooks
from bot.turn.menus import ListEntry, ListMenu, ListPress, choice_buttons, parse_list_press
from memory.characters import one_line
from memory.reminders.redis_reminders import RedisReminders
from memory.reminders.reminder import NAMED_RULES, Reminder
from memory.zones.clocks import BadTime, find_zone
from memory.zones.reader import NOTHING, ZoneReading, read_zone, zones_near

SHOWN_CHARACTERS = 200
"""Characters of a reminder's text in a list."""
_NAME_CHARACTERS = 40
_NAMES = {rule: name for name, rule in NAMED_RULES.items()}
LOCATION_WAITS_S = 3600
"""Seconds after the question in which a location answers it. Later it is a message like others."""
_NO_ZONE = "none"
_LONGEST_ZONE = 64
_LOCATION = re.compile(r"a (?:live )?location at (-?\d+\.\d+), (-?\d+\.\d+)")
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


@dataclass(frozen=True, slots=True, kw_only=True)
class TimezoneCommand:
    """Shows, changes and deletes the time zone of the sender, which holds in all chats."""

    reminders: RedisReminders

    async def run(self, call: CommandCall) -> Reply:
        """Show the zone, or change it. Zones to choose from get buttons with the time there.

        A location gives the zone too: the command replies to it, or it comes after the question for the zone.
        """
        name, now = call.argument.strip(), self.reminders.now()
        if name.casefold() == "off":
            await self.reminders.set_zone(call.user_id, None)
            return Reply(text=call.words("timezone-off"))
        place = _location_of(call)
        if not name and place is None:
            return await self._show(call)
        reading = read_zone(name, now) if name or place is None else zones_near(*place, now)
        if reading.zone:
            return await self._set(call, call.user_id, reading)
        if reading == NOTHING:
            unknown = call.words("timezone-unknown", name=one_line(name, _LONGEST_ZONE))
            return Reply(rich=RichText(text=unknown))
        return Reply(text=call.words("timezone-choose"), buttons=self._buttons(call, reading.others))

    def takes(self, call: CommandCall) -> tuple[str, Handler] | None:
        """Return the handler of a location after the question for a time zone."""
        asked = call.snapshot.choices.zone_asked
        is_answer = asked and answers_zone_question(call.message, asked, self.reminders.now())
        return ("command_timezone", self._take_location) if is_answer else None

    async def _take_location(self, call: CommandCall) -> Reply:
        return await self.run(replace(call, argument=""))

    async def press(self, call: CommandCall) -> Reply | None:
        """Set the zone of the person who has sent the command's question. A press by others sets theirs."""
        if call.argument == _NO_ZONE:
            reply = Reply(text=call.words("timezone-help"))
        else:
            try:
                reading = ZoneReading(zone=find_zone(call.argument).key)
            except BadTime:
                return None
            reply = await self._set(call, call.person_id, reading)
        return reply if call.is_group else replace(reply, edits=call.menu)

    async def _show(self, call: CommandCall) -> Reply:
        """Show the zone. The next location of this person answers the question for it."""
        zone = await self.reminders.zone_of(call.user_id)
        text = self._now(call, "timezone-shown", zone) if zone else call.words("timezone-none")
        return Reply(
            rich=RichText(text=text), meta={"zone_asked": f"{call.user_id} {self.reminders.now():.0f}"}
        )

    async def _set(self, call: CommandCall, person: int, reading: ZoneReading) -> Reply:
        await self.reminders.set_zone(person, reading.zone)
        text = self._now(call, "timezone-set", reading.zone)
        if reading.others:
            is_fixed = reading.zone.startswith("UTC")
            text = f"{text}\n\n{call.words('timezone-fixed' if is_fixed else 'timezone-meant')}"
        return Reply(rich=RichText(text=text), buttons=self._buttons(call, reading.others))

    def _buttons(self, call: CommandCall, zones: Sequence[str]) -> list[Button]:
        """Return a button for each zone, with the time there now, and one for none of them."""
        labels = {zone: f"{zone} — {self._time(zone)}" for zone in zones}
        if labels:
            labels[_NO_ZONE] = call.words("timezone-other")
        return choice_buttons("timezone", labels)

    def _now(self, call: CommandCall, key: str, zone: str) -> str:
        """Return the sentence of this key with the zone and the time of day there."""
        return call.words(key, zone=zone, time=self._time(zone))

    def _time(self, zone: str) -> str:
        return f"{datetime.fromtimestamp(self.reminders.now(), find_zone(zone)):%H:%M}"


def _location_of(call: CommandCall) -> tuple[float, float] | None:
    """Return latitude and longitude of a message that is a location, or of the kept message that it replies to."""
    notes, reply = [call.message.note], call.message.reply_to
    if reply is not None:
        notes += [each.note for each in call.snapshot.newest if each.telegram_message_id == reply.message_id]
    found = next(filter(None, map(_LOCATION.fullmatch, notes)), None)
    return found and (float(found[1]), float(found[2]))


def answers_zone_question(message: IncomingMessage, zone_asked: str, now: float) -> bool:
    """Return True if the message is the location of the person whom the bot has asked for a zone a moment ago."""
    person, _, asked_at = zone_asked.partition(" ")
    is_location = not message.text and _LOCATION.fullmatch(message.note) is not None
    return is_location and person == str(message.sender_id) and now - float(asked_at) < LOCATION_WAITS_S


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
