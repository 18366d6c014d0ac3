"""What processes learn of models at an endpoint, shared through Redis."""

import asyncio
from collections.abc import Callable

import pytest

from bot.agent.abilities import LEARNED_FOR_S, Abilities, Lesson, describe
from bot.app.models import SharedLessons, load_lessons
from memory import keys
from memory.redis.client import RedisClient

URL = "https://me:secret@models.test/v1"


def shared(redis: RedisClient, abilities: Abilities, url: str | None = URL) -> SharedLessons:
    return SharedLessons(redis, {"m": abilities}, url)


async def test_one_process_learns_and_another_one_knows(redis: RedisClient) -> None:
    mine, other, elsewhere = Abilities(), Abilities(), Abilities()
    task = asyncio.create_task(shared(redis, mine).run())
    async with asyncio.timeout(10):
        await until_saved(redis, lambda: mine.learn({"tools": "no tools here"}), count=1)
        await until_saved(redis, lambda: mine.learn({"stream": "no streams"}), count=2)
        await until_saved(redis, lambda: mine.learn_room(4_000), count=3)
    task.cancel()
    await asyncio.wait([task])
    await shared(redis, other).load()
    await shared(redis, elsewhere, "https://other.test/v1").load()

    assert other.lacking() == {"tools", "stream"}
    assert other.room(16_000) == 4_000
    assert elsewhere.lacking() == set()
    assert "secret" not in str(await redis.call("HGETALL", keys.global_key("abilities")))
    assert 0 < await redis.call("TTL", keys.global_key("abilities")) <= LEARNED_FOR_S


async def until_saved(redis: RedisClient, learn: Callable[[], None], *, count: int) -> None:
    await asyncio.sleep(0)  # the loop has begun to listen
    learn()
    while len((await load_lessons(redis, URL)).get("m", [])) < count:  # noqa: ASYNC110 - a write sets no event
        await asyncio.sleep(0.01)


def test_a_lesson_is_forgotten_after_a_day() -> None:
    now = [0.0]
    abilities = Abilities(clock=lambda: now[0], never=frozenset(["images"]))
    abilities.learn({"tools": ""})
    assert abilities.lacking() == {"tools", "images"}

    now[0] = LEARNED_FOR_S + 1

    assert abilities.lacking() == {"images"}
    assert abilities.lessons() == []


def test_the_newer_of_two_lessons_holds() -> None:
    abilities = Abilities(clock=lambda: 0.0)

    abilities.merge([Lesson(about="room", until=10, tokens=100), Lesson(about="room", until=5, tokens=50)])

    assert abilities.room(1_000) == 100


@pytest.mark.parametrize(
    ("lesson", "words"),
    [
        (Lesson(about="tools", until=1, said="no tools"), "without tools (it says: no tools)"),
        (Lesson(about="room", until=1, tokens=4_000), "with at most 4,000 tokens"),
    ],
)
def test_a_lesson_has_words_for_operators(lesson: Lesson, words: str) -> None:
    assert describe(lesson) == words
