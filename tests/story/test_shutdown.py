"""A stopped bot leaves nothing in the store."""

from bot.inbox.records import GROUP as WORKERS
from memory.keys import partition_key
from memory.recall.indexer import GROUP as INDEXERS
from memory.redis.client import RedisClient
from tests.story.harness import BEN, StoryStores, running_bot


async def test_a_stopped_bot_leaves_no_consumer(stores: StoryStores) -> None:
    async with running_bot(stores) as bot:
        assert await bot.ask(BEN, "hello") == "echo: hello"
        await bot.wait_until_idle()
        await bot.wait_until_indexed()
        assert await _consumers(stores.redis) == (1, 1)

        await bot.stop()

        assert await _consumers(stores.redis) == (0, 0)


async def _consumers(redis: RedisClient) -> tuple[int, int]:
    """Return the consumers of the inbox and of the index work."""
    groups = [(partition_key(0, "ready"), WORKERS), (partition_key(0, "work"), INDEXERS)]
    inbox, index = [len(await redis.call("XINFO", "CONSUMERS", key, group)) for key, group in groups]
    return inbox, index
