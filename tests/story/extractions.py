"""Extractions of facts in stories: run at once instead of five minutes after the turn."""

import time

import pytest

from bot.app import upkeep
from memory import keys, leased
from memory.facts.redis_facts import RedisFacts
from memory.history.fact import Fact
from memory.keys import ContextRef
from tests.story.harness import BEN, Story, make_ref

POLL_S = 0.01


def extract_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the extractor look for work all the time, and retry without a pause."""
    monkeypatch.setattr(upkeep, "LATER_WORK_POLL_S", POLL_S)
    monkeypatch.setattr(leased, "RETRY_PAUSES_S", (0.0, 0.0))


async def wait_until_extracted(bot: Story, ref: ContextRef | None = None) -> None:
    """Make the extraction of a context (Ben's chat) due now, and wait until nothing is unread or queued.

    It has ended with any result then. Needs `extract_at_once`, else it waits for the usual poll.
    """
    context = ref or make_ref(BEN)
    facts = RedisFacts(bot.redis, clock=time.time)

    async def is_done() -> bool:
        await facts.hurry(context)  # a turn that ends only now queues it for later
        queue = keys.partition_key(context.partition, "extract")
        is_queued = await bot.redis.call("ZSCORE", queue, context.context_id) is not None
        return not is_queued and await facts.count_unread(context) == 0

    await bot.wait_until_true(is_done)


async def stored_facts(bot: Story, ref: ContextRef | None = None) -> list[Fact]:
    """Return all facts of a context (Ben's chat), the newest first."""
    page = await RedisFacts(bot.redis, clock=time.time).list(ref or make_ref(BEN), limit=1_000)
    return list(page.facts)
