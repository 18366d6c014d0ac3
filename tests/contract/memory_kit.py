"""Summaries and ledger turns for tests, and two stores for them: Redis and the fake."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from bot.turn.answer_receipt import AnswerReceipt
from memory.codec import dump_json
from memory.history.ledger import LedgerEntry, LedgerTurn
from memory.history.message import Message
from memory.history.redis_history import RedisHistory
from memory.history.store import HistoryStore
from memory.history.summary import Summary, SummaryFact, SummaryText
from memory.keys import ContextRef, context_key
from memory.leased import QueueClaim
from memory.recall.indexer import CurrentHistory
from memory.redis.client import RedisClient, open_redis
from memory.summary.compressor import RedisSummaries
from tests.fakes.history import InMemoryHistory
from tests.messages import make_receipt

NOW = 1_800_000_000.0
LEASE_S = 60.0


class Store(HistoryStore, Protocol):
    async def start_conversation(self, ref: ContextRef, *, epoch: int) -> int: ...


class TellingStore(Store, CurrentHistory, Protocol):
    """A history store that the indexer can read current messages from."""


@asynccontextmanager
async def open_history(kind: str, redis_url: str) -> AsyncGenerator[TellingStore]:
    """Open an empty history: the fake ("memory") or the one in Redis."""
    if kind == "memory":
        yield InMemoryHistory()
        return
    async with open_redis(redis_url) as redis:
        await redis.call("FLUSHALL")
        yield RedisHistory(redis)


class Memory(Protocol):
    """A history store, with the writes that a HistoryStore does not have."""

    @property
    def store(self) -> Store: ...

    async def add_summary(self, ref: ContextRef, summary: Summary, covers: Sequence[str]) -> None: ...

    async def add_turn(self, ref: ContextRef, turn: LedgerTurn) -> None: ...


class RedisMemory:
    """The store in Redis."""

    def __init__(self, redis: RedisClient) -> None:
        self.redis = redis
        self.store = RedisHistory(redis)
        self.clock = Clock()
        self.summaries = RedisSummaries(redis, clock=self.clock)

    async def claim(self, ref: ContextRef) -> QueueClaim:
        """Claim the compression of this context, the only queued one."""
        await self.summaries.queue(ref)
        claim = await self.summaries.claim(ref.partition, lease_s=LEASE_S)
        assert claim is not None
        assert claim.ref == ref
        return claim

    async def add_summary(self, ref: ContextRef, summary: Summary, covers: Sequence[str]) -> None:
        claim = await self.claim(ref)
        snapshot = await self.store.load(ref, limit=0)
        outcome = await self.summaries.save(
            claim, summary, covers, epoch=snapshot.epoch, revision=snapshot.revision
        )
        assert outcome == "saved"
        await self.summaries.finish(claim)

    async def add_summary_of(self, ref: ContextRef, messages: Sequence[Message]) -> None:
        """Add a summary that covers these messages, the first ones of their chat."""
        ids = [message.id for message in messages]
        await self.add_summary(ref, make_summary("s", upto=len(ids) - 1), ids)

    async def add_turn(self, ref: ContextRef, turn: LedgerTurn) -> None:
        await self.redis.call(
            "ZADD", context_key(ref, "ledger"), turn.last_sequence, dump_json(LedgerTurn, turn)
        )
        for artifact in (entry.artifact_id for entry in turn.entries if entry.artifact_id):
            await self.add_artifact(ref, artifact)

    async def add_artifact(self, ref: ContextRef, artifact: str, text: str = "large") -> None:
        key = context_key(ref, "artifact", artifact)
        await self.redis.calls(
            [
                ("HSET", key, "about", "{}", "0", text),
                ("EXPIRE", key, 1000),
                ("ZADD", context_key(ref, "artifacts"), NOW + 1000, artifact),
                ("EXPIRE", context_key(ref, "artifacts"), 1000),
            ]
        )


class FakeMemory:
    """The fake store."""

    def __init__(self) -> None:
        self.store = InMemoryHistory()

    async def add_summary(self, ref: ContextRef, summary: Summary, covers: Sequence[str]) -> None:
        self.store.keep_summary(ref, summary, covers)

    async def add_turn(self, ref: ContextRef, turn: LedgerTurn) -> None:
        self.store.keep_ledger_turn(ref, turn)


@dataclass(slots=True)
class Clock:
    """A clock that the test moves."""

    now: float = NOW

    def __call__(self) -> float:
        return self.now


def make_summary(
    summary_id: str,
    *,
    upto: int,
    after: Summary | None = None,
    start: int = 0,
    overview: str = "They talked.",
) -> Summary:
    """Return a summary up to this sequence that builds on another one."""
    return Summary(
        id=summary_id,
        builds_on=after.id if after else "",
        conversation_start=start,
        from_sequence=after.upto_sequence + 1 if after else start,
        upto_sequence=upto,
        text=SummaryText(overview=overview, facts=(SummaryFact(about="Anna", fact="lives in Lisbon"),)),
        tokens=7,
        model="small",
        created_at=NOW,
    )


def make_turn(first: int, last: int, *, artifact: str = "", output: str = "42") -> LedgerTurn:
    """Return a turn that called one tool."""
    return LedgerTurn(
        first_sequence=first, last_sequence=last, entries=(make_entry(artifact, output=output),)
    )


def make_entry(artifact: str = "", *, output: str = "42", call: str = "call-1") -> LedgerEntry:
    """Return a ledger entry of one tool call."""
    return LedgerEntry(
        id=call,
        kind="tool",
        agent="",
        name="calculator",
        input='{"expression": "6*7"}',
        output=output,
        artifact_id=artifact,
    )


async def write_receipts(redis: RedisClient, *message_ids: str, ref: ContextRef) -> None:
    """Write receipts of these answers as a commit does, with a TTL of a minute."""
    listing = context_key(ref, "receipts")
    for each in message_ids:
        receipt = dump_json(AnswerReceipt, make_receipt(each))
        await redis.call("SET", context_key(ref, "receipt", each), receipt, "EX", 60)
        await redis.call("ZADD", listing, NOW + 60, each)
    await redis.call("EXPIRE", listing, 60)
