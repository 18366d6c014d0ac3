"""Compressions of conversations in Redis: which are due, who works on one, and the summaries that they save."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from secrets import randbelow
from typing import Literal

from memory.codec import dump_json, parse_json
from memory.errors import Forgotten
from memory.history.store import HistorySnapshot
from memory.history.summary import Summary
from memory.keys import (
    ContextRef,
    compress_key,
    epoch_key,
    lineage_key,
    meta_key,
    order_key,
    summaries_key,
)
from memory.redis.client import RedisClient, load_script

SUMMARIES_KEPT = 8
"""How many of a conversation's summaries are kept: after a message is forgotten, an older one may still stand."""

SaveOutcome = Literal["saved", "stale", "lost"]

_SCRIPTS = "memory.redis.scripts"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionClaim:
    """A conversation to compress. `token` is the end of the lease, as it is stored: it tells this claim from others."""

    ref: ContextRef
    token: str


class RedisSummaries:
    """One compression of a conversation at a time, across processes (row I14).

    A claim is a lease: whoever dies or sleeps past its end loses it to the next one, and can save nothing more.
    """

    def __init__(self, redis: RedisClient, *, clock: Callable[[], float]) -> None:
        self._redis = redis
        self._clock = clock

    async def queue(self, ref: ContextRef) -> None:
        """Have the conversation compressed now; one that is queued or being worked on stays as it is."""
        await self._redis.call("ZADD", compress_key(ref.partition), "NX", self._clock(), ref.context_id)

    async def count_due(self, partition: int) -> int:
        """How many conversations of this partition are due, and nobody works on."""
        return int(await self._redis.call("ZCOUNT", compress_key(partition), "-inf", self._clock()))

    async def claim(self, partition: int, *, lease_s: float) -> CompressionClaim | None:
        """The conversation of this partition that is due longest, for `lease_s` seconds; None if none is due."""
        now = self._clock()
        claimed = await self._redis.run(
            load_script(_SCRIPTS, "claim_compression"),
            [compress_key(partition)],
            [now, _end_of(now, lease_s)],
        )
        if claimed is None:
            return None
        context, token = claimed
        return CompressionClaim(ref=ContextRef(context_id=context, partition=partition), token=token)

    async def renew(self, claim: CompressionClaim, *, lease_s: float) -> CompressionClaim | None:
        """The claim with a lease from now on, which takes the place of the old one; None if another has it."""
        token = await self._redis.run(
            load_script(_SCRIPTS, "move_compression"),
            [compress_key(claim.ref.partition)],
            [claim.ref.context_id, claim.token, _end_of(self._clock(), lease_s)],
        )
        return None if token is None else replace(claim, token=token)

    async def save(
        self, claim: CompressionClaim, summary: Summary, covers: Sequence[str], *, epoch: int, revision: int
    ) -> SaveOutcome:
        """Make the summary the current one; `covers` are the ids of the messages that it adds.

        Checked with the writing, in one step: the claim is ours, the epoch (Forgotten is raised), the revision
        and conversation that it was made from, the summary that it builds on, and that all it covers is there.
        Otherwise nothing is written. Saving the same one again is "saved". What was appended meanwhile stays.
        """
        ref = claim.ref
        outcome = await self._redis.run(
            load_script(_SCRIPTS, "save_summary"),
            [
                *(compress_key(ref.partition), epoch_key(ref), meta_key(ref)),
                *(order_key(ref), summaries_key(ref), lineage_key(ref)),
            ],
            [
                *(ref.context_id, claim.token, epoch, revision, summary.conversation_start),
                *(summary.builds_on, summary.id, summary.upto_sequence, dump_json(Summary, summary)),
                *(dump_json(tuple[str, ...], tuple(covers)), SUMMARIES_KEPT, *covers),
            ],
        )
        if outcome == "forgotten":
            raise Forgotten
        return outcome

    async def fail(
        self, claim: CompressionClaim, *, next_sequence: int, retry_in_s: float, at_most: int
    ) -> bool:
        """Note a failure and try again later. True: it was one too many, and the conversation left the queue.

        A lost claim notes nothing. Saving, and a new conversation, begin the count anew; so does giving up.
        """
        outcome = await self._redis.run(
            load_script(_SCRIPTS, "fail_compression"),
            [compress_key(claim.ref.partition), meta_key(claim.ref)],
            [claim.ref.context_id, claim.token, self._clock() + retry_in_s, at_most, next_sequence],
        )
        return outcome == "given_up"

    async def finish(self, claim: CompressionClaim, *, seen: HistorySnapshot | None = None) -> None:
        """Leave the queue; a claim that is lost leaves it to its new holder.

        It stays, due at once, if the conversation has changed since it was `seen` last.
        """
        looked = ("", "") if seen is None else (seen.next_sequence, seen.revision)
        await self._redis.run(
            load_script(_SCRIPTS, "finish_compression"),
            [compress_key(claim.ref.partition), meta_key(claim.ref)],
            [claim.ref.context_id, claim.token, *looked],
        )

    async def covered(self, ref: ContextRef, summary_id: str) -> tuple[str, ...]:
        """The ids of the messages that a summary added to the one that it builds on; none if it is not kept."""
        line = await self._redis.call("HGET", summaries_key(ref), f"covers:{summary_id}")
        return parse_json(tuple[str, ...], line) if line else ()


def _end_of(now: float, lease_s: float) -> float:
    """The end of a lease, less than a millisecond early by chance: two leases of one instant have different tokens."""
    return now + lease_s - randbelow(1_000) / 1_000_000
