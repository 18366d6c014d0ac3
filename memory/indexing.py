"""The indexer: brings the vectors after the history, from the work that every commit and erasure queues."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from memory.errors import CommandRefused
from memory.keys import ContextRef, work_key
from memory.recall import IndexItem, Recall
from memory.redis_client import RedisClient, load_script
from memory.redis_history import CurrentMessages, is_indexed

GROUP = "indexers"
BATCH = 64
ABANDONED_AFTER_MS = 30_000
"""An entry that another indexer has had for so long is taken over; both doing it is harmless."""
BLOCK_MS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexResult:
    """What one step did: messages made findable, vectors erased, messages passed over (gone, or refused)."""

    indexed: int = 0
    erased: int = 0
    skipped: int = 0


class CurrentHistory(Protocol):
    """The truth that the index follows."""

    async def get_current(
        self, wanted: Mapping[ContextRef, Collection[str]]
    ) -> Mapping[ContextRef, CurrentMessages]: ...


class Indexer:
    """One consumer of one partition's work. Several may run, in one process or many; repeating is harmless.

    The entry of a message stays in the stream until its vector is as the history wants it, so a crash or an
    outage delays and loses nothing.
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
    ) -> None:
        self._redis = redis
        self._history = history
        self._recall = recall
        self._partition = partition
        self._consumer = consumer
        self._block_ms = block_ms

    async def step(self) -> IndexResult:
        """Do a batch of work; waits up to `block_ms` for some. Erasures come first: they need no embedder.

        Raises RecallUnavailable (the work stays queued: back off, then call again) and StoreUnavailable.
        """
        plan = _plan(await self._take(), self._partition)
        erased = await self._erase(plan)
        await self._finish(plan.erasing)
        indexed, late = await self._index(plan.index)
        await self._finish(plan.indexing)
        skipped = len(plan.index) - indexed + plan.unknown
        return IndexResult(indexed=indexed, erased=erased + late, skipped=skipped)

    async def leave(self) -> None:
        """Take this consumer out of the group, unless entries are still in its name. Raises StoreUnavailable."""
        script = load_script("memory.scripts", "leave_work")
        try:
            await self._redis.run(script, [work_key(self._partition)], [GROUP, self._consumer])
        except CommandRefused as refusal:
            if "NOGROUP" not in str(refusal):  # it never had work
                raise

    async def _take(self) -> list["_Entry"]:
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

    async def _read(self) -> list["_Entry"]:
        """Our unfinished entries and abandoned ones first, filled up with new ones, so that none starves."""
        key = work_key(self._partition)
        ours = ("XREADGROUP", "GROUP", GROUP, self._consumer, "COUNT")
        takeover = ("XAUTOCLAIM", key, GROUP, self._consumer, ABANDONED_AFTER_MS, "0-0", "COUNT", BATCH)
        _, reply = await self._redis.calls([(*takeover, "JUSTID"), (*ours, BATCH, "STREAMS", key, "0")])
        entries = _parse_entries(reply)
        room = BATCH - len(entries)
        if room == 0:
            return entries
        waiting = () if entries else ("BLOCK", self._block_ms)
        return entries + _parse_entries(await self._redis.call(*ours, room, *waiting, "STREAMS", key, ">"))

    async def _erase(self, plan: "_Plan") -> int:
        erased = 0
        for ref, epoch in plan.erase.items():
            erased += (await self._recall.erase(ref, below_epoch=epoch)).found
        return erased + await self._drop(plan.drop)

    async def _index(self, wanted: Collection["_Target"]) -> tuple[int, int]:
        """How many are findable now, and how many vectors turned out not to be wanted and were erased.

        What was deleted, edited or reset while its vector was made must not leave that vector: the history is
        read again until it is as it was before the writing. All that it does not want is dropped, not only what
        we wrote: an indexer that died between its write and its second look has left some.
        """
        findable: set[_Target] = set()
        erased = 0
        unsettled = wanted
        while unsettled:
            before = await self._items(unsettled)
            findable.difference_update(unsettled)
            erased += await self._drop(target for target in unsettled if target not in before)
            findable |= {_target(item) for item in await self._recall.index(list(before.values()))}
            after = await self._items(unsettled)
            unsettled = [target for target in unsettled if after.get(target) != before.get(target)]
        return len(findable), erased

    async def _items(self, targets: Collection["_Target"]) -> dict["_Target", IndexItem]:
        """Those that the history has now, in the epoch that they were written in."""
        ids: dict[ContextRef, list[str]] = {}
        for target in targets:
            ids.setdefault(target.ref, []).append(target.message_id)
        current = await self._history.get_current(ids)
        items: dict[_Target, IndexItem] = {}
        for target in targets:
            kept = current[target.ref]
            message = kept.messages.get(target.message_id)
            if message is not None and kept.epoch == target.epoch and is_indexed(message):
                items[target] = IndexItem(ref=target.ref, epoch=target.epoch, message=message)
        return items

    async def _drop(self, targets: Iterable["_Target"]) -> int:
        ids: dict[tuple[ContextRef, int], list[str]] = {}
        for target in targets:
            ids.setdefault((target.ref, target.epoch), []).append(target.message_id)
        found = 0
        for (ref, epoch), message_ids in ids.items():
            found += (await self._recall.drop(ref, epoch=epoch, message_ids=message_ids)).found
        return found

    async def _finish(self, entry_ids: Sequence[str]) -> None:
        if entry_ids:
            script = load_script("memory.scripts", "finish_work")
            await self._redis.run(script, [work_key(self._partition)], [GROUP, *entry_ids])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    id: str
    fields: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    """A message in the epoch that it was written in."""

    ref: ContextRef
    epoch: int
    message_id: str


@dataclass(slots=True, kw_only=True)
class _Plan:
    """A batch sorted: what to erase, drop and index (each once), and the entries that ask for it."""

    erase: dict[ContextRef, int] = field(default_factory=dict[ContextRef, int])
    drop: dict[_Target, None] = field(default_factory=dict[_Target, None])
    index: dict[_Target, None] = field(default_factory=dict[_Target, None])
    erasing: list[str] = field(default_factory=list[str])
    indexing: list[str] = field(default_factory=list[str])
    unknown: int = 0


def _plan(entries: Iterable[_Entry], partition: int) -> _Plan:
    plan = _Plan()
    for entry in entries:
        fields = entry.fields
        if (
            not fields.get("context") or not fields.get("epoch", "").isdigit()
        ):  # deleted, or not of our making
            plan.erasing.append(entry.id)
            plan.unknown += 1
            continue
        ref = ContextRef(context_id=fields["context"], partition=partition)
        epoch = int(fields["epoch"])
        if fields.get("op") == "erase":
            plan.erase[ref] = max(epoch, plan.erase.get(ref, 0))
            plan.erasing.append(entry.id)
            continue
        target = _Target(ref=ref, epoch=epoch, message_id=fields.get("id", ""))
        if fields.get("op") == "drop":
            plan.drop[target] = None
            plan.erasing.append(entry.id)
        else:
            plan.index[target] = None
            plan.indexing.append(entry.id)
    return plan


def _target(item: IndexItem) -> _Target:
    return _Target(ref=item.ref, epoch=item.epoch, message_id=item.message.id)


def _parse_entries(reply: Any) -> list[_Entry]:
    streams = cast(list[tuple[str, list[tuple[str, dict[str, str] | None]]]], reply or [])
    return [_Entry(id=number, fields=fields or {}) for _, entries in streams for number, fields in entries]
