"""Retention: messages that are older than a limit go, in small steps, with everything that rests on them.

A chat is gone through once a day, page by page. Whatever happens between two pages, the next walk finds the rest: it
begins at the first message again, and what has gone is not there any more. So nothing but the queue is stored.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from time import monotonic
from typing import Any, TypeVar

from memory.codec import parse_json
from memory.history.message import EXPIRED, Message
from memory.history.redis_history import dump_message
from memory.history.store import BEFORE_ALL, Deletion, RecordCounts
from memory.keys import ContextRef, context_key, partition_key
from memory.leased import Lease, LeasedQueue, LeasedStep, Outcome, QueueClaim, StepResult
from memory.redis.lua import ScriptCall, lua_script, named

DAY_S = 24 * 3600.0
LONGEST_DAYS = 36_500
PAGE = 100
"""Messages, or turns of the ledger, of one step: a few milliseconds of the store."""
BACKLOG = 500
"""Entries of index work that may wait before a step: new messages are behind them."""
LEASE_S = 15.0
"""After a crash another worker goes on within this time."""
REFILL_S = 3600.0
"""Time between two looks at the registered contexts."""
PATIENCE_S = 60.0
"""Time that a walk waits for the turns of its context. After it messages go while a turn is running."""
REST = 1.0
"""Rest after a step, by its own duration: a walk takes at most half of the time of the store."""
LEAST_REST_S, BUSY_REST_S = 0.002, 0.1
_BUSY = "busy"
_FACTS = "facts"
_HUSK_TOKENS = 6
_REGISTERED_AT_ONCE = 500
_SCRIPTS = "memory.redis.scripts"

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionChoice:
    """What people have chosen for one context. `days` is 0 for no limit of theirs."""

    days: int = 0
    keeps_facts: bool = False
    """True if facts may outlive the messages that they rest on."""

    def __str__(self) -> str:
        return f"{self.days} {_FACTS}" if self.keeps_facts else str(self.days)

    def days_within(self, most: int) -> int:
        """Return the days that count: the shorter of this choice and the operator's limit. 0 is for ever."""
        return min(filter(None, (self.days, most)), default=0)


def parse_choice(text: str) -> RetentionChoice:
    """Return the choice that the store has; a text that cannot be read is none."""
    number, _, rest = text.partition(" ")
    days = int(number) if number.isascii() and number.isdigit() else 0
    return RetentionChoice(days=min(days, LONGEST_DAYS), keeps_facts=rest == _FACTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expiry:
    """The way in which scripts drop messages that are too old."""

    now: float
    summarize_at: float
    """Time at which a conversation that loses its summary is due: after the walk, which would make it stale."""
    keeps_facts: bool
    waits: bool
    """True to wait for a turn that is running: it may be using the messages."""
    husks: Mapping[str, str] = field(default_factory=dict[str, str])
    """Message id → its JSON without a word, for each message on which a kept fact rests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordPage:
    """A page of the ledger to go through."""

    after: str = "-inf"
    """Last sequence of the page before; "" after the end."""
    limit: int = PAGE
    husk: str = EXPIRED
    before: float
    """Talk and dead letters of earlier times go (Unix seconds)."""
    oldest: str
    """Time of the oldest message that stays; "" if there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiredPage:
    """A page of a history: its messages that are too old."""

    epoch: int
    before: float
    last: str
    """Sequence of the page's last message; "" after the end."""
    ids: tuple[str, ...]
    husks: Mapping[str, str]
    oldest: float | None
    """Time of the oldest message that stays."""
    index_work: int


class RetentionQueue(LeasedQueue):
    """Contexts whose old messages are looked for. Every registered context is in it."""

    name = "retain"
    failures = "retention_failures"

    async def refill(self, partition: int, *, is_first: bool) -> None:
        """Queue each registered context that is not queued, for now. The others are due within a day at the latest.

        The clock may have been ahead. With `is_first` they are due after the longest lease that somebody may hold: the
        limit or the store may be another one.
        """
        now, key = self._clock(), partition_key(partition, self.name)
        most_s = LEASE_S if is_first else DAY_S
        cursor: str | int = 0
        while True:
            cursor, entries = await self._redis.call(
                "HSCAN", partition_key(partition, "contexts"), cursor, "COUNT", _REGISTERED_AT_ONCE
            )
            if contexts := list(dict(entries)):
                due = [each for context in contexts for each in (now, context)]
                latest = [each for context in contexts for each in (now + most_s, context)]
                await self._redis.calls([("ZADD", key, "NX", *due), ("ZADD", key, "XX", "LT", *latest)])
            if not int(cursor):
                return

    async def choice(self, ref: ContextRef) -> RetentionChoice:
        """Return what people have chosen."""
        return parse_choice(await self._redis.call("HGET", context_key(ref, "choices"), "retention") or "")

    async def choose(self, ref: ContextRef, choice: RetentionChoice) -> None:
        """Keep the choice, also over resets, and queue the context for now. Repeating is harmless."""
        queue = partition_key(ref.partition, self.name)
        await self._redis.calls(
            [
                ("HSET", context_key(ref, "choices"), "retention", str(choice)),
                ("ZADD", queue, 0, ref.context_id),
            ]
        )

    async def count_expired(self, ref: ContextRef, *, days: int) -> int:
        """Count the messages that are older than this."""
        count, last = 0, str(BEFORE_ALL)
        while last:
            page = await self.read(ref, after=last, days=days, now=self._clock())
            count, last = count + len(page.ids), page.last
        return count

    async def read(
        self, ref: ContextRef, *, after: str, days: int, now: float, keeps_facts: bool = True
    ) -> ExpiredPage:
        """Return the page behind this sequence. With `keeps_facts` messages on which facts rest get husks.

        A husk itself is not too old, until its last fact has gone.
        """
        call = read_expired(ref, after=after, now=now, age=days * DAY_S, limit=PAGE)
        reply = named(await self._redis.run(call))
        ids: list[str] = []
        husks: dict[str, str] = {}
        for message_id, line in zip(reply["ids"], reply["cited"], strict=True):
            message = parse_json(Message, line) if line and keeps_facts else None
            if message is None or message.note != EXPIRED:
                ids.append(message_id)
            if message is not None and message.note != EXPIRED:
                husks[message_id] = dump_message(_husk(message))
        return ExpiredPage(
            epoch=int(reply.get("epoch", 0)),
            before=float(reply["before"]),
            last=reply.get("last", ""),
            ids=tuple(ids),
            husks=husks,
            oldest=float(reply["oldest"]) if "oldest" in reply else None,
            index_work=int(reply["index_work"]),
        )

    async def expire(self, ref: ContextRef, page: ExpiredPage, expiry: Expiry) -> RecordCounts | None:
        """Drop the page's messages and count what went; None if a turn is running. Raises Forgotten after a reset."""
        reply = await self._redis.run(
            expire_messages(
                ref, expected_epoch=page.epoch, ids=page.ids, expiry=replace(expiry, husks=page.husks)
            )
        )
        return None if reply == _BUSY else RecordCounts(**parse_json(Deletion, reply).by_name())

    async def expire_records(
        self, ref: ContextRef, page: RecordPage, expiry: Expiry, *, epoch: int
    ) -> tuple[str, RecordCounts] | None:
        """Drop the page's turns that quote what has gone; return its last sequence, "" at the end, and counts.

        None if a turn is running. Raises Forgotten after a reset.
        """
        reply: Any = await self._redis.run(
            expire_records(ref, expected_epoch=epoch, page=page, expiry=expiry)
        )
        if reply == _BUSY:
            return None
        last, turns, artifacts, summaries, talk = reply
        counts = RecordCounts(ledger_turns=turns, artifacts=artifacts, summaries=summaries, talk=talk)
        return str(last), counts

    async def finish(self, claim: QueueClaim) -> None:
        """End the claim: the context is due again in a day. One without messages leaves the queue until `refill`."""
        ref = claim.ref
        if not await self._redis.call("EXISTS", context_key(ref, "order"), context_key(ref, "talk")):
            key = partition_key(ref.partition, self.name)
            await self._redis.call("ZREM", key, ref.context_id)
            return
        await self.renew(claim, lease_s=DAY_S)


@dataclass(slots=True, kw_only=True)
class RetentionResult(StepResult):
    """Progress and result of a walk."""

    counts: RecordCounts = field(default_factory=RecordCounts)
    longest_s: float = 0.0
    """Duration of the longest request to the store."""


class Retention(LeasedStep[RetentionResult]):
    """Goes through one context. The limit is the shorter of the operator's and of what people have chosen."""

    def __init__(
        self,
        queue: RetentionQueue,
        *,
        most_days: int,
        partition: int,
        clock: Callable[[], float],
        rest: Callable[[float], Awaitable[object]] = asyncio.sleep,
        lease_s: float = LEASE_S,
    ) -> None:
        """`most_days` is the operator's limit, 0 for none."""
        super().__init__(queue, RetentionResult, partition=partition, lease_s=lease_s)
        self._queue = queue
        self._most_days = most_days
        self._clock = SteadyClock(clock)
        self._rest = rest
        self._refill_at: float | None = None

    async def step(self) -> RetentionResult:
        """See LeasedStep. Now and then all registered contexts are queued before."""
        if self._refill_at is None or monotonic() >= self._refill_at:
            await self._queue.refill(self._partition, is_first=self._refill_at is None)
            self._refill_at = monotonic() + REFILL_S
        return await super().step()

    async def work(self, lease: Lease, result: RetentionResult) -> Outcome:
        """Walk through the messages, then through what tells them."""
        ref = lease.claim.ref
        choice = await self._queue.choice(ref)
        days = choice.days_within(self._most_days)
        if days:
            walk = _Walk(
                self._queue,
                ref,
                result,
                days=days,
                keeps_facts=choice.keeps_facts,
                clock=self._clock,
                rest=self._rest,
            )
            await lease.run(walk.run(), name="expire")
        result.messages = result.counts.messages
        return "expired" if result.counts.total else "not_due"

    async def finish(self, claim: QueueClaim, result: RetentionResult) -> None:
        """Queue the context for the next day."""
        await self._queue.finish(claim)


async def expire_undisturbed(
    queue: RetentionQueue, ref: ContextRef, *, most_days: int, clock: Callable[[], float]
) -> int:
    """Drop everything that is too old from a context of a store that nobody else uses; return the messages."""
    choice = await queue.choice(ref)
    result = RetentionResult(outcome="expired", ref=ref)
    days = choice.days_within(most_days)
    if days:
        walk = _Walk(queue, ref, result, days=days, keeps_facts=choice.keeps_facts, clock=clock, rest=None)
        await walk.run()
    return result.counts.messages


class _Walk:
    """One walk through a context. Without `rest` it does not wait for index work, because nobody does that work."""

    def __init__(
        self,
        queue: RetentionQueue,
        ref: ContextRef,
        result: RetentionResult,
        *,
        days: int,
        keeps_facts: bool,
        clock: Callable[[], float],
        rest: Callable[[float], Awaitable[object]] | None,
    ) -> None:
        """Without `rest` the walk is alone in the store."""
        self._is_alone = rest is None
        self._queue = queue
        self._ref = ref
        self._result = result
        self._days = days
        self._keeps_facts = keeps_facts
        self._clock = clock
        self._rest = rest or _never_rest
        self._waits_until = monotonic() + PATIENCE_S

    async def run(self) -> None:
        """Drop everything that is too old. Raises Forgotten after a reset."""
        page = await self._read(str(BEFORE_ALL))
        oldest = page.oldest
        while page.last:
            if page.ids:
                self._result.counts += await self._when_idle(partial(self._queue.expire, self._ref, page))
            page = await self._read(page.last)
            oldest = min(filter(None, (oldest, page.oldest)), default=None)
        records = RecordPage(before=page.before, oldest="" if oldest is None else f"{oldest:.3f}")
        expire_records = partial(self._queue.expire_records, self._ref, epoch=page.epoch)
        while records.after:
            last, counts = await self._when_idle(partial(expire_records, records))
            self._result.counts += counts
            records = replace(records, after=last)

    async def _read(self, after: str) -> ExpiredPage:
        """Return the next page, once few enough entries wait for the index."""
        while True:
            began = monotonic()
            page = await self._queue.read(
                self._ref, after=after, days=self._days, now=self._clock(), keeps_facts=self._keeps_facts
            )
            await self._rest_after(began)
            if self._is_alone or not page.ids or page.index_work <= BACKLOG:
                return page
            await self._rest(BUSY_REST_S)

    async def _when_idle(self, drop: Callable[[Expiry], Awaitable[T | None]]) -> T:
        """Run this step once no turn is running in the context, or once the walk has waited for long enough."""
        while True:
            began, now = monotonic(), self._clock()
            expiry = Expiry(
                now=now,
                summarize_at=now + PATIENCE_S,
                keeps_facts=self._keeps_facts,
                waits=began < self._waits_until,
            )
            done = await drop(expiry)
            await self._rest_after(began)
            if done is not None:
                return done
            await self._rest(BUSY_REST_S)

    async def _rest_after(self, began: float) -> None:
        took = monotonic() - began
        self._result.longest_s = max(self._result.longest_s, took)
        await self._rest(max(LEAST_REST_S, REST * took))


async def _never_rest(_: float) -> None:
    pass


class SteadyClock:
    """A wall clock that does not run more than a day ahead of the time that has passed since it was made."""

    def __init__(self, clock: Callable[[], float], *, passed: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._passed = passed
        self._begin = clock() - passed()

    def __call__(self) -> float:
        """Return Unix seconds."""
        return min(self._clock(), self._begin + self._passed() + DAY_S)


def _husk(message: Message) -> Message:
    """Return the place of a message: who wrote it and when."""
    return Message(
        id=message.id,
        role=message.role,
        text="",
        sent_at=message.sent_at,
        tokens=_HUSK_TOKENS,
        sender=message.sender,
        telegram_message_id=message.telegram_message_id,
        note=EXPIRED,
    )


@lua_script(_SCRIPTS)
def read_expired(ref: ContextRef, *, after: str, now: float, age: float, limit: int) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def expire_messages(
    ref: ContextRef, *, expected_epoch: int, ids: tuple[str, ...], expiry: Expiry
) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def expire_records(
    ref: ContextRef, *, expected_epoch: int, page: RecordPage, expiry: Expiry
) -> ScriptCall: ...
