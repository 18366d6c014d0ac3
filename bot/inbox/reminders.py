"""Due reminders: each becomes an update of its context, once for each date, in any number of processes."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import cast

import structlog

from bot.observe import metrics
from memory import keys
from memory.codec import dump_json, parse_json
from memory.errors import RecordCorrupt
from memory.keys import ContextRef
from memory.redis.client import RedisClient
from memory.redis.lua import ScriptCall, lua_script
from memory.reminders.reminder import Reminder, missed_and_next

log = structlog.get_logger()

POLL_S = 1.0
"""Longest pause between two looks at the clock, so that a new reminder or a clock that jumps is noticed."""
BATCH = 100
"""Reminders of one step."""
FULL_PAUSE_S = 5.0
"""Time until the next try if the box of the context is full. Reminders of other contexts go on."""
_UNREADABLE = (RecordCorrupt, ValueError, LookupError, TypeError, OverflowError)
PayloadOf = Callable[[Reminder, float], Awaitable[str]]
"""Returns the JSON of an update from a reminder and its date. A script numbers it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DueReminder:
    """A reminder to fire, as fire_reminder.lua reads it."""

    ref: ContextRef
    reminder_id: str
    score: float
    """Its score in `due`. Another one means that another process has fired it."""
    payload: str = ""
    """"" for a reminder that is gone or cannot be read."""
    next_at: float | None = None
    line: str = ""
    """The reminder with its next date."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FiringRules:
    """The place of the updates, their ids and their bound."""

    partition: int
    partitions: int
    box: int
    """Updates in a box."""
    update_prefix: str
    full_pause_s: float = FULL_PAUSE_S


@lua_script("bot.inbox.scripts")
def fire_reminder(
    ref: ContextRef, *, reminder: DueReminder, now: float, rules: FiringRules
) -> ScriptCall: ...


class ReminderClock:
    """Fires the reminders of one partition. Times are Unix seconds from `clock`."""

    def __init__(
        self, redis: RedisClient, rules: FiringRules, *, payload_of: PayloadOf, clock: Callable[[], float]
    ) -> None:
        self._redis = redis
        self._rules = rules
        self._payload_of = payload_of
        self._clock = clock

    async def step(self) -> float:
        """Fire a batch of due reminders. Return the seconds until the next step. Raises the store's errors.

        The updates are on disk after the return. A crash at any point fires each date once.
        """
        now, due = self._clock(), keys.partition_key(self._rules.partition, "due")
        reply = await self._redis.call(
            "ZRANGEBYSCORE", due, "-inf", now + POLL_S, "WITHSCORES", "LIMIT", 0, BATCH
        )
        rows = [(member, float(score)) for member, score in cast("list[tuple[str, float]]", reply)]
        found = [(member, score) for member, score in rows if score <= now]
        if not found:
            return min(POLL_S, *(score - now for _, score in rows)) if rows else POLL_S
        calls = [
            fire_reminder(each.ref, reminder=each, now=now, rules=self._rules)
            for each in await self._read(found, now)
        ]
        outcomes = await self._redis.run_all_durably(calls)
        if failure := next((each for each in outcomes if isinstance(each, Exception)), None):
            raise failure
        fired = outcomes.count("fired")
        metrics.REMINDERS.labels("fired").inc(fired)
        metrics.REMINDERS.labels("postponed").inc(outcomes.count("full"))
        if fired:
            log.info("reminders_fired", partition=self._rules.partition, reminders=fired)
        if "full" in outcomes:
            log.warning(
                "reminders_wait", reason="too many updates wait in their chats", retry_in_s=FULL_PAUSE_S
            )
        return 0.0

    async def _read(self, found: Sequence[tuple[str, float]], now: float) -> list[DueReminder]:
        """Return the reminders of these members of `due` with their next dates."""
        reminders: list[DueReminder] = []
        for member, score in found:
            context_id, _, reminder_id = member.partition(" ")
            ref = ContextRef(context_id=context_id, partition=self._rules.partition)
            reminders.append(DueReminder(ref=ref, reminder_id=reminder_id, score=score))
        reads = [("HGET", keys.context_key(each.ref, "reminders"), each.reminder_id) for each in reminders]
        lines = await self._redis.calls(reads)
        planned: list[DueReminder] = []
        for each, line in zip(reminders, lines, strict=True):
            planned.append(each if line is None else await self._plan(each, line, now))
            await asyncio.sleep(0)  # a search for dates takes a while: other work goes on
        return planned

    async def _plan(self, due: DueReminder, line: str, now: float) -> DueReminder:
        try:
            reminder = parse_json(Reminder, line)
            was_due_at, next_at = missed_and_next(reminder, now)
            payload = await self._payload_of(reminder, was_due_at)
        except _UNREADABLE as error:  # no traceback, because it has the text
            place = {"context": due.ref.context_id, "reminder": due.reminder_id}
            log.error("reminder_not_readable", **place, error=str(error))  # noqa: TRY400
            return due
        moved = "" if next_at is None else dump_json(Reminder, replace(reminder, due_at=next_at))
        return replace(due, payload=payload, next_at=next_at, line=moved)
