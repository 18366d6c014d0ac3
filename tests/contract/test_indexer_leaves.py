"""The end of an indexer: it leaves no consumer and no work under a dead name."""

from memory.history.redis_history import RedisHistory
from memory.keys import partition_key
from memory.recall.indexer import GROUP, Indexer
from memory.recall.recall import Recall
from memory.recall.spaces import Space, Spaces
from memory.redis.client import RedisClient
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.vector_index import InMemoryIndex

WORK = partition_key(0, "work")


def _indexer(redis: RedisClient, consumer: str) -> Indexer:
    return Indexer(
        redis=redis,
        history=RedisHistory(redis),
        recall=Recall(Spaces(serving=Space(embedder=FakeEmbedder(), index=InMemoryIndex()))),
        partition=0,
        consumer=consumer,
        block_ms=1,
    )


async def _consumers(redis: RedisClient) -> list[str]:
    return [consumer["name"] for consumer in await redis.call("XINFO", "CONSUMERS", WORK, GROUP)]


async def test_a_stopped_indexer_is_no_consumer_any_more(redis: RedisClient) -> None:
    staying, leaving = _indexer(redis, "staying"), _indexer(redis, "leaving")
    for indexer in (staying, leaving):
        await indexer.step()
    assert len(await _consumers(redis)) == 2

    await leaving.leave()

    assert await _consumers(redis) == ["staying"]


async def test_unfinished_work_of_a_stopped_indexer_can_be_taken_over(redis: RedisClient) -> None:
    indexer = _indexer(redis, "leaving")
    await indexer.step()
    await redis.call("XADD", WORK, "*", "op", "index", "context", "c", "epoch", 0, "id", "m")
    await redis.call("XREADGROUP", "GROUP", GROUP, "leaving", "STREAMS", WORK, ">")

    await indexer.leave()

    assert await _consumers(redis) == ["leaving"]
    assert (await redis.call("XPENDING", WORK, GROUP))["pending"] == 1


async def test_an_indexer_without_work_can_stop(redis: RedisClient) -> None:
    await _indexer(redis, "leaving").leave()

    assert await redis.call("EXISTS", WORK) == 0
