"""Erasing with a receipt: counts of what was erased, and of what reading both stores back found left."""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass

from memory.errors import RecallUnavailable
from memory.history.store import Erasure, HistoryStore
from memory.keys import ContextRef
from memory.recall.recall import Recall, VectorErasure

_PASSES = 5
"""Passes over the vectors: one, and one for each of up to four indexers that may be working on the context."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureReceipt:
    """Receipt of an erasure. Data that arrives while it is read back counts as left."""

    messages_erased: int
    vectors_erased: int
    messages_left: int
    vectors_left: int | None
    """None if the index did not answer: the erasure is queued then, and no search can see these vectors."""
    updates_forgotten: int = 0
    summaries_erased: int = 0
    ledger_turns_erased: int = 0
    artifacts_erased: int = 0
    talk_erased: int = 0
    others_left: int = 0
    """Summaries, ledger turns, artifacts, names, sessions and lines of talk that still mention erased messages."""
    quotes_erased: int = 0

    @property
    def is_proven(self) -> bool:
        """Return True if both stores were read back and nothing was left."""
        return self.messages_left == 0 and self.vectors_left == 0 and self.others_left == 0


async def count_vectors(ref: ContextRef, recall: Recall | None) -> int:
    """Return the number of vectors of a context before its erasure; 0 if the index does not answer."""
    try:
        return 0 if recall is None else await recall.count(ref)
    except RecallUnavailable:
        return 0


async def prove_erased(
    ref: ContextRef,
    erased: Erasure,
    *,
    store: HistoryStore,
    recall: Recall | None,
) -> ErasureReceipt:
    """Erase the vectors of a context's older epochs after its erasure, then read both stores back.

    `erased.vectors` were counted before: an indexer may do the queued erasure before we do.
    """
    vectors = VectorErasure(before=0, left=0)
    vectors_left: int | None = 0
    if recall is not None:
        try:
            vectors = await _erase_vectors(ref, recall, below_epoch=erased.epoch)
            vectors_left = vectors.left
        except RecallUnavailable:
            vectors_left = None
    snapshot = await store.load(ref, limit=0)
    traces = await store.count_traces(ref)
    return ErasureReceipt(
        messages_erased=erased.messages,
        vectors_erased=max(erased.vectors, vectors.before) - vectors.left if vectors_left is not None else 0,
        messages_left=snapshot.count,
        vectors_left=vectors_left,
        updates_forgotten=erased.updates,
        summaries_erased=erased.summaries,
        ledger_turns_erased=erased.ledger_turns,
        artifacts_erased=erased.artifacts,
        talk_erased=erased.talk,
        others_left=traces.total,
    )


async def _erase_vectors(ref: ContextRef, recall: Recall, *, below_epoch: int) -> VectorErasure:
    return await _until_none_is_left(lambda: recall.erase(ref, below_epoch=below_epoch))


async def _until_none_is_left(erase: Callable[[], Awaitable[VectorErasure]]) -> VectorErasure:
    """Repeat an erasure until nothing is left: each indexer may still write what it read before."""
    done = await erase()
    gone = done.before - done.left
    for _ in range(_PASSES - 1):
        if done.left == 0:
            break
        done = await erase()
        gone += done.before - done.left
    return VectorErasure(before=gone + done.left, left=done.left)


async def delete_provably(
    ref: ContextRef,
    ids: Collection[str],
    *,
    epoch: int,
    store: HistoryStore,
    recall: Recall | None,
    quoted: Collection[int] = (),
) -> ErasureReceipt:
    """Delete these messages, their vectors and what mentions them, then read both stores back.

    Ids that do not exist count nothing. `quoted` are Telegram ids of messages that are not stored but may be quoted by
    others. Raises Forgotten after a reset.
    """
    # Before as well: the deletion queues this work, and the indexer may do it before we can count.
    before = await _drop(ref, ids, epoch=epoch, recall=recall)
    deleted = await store.delete(ref, ids, epoch=epoch, quoted=quoted)
    after = await _drop(ref, ids, epoch=epoch, recall=recall)
    return ErasureReceipt(
        messages_erased=deleted.messages,
        vectors_erased=sum(vectors.before - vectors.left for vectors in (before, after) if vectors),
        messages_left=len(await store.get(ref, ids)),
        vectors_left=after.left if after else None,
        summaries_erased=deleted.summaries,
        ledger_turns_erased=deleted.ledger_turns,
        artifacts_erased=deleted.artifacts,
        others_left=(await store.count_traces(ref, mentioning=deleted)).total,
        quotes_erased=deleted.quotes,
    )


async def _drop(
    ref: ContextRef, ids: Collection[str], *, epoch: int, recall: Recall | None
) -> VectorErasure | None:
    """Drop the vectors of these messages; None if the index does not answer."""
    if recall is None or not ids:
        return VectorErasure(before=0, left=0)
    try:
        return await _until_none_is_left(lambda: recall.drop(ref, epoch=epoch, message_ids=ids))
    except RecallUnavailable:
        return None
