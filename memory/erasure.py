"""Erasing with a receipt: counts of what was erased, and of what reading both stores back found left."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from memory.errors import RecallUnavailable
from memory.history.store import Deletion, Erasure, HistoryStore, RecordCounts
from memory.keys import ContextRef
from memory.recall.recall import Recall, VectorErasure

_PASSES = 5
"""Passes over the vectors: one, and one for each of up to four indexers that may be working on the context."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaterUse:
    """Answers that used deleted messages, and so may repeat them, and the records that rest on these answers."""

    answers: tuple[int, ...] = ()
    """Their sequences, in order."""
    summaries: int = 0
    artifacts: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureReceipt:
    """Receipt of an erasure. Data that arrives while it is read back counts as left."""

    erased: RecordCounts
    left: RecordCounts
    """Records that still exist, or after a deletion those that still mention the deleted messages."""
    vectors_erased: int = 0
    """Points of the index: of messages, and of facts as their keys."""
    vectors_left: int | None = 0
    """None if the index did not answer: the erasure is queued then, and no search can see these vectors."""
    updates_forgotten: int = 0
    unsent_dropped: int = 0
    """Messages of an answer that were dropped before they were sent."""
    missing: tuple[str, ...] = ()
    """Ids that were named and not found: perhaps the message is in another chat, so nothing is proven about it."""
    unclean: tuple[str, ...] = ()
    """Redis or Valkey servers whose append-only files keep what was erased, until an operator has them rewritten."""
    not_copied: str = ""
    """Reason why the tombstones are in the store only, not beside it."""

    @property
    def messages_erased(self) -> int:
        """Return the number of erased messages."""
        return self.erased.messages

    @property
    def messages_left(self) -> int:
        """Return the number of messages that are left."""
        return self.left.messages

    @property
    def others_left(self) -> int:
        """Return the number of records that are left besides messages."""
        return self.left.total - self.left.messages

    @property
    def has_erased(self) -> bool:
        """Return True if anything was erased."""
        others = self.vectors_erased or self.updates_forgotten or self.unsent_dropped
        return bool(self.erased.total or others)

    @property
    def is_proven(self) -> bool:
        """Return True if both stores were read back and nothing was left of anything that was named."""
        return self.vectors_left == 0 and self.left.total == 0 and not self.missing

    def counts(self) -> dict[str, int | None]:
        """Return all counts by name, for logs and documents, without the missing ids and the servers."""
        erased = {f"{name}_erased": number for name, number in self.erased.by_name().items()}
        facts = {field.name: getattr(self, field.name) for field in fields(self)}
        del facts["erased"], facts["left"], facts["missing"], facts["unclean"], facts["not_copied"]
        return {**erased, **facts, "messages_left": self.messages_left, "others_left": self.others_left}

    def __add__(self, other: "ErasureReceipt") -> "ErasureReceipt":
        """Add each field. The sum with an unknown number is unknown."""
        sums: dict[str, Any] = {}
        for field in fields(self):
            mine, theirs = getattr(self, field.name), getattr(other, field.name)
            sums[field.name] = None if None in (mine, theirs) else mine + theirs
        sums["unclean"] = tuple(dict.fromkeys(sums["unclean"]))
        sums["not_copied"] = self.not_copied or other.not_copied
        return ErasureReceipt(**sums)


def sum_receipts(receipts: Sequence[ErasureReceipt]) -> ErasureReceipt:
    """Return one receipt for several contexts. It is proven only if each of them is."""
    return sum(receipts, ErasureReceipt(erased=RecordCounts(), left=RecordCounts()))


async def count_vectors(ref: ContextRef, recall: Recall | None) -> int:
    """Return the number of vectors of a context before its erasure; 0 if the index does not answer."""
    try:
        return 0 if recall is None else await recall.count(ref)
    except RecallUnavailable:
        return 0


async def prove_erased(
    ref: ContextRef, erased: Erasure, *, store: HistoryStore, recall: Recall | None
) -> ErasureReceipt:
    """Erase the vectors of a context's older epochs after its erasure, then read both stores back.

    `erased.vectors` were counted before: an indexer may do the queued erasure before we do. If the index does not
    answer, it does the queued work later.
    """
    vectors: VectorErasure | None = VectorErasure(before=0, left=0)
    if recall is not None:
        vectors = await _until_none_is_left(lambda: recall.erase(ref, below_epoch=erased.epoch))
    snapshot = await store.load(ref, limit=0)
    traces = await store.count_traces(ref)
    return ErasureReceipt(
        erased=RecordCounts(**erased.by_name()),
        left=replace(traces, messages=snapshot.count),
        vectors_erased=max(erased.vectors, vectors.before) - vectors.left if vectors else 0,
        vectors_left=vectors.left if vectors else None,
        not_copied=erased.not_copied,
        updates_forgotten=erased.updates,
        unsent_dropped=erased.unsent,
    )


async def _until_none_is_left(erase: Callable[[], Awaitable[VectorErasure]]) -> VectorErasure | None:
    """Repeat an erasure until nothing is left: each indexer may still write what it read before.

    Return None if the index does not answer.
    """
    gone = left = 0
    for _ in range(_PASSES):
        try:
            done = await erase()
        except RecallUnavailable:
            return None
        gone, left = gone + done.before - done.left, done.left
        if left == 0:
            break
    return VectorErasure(before=gone + left, left=left)


async def delete_provably(
    ref: ContextRef, ids: Collection[str], *, epoch: int, store: HistoryStore, recall: Recall | None
) -> ErasureReceipt:
    """Delete these messages, their vectors and what mentions them, then read both stores back.

    Ids that do not exist count nothing. Raises Forgotten after a reset.
    """
    return (await delete_and_prove(ref, ids, epoch=epoch, store=store, recall=recall))[1]


async def delete_and_prove(
    ref: ContextRef,
    ids: Collection[str],
    *,
    epoch: int,
    store: HistoryStore,
    recall: Recall | None,
    quoted: Collection[int] = (),
) -> tuple[Deletion, ErasureReceipt]:
    """Return what `delete_provably` deleted, and the receipt.

    `quoted` are Telegram ids of messages that are not stored but may be quoted by others.
    """
    # Before as well: the deletion queues this work, and the indexer may do it before we can count.
    before = await _drop(ref, ids, epoch=epoch, recall=recall)
    deleted = await store.delete(ref, ids, epoch=epoch, quoted=quoted)
    after = await _drop(ref, ids, epoch=epoch, recall=recall)
    keys = await drop_keys(ref, deleted.uncited_ids, epoch=epoch, recall=recall)
    traces = await store.count_traces(ref, mentioning=deleted)
    return deleted, ErasureReceipt(
        erased=RecordCounts(**deleted.by_name()),
        left=replace(traces, messages=len(await store.get(ref, ids))),
        not_copied=deleted.not_copied,
        vectors_erased=sum(vectors.before - vectors.left for vectors in (before, after, keys) if vectors),
        vectors_left=after.left + keys.left if after and keys else None,
    )


async def drop_keys(
    ref: ContextRef, message_ids: Collection[str], *, epoch: int, recall: Recall | None
) -> VectorErasure | None:
    """Drop the keys of messages that no fact cites any more; None if the index does not answer."""
    if recall is None or not message_ids:
        return VectorErasure(before=0, left=0)
    return await _until_none_is_left(lambda: recall.drop_keys(ref, epoch=epoch, message_ids=message_ids))


async def _drop(
    ref: ContextRef, ids: Collection[str], *, epoch: int, recall: Recall | None
) -> VectorErasure | None:
    """Drop the vectors of these messages; None if the index does not answer."""
    if recall is None or not ids:
        return VectorErasure(before=0, left=0)
    return await _until_none_is_left(lambda: recall.drop(ref, epoch=epoch, message_ids=ids))
