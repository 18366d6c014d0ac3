"""The facts of one context as a whole: for commands, the console, and the tools of a turn."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from memory.erasure import ErasureReceipt, drop_keys
from memory.facts.redis_facts import FactErasure, RedisFacts
from memory.history.fact import Fact
from memory.history.store import RecordCounts
from memory.keys import ContextRef
from memory.recall.recall import Recall


async def list_all(
    facts: RedisFacts, ref: ContextRef, *, people: Collection[int] | None = None
) -> list[Fact]:
    """Return the facts about or said by one of these people, or all for None.

    Standing wishes come first, then other facts that hold; each kind has the newest first. It is at most FACTS_LIMIT
    facts. Raises StoreUnavailable.
    """
    found: dict[str, Fact] = {}
    offset, total = 0, 1
    while offset < total:
        page = await facts.list(ref, people=people, limit=1_000, offset=offset)
        found |= {fact.id: fact for fact in page.facts}
        offset, total = offset + max(1, len(page.facts)), page.total
    return sorted(
        found.values(),
        key=lambda fact: (not fact.is_standing, fact.valid_to is not None, -fact.valid_from, fact.id),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextFacts:
    """The facts of the context of a turn."""

    facts: RedisFacts
    ref: ContextRef
    epoch: Callable[[], int]
    """The epoch of the turn, which a tool may have raised."""
    recall: Recall | None

    async def list(self, people: Collection[int] | None) -> list[Fact]:
        """See `list_all`."""
        return await list_all(self.facts, self.ref, people=people)

    async def erase(self, ids: Collection[str]) -> ErasureReceipt:
        """Erase these facts and read both stores back. Raises Forgotten after a reset, and the store's errors."""
        return await erase_facts(self.ref, ids, epoch=self.epoch(), facts=self.facts, recall=self.recall)


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
