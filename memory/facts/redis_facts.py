"""Facts of contexts in Redis: reading, correcting, and the choices of people about them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memory.characters import one_line
from memory.codec import dump_json, parse_json
from memory.history.fact import LONGEST_STATEMENT, Fact
from memory.history.redis_history import parse_facts
from memory.keys import ContextRef, context_key
from memory.redis.client import RedisClient
from memory.redis.lua import ScriptCall, lua_script
from memory.tombstones import copy_beside, names_of

NOTED_FOR_S = 3_600
"""A shown list waits so long for unread messages to be read. Later nobody looks at it."""
FACTS_LIMIT = 5_000
"""Facts of a context. The oldest that ended are dropped first, then the oldest."""

_SCRIPTS = "memory.redis.scripts"


@dataclass(frozen=True, slots=True, kw_only=True)
class FactPage:
    """A page of facts, each kind with the newest `valid_from` first."""

    facts: tuple[Fact, ...]
    total: int
    """Number of all facts that match."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FactChoices:
    """Choices of the people of a context about facts. They outlive a reset."""

    is_on: bool | None = None
    """None if nobody has chosen."""
    off: frozenset[int] = field(default_factory=frozenset[int])
    """Sender ids of the people about whom nothing is extracted."""


def are_extracted(choices: FactChoices, *, is_group: bool, person: int | None = None) -> bool:
    """Return True if facts are extracted in this context, and about and from this person if one is given."""
    is_on = not is_group if choices.is_on is None else choices.is_on
    return is_on and person not in choices.off


@dataclass(frozen=True, slots=True, kw_only=True)
class FactErasure:
    """Facts that were erased, by id, and the messages that no fact cites any more since."""

    fact_ids: tuple[str, ...] = ()
    uncited_ids: tuple[str, ...] = ()
    not_copied: str = ""
    """Reason why the tombstones are not in the file beside the store."""


class RedisFacts:
    """The facts of all contexts. Methods raise StoreUnavailable or StoreFull."""

    def __init__(self, redis: RedisClient, *, clock: Callable[[], float]) -> None:
        self._redis = redis
        self._clock = clock

    async def list(
        self, ref: ContextRef, *, people: Collection[int] | None = None, limit: int = 50, offset: int = 0
    ) -> FactPage:
        """Read a page of the facts that are about one of these people or said by one; of all facts for None.

        Standing wishes that hold come first."""
        if people is not None and not people:
            return FactPage(facts=(), total=0)
        standing, found = await self._redis.calls(
            [
                ("ZRANGE", context_key(ref, "standing"), 0, -1),
                ("ZREVRANGE", context_key(ref, "fact_order"), 0, -1),
            ]
        )
        wishes = {member.split(":", 2)[2] for member in standing}
        ids: list[str] = [
            *filter(wishes.__contains__, found),
            *(each for each in found if each not in wishes),
        ]
        page = slice(max(0, offset), max(0, offset) + max(0, limit))
        if people is None:
            return FactPage(facts=tuple((await self.get(ref, ids[page])).values()), total=len(ids))
        facts = [
            fact
            for fact in (await self.get(ref, ids)).values()
            if fact.subject_id in people or fact.said_by in people
        ]
        return FactPage(facts=tuple(facts[page]), total=len(facts))

    async def get(self, ref: ContextRef, ids: Collection[str]) -> dict[str, Fact]:
        """Return the facts with these ids that exist."""
        if not ids:
            return {}
        lines = await self._redis.call("HMGET", context_key(ref, "facts"), *ids)
        return {fact.id: fact for fact in parse_facts(lines)}

    async def correct(
        self, ref: ContextRef, fact_id: str, statement: str, *, epoch: int, by: int | None
    ) -> Fact | None:
        """Replace the statement of a fact, tidied to one line; None if the fact is gone.

        A standing wish that another person than its writer corrects is a plain fact from then on. Its index keys are
        written again. Raises ValueError for a blank statement, and Forgotten after a reset.
        """
        text = one_line(statement, LONGEST_STATEMENT)
        if not text:
            raise ValueError("a statement has at least one word")
        while True:
            line = await self._redis.call("HGET", context_key(ref, "facts"), fact_id)
            if line is None:
                return None
            fact = parse_json(Fact, line)
            kind = fact.kind if by == fact.said_by else "fact"
            new = replace(
                fact, statement=text, kind=kind, confidence=1.0, is_corrected=True, imported_from=""
            )
            call = correct_fact(
                ref, expected_epoch=epoch, fact_id=fact_id, before=line, after=dump_json(Fact, new)
            )
            if await self._redis.run(call) == "corrected":
                return new

    async def erase(self, ref: ContextRef, ids: Collection[str], *, epoch: int) -> FactErasure:
        """Erase these facts and queue the index work of their messages. Raises Forgotten after a reset.

        The facts that they had closed hold again. Their messages stay and are not read again.
        """
        names = await names_of(self._redis, ref, fact=ids)
        call = erase_facts(ref, expected_epoch=epoch, buried=names, ids=list(ids))
        return await self._erased(ref, call, names)

    async def switch_off(self, ref: ContextRef, *, person: int | None, epoch: int) -> FactErasure:
        """Turn facts off, about and from this person or (None) in the whole context, and erase what there is.

        An extraction that runs saves nothing. Raises Forgotten after a reset.
        """
        people = None if person is None else [person]
        known = await self.list(ref, people=people, limit=FACTS_LIMIT)
        names = await names_of(self._redis, ref, fact=[fact.id for fact in known.facts])
        call = switch_facts_off(ref, expected_epoch=epoch, person=person, buried=names)
        return await self._erased(ref, call, names)

    async def _erased(self, ref: ContextRef, call: ScriptCall, names: Sequence[str]) -> FactErasure:
        fact_ids, uncited_ids = await self._redis.run(call)
        problem = await copy_beside(self._redis, ref.partition, names)
        return FactErasure(fact_ids=tuple(fact_ids), uncited_ids=tuple(uncited_ids), not_copied=problem)

    async def switch_on(self, ref: ContextRef, *, person: int | None, context: bool) -> None:
        """Turn facts on for this person and with `context` for the whole context; what was said before is not read."""
        await self._redis.run(switch_facts_on(ref, person=person, of_context=context))

    async def choices(self, ref: ContextRef) -> FactChoices:
        """Return the choices about facts in this context."""
        return parse_choices(await self._redis.call("HGETALL", context_key(ref, "choices")))

    async def count_unread(self, ref: ContextRef) -> int:
        """Count the messages that are not read for facts yet, without those from before facts were extracted."""
        return int(await self._redis.call("ZCARD", context_key(ref, "unread")))

    async def note_list(self, ref: ContextRef, person: int, line: str, *, epoch: int) -> None:
        """Note the shown list of a person in place of an earlier one, if messages are unread. "" drops the note."""
        call = note_list(ref, expected_epoch=epoch, person=person, line=line, ttl=NOTED_FOR_S)
        await self._redis.run(call)

    async def hurry(self, ref: ContextRef) -> None:
        """Make an extraction that waits due now."""
        await self._redis.run(hurry_extraction(ref, now=self._clock()))


def parse_choices(fields: Sequence[str] | Mapping[str, str]) -> FactChoices:
    """Return the choices of the fields that the store has."""
    pairs = dict(fields) if isinstance(fields, Mapping) else dict(zip(fields[::2], fields[1::2], strict=True))
    is_on = {"on": True, "off": False}.get(pairs.get("facts", ""))
    off = frozenset(int(name.removeprefix("off:")) for name in pairs if name.startswith("off:"))
    return FactChoices(is_on=is_on, off=off)


@lua_script(_SCRIPTS)
def correct_fact(
    ref: ContextRef, *, expected_epoch: int, fact_id: str, before: str, after: str
) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def note_list(ref: ContextRef, *, expected_epoch: int, person: int, line: str, ttl: int) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def hurry_extraction(ref: ContextRef, *, now: float) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def erase_facts(
    ref: ContextRef, *, expected_epoch: int, buried: list[str], ids: Sequence[str]
) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def switch_facts_off(
    ref: ContextRef, *, expected_epoch: int, person: int | None, buried: list[str]
) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def switch_facts_on(ref: ContextRef, *, person: int | None, of_context: bool) -> ScriptCall: ...
