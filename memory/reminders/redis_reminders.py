"""Reminders of contexts in Redis, and the time zones of people."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal

from memory.codec import dump_json, parse_json
from memory.keys import ContextRef, context_key, global_key, partition_key
from memory.redis.client import RedisClient
from memory.redis.lua import ScriptCall, lua_script
from memory.reminders.reminder import PER_CHAT, PER_PERSON, Reminder, ReminderPlace

_SCRIPTS = "memory.redis.scripts"
_ZONES_AT_ONCE = 1_000

Addition = Literal["added", "person_limit", "chat_limit"]


class RedisReminders:
    """The reminders of all contexts. Methods raise StoreUnavailable or StoreFull."""

    def __init__(self, redis: RedisClient, *, clock: Callable[[], float]) -> None:
        self._redis = redis
        self.now = clock

    async def add(
        self,
        ref: ContextRef,
        reminder: Reminder,
        *,
        epoch: int,
        per_person: int = PER_PERSON,
        per_chat: int = PER_CHAT,
    ) -> Addition:
        """Store a reminder unless its person or its context has too many. Raises Forgotten after a reset.

        An id that exists is "added" already, and stays as it is.
        """
        call = add_reminder(
            ref,
            context_id=ref.context_id,
            expected_epoch=epoch,
            line=dump_json(Reminder, reminder),
            per_person=per_person,
            per_chat=per_chat,
        )
        return await self._redis.run(call)

    async def get(self, ref: ContextRef, reminder_id: str) -> Reminder | None:
        """Return the reminder with this id, or None."""
        line = await self._redis.call("HGET", context_key(ref, "reminders"), reminder_id)
        return None if line is None else parse_json(Reminder, line)

    async def cancel(self, ref: ContextRef, ids: Collection[str], *, epoch: int) -> int:
        """Erase these reminders, and return the number of those that existed. Raises Forgotten after a reset."""
        call = cancel_reminders(ref, context_id=ref.context_id, expected_epoch=epoch, ids=list(ids))
        return int(await self._redis.run(call))

    async def zone_of(self, person: int) -> str | None:
        """Return the name of this person's time zone, or None."""
        return await self._redis.call("HGET", global_key("zones"), str(person))

    async def set_zone(self, person: int, zone: str | None) -> None:
        """Store the name of this person's time zone; None deletes it. Every partition gets its copy."""
        stored = await self._redis.call("GET", global_key("partitions"))
        keys = [
            global_key("zones"),
            *(partition_key(each, "local_zones") for each in range(int(stored or 1))),
        ]
        if zone is None:
            await self._redis.calls([("HDEL", key, str(person)) for key in keys])
        else:
            await self._redis.calls([("HSET", key, str(person), zone) for key in keys])

    async def list(self, ref: ContextRef) -> list[Reminder]:
        """Return the reminders of the context, the next one first."""
        lines = await self._redis.call("HVALS", context_key(ref, "reminders"))
        return sorted(
            (parse_json(Reminder, line) for line in lines),
            key=lambda reminder: (reminder.due_at, reminder.id),
        )


async def copy_zones(redis: RedisClient, *, partitions: int) -> None:
    """Complete each partition's copy of the time zones: a restore, and builds before the copies, wrote only `zones`.

    A script of a partition reads its copy, because on a cluster `zones` may be on another server.
    """
    zones = list((await redis.call("HGETALL", global_key("zones"))).items())
    for partition in range(partitions):
        copy = partition_key(partition, "local_zones")
        if zones and int(await redis.call("HLEN", copy)) < len(zones):
            for first in range(0, len(zones), _ZONES_AT_ONCE):
                part = zones[first : first + _ZONES_AT_ONCE]
                await redis.calls([("HSETNX", copy, person, zone) for person, zone in part])


@lua_script(_SCRIPTS)
def add_reminder(
    ref: ContextRef, *, context_id: str, expected_epoch: int, line: str, per_person: int, per_chat: int
) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def cancel_reminders(
    ref: ContextRef, *, context_id: str, expected_epoch: int, ids: list[str]
) -> ScriptCall: ...


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
