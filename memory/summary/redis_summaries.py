"""Compressions of conversations in Redis: which are due, who works on one, and the summaries that they save."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from memory.codec import dump_json, parse_json
from memory.history.store import HistorySnapshot
from memory.history.summary import Summary
from memory.keys import ContextRef, context_key, partition_key
from memory.redis.claims import QueueClaim, claim_next, count_due, renew_claim
from memory.redis.client import RedisClient
from memory.redis.lua import ScriptCall, lua_script

STORED_SUMMARIES = 8
"""Summaries stored of a conversation: after a message is forgotten, an older one may still be valid."""

SaveOutcome = Literal["saved", "stale", "lost"]

_SCRIPTS = "memory.redis.scripts"


@dataclass(frozen=True, slots=True, kw_only=True)
class SummarySave:
    """A summary to save: its JSON, the ids that it adds, and the facts that the script checks."""

    id: str
    builds_on: str
    conversation_start: int
    upto_sequence: int
    summary: str
    covers: str
    ids: tuple[str, ...]
    stored_summaries: int


class RedisSummaries:
    """One compression of a conversation at a time, across processes (row I14).

    A claim is a lease: a worker that dies or sleeps past its end loses it, and can save nothing more.
    """

    def __init__(self, redis: RedisClient, *, clock: Callable[[], float]) -> None:
        self._redis = redis
        self._clock = clock

    async def queue(self, ref: ContextRef) -> None:
        """Queue the conversation for now; one that is queued or claimed already stays as it is."""
        await self._redis.call(
            "ZADD", partition_key(ref.partition, "compress"), "NX", self._clock(), ref.context_id
        )

    async def count_due(self, partition: int) -> int:
        """Count the conversations of this partition that are due and not claimed."""
        return await count_due(self._redis, "compress", partition, now=self._clock())

    async def claim(self, partition: int, *, lease_s: float) -> QueueClaim | None:
        """See claim_next."""
        return await claim_next(self._redis, "compress", partition, now=self._clock(), lease_s=lease_s)

    async def renew(self, claim: QueueClaim, *, lease_s: float) -> QueueClaim | None:
        """See renew_claim."""
        return await renew_claim(self._redis, claim, now=self._clock(), lease_s=lease_s)

    async def save(
        self, claim: QueueClaim, summary: Summary, covers: Sequence[str], *, epoch: int, revision: int
    ) -> SaveOutcome:
        """Make the summary the current one; `covers` are the ids of the messages that it adds.

        The same script checks the claim, the epoch (raises Forgotten), revision and conversation, the summary that it
        builds on, and that all covered messages exist. Otherwise it writes nothing. Saving twice is "saved".
        """
        ref = claim.ref
        save = SummarySave(
            id=summary.id,
            builds_on=summary.builds_on,
            conversation_start=summary.conversation_start,
            upto_sequence=summary.upto_sequence,
            summary=dump_json(Summary, summary),
            covers=dump_json(tuple[str, ...], tuple(covers)),
            ids=tuple(covers),
            stored_summaries=STORED_SUMMARIES,
        )
        call = save_summary(ref, token=claim.token, expected_epoch=epoch, revision=revision, save=save)
        return await self._redis.run(call)

    async def fail(self, claim: QueueClaim, *, next_sequence: int, retry_in_s: float, at_most: int) -> bool:
        """Record a failure and retry later. True: it was one too many, and the conversation left the queue.

        A lost claim records nothing. Saving, a new conversation and giving up reset the count.
        """
        ref = claim.ref
        call = fail_compression(
            ref,
            token=claim.token,
            retry_at=self._clock() + retry_in_s,
            max_failures=at_most,
            next_sequence=next_sequence,
        )
        return await self._redis.run(call) == "given_up"

    async def finish(self, claim: QueueClaim, *, seen: HistorySnapshot | None = None) -> None:
        """Remove the conversation from the queue, unless the claim is lost.

        It stays, due at once, if the conversation has changed since it was `seen`.
        """
        ref = claim.ref
        call = finish_compression(
            ref,
            token=claim.token,
            next_sequence=seen.next_sequence if seen else None,
            revision=seen.revision if seen else None,
        )
        await self._redis.run(call)

    async def covered(self, ref: ContextRef, summary_id: str) -> tuple[str, ...]:
        """Return the ids of the messages that a summary added to the one it builds on; none if it is not stored."""
        line = await self._redis.call("HGET", context_key(ref, "summaries"), f"covers:{summary_id}")
        return parse_json(tuple[str, ...], line) if line else ()


@lua_script(_SCRIPTS)
def save_summary(
    ref: ContextRef, *, token: str, expected_epoch: int, revision: int, save: SummarySave
) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def fail_compression(
    ref: ContextRef, *, token: str, retry_at: float, max_failures: int, next_sequence: int
) -> ScriptCall: ...


@lua_script(_SCRIPTS)
def finish_compression(
    ref: ContextRef, *, token: str, next_sequence: int | None, revision: int | None
) -> ScriptCall: ...
