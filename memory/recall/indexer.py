"""The indexer: brings the vectors after the history, from the work that every commit and erasure queues."""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from memory.errors import CommandRefused, RecallUnavailable
from memory.history.message import Message, is_indexed
from memory.history.store import CurrentMessages
from memory.keys import ContextRef, walk_key, work_key
from memory.recall.embedders.embedder import EmbeddingUnavailable
from memory.recall.index_work import Target, WorkEntry, WorkPlan, parse_entries, parse_rows, plan_work
from memory.recall.recall import IndexItem, Recall
from memory.recall.spaces import Space
from memory.redis.client import RedisClient, load_script

GROUP = "indexers"
BATCH = 64
ABANDONED_AFTER_MS = 30_000
"""An entry that another indexer has had for so long is taken over; both doing it is harmless."""
BLOCK_MS = 2_000
HELD_UP_AT_MOST = 8
"""So often an embedder that is away may fail at a batch; from then on it is asked whether one message is at fault."""
PEEKED = 512
"""Entries behind a batch that are looked through at a time for some that erase."""
PAUSED_MS = 200
"""How long a process that takes no work waits before it looks whether that has changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexResult:
    """What one step did: messages made findable, vectors erased, messages passed over, which are gone.

    `reindexed` of those that were indexed were queued by the walk of a re-indexing.
    """

    indexed: int = 0
    reindexed: int = 0
    erased: int = 0
    skipped: int = 0


class CurrentHistory(Protocol):
    """The truth that the index follows."""

    async def get_current(
        self, wanted: Mapping[ContextRef, Collection[str]]
    ) -> Mapping[ContextRef, CurrentMessages]: ...


class SpaceMoved(RecallUnavailable):
    """Messages belong into another space than this process has written: the work is done again."""


class Indexer:
    """One consumer of one partition's work. Several may run, in one process or many; repeating is harmless.

    The entry of a message stays in the stream until its vector is as the history wants it, in the space where
    messages belong; so a crash, an outage or a change of the space delays and loses nothing. While this process
    cannot write that space (`Spaces.takes_work`) it takes no work.
    """

    def __init__(
        self,
        *,
        redis: RedisClient,
        history: CurrentHistory,
        recall: Recall,
        partition: int,
        consumer: str,
        block_ms: int = BLOCK_MS,
        abandoned_after_ms: int = ABANDONED_AFTER_MS,
    ) -> None:
        self._redis = redis
        self._history = history
        self._recall = recall
        self._partition = partition
        self._consumer = consumer
        self._block_ms = block_ms
        self._abandoned_after_ms = abandoned_after_ms
        self._held_up = 0
        self._peeked_to = "-"

    async def step(self) -> IndexResult:
        """Do a batch of work; waits up to `block_ms` for some. Erasures come first: they need no embedder.

        Raises RecallUnavailable (the work stays queued: back off, then call again) and StoreUnavailable.
        """
        if not self._recall.spaces.takes_work:
            await asyncio.sleep(min(self._block_ms, PAUSED_MS) / 1000)
            return IndexResult()
        plan = plan_work(await self._take(), self._partition)
        erased = await self._erase(plan)
        await self._finish(plan.erasing, ())
        written = self._recall.spaces.written
        findable, late = await self._index(plan.index, written)
        await self._finish(plan.indexing, written)
        return IndexResult(
            indexed=len(findable),
            reindexed=sum(bool(plan.index[target]) for target in findable),
            erased=erased + late,
            skipped=len(plan.index) - len(findable) + plan.unknown,
        )

    async def leave(self) -> None:
        """Take this consumer out of the group, unless entries are still in its name. Raises StoreUnavailable."""
        script = load_script("memory.redis.scripts", "leave_work")
        try:
            await self._redis.run(script, [work_key(self._partition)], [GROUP, self._consumer])
        except CommandRefused as refusal:
            if "NOGROUP" not in str(refusal):  # it never had work
                raise

    async def _take(self) -> list[WorkEntry]:
        try:
            return await self._read()
        except CommandRefused as refusal:
            if "NOGROUP" not in str(refusal):
                raise
        await self._create_group()
        return await self._read()

    async def _create_group(self) -> None:
        try:
            await self._redis.call("XGROUP", "CREATE", work_key(self._partition), GROUP, "0", "MKSTREAM")
        except CommandRefused as refusal:
            if "BUSYGROUP" not in str(refusal):  # another indexer made it at the same time
                raise

    async def _read(self) -> list[WorkEntry]:
        """Our unfinished entries and abandoned ones first, filled up with new ones, so that none starves."""
        key = work_key(self._partition)
        ours = ("XREADGROUP", "GROUP", GROUP, self._consumer, "COUNT")
        takeover = ("XAUTOCLAIM", key, GROUP, self._consumer, self._abandoned_after_ms, "0-0", "COUNT", BATCH)
        _, reply = await self._redis.calls([(*takeover, "JUSTID"), (*ours, BATCH, "STREAMS", key, "0")])
        entries = parse_entries(reply)
        room = BATCH - len(entries)
        if room == 0:
            return entries + await self._erasing_behind()
        waiting = () if entries else ("BLOCK", self._block_ms)
        return entries + parse_entries(await self._redis.call(*ours, room, *waiting, "STREAMS", key, ">"))

    async def _erasing_behind(self) -> list[WorkEntry]:
        """What erases among the work behind a full batch, a page each time: whatever holds up the batch, such as an
        embedder that fails, must not hold up forgetting. Nobody needs to have them in their name: repeating is harmless.
        """
        reply = await self._redis.call(
            "XRANGE", work_key(self._partition), self._peeked_to, "+", "COUNT", PEEKED
        )
        page = parse_rows(reply)
        self._peeked_to = f"({page[-1].id}" if len(page) == PEEKED else "-"
        return [entry for entry in page if entry.erases]

    async def _erase(self, plan: WorkPlan) -> int:
        erased = 0
        for ref, epoch in plan.erase.items():
            erased += (await self._recall.erase(ref, below_epoch=epoch)).found
        return erased + await self._drop(plan.drop)

    async def _index(
        self, wanted: Mapping[Target, str], written: Sequence[Space]
    ) -> tuple[Collection[Target], int]:
        """Those that are findable now, and how many vectors turned out not to be wanted and were erased.

        What was deleted, edited or reset while its vector was made must not leave that vector: the history is
        read again until it is as it was before the writing. All that it does not want is dropped, not only what
        we wrote: an indexer that died between its write and its second look has left some.
        """
        findable: set[Target] = set()
        erased = 0
        unsettled: Collection[Target] = wanted
        while unsettled:
            before = await self._items(unsettled)
            findable.difference_update(unsettled)
            erased += await self._drop(target for target in unsettled if target not in before)
            findable |= await self._write(before, wanted, written)
            after = await self._items(unsettled)
            unsettled = [
                target for target in unsettled if _message(after, target) != _message(before, target)
            ]
        return findable, erased

    async def _write(
        self, items: Mapping[Target, IndexItem], wanted: Mapping[Target, str], written: Sequence[Space]
    ) -> set[Target]:
        """New messages into every space, those of a walk into its own only; what a former walk wants nobody needs."""
        findable: set[Target] = set()
        for name in {wanted[target] for target in items}:
            spaces = [space for space in written if name in ("", space.name)]
            if spaces:
                chosen = [item for target, item in items.items() if wanted[target] == name]
                await self._make_findable(chosen, spaces)
                findable |= {_target(item) for item in chosen}
        return findable

    async def _make_findable(self, items: Sequence[IndexItem], spaces: Sequence[Space]) -> None:
        """A message at which the embedder breaks down each time must not hold up all others for ever."""
        is_patient = self._held_up < HELD_UP_AT_MOST
        try:
            await self._recall.index(items, spaces=spaces, is_patient=is_patient)
        except EmbeddingUnavailable:
            self._held_up += 1
            raise
        self._held_up = 0

    async def _items(self, targets: Collection[Target]) -> dict[Target, IndexItem]:
        """Those that the history has now, in the epoch that they were written in."""
        ids: dict[ContextRef, list[str]] = {}
        for target in targets:
            ids.setdefault(target.ref, []).append(target.message_id)
        current = await self._history.get_current(ids)
        items: dict[Target, IndexItem] = {}
        for target in targets:
            kept = current[target.ref]
            message = kept.messages.get(target.message_id)
            if message is not None and kept.epoch == target.epoch and is_indexed(message):
                session = kept.sessions.get(message.id, 0)
                items[target] = IndexItem(
                    ref=target.ref, epoch=target.epoch, message=message, people=kept.people, session=session
                )
        return items

    async def _drop(self, targets: Iterable[Target]) -> int:
        ids: dict[tuple[ContextRef, int], list[str]] = {}
        for target in targets:
            ids.setdefault((target.ref, target.epoch), []).append(target.message_id)
        found = 0
        for (ref, epoch), message_ids in ids.items():
            found += (await self._recall.drop(ref, epoch=epoch, message_ids=message_ids)).found
        return found

    async def _finish(self, entries: Sequence[WorkEntry], written: Sequence[Space]) -> None:
        """Take the entries off. Raises SpaceMoved, and leaves them, where they were not written as is wanted now."""
        if not entries:
            return
        keys = [work_key(self._partition), walk_key(self._partition)]
        names = [space.name for space in written]
        told = [part for entry in entries for part in (entry.id, entry.build)]
        script = load_script("memory.redis.scripts", "finish_work")
        if not await self._redis.run(script, keys, [GROUP, len(names), *names, *told]):
            raise SpaceMoved


def _message(items: Mapping[Target, IndexItem], target: Target) -> Message | None:
    """The message as it was found. Who else takes part in the talk may change: that needs no second vector."""
    item = items.get(target)
    return None if item is None else item.message


def _target(item: IndexItem) -> Target:
    return Target(ref=item.ref, epoch=item.epoch, message_id=item.message.id)
