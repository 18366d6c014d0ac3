"""Opens the stores: Redis and Qdrant by URL, or the embedded ones, and the embedder; the same code for both."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import structlog

from bot.app.embedders import describe_space, open_embedder, open_former_space, space_in
from bot.errors import SettingsInvalid
from bot.settings import Settings
from bot.transport.guests import Guests
from bot.transport.migrations import Migrations
from memory import keys
from memory.embedded.index_server import open_index_server
from memory.embedded.valkey import open_valkey
from memory.errors import StoreUnavailable
from memory.history.redis_history import RedisHistory
from memory.recall.embedders.embedder import Embedder
from memory.recall.qdrant.index import QdrantFormerCollections, open_qdrant
from memory.recall.recall import Recall
from memory.recall.reindex import Reindexer
from memory.recall.space_follower import SpaceFollower, SpaceRegister
from memory.redis.client import RedisClient, open_redis
from memory.redis.durability import check_store

if TYPE_CHECKING:
    from qdrant_client import AsyncQdrantClient

log = structlog.get_logger()

PAUSE_S = 2.0
BLOCKING_READS = 3
"""Of each partition: claims, stops and index work; each holds a connection while it waits."""
SPARE_CONNECTIONS = 16
"""For heartbeats, sweeps, health and gauges; what finds no connection free waits for one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    """What every command works with."""

    redis: RedisClient
    history: RedisHistory
    recall: Recall
    reindexer: Reindexer
    guests: Guests
    migrations: Migrations
    partitions: int


@asynccontextmanager
async def open_stores(settings: Settings, *, is_patient: bool = False) -> AsyncGenerator[Stores]:
    """The stores of these settings; embedded servers end with their last user.

    `is_patient` waits for a Redis that does not answer yet; otherwise StoreUnavailable is raised. Raises
    SettingsInvalid for a store that would lose data, and for a changed PARTITIONS.
    """
    async with AsyncExitStack() as stack:
        try:
            async with asyncio.TaskGroup() as opening:
                redis_url = opening.create_task(redis_place(settings, stack), name="open-redis")
                qdrant = opening.create_task(qdrant_place(settings, stack), name="open-qdrant")
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from None
        redis = await stack.enter_async_context(
            open_redis(
                redis_url.result(),
                max_connections=connections_for(settings),
                replicas=settings.redis_replicas,
            )
        )
        await _wait_for(redis, is_patient=is_patient)
        await _check_durable(redis, settings)
        await _fix_partitions(redis, settings.partitions)
        url, api_key = qdrant.result()
        client = await stack.enter_async_context(open_qdrant(url, api_key=api_key))
        record = await _register(settings, redis).load()
        embedder = await open_embedder(settings, stack, record=record)
        stores = build_stores(settings, redis, client, embedder=embedder, stack=stack)
        await stores.reindexer.follow()
        yield stores


def build_stores(
    settings: Settings,
    redis: RedisClient,
    client: "AsyncQdrantClient",
    *,
    embedder: Embedder | None,
    stack: AsyncExitStack,
) -> Stores:
    """The stores over open clients; what else is opened on the way is closed with the stack."""
    ours = describe_space(settings, embedder)
    follower = SpaceFollower(
        _register(settings, redis),
        ours=ours,
        own=space_in(client, ours, embedder),
        open_space=partial(open_former_space, settings, client, stack),
        clock=time.monotonic,
    )
    return Stores(
        redis=redis,
        history=RedisHistory(redis),
        recall=Recall(follower.spaces),
        reindexer=Reindexer(
            redis,
            follower=follower,
            collections=QdrantFormerCollections(client),
            partitions=settings.partitions,
            clock=time.time,
        ),
        guests=Guests(redis, clock=time.time),
        migrations=Migrations(redis, clock=time.time),
        partitions=settings.partitions,
    )


def _register(settings: Settings, redis: RedisClient) -> SpaceRegister:
    return SpaceRegister(redis, partitions=settings.partitions, clock=time.time)


def connections_for(settings: Settings) -> int:
    """How many to Redis: for every turn, every push of Telegram and every blocking read at the same time."""
    at_once = settings.worker_concurrency + settings.webhook_max_connections
    return at_once + BLOCKING_READS * settings.partitions + SPARE_CONNECTIONS


async def redis_place(settings: Settings, stack: AsyncExitStack) -> str:
    """The URL of the store; an embedded one is kept open by the stack. Raises EmbeddedStoreFailure."""
    if settings.redis_url is not None:
        return settings.redis_url.get_secret_value()
    return await stack.enter_async_context(open_valkey(settings.data_dir))


async def qdrant_place(settings: Settings, stack: AsyncExitStack) -> tuple[str, str | None]:
    """The URL and key of the index; an embedded one is kept open by the stack. Raises EmbeddedStoreFailure."""
    if settings.qdrant_url is not None:
        key = settings.qdrant_api_key
        return settings.qdrant_url, key.get_secret_value() if key else None
    endpoint = await stack.enter_async_context(open_index_server(settings.data_dir))
    return endpoint.url, endpoint.api_key


async def _wait_for(redis: RedisClient, *, is_patient: bool) -> None:
    while True:
        try:
            await redis.call("PING")
        except StoreUnavailable as error:
            if not is_patient:
                raise
            log.warning("waiting_for_redis", setting="REDIS_URL", error=str(error), retry_in_s=PAUSE_S)
            await asyncio.sleep(PAUSE_S)
        else:
            return


async def _check_durable(redis: RedisClient, settings: Settings) -> None:
    """A store that would lose or evict is refused where it is named by REDIS_URL, and said otherwise."""
    is_external = settings.redis_url is not None
    durability = await check_store(redis, is_external=is_external)
    if durability.problems and is_external and not settings.allow_unsafe_store:
        raise SettingsInvalid(list(durability.problems))
    for problem in (*durability.problems, *filter(None, [durability.caution])):
        log.warning("unsafe_store", problem=problem)


async def _fix_partitions(redis: RedisClient, wanted: int) -> None:
    """The number of partitions is what the first start said: with another one, chats would lose their memory."""
    await redis.call("SET", keys.partitions_key(), wanted, "NX")
    fixed = int(await redis.call("GET", keys.partitions_key()))
    if fixed != wanted:
        raise SettingsInvalid([f"PARTITIONS: this store was begun with {fixed}, and that cannot change"])
