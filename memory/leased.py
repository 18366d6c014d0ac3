"""Work after the reply: contexts wait in a queue, and each step works on one of them under a lease."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from secrets import randbelow
from typing import Any, ClassVar, Generic, Literal, TypeVar

from memory.errors import Forgotten, StoreFull, StoreUnavailable, SummaryFailed, place_of
from memory.keys import ContextRef, Key, partition_key
from memory.redis.client import RedisClient
from memory.redis.lua import ScriptCall, lua_script

RETRY_PAUSES_S = (30.0, 300.0)
"""Pauses after the first and the second failure. After the third the work is given up."""
LEASE_S = 60.0
STALE_AT_MOST = 3
"""Stale results of a step that count as a failure: messages are deleted or edited during each of them."""

QueueName = Literal["compress", "extract", "retain"]
"""The key of the queue in each partition."""
SaveOutcome = Literal["saved", "stale", "lost"]
Outcome = Literal[
    "idle",
    "compressed",
    "not_due",
    "read",
    "nothing_unread",
    "expired",
    "later",
    "given_up",
    "forgotten",
    "lost",
]

T = TypeVar("T")

_SCRIPTS = "memory.redis.scripts"
_RENEWALS_IN_A_LEASE = 3


class ClaimLost(Exception):
    """The lease has ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueClaim:
    """A claimed context of a queue. `token` is the stored end of the lease, and identifies the claim."""

    ref: ContextRef
    token: str


class LeasedQueue:
    """Contexts that wait for one kind of work: one worker at a time has a context, across processes.

    A claim is a lease: a worker that dies or sleeps past its end loses it, and can save nothing more.
    """

    name: ClassVar[QueueName]
    failures: ClassVar[str]
    """The field of a context's `meta` that counts failures."""

    def __init__(self, redis: RedisClient, *, clock: Callable[[], float]) -> None:
        self._redis = redis
        self._clock = clock

    async def count_due(self, partition: int) -> int:
        """Count the contexts of this partition that are due and not claimed."""
        return int(
            await self._redis.call("ZCOUNT", partition_key(partition, self.name), "-inf", self._clock())
        )

    async def claim(self, partition: int, *, lease_s: float) -> QueueClaim | None:
        """Claim the context that is due longest, for about `lease_s` seconds; None if none is due."""
        now = self._clock()
        call = claim_due(
            queue=partition_key(partition, self.name), now=now, lease_end=_lease_end(now, lease_s)
        )
        claimed = await self._redis.run(call)
        if claimed is None:
            return None
        return QueueClaim(ref=ContextRef(context_id=claimed[0], partition=partition), token=claimed[1])

    async def renew(self, claim: QueueClaim, *, lease_s: float) -> QueueClaim | None:
        """Return the claim with a new lease, which replaces the old claim; None if another worker has it."""
        key, lease_end = partition_key(claim.ref.partition, self.name), _lease_end(self._clock(), lease_s)
        call = move_claim(queue=key, context_id=claim.ref.context_id, token=claim.token, lease_end=lease_end)
        token = await self._redis.run(call)
        return None if token is None else replace(claim, token=token)

    async def fail(
        self, claim: QueueClaim, *, pauses_s: tuple[float, ...]
    ) -> Literal["later", "given_up", "lost"]:
        """Count a failure. After as many as there are pauses, one more is "given_up", and the claim stays to finish it.

        Otherwise the context is due again after the pause. A lost claim counts nothing.
        """
        key = partition_key(claim.ref.partition, self.name)
        call = fail_claim(
            claim.ref,
            queue=key,
            token=claim.token,
            failures=self.failures,
            now=self._clock(),
            pauses=pauses_s,
        )
        return await self._redis.run(call)


class Lease:
    """A claimed context, whose claim changes with each renewal."""

    def __init__(self, queue: LeasedQueue, claim: QueueClaim, *, lease_s: float) -> None:
        self._queue = queue
        self._lease_s = lease_s
        self.claim = claim

    async def run(self, work: Coroutine[Any, Any, T], *, name: str) -> T:
        """Run `work` as a task of this name and return its result; renew the lease meanwhile and after it.

        Raises ClaimLost, and the errors of the work. A cancellation ends the task.
        """
        task = asyncio.create_task(work, name=name)
        try:
            while not (await asyncio.wait({task}, timeout=self._lease_s / _RENEWALS_IN_A_LEASE))[0]:
                await self._renew()
            result = await task
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        await self._renew()
        return result

    async def _renew(self) -> None:
        renewed = await self._queue.renew(self.claim, lease_s=self._lease_s)
        if renewed is None:
            raise ClaimLost
        self.claim = renewed


@dataclass(slots=True, kw_only=True)
class StepResult:
    """Progress and result of a step. `later` and `given_up` follow a failure; its `reason` has no text of the chat."""

    outcome: Outcome = "idle"
    ref: ContextRef | None = None
    messages: int = 0
    reason: str = ""

    @property
    def is_busy(self) -> bool:
        """Return True if there was a context to work on: there may be another."""
        return self.outcome != "idle"


R = TypeVar("R", bound=StepResult)


class LeasedStep(ABC, Generic[R]):
    """Works on one context of a queue and partition at a time; several may run, in one process or many."""

    def __init__(self, queue: LeasedQueue, result: type[R], *, partition: int, lease_s: float) -> None:
        self._leases = queue
        self._result = result
        self._partition = partition
        self._lease_s = lease_s

    @abstractmethod
    async def work(self, lease: Lease, result: R) -> Outcome:
        """Do the work, and note its progress. Raises SummaryFailed, Forgotten and ClaimLost."""

    @abstractmethod
    async def finish(self, claim: QueueClaim, result: R) -> None:
        """End the claim after any outcome but `later` and `lost`."""

    async def step(self) -> R:
        """Work on the context that is due longest, if any. Raises StoreUnavailable and StoreFull.

        A cancellation leaves saved results complete, and a claim that ends with its lease.
        """
        result = self._result()
        claim = await self._leases.claim(self._partition, lease_s=self._lease_s)
        if claim is None:
            return result
        result.ref, lease = claim.ref, Lease(self._leases, claim, lease_s=self._lease_s)
        try:
            result.outcome = await self.work(lease, result)
        except Forgotten:
            result.outcome = "forgotten"
        except ClaimLost:
            result.outcome = "lost"
        except SummaryFailed as failure:
            await self._fail(lease, result, failure)
        except (StoreUnavailable, StoreFull):
            raise
        except Exception as error:  # noqa: BLE001
            # Work that breaks must not end the process or other work. It is given up like work that fails: otherwise
            # it would be done again after each lease.
            await self._fail(lease, result, SummaryFailed(f"It broke: {place_of(error)}."))
        if result.outcome not in ("later", "lost"):
            await self.finish(lease.claim, result)
        return result

    async def _fail(self, lease: Lease, result: R, failure: SummaryFailed) -> None:
        pauses_s = () if failure.is_filtered else RETRY_PAUSES_S  # a filter refuses the message again
        result.outcome = await self._leases.fail(lease.claim, pauses_s=pauses_s)
        result.reason = str(failure)


def _lease_end(now: float, lease_s: float) -> float:
    """Return the end of a lease, up to a millisecond early: two leases of one instant have different tokens.

    It is no whole number, which would be the due time of a context that waits.
    """
    end = now + lease_s - randbelow(1_000) / 1_000_000
    return end - 0.000_001 if end.is_integer() else end


@lua_script(_SCRIPTS)
def claim_due(*, queue: Key, now: float, lease_end: float) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def move_claim(*, queue: Key, context_id: str, token: str, lease_end: float) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def fail_claim(
    ref: ContextRef, *, queue: Key, token: str, failures: str, now: float, pauses: tuple[float, ...]
) -> ScriptCall: ...
