"""Health: which parts of this process fail now, in the words of what to do, for /health/ready and the log."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

import structlog

from bot.app.stores import IntakeStores
from bot.features.parts import Stores
from bot.settings import Settings
from memory.embedded.data_dir import FULL_BELOW_BYTES, free_bytes
from memory.errors import MemoryFailure, RecallTimedOut, StoreUnavailable
from memory.redis.durability import check_writes

log = structlog.get_logger()

LOW_SPACE_BYTES = 1 << 30
"""With less free space under DATA_DIR the operator is warned."""
_TIMEOUT_S = 3.0
_PAUSE_S = 10.0
_PERMISSION_S = 30.0
"""A command that was refused this long ago may still be refused. All loops try again more often."""
_WAIT_AT_TELEGRAM = "updates are refused with 503 and Telegram keeps them"

_NO_RECALL = "answers come without recall"

Parts = Mapping[str, str]
"""Name of a part, and one sentence on its trouble."""


async def find_down(
    settings: Settings, intake: IntakeStores | Stores, stores: Stores | None
) -> dict[str, str]:
    """Return the stores that fail now. `stores` is None in a process that does not work.

    A write is tried as the door tries it, because a store that answers may refuse all writes.
    """
    disk, redis, qdrant = await asyncio.gather(
        asyncio.to_thread(_find_full_disk, settings),
        _try_redis(settings, intake),
        _try_qdrant(settings, stores),
    )
    if disk and settings.redis_url is None:
        redis = ""  # the embedded store refuses writes because of the disk
    found = {"disk": disk, "redis": redis, "qdrant": qdrant}
    return {part: says for part, says in found.items() if says}


def find_low_disk(settings: Settings) -> dict[str, str]:
    """Return a warning if the disk under the embedded stores will soon be full."""
    free = _free_bytes(settings)
    if free is None or not FULL_BELOW_BYTES <= free < LOW_SPACE_BYTES:
        return {}
    return {
        "disk": f"{_space_text(settings.data_dir, free)}: free some space there before the stores refuse writes"
    }


async def watch_health_forever(
    find: Callable[[], Awaitable[Parts]], warn: Callable[[], Parts], *, pause_s: float = _PAUSE_S
) -> None:
    """Log each part once when it fails or is at risk, and when it works again."""
    down: Parts = {}
    cautions: Parts = {}
    while True:
        now, risks = await find(), warn()
        for part in now.keys() - down.keys():
            log.error("not_ready", part=part, problem=now[part])
        for part in down.keys() - now.keys():
            log.info("ready_again", part=part)
        for part in risks.keys() - cautions.keys():
            log.warning("at_risk", part=part, problem=risks[part])
        down, cautions = now, risks
        await asyncio.sleep(pause_s)


def _find_full_disk(settings: Settings) -> str:
    free = _free_bytes(settings)
    if free is None or free >= FULL_BELOW_BYTES:
        return ""
    effect = _WAIT_AT_TELEGRAM if settings.redis_url is None else "new messages cannot be indexed"
    return f"{_space_text(settings.data_dir, free)}: {effect}. Free some space there; no restart is needed"


def _free_bytes(settings: Settings) -> int | None:
    """Return the free space under the embedded stores; None without any."""
    if settings.redis_url is not None and settings.qdrant_url is not None:
        return None
    try:
        return free_bytes(settings.data_dir)
    except OSError:
        return None


def _space_text(data_dir: Path, free: int) -> str:
    return f"DATA_DIR {data_dir.absolute()} has {free >> 20} MB of free space"


async def _try_redis(settings: Settings, intake: IntakeStores | Stores) -> str:
    failure = await _failure_of(check_writes(intake.redis, partitions=settings.partitions))
    failure = failure or intake.redis.permissions.missing(within_s=_PERMISSION_S)
    if failure is None:
        return ""
    if type(failure) is StoreUnavailable:
        log_file = settings.data_dir.absolute() / "valkey" / "log"
        advice = f"Read {log_file}" if settings.redis_url is None else "Start it, or correct REDIS_URL"
        return f"{failure}: {_WAIT_AT_TELEGRAM}. {advice}"
    return f"{failure}: {_WAIT_AT_TELEGRAM}"


async def _try_qdrant(settings: Settings, stores: Stores | None) -> str:
    """Return the trouble of the index within a second, and at once while recall pauses."""
    if stores is None:
        return ""
    failure = await _failure_of(stores.recall.ping())
    if failure is None:
        return ""
    if stores.recall.is_paused:
        return f"does not answer in time, and recall pauses: {_NO_RECALL}. {_index_advice(settings)}"
    if isinstance(failure, RecallTimedOut):
        return f"does not answer in time: {_NO_RECALL}. {_index_advice(settings)}"
    return f"{failure}. {_NO_RECALL[0].upper()}{_NO_RECALL[1:]}"


def _index_advice(settings: Settings) -> str:
    log_file = settings.data_dir.absolute() / "index" / "log"
    return f"Read {log_file}" if settings.qdrant_url is None else "Start it, or correct QDRANT_URL"


async def _failure_of(question: Coroutine[Any, Any, object]) -> MemoryFailure | None:
    """Return the failure of a question; StoreUnavailable if it has no answer in time."""
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            await question
    except MemoryFailure as failure:
        return failure
    except TimeoutError:
        return StoreUnavailable("does not answer in time")
    return None
