"""Compressions in a story: at once instead of soon, and what they asked for, covered and left."""

import time
from typing import Any

import pytest

from bot.agent import agents_file
from bot.app import service, upkeep
from memory import keys
from memory.history.message import Message
from memory.history.redis_history import RedisHistory
from memory.summary import compressor
from memory.summary.redis_summaries import RedisSummaries
from tests.story.harness import BEN, CHIARA, Json, Story, a_ref

POLL_S = 0.01

SOON: dict[str, Any] = {"compression_tokens": 120, "recall_k": 0}
"""A conversation such as EXCHANGES is compressed after its fifth line; two exchanges stay verbatim."""

EXCHANGES = (
    "please keep this for later: the code of Anna is tamarind",
    "the paint on the first shelf dries in two hours",
    "the boards of the second row are turned over",
    "the third shelf gets its coat in the morning",
    "the brushes are washed before the last coat",
)


def compress_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A compression begins when it is due, after little talk, is tried again without a pause, and is the only one."""
    monkeypatch.setattr(agents_file, "LEAST_COMPRESSION_TOKENS", 1)
    monkeypatch.setattr(upkeep, "COMPRESSION_POLL_S", POLL_S)
    monkeypatch.setattr(service, "COMPRESSIONS_AT_ONCE", 1)
    monkeypatch.setattr(compressor, "RETRY_PAUSES_S", (0.0, 0.0))


def spoken_prompts(bot: Story) -> list[list[Json]]:
    """The messages of every request for an answer."""
    bodies = [request.body for request in bot.model.chat_requests]
    return [body["messages"] for body in bodies if "response_format" not in body]


def summary_requests(bot: Story) -> list[str]:
    """What every request for a summary gave to read."""
    bodies = [request.body for request in bot.model.chat_requests]
    return [body["messages"][1]["content"] for body in bodies if "response_format" in body]


async def talk(bot: Story, *lines: str) -> None:
    """Ben says them, one after the other, and each is answered."""
    for line in lines:
        await bot.ask(BEN, line)


async def wait_until_compressed(bot: Story) -> None:
    """Return once no compression is due, and the one that ran has ended, whatever became of it.

    The one compressor takes another conversation only then: Chiara's, in which there is nothing to do.
    """
    await RedisSummaries(bot.redis, clock=time.time).queue(a_ref(CHIARA))

    async def is_done() -> bool:
        return int(await bot.redis.call("ZCARD", keys.partition_key(0, "compress"))) == 0

    await bot.wait_until_true(is_done)


async def stored(bot: Story) -> list[Message]:
    """Every message that is kept of Ben, oldest first, whether a summary covers it or not."""
    return await RedisHistory(bot.redis).page(a_ref(BEN), after_sequence=-1, limit=1000)


async def lineage(bot: Story) -> list[str]:
    """The ids of the summaries that are kept of Ben's conversation, oldest first."""
    return await bot.redis.call("ZRANGE", keys.context_key(a_ref(BEN), "lineage"), 0, -1)
