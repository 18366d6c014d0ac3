"""The inbox on Redis: accept at the door; claim, keep, settle for the workers. One Lua script a step."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from bot.errors import Fenced
from bot.inbox.records import ATTEMPTS_AT_MOST, GROUP, Accepted, Arrival, Claim, Fence, Signal
from memory import keys
from memory.errors import CommandRefused
from memory.keys import ContextRef
from memory.redis.client import RedisClient, Script, load_script
from memory.redis.group_commit import GroupCommit
from memory.redis.lua import ScriptCall, lua_script

_SCRIPTS = "bot.inbox.scripts"
HEARD_LINES = 50
"""How many heard lines are kept of a context, unless it is said."""
_FENCE = (_SCRIPTS, "fence")
_HEARD = ("memory.redis.scripts", "heard_lines")


@lua_script(_SCRIPTS)
def heartbeat(ref: ContextRef, *, fence: Fence) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def let_in(ref: ContextRef, *, fence: Fence, prefix: str) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def settle(ref: ContextRef, *, fence: Fence, context: str, rotate: bool, handed_back: str) -> ScriptCall: ...


def inbox_script(name: str, *preludes: tuple[str, str]) -> Script:
    """A script of the inbox after `fence.lua` and other preludes."""
    return load_script(_SCRIPTS, name, _FENCE, *preludes)


class RedisInbox:
    """The inbox of all partitions. Times are Unix seconds from `clock`."""

    def __init__(
        self,
        redis: RedisClient,
        *,
        partitions: int,
        box_limit: int,
        clock: Callable[[], float],
        heard_limit: int = HEARD_LINES,
    ) -> None:
        self._redis = redis
        self._partitions = partitions
        self._box_limit = box_limit
        self._heard_limit = heard_limit
        self._clock = clock
        self._doors = [GroupCommit(redis.run_all_durably) for _ in range(partitions)]

    async def accept(self, arrival: Arrival) -> Accepted:
        """Store one update durably: when this returns, it is on disk (unless `full`).

        A duplicate changes nothing. Raises StoreUnavailable or StoreFull; the update may have been stored
        then, and Telegram's next try is a duplicate.
        """
        ref, nudge = arrival.ref, arrival.nudge
        call = ScriptCall(
            script=inbox_script("accept", _HEARD),
            keys=[
                keys.update_key(ref.partition, arrival.update_id),
                keys.box_key(ref),
                keys.active_key(ref.partition),
                keys.ready_key(ref.partition),
                keys.stop_key(ref),
                keys.control_key(ref.partition),
                keys.heard_key(ref),
                keys.contexts_key(ref.partition),
                keys.unreachable_key(ref.partition),
                keys.telegram_key(ref),
            ],
            arguments=[
                arrival.update_id,
                ref.context_id,
                self._clock(),
                self._box_limit,
                arrival.payload,
                arrival.mode,
                arrival.reason,
                keys.TERMINAL_UPDATE_TTL_S,
                keys.STOP_TTL_S,
                arrival.heard,
                arrival.heard_score,
                self._heard_limit,
                keys.HEARD_TTL_S,
                arrival.registered,
                nudge.kind if nudge else "",
                nudge.telegram_message_id if nudge else 0,
                nudge.sender_id if nudge else 0,
                arrival.chat_id,
                arrival.gate,
            ],
        )
        outcome: Accepted = await self._doors[ref.partition].run(call)
        return outcome

    async def open(self) -> None:
        """Make the consumer groups. They begin at 0, so what was accepted before them is not lost."""
        for partition in range(self._partitions):
            try:
                await self._redis.call("XGROUP", "CREATE", keys.ready_key(partition), GROUP, "0", "MKSTREAM")
            except CommandRefused as error:
                if "BUSYGROUP" not in str(error):
                    raise

    async def claim(self, partition: int, *, consumer: str, count: int, wait_ms: int) -> list[Claim]:
        """Up to `count` contexts that nobody works on, waiting `wait_ms` (below 5,000) for the first."""
        stream = keys.ready_key(partition)
        try:
            reply = await self._redis.call(
                *("XREADGROUP", "GROUP", GROUP, consumer, "COUNT", count, "BLOCK", wait_ms),
                *("STREAMS", stream, ">"),
            )
        except CommandRefused as error:
            if "NOGROUP" not in str(error):
                raise
            await self.open()  # the store was emptied while we ran
            return []
        return [
            _claim(partition, entry, fields["context"], consumer=consumer, delivery="1")
            for entry, fields in _entries(reply)
        ]

    async def sweep(self, partition: int, *, consumer: str, count: int, idle_ms: int) -> list[Claim]:
        """Up to `count` contexts whose worker gave no sign of life for `idle_ms`; they are ours now."""
        any_context = keys.ContextRef(context_id="", partition=partition)
        flat = await self._redis.run(
            inbox_script("sweep"),
            [keys.ready_key(partition)],
            [
                *(GROUP, consumer, idle_ms, count, keys.box_key(any_context)),
                *(keys.update_prefix(partition), ATTEMPTS_AT_MOST, keys.journal_key(any_context)),
                keys.outbox_key(any_context),
            ],
        )
        rows = zip(*(flat[at::6] for at in range(6)), strict=True)
        return [
            replace(
                _claim(partition, entry, context, consumer=consumer, delivery=delivery),
                begun=int(begun),
                reprieved=int(reprieved),
                delivers=delivers == "1",
            )
            for entry, context, delivery, begun, reprieved, delivers in rows
        ]

    async def keep(self, claim: Claim) -> None:
        """A sign of life. Raises Fenced when the context is another worker's by now."""
        if not await self._redis.run(heartbeat(claim.ref, fence=claim.fence)):
            raise Fenced

    async def let_others_in(self, claim: Claim) -> None:
        """Say that others are begun beside this context, which was alone: its worker's death proves nothing against it
        any more. Raises Fenced when it is another worker's by now.
        """
        call = let_in(claim.ref, fence=claim.fence, prefix=keys.update_prefix(claim.ref.partition))
        if not await self._redis.run(call):
            raise Fenced

    async def settle(self, claim: Claim, *, rotate: bool = False, handed_back: int | None = None) -> bool:
        """Let the context rest; True if it has more to do and is still ours.

        Where others wait it goes to the end of the line instead, and with `rotate` always (shutdown);
        `handed_back` names the update whose begun attempt shall not count. Raises Fenced.
        """
        ref = claim.ref
        back = "" if handed_back is None else keys.update_key(ref.partition, handed_back)
        outcome = await self._redis.run(
            settle(ref, fence=claim.fence, context=ref.context_id, rotate=rotate, handed_back=back)
        )
        if outcome == "fenced":
            raise Fenced
        return outcome == "more"

    async def depth(self, partition: int) -> tuple[int, float]:
        """Contexts in the queue, worked on or waiting, and the age in seconds of the oldest entry."""
        stream = keys.ready_key(partition)
        count, oldest = await self._redis.calls([("XLEN", stream), ("XRANGE", stream, "-", "+", "COUNT", 1)])
        if not oldest:
            return (int(count), 0.0)
        return (int(count), max(0.0, self._clock() - int(oldest[0][0].partition("-")[0]) / 1000))

    async def leave(self, partition: int, *, consumer: str) -> None:
        """Take this consumer out of the group, unless entries are still in its name."""
        await self._redis.run(inbox_script("leave"), [keys.ready_key(partition)], [GROUP, consumer])

    async def last_signal(self, partition: int) -> str:
        """The stream id of the newest signal, for `signals` to begin after."""
        newest = await self._redis.call("XREVRANGE", keys.control_key(partition), "+", "-", "COUNT", 1)
        return newest[0][0] if newest else "0-0"

    async def signals(
        self, partition: int, *, after: str, wait_ms: int
    ) -> tuple[str, list[tuple[str, Signal]]]:
        """The signals after stream id `after`: the next `after`, and (context id, signal) pairs."""
        reply = await self._redis.call(
            "XREAD", "BLOCK", wait_ms, "STREAMS", keys.control_key(partition), after
        )
        entries = _entries(reply)
        return (
            entries[-1][0] if entries else after,
            [(fields["context"], _signal(fields)) for _, fields in entries],
        )


def _signal(fields: Mapping[str, Any]) -> Signal:
    """A worker of the version before knew stops only."""
    return Signal(
        kind=fields.get("kind", "stop"),
        update_id=int(fields["update"]),
        telegram_message_id=int(fields.get("message", 0)),
        sender_id=int(fields.get("sender", 0)),
        epoch=int(fields.get("epoch", 0)),
    )


def _claim(partition: int, entry: str, context: str, *, consumer: str, delivery: str) -> Claim:
    ref = keys.ContextRef(context_id=context, partition=partition)
    return Claim(ref=ref, entry=entry, consumer=consumer, delivery=delivery)


def _entries(reply: list[list[Any]] | None) -> list[tuple[str, dict[str, str]]]:
    """The entries of the one stream in an XREAD reply; none when the wait ran out."""
    return reply[0][1] if reply else []
