"""An inbox on the real store with its workers, and helpers for common steps."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from bot.inbox.isolation import Slots
from bot.inbox.records import Accepted, Arrival, Claim
from bot.inbox.redis_inbox import RedisInbox
from bot.transport.rich_text import RichText
from bot.turn.delivery import Delivery, Pause, PlanRest, Reachability, Send
from bot.turn.outbox import Part, parse_part, plan_parts
from bot.turn.store import ATTEMPTS_AT_MOST, Commit, Todo, TurnStore
from memory import keys
from memory.history.store import HistorySnapshot
from memory.redis.client import RedisClient
from tests.messages import make_ref
from tests.traffic import Moved, OpenRates

NOW = 1_800_000_000.0
DEADLINE_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbox:
    """The parts under test. Each chat is a context; workers have names."""

    redis: RedisClient
    inbox: RedisInbox
    turns: TurnStore

    async def accept(
        self, update_id: int, chat: int = 1, *, mode: Literal["turn", "stop", "ignored"] = "turn"
    ) -> Accepted:
        """Accept an update whose payload is its number."""
        reason = "not_addressed" if mode == "ignored" else ""
        return await self.inbox.accept(
            Arrival(
                update_id=update_id, ref=make_ref(chat), mode=mode, payload=f"p{update_id}", reason=reason
            )
        )

    async def claim(self, worker: str = "anna", *, count: int = 1) -> list[Claim]:
        return await self.inbox.claim(0, consumer=worker, count=count, wait_ms=1)

    async def claim_one(self, worker: str = "anna") -> Claim:
        (claim,) = await self.claim(worker)
        return claim

    async def sweep(self, worker: str, *, idle_ms: int = 0, count: int = 8) -> list[Claim]:
        """Take over entries that are idle for `idle_ms`, by default at once."""
        return await self.inbox.sweep(0, consumer=worker, count=count, idle_ms=idle_ms)

    async def wear_out(self, claim: Claim) -> Claim:
        """Begin the first update and lose its worker as often as allowed.

        Return the claim of the next worker.
        """
        for _ in range(ATTEMPTS_AT_MOST):
            assert (await self.take(claim)).buried == {}
            (claim,) = [taken for taken in await self.sweep("anna") if taken.ref == claim.ref]
        return claim

    async def take(self, claim: Claim) -> Todo:
        return (await self.turns.take(claim, window=10))[0]

    async def snapshot(self, claim: Claim) -> HistorySnapshot:
        return (await self.turns.take(claim, window=10))[1]

    async def commit(self, claim: Claim, *updates: int, epoch: int = 0, **changes: Any) -> None:
        await self.turns.commit(claim, Commit(update_ids=updates, epoch=epoch, **changes))

    async def record(self, claim: Claim, step: str, value: str = "done", *, epoch: int = 0) -> None:
        await self.turns.record(claim, epoch=epoch, newest_update=1, fields={step: value})

    async def record_of(self, update_id: int) -> dict[str, str]:
        """Return the record of an update."""
        return await self.redis.call("HGETALL", keys.partition_key(0, "update", update_id))

    async def state_of(self, update_id: int) -> tuple[str, str]:
        """Return the state of an update and its reason."""
        record = await self.record_of(update_id)
        return record["state"], record.get("reason", "")

    async def ttl_of(self, key: str) -> int:
        return int(await self.redis.call("TTL", key))

    async def waiting(self, chat: int = 1) -> list[int]:
        """Return the update ids in a chat's box, in order."""
        return [
            int(number)
            for number in await self.redis.call("ZRANGE", keys.context_key(make_ref(chat), "box"), 0, -1)
        ]

    async def outbox(self, chat: int = 1) -> list[Part]:
        lines = await self.redis.call("LRANGE", keys.context_key(make_ref(chat), "outbox"), 0, -1)
        return [parse_part(line) for line in lines]


async def open_inbox(redis: RedisClient, *, box_limit: int = 5, talk_limit: int = 50) -> Inbox:
    """Open an inbox of one partition with a fixed time."""
    await end_blocking_reads_on_time(redis)
    inbox = RedisInbox(redis, partitions=1, box_limit=box_limit, talk_limit=talk_limit, clock=lambda: NOW)
    await inbox.open()
    return Inbox(redis=redis, inbox=inbox, turns=TurnStore(redis, clock=lambda: NOW))


async def end_blocking_reads_on_time(redis: RedisClient) -> None:
    """Make blocking reads end in time.

    An idle server checks its clock five times a second, so a read of 1 ms would take 200.
    """
    await redis.call("CONFIG", "SET", "hz", 100)


def some_parts(*texts: str, update_id: int = 1, chat: int = 1, epoch: int = 0, of: str = "") -> list[Part]:
    """Return parts of a reply, one for each text. `of` is the message that they edit."""
    return plan_parts(
        [RichText(text=text) for text in texts], make_blank(update_id, chat, epoch=epoch, of=of)
    )


def make_blank(
    update_id: int = 1, chat: int = 1, *, epoch: int = 0, of: str = "", reply_to: int | None = None
) -> Part:
    """Return the part of a reply without text."""
    return Part(
        update_id=update_id,
        number=0,
        chat_id=chat,
        thread_id=None,
        reply_to=reply_to,
        rich=RichText(text=""),
        epoch=epoch,
        message_id=of,
    )


async def eventually(holds: Callable[[], bool]) -> None:
    """Return when the condition holds. Raise TimeoutError after DEADLINE_S."""
    async with asyncio.timeout(DEADLINE_S):
        while not holds():  # noqa: ASYNC110 - what is waited for has no event to wait on
            await asyncio.sleep(0.002)


@dataclass(slots=True)
class Clocked:
    """A pause that ends at once and records its length."""

    waits: list[float] = field(default_factory=list[float])
    during: Callable[[], Awaitable[None]] | None = None

    async def __call__(self, seconds: float) -> None:
        self.waits.append(seconds)
        if self.during is not None:
            await self.during()


def open_delivery(
    box: Inbox,
    send: Send,
    *,
    rates: OpenRates | None = None,
    marks: Reachability | None = None,
    moves: Moved | None = None,
    slots: Slots | None = None,
    pause: Pause = asyncio.sleep,
    plan_rest: PlanRest | None = None,
) -> Delivery:
    """Return a delivery from this inbox. By default every call has a budget, and there is one slot."""
    return Delivery(
        store=box.turns,
        send=send,
        rates=rates or OpenRates(),
        marks=marks or Reachability(box.redis, clock=lambda: NOW),
        learn_migration=(moves or Moved()).learn,
        slots=slots or Slots(1),
        pause=pause,
        plan_rest=plan_rest,
    )
