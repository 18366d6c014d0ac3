"""Summaries, ledger turns and artifacts of messages:

they are read and deleted with them, on the real store and on the fake.
"""

import asyncio
from dataclasses import replace

import pytest

from bot.turn.answer_receipt import load_receipts
from memory.erasure import delete_provably, prove_erased
from memory.errors import Forgotten
from memory.history.ledger import LedgerTurn
from memory.history.redis_history import RedisHistory
from memory.history.store import Deletion, RecordCounts
from memory.keys import context_key, global_key, partition_key
from memory.redis.client import RedisClient
from tests.contract.memory_kit import Memory, RedisMemory, make_entry, make_summary, make_turn, write_receipts
from tests.messages import ids, make_message, make_ref, some_messages
from tests.redis_values import all_values, keys_with
from tests.stores import all_keys, stray_keys

REF = make_ref()
NOTHING = RecordCounts(summaries=0, ledger_turns=0, artifacts=0)


async def write_conversation(memory: Memory) -> None:
    """Create twelve messages. The first six are in two summaries, and each pair is a turn with a tool."""
    await memory.store.append(REF, some_messages(12), epoch=0)
    first = make_summary("s1", upto=3)
    await memory.add_summary(REF, first, ["m0", "m1", "m2", "m3"])
    await memory.add_summary(REF, make_summary("s2", upto=5, after=first), ["m4", "m5"])
    for number in range(0, 12, 2):
        await memory.add_turn(REF, make_turn(number, number + 1, artifact=f"a{number}"))


async def test_i05_a_load_returns_the_current_summary_and_the_messages_after_it(memory: Memory) -> None:
    await write_conversation(memory)

    snapshot = await memory.store.load(REF, limit=50)

    assert ids(snapshot.newest) == [f"m{n}" for n in range(6, 12)]
    assert snapshot.summary == make_summary("s2", upto=5, after=make_summary("s1", upto=3))
    assert (snapshot.count, snapshot.conversation_count, snapshot.summary_state.covered_count) == (12, 12, 6)
    assert len(snapshot.newest) == snapshot.conversation_count - snapshot.summary_state.covered_count


async def test_i05_the_originals_stay_in_the_store(memory: Memory) -> None:
    await write_conversation(memory)

    page = await memory.store.page(REF, after_sequence=-1, limit=50)

    assert ids(page) == [f"m{n}" for n in range(12)]


async def test_i08_a_load_returns_the_ledger_of_its_messages(memory: Memory) -> None:
    await write_conversation(memory)

    whole = await memory.store.load(REF, limit=50)
    cut_in_a_turn = await memory.store.load(REF, limit=3)
    nothing = await memory.store.load(REF, limit=0)

    assert whole.ledger == tuple(make_turn(n, n + 1, artifact=f"a{n}") for n in (6, 8, 10))
    assert [turn.first_sequence for turn in cut_in_a_turn.ledger] == [8, 10]
    assert nothing.ledger == ()
    assert (
        len(cut_in_a_turn.newest)
        < cut_in_a_turn.conversation_count - cut_in_a_turn.summary_state.covered_count
    )


async def test_forgetting_a_covered_message_deletes_every_summary_of_it(memory: Memory) -> None:
    await write_conversation(memory)

    deleted = await memory.store.delete(REF, ["m4"], epoch=0)

    assert deleted == Deletion(
        messages=1,
        summaries=1,
        summary_ids=("s2",),
        ledger_turns=1,
        artifacts=1,
        sequences=(4,),
        artifact_ids=("a4",),
        message_ids=("m4",),
        known_by=("m4",),
    )
    snapshot = await memory.store.load(REF, limit=50)
    assert snapshot.summary == make_summary("s1", upto=3)
    assert ids(snapshot.newest) == ["m5", *(f"m{n}" for n in range(6, 12))]
    assert snapshot.revision == 1
    assert await memory.store.count_traces(REF) == RecordCounts(
        summaries=1, ledger_turns=5, artifacts=5, sessions=1
    )


async def test_forgetting_a_message_deletes_later_turns_that_quote_it_and_their_artifacts(
    memory: Memory,
) -> None:
    await write_conversation(memory)
    await memory.store.start_conversation(REF, epoch=0)
    await memory.store.append(REF, some_messages(8, start=12), epoch=0)
    present = make_summary("s3", upto=15, start=12)
    await memory.add_summary(REF, present, ["m12", "m13", "m14", "m15"])
    await memory.add_turn(REF, _quoting(12, 13, "m8 m1", artifact="a12"))  # a search that found the message
    await memory.add_turn(REF, _quoting(16, 17, "a12"))  # a reading of that search's result
    await memory.add_turn(REF, _quoting(18, 19, "m10", output='"quotes":"m1"'))

    deleted = await memory.store.delete(REF, ["m1"], epoch=0)

    assert (deleted.summaries, deleted.ledger_turns, deleted.artifacts) == (1, 3, 2)
    assert sorted(deleted.artifact_ids) == ["a0", "a12"]
    snapshot = await memory.store.load(REF, limit=50)
    assert (snapshot.summary, [turn.first_sequence for turn in snapshot.ledger]) == (None, [18])
    assert (await memory.store.count_traces(REF, mentioning=deleted)).total == 0
    await memory.add_turn(REF, _quoting(16, 17, "m1"))
    assert (await memory.store.count_traces(REF, mentioning=deleted)).ledger_turns == 1


async def test_an_edit_deletes_later_turns_that_quote_the_old_text(memory: Memory) -> None:
    await write_conversation(memory)
    await memory.store.append(REF, some_messages(2, start=12), epoch=0)
    await memory.add_turn(REF, _quoting(12, 13, "m1"))

    await memory.store.replace(REF, "m1", text="new", tokens=1, edited_at=5.0, epoch=0)

    snapshot = await memory.store.load(REF, limit=50)
    assert [turn.first_sequence for turn in snapshot.ledger] == [0, 2, 4, 6, 8, 10]


async def test_forgetting_the_oldest_message_leaves_no_summary(memory: Memory) -> None:
    await write_conversation(memory)

    deleted = await memory.store.delete(REF, ["m9", "m0"], epoch=0)

    assert (deleted.messages, deleted.summaries, deleted.ledger_turns, deleted.artifacts) == (2, 2, 2, 2)
    snapshot = await memory.store.load(REF, limit=50)
    assert snapshot.summary is None
    assert len(snapshot.newest) == 10


async def test_forgetting_an_uncovered_message_keeps_the_summaries(memory: Memory) -> None:
    await write_conversation(memory)

    deleted = await memory.store.delete(REF, ["m6", "nothing"], epoch=0)

    assert (deleted.messages, deleted.summaries, deleted.ledger_turns) == (1, 0, 1)
    assert (await memory.store.load(REF, limit=50)).summary is not None


async def test_forgetting_an_unknown_message_changes_nothing(memory: Memory) -> None:
    await write_conversation(memory)
    before = await memory.store.load(REF, limit=50)

    assert await memory.store.delete(REF, ["nothing"], epoch=0) == Deletion()

    assert await memory.store.load(REF, limit=50) == before


async def test_forgetting_a_message_of_an_older_conversation_keeps_the_current_summaries(
    memory: Memory,
) -> None:
    await write_conversation(memory)
    await memory.store.start_conversation(REF, epoch=0)
    await memory.store.append(REF, some_messages(4, start=12), epoch=0)
    present = make_summary("s3", upto=13, start=12)
    await memory.add_summary(REF, present, ["m12", "m13"])

    deleted = await memory.store.delete(REF, ["m1"], epoch=0)

    assert (deleted.summaries, deleted.ledger_turns) == (0, 1)
    assert (await memory.store.load(REF, limit=50)).summary == present


async def test_the_receipt_of_forgetting_counts_erased_and_remaining_records(memory: Memory) -> None:
    await write_conversation(memory)

    receipt = await delete_provably(REF, ["m2"], epoch=0, store=memory.store, recall=None)

    assert (receipt.messages_erased, receipt.erased.summaries) == (1, 2)
    assert (receipt.erased.ledger_turns, receipt.erased.artifacts) == (1, 1)
    assert (receipt.messages_left, receipt.others_left, receipt.is_proven) == (0, 0, True)


async def test_reading_back_finds_remaining_traces_of_a_message(memory: Memory) -> None:
    await write_conversation(memory)
    deleted = await memory.store.delete(REF, ["m2"], epoch=0)
    dropped = make_summary("s1", upto=3)
    await memory.add_summary(REF, dropped, ["m3"])
    await memory.add_summary(REF, make_summary("on it", upto=4, after=dropped), ["m4"])
    await memory.add_turn(REF, make_turn(2, 3, artifact="a2"))

    left = await memory.store.count_traces(REF, mentioning=deleted)

    assert left == RecordCounts(summaries=2, ledger_turns=1, artifacts=1)


async def test_a_summary_of_what_remains_is_no_trace_of_a_message(memory: Memory) -> None:
    """A compression may begin and end between the deletion and the reading back."""
    await write_conversation(memory)
    deleted = await memory.store.delete(REF, ["m2"], epoch=0)
    await memory.add_summary(REF, make_summary("late", upto=4), ["m3", "m4"])

    left = await memory.store.count_traces(REF, mentioning=deleted)

    assert left == RecordCounts()


async def test_a_summary_that_was_made_of_a_forgotten_message_is_left(redis: RedisClient) -> None:
    memory = RedisMemory(redis)
    await write_conversation(memory)
    deleted = await memory.store.delete(REF, ["m2"], epoch=0)
    await redis.calls(
        [
            ("ZADD", context_key(REF, "lineage"), 4, "late"),
            ("HSET", context_key(REF, "summaries"), "covers:late", '["m1","m2"]', "late", "{}"),
        ]
    )

    left = await memory.store.count_traces(REF, mentioning=deleted)

    assert left == RecordCounts(summaries=1)


async def test_a_new_conversation_drops_the_summaries_and_keeps_the_ledger(memory: Memory) -> None:
    await write_conversation(memory)

    await memory.store.start_conversation(REF, epoch=0)

    snapshot = await memory.store.load(REF, limit=50)
    assert (snapshot.summary, snapshot.summary_state.covered_count, snapshot.conversation_count) == (
        None,
        0,
        0,
    )
    assert await memory.store.count_traces(REF) == RecordCounts(
        summaries=0, ledger_turns=6, artifacts=6, sessions=1
    )


async def test_an_erasure_deletes_and_counts_everything(memory: Memory) -> None:
    await write_conversation(memory)

    erased = await memory.store.erase(REF)

    assert (erased.messages, erased.summaries, erased.ledger_turns, erased.artifacts) == (12, 2, 6, 6)
    assert await memory.store.count_traces(REF) == NOTHING
    receipt = await prove_erased(REF, erased, store=memory.store, recall=None)
    assert (receipt.erased.summaries, receipt.erased.ledger_turns, receipt.erased.artifacts) == (2, 6, 6)
    assert (receipt.others_left, receipt.is_proven) == (0, True)


async def test_a_receipt_with_a_remaining_trace_is_unproven(memory: Memory) -> None:
    await write_conversation(memory)
    erased = await memory.store.erase(REF)
    await memory.store.append(REF, some_messages(2), epoch=1)
    await memory.store.delete(REF, ["m0", "m1"], epoch=1)
    await memory.add_turn(REF, make_turn(0, 1))

    receipt = await prove_erased(REF, erased, store=memory.store, recall=None)

    assert (receipt.messages_left, receipt.others_left, receipt.is_proven) == (0, 1, False)


async def test_an_edit_replaces_the_text_and_keeps_the_rest(memory: Memory) -> None:
    before = replace(make_message("u", "my sister Anna", telegram=9), is_stopped=True)
    await memory.store.append(REF, [before], epoch=0)

    assert await memory.store.replace(REF, "u", text="my brother Tom", tokens=3, edited_at=5.0, epoch=0)

    wanted = replace(before, text="my brother Tom", tokens=3, edited_at=5.0, sequence=0)
    snapshot = await memory.store.load(REF, limit=9)
    assert snapshot.newest == (wanted,)
    assert snapshot.revision == 1


async def test_an_edit_of_a_covered_message_deletes_its_summaries(memory: Memory) -> None:
    await write_conversation(memory)

    assert await memory.store.replace(REF, "m5", text="new", tokens=1, edited_at=5.0, epoch=0)

    snapshot = await memory.store.load(REF, limit=50)
    assert snapshot.summary == make_summary("s1", upto=3)
    assert [(m.id, m.text) for m in snapshot.newest][:2] == [("m4", "text 4"), ("m5", "new")]


async def test_an_edit_in_an_older_conversation_keeps_the_current_summaries(memory: Memory) -> None:
    await write_conversation(memory)
    await memory.store.start_conversation(REF, epoch=0)
    await memory.store.append(REF, some_messages(2, start=12), epoch=0)
    await memory.add_summary(REF, make_summary("s3", upto=12, start=12), ["m12"])

    await memory.store.replace(REF, "m1", text="new", tokens=1, edited_at=5.0, epoch=0)

    assert (await memory.store.load(REF, limit=50)).summary is not None


async def test_a_repeated_or_older_edit_changes_nothing(memory: Memory) -> None:
    await memory.store.append(REF, some_messages(2), epoch=0)
    await memory.store.replace(REF, "m0", text="second", tokens=1, edited_at=6.0, epoch=0)
    before = await memory.store.load(REF, limit=9)

    assert await memory.store.replace(REF, "m0", text="second", tokens=1, edited_at=6.0, epoch=0)
    assert await memory.store.replace(REF, "m0", text="first", tokens=1, edited_at=5.0, epoch=0)

    assert await memory.store.load(REF, limit=9) == before


async def test_two_edits_within_one_second_end_with_the_later_one(memory: Memory) -> None:
    """Telegram's edit_date has whole seconds."""
    await memory.store.append(REF, some_messages(1), epoch=0)

    for text in ("first", "second"):
        await memory.store.replace(REF, "m0", text=text, tokens=1, edited_at=5.0, epoch=0)

    assert [m.text for m in (await memory.store.load(REF, limit=9)).newest] == ["second"]


async def test_an_edit_without_a_change_of_text_keeps_the_summaries(memory: Memory) -> None:
    """Telegram calls it an edit when a link gets its preview."""
    await write_conversation(memory)

    assert await memory.store.replace(REF, "m0", text="text 0", tokens=2, edited_at=5.0, epoch=0)

    snapshot = await memory.store.load(REF, limit=50)
    assert (snapshot.revision, snapshot.summary_state.covered_count) == (0, 6)
    assert (await memory.store.get(REF, ["m0"]))["m0"].edited_at == 5.0


async def test_an_edit_of_an_unknown_message_stores_nothing(memory: Memory) -> None:
    assert not await memory.store.replace(REF, "gone", text="new", tokens=1, edited_at=5.0, epoch=0)

    assert (await memory.store.load(REF, limit=9)).count == 0


async def test_an_edit_that_began_before_a_reset_is_forgotten(memory: Memory) -> None:
    await memory.store.append(REF, some_messages(1), epoch=0)
    await memory.store.erase(REF)
    await memory.store.append(REF, some_messages(1), epoch=1)

    with pytest.raises(Forgotten):
        await memory.store.replace(REF, "m0", text="new", tokens=1, edited_at=5.0, epoch=0)
    with pytest.raises(Forgotten):
        await memory.store.replace(REF, "gone", text="new", tokens=1, edited_at=5.0, epoch=0)

    assert [m.text for m in (await memory.store.load(REF, limit=9)).newest] == ["text 0"]


async def test_an_edit_queues_the_vector_again_and_a_compression_for_a_deleted_summary(
    redis: RedisClient,
) -> None:
    memory = RedisMemory(redis)
    await write_conversation(memory)
    await redis.call("DEL", partition_key(0, "work"))

    await memory.store.replace(REF, "m5", text=" ", tokens=0, edited_at=5.0, epoch=0)

    work = [fields for _, fields in await redis.call("XRANGE", partition_key(0, "work"), "-", "+")]
    assert work == [{"op": "index", "context": REF.context_id, "epoch": "0", "id": "m5"}]
    claim = await memory.summaries.claim(0, lease_s=1)
    assert claim is not None
    assert claim.ref == REF


async def test_only_forgetting_a_covered_message_queues_a_compression(redis: RedisClient) -> None:
    memory = RedisMemory(redis)
    await write_conversation(memory)

    await memory.store.delete(REF, ["m9"], epoch=0)
    assert await redis.call("EXISTS", partition_key(0, "compress")) == 0

    await memory.store.delete(REF, ["m0"], epoch=0)
    assert await redis.call("ZSCORE", partition_key(0, "compress"), REF.context_id) == 0


async def test_no_value_of_the_store_contains_a_forgotten_text(redis: RedisClient) -> None:
    memory = RedisMemory(redis)
    await memory.store.append(REF, [make_message("u", "quokka", telegram=9), *some_messages(3)], epoch=0)
    summary = make_summary("s1", upto=1, overview="about a quokka")
    await memory.add_summary(REF, summary, ["u", "m0"])
    await memory.add_turn(REF, make_turn(0, 1, artifact="a1", output="quokka"))
    await memory.add_artifact(REF, "a1", "quokka")

    await memory.store.delete(REF, ["u"], epoch=0)

    assert await keys_with(redis, "quokka") == []
    assert (
        await redis.call(
            "EXISTS",
            context_key(REF, "artifacts"),
            context_key(REF, "artifact", "a1"),
            context_key(REF, "lineage"),
        )
        == 0
    )


async def test_an_erasure_deletes_every_key_and_the_contexts_place_in_the_queue(redis: RedisClient) -> None:
    memory = RedisMemory(redis)
    await write_conversation(memory)
    await memory.add_artifact(REF, "unnamed", "quokka")
    await redis.calls(
        [
            ("ZADD", context_key(REF, "receipts"), 9, "m1"),
            ("EXPIRE", context_key(REF, "receipts"), 9),
            ("SET", context_key(REF, "receipt", "m1"), "quokka", "EX", 9),
        ]
    )
    await memory.summaries.queue(REF)
    await memory.summaries.queue(make_ref(2))

    erased = await memory.store.erase(REF)

    assert erased.artifacts == 7
    assert await keys_with(redis, "quokka") == []
    assert await all_keys(redis) == sorted(
        [
            context_key(REF, "epoch"),
            partition_key(0, "work"),
            partition_key(0, "compress"),
            partition_key(0, "erasures"),
            partition_key(0, "tombstones"),
            global_key("secret"),
        ]
    )
    assert await redis.call("ZRANGE", partition_key(0, "compress"), 0, -1) == [make_ref(2).context_id]


async def test_another_contexts_summaries_and_ledger_are_untouched(redis: RedisClient) -> None:
    memory = RedisMemory(redis)
    await write_conversation(memory)
    other = make_ref(2)
    await memory.store.append(other, some_messages(4), epoch=0)
    await memory.add_summary(other, make_summary("s1", upto=1), ["m0", "m1"])
    await memory.add_turn(other, make_turn(0, 1, artifact="a0"))
    before = await memory.store.load(other, limit=9)

    await memory.store.delete(REF, ["m0"], epoch=0)
    await memory.store.erase(REF)

    assert await memory.store.load(other, limit=9) == before
    assert await memory.store.count_traces(other) == RecordCounts(
        summaries=1, ledger_turns=1, artifacts=1, sessions=1
    )


async def test_an_expired_artifact_is_neither_counted_nor_missed(redis: RedisClient) -> None:
    memory = RedisMemory(redis)
    await write_conversation(memory)
    await redis.call("DEL", context_key(REF, "artifact", "a4"))

    assert (await memory.store.count_traces(REF)).artifacts == 5
    receipt = await delete_provably(REF, ["m4"], epoch=0, store=memory.store, recall=None)

    assert receipt.is_proven
    assert (await memory.store.count_traces(REF)).artifacts == 5


async def test_the_ledger_is_read_by_the_last_sequences_of_its_turns(redis: RedisClient) -> None:
    memory = RedisMemory(redis)
    await write_conversation(memory)

    turns = await memory.store.load_ledger(REF, after_sequence=3, upto_sequence=7)

    assert [turn.last_sequence for turn in turns] == [5, 7]
    assert turns[0] == make_turn(4, 5, artifact="a4")


async def test_concurrent_edits_end_with_the_latest(redis: RedisClient) -> None:
    store = RedisHistory(redis)
    await store.append(REF, some_messages(1), epoch=0)

    edits = [
        store.replace(REF, "m0", text=f"edit {n}", tokens=2, edited_at=float(n), epoch=0) for n in range(20)
    ]

    assert all(await asyncio.gather(*edits))

    (kept,) = (await store.load(REF, limit=1)).newest
    assert (kept.text, kept.edited_at) == ("edit 19", 19.0)


async def test_a_load_with_summary_and_ledger_is_one_round_trip_and_leaves_no_stray_key(
    redis: RedisClient,
) -> None:
    memory = RedisMemory(redis)
    await write_conversation(memory)
    await memory.store.load(REF, limit=50)
    before = await all_values(redis)
    trips = redis.round_trips

    await memory.store.load(REF, limit=50)

    assert redis.round_trips == trips + 1
    assert await all_values(redis) == before
    assert await stray_keys(redis) == []


async def test_a_full_store_still_erases(redis: RedisClient) -> None:
    history = RedisHistory(redis)
    await history.append(REF, some_messages(4), epoch=0)
    await redis.call("CONFIG", "SET", "maxmemory", "1")
    try:
        deleted = await history.delete(REF, ["m0"], epoch=0)
        erased = await history.erase(REF)
    finally:
        await redis.call("CONFIG", "SET", "maxmemory", "0")

    assert (deleted.messages, erased.messages, erased.epoch) == (1, 3, 1)
    assert (await history.load(REF, limit=10)).count == 0


def _quoting(first: int, last: int, quotes: str, *, artifact: str = "", output: str = "42") -> LedgerTurn:
    entry = replace(make_entry(artifact, output=output), quotes=quotes)
    return LedgerTurn(first_sequence=first, last_sequence=last, entries=(entry,))


async def test_receipts_of_answers_are_erased_and_counted_when_they_are_left(redis: RedisClient) -> None:
    store = RedisHistory(redis)
    await write_receipts(redis, "m1", "m3", ref=REF)
    erased = await store.erase(REF)
    assert erased.answer_receipts == 2
    assert await load_receipts(redis, REF, ["m1", "m3"]) == {}

    await write_receipts(redis, "m1", ref=REF)  # as a late writer without a fence would
    receipt = await prove_erased(REF, erased, store=store, recall=None)

    assert (receipt.left.answer_receipts, receipt.others_left, receipt.is_proven) == (1, 1, False)
