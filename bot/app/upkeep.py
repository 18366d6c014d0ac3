"""Background loops of the stores: index, reindex, rewrite files after an erasure, repair a torn file."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

import structlog

from bot.observe import metrics
from memory.embedded.file_rewriter import FileRewriter
from memory.errors import CommandRefused, MemoryFailure, RecallUnavailable
from memory.recall.indexer import Indexer
from memory.recall.reindex import Reindexer, ReindexState
from memory.redis.client import RedisClient
from memory.redis.durability import rewrite_torn_file

log = structlog.get_logger()

LONGEST_PAUSE_S = 30.0
PAUSE_S = 2.0
REFUSED_PAUSE_S = 600.0
_LEAVE_S = 1.0
_PAUSES_S: dict[ReindexState, float] = {"idle": 1.0, "building": 0.2, "busy": 0.0}


async def index_forever(indexer: Indexer) -> None:
    """Index forever. Back off while the index, the embedder or the store fails."""
    pause = 0.5
    while True:
        try:
            result = await indexer.step()
            metrics.INDEXED.inc(result.indexed)
            metrics.REINDEXED.inc(result.reindexed)
            pause = 0.5
        except MemoryFailure as error:
            log.warning("indexing_waits", error=str(error), retry_in_s=pause)
            await asyncio.sleep(pause)
            pause = min(LONGEST_PAUSE_S, pause * 2) if isinstance(error, RecallUnavailable) else 1.0


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


async def leave(indexers: Sequence[Indexer]) -> None:
    """Take our consumers out of their groups if the store answers soon."""
    with suppress(TimeoutError, MemoryFailure):
        async with asyncio.timeout(_LEAVE_S):
            for indexer in indexers:
                await indexer.leave()
