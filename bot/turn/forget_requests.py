"""Requests to forget a person, with their progress, as the store has them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from uuid import uuid4

from bot.turn.person import NOTHING, Chosen, Person
from memory import keys
from memory.codec import dump_json, parse_json
from memory.erasure import ErasureReceipt
from memory.keys import ContextRef, global_key
from memory.redis.client import RedisClient
from memory.tombstones import bury, load_secret, name_of

LEASE_MS = 30_000
"""Lease of one runner. A step takes a fraction of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptPlace:
    """The chat that gets the receipt."""

    chat_id: int
    thread_id: int | None = None
    is_direct: bool = False
    language_code: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetJob:
    """A request to forget a person, with its progress."""

    id: str
    person: Person
    context: str = ""
    """Id of the one context where the person is forgotten; "" for everywhere."""
    asked_at: float
    tells: ReceiptPlace | None = None
    refs: tuple[ContextRef, ...] = ()
    own: tuple[str, ...] = ()
    """Ids of the contexts of the person's private chat."""
    at: int = -1
    """The context that is being looked at; -1 before they are listed."""
    before: Chosen = field(default_factory=Chosen)
    chosen: Chosen | None = None
    """What is being erased now."""
    passes: int = 0
    erased_in_pass: int = 0
    total: ErasureReceipt = NOTHING
    chats: tuple[str, ...] = ()
    """Ids of the contexts where something was erased."""
    is_interrupted: bool = False
    """True if a runner died during a step: more may have been erased than was counted."""
    receipt: str = ""
    """The signed file, at the end."""

    @property
    def is_everywhere(self) -> bool:
        """Return True if all chats are meant."""
        return not self.context

    def find_ref(self) -> ContextRef:
        """Return the context that is being looked at."""
        return self.refs[self.at]


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetRequests:
    """The requests in the store. Every method raises the store's errors."""

    redis: RedisClient
    clock: Callable[[], float]
    runner: str = field(default_factory=lambda: uuid4().hex)

    async def begin(
        self, person: Person, *, context: ContextRef | None = None, tells: ReceiptPlace | None = None
    ) -> ForgetJob:
        """Record a request and its tombstone. If the person is being forgotten already, that request goes on."""
        id = await self.id_of(person.id, context)
        problem = await bury(self.redis, context.partition if context else 0, id, at=person.until)
        job = ForgetJob(
            id=id,
            person=person,
            context=context.context_id if context else "",
            asked_at=self.clock(),
            tells=tells,
            refs=(context,) if context else (),
            total=replace(NOTHING, not_copied=problem),
        )
        await self.redis.call("HSETNX", global_key("forgetting"), id, dump_json(ForgetJob, job))
        return await self.find(id) or job

    async def id_of(self, person: int, context: ContextRef | None = None) -> str:
        """Return the id of a request, which is the name of its tombstone: the same request is one."""
        ids = (person,) if context is None else (context.context_id, person)
        return name_of(await load_secret(self.redis), "person", *ids)

    async def all(self) -> list[ForgetJob]:
        """Return the requests that are not done."""
        lines: Mapping[str, str] = await self.redis.call("HGETALL", global_key("forgetting"))
        return [parse_json(ForgetJob, line) for line in lines.values()]

    async def find(self, id: str) -> ForgetJob | None:
        """Return the request, or None if it is done."""
        line = await self.redis.call("HGET", global_key("forgetting"), id)
        return parse_json(ForgetJob, line) if line else None

    async def find_receipt(self, id: str) -> str | None:
        """Return the receipt of a request that is done, for a day."""
        return await self.redis.call("GET", global_key("forgotten", id))

    async def hold(self, id: str) -> bool:
        """Take or keep the lease of a request. Return False if another runner has it."""
        key = global_key("forgetting_lease", id)
        if await self.redis.call("SET", key, self.runner, "NX", "PX", LEASE_MS):
            return True
        if await self.redis.call("GET", key) != self.runner:
            return False
        await self.redis.call("PEXPIRE", key, LEASE_MS)
        return True

    async def end(self, job: ForgetJob) -> None:
        """Forget the request itself, whose receipt is kept for a day."""
        await self.redis.call("SET", global_key("forgotten", job.id), job.receipt, "EX", keys.ERASED_TTL_S)
        await self.redis.call("HDEL", global_key("forgetting"), job.id)
        await self.redis.call("DEL", global_key("forgetting_lease", job.id))
        await self.redis.call("INCR", keys.partition_key(0, "erasures"))  # the record had names

    async def save(self, job: ForgetJob) -> None:
        """Record the progress."""
        await self.redis.call("HSET", global_key("forgetting"), job.id, dump_json(ForgetJob, job))
