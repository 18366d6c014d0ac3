"""Rewrite the append-only files of Redis or Valkey: until then they keep every command, and so all erased data."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from typing import Any

import structlog

from memory.errors import CommandRefused, MemoryFailure
from memory.keys import global_key, partition_key
from memory.redis.address import node_url
from memory.redis.client import RedisClient, open_redis
from memory.redis.durability import ask_info, is_rewriting

log = structlog.get_logger()

GATHER_S = 10.0
"""Time from an erasure to the rewrite, so that erasures that follow soon are in the same one."""
EVERY_S = 580.0
"""Time from one rewrite to the next, by all processes together: so erased words leave the files within ten minutes."""
REST_PER_WORK = 20.0
"""Rest after a long rewrite of a large file: at most a twentieth of the time goes into rewrites."""
PATIENCE_S = 600.0
PRIMARY = "primary"
"""Name of the server at REDIS_URL, or of all primaries of a cluster."""

_POLL_S = 0.2
_CONNECTIONS = 2


class ServerFiles:
    """Has the servers at REDIS_URL and their replicas rewrite their files after erasures.

    Any number of processes may do this at once: the store has the counts, the pause, and the servers that did not do
    it. Those are asked again after the pause. Raises StoreUnavailable and StoreFull, with nothing lost.
    """

    def __init__(self, redis: RedisClient, *, url: str, partitions: int, clock: Callable[[], float]) -> None:
        self._redis = redis
        self._url = url
        self._counters = [partition_key(partition, "erasures") for partition in range(partitions)]
        self._clock = clock
        self._pending_since: float | None = None

    async def step(self) -> bool:
        """Have the files rewritten if that is due; return True if a server was asked."""
        *counts, rewritten = await self._redis.calls(
            [("GET", key) for key in (*self._counters, global_key("rewritten"))]
        )
        erased, now = sum(int(count or 0) for count in counts), self._clock()
        has_erased = erased != int(rewritten or 0)
        # Without a new erasure only the servers that did not do it are asked again.
        again = None if has_erased else await load_unclean(self._redis)
        if again is not None and not again:
            self._pending_since = None
            return False
        self._pending_since = now if self._pending_since is None else self._pending_since
        if now < self._pending_since + GATHER_S or not await self._begin_pause(EVERY_S, "NX"):
            return False
        unclean = await self._rewrite(again)
        took = self._clock() - now
        await self._begin_pause(max(EVERY_S - took, REST_PER_WORK * took))
        await self._note(erased, unclean)
        self._pending_since = None
        return True

    async def _begin_pause(self, seconds: float, *condition: str) -> bool:
        """Keep every process from another rewrite. Return False if another one has begun a pause."""
        milliseconds = round(1000 * seconds)
        return bool(
            await self._redis.call("SET", global_key("rewriting"), "1", "PX", milliseconds, *condition)
        )

    async def _rewrite(self, again: Collection[str] | None) -> dict[str, str]:
        """Ask these servers, by default all. Return those whose files still have erased data, with the reason."""
        unclean: dict[str, str] = {}
        replicas = await find_replicas(self._redis)
        names = [PRIMARY, *replicas]
        for name in names if again is None else [each for each in names if each in again]:
            try:
                async with self._open(replicas.get(name)) as server:
                    if await _has_file(server):
                        await rewrite_files(server)
            except (MemoryFailure, TimeoutError) as error:
                unclean[name] = str(error) or "the rewrite did not end"
        return unclean

    @asynccontextmanager
    async def _open(self, replica: tuple[str, int] | None) -> AsyncGenerator[RedisClient]:
        """Open a replica with the credentials of REDIS_URL; None is the primary."""
        if replica is None:
            yield self._redis
            return
        async with open_redis(node_url(self._url, *replica), max_connections=_CONNECTIONS) as server:
            yield server

    async def _note(self, erased: int, unclean: Mapping[str, str]) -> None:
        """Note the count from before the rewrite: data erased meanwhile is for the next one."""
        if unclean != await load_unclean(self._redis):
            say = log.warning if unclean else log.info
            say("store_files_unclean" if unclean else "store_files_clean", servers=dict(unclean))
        key = global_key("unclean")
        pairs = [part for pair in unclean.items() for part in pair]
        await self._redis.calls([("DEL", key), *([("HSET", key, *pairs)] if pairs else [])])
        await self._redis.call("SET", global_key("rewritten"), erased)


async def load_unclean(redis: RedisClient) -> dict[str, str]:
    """Return the servers whose files still have erased data, with the reason. Raises StoreUnavailable."""
    return dict(await redis.call("HGETALL", global_key("unclean")))


async def find_replicas(redis: RedisClient) -> dict[str, tuple[str, int]]:
    """Return the replicas that the primaries name, by host and port; none if INFO is not allowed."""
    replicas: dict[str, tuple[str, int]] = {}
    for node in await ask_info(redis, "replication"):
        for number in range(int(node.get("connected_slaves", 0))):
            found: Mapping[str, Any] = node.get(f"slave{number}", {})
            if host := found.get("ip"):
                replicas[f"{host}:{found['port']}"] = (str(host), int(found["port"]))
    return replicas


async def _has_file(redis: RedisClient) -> bool:
    """Return True if the server has an append-only file, or does not tell. Otherwise a rewrite would make one."""
    return any(int(node.get("aof_enabled", 1)) for node in await ask_info(redis, "persistence"))


async def rewrite_files(redis: RedisClient) -> None:
    """Have the server, or each primary of a cluster, rewrite its file, and wait for the end.

    Raises StoreUnavailable, CommandRefused if a server may not or
    cannot, and TimeoutError after PATIENCE_S.
    """
    async with asyncio.timeout(PATIENCE_S):
        before = await _wait_for_end(redis)
        try:
            await redis.ask_each("BGREWRITEAOF")
        except CommandRefused:
            if not any(map(is_rewriting, await ask_info(redis, "persistence"))):
                raise
            # Another process was faster, perhaps before our erasure.
            before = await _wait_for_end(redis)
            await redis.ask_each("BGREWRITEAOF")
        after = await _wait_for_end(redis)
    if any(map(_has_failed, before, after)):
        raise CommandRefused("the server did not finish the rewrite: see its log and free its disk")


async def _wait_for_end(redis: RedisClient) -> list[Mapping[str, Any]]:
    """Wait until no server rewrites its file, and return their INFO; servers do not notify."""
    while any(map(is_rewriting, found := await ask_info(redis, "persistence"))):  # noqa: ASYNC110
        await asyncio.sleep(_POLL_S)
    return found


def _has_failed(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Return True if no rewrite has succeeded between these INFOs.

    A server that was restarted meanwhile counts from 0, and has dropped the unfinished rewrite. Redis before 7.0 does
    not count.
    """
    if not after:  # INFO is not allowed
        return False
    has_counted = int(after.get("aof_rewrites", 1)) > int(before.get("aof_rewrites", 0))
    return not has_counted or after.get("aof_last_bgrewrite_status") != "ok"
