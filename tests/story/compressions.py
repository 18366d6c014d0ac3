"""Compressions in stories: run at once, with their requests, coverage and results."""

import time
from typing import Any

import pytest

from bot.agent import agents_file
from bot.app import service, upkeep
from memory import keys, leased
from memory.history.message import Message
from memory.history.redis_history import RedisHistory
from memory.summary.compressor import RedisSummaries
from tests.story.harness import BEN, CHIARA, Json, Story, make_ref

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
    """Run a single compressor that starts at once, after little talk, and retries without a pause."""
    monkeypatch.setattr(agents_file, "LEAST_COMPRESSION_TOKENS", 1)
    monkeypatch.setattr(upkeep, "LATER_WORK_POLL_S", POLL_S)
    monkeypatch.setattr(service, "LATER_WORK_AT_ONCE", 1)
    monkeypatch.setattr(leased, "RETRY_PAUSES_S", (0.0, 0.0))


def spoken_prompts(bot: Story) -> list[list[Json]]:
    """Return the messages of every request for an answer."""
    bodies = [request.body for request in bot.model.chat_requests]
    return [body["messages"] for body in bodies if "response_format" not in body]


def summary_requests(bot: Story) -> list[str]:
    """Return the texts of every request for a summary."""
    bodies = [request.body for request in bot.model.chat_requests]
    return [body["messages"][1]["content"] for body in bodies if "response_format" in body]


async def talk(bot: Story, *lines: str) -> None:
    """Let Ben say these texts one after the other, and wait for each answer."""
    for line in lines:
        await bot.ask(BEN, line)


async def wait_until_compressed(bot: Story) -> None:
    """Wait until no compression is due and the running one has ended with any result.

    The one compressor takes another conversation only then: Chiara's, which has nothing to compress.
    """
    await RedisSummaries(bot.redis, clock=time.time).queue(make_ref(CHIARA))

    async def is_done() -> bool:
        return int(await bot.redis.call("ZCARD", keys.partition_key(0, "compress"))) == 0

    await bot.wait_until_true(is_done)


async def stored(bot: Story) -> list[Message]:
    """Return every stored message of Ben's chat, oldest first, covered or not."""
    return await RedisHistory(bot.redis).page(make_ref(BEN), after_sequence=-1, limit=1000)


async def lineage(bot: Story) -> list[str]:
    """Return the ids of the stored summaries of Ben's conversation, oldest first."""
    return await bot.redis.call("ZRANGE", keys.context_key(make_ref(BEN), "lineage"), 0, -1)
