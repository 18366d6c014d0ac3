"""Extracts facts: a model reads the unread messages of a context, batch by batch, and its facts are saved."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from memory.errors import Forgotten, StoreFull, StoreUnavailable, SummaryFailed, place_of
from memory.facts.queue import FactPageRead, FactQueue, FactWork, NewFact
from memory.facts.redis_facts import are_extracted
from memory.history.message import sequence_of
from memory.keys import ContextRef
from memory.lease import run_leased
from memory.recall.filters import find_people
from memory.redis.claims import QueueClaim

BATCH_MESSAGES = 20
"""Messages that one request reads, at most."""
TRIES = 3
RETRY_PAUSES_S = (30.0, 300.0)
"""Pauses after the first and the second failure. After the third the messages count as read."""
LEASE_S = 60.0

_STALE_AT_MOST = 3
"""Stale results in a row that count as a failure: messages are deleted or edited during each of them."""

Outcome = Literal["idle", "read", "nothing_unread", "later", "given_up", "forgotten", "lost"]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionResult:
    """Result of a step. `later` and `given_up` follow a failure; its `reason` has no text of the conversation."""

    outcome: Outcome
    ref: ContextRef | None = None
    facts: int = 0
    messages: int = 0
    is_older: bool = False
    tally: ReadingTally = field(default_factory=ReadingTally)
    reason: str = ""

    @property
    def is_busy(self) -> bool:
        """Return True if there was a context to read: there may be another."""
        return self.outcome != "idle"


class FactExtractor:
    """Reads one batch of one context of its partition at a time; several may run, in one process or many.

    A batch is saved as a whole, with the note that its messages are read: a crash loses one request. The save checks
    for a reset, a deletion, an edit or a choice in the meantime, and writes nothing then.
    """

    def __init__(
        self, *, queue: FactQueue, reader: FactReader, partition: int, lease_s: float = LEASE_S
    ) -> None:
        self._queue = queue
        self._reader = reader
        self._partition = partition
        self._lease_s = lease_s
        # Only for the length of the pauses; the store counts the failures.
        self._failures: Counter[ContextRef] = Counter()

    async def step(self) -> ExtractionResult:
        """Read a batch of the context that is due longest, if any. Raises StoreUnavailable and StoreFull.

        A cancellation saves nothing, and leaves a claim that ends with its lease.
        """
        claim = await self._queue.claim(self._partition, lease_s=self._lease_s)
        if claim is None:
            return ExtractionResult(outcome="idle")
        step = _Step(claim=claim)
        try:
            outcome = await self._extract(step)
        except Forgotten:
            outcome = "forgotten"
        except _ClaimLostError:
            return step.result("lost")
        except SummaryFailed as failure:
            return await self._fail(step, failure)
        except (StoreUnavailable, StoreFull):
            raise
        except Exception as error:  # noqa: BLE001
            # An extraction that breaks must not end the process or other extractions. It is given up like one that
            # fails: otherwise its messages would be read again after each lease.
            return await self._fail(step, SummaryFailed(f"It broke: {place_of(error)}."))
        del self._failures[claim.ref]
        await self._queue.finish(step.claim)
        return step.result(outcome)

    async def _extract(self, step: "_Step") -> Outcome:
        """Read and save one batch. Raises SummaryFailed, Forgotten and _ClaimLostError."""
        for _ in range(_STALE_AT_MOST):
            work = step.work = await self._queue.load(step.claim, limit=BATCH_MESSAGES)
            if not work.messages:
                return "nothing_unread"
            facts: list[NewFact] = []
            if are_extracted(work.choices, is_group=work.is_group):
                work, facts = await self._read(step, work)
            outcome = await self._queue.save(step.claim, work, facts)
            if outcome == "lost":
                raise _ClaimLostError
            if outcome == "saved":
                step.facts = len(facts)
                return "read"
        raise SummaryFailed("The chat changed under every extraction.")

    async def _read(self, step: "_Step", work: FactWork) -> tuple[FactWork, list[NewFact]]:
        """Return the batch, halved until the model can read it, and its facts."""
        while True:
            spent = step.tally.tokens
            try:
                facts = await run_leased(
                    self._reader.read(work, step.tally),
                    lambda: self._renew(step),
                    lease_s=self._lease_s,
                    name="extract",
                )
            except SummaryFailed as failure:
                if not failure.is_too_long or len(work.messages) == 1:
                    raise
                work = step.work = _halve(work)
            else:
                return work, [fact for fact in facts if not _is_refused(fact, work)]
            finally:
                if work.is_older and step.tally.tokens > spent:
                    await self._queue.spend(step.tally.tokens - spent)

    async def _renew(self, step: "_Step") -> None:
        renewed = await self._queue.renew(step.claim, lease_s=self._lease_s)
        if renewed is None:
            raise _ClaimLostError
        step.claim = renewed

    async def _fail(self, step: "_Step", failure: SummaryFailed) -> ExtractionResult:
        ref = step.claim.ref
        pause_s = RETRY_PAUSES_S[min(self._failures[ref], len(RETRY_PAUSES_S) - 1)]
        self._failures[ref] += 1
        tries = 1 if failure.is_filtered else TRIES  # a filter refuses the message again
        is_given_up = await self._queue.fail(step.claim, step.work, retry_in_s=pause_s, at_most=tries)
        if is_given_up:
            del self._failures[ref]
        return replace(step.result("given_up" if is_given_up else "later"), reason=str(failure))


class _ClaimLostError(Exception):
    """The lease has ended."""


@dataclass(slots=True, kw_only=True)
class _Step:
    """Progress of a step. The claim changes with each renewal."""

    claim: QueueClaim
    work: FactWork | None = None
    facts: int = 0
    tally: ReadingTally = field(default_factory=ReadingTally)

    def result(self, outcome: Outcome) -> ExtractionResult:
        """Return the result of the step."""
        is_read = outcome == "read" and self.work is not None
        return ExtractionResult(
            outcome=outcome,
            ref=self.claim.ref,
            facts=self.facts,
            messages=len(self.work.messages) if is_read and self.work else 0,
            is_older=self.work.is_older if self.work else False,
            tally=self.tally,
        )


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
