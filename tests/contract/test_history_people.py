"""The people and the sessions of a context: on the real store and on the fake."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import replace

import pytest

from memory.erasure import delete_provably, prove_erased
from memory.errors import Forgotten
from memory.history.buffered import BufferedHistory
from memory.history.message import Message, Sender
from memory.history.redis_history import RedisHistory
from memory.history.store import PEOPLE_LIMIT, SESSION_GAP_S, SESSION_MESSAGES, HistoryStore, RecordCounts
from memory.keys import ContextName, ContextRef, context_key, global_key, partition_key
from memory.redis.client import RedisClient
from tests.contract.inbox_kit import open_inbox
from tests.contract.memory_kit import TellingStore, open_history
from tests.messages import make_message, make_ref
from tests.redis_values import all_values, keys_with
from tests.stores import all_keys

REF = make_ref()
ANNA = Sender(id=(1 << 52) - 1, name="Anna")
BEN = Sender(id=-1001234567890, name="Ben's channel")


@pytest.fixture(params=["redis", "memory"])
async def store(request: pytest.FixtureRequest, redis_url: str) -> AsyncGenerator[TellingStore]:
    async with open_history(request.param, redis_url) as history:
        yield history


def by(sender: Sender, message_id: str, text: str = "hello") -> Message:
    return replace(make_message(message_id, text), sender=sender)


def at(sent_at: float, message_id: str) -> Message:
    return replace(make_message(message_id), sent_at=sent_at)


async def people(store: HistoryStore, ref: ContextRef = REF) -> Mapping[int, str]:
    return (await store.load(ref, limit=0)).people


async def sessions(store: TellingStore, *ids: str) -> list[int]:
    found = (await store.get_current({REF: ids}))[REF].sessions
    return [found[each] for each in ids]


async def test_every_writer_is_known_by_their_latest_name(store: TellingStore) -> None:
    await store.append(REF, [by(ANNA, "m0"), by(BEN, "m1"), make_message("m2", role="assistant")], epoch=0)
    await store.append(REF, [by(replace(ANNA, name="Anna Smith ✨"), "m3")], epoch=0)

    assert await people(store) == {ANNA.id: "Anna Smith ✨", BEN.id: BEN.name}
    assert (await store.get_current({REF: []}))[REF].people == await people(store)
    assert await people(store, make_ref(2)) == {}


async def test_a_person_is_forgotten_with_their_last_message(store: TellingStore) -> None:
    await store.append(REF, [by(ANNA, "m0"), by(ANNA, "m1"), by(BEN, "m2")], epoch=0)

    await store.delete(REF, ["m0", "m2"], epoch=0)
    assert await people(store) == {ANNA.id: "Anna"}

    deleted = await store.delete(REF, ["m0", "m1"], epoch=0)
    assert await people(store) == {}
    assert deleted.sender_ids == (ANNA.id,)


async def test_a_repeated_append_counts_nobody_twice(store: TellingStore) -> None:
    for _ in range(2):
        await store.append(REF, [by(ANNA, "m0"), by(ANNA, "m0")], epoch=0)

    await store.delete(REF, ["m0"], epoch=0)

    assert await people(store) == {}


async def test_a_repeated_append_does_not_bring_back_an_old_name(store: TellingStore) -> None:
    await store.append(REF, [by(ANNA, "m0"), by(replace(ANNA, name="Anne"), "m1")], epoch=0)

    await store.append(REF, [by(ANNA, "m0")], epoch=0)

    assert await people(store) == {ANNA.id: "Anne"}


@pytest.mark.parametrize(
    "hostile",
    ['"sender":{"id":7', '","sender":{"id":7,"name":"x"},"a":"', "\udcff \ud83d", "\\", "\x00\n\u2028"],
)
async def test_no_text_and_no_name_removes_another_sender(store: TellingStore, hostile: str) -> None:
    seven = Sender(id=7, name=hostile.encode("utf-8", "replace").decode())
    await store.append(REF, [by(seven, "m0"), by(seven, "m1"), by(ANNA, "m2", hostile)], epoch=0)

    deleted = await store.delete(REF, ["m2"], epoch=0)

    assert deleted.sender_ids == (ANNA.id,)
    assert await people(store) == {7: seven.name}
    await store.delete(REF, ["m0", "m1"], epoch=0)
    assert await people(store) == {}


async def test_names_beyond_the_limit_are_not_stored_until_there_is_room(store: TellingStore) -> None:
    crowd = [Sender(id=number, name=f"N{number}") for number in range(1, PEOPLE_LIMIT + 1)]
    await store.append(REF, [by(sender, f"m{sender.id}") for sender in crowd], epoch=0)
    await store.append(REF, [by(ANNA, "first"), by(replace(crowd[0], name="new"), "again")], epoch=0)

    known = await people(store)
    assert (len(known), known[1], ANNA.id in known) == (PEOPLE_LIMIT, "new", False)

    await store.delete(REF, ["m2"], epoch=0)
    await store.append(REF, [by(ANNA, "second")], epoch=0)
    assert (await people(store))[ANNA.id] == "Anna"
    await store.delete(REF, ["first"], epoch=0)
    assert (await people(store))[ANNA.id] == "Anna"
    await store.delete(REF, ["second"], epoch=0)
    assert ANNA.id not in await people(store)


async def test_a_pause_of_an_hour_begins_a_session(store: TellingStore) -> None:
    times = [0.0, 10.0, 10.0 + SESSION_GAP_S - 0.5, 9.5 + 2 * SESSION_GAP_S, 1e9]
    messages = [at(sent_at, f"m{number}") for number, sent_at in enumerate(times)]
    await store.append(REF, messages[:2], epoch=0)
    await store.append(REF, messages[2:], epoch=0)

    assert await sessions(store, "m0", "m1", "m2", "m3", "m4") == [0, 0, 0, 3, 4]


async def test_a_message_with_an_old_date_begins_no_session(store: TellingStore) -> None:
    await store.append(REF, [at(50_000.0, "m0"), at(100.0, "old"), at(50_100.0, "m2")], epoch=0)
    await store.append(REF, [at(90.0, "older"), at(50_200.0, "m4")], epoch=0)

    assert await sessions(store, "m0", "old", "m2", "older", "m4") == [0, 0, 0, 0, 0]


async def test_messages_outside_the_conversation_do_not_affect_sessions(store: TellingStore) -> None:
    tool = replace(make_message("tool", role="tool"), sent_at=SESSION_GAP_S - 1)
    blank = replace(make_message("blank", " \n"), sent_at=SESSION_GAP_S - 1)
    await store.append(REF, [at(0.0, "m0"), tool, blank, at(SESSION_GAP_S, "m3")], epoch=0)

    assert await sessions(store, "m0", "tool", "m3") == [0, 0, 3]


async def test_a_conversation_without_pauses_is_split_into_sessions_by_count(store: TellingStore) -> None:
    for start in (0, 150):
        await store.append(REF, [make_message(f"m{n}") for n in range(start, start + 150)], epoch=0)

    last = [f"m{number}" for number in (SESSION_MESSAGES - 1, SESSION_MESSAGES, 2 * SESSION_MESSAGES, 299)]
    assert await sessions(store, *last) == [0, SESSION_MESSAGES, 2 * SESSION_MESSAGES, 2 * SESSION_MESSAGES]


async def test_a_session_keeps_its_name_after_its_first_message_is_deleted(store: TellingStore) -> None:
    await store.append(REF, [at(0.0, "m0"), at(9e3, "m1"), at(9e3, "m2")], epoch=0)

    await store.delete(REF, ["m1"], epoch=0)

    assert await sessions(store, "m2") == [1]


async def test_the_next_message_begins_a_session_after_the_last_one_is_deleted(store: TellingStore) -> None:
    await store.append(REF, [at(1000.0, "m0")], epoch=0)
    await store.delete(REF, ["m0"], epoch=0)
    assert (await store.count_traces(REF)).total == 0

    await store.append(REF, [at(1001.0, "m1"), at(1002.0, "m2")], epoch=0)

    assert await sessions(store, "m1", "m2") == [1, 1]


async def test_an_erasure_deletes_people_and_sessions_and_reads_them_back(store: TellingStore) -> None:
    await store.append(REF, [by(ANNA, "m0"), by(BEN, "m1")], epoch=0)
    assert await store.count_traces(REF) == RecordCounts(
        summaries=0, ledger_turns=0, artifacts=0, people=2, sessions=1
    )

    erased = await store.erase(REF)

    assert (await store.count_traces(REF)).total == 0
    assert await people(store) == {}
    assert (await prove_erased(REF, erased, store=store, recall=None)).is_proven
    await store.append(REF, [at(2000.0, "m0"), at(2001.0, "m1")], epoch=1)
    assert await sessions(store, "m1") == [0]


async def test_a_late_append_adds_no_person(store: TellingStore) -> None:
    await store.erase(REF)

    with pytest.raises(Forgotten):
        await store.append(REF, [by(ANNA, "m0")], epoch=0)

    assert await people(store) == {}


async def test_a_turn_knows_its_own_people_before_the_commit(store: TellingStore) -> None:
    await store.append(REF, [by(ANNA, "m0"), by(BEN, "m1")], epoch=0)
    turn = BufferedHistory(store, REF, await store.load(REF, limit=9))

    await turn.append(REF, [by(replace(BEN, name="Ben"), "m2"), by(Sender(id=9, name="Cy"), "m3")], epoch=0)

    assert await people(turn) == {ANNA.id: "Anna", BEN.id: "Ben", 9: "Cy"}
    assert await people(store) == {ANNA.id: "Anna", BEN.id: BEN.name}


async def test_no_key_contains_a_forgotten_person(redis: RedisClient) -> None:
    store = RedisHistory(redis)
    await store.append(REF, [by(ANNA, "m0"), by(BEN, "m1")], epoch=0)
    assert {context_key(REF, "people"), context_key(REF, "senders"), context_key(REF, "sessions")} <= set(
        await all_keys(redis)
    )

    await store.delete(REF, ["m0"], epoch=0)
    assert await keys_with(redis, "Anna") == await keys_with(redis, str(ANNA.id)) == []

    await store.erase(REF)
    assert await all_keys(redis) == sorted(
        [
            context_key(REF, "epoch"),
            *(partition_key(0, name) for name in ("work", "erasures", "tombstones")),
            global_key("secret"),
        ]
    )


@pytest.mark.parametrize("key", ["people", "senders", "sessions"])
async def test_a_receipt_with_a_remaining_name_or_session_is_unproven(
    redis: RedisClient, key: ContextName
) -> None:
    store = RedisHistory(redis)
    await store.append(REF, [by(ANNA, "m0")], epoch=0)
    await redis.call("COPY", context_key(REF, key), stray := f"{context_key(REF, key)}:stray")
    erased = await store.erase(REF)
    await redis.call("RENAME", stray, context_key(REF, key))

    receipt = await prove_erased(REF, erased, store=store, recall=None)

    assert (receipt.messages_left, receipt.others_left, receipt.is_proven) == (0, 1, False)


async def test_a_deletions_receipt_with_an_orphaned_name_is_unproven(redis: RedisClient) -> None:
    store = RedisHistory(redis)
    await store.append(REF, [by(ANNA, "m0"), by(BEN, "m1"), by(BEN, "m2")], epoch=0)
    assert (await delete_provably(REF, ["m1"], epoch=0, store=store, recall=None)).is_proven

    deleted = await store.delete(REF, ["m0"], epoch=0)
    await redis.call("HSET", context_key(REF, "people"), ANNA.id, "Anna")

    assert await store.count_traces(REF, mentioning=deleted) == RecordCounts(
        summaries=0, ledger_turns=0, artifacts=0, people=1
    )


async def test_a_repeated_commit_stores_its_people_and_sessions_once(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    store = RedisHistory(redis)
    await box.accept(1)
    claim = await box.claim_one()
    await box.commit(claim, 1, messages=[by(ANNA, "m0"), at(9e9, "m1")])
    before = await all_values(redis)

    await box.commit(claim, 1, messages=[by(ANNA, "m0"), at(9e9, "m1")])

    assert await all_values(redis) == before
    assert (await box.snapshot(claim)).people == {ANNA.id: "Anna"}
    assert (await store.get_current({REF: ["m0", "m1"]}))[REF].sessions == {"m0": 0, "m1": 1}
    await box.turns.reset(REF)
    assert (await store.count_traces(REF)).total == 0
