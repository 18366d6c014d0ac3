"""Compresses conversations: a model summarises the older messages piece by piece, and each summary is saved."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from memory.codec import dump_json, parse_json
from memory.errors import SummaryFailed
from memory.history.ledger import LedgerTurn
from memory.history.message import Message, clock_of, message_id, sequence_of
from memory.history.redis_history import RedisHistory
from memory.history.store import HistorySnapshot
from memory.history.summary import Summary, SummaryText, is_blank, render_summary
from memory.keys import ContextRef, context_key, partition_key
from memory.leased import (
    LEASE_S,
    STALE_AT_MOST,
    ClaimLost,
    Lease,
    LeasedQueue,
    LeasedStep,
    Outcome,
    QueueClaim,
    SaveOutcome,
    StepResult,
)
from memory.redis.lua import ScriptCall, lua_script
from memory.summary.compression import (
    CompressionLimits,
    CompressionPlan,
    Piece,
    has_reached_trigger,
    plan_compression,
)
from memory.zones.clocks import Clocks

MESSAGES_AT_MOST = 10_000
"""Messages that one plan reads; the next plan takes the rest."""
IMPORTED_AT_MOST = 2_000
"""Imported messages that the first summary of a chat covers, the newest: an archive may have millions."""
_PAGE = 500
_HALVINGS = 2


class Summarizer(Protocol):
    """Writes summaries. Its failures are SummaryFailed."""

    @property
    def model(self) -> str:
        """Return the name of the model, which is stored with each summary."""
        ...

    def count(self, text: str) -> int:
        """Return the tokens of a text."""
        ...

    async def summarize(self, previous: SummaryText | None, piece: Piece) -> SummaryText:
        """Return a summary of the previous summary and the piece after it, which replaces both."""
        ...


@dataclass(slots=True, kw_only=True)
class CompressionResult(StepResult):
    """Progress and result of a step: its summaries, and the number of messages that they cover."""

    summaries: int = 0
    seen: HistorySnapshot | None = None
    halvings: int = 0
    """How often pieces were too long for the model and halved."""
    stale: int = 0

    def note(self, outcome: SaveOutcome) -> None:
        """Count a stale outcome. Raises ClaimLost, and SummaryFailed after too many stale outcomes."""
        if outcome == "lost":
            raise ClaimLost
        self.stale += outcome == "stale"
        if self.stale == STALE_AT_MOST:
            raise SummaryFailed("The conversation changed under every summary.")


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


class Compressor(LeasedStep[CompressionResult]):
    """Compresses one conversation.

    Each piece is saved when it is summarised: a crash loses one piece. The save checks for a reset, a deletion, an edit
    or a new conversation in the meantime, and writes nothing then.
    """

    def __init__(
        self,
        *,
        history: RedisHistory,
        summaries: RedisSummaries,
        summarizer: Summarizer,
        limits: Mapping[str, CompressionLimits],
        partition: int,
        clock: Callable[[], float],
        lease_s: float = LEASE_S,
    ) -> None:
        """`limits` has those of each model that people may choose, "" for the default. Pieces are the same in all."""
        super().__init__(summaries, CompressionResult, partition=partition, lease_s=lease_s)
        self._history = history
        self._summaries = summaries
        self._summarizer = summarizer
        self._limits = limits
        self._clock = clock

    async def work(self, lease: Lease, result: CompressionResult) -> Outcome:
        """Plan and summarise until nothing is due."""
        default = self._limits[""]
        while True:
            found = await self._load(lease.claim.ref)
            result.seen = found.snapshot
            limits = replace(
                self._limits.get(found.snapshot.choices.model, default),
                piece_tokens=max(1, default.piece_tokens >> result.halvings),
            )
            # In a thread: planning thousands of messages takes 0.2 s.
            plan = await asyncio.to_thread(_plan, found, limits)
            if plan is None:
                return "compressed" if result.summaries else "not_due"
            try:
                result.note(await self._carry_out(lease, result, found, plan))
            except SummaryFailed as failure:
                if not failure.is_too_long or result.halvings == _HALVINGS:
                    raise
                result.halvings += 1

    async def finish(self, claim: QueueClaim, result: CompressionResult) -> None:
        """Remove the conversation from the queue if it has not changed; saved summaries stay."""
        await self._summaries.finish(claim, seen=result.seen, is_given_up=result.outcome == "given_up")

    async def _load(self, ref: ContextRef) -> "_Found":
        snapshot = await self._history.load(ref, limit=0)
        if snapshot.summary is not None:
            after = snapshot.summary.upto_sequence
        elif snapshot.conversation_start == 0:
            after = await self._before_imported(ref)
        else:
            after = snapshot.conversation_start - 1
        messages: list[Message] = []
        last = after
        while len(messages) < MESSAGES_AT_MOST:
            page = await self._history.page(ref, after_sequence=last, limit=_PAGE, whole=True)
            if not page:
                break
            messages += page
            last = sequence_of(page[-1])
        ledger = await self._history.load_ledger(ref, after_sequence=after, upto_sequence=last)
        return _Found(ref=ref, snapshot=snapshot, messages=messages[:MESSAGES_AT_MOST], ledger=ledger)

    async def _before_imported(self, ref: ContextRef) -> int:
        """Return the sequence before the newest IMPORTED_AT_MOST imported messages; -1 without any."""
        before, left = 0, IMPORTED_AT_MOST
        while left > 0:
            page = await self._history.page(ref, before_sequence=before, limit=min(_PAGE, left), whole=True)
            if not page:
                break
            before, left = sequence_of(page[-1]), left - len(page)
        return before - 1

    async def _carry_out(
        self, lease: Lease, result: CompressionResult, found: "_Found", plan: CompressionPlan
    ) -> SaveOutcome:
        latest = found.snapshot.summary
        text = latest.text if latest else None
        clocks = Clocks.of(map(clock_of, found.messages), found.snapshot.choices.zones)
        for piece in plan.pieces:
            if await self._has_changed(found):
                return "stale"
            text = await self._summarize(lease, result, text, replace(piece, clocks=clocks))
            if not piece.covers:  # a part of an exchange: its summary is saved with the rest
                continue
            latest = self._summary(found, latest, piece, text)
            outcome = await self._summaries.save(
                lease.claim,
                latest,
                [message.id for message in piece.covers],
                epoch=found.snapshot.epoch,
                revision=found.snapshot.revision,
            )
            if outcome != "saved":
                return outcome
            result.summaries += 1
            result.messages += len(piece.covers)
        return "saved"

    async def _has_changed(self, found: "_Found") -> bool:
        """Return True if messages were erased or edited since: then the model must not read them any more."""
        now, then = await self._history.load(found.ref, limit=0), found.snapshot
        return (now.epoch, now.revision) != (then.epoch, then.revision)

    async def _summarize(
        self, lease: Lease, result: CompressionResult, previous: SummaryText | None, piece: Piece
    ) -> SummaryText:
        """Summarise this piece, and renew the lease meanwhile. A small piece that is filtered is skipped."""
        if not piece.lines:
            return previous or SummaryText(overview="Messages without text.")
        try:
            text = await lease.run(self._summarizer.summarize(previous, piece), name="summarize")
        except SummaryFailed as failure:
            if not failure.is_filtered or result.halvings < _HALVINGS:
                raise
            return previous or SummaryText(overview="Messages that the summary model's filter refused.")
        if is_blank(text):
            raise SummaryFailed("The summary is empty.")
        return text

    def _summary(self, found: "_Found", before: Summary | None, piece: Piece, text: SummaryText) -> Summary:
        snapshot, upto = found.snapshot, sequence_of(piece.covers[-1])
        builds_on = before.id if before else ""
        return Summary(
            id=message_id(found.ref.context_id, snapshot.epoch, snapshot.revision, builds_on, upto),
            builds_on=builds_on,
            conversation_start=snapshot.conversation_start,
            from_sequence=sequence_of(piece.covers[0]),
            upto_sequence=upto,
            text=text,
            tokens=self._summarizer.count(render_summary(text)),
            model=self._summarizer.model,
            created_at=self._clock(),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """The uncovered part of a conversation, oldest first."""

    ref: ContextRef
    snapshot: HistorySnapshot
    messages: list[Message]
    ledger: list[LedgerTurn]


def _plan(found: _Found, limits: CompressionLimits) -> CompressionPlan | None:
    if not has_reached_trigger(found.messages, found.ledger, found.snapshot.summary, limits):
        return None
    return plan_compression(found.messages, found.ledger, limits=limits)
