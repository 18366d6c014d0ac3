"""The history of one turn: what it reads without the store, and what stays unwritten until the commit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.buffered_history import BufferedHistory
from memory.errors import Forgotten
from memory.history_paging import newest_first, oldest_first
from memory.history_store import HistoryStore
from memory.redis_client import RedisClient
from memory.redis_history import RedisHistory
from memory.testing_stores import InMemoryHistory
from tests.messages import a_message, a_ref, ids, some_messages

REF = a_ref()


async def a_turn(store: HistoryStore, *, stored: int, limit: int) -> BufferedHistory:
    await store.append(REF, some_messages(stored), epoch=0)
    return BufferedHistory(store, REF, await store.load(REF, limit=limit))


async def test_a_turn_over_a_preloaded_conversation_needs_no_round_trip(redis: RedisClient) -> None:
    turn = await a_turn(RedisHistory(redis), stored=5, limit=50)
    before = redis.round_trips
    await turn.append(REF, [a_message("mine")], epoch=0)
    assert [message.id async for message in newest_first(turn, REF)][:2] == ["mine", "m4"]
    assert [message.id async for message in oldest_first(turn, REF)][-2:] == ["m4", "mine"]
    assert ids((await turn.load(REF, limit=2)).newest) == ["m4", "mine"]
    assert list(await turn.get(REF, ["m1", "mine"])) == ["m1", "mine"]
    assert redis.round_trips == before


async def test_what_a_turn_appends_is_not_written(redis: RedisClient) -> None:
    store = RedisHistory(redis)
    turn = await a_turn(store, stored=2, limit=50)
    appended = await turn.append(REF, [a_message("mine"), a_message("m1"), a_message("mine")], epoch=0)
    assert [(message.id, message.sequence) for message in appended] == [("mine", 2), ("m1", 1), ("mine", 2)]
    assert ids(turn.pending) == ["mine"]
    assert (await turn.load(REF, limit=9)).count == 3
    assert (await store.load(REF, limit=9)).count == 2


async def test_a_turn_of_a_forgotten_epoch_cannot_append(redis: RedisClient) -> None:
    turn = await a_turn(RedisHistory(redis), stored=2, limit=50)
    with pytest.raises(Forgotten):
        await turn.append(REF, [a_message("mine")], epoch=3)


async def test_a_turn_reads_on_in_the_store_beyond_what_was_preloaded(redis: RedisClient) -> None:
    turn = await a_turn(RedisHistory(redis), stored=8, limit=3)
    await turn.append(REF, [a_message("mine")], epoch=0)
    assert ids(await turn.page(REF, limit=10)) == ["mine", "m7", "m6", "m5"]
    assert ids(await turn.page(REF, before_sequence=5, limit=10)) == ["m4", "m3", "m2", "m1", "m0"]
    assert ids((await turn.load(REF, limit=9)).newest) == [f"m{n}" for n in range(8)] + ["mine"]
    assert set(await turn.get(REF, ["m0", "mine"])) == {"m0", "mine"}


async def test_deleting_goes_through_at_once_and_takes_pending_messages_along(redis: RedisClient) -> None:
    store = RedisHistory(redis)
    turn = await a_turn(store, stored=4, limit=2)
    await turn.append(REF, [a_message("mine"), a_message("kept")], epoch=0)
    assert await turn.delete(REF, ["m0", "m3", "mine", "nothing"], epoch=0) == 3
    assert [message.id async for message in oldest_first(turn, REF)] == ["m1", "m2", "kept"]
    assert ids((await store.load(REF, limit=9)).newest) == ["m1", "m2"]
    assert ids(turn.pending) == ["kept"]


async def test_erasing_goes_through_at_once_and_leaves_nothing_to_commit(redis: RedisClient) -> None:
    store = RedisHistory(redis)
    turn = await a_turn(store, stored=4, limit=2)
    await turn.append(REF, [a_message("mine")], epoch=0)
    erased = await turn.erase(REF)
    assert (erased.epoch, erased.messages) == (1, 4)
    assert turn.pending == []
    assert (await turn.load(REF, limit=9)).count == 0
    with pytest.raises(Forgotten):
        await turn.append(REF, [a_message("late")], epoch=0)


async def test_a_turn_reads_no_other_context(redis: RedisClient) -> None:
    turn = await a_turn(RedisHistory(redis), stored=1, limit=2)
    with pytest.raises(ValueError, match="own context"):
        await turn.page(a_ref(2), limit=5)


@given(
    stored=st.integers(0, 8), limit=st.integers(0, 9), appended=st.integers(0, 4), gone=st.sets(st.integers(0, 11)),
    started=st.booleans(), whole=st.booleans(),
)  # fmt: skip
async def test_a_turn_reads_as_if_all_had_been_written(
    stored: int, limit: int, appended: int, gone: set[int], started: bool, whole: bool
) -> None:
    store, written = InMemoryHistory(), InMemoryHistory()
    for history in (store, written):
        await history.append(REF, some_messages(3, start=100), epoch=0)
        if started:
            await history.start_conversation(REF, epoch=0)
    turn = await a_turn(store, stored=stored, limit=limit)
    await written.append(REF, some_messages(stored), epoch=0)
    for history in (turn, written):
        await history.append(REF, some_messages(appended, start=stored), epoch=0)
        await history.delete(REF, [f"m{number}" for number in gone], epoch=0)
    assert [m async for m in newest_first(turn, REF, whole=whole)] == [
        m async for m in newest_first(written, REF, whole=whole)
    ]
    assert [m async for m in oldest_first(turn, REF, whole=whole)] == [
        m async for m in oldest_first(written, REF, whole=whole)
    ]
    ours, theirs = await turn.load(REF, limit=5), await written.load(REF, limit=5)
    assert (ours.newest, ours.count) == (theirs.newest, theirs.count)
