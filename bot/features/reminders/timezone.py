"""/timezone shows, changes and deletes a person's time zone."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.transport.rich_text import RichText
from bot.transport.telegram_api import Button
from bot.transport.updates import IncomingMessage
from bot.turn.commands import CommandCall, Handler
from bot.turn.commit import Reply
from bot.turn.menus import choice_buttons
from memory.characters import one_line
from memory.reminders.redis_reminders import RedisReminders
from memory.zones.names import BadTime, find_zone
from memory.zones.reader import NOTHING, ZoneReading, read_zone, zones_near

LOCATION_WAITS_S = 3600
"""Seconds after the question in which a location answers it. Later it is a message like others."""
_NONE = "none"
_LONGEST_NAME = 64
_LOCATION = re.compile(r"a (?:live )?location at (-?\d+\.\d+), (-?\d+\.\d+)")


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
            unknown = call.words("timezone-unknown", name=one_line(name, _LONGEST_NAME))
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
        if call.argument == _NONE:
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
            labels[_NONE] = call.words("timezone-other")
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
