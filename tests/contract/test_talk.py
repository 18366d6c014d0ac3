"""Talk that was not said to the bot: kept at the door, within a window, loaded and forgotten with the memory."""

from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from bot.inbox.records import Arrival, Signal
from memory import keys
from memory.codec import dump_json, parse_json
from memory.erasure import prove_erased
from memory.history.message import Sender
from memory.history.redis_history import RedisHistory, RedisTalk
from memory.history.store import HistoryStore
from memory.history.talk import TALK_CHARS, TALK_LOADED, TalkLine, cut, score_of
from memory.keys import ContextRef
from memory.redis.client import RedisClient
from tests.contract.inbox_kit import NOW, open_inbox
from tests.fakes.history import InMemoryHistory
from tests.messages import make_ref
from tests.redis_values import keys_with

REF = make_ref(1)
ENTRY = '{"keys": {"bot_id": 1, "chat_id": -1}, "title": "Garden"}'


def make_line(number: int, text: str = "hello") -> TalkLine:
    return TalkLine(telegram_message_id=number, sender=Sender(id=7, name="Anna"), text=text, sent_at=NOW)


def make_arrival(update_id: int, number: int, text: str = "hello", **changes: str) -> Arrival:
    """Talk at the door, unless `changes` make it something else."""
    arrival = Arrival(
        update_id=update_id,
        ref=REF,
        mode="ignored",
        reason="talk",
        talk=dump_json(TalkLine, make_line(number, text)),
        talk_score=score_of(number, is_moved=False),
        registered=ENTRY,
    )
    return replace(arrival, **changes)


async def texts_of(store: HistoryStore, ref: ContextRef = REF) -> list[str]:
    return [line.text for line in (await store.load(ref, limit=10)).talk.lines]


async def test_talk_is_stored_beside_the_history_and_ends_its_update(redis: RedisClient) -> None:
    box = await open_inbox(redis)

    assert await box.inbox.accept(make_arrival(1, 11, "one")) == "ignored"

    assert (await RedisHistory(redis).load(REF, limit=10)).talk.lines == (make_line(11, "one"),)
    assert await box.state_of(1) == ("ignored", "talk")
    assert await redis.call("XLEN", keys.partition_key(0, "ready")) == 0
    assert await redis.call("HGET", keys.partition_key(0, "contexts"), REF.context_id) == ENTRY
    assert 0 < await box.ttl_of(keys.context_key(REF, "talk")) <= keys.TALK_TTL_S


async def test_repeated_talk_is_stored_once(redis: RedisClient) -> None:
    box = await open_inbox(redis)

    await box.inbox.accept(make_arrival(1, 11, "one"))

    assert await box.inbox.accept(make_arrival(1, 11, "one")) == "duplicate"
    assert await texts_of(RedisHistory(redis)) == ["one"]


async def test_only_the_newest_talk_is_stored_in_any_order_of_arrival(redis: RedisClient) -> None:
    box = await open_inbox(redis, talk_limit=3)

    for number in (5, 1, 4, 2, 3):
        await box.inbox.accept(make_arrival(number, number, f"line {number}"))

    assert await texts_of(RedisHistory(redis)) == ["line 3", "line 4", "line 5"]


async def test_no_line_of_talk_is_stored_for_more_than_a_week(redis: RedisClient) -> None:
    """The next line deletes old ones, and the TTL of the key the last ones."""
    box = await open_inbox(redis)
    ages = {1: 2.0, 2: 1.1, 3: 0.9, 4: 0.0}
    for number, age in ages.items():
        line = replace(make_line(number, '"sent_at":9999999999'), sent_at=NOW - age * keys.TALK_TTL_S)
        await box.inbox.accept(make_arrival(number, number, talk=dump_json(TalkLine, line)))

    kept = (await RedisHistory(redis).load(REF, limit=10)).talk.lines
    assert [line.telegram_message_id for line in kept] == [3, 4]
    assert 2 * keys.TALK_TTL_S <= 7 * 24 * 3600


async def test_a_prompt_loads_the_newest_lines_and_counts_all(redis: RedisClient) -> None:
    box = await open_inbox(redis, talk_limit=TALK_LOADED + 3)
    for number in range(TALK_LOADED + 3):
        await box.inbox.accept(make_arrival(number, number, f"line {number}"))

    snapshot = await RedisHistory(redis).load(REF, limit=10)

    assert [line.telegram_message_id for line in snapshot.talk.lines] == list(range(3, TALK_LOADED + 3))
    assert snapshot.talk.count == TALK_LOADED + 3


async def test_a_new_line_costs_the_same_however_many_are_kept(redis: RedisClient) -> None:
    """The server's own time for the script, the best of 20 lines."""
    box = await open_inbox(redis, talk_limit=5_000)
    await redis.call("CONFIG", "SET", "slowlog-log-slower-than", 0)  # the server logs every command

    async def microseconds(first: int) -> int:
        taken: list[int] = []
        for number in range(first, first + 20):
            await redis.call("SLOWLOG", "RESET")
            await box.inbox.accept(make_arrival(number, number, f"line {number}"))
            entries = await redis.call("SLOWLOG", "GET", 10)
            taken += [entry[2] for entry in entries if str(entry[3][0]).upper() == "EVALSHA"]
        return min(taken)

    try:
        few = await microseconds(10_000)
        lines = [(n, dump_json(TalkLine, make_line(n, f"{n} {'x' * 900}"))) for n in range(5_000)]
        await redis.call("ZADD", keys.context_key(REF, "talk"), *(word for line in lines for word in line))
        many = await microseconds(20_000)
    finally:
        await redis.call("CONFIG", "SET", "slowlog-log-slower-than", 10_000)

    assert many < 3 * few, (few, many)


async def test_a_known_title_is_not_overwritten_by_talk(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await redis.call("HSET", keys.partition_key(0, "contexts"), REF.context_id, "as it was")

    await box.inbox.accept(make_arrival(1, 11))

    assert await redis.call("HGET", keys.partition_key(0, "contexts"), REF.context_id) == "as it was"


async def test_an_edit_replaces_overheard_text_and_wakes_nobody(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    for number in (1, 2, 3):
        await box.inbox.accept(make_arrival(number, number, f"line {number}"))

    edit = make_arrival(4, 2, "quokka", mode="turn", reason="talk_edit", payload="p4")
    assert await box.inbox.accept(edit) == "ignored"

    assert await texts_of(RedisHistory(redis)) == ["line 1", "quokka", "line 3"]
    assert await box.state_of(4) == ("ignored", "talk_edit")
    assert await redis.call("XLEN", keys.partition_key(0, "ready")) == 0


async def test_an_edit_of_text_that_was_not_overheard_waits_for_its_turn(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.inbox.accept(make_arrival(1, 1, "line 1"))

    edit = make_arrival(2, 2, "quokka", mode="turn", reason="talk_edit", payload="p2")
    assert await box.inbox.accept(edit) == "accepted"

    assert await texts_of(RedisHistory(redis)) == ["line 1"]
    assert await box.waiting() == [2]


@pytest.mark.parametrize("why", ["a kept message quotes it", "a turn that may quote it is at work"])
async def test_an_edit_of_a_quoted_line_replaces_it_and_waits_for_its_turn(
    redis: RedisClient, why: str
) -> None:
    box = await open_inbox(redis)
    await box.inbox.accept(make_arrival(1, 2, "line 2"))
    if why == "a kept message quotes it":
        await redis.call("HSET", keys.context_key(REF, "telegram"), "q:2", "m9")
    else:
        await box.accept(2)
    edit = make_arrival(4, 2, "quokka", mode="turn", reason="talk_edit", payload="p4")
    edit = replace(
        edit, signal=Signal(kind="edit", update_id=edit.update_id, telegram_message_id=2, sender_id=7)
    )
    the_same = replace(edit, update_id=3, talk=dump_json(TalkLine, make_line(2, "line 2")))

    assert [await box.inbox.accept(each) for each in (the_same, edit)] == ["ignored", "accepted"]

    assert await texts_of(RedisHistory(redis)) == ["quokka"]
    assert (await box.waiting())[-1] == 4


async def test_an_edit_without_a_turn_adds_nothing(redis: RedisClient) -> None:
    box = await open_inbox(redis)

    assert await box.inbox.accept(make_arrival(1, 2, "quokka", reason="talk_edit")) == "ignored"

    assert await keys_with(redis, "quokka") == []


async def test_one_line_is_found_and_forgotten_by_its_score(redis: RedisClient) -> None:
    box, talk = await open_inbox(redis), RedisTalk(redis)
    for number in (1, 2):
        await box.inbox.accept(make_arrival(number, number, f"line {number}"))

    assert await talk.find(REF, 2) == make_line(2, "line 2")
    assert [await talk.forget(REF, 2), await talk.forget(REF, 2)] == [1, 0]
    assert await talk.find(REF, 2) is None
    assert await texts_of(RedisHistory(redis)) == ["line 1"]


@pytest.mark.parametrize("how", ["forget", "edit", "edit of a kept message"])
async def test_a_pin_does_not_keep_the_pinned_text_longer_than_the_message(
    redis: RedisClient, how: str
) -> None:
    box, talk = await open_inbox(redis), RedisTalk(redis)
    if how != "edit of a kept message":
        await box.inbox.accept(make_arrival(1, 5, "a quokka"))
    for number, pinned in ((8, 5), (9, 55)):
        pin = replace(make_line(number, f'Ben pinned "{pinned}": "pinned":5'), is_service=True, pinned=pinned)
        await box.inbox.accept(make_arrival(number, number, talk=dump_json(TalkLine, pin)))

    if how == "forget":
        assert await talk.forget(REF, 5) == 2
    else:
        await box.inbox.accept(make_arrival(10, 5, "now", mode="turn", reason="talk_edit", payload="p"))

    assert [text for text in await texts_of(RedisHistory(redis)) if "pinned" in text] == [
        'Ben pinned "55": "pinned":5'
    ]


async def test_a_reset_erases_and_counts_talk(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    for number in (1, 2):
        await box.inbox.accept(make_arrival(number, number, "quokka"))

    erased = await box.turns.reset(REF)

    assert erased.talk == 2
    assert await keys_with(redis, "quokka") == []
    assert await redis.call("HGET", keys.partition_key(0, "contexts"), REF.context_id) is None


@pytest.fixture(params=["redis", "memory"])
async def store(request: pytest.FixtureRequest, redis: RedisClient) -> AsyncGenerator[HistoryStore]:
    """With two lines of talk."""
    if request.param == "memory":
        yield InMemoryHistory(talk={REF: {n: make_line(n, f"line {n}") for n in (2, 1)}})
        return
    box = await open_inbox(redis)
    for number in (2, 1):
        await box.inbox.accept(make_arrival(number, number, f"line {number}"))
    yield RedisHistory(redis)


async def test_talk_is_loaded_with_the_history_oldest_first(store: HistoryStore) -> None:
    assert await texts_of(store) == ["line 1", "line 2"]
    assert await texts_of(store, make_ref(2)) == []
    assert (await store.load(REF, limit=10)).count == 0


async def test_an_erasure_counts_talk_in_its_receipt(store: HistoryStore) -> None:
    assert (await store.count_traces(REF)).talk == 2

    receipt = await prove_erased(REF, await store.erase(REF), store=store, recall=None)

    assert (receipt.erased.talk, receipt.others_left, receipt.is_proven) == (2, 0, True)
    assert await texts_of(store) == []


async def test_remaining_talk_makes_a_receipt_unproven(redis: RedisClient) -> None:
    box, store = await open_inbox(redis), RedisHistory(redis)
    erased = await store.erase(REF)
    await box.inbox.accept(make_arrival(1, 1))

    receipt = await prove_erased(REF, erased, store=store, recall=None)

    assert (receipt.others_left, receipt.is_proven) == (1, False)


async def test_an_unreadable_line_is_left_out(redis: RedisClient) -> None:
    await redis.call(
        "ZADD", keys.context_key(REF, "talk"), 1, "no line", 2, dump_json(TalkLine, make_line(2)), 3, "{}"
    )
    await redis.call("EXPIRE", keys.context_key(REF, "talk"), keys.TALK_TTL_S)

    assert await texts_of(RedisHistory(redis)) == ["hello"]
    assert await RedisTalk(redis).find(REF, 1) is None


def test_a_line_reads_as_it_was_written() -> None:
    line = replace(make_line(3, 'a "quote"\nand \u202e marks'), is_service=True, pinned=5)

    assert parse_json(TalkLine, dump_json(TalkLine, line)) == line


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("  hello \n", "hello"),
        ("x" * TALK_CHARS, "x" * TALK_CHARS),
        ("x" * (TALK_CHARS + 1), "x" * (TALK_CHARS - 1) + "…"),
        ("x" * (TALK_CHARS - 3) + "👨‍👩‍👧 more", "x" * (TALK_CHARS - 3) + "…"),
        ("half \ud83d", "half \ufffd"),
        (" \n ", ""),
    ],
)
def test_a_line_is_cut_between_characters(text: str, kept: str) -> None:
    assert cut(text) == kept


def test_messages_of_a_supergroup_come_after_those_of_its_former_group() -> None:
    assert score_of(2**31 - 1, is_moved=False) < score_of(1, is_moved=True) < 2**53
