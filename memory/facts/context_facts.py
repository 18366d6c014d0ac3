"""The facts of one context as a whole: for commands, the console, and the tools of a turn."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from memory.erasure import ErasureReceipt
from memory.facts.erasure import erase_facts
from memory.facts.redis_facts import RedisFacts
from memory.history.fact import Fact
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
