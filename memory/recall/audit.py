"""Finds out if the index lacks messages of the history, or has more: after a loss of data, or an old snapshot."""

from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

import structlog

from memory.errors import RecallUnavailable
from memory.history.message import Message, is_indexed
from memory.history.store import BEFORE_ALL, HistoryStore
from memory.keys import ContextRef, context_key, partition_key
from memory.recall.spaces import SpacesRecord
from memory.recall.vector_index import VectorIndex
from memory.redis.client import RedisClient

if TYPE_CHECKING:
    from memory.recall.qdrant.index import FormerCollections

log = structlog.get_logger()

LOOK_EVERY_S = 5.0
"""Pause between two looks at the size of the collection."""
DAILY_S = 24 * 3600.0
SAMPLE = 100
"""Chats that are compared each day. All are compared at the start."""
AGAIN_S = 600.0
"""Least time between two comparisons because the index was away."""
CHATS_AT_ONCE = 50
SMALL = 10_000
"""Points of a collection whose every decrease is looked at: an erasure, or a loss. A larger one must lose half."""
_MESSAGES_AT_ONCE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Messages of one or several chats: those that the index should have, and those of them that it has."""

    expected: int = 0
    found: int = 0
    missing: int = 0
    surplus: frozenset[str] = frozenset()
    """Ids in the index of messages that are gone from the history; of one chat only."""
    has_former: bool = False
    """True if points of a former epoch are in the index: the chat was reset since."""

    @property
    def is_same(self) -> bool:
        """Return True if the index has what it should have."""
        return not (self.missing or self.surplus or self.has_former)

    def __add__(self, other: "Comparison") -> "Comparison":
        return Comparison(
            expected=self.expected + other.expected,
            found=self.found + other.found,
            missing=self.missing + other.missing,
            surplus=self.surplus | other.surplus,
            has_former=self.has_former or other.has_former,
        )


class IndexAudit:
    """Compares the serving index with the history, chat by chat. Raises StoreUnavailable and RecallUnavailable."""

    def __init__(self, redis: RedisClient, history: HistoryStore, *, partitions: int) -> None:
        self._redis = redis
        self._history = history
        self._partitions = partitions

    async def list_chats(self) -> list[ContextRef]:
        """Return all registered contexts."""
        return [
            ContextRef(context_id=each, partition=partition)
            for partition in range(self._partitions)
            for each in await self._redis.call("HKEYS", partition_key(partition, "contexts"))
        ]

    async def compare(self, ref: ContextRef, index: VectorIndex, *, is_thorough: bool = False) -> Comparison:
        """Compare one chat, by numbers if they agree, else message by message. Messages that wait count as found.

        `is_thorough` finds points of former epochs too.
        """
        kept, epoch = await self._redis.calls(
            [("ZCARD", context_key(ref, "order")), ("GET", context_key(ref, "epoch"))]
        )
        if not is_thorough and kept == await index.count_messages(ref.context_id, epoch=int(epoch or 0)):
            return Comparison(expected=kept, found=kept)
        return await self._compare_each(ref, int(epoch or 0), index)

    async def find_unregistered(self, context_ids: Collection[str]) -> dict[ContextRef, int]:
        """Return the contexts among these that are ours and not registered, because of a reset, with their epochs."""
        unknown = sorted(set(context_ids) - {ref.context_id for ref in await self.list_chats()})
        refs = [
            ContextRef(context_id=each, partition=partition)
            for partition in range(self._partitions)
            for each in unknown
        ]
        found: dict[ContextRef, int] = {}
        for start in range(0, len(refs), _MESSAGES_AT_ONCE):
            page = refs[start : start + _MESSAGES_AT_ONCE]
            epochs = await self._redis.calls([("GET", context_key(ref, "epoch")) for ref in page])
            found |= {ref: int(epoch) for ref, epoch in zip(page, epochs, strict=True) if epoch}
        return found

    async def compare_all(self, index: VectorIndex, *, is_thorough: bool = False) -> Comparison:
        """Compare every chat."""
        total = Comparison()
        for ref in await self.list_chats():
            total += await self.compare(ref, index, is_thorough=is_thorough)
        return total

    async def _compare_each(self, ref: ContextRef, epoch: int, index: VectorIndex) -> Comparison:
        # In this order: a message of the history either waits, or is in the index after that, or is missing.
        async with aclosing(self._messages(ref)) as messages:
            ids = {message.id async for message in messages if is_indexed(message)}
        waiting = await self._waiting(ref)
        points = await index.list_points(ref.context_id)
        own = {each.message_id for each in points if each.epoch == epoch and not each.slot}
        surplus = {each.message_id for each in points if each.epoch == epoch} - ids - waiting
        if surplus:  # messages that came meanwhile
            async with aclosing(self._messages(ref)) as messages:
                surplus -= {message.id async for message in messages if is_indexed(message)}
        if int(await self._redis.call("GET", context_key(ref, "epoch")) or 0) != epoch:
            return Comparison()  # it was reset meanwhile
        missing = ids - own - waiting
        return Comparison(
            expected=len(ids),
            found=len(ids) - len(missing),
            missing=len(missing),
            surplus=frozenset(surplus),
            has_former=any(each.epoch < epoch for each in points),
        )

    async def _messages(self, ref: ContextRef) -> AsyncGenerator[Message]:
        after = BEFORE_ALL
        while page := await self._history.page(
            ref, after_sequence=after, limit=_MESSAGES_AT_ONCE, whole=True
        ):
            for message in page:
                yield message
            after = page[-1].sequence or 0

    async def _waiting(self, ref: ContextRef) -> set[str]:
        """Return the ids of the context's messages that wait for an indexer."""
        found: set[str] = set()
        start = "-"
        while True:
            command = ("XRANGE", partition_key(ref.partition, "work"), start, "+", "COUNT", _MESSAGES_AT_ONCE)
            rows: Sequence[tuple[str, dict[str, str] | None]] = await self._redis.call(*command)
            for _, fields in rows:
                if fields and fields.get("context") == ref.context_id:
                    found.add(fields.get("id", ""))
            if len(rows) < _MESSAGES_AT_ONCE:
                return found
            start = f"({rows[-1][0]}"


class IndexWatch:
    """Decides when to compare: at the start, each day for a sample, and when the collection seems to have lost data.

    That is when a request found it gone, when it is much smaller than before, and when the index was away. A part of
    the chats is compared at a time, so that a caller can follow the record of the spaces between.
    """

    def __init__(
        self, audit: IndexAudit, collections: "FormerCollections", *, clock: Callable[[], float]
    ) -> None:
        self._audit = audit
        self._collections = collections
        self._clock = clock
        self._random = Random()  # noqa: S311 - a sample
        self._collection = ""
        self._size: int | None = None
        self._look_at = self._daily_at = self._again_at = 0.0
        self._was_away = False
        self._losses = 0
        self._waiting: list[ContextRef] = []

    @property
    def is_comparing(self) -> bool:
        """Return True in the middle of a comparison."""
        return bool(self._waiting)

    def compare_again(self) -> None:
        """Compare everything again at the next look."""
        self._collection = ""

    async def finds_loss(self, record: SpacesRecord, index: VectorIndex) -> bool:
        """Look if it is time, and compare some chats. Return True if the index does not have what it should have.

        An index that is away is looked at later. Raises StoreUnavailable.
        """
        if record.serving is None:
            return False
        try:
            if record.serving.collection == self._collection and index.losses > self._losses:
                self.compare_again()
                self._look_at = 0.0
            self._losses = index.losses
            if not self._waiting and self._clock() >= self._look_at:
                await self._look(record.serving.collection)
            return await self._compare_some(index)
        except RecallUnavailable:
            self._was_away = True
            self._waiting.clear()
            return False

    async def _look(self, collection: str) -> None:
        """Choose the chats to compare."""
        now, size = self._clock(), await self._collections.size(collection)
        self._look_at = now + LOOK_EVERY_S
        is_first = not self._collection
        is_back = self._was_away and now >= self._again_at
        is_smaller = collection == self._collection and self._has_shrunk(size)
        self._was_away = self._was_away and not is_back
        self._collection, self._size = collection, size
        if is_first or is_smaller or is_back:
            self._waiting = await self._audit.list_chats()
            self._again_at = now + AGAIN_S
            self._daily_at = now + DAILY_S
        elif now >= self._daily_at:
            chats = await self._audit.list_chats()
            self._waiting = self._random.sample(chats, min(SAMPLE, len(chats)))
            self._daily_at = now + DAILY_S

    def _has_shrunk(self, size: int | None) -> bool:
        before, now = self._size or 0, size or 0
        return now < (before if before <= SMALL else before / 2)

    async def _compare_some(self, index: VectorIndex) -> bool:
        chats, self._waiting = self._waiting[:CHATS_AT_ONCE], self._waiting[CHATS_AT_ONCE:]
        for ref in chats:
            seen = await self._audit.compare(ref, index)
            if not seen.is_same:
                self._waiting.clear()
                log.warning(
                    "index_differs",
                    collection=self._collection,
                    context=ref.context_id,
                    messages=seen.expected,
                    found=seen.found,
                    hint="the workers index what is missing; the log line index_filled says when it is right again",
                )
                return True
        return False
