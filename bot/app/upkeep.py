"""Background loops: index, reindex, compress, update gauges, rewrite files after an erasure, repair a torn file."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress

import stamina
import structlog

from bot.app.stores import Stores
from bot.inbox.redis_inbox import RedisInbox
from bot.observe import metrics
from memory.embedded.file_rewriter import FileRewriter
from memory.errors import CommandRefused, MemoryFailure, RecallUnavailable
from memory.recall.indexer import Indexer
from memory.recall.reindex import Reindexer, ReindexState
from memory.redis.client import RedisClient
from memory.redis.durability import rewrite_torn_file
from memory.summary.compressor import CompressionResult, Compressor
from memory.summary.redis_summaries import RedisSummaries

log = structlog.get_logger()

LONGEST_PAUSE_S = 30.0
PAUSE_S = 2.0
REFUSED_PAUSE_S = 600.0
GAUGES_S = 10.0
COMPRESSION_POLL_S = 2.0
_LEAVE_S = 1.0
_PAUSES_S: dict[ReindexState, float] = {"idle": 1.0, "building": 0.2, "busy": 0.0}


async def index_forever(indexer: Indexer) -> None:
    """Index forever. Back off while the index or the embedder fails; try each second while the store fails."""
    retrying = stamina.AsyncRetryingCaller(
        attempts=None, timeout=None, wait_initial=0.5, wait_max=LONGEST_PAUSE_S, wait_jitter=0.0
    ).on(_index_backoff)
    while True:
        result = await retrying(indexer.step)
        metrics.INDEXED.inc(result.indexed)
        metrics.REINDEXED.inc(result.reindexed)


def _index_backoff(error: Exception) -> bool | float:
    if isinstance(error, RecallUnavailable):
        return True
    return 1.0 if isinstance(error, MemoryFailure) else False


async def reindex_forever(reindexer: Reindexer, *, is_claimed: bool = False) -> None:
    """Claim our space of vectors, then follow the record of spaces, and build ours if the record asks for it."""
    retry_in_s = 1.0
    while True:
        try:
            if not is_claimed:
                await reindexer.claim()
                is_claimed = True
            pause = _PAUSES_S[await reindexer.step()]
            retry_in_s = 1.0
        except MemoryFailure as error:
            log.warning("reindexing_waits", error=str(error), retry_in_s=retry_in_s)
            with suppress(MemoryFailure):
                await reindexer.follow()  # until the claim succeeds, search the spaces of other processes
            pause, retry_in_s = retry_in_s, min(LONGEST_PAUSE_S, retry_in_s * 2)
        await asyncio.sleep(pause)


async def rewrite_forever(rewriter: FileRewriter) -> None:
    """Check every other second if the file still contains erased data, and rewrite it."""
    while True:
        try:
            if await rewriter.step():
                log.debug("store_file_rewritten")
        except (MemoryFailure, TimeoutError) as error:
            log.warning("rewriting_waits", error=str(error))
        await asyncio.sleep(PAUSE_S)


async def mend_forever(redis: RedisClient) -> None:
    """Check every other second if the server has started again and must rewrite its file."""
    while True:
        pause = PAUSE_S
        try:
            if await rewrite_torn_file(redis):
                log.info(
                    "store_file_rewriting",
                    reason="the server has started again: a power cut may have torn its file",
                )
        except CommandRefused as error:
            pause = REFUSED_PAUSE_S
            hint = "allow BGREWRITEAOF, or send it after each power cut (docs/operating.md)"
            log.warning("store_file_not_rewritten", error=str(error), hint=hint, retry_in_s=pause)
        except MemoryFailure as error:
            log.debug("mending_waits", error=str(error))
        await asyncio.sleep(pause)


async def compress_forever(compressor: Compressor, stopping: asyncio.Event) -> None:
    """Compress conversations until `stopping`. A running compression goes on while the turns end."""
    while not stopping.is_set():
        begun = time.perf_counter()
        try:
            result = await compressor.step()
            is_idle = not result.is_busy
            if result.ref is not None:
                metrics.COMPRESSIONS.labels(result.outcome).inc()
                metrics.COMPRESSION_SECONDS.observe(time.perf_counter() - begun)
                _log_compression(result)
        except MemoryFailure as error:
            log.warning("compression_waits", error=str(error))
            is_idle = True
        if is_idle:
            await asyncio.sleep(COMPRESSION_POLL_S)


def _log_compression(result: CompressionResult) -> None:
    say = log.warning if result.reason else log.info
    say(
        "conversation_compressed" if result.summaries else "conversation_not_compressed",
        context=result.ref.context_id if result.ref else "",
        outcome=result.outcome,
        summaries=result.summaries,
        messages=result.messages,
        **({"reason": result.reason} if result.reason else {}),
    )


async def update_gauges_forever(inbox: RedisInbox, summaries: RedisSummaries | None, stores: Stores) -> None:
    while True:
        try:
            depths = [await inbox.depth(partition) for partition in range(stores.partitions)]
            metrics.QUEUE_DEPTH.set(sum(depth for depth, _ in depths))
            metrics.QUEUE_OLDEST_SECONDS.set(max(age for _, age in depths))
            if summaries is not None:
                due = [await summaries.count_due(partition) for partition in range(stores.partitions)]
                metrics.COMPRESSIONS_DUE.set(sum(due))
            progress = await stores.reindexer.progress()
            metrics.REINDEX_MESSAGES.set(progress.total if progress.target else 0)
            metrics.REINDEX_MESSAGES_DONE.set(progress.done if progress.target else 0)
        except MemoryFailure:
            pass  # the loops that need the store log it
        await asyncio.sleep(GAUGES_S)


async def leave(indexers: Sequence[Indexer]) -> None:
    """Take our consumers out of their groups if the store answers soon."""
    with suppress(TimeoutError, MemoryFailure):
        async with asyncio.timeout(_LEAVE_S):
            for indexer in indexers:
                await indexer.leave()
