"""Compressions of conversations in Redis: which are due, who works on one, and the summaries that they save."""

from collections.abc import Sequence
from dataclasses import dataclass

from memory.codec import dump_json, parse_json
from memory.history.store import HistorySnapshot
from memory.history.summary import Summary
from memory.keys import ContextRef, context_key, partition_key
from memory.leased import LeasedQueue, QueueClaim, SaveOutcome
from memory.redis.lua import ScriptCall, lua_script

STORED_SUMMARIES = 8
"""Summaries stored of a conversation: after a message is forgotten, an older one may still be valid."""

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


class RedisSummaries(LeasedQueue):
    """Conversations to compress, and their summaries. Saving, a new conversation and giving up reset the failures."""

    name = "compress"
    failures = "summary_failures"

    async def queue(self, ref: ContextRef) -> None:
        """Queue the conversation for now; one that is queued or claimed already stays as it is."""
        await self._redis.call(
            "ZADD", partition_key(ref.partition, "compress"), "NX", self._clock(), ref.context_id
        )

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

    async def finish(
        self, claim: QueueClaim, *, seen: HistorySnapshot | None = None, is_given_up: bool = False
    ) -> None:
        """Remove the conversation from the queue, unless the claim is lost.

        It stays, due at once, if the conversation has changed since it was `seen`. A compression that is given up is
        due again after more has been said.
        """
        ref = claim.ref
        call = finish_compression(
            ref,
            token=claim.token,
            next_sequence=seen.next_sequence if seen else None,
            revision=seen.revision if seen else None,
            is_given_up=is_given_up,
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
def finish_compression(
    ref: ContextRef, *, token: str, next_sequence: int | None, revision: int | None, is_given_up: bool
) -> ScriptCall: ...
