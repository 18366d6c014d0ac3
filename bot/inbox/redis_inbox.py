"""The inbox on Redis: accept updates; claim, keep and settle contexts. Each step is one Lua script."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

from pydantic import TypeAdapter

from bot.errors import Fenced
from bot.inbox.records import (
    ATTEMPTS_AT_MOST,
    GROUP,
    ISOLATED_FROM,
    UNCOUNTED_AT_MOST,
    Accepted,
    Arrival,
    Claim,
    Fence,
    Signal,
)
from memory import keys
from memory.errors import CommandRefused
from memory.keys import ContextRef, Key
from memory.redis.client import RedisClient
from memory.redis.lua import ScriptCall, lua_script

_SCRIPTS = "bot.inbox.scripts"
TALK_LINES = 1_000
"""Default number of lines of talk to keep of a context."""
_SIGNAL = TypeAdapter(Signal)


@lua_script(_SCRIPTS)
def accept(
    ref: ContextRef, *, update: Key, arrival: Arrival, now: float, limits: Mapping[str, int]
) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def sweep(
    partition: int,
    *,
    who: Mapping[str, str],
    now: float,
    limits: Mapping[str, int],
    prefixes: Mapping[str, str],
    silent: Mapping[str, str],
) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def watch(partition: int, *, group: str, consumer: str, beats: str) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def heartbeat(ref: ContextRef, *, fence: Fence) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def let_others_in(ref: ContextRef, *, fence: Fence) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def uncount(ref: ContextRef, *, fence: Fence, at_most: int) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def settle(ref: ContextRef, *, fence: Fence, context: str, rotate: bool, handed_back: str) -> ScriptCall: ...


@lua_script("memory.redis.scripts")
def leave_group(stream: Key, *, group: str, consumer: str) -> ScriptCall: ...


TRIPS_AT_ONCE = 2
"""More would make smaller groups. With one, a call may wait two seconds for a server that confirms once a second."""
CALLS_PER_TRIP = 64

RunAll = Callable[[Sequence[ScriptCall]], Awaitable[list[Any]]]
"""Runs scripts durably. A script's failure takes the place of its reply."""


class GroupCommit:
    """Sends a call at once if fewer than TRIPS_AT_ONCE trips are under way.

    Later calls go together in the next trip.
    """

    def __init__(self, run_all: RunAll) -> None:
        self._run_all = run_all
        self._waiting: list[tuple[ScriptCall, asyncio.Future[Any]]] = []
        self._under_way = 0
        self._trips: set[asyncio.Task[None]] = set()  # the loop itself keeps tasks by weak references only

    async def run(self, call: ScriptCall) -> Any:
        """Return the script's reply when its writes are on disk. Raises its failure, or that of the whole trip.

        If the caller is cancelled the script may still run.
        """
        reply: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((call, reply))
        if self._under_way < TRIPS_AT_ONCE:
            self._under_way += 1
            trip = asyncio.create_task(self._travel(), name="group-commit")
            self._trips.add(trip)
            trip.add_done_callback(self._trips.discard)
        return await reply

    async def _travel(self) -> None:
        try:
            while self._waiting:
                calls, replies = zip(*self._waiting[:CALLS_PER_TRIP], strict=True)
                del self._waiting[:CALLS_PER_TRIP]
                await self._take_along(calls, replies)
        finally:
            self._under_way -= 1

    async def _take_along(self, calls: Sequence[ScriptCall], replies: Sequence[asyncio.Future[Any]]) -> None:
        outcomes: list[Any]
        try:
            outcomes = await self._run_all(calls)
        except asyncio.CancelledError:
            for reply in replies:
                reply.cancel()
            raise
        except Exception as error:  # noqa: BLE001 — raised in each caller
            outcomes = [error] * len(calls)
        for reply, outcome in zip(replies, outcomes, strict=True):
            if reply.done():  # its caller was cancelled
                continue
            if isinstance(outcome, Exception):
                reply.set_exception(outcome)
            else:
                reply.set_result(outcome)


@dataclass(slots=True)
class RedisInbox:
    """The inbox of all partitions. Times are Unix seconds from `clock`."""

    redis: RedisClient
    _: KW_ONLY
    partitions: int
    box_limit: int
    clock: Callable[[], float]
    talk_limit: int = TALK_LINES
    version: str = ""
    """Of the program. Workers are listed as alive with it, or not at all without one."""
    _limits: Mapping[str, int] = field(init=False)
    _doors: Sequence[GroupCommit] = field(init=False)

    def __post_init__(self) -> None:
        self._limits = {
            "box": self.box_limit,
            "talk": self.talk_limit,
            "stop_ttl": keys.STOP_TTL_S,
            "talk_ttl": keys.TALK_TTL_S,
        }
        self._doors = [GroupCommit(self.redis.run_all_durably) for _ in range(self.partitions)]

    async def open(self) -> None:
        """Create the consumer groups. They begin at 0, so that they include what was accepted before them."""
        for partition in range(self.partitions):
            try:
                await self.redis.call(
                    "XGROUP", "CREATE", keys.partition_key(partition, "ready"), GROUP, "0", "MKSTREAM"
                )
            except CommandRefused as error:
                if "BUSYGROUP" not in str(error):
                    raise

    async def accept(self, arrival: Arrival) -> Accepted:
        """Store one update durably. It is on disk when this returns, unless the outcome is `full`.

        A duplicate changes nothing. Raises StoreUnavailable or StoreFull. The update may be stored even then, and
        Telegram's next try is a duplicate.
        """
        partition = arrival.ref.partition
        update = keys.partition_key(partition, "update", arrival.update_id)
        call = accept(arrival.ref, update=update, arrival=arrival, now=self.clock(), limits=self._limits)
        outcome: Accepted = await self._doors[partition].run(call)
        return outcome

    async def claim(self, partition: int, *, consumer: str, count: int, wait_ms: int) -> list[Claim]:
        """Claim up to `count` waiting contexts. Wait up to `wait_ms` (less than 5,000) for the first one."""
        stream = keys.partition_key(partition, "ready")
        try:
            reply = await self.redis.call(
                *("XREADGROUP", "GROUP", GROUP, consumer, "COUNT", count, "BLOCK", wait_ms),
                *("STREAMS", stream, ">"),
            )
        except CommandRefused as error:
            if "NOGROUP" not in str(error):
                raise
            await self.open()  # somebody emptied the store
            return []
        claims: list[Claim] = []
        for entry, fields in _entries(reply):
            fence = Fence(group=GROUP, consumer=consumer, entry=entry, delivery="1")
            claims.append(
                Claim(ref=ContextRef(context_id=fields["context"], partition=partition), fence=fence)
            )
        return claims

    async def watch(self, *, consumer: str) -> list[dict[str, str]]:
        """Return the last heartbeats of the other workers that hold contexts, for each partition."""
        calls = [
            watch(partition, group=GROUP, consumer=consumer, beats=keys.partition_key(partition, "beat", ""))
            for partition in range(self.partitions)
        ]
        return [dict(rows) for rows in await self.redis.run_all(calls)]

    async def sweep(
        self,
        partition: int,
        *,
        consumer: str,
        count: int,
        idle_ms: int,
        silent: Mapping[str, str] | None = None,
    ) -> list[Claim]:
        """Take over up to `count` contexts whose worker gave no sign of life for `idle_ms`.

        The contexts of `silent` workers come first, if their last heartbeats are still these. The sweep of the first
        partition also lists this worker as alive, for as long.
        """
        call = sweep(
            partition,
            who={"group": GROUP, "consumer": consumer, "worker": "" if partition else self._worker(consumer)},
            now=self.clock(),
            limits={
                "idle_ms": idle_ms,
                "count": count,
                "attempts": ATTEMPTS_AT_MOST,
                "isolated_from": ISOLATED_FROM,
            },
            prefixes=keys.key_prefixes(partition),
            silent=silent or {},
        )
        claims: list[Claim] = []
        for entry, context, delivery, deaths in await self.redis.run(call):
            ref = ContextRef(context_id=context, partition=partition)
            fence = Fence(group=GROUP, consumer=consumer, entry=entry, delivery=delivery)
            claims.append(Claim(ref=ref, fence=fence, deaths=deaths, is_taken_over=True))
        return claims

    async def keep(self, claim: Claim) -> None:
        """Give a sign of life. Raises Fenced if another worker has taken the context over."""
        _check(await self.redis.run(heartbeat(claim.ref, fence=claim.fence)))

    async def let_others_in(self, claim: Claim) -> None:
        """Store that an isolated update does not run alone any more, so that its worker's death proves nothing.

        Raises Fenced if another worker has taken the context over.
        """
        _check(await self.redis.run(let_others_in(claim.ref, fence=claim.fence)))

    async def uncount(self, claim: Claim) -> None:
        """Uncount the attempt of a lost claim, because its worker lives. A repetition changes nothing."""
        await self.redis.run(uncount(claim.ref, fence=claim.fence, at_most=UNCOUNTED_AT_MOST))

    async def settle(self, claim: Claim, *, rotate: bool = False, handed_back: int | None = None) -> bool:
        """End the work on a context. Return True if it has more to do and is still ours.

        If others wait it goes to the end of the line, and always with `rotate` (shutdown). `handed_back` is an update
        whose attempt shall not count. Raises Fenced.
        """
        ref = claim.ref
        back = "" if handed_back is None else keys.partition_key(ref.partition, "update", handed_back)
        call = settle(ref, fence=claim.fence, context=ref.context_id, rotate=rotate, handed_back=back)
        outcome = await self.redis.run(call)
        _check(outcome)
        return outcome == "more"

    async def leave(self, partition: int, *, consumer: str) -> None:
        """Take this consumer out of the group, unless it still holds entries."""
        await self.redis.call("ZREM", keys.partition_key(partition, "workers"), self._worker(consumer))
        await self.redis.run(
            leave_group(keys.partition_key(partition, "ready"), group=GROUP, consumer=consumer)
        )

    def _worker(self, consumer: str) -> str:
        return f"{consumer} {self.version}" if self.version else ""

    async def depth(self, partition: int, *, without: Claim | None = None) -> tuple[int, float]:
        """Return the number of contexts in `ready`, waiting or claimed, and the age of the oldest in seconds.

        The context of the claim `without` is not counted.
        """
        stream = keys.partition_key(partition, "ready")
        count, oldest = await self.redis.calls([("XLEN", stream), ("XRANGE", stream, "-", "+", "COUNT", 2)])
        if without is not None and without.ref.partition == partition:
            count = max(0, int(count) - 1)
            oldest = [entry for entry in oldest if entry[0] != without.fence.entry]
        if not oldest:
            return (int(count), 0.0)
        return (int(count), max(0.0, self.clock() - int(oldest[0][0].partition("-")[0]) / 1000))

    async def last_signal(self, partition: int) -> str:
        """Return the stream id of the newest signal. `signals` can begin after it."""
        newest = await self.redis.call(
            "XREVRANGE", keys.partition_key(partition, "control"), "+", "-", "COUNT", 1
        )
        return newest[0][0] if newest else "0-0"

    async def signals(
        self, partition: int, *, after: str, wait_ms: int
    ) -> tuple[str, list[tuple[str, Signal]]]:
        """Wait for signals after the stream id `after`. Return the last id and pairs of context id and signal."""
        stream = keys.partition_key(partition, "control")
        entries = _entries(await self.redis.call("XREAD", "BLOCK", wait_ms, "STREAMS", stream, after))
        signals = [(fields["context"], _SIGNAL.validate_python(fields)) for _, fields in entries]
        return entries[-1][0] if entries else after, signals


def _check(outcome: str | None) -> None:
    """Raise Fenced for the outcome of a script that another worker's claim has refused."""
    if outcome == "fenced":
        raise Fenced


def _entries(reply: list[list[Any]] | None) -> list[tuple[str, dict[str, str]]]:
    """Return the entries of the one stream in the reply of XREAD; none after the wait."""
    return reply[0][1] if reply else []
