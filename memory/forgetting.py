"""Forgetting, with a receipt: what was erased, and what reading both stores back found left."""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass

from memory.errors import RecallUnavailable
from memory.history.store import Erasure, HistoryStore
from memory.keys import ContextRef
from memory.recall.recall import Recall, VectorErasure

_PASSES = 5
"""Over the vectors, at most: one, and one for each of four indexers that may be at work on the context."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureReceipt:
    """What an erasure removed, and what was found left by reading back after it.

    `vectors_left` is None when the index could not be asked: the erasure of the vectors is queued then, and
    no search can see them meanwhile. `others_left` are summaries, ledger turns, artifacts, names, sessions and
    heard lines that still tell of what was erased. What arrives during the reading counts as left: the receipt errs on the side of doubt.
    """

    messages_erased: int
    vectors_erased: int
    messages_left: int
    vectors_left: int | None
    updates_forgotten: int = 0
    summaries_erased: int = 0
    ledger_turns_erased: int = 0
    artifacts_erased: int = 0
    heard_erased: int = 0
    others_left: int = 0
    quotes_erased: int = 0

    @property
    def is_proven(self) -> bool:
        """Whether both stores were read back and nothing was left."""
        return self.messages_left == 0 and self.vectors_left == 0 and self.others_left == 0


async def count_vectors(ref: ContextRef, recall: Recall | None) -> int:
    """How many vectors a context has, for the receipt of an erasure that follows; 0 if nobody can tell."""
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
    vectors_before: int = 0,
    updates_forgotten: int = 0,
) -> ErasureReceipt:
    """After a context's erasure: erase the vectors of its older epochs now, then read both stores back.

    `vectors_before` were counted before it: an indexer may do the erasure that it queued before we do.
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
    kept = await store.count_traces(ref)
    return ErasureReceipt(
        messages_erased=erased.messages,
        vectors_erased=max(vectors_before, vectors.before) - vectors.left if vectors_left is not None else 0,
        messages_left=snapshot.count,
        vectors_left=vectors_left,
        updates_forgotten=updates_forgotten,
        summaries_erased=erased.summaries,
        ledger_turns_erased=erased.ledger_turns,
        artifacts_erased=erased.artifacts,
        heard_erased=erased.heard,
        others_left=kept.total,
    )


async def _erase_vectors(ref: ContextRef, recall: Recall, *, below_epoch: int) -> VectorErasure:
    return await _until_none_is_left(lambda: recall.erase(ref, below_epoch=below_epoch))


async def _until_none_is_left(erase: Callable[[], Awaitable[VectorErasure]]) -> VectorErasure:
    """What an indexer had read before the erasure may come in as it is counted, once of each: no later one reads it."""
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
    """Delete these messages, their vectors and what tells of them, then read both stores back.

    Ids that are not kept count nothing. `quoted` are Telegram ids of messages that are not kept, and that kept ones may
    quote. Raises Forgotten after a reset.
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
    """What was dropped of these messages' vectors; None where the index cannot be asked."""
    if recall is None or not ids:
        return VectorErasure(before=0, left=0)
    try:
        return await _until_none_is_left(lambda: recall.drop(ref, epoch=epoch, message_ids=ids))
    except RecallUnavailable:
        return None
