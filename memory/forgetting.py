"""Forgetting, with a receipt: what was erased, and what reading both stores back found left."""

from collections.abc import Collection
from dataclasses import dataclass

from memory.errors import RecallUnavailable
from memory.history_store import Erased, HistoryStore
from memory.keys import ContextRef
from memory.recall import Recall, VectorErasure


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureReceipt:
    """What an erasure removed, and what was found left by reading back after it.

    `vectors_left` is None when the index could not be asked: the erasure of the vectors is queued then, and
    no search can see them meanwhile. A message that arrives during the reading counts as left: the receipt
    errs on the side of doubt.
    """

    messages_erased: int
    vectors_erased: int
    messages_left: int
    vectors_left: int | None
    updates_forgotten: int = 0

    @property
    def is_proven(self) -> bool:
        """Whether both stores were read back and nothing was left."""
        return self.messages_left == 0 and self.vectors_left == 0


async def count_vectors(ref: ContextRef, recall: Recall | None) -> int:
    """How many vectors a context has, for the receipt of an erasure that follows; 0 if nobody can tell."""
    try:
        return 0 if recall is None else await recall.count(ref)
    except RecallUnavailable:
        return 0


async def prove_erased(
    ref: ContextRef,
    erased: Erased,
    *,
    store: HistoryStore,
    recall: Recall | None,
    vectors_before: int = 0,
    updates_forgotten: int = 0,
) -> ErasureReceipt:
    """After a context's erasure: erase the vectors of its older epochs now, then read both stores back.

    `vectors_before` were counted before it: an indexer may do the erasure that it queued before we do.
    """
    vectors = VectorErasure(found=0, left=0)
    vectors_left: int | None = 0
    if recall is not None:
        try:
            vectors = await recall.erase(ref, below_epoch=erased.epoch)
            vectors_left = vectors.left
        except RecallUnavailable:
            vectors_left = None
    snapshot = await store.load(ref, limit=0)
    return ErasureReceipt(
        messages_erased=erased.messages,
        vectors_erased=max(vectors_before, vectors.found) - vectors.left if vectors_left is not None else 0,
        messages_left=snapshot.count,
        vectors_left=vectors_left,
        updates_forgotten=updates_forgotten,
    )


async def delete_provably(
    ref: ContextRef, ids: Collection[str], *, epoch: int, store: HistoryStore, recall: Recall | None
) -> ErasureReceipt:
    """Delete these messages and their vectors, then read both stores back. Raises Forgotten after a reset."""
    deleted = await store.delete(ref, ids, epoch=epoch)
    vectors = VectorErasure(found=0, left=0)
    vectors_left: int | None = 0
    if recall is not None:
        try:
            vectors = await recall.drop(ref, epoch=epoch, message_ids=ids)
            vectors_left = vectors.left
        except RecallUnavailable:
            vectors_left = None
    return ErasureReceipt(
        messages_erased=deleted,
        vectors_erased=vectors.found - vectors.left,
        messages_left=len(await store.get(ref, ids)),
        vectors_left=vectors_left,
    )
