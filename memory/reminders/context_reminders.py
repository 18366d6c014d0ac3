"""The reminders of one context, for the tools of a turn."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from memory.keys import ContextRef
from memory.reminders.redis_reminders import Addition, RedisReminders
from memory.reminders.reminder import Reminder, ReminderPlace


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextReminders:
    """The reminders of the context of a turn, and the place where new ones are sent."""

    reminders: RedisReminders
    """The store. It also has the clock and the time zones of people."""
    ref: ContextRef
    epoch: Callable[[], int]
    """The epoch of the turn, which a tool may have raised."""
    place: ReminderPlace
    is_due: bool = False
    """True in the turn of a due reminder."""
    reply_id: str = ""
    """Id of the answer of the turn, "" if it has none."""

    async def add(self, reminder: Reminder) -> Addition:
        """See `RedisReminders.add`."""
        return await self.reminders.add(self.ref, reminder, epoch=self.epoch())

    async def cancel(self, ids: Collection[str]) -> int:
        """See `RedisReminders.cancel`."""
        return await self.reminders.cancel(self.ref, ids, epoch=self.epoch())

    async def list(self) -> list[Reminder]:
        """See `RedisReminders.list`."""
        return await self.reminders.list(self.ref)
