"""Extracts facts: a model reads the unread messages of a context, batch by batch, and its facts are saved."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from memory.errors import SummaryFailed
from memory.facts.queue import FactPageRead, FactQueue, FactWork, NewFact
from memory.facts.redis_facts import are_extracted
from memory.history.message import sequence_of
from memory.leased import (
    LEASE_S,
    STALE_AT_MOST,
    ClaimLost,
    Lease,
    LeasedStep,
    Outcome,
    QueueClaim,
    StepResult,
)
from memory.recall.lexicon.names import find_people

BATCH_MESSAGES = 20
"""Messages that one request reads, at most."""


@dataclass(slots=True, kw_only=True)
class ReadingTally:
    """Counts of one step: calls of the model, their tokens, and facts of its answers that were dropped."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    dropped: int = 0

    @property
    def tokens(self) -> int:
        """Return the tokens of requests and answers together."""
        return self.prompt_tokens + self.completion_tokens


class FactReader(Protocol):
    """Reads facts out of messages. Its failures are SummaryFailed."""

    async def read(self, work: FactWork, tally: ReadingTally) -> Sequence[NewFact]:
        """Return the facts of the messages of `work`, and add to `tally`, also if it fails."""
        ...


@dataclass(slots=True, kw_only=True)
class ExtractionResult(StepResult):
    """Progress and result of a step: the batch, and the numbers of its messages and saved facts if it was read."""

    work: FactWork | None = None
    facts: int = 0
    tally: ReadingTally = field(default_factory=ReadingTally)

    @property
    def is_older(self) -> bool:
        """Return True for messages from before facts were extracted here."""
        return self.work is not None and self.work.is_older


class FactExtractor(LeasedStep[ExtractionResult]):
    """Reads one batch of one context.

    A batch is saved as a whole, with the note that its messages are read: a crash loses one request. The save checks
    for a reset, a deletion, an edit or a choice in the meantime, and writes nothing then.
    """

    def __init__(
        self, *, queue: FactQueue, reader: FactReader, partition: int, lease_s: float = LEASE_S
    ) -> None:
        super().__init__(queue, ExtractionResult, partition=partition, lease_s=lease_s)
        self._queue = queue
        self._reader = reader

    async def work(self, lease: Lease, result: ExtractionResult) -> Outcome:
        """Read and save one batch."""
        for _ in range(STALE_AT_MOST):
            work = result.work = await self._queue.load(lease.claim, limit=BATCH_MESSAGES)
            if not work.messages:
                return "nothing_unread"
            facts: list[NewFact] = []
            if are_extracted(work.choices, is_group=work.is_group):
                work, facts = await self._read(lease, result, work)
            outcome = await self._queue.save(lease.claim, work, facts)
            if outcome == "lost":
                raise ClaimLost
            if outcome == "saved":
                result.facts, result.messages = len(facts), len(work.messages)
                return "read"
        raise SummaryFailed("The chat changed under every extraction.")

    async def finish(self, claim: QueueClaim, result: ExtractionResult) -> None:
        """Count messages as read that are given up."""
        await self._queue.finish(claim, given_up=result.work if result.outcome == "given_up" else None)

    async def _read(
        self, lease: Lease, result: ExtractionResult, work: FactWork
    ) -> tuple[FactWork, list[NewFact]]:
        """Return the batch, halved until the model can read it, and its facts."""
        while True:
            spent = result.tally.tokens
            try:
                facts = await lease.run(self._reader.read(work, result.tally), name="extract")
            except SummaryFailed as failure:
                if not failure.is_too_long or len(work.messages) == 1:
                    raise
                work = result.work = _halve(work)
            else:
                return work, [fact for fact in facts if not _is_refused(fact, work)]
            finally:
                if work.is_older and result.tally.tokens > spent:
                    await self._queue.spend(result.tally.tokens - spent)


def _halve(work: FactWork) -> FactWork:
    """Return the work with half of its messages: the older ones, or the newer of a page of older messages."""
    middle = len(work.messages) // 2
    if not work.is_older:
        kept = work.messages[:middle]
        return replace(work, messages=kept, page=FactPageRead(read=tuple(each.id for each in kept)))
    kept = work.messages[middle:]
    return replace(work, messages=kept, page=FactPageRead(facts_from=str(sequence_of(kept[0]))))


def _is_refused(fact: NewFact, work: FactWork) -> bool:
    """Return True for a fact about somebody who has chosen off, also under a part of the name."""
    off = {each: name for each, name in work.people.items() if each in work.choices.off}
    return fact.subject_id in work.choices.off or bool(find_people(fact.subject, off))
