"""Erasing facts with a receipt that counts what reading both stores back finds."""

from collections.abc import Collection

from memory.erasure import ErasureReceipt, drop_keys
from memory.facts.redis_facts import FactErasure, RedisFacts
from memory.keys import ContextRef
from memory.recall.recall import Recall
from memory.record_counts import RecordCounts


async def erase_facts(
    ref: ContextRef, ids: Collection[str], *, epoch: int, facts: RedisFacts, recall: Recall | None
) -> ErasureReceipt:
    """Erase these facts and their keys of recall; their messages stay. Raises Forgotten after a reset.

    Ids that do not exist count nothing. A message that another fact cites gets new keys from the indexer.
    """
    erased = await facts.erase(ref, ids, epoch=epoch)
    return await _prove(ref, erased, epoch=epoch, facts=facts, recall=recall)


async def switch_off(
    ref: ContextRef, *, person: int | None, epoch: int, facts: RedisFacts, recall: Recall | None
) -> ErasureReceipt:
    """Turn facts off, about and from this person or (None) in the whole context, and erase what there is.

    Raises Forgotten after a reset. The choice outlives resets.
    """
    erased = await facts.switch_off(ref, person=person, epoch=epoch)
    return await _prove(ref, erased, epoch=epoch, facts=facts, recall=recall)


async def _prove(
    ref: ContextRef, erased: FactErasure, *, epoch: int, facts: RedisFacts, recall: Recall | None
) -> ErasureReceipt:
    vectors = await drop_keys(ref, erased.uncited_ids, epoch=epoch, recall=recall)
    left = await facts.get(ref, erased.fact_ids)
    return ErasureReceipt(
        erased=RecordCounts(facts=len(erased.fact_ids)),
        left=RecordCounts(facts=len(left)),
        vectors_erased=vectors.before - vectors.left if vectors else 0,
        vectors_left=vectors.left if vectors else None,
        not_copied=erased.not_copied,
    )
