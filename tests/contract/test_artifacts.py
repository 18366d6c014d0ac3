"""Artifacts on the real store: storing, reading, searching, expiry, erasure and fencing."""

import asyncio
import random
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest

from bot.agent.tool_output import keep_if_large
from memory.artifacts import store as limits
from memory.artifacts.store import (
    LARGEST_TEXT,
    PIECE,
    PIECES_AT_ONCE,
    Artifact,
    ArtifactGone,
    ArtifactTooLarge,
    ContextArtifacts,
)
from memory.errors import Forgotten, StoreUnavailable
from memory.history.redis_history import RedisHistory
from memory.keys import ContextRef, context_key
from memory.redis.client import RedisClient
from tests.messages import make_ref
from tests.redis_values import keys_with
from tests.stores import all_keys

NOW = 1_800_000_000.0
TTL_S = 600


def open_artifacts(
    redis: RedisClient, ref: ContextRef | None = None, *, epoch: int = 0, now: float = NOW, ttl_s: int = TTL_S
) -> ContextArtifacts:
    return ContextArtifacts(
        redis, ref or make_ref(), epoch=lambda: epoch, clock=lambda: now, ttl_s=ttl_s, keep_beyond=1000
    )


def make_text(length: int) -> str:
    """Return a text in which every position is different."""
    return "".join(f"{number:07d} " for number in range(length // 8 + 1))[:length]


@asynccontextmanager
async def writing(redis: RedisClient, text: str, *, key: str = "k") -> AsyncGenerator[asyncio.Task[Artifact]]:
    """Start a task that is storing this long text."""
    task = asyncio.create_task(open_artifacts(redis).keep(text, tool="t", key=key))
    async with asyncio.timeout(10):
        while not await redis.call("EXISTS", context_key(make_ref(), "artifacts")):
            assert not task.done()
    yield task
    assert task.done()


async def fields_of(redis: RedisClient, artifact_id: str) -> set[str]:
    return set(await redis.call("HKEYS", context_key(make_ref(), "artifact", artifact_id)))


async def test_i06_an_artifact_has_a_short_id_a_tool_a_length_and_an_end(redis: RedisClient) -> None:
    artifacts = open_artifacts(redis)

    kept = await artifacts.keep("some text", tool="search_web", key="update-1 tool:1:0")

    assert re.fullmatch("a[0-9a-f]{11}", kept.id)
    assert kept == Artifact(id=kept.id, tool="search_web", length=9, ends_at=NOW + TTL_S)
    assert await artifacts.find(kept.id) == kept


@pytest.mark.parametrize(
    ("start", "end"),
    [
        (0, 10),
        (PIECE - 5, PIECE + 5),
        (PIECE, PIECE + 1),
        (PIECE - 1, PIECE),
        (100, 3 * PIECE + 7),
        (PIECES_AT_ONCE * PIECE - 3, PIECES_AT_ONCE * PIECE + 3),
        (12 * PIECE, 12 * PIECE + 100),
        (12 * PIECE + 40, 12 * PIECE + 900),
        (0, 13 * PIECE),
        (12 * PIECE + 100, 13 * PIECE),
        (10**15, 10**15 + 1),
        (5, 5),
        (7, 2),
    ],
)
async def test_i06_any_part_reads_as_it_was_stored(redis: RedisClient, start: int, end: int) -> None:
    artifacts, text = open_artifacts(redis), make_text(12 * PIECE + 100)
    kept = await artifacts.keep(text, tool="t", key="k")

    assert await artifacts.read(kept.id, start=start, length=end - start) == text[start:end]


async def test_a_read_needs_only_the_pieces_that_it_touches_and_one_round_trip(redis: RedisClient) -> None:
    artifacts, text = open_artifacts(redis), make_text(8 * PIECE)
    kept = await artifacts.keep(text, tool="t", key="k")
    others = [str(number) for number in range(8) if number not in (3, 4)]
    await redis.call("HDEL", context_key(make_ref(), "artifact", kept.id), *others)
    before = redis.round_trips

    part = await artifacts.read(kept.id, start=4 * PIECE - 10, length=20)

    assert part == text[4 * PIECE - 10 : 4 * PIECE + 10]
    assert redis.round_trips == before + 1


@pytest.mark.parametrize("at", [0, PIECE - 3, PIECES_AT_ONCE * PIECE - 3, 11 * PIECE, 12 * PIECE + 94])
async def test_i06_a_search_finds_text_across_pieces_in_any_case(redis: RedisClient, at: int) -> None:
    text = make_text(12 * PIECE + 100)
    text = text[:at] + "NeEdle" + text[at + 6 :]
    artifacts = open_artifacts(redis)
    kept = await artifacts.keep(text, tool="t", key="k")

    (match,) = await artifacts.search(kept.id, "nEEdlE", at_most=5)

    assert match.start == at
    assert match.excerpt == text[max(at - 100, 0) : at + 106]


async def test_the_offsets_of_a_search_are_those_of_the_stored_text(redis: RedisClient) -> None:
    text = "ß" * 30 + "İstanbul " + "x" * PIECE + " STRASSE, Straße und straẞe"
    artifacts = open_artifacts(redis)
    kept = await artifacts.keep(text, tool="t", key="k")

    starts = [match.start for match in await artifacts.search(kept.id, "straße", at_most=9)]

    assert [text[start : start + 6] for start in starts] == ["STRASS", "Straße", "straẞe"]
    assert [match.start for match in await artifacts.search(kept.id, "s", at_most=3)] == [0, 1, 2]


async def test_a_search_in_pieces_equals_a_search_in_the_whole_text(
    redis: RedisClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "PIECE", 5)
    monkeypatch.setattr(limits, "PIECES_AT_ONCE", 2)
    artifacts, chance = open_artifacts(redis), random.Random(6)
    for number in range(60):
        text = "".join(chance.choices("aAbж", k=chance.randrange(60)))
        sought = "".join(chance.choices("abЖ", k=chance.randrange(1, 14))) if number % 3 else "aa"
        start = chance.randrange(8)
        kept = await artifacts.keep(text, tool="t", key="k")

        found = await artifacts.search(kept.id, sought, at_most=100, start=start)

        folded = re.escape(sought.casefold())
        expected = [match.start() for match in re.compile(folded).finditer(text.casefold(), start)]
        assert [match.start for match in found] == expected, (text, sought, start)


async def test_a_search_stops_at_its_limit_and_continues_at_a_given_place(redis: RedisClient) -> None:
    artifacts = open_artifacts(redis)
    kept = await artifacts.keep("aXaXa" * 3 * PIECE, tool="t", key="k")

    first = await artifacts.search(kept.id, "xax", at_most=2)
    later = await artifacts.search(kept.id, "xax", at_most=2, start=5 * PIECE + 7)

    assert [match.start for match in first] == [1, 6]
    assert [match.start for match in later] == [5 * PIECE + 11, 5 * PIECE + 16]
    assert await artifacts.search(kept.id, "absent", at_most=2) == []
    assert await artifacts.search(kept.id, "", at_most=2) == []
    assert await artifacts.search(kept.id, "a", at_most=2, start=10**9) == []


@pytest.mark.parametrize("text", ["", "0", "false", "null", "\x00\x01", "a\r\n\u2028b", "😀" * 60_000])
async def test_any_text_is_stored_unchanged(redis: RedisClient, text: str) -> None:
    artifacts = open_artifacts(redis)

    kept = await artifacts.keep(text, tool="t", key="k")

    assert kept.length == len(text)
    assert await artifacts.read(kept.id, start=0, length=len(text)) == text


async def test_lone_surrogates_do_not_break_the_store(redis: RedisClient) -> None:
    artifacts = open_artifacts(redis)

    kept = await artifacts.keep("a\ud83d\ude00b\ud800c", tool="t", key="k")

    assert kept.length == 5
    assert await artifacts.read(kept.id, start=0, length=9) == "a😀b\ufffdc"
    assert [match.start for match in await artifacts.search(kept.id, "\udfffC", at_most=2)] == [3]


async def test_i06_20_megabytes_are_stored_and_any_part_can_be_read(redis: RedisClient) -> None:
    artifacts, text = open_artifacts(redis), make_text(20_000_000)

    shown, artifact_id = await keep_if_large(text, artifacts, tool="dump", key="k")

    assert len(shown) < 1000
    assert "20000000 characters" in shown
    assert await artifacts.read(artifact_id, start=19_999_990, length=100) == text[-10:]
    (match,) = await artifacts.search(artifact_id, "2400000", at_most=2)
    assert match.start == 2_400_000 * 8


@pytest.mark.parametrize(
    ("text", "size"), [("x" * (LARGEST_TEXT + 1), LARGEST_TEXT + 1), ("€" * 12_000_000, 36_000_000)]
)
async def test_a_text_over_32_mib_is_refused_with_its_size(redis: RedisClient, text: str, size: int) -> None:
    with pytest.raises(ArtifactTooLarge, match=f"^{size} bytes; at most 33554432 bytes are stored$"):
        await open_artifacts(redis).keep(text, tool="t", key="k")
    assert await all_keys(redis) == []


async def test_a_key_replaces_its_own_artifact_and_no_other(redis: RedisClient) -> None:
    artifacts = open_artifacts(redis)
    first = await artifacts.keep(make_text(3 * PIECE), tool="t", key="k")

    again = await artifacts.keep("shorter", tool="t", key="k")
    other = await artifacts.keep("other", tool="t", key="l")

    assert again.id == first.id != other.id
    assert await artifacts.find(first.id) == again
    assert await artifacts.read(first.id, start=0, length=10**6) == "shorter"
    assert await fields_of(redis, first.id) == {"0", "about", "writing"}


async def test_every_key_has_a_ttl_and_the_list_lives_as_long_as_its_last_member(redis: RedisClient) -> None:
    long_lived = await open_artifacts(redis, ttl_s=9000).keep("a", tool="t", key="k")
    short_lived = await open_artifacts(redis, ttl_s=60).keep("b", tool="t", key="l")

    ends = [
        await redis.call("TTL", key)
        for key in (
            context_key(make_ref(), "artifact", long_lived.id),
            context_key(make_ref(), "artifact", short_lived.id),
            context_key(make_ref(), "artifacts"),
        )
    ]

    assert 8990 < ends[0] <= 9000
    assert 50 < ends[1] <= 60
    assert 8990 < ends[2] <= 9000
    listed = await redis.call("ZRANGE", context_key(make_ref(), "artifacts"), 0, -1, "WITHSCORES")
    assert listed == [[short_lived.id, NOW + 60], [long_lived.id, NOW + 9000]]


async def test_an_expired_artifact_leaves_the_list_after_its_text(redis: RedisClient) -> None:
    ended = await open_artifacts(redis).keep("ended", tool="t", key="k")
    lasting = await open_artifacts(redis).keep("lasting", tool="t", key="l")
    await redis.call("DEL", context_key(make_ref(), "artifact", ended.id))

    new = await open_artifacts(redis, now=NOW + TTL_S + 1).keep("new", tool="t", key="m")

    assert await redis.call("ZRANGE", context_key(make_ref(), "artifacts"), 0, -1) == [lasting.id, new.id]
    assert await open_artifacts(redis).find(ended.id) is None


async def test_no_other_context_can_find_read_or_search_an_artifact(redis: RedisClient) -> None:
    kept = await open_artifacts(redis, make_ref(1)).keep("secret", tool="t", key="k")
    others = open_artifacts(redis, make_ref(2))
    own = await others.keep("own", tool="t", key="k")

    assert own.id != kept.id
    assert await others.find(kept.id) is None
    with pytest.raises(ArtifactGone):
        await others.read(kept.id, start=0, length=9)
    with pytest.raises(ArtifactGone):
        await others.search(kept.id, "secret", at_most=1)


@pytest.mark.parametrize(
    "artifact_id", ["", "a", "a0123456789b", "a0123456789B", "*", "a0123456789b\n", "\ud800", "a" * 10**6]
)
async def test_an_unknown_id_is_not_found(redis: RedisClient, artifact_id: str) -> None:
    artifacts = open_artifacts(redis)

    assert await artifacts.find(artifact_id) is None
    with pytest.raises(ArtifactGone):
        await artifacts.read(artifact_id, start=0, length=9)


async def test_a_cancelled_write_leaves_no_trace(redis: RedisClient) -> None:
    async with writing(redis, "canary " * 1_500_000) as task:
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    assert await keys_with(redis, "canary") == []
    assert await redis.call("EXISTS", context_key(make_ref(), "artifacts")) == 0


class Dying:
    """A client whose process dies after its first round trip."""

    def __init__(self, redis: RedisClient) -> None:
        self._redis = redis
        self.trips = 0

    async def run(self, *arguments: Any) -> Any:
        self.trips += 1
        if self.trips > 1:
            raise SystemExit
        return await self._redis.run(*arguments)


async def test_a_crash_during_a_write_leaves_nothing_readable(redis: RedisClient) -> None:
    text = make_text(10_000_000)
    with pytest.raises(SystemExit):
        await open_artifacts(cast(RedisClient, Dying(redis))).keep(text, tool="t", key="k")

    (cut_off,) = await redis.call("ZRANGE", context_key(make_ref(), "artifacts"), 0, -1)
    assert "about" not in await fields_of(redis, cut_off)
    assert 0 < await redis.call("TTL", context_key(make_ref(), "artifact", cut_off)) <= TTL_S
    artifacts = open_artifacts(redis)
    assert await artifacts.find(cut_off) is None
    with pytest.raises(ArtifactGone):
        await artifacts.read(cut_off, start=0, length=9)

    resumed = await artifacts.keep(text, tool="t", key="k")

    assert resumed.id == cut_off
    assert await artifacts.read(cut_off, start=9_999_990, length=10) == text[-10:]


async def test_a_write_that_a_reset_overtakes_is_forgotten(redis: RedisClient) -> None:
    async with writing(redis, "canary " * 1_500_000) as task:
        await RedisHistory(redis).erase(make_ref())
        with pytest.raises(Forgotten):
            await task

    assert await keys_with(redis, "canary") == []
    assert await redis.call("EXISTS", context_key(make_ref(), "artifacts")) == 0


async def test_a_reset_erases_every_artifact_of_its_context_and_no_other(redis: RedisClient) -> None:
    for key in ("k", "l"):
        await open_artifacts(redis).keep("canary", tool="t", key=key)
    other = await open_artifacts(redis, make_ref(2)).keep("of another chat", tool="t", key="k")

    await RedisHistory(redis).erase(make_ref())

    assert await keys_with(redis, "canary") == []
    assert await open_artifacts(redis, make_ref(2)).find(other.id) == other
    with pytest.raises(Forgotten):
        await open_artifacts(redis, epoch=0).keep("late", tool="t", key="k")
    assert await open_artifacts(redis, epoch=1).keep("new", tool="t", key="k")


async def test_a_writer_of_an_older_epoch_writes_nothing(redis: RedisClient) -> None:
    await redis.call("INCR", context_key(make_ref(), "epoch"))

    with pytest.raises(Forgotten):
        await open_artifacts(redis, epoch=0).keep("late", tool="t", key="k")

    assert await all_keys(redis) == [context_key(make_ref(), "epoch")]


async def test_the_later_of_two_writers_of_a_key_wins_and_their_texts_are_never_mixed(
    redis: RedisClient,
) -> None:
    async with writing(redis, make_text(10_000_000)) as overtaken:
        later = await open_artifacts(redis).keep("the later one", tool="t", key="k")
        with pytest.raises(StoreUnavailable):
            await overtaken

    artifacts = open_artifacts(redis)
    assert await artifacts.find(later.id) == later
    assert await artifacts.read(later.id, start=0, length=10**7) == "the later one"
    assert await fields_of(redis, later.id) == {"0", "about", "writing"}


async def test_an_artifact_that_vanishes_during_its_write_is_not_reported_as_stored(
    redis: RedisClient,
) -> None:
    async with writing(redis, make_text(10_000_000)) as task:
        (artifact_id,) = await redis.call("ZRANGE", context_key(make_ref(), "artifacts"), 0, -1)
        await redis.call("UNLINK", context_key(make_ref(), "artifact", artifact_id))
        with pytest.raises(StoreUnavailable):
            await task

    assert await open_artifacts(redis).find(artifact_id) is None


@pytest.mark.parametrize("end", ["", "\ud800"], ids=["text", "surrogate"])
async def test_i06_a_large_result_becomes_a_reference_and_a_small_one_does_not(
    redis: RedisClient, end: str
) -> None:
    artifacts = open_artifacts(redis)

    small = await keep_if_large("x" * 900 + end, artifacts, tool="t", key="k")
    shown, artifact_id = await keep_if_large("x" * 1001 + end, artifacts, tool="t", key="l")

    assert small == ("x" * 900 + end, "")
    assert shown.startswith(f"[artifact {artifact_id}: the result of t, ")
    assert await artifacts.find(artifact_id) is not None
