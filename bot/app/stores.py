"""Opens the stores that the settings name."""

import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, fields
from pathlib import Path

import stamina
import structlog

from bot.errors import SettingsInvalid
from bot.features.parts import Stores
from bot.settings import WEBHOOK_CONNECTIONS, Settings
from bot.transport.migrations import Migrations
from bot.transport.people import Guests
from memory.embedded.data_dir import folder_path
from memory.errors import CredentialsRefused, StoreMismatch, StoreUnavailable
from memory.redis.client import RedisClient, open_redis
from memory.redis.durability import check_store, check_store_format
from memory.redis.tombstone_files import FOLDER
from memory.reminders.redis_reminders import copy_zones
from memory.stores import (
    EmbedderConfig,
    MemoryStores,
    StoreConfig,
    open_memory_stores,
    open_places,
    redis_place,
)
from memory.tombstones import open_beside

log = structlog.get_logger()

PAUSE_S = 2.0
BLOCKING_READS = 3
"""Blocking reads of each partition: claims, stops and index work; each holds a connection while it waits."""
SPARE_CONNECTIONS = 16
"""Connections for heartbeats, sweeps, health and gauges; a command that finds none free waits for one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IntakeStores:
    """The stores of a process that only receives updates: Redis, without recall."""

    redis: RedisClient
    guests: Guests
    migrations: Migrations


@asynccontextmanager
async def open_stores(
    settings: Settings, *, is_patient: bool = False, restores: bool = False
) -> AsyncGenerator[Stores]:
    """Open the stores of these settings; embedded servers end with their last user.

    `restores` opens half restored stores too. `is_patient` waits for a Redis that does not answer yet. Raises
    StoreUnavailable otherwise, and always if it refuses our credentials. Raises SettingsInvalid for a store that would
    lose data, or that has another format or number of partitions.
    """
    async with AsyncExitStack() as stack:
        redis_url, (qdrant_url, api_key) = await open_places(store_config(settings), stack)
        redis = await _open_checked_redis(
            redis_url, settings, stack, is_patient=is_patient, restores=restores
        )
        from memory.recall.qdrant.index import open_qdrant

        is_embedded = settings.qdrant_url is None
        qdrant = await stack.enter_async_context(
            open_qdrant(qdrant_url, api_key=api_key, is_embedded=is_embedded)
        )
        yield with_bot(
            await open_memory_stores(
                redis, qdrant, embedder_config(settings), stack, partitions=settings.partitions
            )
        )


@asynccontextmanager
async def open_intake_stores(settings: Settings) -> AsyncGenerator[IntakeStores]:
    """Open Redis only, and wait for it. Raises SettingsInvalid as `open_stores` does."""
    async with AsyncExitStack() as stack:
        redis_url = await redis_place(store_config(settings), stack)
        redis = await _open_checked_redis(redis_url, settings, stack, is_patient=True)
        yield IntakeStores(
            redis=redis, guests=Guests(redis, clock=time.time), migrations=Migrations(redis, clock=time.time)
        )


def with_bot(stores: MemoryStores) -> Stores:
    """Return the stores with the bot's own records."""
    redis = stores.redis
    return Stores(
        **{each.name: getattr(stores, each.name) for each in fields(stores)},
        guests=Guests(redis, clock=time.time),
        migrations=Migrations(redis, clock=time.time),
    )


def store_config(settings: Settings) -> StoreConfig:
    """Return the addresses of the stores."""
    key = settings.qdrant_api_key
    return StoreConfig(
        data_dir=settings.data_dir,
        redis_url=settings.redis_url.get_secret_value() if settings.redis_url else None,
        qdrant_url=settings.qdrant_url,
        qdrant_api_key=key.get_secret_value() if key else None,
    )


def erasures_folder(settings: Settings) -> Path:
    """Return the folder with the copies of tombstones."""
    return settings.erasures_dir or folder_path(settings.data_dir, FOLDER)


def embedder_config(settings: Settings) -> EmbedderConfig:
    """Return the embedder of these settings."""
    return EmbedderConfig(
        model="" if settings.is_embedding_embedded else settings.openai_embedding_model,
        api_key=settings.api_key,
        base_url=settings.openai_base_url,
        has_endpoint=not settings.is_offline,
    )


def connections_for(settings: Settings) -> int:
    """Return how many connections to Redis may be open: one for every turn, webhook request and blocking read."""
    at_once = settings.worker_concurrency + WEBHOOK_CONNECTIONS
    return at_once + BLOCKING_READS * settings.partitions + SPARE_CONNECTIONS


async def _open_checked_redis(
    url: str, settings: Settings, stack: AsyncExitStack, *, is_patient: bool, restores: bool = False
) -> RedisClient:
    redis = await stack.enter_async_context(
        open_redis(url, max_connections=connections_for(settings), replicas=settings.redis_replicas)
    )
    await _wait_for(redis, is_patient=is_patient)
    await _check_durable(redis, settings)
    partitions = await _check_format(redis, settings, restores=restores)
    if partitions != settings.partitions:
        raise SettingsInvalid([f"PARTITIONS: this store was begun with {partitions}, and that cannot change"])
    await copy_zones(redis, partitions=partitions)
    await open_beside(redis, erasures_folder(settings))
    return redis


async def _wait_for(redis: RedisClient, *, is_patient: bool) -> None:
    def retry(error: Exception) -> bool | float:
        if not is_patient or not isinstance(error, StoreUnavailable) or isinstance(error, CredentialsRefused):
            return False
        log.warning("waiting_for_redis", setting="REDIS_URL", error=str(error), retry_in_s=PAUSE_S)
        return PAUSE_S

    await stamina.AsyncRetryingCaller(attempts=None, timeout=None)(retry, redis.call, "PING")


async def _check_durable(redis: RedisClient, settings: Settings) -> None:
    """Refuse a server at REDIS_URL that would lose or evict data; warn about other stores."""
    is_external = settings.redis_url is not None
    durability = await check_store(redis, is_external=is_external, accepts=settings.redis_accept_loss)
    if durability.problems and is_external:
        raise SettingsInvalid(list(durability.problems))
    for problem in (*durability.problems, *filter(None, [durability.caution])):
        log.warning("unsafe_store", problem=problem)


async def _check_format(redis: RedisClient, settings: Settings, *, restores: bool) -> int:
    try:
        return await check_store_format(redis, partitions=settings.partitions, restores=restores)
    except StoreMismatch as error:
        where = "DATA_DIR" if settings.redis_url is None else "REDIS_URL"
        raise SettingsInvalid([f"{where}: {error}"]) from error
