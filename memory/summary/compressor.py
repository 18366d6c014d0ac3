"""Compresses conversations: a model summarises the older messages piece by piece, and each summary is saved."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from memory.errors import Forgotten, StoreFull, StoreUnavailable, SummaryFailed, place_of
from memory.history.ledger import LedgerTurn
from memory.history.message import Message, message_id, sequence_of
from memory.history.redis_history import RedisHistory
from memory.history.store import HistorySnapshot
from memory.history.summary import Summary, SummaryText, is_blank, render_summary
from memory.keys import ContextRef
from memory.lease import run_leased
from memory.redis.claims import QueueClaim
from memory.summary.compression import (
    CompressionLimits,
    CompressionPlan,
    Piece,
    has_reached_trigger,
    plan_compression,
)
from memory.summary.redis_summaries import RedisSummaries, SaveOutcome
from memory.zones.clocks import Clocks

MESSAGES_AT_MOST = 10_000
"""Messages that one plan reads; the next plan takes the rest."""
TRIES = 3
RETRY_PAUSES_S = (30.0, 300.0)
"""Pauses after the first and the second failure. After the third it is given up until more has been said."""
LEASE_S = 60.0

_PAGE = 500
_HALVINGS = 2
_STALE_AT_MOST = 3
"""Stale summaries in a row that count as a failure: messages are deleted or edited during each of them."""

Outcome = Literal["idle", "compressed", "not_due", "later", "given_up", "forgotten", "lost"]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionResult:
    """Result of a step. `later` and `given_up` follow a failure; its `reason` has no text of the conversation."""

    outcome: Outcome
    ref: ContextRef | None = None
    summaries: int = 0
    messages: int = 0
    reason: str = ""

    @property
    def is_busy(self) -> bool:
        """Return True if there was a conversation to compress: there may be another."""
        return self.outcome != "idle"


class Compressor:
    """Compresses one conversation of its partition at a time; several may run, in one process or many.

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
        self._history = history
        self._summaries = summaries
        self._summarizer = summarizer
        self._limits = limits
        self._partition = partition
        self._clock = clock
        self._lease_s = lease_s
        # Only for the length of the pauses; the store counts the failures.
        self._failures: Counter[ContextRef] = Counter()

    async def step(self) -> CompressionResult:
        """Compress the conversation that is due longest, if any. Raises StoreUnavailable and StoreFull.

        A cancellation leaves saved summaries complete, and a claim that ends with its lease.
        """
        claim = await self._summaries.claim(self._partition, lease_s=self._lease_s)
        if claim is None:
            return CompressionResult(outcome="idle")
        work = _Work(claim=claim, limits=self._limits[""])
        try:
            outcome = await self._compress(work)
        except Forgotten:
            await self._summaries.finish(work.claim)
            return work.result("forgotten")
        except _ClaimLostError:
            return work.result("lost")
        except SummaryFailed as failure:
            return await self._fail(work, failure)
        except (StoreUnavailable, StoreFull):
            raise
        except Exception as error:  # noqa: BLE001
            # A compression that breaks must not end the process or other compressions. It is given up like one that
            # fails: otherwise it would be summarised again after each lease.
            return await self._fail(work, SummaryFailed(f"It broke: {place_of(error)}."))
        del self._failures[claim.ref]
        await self._summaries.finish(work.claim, seen=work.seen)
        return work.result(outcome)

    async def _compress(self, work: "_Work") -> Outcome:
        """Plan and summarise until nothing is due. Raises SummaryFailed, Forgotten and _ClaimLostError."""
        while True:
            found = await self._load(work.claim.ref)
            work.seen = found.snapshot
            chosen = self._limits.get(found.snapshot.choices.model, work.limits)
            limits = replace(chosen, piece_tokens=work.limits.piece_tokens)
            # In a thread: planning thousands of messages takes 0.2 s.
            plan = await asyncio.to_thread(_plan, found, limits)
            if plan is None:
                return "compressed" if work.summaries else "not_due"
            try:
                work.note(await self._carry_out(work, found, plan))
            except SummaryFailed as failure:
                if not failure.is_too_long or work.halvings == _HALVINGS:
                    raise
                work.halve_pieces()

    async def _load(self, ref: ContextRef) -> "_Found":
        snapshot = await self._history.load(ref, limit=0)
        after = (
            snapshot.conversation_start - 1 if snapshot.summary is None else snapshot.summary.upto_sequence
        )
        messages: list[Message] = []
        last = after
        while len(messages) < MESSAGES_AT_MOST:
            page = await self._history.page(ref, after_sequence=last, limit=_PAGE)
            if not page:
                break
            messages += page
            last = sequence_of(page[-1])
        ledger = await self._history.load_ledger(ref, after_sequence=after, upto_sequence=last)
        return _Found(ref=ref, snapshot=snapshot, messages=messages[:MESSAGES_AT_MOST], ledger=ledger)

    async def _carry_out(self, work: "_Work", found: "_Found", plan: CompressionPlan) -> SaveOutcome:
        latest = found.snapshot.summary
        text = latest.text if latest else None
        clocks = Clocks(zones=found.snapshot.choices.zones)
        for piece in plan.pieces:
            if await self._has_changed(found):
                return "stale"
            text = await self._summarize(work, text, replace(piece, clocks=clocks))
            if not piece.covers:  # a part of an exchange: its summary is saved with the rest
                continue
            latest = self._summary(found, latest, piece, text)
            outcome = await self._summaries.save(
                work.claim,
                latest,
                [message.id for message in piece.covers],
                epoch=found.snapshot.epoch,
                revision=found.snapshot.revision,
            )
            if outcome != "saved":
                return outcome
            work.note_saved(piece)
        return "saved"

    async def _has_changed(self, found: "_Found") -> bool:
        """Return True if messages were erased or edited since: then the model must not read them any more."""
        now, then = await self._history.load(found.ref, limit=0), found.snapshot
        return (now.epoch, now.revision) != (then.epoch, then.revision)

    async def _summarize(self, work: "_Work", previous: SummaryText | None, piece: Piece) -> SummaryText:
        """Summarise this piece, and renew the lease meanwhile. A small piece that is filtered is skipped."""
        if not piece.lines:
            return previous or SummaryText(overview="Messages without text.")
        try:
            text = await run_leased(
                self._summarizer.summarize(previous, piece),
                lambda: self._renew(work),
                lease_s=self._lease_s,
                name="summarize",
            )
        except SummaryFailed as failure:
            if not failure.is_filtered or work.halvings < _HALVINGS:
                raise
            return previous or SummaryText(overview="Messages that the summary model's filter refused.")
        if is_blank(text):
            raise SummaryFailed("The summary is empty.")
        return text

    async def _renew(self, work: "_Work") -> None:
        renewed = await self._summaries.renew(work.claim, lease_s=self._lease_s)
        if renewed is None:
            raise _ClaimLostError
        work.claim = renewed

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

    async def _fail(self, work: "_Work", failure: SummaryFailed) -> CompressionResult:
        """Record the failure; saved summaries stay."""
        ref, next_sequence = work.claim.ref, work.seen.next_sequence if work.seen else 0
        pause_s = RETRY_PAUSES_S[min(self._failures[ref], len(RETRY_PAUSES_S) - 1)]
        self._failures[ref] += 1
        is_given_up = await self._summaries.fail(
            work.claim, next_sequence=next_sequence, retry_in_s=pause_s, at_most=TRIES
        )
        if is_given_up:
            del self._failures[ref]
        return replace(work.result("given_up" if is_given_up else "later"), reason=str(failure))


class _ClaimLostError(Exception):
    """The lease has ended."""


@dataclass(slots=True, kw_only=True)
class _Work:
    """Progress of a step. The claim changes with each renewal."""

    claim: QueueClaim
    limits: CompressionLimits
    halvings: int = 0
    stale: int = 0
    seen: HistorySnapshot | None = None
    summaries: int = 0
    messages: int = 0

    def halve_pieces(self) -> None:
        self.halvings += 1
        self.limits = replace(self.limits, piece_tokens=max(1, self.limits.piece_tokens // 2))

    def note_saved(self, piece: Piece) -> None:
        self.summaries += 1
        self.messages += len(piece.covers)

    def note(self, outcome: SaveOutcome) -> None:
        """Count a stale outcome. Raises _ClaimLostError, and SummaryFailed after too many stale outcomes."""
        if outcome == "lost":
            raise _ClaimLostError
        self.stale += outcome == "stale"
        if self.stale == _STALE_AT_MOST:
            raise SummaryFailed("The conversation changed under every summary.")

    def result(self, outcome: Outcome) -> CompressionResult:
        return CompressionResult(
            outcome=outcome, ref=self.claim.ref, summaries=self.summaries, messages=self.messages
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
