"""Background loops: index, reindex, compress, extract facts, update gauges, and care for the files of the stores."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeVar

import stamina
import structlog

from bot.features.parts import Stores
from bot.inbox.redis_inbox import RedisInbox
from bot.inbox.reminders import POLL_S, ReminderClock
from bot.observe import metrics
from bot.settings import Settings
from bot.turn.costs import WATCH_S, BudgetWatch
from memory.errors import CommandRefused, MemoryFailure, RecallUnavailable
from memory.facts.extractor import ExtractionResult
from memory.keys import ContextRef
from memory.leased import LeasedQueue, LeasedStep, StepResult
from memory.recall.embedders.embedder import EmbeddingError
from memory.recall.indexer import Indexer, IndexResult
from memory.recall.reindex import Reindexer, ReindexState
from memory.redis.client import RedisClient
from memory.redis.durability import rewrite_torn_file
from memory.retention import Retention, RetentionQueue, RetentionResult
from memory.summary.compressor import CompressionResult

log = structlog.get_logger()

Tell = Callable[[ContextRef], Awaitable[object]]
R = TypeVar("R", bound=StepResult)

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 30.0
PAUSE_S = 2.0
REFUSED_PAUSE_S = 600.0
GAUGES_S = 10.0
INDEX_PAUSE_S = 1.0
"""Pause after a batch of the indexer with messages of several chats, so that the next one is large too."""
FEW_INDEXED, SHORT_INDEX_PAUSE_S = 8, 0.2
"""Messages of a small batch, and the pause after it: people may search for their last message after /new."""
LATER_WORK_POLL_S = 2.0
_LEAVE_S = 1.0
_PAUSES_S: dict[ReindexState, float] = {"idle": 1.0, "building": 0.2, "busy": 0.0}


_retrying = stamina.AsyncRetryingCaller(
    attempts=None, timeout=None, wait_initial=FIRST_PAUSE_S, wait_max=LONGEST_PAUSE_S, wait_jitter=0.0
)


async def repeat(step: Callable[[], Awaitable[float]], retry: Callable[[Exception], bool | float]) -> None:
    """Run `step` until cancelled; it returns the seconds until its next run.

    After a failure `retry` returns True for a backoff, the seconds until the next try, or False to raise it.
    """
    while True:
        try:
            pause_s = await step()
        except Exception as error:
            again = retry(error)
            if again is False:
                raise
            await asyncio.sleep(FIRST_PAUSE_S if again is True else again)
            pause_s = await _retrying(retry, step)
        await asyncio.sleep(pause_s)


async def index_forever(indexer: Indexer) -> None:
    """Index forever. Back off while the index or the embedder fails; try each second while the store fails."""

    def retry(error: Exception) -> bool | float:
        return isinstance(error, RecallUnavailable) or (isinstance(error, MemoryFailure) and 1.0)

    await repeat(_Indexing(indexer).step, retry)


class _Indexing:
    """Steps of an indexer. New messages do not wait for the next try of a failing embedder to be found by words."""

    def __init__(self, indexer: Indexer) -> None:
        self._indexer = indexer
        self._pause_s = FIRST_PAUSE_S
        self._resume_at = 0.0

    async def step(self) -> float:
        if time.monotonic() < self._resume_at:
            await self._indexer.index_by_words()
            return INDEX_PAUSE_S
        try:
            result = await self._indexer.step()
        except EmbeddingError as failure:
            log.info("indexing_waits_for_embedder", reason=str(failure), retry_in_s=self._pause_s)
            self._resume_at = time.monotonic() + self._pause_s
            self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S)
            return 0
        self._pause_s = FIRST_PAUSE_S
        metrics.INDEXED.inc(result.indexed)
        metrics.REINDEXED.inc(result.reindexed)
        return index_pause_s(result)


def index_pause_s(result: IndexResult) -> float:
    """Return the pause after this batch, in seconds."""
    if result.is_full or result.reindexed or not result.indexed:
        return 0
    return SHORT_INDEX_PAUSE_S if result.indexed <= FEW_INDEXED else INDEX_PAUSE_S


async def reindex_forever(reindexer: Reindexer, *, is_claimed: bool = False) -> None:
    """Claim our space of vectors, then follow the record of spaces, and build ours if the record asks for it."""
    retry = partial(log_failure, "reindexing_waits", pause_s=True)
    if not is_claimed:
        await _retrying(retry, _claim, reindexer)

    async def reindex() -> float:
        return _PAUSES_S[await reindexer.step()]

    await repeat(reindex, retry)


async def _claim(reindexer: Reindexer) -> None:
    """Claim our space. Until that succeeds, search the spaces of other processes."""
    try:
        await reindexer.claim()
    except MemoryFailure:
        with suppress(MemoryFailure):
            await reindexer.follow()
        raise


async def rewrite_forever(step: Callable[[], Awaitable[bool]]) -> None:
    """Check every other second if the files of the store still contain erased data, and have them rewritten."""

    async def rewrite() -> float:
        if await step():
            log.debug("store_file_rewritten")
        return PAUSE_S

    await repeat(rewrite, partial(log_failure, "rewriting_waits", pause_s=PAUSE_S))


async def mend_forever(redis: RedisClient) -> None:
    """Check every other second if the server has started again over our data and must rewrite its file."""

    async def mend() -> float:
        if await rewrite_torn_file(redis):
            reason = "the server has started again over our data, and may have read a torn file"
            log.info("store_file_rewriting", reason=reason)
        return PAUSE_S

    def retry(error: Exception) -> bool | float:
        if not isinstance(error, CommandRefused):
            return isinstance(error, MemoryFailure) and PAUSE_S
        hint = "allow BGREWRITEAOF, or send it after each power cut (docs/operating.md)"
        log.warning("store_file_not_rewritten", error=str(error), hint=hint, retry_in_s=REFUSED_PAUSE_S)
        return REFUSED_PAUSE_S

    await repeat(mend, retry)


async def work_forever(
    worker: LeasedStep[R], stopping: asyncio.Event, note: Callable[[R, float], Awaitable[None]]
) -> None:
    """Work after replies; begin no step after `stopping`. A running one goes on while the turns end.

    `note` is called after each step, with its result and seconds.
    """

    async def step() -> float:
        begun = time.perf_counter()
        result = await worker.step()
        if not result.is_busy:
            return LATER_WORK_POLL_S
        await note(result, time.perf_counter() - begun)
        return 0

    await repeat_until(stopping, step, "later_work_waits", pause_s=LATER_WORK_POLL_S)


async def note_compression(result: CompressionResult, seconds: float) -> None:
    """Count and log a step of a compressor."""
    metrics.COMPRESSIONS.labels(result.outcome).inc()
    metrics.COMPRESSION_SECONDS.observe(seconds)
    event = "conversation_compressed" if result.summaries else "conversation_not_compressed"
    _log_result(event, result, summaries=result.summaries)


async def note_extraction(tell: Tell, result: ExtractionResult, seconds: float) -> None:
    """Count and log a batch of messages that were read for facts, after telling of it."""
    tally, age = result.tally, "older" if result.is_older else "new"
    metrics.EXTRACTION_SECONDS.observe(seconds)
    if result.ref is not None:
        await tell(result.ref)
    metrics.EXTRACTIONS.labels(result.outcome).inc()
    metrics.EXTRACTION_CALLS.inc(tally.calls)
    metrics.EXTRACTION_TOKENS.labels("prompt", age).inc(tally.prompt_tokens)
    metrics.EXTRACTION_TOKENS.labels("completion", age).inc(tally.completion_tokens)
    metrics.FACTS.labels("saved").inc(result.facts)
    metrics.FACTS.labels("dropped").inc(tally.dropped)
    event = "facts_extracted" if result.outcome == "read" else "facts_not_extracted"
    facts = {"facts": result.facts, "dropped": tally.dropped, "calls": tally.calls, "tokens": tally.tokens}
    _log_result(event, result, has_problem=bool(tally.dropped), **facts)


async def expire_forever(settings: Settings, stores: Stores, partition: int, stopping: asyncio.Event) -> None:
    """Erase messages of this partition that are too old; begin with no chat after `stopping`."""
    retention = Retention(
        RetentionQueue(stores.redis, clock=time.time),
        most_days=settings.retention_days,
        partition=partition,
        clock=time.time,
    )
    await work_forever(retention, stopping, note_retention)


async def note_retention(result: RetentionResult, seconds: float) -> None:
    """Count a walk through a chat, and log it if something went or if it failed."""
    metrics.RETENTION_SECONDS.observe(seconds)
    metrics.RETENTION_STEP_SECONDS.observe(result.longest_s)
    for name, number in result.counts.by_name().items():
        metrics.EXPIRED.labels(name).inc(number)
    if result.counts.total or result.reason:
        _log_result("messages_expired", result, longest_ms=round(1000 * result.longest_s))


async def fire_forever(reminders: ReminderClock, stopping: asyncio.Event) -> None:
    """Fire due reminders; none after `stopping`."""
    await repeat_until(stopping, reminders.step, "reminders_not_fired", pause_s=POLL_S)


async def watch_budget_forever(watch: BudgetWatch, stopping: asyncio.Event) -> None:
    """Warn operators when most of the month's budget is used; never after `stopping`."""
    await repeat_until(stopping, watch.step, "budget_not_watched", pause_s=WATCH_S)


async def repeat_until(
    stopping: asyncio.Event, step: Callable[[], Awaitable[float]], event: str, *, pause_s: float
) -> None:
    """Run `step` until cancelled, and begin none after `stopping`. Log a failure of memory as `event`."""

    async def begin() -> float:
        return pause_s if stopping.is_set() else await step()

    await repeat(begin, partial(log_failure, event, pause_s=pause_s))


def log_failure(event: str, error: Exception, *, pause_s: bool | float) -> bool | float:
    """Log a failure of memory and return the pause after it; return False for any other failure."""
    if not isinstance(error, (MemoryFailure, TimeoutError)):
        return False
    log.warning(event, error=str(error))
    return pause_s


def _log_result(event: str, result: StepResult, *, has_problem: bool = False, **facts: int) -> None:
    context = result.ref.context_id if result.ref else ""
    reason = {"reason": result.reason} if result.reason else {}
    say = log.warning if has_problem or reason else log.info
    say(event, context=context, outcome=result.outcome, messages=result.messages, **facts, **reason)


async def update_gauges_forever(
    inbox: RedisInbox, summaries: LeasedQueue | None, facts: LeasedQueue | None, stores: Stores
) -> None:
    """Update the gauges every 10 s; None for what this process does not do."""
    while True:
        metrics.RECALL_PAUSED.set(stores.recall.is_paused)
        with suppress(MemoryFailure):  # the loops that need the store log it
            depths = [await inbox.depth(partition) for partition in range(stores.partitions)]
            metrics.QUEUE_DEPTH.set(sum(depth for depth, _ in depths))
            metrics.QUEUE_OLDEST_SECONDS.set(max(age for _, age in depths))
            for queue, gauge in ((summaries, metrics.COMPRESSIONS_DUE), (facts, metrics.EXTRACTIONS_DUE)):
                if queue is not None:
                    gauge.set(sum([await queue.count_due(each) for each in range(stores.partitions)]))
            progress = await stores.reindexer.progress()
            metrics.REINDEX_MESSAGES.set(progress.total if progress.target else 0)
            metrics.REINDEX_MESSAGES_DONE.set(progress.done if progress.target else 0)
        await asyncio.sleep(GAUGES_S)


async def leave(indexers: Sequence[Indexer]) -> None:
    """Take our consumers out of their groups if the store answers soon."""
    with suppress(TimeoutError, MemoryFailure):
        async with asyncio.timeout(_LEAVE_S):
            for indexer in indexers:
                await indexer.leave()
