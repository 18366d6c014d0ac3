"""The rewriting of the embedded store's file: it removes erased data, also after crashes and refusals."""

import asyncio
import os
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from memory.artifacts.store import drop_unnamed
from memory.embedded.data_dir import ERASED_WITHIN_S, rest_after
from memory.embedded.valkey import DAILY_S, GATHER_S, FileRewriter, remove_unfinished_rewrites
from memory.history.redis_history import RedisHistory, RedisTalk
from memory.keys import ContextRef, context_key, global_key, partition_key
from memory.redis.client import RedisClient, open_redis
from tests.messages import make_message
from tests.stores import plain_valkey

REF = ContextRef(context_id="c" * 32, partition=1)
CANARY = b"zanzibarwort"


@dataclass
class Store:
    """A private store with a file, and a clock that the test sets."""

    redis: RedisClient
    folder: Path
    now: float = 0.0

    def rewriter(self) -> FileRewriter:
        return FileRewriter(
            self.redis,
            partitions=2,
            clock=lambda: self.now,
            clear_away=partial(remove_unfinished_rewrites, self.folder),
        )

    def contains(self, word: bytes = CANARY) -> bool:
        files = [path for path in self.folder.rglob("*.aof*") if path.is_file()]
        return any(word in path.read_bytes() for path in files)

    async def remember(self) -> None:
        message = make_message("m", CANARY.decode())
        await RedisHistory(self.redis).append(REF, [message], epoch=await self.epoch())

    async def epoch(self) -> int:
        return (await RedisHistory(self.redis).load(REF, limit=0)).epoch


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[Store]:
    settings = {"appendonly": "yes", "appendfsync": "always", "save": "", "rdbcompression": "no"}
    folder = tmp_path / "valkey"
    folder.mkdir()
    async with plain_valkey(folder, **settings) as url, open_redis(url) as redis:
        yield Store(redis=redis, folder=tmp_path)


async def test_a_rewrite_waits_for_further_erasures_and_then_removes_them(store: Store) -> None:
    rewriter = store.rewriter()
    await store.remember()
    assert await rewriter.step() is False
    await RedisHistory(store.redis).erase(REF)
    assert await rewriter.step() is False
    assert store.contains()

    store.now = GATHER_S
    assert await rewriter.step() is True

    assert not store.contains()
    assert await store.redis.call("GET", global_key("rewritten")) == "1"
    store.now += ERASED_WITHIN_S
    assert await rewriter.step() is False


async def test_another_process_continues_after_a_crash(store: Store) -> None:
    await store.remember()
    await RedisHistory(store.redis).erase(REF)
    first, second = store.rewriter(), store.rewriter()
    await first.step()

    await second.step()
    store.now = GATHER_S

    assert await second.step() is True
    assert not store.contains()


async def test_the_next_rewrite_removes_data_erased_during_this_one(store: Store) -> None:
    rewriter = store.rewriter()
    await store.redis.calls([("SET", partition_key(0, "erasures"), 3), ("SET", global_key("rewritten"), 2)])
    await rewriter.step()
    store.now = GATHER_S
    await rewriter.step()
    await store.redis.call("INCR", partition_key(1, "erasures"))

    await rewriter.step()
    store.now += ERASED_WITHIN_S

    assert await rewriter.step() is True
    assert await store.redis.call("GET", global_key("rewritten")) == "4"


async def test_a_refused_rewrite_is_tried_again(store: Store) -> None:
    rewriter = store.rewriter()
    await store.remember()
    await RedisHistory(store.redis).erase(REF)
    await rewriter.step()
    store.now = GATHER_S
    await store.redis.call("CONFIG", "SET", "appendonly", "no")
    blocked = store.folder / "valkey" / "appendonlydir"
    blocked.rename(store.folder / "away")
    blocked.touch()

    assert await rewriter.step() is False
    blocked.unlink()
    (store.folder / "away").rename(blocked)
    assert await rewriter.step() is True


async def test_unfinished_files_of_a_dead_server_are_removed(store: Store) -> None:
    ended = await asyncio.create_subprocess_exec("true")
    await ended.wait()
    dead = store.folder / "valkey" / f"temp-rewriteaof-bg-{ended.pid}.aof"
    living = store.folder / "valkey" / f"temp-rewriteaof-{os.getpid()}.aof"
    for left in (dead, living):
        left.write_bytes(CANARY)
    rewriter = store.rewriter()
    await RedisHistory(store.redis).erase(REF)
    await rewriter.step()
    store.now = GATHER_S

    assert await rewriter.step() is True
    assert [dead.exists(), living.exists()] == [False, True]


async def test_the_file_is_rewritten_at_least_once_a_day(store: Store) -> None:
    rewriter = store.rewriter()
    await store.redis.call("SET", "short-lived", CANARY.decode())
    await store.redis.call("DEL", "short-lived")
    store.now = DAILY_S

    assert await rewriter.step() is True
    assert not store.contains()
    assert await rewriter.step() is False


async def test_every_kind_of_erasure_is_counted(store: Store) -> None:
    history = RedisHistory(store.redis)

    async def counted() -> int:
        return int(await store.redis.call("GET", partition_key(REF.partition, "erasures")) or 0)

    await history.append(REF, [make_message("u", "one"), make_message("v", "two")], epoch=0)
    await history.replace(REF, "u", text="other", tokens=1, edited_at=9.0, epoch=0)
    assert await counted() == 1
    await history.delete(REF, ["v"], epoch=0)
    assert await counted() == 2
    await RedisTalk(store.redis).forget(REF, 5)
    assert await drop_unnamed(store.redis, REF, epoch=0) == 0
    assert await counted() == 2
    await store.redis.call("ZADD", context_key(REF, "artifacts"), 9, "a1")
    assert await drop_unnamed(store.redis, REF, epoch=0) == 1
    assert await counted() == 3
    await history.erase(REF)
    assert await counted() == 4


@pytest.mark.parametrize("took", [0.01, 0.5, 3.0, 10.0, 16.0])
def test_data_erased_at_the_start_of_upkeep_is_removed_in_time(took: float) -> None:
    assert rest_after(took) >= took
    assert took + rest_after(took) + took <= ERASED_WITHIN_S


def test_long_upkeep_uses_at_most_half_of_the_time() -> None:
    assert rest_after(100.0) == 100.0
