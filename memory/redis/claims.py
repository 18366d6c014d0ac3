"""Claims of contexts in a queue of a partition: a lease for each, which a worker renews."""

from secrets import randbelow

from memory.keys import ContextRef, Key
from memory.redis.client import RedisClient
from memory.redis.lua import ScriptCall, lua_script

_SCRIPTS = "memory.redis.scripts"


async def claim_next(redis: RedisClient, queue: Key, *, now: float, lease_s: float) -> tuple[str, str] | None:
    """Claim the context of the queue that is due longest; return its id and the claim's token, or None.

    A worker that dies or sleeps past the end of its lease loses the claim.
    """
    claimed = await redis.run(claim_due(queue=queue, now=now, lease_end=_lease_end(now, lease_s)))
    return None if claimed is None else (claimed[0], claimed[1])


async def renew_claim(
    redis: RedisClient, queue: Key, ref: ContextRef, token: str, *, now: float, lease_s: float
) -> str | None:
    """Return the token of the claim with a new lease, or None if another worker has it."""
    lease_end = _lease_end(now, lease_s)
    return await redis.run(
        move_claim(queue=queue, context_id=ref.context_id, token=token, lease_end=lease_end)
    )


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
