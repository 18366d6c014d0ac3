"""The buffered history of one turn: reads without the store, and writes that wait for the commit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.chat_history import newest_first, oldest_first
from memory.errors import Forgotten
from memory.history.buffered import BufferedHistory
from memory.history.redis_history import RedisHistory
from memory.history.store import HistoryStore
from memory.redis.client import RedisClient
from tests.contract.memory_kit import RedisMemory, make_summary
from tests.contract.memory_kit import make_turn as make_call
from tests.fakes.history import InMemoryHistory
from tests.messages import ids, make_message, make_ref, some_messages

REF = make_ref()


async def make_turn(store: HistoryStore, *, stored: int, limit: int) -> BufferedHistory:
    await store.append(REF, some_messages(stored), epoch=0)
    return BufferedHistory(store, REF, await store.load(REF, limit=limit))


async def test_a_turn_over_a_preloaded_conversation_needs_no_round_trip(redis: RedisClient) -> None:
    turn = await make_turn(RedisHistory(redis), stored=5, limit=50)
    before = redis.round_trips
    await turn.append(REF, [make_message("mine")], epoch=0)
    assert [message.id async for message in newest_first(turn, REF)][:2] == ["mine", "m4"]
    assert [message.id async for message in oldest_first(turn, REF)][-2:] == ["m4", "mine"]
    assert ids((await turn.load(REF, limit=2)).newest) == ["m4", "mine"]
    assert list(await turn.get(REF, ["m1", "mine"])) == ["m1", "mine"]
    assert redis.round_trips == before


async def test_messages_of_a_turn_are_not_stored_before_the_commit(redis: RedisClient) -> None:
    store = RedisHistory(redis)
    turn = await make_turn(store, stored=2, limit=50)
    appended = await turn.append(
        REF, [make_message("mine"), make_message("m1"), make_message("mine")], epoch=0
    )
    assert [(message.id, message.sequence) for message in appended] == [("mine", 2), ("m1", 1), ("mine", 2)]
    assert ids(turn.pending) == ["mine"]
    assert (await turn.load(REF, limit=9)).count == 3
    assert (await store.load(REF, limit=9)).count == 2


async def test_a_turn_marks_its_own_messages_and_stored_ones_as_refused(redis: RedisClient) -> None:
    store = RedisHistory(redis)
    turn = await make_turn(store, stored=3, limit=50)
    await turn.append(REF, [make_message("mine")], epoch=0)

    for each in ("m0", "m2", "mine"):
        assert await turn.refuse(REF, each, epoch=0)

    shown = [message.id async for message in newest_first(turn, REF, is_prompt=True)]
    assert (shown, [message.is_refused for message in turn.pending]) == (["m1"], [True])
    assert [m.is_refused for m in (await store.load(REF, limit=9)).newest] == [True, False, True]
    assert turn.revision == (await store.load(REF, limit=0)).revision


async def test_a_turn_of_a_forgotten_epoch_cannot_append(redis: RedisClient) -> None:
    turn = await make_turn(RedisHistory(redis), stored=2, limit=50)
    with pytest.raises(Forgotten):
        await turn.append(REF, [make_message("mine")], epoch=3)


async def test_a_turn_reads_older_messages_from_the_store(redis: RedisClient) -> None:
    turn = await make_turn(RedisHistory(redis), stored=8, limit=3)
    await turn.append(REF, [make_message("mine")], epoch=0)
    assert ids(await turn.page(REF, limit=10)) == ["mine", "m7", "m6", "m5"]
    assert ids(await turn.page(REF, before_sequence=5, limit=10)) == ["m4", "m3", "m2", "m1", "m0"]
    assert ids((await turn.load(REF, limit=9)).newest) == [f"m{n}" for n in range(8)] + ["mine"]
    assert set(await turn.get(REF, ["m0", "mine"])) == {"m0", "mine"}


async def test_a_deletion_takes_effect_at_once_and_includes_pending_messages(redis: RedisClient) -> None:
    store = RedisHistory(redis)
    turn = await make_turn(store, stored=4, limit=2)
    await turn.append(REF, [make_message("mine"), make_message("kept")], epoch=0)
    assert (await turn.delete(REF, ["m0", "m3", "mine", "nothing"], epoch=0)).messages == 3
    assert [message.id async for message in oldest_first(turn, REF)] == ["m1", "m2", "kept"]
    assert ids((await store.load(REF, limit=9)).newest) == ["m1", "m2"]
    assert ids(turn.pending) == ["kept"]


async def test_an_erasure_takes_effect_at_once_and_leaves_nothing_to_commit(redis: RedisClient) -> None:
    store = RedisHistory(redis)
    turn = await make_turn(store, stored=4, limit=2)
    await turn.append(REF, [make_message("mine")], epoch=0)
    erased = await turn.erase(REF)
    assert (erased.epoch, erased.messages) == (1, 4)
    assert turn.pending == []
    assert (await turn.load(REF, limit=9)).count == 0
    with pytest.raises(Forgotten):
        await turn.append(REF, [make_message("late")], epoch=0)


async def make_covered_turn(
    memory: RedisMemory, *, stored: int, upto: int, limit: int = 50
) -> BufferedHistory:
    """Open a turn over a conversation with a summary up to this sequence."""
    await memory.store.append(REF, some_messages(stored), epoch=0)
    await memory.add_summary(REF, make_summary("s1", upto=upto), [f"m{n}" for n in range(upto + 1)])
    for first in range(0, stored, 2):
        await memory.add_turn(REF, make_call(first, first + 1))
    return BufferedHistory(memory.store, REF, await memory.store.load(REF, limit=limit))


async def test_i05_a_turn_reads_uncovered_messages_without_a_round_trip(redis: RedisClient) -> None:
    turn = await make_covered_turn(RedisMemory(redis), stored=8, upto=3)
    await turn.append(REF, [make_message("mine")], epoch=0)
    trips = redis.round_trips

    snapshot = await turn.load(REF, limit=50)

    assert redis.round_trips == trips
    assert ids(snapshot.newest) == ["m4", "m5", "m6", "m7", "mine"]
    assert (snapshot.summary, snapshot.summary_state.covered_count) == (make_summary("s1", upto=3), 4)
    assert [call.first_sequence for call in snapshot.ledger] == [4, 6]


async def test_a_turn_can_read_covered_messages_from_the_store(redis: RedisClient) -> None:
    turn = await make_covered_turn(RedisMemory(redis), stored=8, upto=3)

    assert [message.id async for message in newest_first(turn, REF)] == [f"m{n}" for n in range(7, -1, -1)]
    assert [message.id async for message in oldest_first(turn, REF)] == [f"m{n}" for n in range(8)]


async def test_a_shorter_load_has_the_ledger_of_its_messages_only(redis: RedisClient) -> None:
    turn = await make_covered_turn(RedisMemory(redis), stored=8, upto=1)
    await turn.append(REF, [make_message("mine")], epoch=0)

    assert [call.first_sequence for call in (await turn.load(REF, limit=2)).ledger] == [6]
    assert (await turn.load(REF, limit=1)).ledger == ()


async def test_deleting_a_covered_message_drops_the_summary_and_shows_the_other_messages(
    redis: RedisClient,
) -> None:
    turn = await make_covered_turn(RedisMemory(redis), stored=8, upto=3)
    await turn.append(REF, [make_message("mine")], epoch=0)

    deleted = await turn.delete(REF, ["m1"], epoch=0)

    assert (deleted.messages, deleted.summaries, deleted.ledger_turns) == (1, 1, 1)
    snapshot = await turn.load(REF, limit=50)
    assert (snapshot.summary, snapshot.revision) == (None, 1)
    assert ids(snapshot.newest) == ["m0", *(f"m{n}" for n in range(2, 8)), "mine"]
    assert (await turn.count_traces(REF)).ledger_turns == 3


async def test_an_edit_in_a_turn_takes_effect_at_once(redis: RedisClient) -> None:
    memory = RedisMemory(redis)
    turn = await make_covered_turn(memory, stored=8, upto=3)

    assert await turn.replace(REF, "m2", text="new", tokens=1, edited_at=5.0, epoch=0)
    assert not await turn.replace(REF, "nothing", text="new", tokens=1, edited_at=5.0, epoch=0)

    assert (await turn.load(REF, limit=50)).summary is None
    assert (await turn.get(REF, ["m2"]))["m2"].text == "new"
    assert (await memory.store.get(REF, ["m2"]))["m2"].text == "new"


@pytest.mark.parametrize("others_forget", [False, True])
async def test_a_turns_own_edits_do_not_hide_that_somebody_else_has_forgotten_a_message(
    redis: RedisClient, others_forget: bool
) -> None:
    store = RedisHistory(redis)
    turn = await make_turn(store, stored=5, limit=50)
    if others_forget:
        await store.delete(REF, ["m0"], epoch=0)

    await turn.replace(REF, "m1", text="edited", tokens=1, edited_at=9.0, epoch=0)
    await turn.replace(REF, "m1", text="edited", tokens=1, edited_at=9.0, epoch=0)
    await turn.delete(REF, ["m2"], epoch=0)

    assert (turn.revision != (await store.load(REF, limit=0)).revision) == others_forget


async def test_an_edit_of_a_pending_message_waits_with_it(redis: RedisClient) -> None:
    turn = await make_turn(RedisHistory(redis), stored=1, limit=50)
    await turn.append(REF, [make_message("mine")], epoch=0)

    assert await turn.replace(REF, "mine", text="new", tokens=1, edited_at=5.0, epoch=0)

    assert [(message.text, message.sequence) for message in turn.pending] == [("new", 1)]


async def test_a_turn_of_an_old_epoch_cannot_read_the_store(redis: RedisClient) -> None:
    store = RedisHistory(redis)
    turn = await make_turn(store, stored=4, limit=2)
    await store.erase(REF)
    await store.append(REF, some_messages(1), epoch=1)

    with pytest.raises(Forgotten):
        await turn.load(REF, limit=9)
    assert turn.epoch == 0


async def test_a_turn_reads_no_other_context(redis: RedisClient) -> None:
    turn = await make_turn(RedisHistory(redis), stored=1, limit=2)
    with pytest.raises(ValueError, match="own context"):
        await turn.page(make_ref(2), limit=5)


@given(
    stored=st.integers(0, 8), covered=st.integers(0, 8), limit=st.integers(0, 9), appended=st.integers(0, 4),
    gone=st.sets(st.integers(0, 11)), started=st.booleans(), whole=st.booleans(),
)  # fmt: skip
async def test_a_turn_reads_its_own_messages_like_stored_ones(
    stored: int, covered: int, limit: int, appended: int, gone: set[int], started: bool, whole: bool
) -> None:
    store, written = InMemoryHistory(), InMemoryHistory()
    for history in (store, written):
        await history.append(REF, some_messages(3, start=100), epoch=0)
        if started:
            await history.start_conversation(REF, epoch=0)
        await history.append(REF, some_messages(stored), epoch=0)
        if 0 < covered <= stored:
            history.keep_summary(REF, make_summary("s1", upto=2 + covered, start=3 if started else 0))
        for first in range(3, 3 + stored - 1, 2):
            history.keep_ledger_turn(REF, make_call(first, first + 1))
    turn = BufferedHistory(store, REF, await store.load(REF, limit=limit))
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
    assert (ours.newest, ours.count, ours.ledger) == (theirs.newest, theirs.count, theirs.ledger)
    assert (ours.summary, ours.summary_state.covered_count, ours.conversation_count) == (
        theirs.summary,
        theirs.summary_state.covered_count,
        theirs.conversation_count,
    )
