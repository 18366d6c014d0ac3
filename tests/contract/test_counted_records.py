"""Every record that `CONTEXT_KEYS` counts is erased, counted, and found by reading back if it is left."""

from typing import Final

import pytest

from memory.erasure import prove_erased
from memory.errors import CommandRefused
from memory.history.redis_history import RedisHistory
from memory.keys import CONTEXT_KEYS, ContextName, context_key, listed_prefixes
from memory.redis.client import RedisClient
from memory.redis.lua import load
from tests.messages import make_ref
from tests.stores import all_keys

REF = make_ref()
COUNTED: Final[dict[ContextName, str]] = {
    name: kind.counted_as for name, kind in CONTEXT_KEYS.items() if kind.counted_as
}


async def write_entry(redis: RedisClient, name: ContextName) -> None:
    """Put one entry into this key, which has the type that begins its documentation."""
    key, kind = context_key(REF, name), CONTEXT_KEYS[name]
    type_name = kind.holds.split()[0].strip(":.")
    command = {
        "HASH": ("HSET", key, "1", "entry"),
        "ZSET": ("ZADD", key, 1, "1"),
        "LIST": ("RPUSH", key, "1"),
        "SET": ("SADD", key, "1"),
        "STREAM": ("XADD", key, "*", "1", "entry"),
        "STRING": ("SET", key, "1"),
    }[type_name]
    await redis.call(*command)
    if kind.expires:
        await redis.call("EXPIRE", key, 60)
    if prefix := listed_prefixes(REF).get(name):
        await redis.call("SET", f"{prefix}1", "entry", "EX", 60)


async def test_every_counted_record_is_erased_and_counted(redis: RedisClient) -> None:
    store = RedisHistory(redis)
    for name in COUNTED:
        await write_entry(redis, name)

    erased = await store.erase(REF)

    assert erased.by_name() == {field: int(field in COUNTED.values()) for field in erased.by_name()}
    assert [key for key in await all_keys(redis) if ":ctx:" in key] == [context_key(REF, "epoch")]
    assert (await prove_erased(REF, erased, store=store, recall=None)).is_proven


@pytest.mark.parametrize("name", COUNTED)
async def test_every_counted_record_is_found_if_it_is_left(redis: RedisClient, name: ContextName) -> None:
    store = RedisHistory(redis)
    erased = await store.erase(REF)
    await write_entry(redis, name)

    receipt = await prove_erased(REF, erased, store=store, recall=None)

    left = {field: int(field == COUNTED[name]) for field in erased.by_name()}
    assert (receipt.left.by_name(), receipt.is_proven) == (left, False)
    traces = await store.count_traces(REF)
    assert traces.by_name() == {**left, "messages": 0}  # a snapshot counts messages


@pytest.mark.parametrize("kind", ["STRING", "SET", "STREAM"])
async def test_a_record_of_any_usual_type_is_counted(
    redis: RedisClient, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    store = RedisHistory(redis)
    monkeypatch.setitem(
        CONTEXT_KEYS, "sessions", CONTEXT_KEYS["sessions"]._replace(holds=f"{kind} of something")
    )
    await write_entry(redis, "sessions")

    assert (await store.count_traces(REF)).sessions == 1
    assert (await store.erase(REF)).sessions == 1
    assert (await store.count_traces(REF)).sessions == 0


async def test_a_type_that_nobody_can_count_is_an_error(redis: RedisClient) -> None:
    _, script = load("memory.redis.scripts", "count_records")
    type_of = "local redis = { call = function() return { ok = 'vectorset' } end }"

    with pytest.raises(CommandRefused, match="cannot count the type vectorset of the key sessions"):
        await redis.call(
            "EVAL",
            f"{type_of} {script.text} return count_records({{}}, {{ sessions = 'sessions' }}, {{}})",
            0,
        )
