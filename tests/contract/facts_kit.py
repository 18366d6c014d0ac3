"""Facts on the real store for tests: messages are committed by turns, and saved facts are found again."""

import time
from dataclasses import dataclass, replace
from typing import Any

from bot.turn.store import Commit, FactsDefault, LaterWork
from memory.facts.queue import FactQueue, FactWork, NewFact
from memory.facts.redis_facts import RedisFacts
from memory.history.fact import Fact
from memory.history.message import Message, Sender
from memory.history.redis_history import RedisHistory
from memory.keys import ContextRef, context_key, partition_key
from memory.leased import QueueClaim
from memory.redis.client import RedisClient
from tests.contract.inbox_kit import Inbox, open_inbox
from tests.contract.memory_kit import Clock
from tests.messages import make_message, make_ref

REF = make_ref()
ANNA, BEN = Sender(id=11, name="Anna"), Sender(id=12, name="Ben")
LEASE_S = 60.0
SOON = 301.0
"""Seconds after which unread messages are due."""


def said(message_id: str, text: str = "I live in Lisbon", by: Sender = ANNA, **details: Any) -> Message:
    """Return a message of a person."""
    return replace(make_message(message_id, text), sender=by, **details)


def answered(message_id: str, text: str = "Nice!") -> Message:
    """Return an answer."""
    return make_message(message_id, text, role="assistant")


def told(statement: str, *message_ids: str, by: Sender = ANNA, **details: Any) -> NewFact:
    """Return a new fact about its writer."""
    fact = NewFact(
        subject=by.name,
        subject_id=by.id,
        statement=statement,
        said_by=by.id,
        message_ids=message_ids,
        valid_from=1000.0,
        confidence=0.9,
    )
    return replace(fact, **details)


@dataclass(frozen=True, slots=True, kw_only=True)
class FactStore:
    """Facts, their queue, and turns that commit messages."""

    redis: RedisClient
    clock: Clock
    facts: RedisFacts
    queue: FactQueue
    history: RedisHistory
    inbox: Inbox
    updates: list[int]

    async def commit(
        self, *messages: Message, facts: FactsDefault = "on", chat: int = 1, epoch: int = 0, **changes: Any
    ) -> None:
        """Commit a turn with these messages at the clock's time."""
        self.updates.append(len(self.updates) + 1)
        update = self.updates[-1]
        await self.inbox.accept(update, chat)
        claim = await self.inbox.claim_one()
        turn = Commit(
            update_ids=[update], epoch=epoch, messages=messages, later=LaterWork(facts=facts), **changes
        )
        await self.inbox.turns.commit(claim, turn)
        await self.inbox.inbox.settle(claim)

    async def claim(self) -> QueueClaim:
        """Claim the context that is due, after the pause in which its messages wait for others."""
        self.clock.now += SOON
        claim = await self.queue.claim(0, lease_s=LEASE_S)
        assert claim is not None
        return claim

    async def load(self, *, limit: int = 50) -> tuple[QueueClaim, FactWork]:
        """Claim the context that is due, and load its work."""
        claim = await self.claim()
        return claim, await self.queue.load(claim, limit=limit)

    async def save(self, *facts: NewFact) -> list[Fact]:
        """Read what is due, save these facts of it, and return all facts of the context, the newest first."""
        claim, work = await self.load()
        assert await self.queue.save(claim, work, facts) == "saved"
        await self.queue.finish(claim)
        return await self.all_facts(claim.ref)

    async def all_facts(self, ref: ContextRef = REF) -> list[Fact]:
        """Return all facts of a context, the newest first."""
        return list((await self.facts.list(ref)).facts)

    async def cited(self, ref: ContextRef = REF) -> dict[str, str]:
        """Return the index of the facts by message."""
        return dict(await self.redis.call("HGETALL", context_key(ref, "cited")))

    async def unread(self, ref: ContextRef = REF) -> list[str]:
        """Return the ids of the unread messages, oldest first."""
        return list(await self.redis.call("ZRANGE", context_key(ref, "unread"), 0, -1))

    async def work(self) -> list[tuple[str, str]]:
        """Return the index work as pairs of operation and message, and forget it."""
        key = partition_key(0, "work")
        entries = await self.redis.call("XRANGE", key, "-", "+")
        await self.redis.call("DEL", key)
        return [(each["op"], each.get("id", "")) for _, each in entries]


async def open_facts(redis: RedisClient, *, tokens_per_day: int = 0) -> FactStore:
    """Open an empty store of facts with a clock of its own."""
    inbox, clock = await open_inbox(redis, box_limit=1000), Clock()
    return FactStore(
        redis=redis,
        clock=clock,
        facts=RedisFacts(redis, clock=clock),
        queue=FactQueue(redis, clock=clock, tokens_per_day=tokens_per_day),
        history=RedisHistory(redis),
        inbox=replace(inbox, turns=type(inbox.turns)(redis, clock=clock)),
        updates=[],
    )


async def learn(redis: RedisClient, ref: ContextRef, told: Message, statement: str) -> None:
    """Save a fact of Anna's message as a worker does."""
    queue = FactQueue(redis, clock=time.time, tokens_per_day=0)
    await redis.call("ZADD", context_key(ref, "unread"), told.sequence or 0, told.id)
    await redis.call("ZADD", partition_key(ref.partition, "extract"), 0, ref.context_id)
    claim = await queue.claim(ref.partition, lease_s=60)
    assert claim is not None
    fact = NewFact(
        subject="Anna",
        subject_id=7,
        statement=statement,
        said_by=7,
        message_ids=(told.id,),
        valid_from=told.sent_at,
        confidence=0.9,
    )
    assert await queue.save(claim, await queue.load(claim, limit=10), [fact]) == "saved"
    await queue.finish(claim)
