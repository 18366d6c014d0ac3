"""Texts that a worker keeps in its own memory, to read them once only: they leave it soon, erased or not."""

import asyncio
import gc

import pytest

from memory.brief_cache import KEPT_S, BriefCache
from memory.history.message import Message
from memory.history.redis_history import RedisHistory
from memory.recall.recall import IndexItem, Recall, RecallQuestion
from memory.recall.spaces import Space, Spaces
from memory.redis.client import RedisClient
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.vector_index import InMemoryIndex
from tests.messages import make_message, make_ref

REF = make_ref()
SECRET = "the key is under the blue stone"


async def pass_half_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """Move the clock of the event loop, and run what is due."""
    loop = asyncio.get_running_loop()
    now = loop.time
    monkeypatch.setattr(loop, "time", lambda: now() + KEPT_S / 2)
    await asyncio.sleep(0.001)  # timers that are due before it run before it


async def pass_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    await pass_half_a_minute(monkeypatch)
    await pass_half_a_minute(monkeypatch)


def parsed_messages(text: str) -> int:
    return sum(type(each) is Message and each.text == text for each in gc.get_objects())


async def test_an_erased_message_leaves_the_process_within_a_minute(
    redis: RedisClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = RedisHistory(redis)
    await history.append(REF, [make_message(text=SECRET)], epoch=0)
    assert (await history.load(REF, limit=1)).newest[0] is (await history.load(REF, limit=1)).newest[0]
    await history.erase(REF)
    assert parsed_messages(SECRET) == 1

    await pass_a_minute(monkeypatch)

    assert parsed_messages(SECRET) == 0


async def test_a_question_leaves_the_process_within_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = FakeEmbedder()
    recall = Recall(Spaces(serving=Space(embedder=embedder, index=InMemoryIndex())))
    item = IndexItem(ref=REF, epoch=0, message=make_message(text=SECRET))
    await recall.search(REF, 0, RecallQuestion(text=SECRET, now=0.0), k=1)
    await recall.index([item])
    assert embedder.calls == [[SECRET]]

    await pass_a_minute(monkeypatch)

    await recall.index([item])
    assert embedder.calls == [[SECRET], [SECRET]]


async def test_a_cache_holds_no_more_than_its_bytes_and_drops_what_was_used_long_ago() -> None:
    cache: BriefCache[int, str] = BriefCache(max_bytes=100)
    for number in range(1_000):
        cache.put(number, "a value", 10)
        cache.get(0)

    kept = [number for number in range(1_000) if cache.get(number)]

    assert 0 in kept
    assert kept[-1] == 999
    assert 5 <= len(kept) <= 10


async def test_a_value_larger_than_half_a_cache_is_not_kept() -> None:
    cache: BriefCache[str, str] = BriefCache(max_bytes=100)
    cache.put("small", "a value", 10)
    cache.put("large", "a value", 51)
    assert (cache.get("small"), cache.get("large")) == ("a value", None)


async def test_what_is_used_again_and_again_stays_in_a_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    cache: BriefCache[str, str] = BriefCache(max_bytes=100)
    cache.put("used", "a value", 10)
    for _ in range(10):
        await pass_half_a_minute(monkeypatch)
        assert cache.get("used")
