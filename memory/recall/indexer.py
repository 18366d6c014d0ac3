"""The indexer: makes messages findable and erases vectors, as queued by every commit and erasure."""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, cast

from memory.errors import CommandRefused, RecallUnavailable
from memory.history.message import is_indexed
from memory.history.store import CurrentMessages
from memory.keys import ContextRef, Key, partition_key
from memory.recall.embedders.embedder import EmbeddingError, EmbeddingUnavailable
from memory.recall.recall import IndexItem, Recall
from memory.recall.spaces import Space
from memory.redis.client import RedisClient
from memory.redis.lua import ScriptCall, lua_script

GROUP = "indexers"
BATCH = 64
ABANDONED_AFTER_MS = 30_000
"""Idle time after which an entry is taken over from another indexer. If both do it, no harm is done."""
BLOCK_MS = 2_000
PATIENT_FAILURES = 8
"""Failures of an unavailable embedder at one batch. After that we test if a single message causes them."""
ERASURE_PAGE = 512
"""Entries behind a full batch that are searched for erasures at a time."""
LOOK_BACK_EVERY = 16
"""Steps with new work between two looks for unfinished and abandoned work."""
PAUSED_MS = 200
"""Pause of a process that takes no work, before it looks again."""


@lua_script("memory.redis.scripts")
def finish_work(partition: int, group: str, spaces: Sequence[str], entries: Sequence[str]) -> ScriptCall: ...


@lua_script("memory.redis.scripts")
def leave_group(stream: Key, *, group: str, consumer: str) -> ScriptCall: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexResult:
    """Counts of one step."""

    indexed: int = 0
    """Messages made findable."""
    reindexed: int = 0
    """Those of them that a re-indexing had queued."""
    erased: int = 0
    """Vectors erased."""
    skipped: int = 0
    """Messages that no longer exist, and unreadable entries."""
    is_full: bool = False
    """True if the batch was full, so that more work probably waits."""


class CurrentHistory(Protocol):
    """The history that the index follows."""

    async def get_current(
        self, wanted: Mapping[ContextRef, Collection[str]]
    ) -> Mapping[ContextRef, CurrentMessages]: ...


class SpaceMoved(RecallUnavailable):
    """Messages belong into another space than this process has written: the work is done again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRef:
    """A message in the epoch in which it was written."""

    ref: ContextRef
    epoch: int
    message_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """An entry of the work stream. It has no fields if it was deleted meanwhile."""

    id: str
    fields: Mapping[str, str]
    is_repeated: bool = False
    """True if an indexer has had it before, and may have done a part of it."""


@dataclass(slots=True, kw_only=True)
class _Batch:
    """A batch of entries, sorted. Each erasure, drop and message to index is in it once."""

    erase: dict[ContextRef, int] = field(default_factory=dict[ContextRef, int])
    """Contexts whose epochs below this one are erased."""
    drop: dict[MessageRef, None] = field(default_factory=dict[MessageRef, None])
    index: dict[MessageRef, str] = field(default_factory=dict[MessageRef, str])
    """Messages with the one space that a walk queued them for; "" is every active space."""
    changed: set[MessageRef] = field(default_factory=set[MessageRef])
    """Those of `index` that may have keys already, of facts that they have no more."""
    erasing: list[_Entry] = field(default_factory=list[_Entry])
    indexing: list[_Entry] = field(default_factory=list[_Entry])
    unknown: int = 0


class Indexer:
    """One consumer of a partition's work. Any number may run, in one process or many; repeated work is harmless.

    The entry of a message stays in the stream until its vector agrees with the history, in the space where messages
    belong. So a crash, an outage or a change of the space delays work and loses none. While this process cannot write
    that space (`Spaces.takes_work`) it takes no work.
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
        self._read_as_consumer = ("XREADGROUP", "GROUP", GROUP, consumer, "COUNT")
        self._block_ms = block_ms
        self._abandoned_after_ms = abandoned_after_ms
        self._failures = 0
        self._steps_to_look_back = 0
        self._erasures_from = "-"
        # The entries of a step that failed by the embedder, and the ids of those that words find already.
        self._late: Sequence[_Entry] = ()
        self._by_words: set[str] = set()

    async def step(self) -> IndexResult:
        """Do a batch of work, or wait up to `block_ms` for some. Erasures come first: they need no embedder.

        Raises StoreUnavailable, and RecallUnavailable: the work stays queued, so back off and call again.
        """
        if not self._recall.spaces.takes_work:
            await asyncio.sleep(min(self._block_ms, PAUSED_MS) / 1000)
            return IndexResult()
        look_back_in, self._steps_to_look_back = self._steps_to_look_back, 0  # after a failure: at once
        entries = await self._take(is_looking_back=look_back_in == 0)
        batch = _sort(entries, self._partition)
        erased = await self._erase(batch)
        await self._finish(batch.erasing, ())
        spaces = self._recall.spaces.active
        try:
            findable, late = await self._index(batch, spaces)
        except EmbeddingError as failure:
            self._failures += isinstance(failure, EmbeddingUnavailable)
            self._late = entries
            raise
        self._failures = 0
        await self._finish(batch.indexing, spaces)
        self._by_words.clear()
        is_behind = (
            bool(entries) and entries[0].is_repeated and len(entries) >= BATCH
        )  # look back again at once
        if entries and not is_behind:
            self._steps_to_look_back = (look_back_in or LOOK_BACK_EVERY) - 1
        return IndexResult(
            indexed=len(findable),
            reindexed=sum(bool(batch.index[message]) for message in findable),
            erased=erased + late,
            skipped=len(batch.index) - len(findable) + batch.unknown,
            is_full=len(entries) >= BATCH,
        )

    async def index_by_words(self) -> None:
        """Make messages findable by words after `step` has raised an EmbeddingError. It gives them vectors later.

        Raises StoreUnavailable and RecallUnavailable.
        """
        entries, self._late = self._late, ()
        while self._recall.spaces.takes_work and (entries or (entries := await self._read_new(BATCH))):
            batch = _sort(entries, self._partition)
            await self._erase(batch)
            await self._finish(batch.erasing, ())
            await self._write_words(entries, self._recall.spaces.active)
            entries = ()

    async def _write_words(self, entries: Sequence[_Entry], spaces: Sequence[Space]) -> None:
        """Write messages without vectors, once in an outage. Those of a walk wait for the embedder."""
        late = [each for each in entries if each.id not in self._by_words and not each.fields.get("space")]
        without = [replace(each, embedder=None) for each in spaces]
        await self._index(_sort(late, self._partition), without)
        self._by_words.update(each.id for each in late)

    async def leave(self) -> None:
        """Remove this consumer from the group, unless entries are in its name. Raises StoreUnavailable."""
        try:
            stream = partition_key(self._partition, "work")
            await self._redis.run(leave_group(stream, group=GROUP, consumer=self._consumer))
        except CommandRefused as refusal:
            if "NOGROUP" not in str(refusal):  # it never had work
                raise

    async def _take(self, *, is_looking_back: bool) -> list[_Entry]:
        try:
            return await self._read(is_looking_back=is_looking_back)
        except CommandRefused as refusal:
            if "NOGROUP" not in str(refusal):
                raise
        try:
            await self._redis.call(
                "XGROUP", "CREATE", partition_key(self._partition, "work"), GROUP, "0", "MKSTREAM"
            )
        except CommandRefused as refusal:
            if "BUSYGROUP" not in str(refusal):  # another indexer made it at the same time
                raise
        return await self._read(is_looking_back=is_looking_back)

    async def _read(self, *, is_looking_back: bool) -> list[_Entry]:
        """Read new entries, and before them our unfinished and abandoned ones if we look back."""
        key = partition_key(self._partition, "work")
        entries: list[_Entry] = []
        if is_looking_back:
            takeover = ("XAUTOCLAIM", key, GROUP, self._consumer, self._abandoned_after_ms, "0-0")
            _, reply = await self._redis.calls(
                [(*takeover, "COUNT", BATCH, "JUSTID"), (*self._read_as_consumer, BATCH, "STREAMS", key, "0")]
            )
            entries = [replace(entry, is_repeated=True) for entry in _entries_of_stream(reply)]
        room = BATCH - len(entries)
        if room == 0:
            return entries + await self._erasures_behind()
        return entries + await self._read_new(room, *(() if entries else ("BLOCK", self._block_ms)))

    async def _read_new(self, count: int, *waiting: str | int) -> list[_Entry]:
        key = partition_key(self._partition, "work")
        reply = await self._redis.call(*self._read_as_consumer, count, *waiting, "STREAMS", key, ">")
        return _entries_of_stream(reply)

    async def _erasures_behind(self) -> list[_Entry]:
        """Return the erasures of the next page behind a full batch.

        A failing embedder may hold up the batch, but must not hold up erasure. Nobody claims these entries: repeating
        them is harmless.
        """
        reply = await self._redis.call(
            "XRANGE", partition_key(self._partition, "work"), self._erasures_from, "+", "COUNT", ERASURE_PAGE
        )
        page = _entries(reply)
        self._erasures_from = f"({page[-1].id}" if len(page) == ERASURE_PAGE else "-"
        return [entry for entry in page if entry.fields.get("op") in {"erase", "drop"}]

    async def _erase(self, batch: _Batch) -> int:
        erased = 0
        for ref, epoch in batch.erase.items():
            erased += (await self._recall.erase(ref, below_epoch=epoch)).before
        return erased + await self._drop(batch.drop)

    async def _index(self, batch: _Batch, spaces: Sequence[Space]) -> tuple[Collection[MessageRef], int]:
        """Write the messages of `_Batch.index`. Return those that are findable now, and a count of erased vectors.

        A message that is deleted, edited or reset while its vector is made must not leave that vector. Nor may an
        erased fact leave its key. So the history is read again until it is the same before and after the write. All
        obsolete vectors are dropped: an indexer may have crashed between its write and its second read.
        """
        findable: set[MessageRef] = set()
        erased = 0
        changed: Collection[MessageRef] = batch.changed
        unsettled: Collection[MessageRef] = batch.index
        while unsettled:
            before = await self._items(unsettled)
            findable.difference_update(unsettled)
            if len(before) < len(unsettled):
                erased += await self._drop(message for message in unsettled if message not in before)
            findable |= await self._write(before, batch.index, spaces)
            erased += await self._recall.drop_unused_keys(
                [item for message, item in before.items() if message in changed]
            )
            after = await self._items(unsettled)
            changed = unsettled = [each for each in unsettled if after.get(each) != before.get(each)]
        return findable, erased

    async def _write(
        self,
        items: Mapping[MessageRef, IndexItem],
        space_names: Mapping[MessageRef, str],
        spaces: Sequence[Space],
    ) -> set[MessageRef]:
        """Write new messages into every space and a walk's messages into its own. A former walk's are ignored.

        One message that always breaks the embedder must not hold up the others for ever.
        """
        by_space: dict[str, dict[MessageRef, IndexItem]] = {}
        for message, item in items.items():
            by_space.setdefault(space_names[message], {})[message] = item
        findable: set[MessageRef] = set()
        for name, chosen in by_space.items():
            targets = [space for space in spaces if space.name == name] if name else spaces
            if not targets:
                continue
            is_patient = self._failures < PATIENT_FAILURES
            await self._recall.index(list(chosen.values()), spaces=targets, is_patient=is_patient)
            findable |= chosen.keys()
        return findable

    async def _items(self, messages: Collection[MessageRef]) -> dict[MessageRef, IndexItem]:
        """Return the messages that the history still has in their epoch."""
        ids: dict[ContextRef, list[str]] = {}
        for each in messages:
            ids.setdefault(each.ref, []).append(each.message_id)
        histories = await self._history.get_current(ids)
        items: dict[MessageRef, IndexItem] = {}
        for each in messages:
            current = histories[each.ref]
            message = current.messages.get(each.message_id)
            if message is not None and current.epoch == each.epoch and is_indexed(message):
                session = current.sessions.get(message.id, 0)
                items[each] = IndexItem(
                    ref=each.ref,
                    epoch=each.epoch,
                    message=message,
                    people=current.people,
                    session=session,
                    facts=current.facts.get(message.id, ()),
                )
        return items

    async def _drop(self, messages: Iterable[MessageRef]) -> int:
        ids: dict[tuple[ContextRef, int], list[str]] = {}
        for each in messages:
            ids.setdefault((each.ref, each.epoch), []).append(each.message_id)
        dropped = 0
        for (ref, epoch), message_ids in ids.items():
            dropped += (await self._recall.drop(ref, epoch=epoch, message_ids=message_ids)).before
        return dropped

    async def _finish(self, entries: Sequence[_Entry], spaces: Sequence[Space]) -> None:
        """Take the entries off the stream. Raises SpaceMoved, and leaves them, if they belong into another space."""
        if not entries:
            return
        names = [space.name for space in spaces]
        pairs: list[str] = []
        for entry in entries:
            pairs += (entry.id, entry.fields.get("build", ""))
        if not await self._redis.run(finish_work(self._partition, GROUP, names, pairs)):
            raise SpaceMoved


def _sort(entries: Iterable[_Entry], partition: int) -> _Batch:
    """Sort a batch. Deleted entries and unknown ones are only finished.

    Only new messages cannot have keys yet, unless an indexer that died has written them.
    """
    batch = _Batch()
    for entry in entries:
        fields = entry.fields
        if not fields.get("context") or not fields.get("epoch", "").isdigit():
            batch.erasing.append(entry)
            batch.unknown += 1
            continue
        ref = ContextRef(context_id=fields["context"], partition=partition)
        epoch = int(fields["epoch"])
        message = MessageRef(ref=ref, epoch=epoch, message_id=fields.get("id", ""))
        if fields.get("op") == "erase":
            batch.erase[ref] = max(epoch, batch.erase.get(ref, 0))
            batch.erasing.append(entry)
        elif fields.get("op") == "drop":
            batch.drop[message] = None
            batch.erasing.append(entry)
        else:
            space = fields.get("space", "")
            batch.index[message] = space if batch.index.get(message, space) == space else ""
            if entry.is_repeated or fields.get("op") != "new":
                batch.changed.add(message)
            batch.indexing.append(entry)
    return batch


def _entries_of_stream(reply: Any) -> list[_Entry]:
    """Return the entries in a reply to XREADGROUP of one stream."""
    streams = cast(list[tuple[str, Any]], reply or [])
    return [entry for _, rows in streams for entry in _entries(rows)]


def _entries(reply: Any) -> list[_Entry]:
    """Return the entries in a reply to XRANGE."""
    rows = cast(list[tuple[str, dict[str, str] | None]], reply or [])
    return [_Entry(id=number, fields=fields or {}) for number, fields in rows]
