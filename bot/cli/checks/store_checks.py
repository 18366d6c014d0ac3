"""Checks of the stores: reachable, durable, and begun with the same PARTITIONS."""

import time
from contextlib import AsyncExitStack

from bot.app.stores import store_config
from bot.cli.checks.findings import Finding, fail, ok, warn
from bot.settings import Settings
from memory import keys
from memory.errors import CommandRefused
from memory.recall.qdrant.index import QdrantIndex, open_qdrant
from memory.recall.space_follower import SpaceRegister
from memory.redis.client import RedisClient, open_redis
from memory.redis.durability import StoreDurability, check_store
from memory.stores import qdrant_place, redis_place


async def check_redis(settings: Settings) -> list[Finding]:
    """Reachable, keeps what it acknowledges, and was begun with these PARTITIONS. Changes nothing in it."""
    is_external = settings.redis_url is not None
    async with AsyncExitStack() as stack:
        url = await redis_place(store_config(settings), stack)
        redis = await stack.enter_async_context(open_redis(url, max_connections=4))
        durability = await check_store(redis, is_external=is_external)
        partitions = await _check_partitions(redis, settings)
        spaces = await _check_spaces(redis, settings)
        replicas = await _check_replicas(redis, settings)
    return [*_durability_findings(durability, settings), *replicas, partitions, *spaces]


async def check_index(settings: Settings) -> list[Finding]:
    """Reachable, and takes our key."""
    async with AsyncExitStack() as stack:
        url, api_key = await qdrant_place(store_config(settings), stack)
        client = await stack.enter_async_context(open_qdrant(url, api_key=api_key))
        # Counting goes over the collections of every embedder, and makes none.
        await QdrantIndex(client, "doctor", dimension=1).count("doctor")
    where = "Qdrant at QDRANT_URL" if settings.qdrant_url is not None else "the embedded index under DATA_DIR"
    return [ok("index", f"{where} answers")]


async def _check_partitions(redis: RedisClient, settings: Settings) -> Finding:
    fixed = await redis.call("GET", keys.partitions_key())
    if fixed is None:
        return ok("partitions", f"{settings.partitions}; the first start fixes it")
    if int(fixed) != settings.partitions:
        return fail(
            "partitions",
            f"PARTITIONS is {settings.partitions}, but this store was begun with {fixed}, and that cannot change",
            f"Set PARTITIONS={fixed}, or name another store.",
        )
    return ok("partitions", f"{fixed}, as the store was begun with")


async def _check_replicas(redis: RedisClient, settings: Settings) -> list[Finding]:
    """Whether each primary has the replicas that REDIS_REPLICAS waits for."""
    if not settings.redis_replicas:
        return []
    try:
        told = await redis.ask_each("INFO", "replication")
    except CommandRefused:
        return [warn("replicas", "the server does not tell its replicas", "Allow INFO to our user.")]
    fewest = min(int(node.get("connected_slaves", 0)) for node in told)
    if fewest < settings.redis_replicas:
        return [
            fail(
                "replicas",
                f"REDIS_REPLICAS is {settings.redis_replicas}, but a primary has {fewest}: no update is acknowledged",
                "Start the replicas, with an append-only file each, or lower REDIS_REPLICAS.",
            )
        ]
    return [ok("replicas", f"each primary has {fewest} or more")]


async def _check_spaces(redis: RedisClient, settings: Settings) -> list[Finding]:
    """Which embedder's vectors are searched, and whether others are being made."""
    record = await SpaceRegister(redis, partitions=settings.partitions, clock=time.time).load()
    if record is None or record.destination is None:
        return []
    if record.target is None:
        return [ok("vectors", f"searches use those of {record.destination.model}")]
    searched = record.serving.model if record.serving else record.target.model
    return [
        warn(
            "vectors",
            f"searches use those of {searched}; those of {record.target.model} are being made",
            "A worker makes them, or `mnemogram reindex`, which shows how far it is.",
        )
    ]


def _durability_findings(durability: StoreDurability, settings: Settings) -> list[Finding]:
    is_external = settings.redis_url is not None
    where = "at REDIS_URL" if is_external else "embedded under DATA_DIR"
    name = f"{durability.server} {durability.version}"
    if not durability.problems and durability.caution:
        return [warn("store", durability.caution, "Set `appendfsync always` on the server.")]
    if not durability.problems:
        fsync = f"appendfsync {durability.appendfsync or 'not told'}"
        return [ok("store", f"{name}, {where}: keeps what it acknowledges ({fsync}), evicts nothing")]
    is_refused = is_external and not settings.allow_unsafe_store
    fix = "Change the server's configuration; until then the service does not start."
    if not is_refused:
        fix = (
            "ALLOW_UNSAFE_STORE accepts it." if is_external else "End every process of ours, and start again."
        )
    level = fail if is_refused else warn
    return [level("store", problem, fix) for problem in durability.problems]
