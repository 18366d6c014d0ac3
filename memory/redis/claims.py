"""Claims of contexts in a queue of a partition: a lease for each, which a worker renews."""

from dataclasses import dataclass, replace
from secrets import randbelow
from typing import Literal

from memory.keys import ContextRef, Key, partition_key
from memory.redis.client import RedisClient
from memory.redis.lua import ScriptCall, lua_script

_SCRIPTS = "memory.redis.scripts"

QueueName = Literal["compress", "extract"]
"""The key of the queue in each partition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueClaim:
    """A claimed context of a queue. `token` is the stored end of the lease, and identifies the claim."""

    queue: QueueName
    ref: ContextRef
    token: str


async def claim_next(
    redis: RedisClient, queue: QueueName, partition: int, *, now: float, lease_s: float
) -> QueueClaim | None:
    """Claim the context of the partition's queue that is due longest, for about `lease_s` seconds; None if none is due.

    A worker that dies or sleeps past the end of its lease loses the claim.
    """
    key = partition_key(partition, queue)
    claimed = await redis.run(claim_due(queue=key, now=now, lease_end=_lease_end(now, lease_s)))
    if claimed is None:
        return None
    return QueueClaim(
        queue=queue, ref=ContextRef(context_id=claimed[0], partition=partition), token=claimed[1]
    )


async def renew_claim(
    redis: RedisClient, claim: QueueClaim, *, now: float, lease_s: float
) -> QueueClaim | None:
    """Return the claim with a new lease, which replaces the old claim; None if another worker has it."""
    key, lease_end = partition_key(claim.ref.partition, claim.queue), _lease_end(now, lease_s)
    call = move_claim(queue=key, context_id=claim.ref.context_id, token=claim.token, lease_end=lease_end)
    token = await redis.run(call)
    return None if token is None else replace(claim, token=token)


async def count_due(redis: RedisClient, queue: QueueName, partition: int, *, now: float) -> int:
    """Count the contexts of the partition's queue that are due and not claimed."""
    return int(await redis.call("ZCOUNT", partition_key(partition, queue), "-inf", now))


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
