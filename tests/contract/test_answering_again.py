"""Answering a turn again: it reads a history without that turn, and one commit replaces it."""

from typing import Any

import pytest

from bot.errors import Fenced
from memory import keys
from memory.chat_history import newest_first, oldest_first
from memory.errors import Forgotten
from memory.history.buffered import BufferedHistory
from memory.history.redis_history import RedisHistory
from memory.history.store import HistoryStore
from memory.redis.client import RedisClient
from tests.contract.inbox_kit import Inbox, open_inbox, some_parts
from tests.contract.memory_kit import RedisMemory, make_entry, make_turn
from tests.fakes.history import InMemoryHistory
from tests.messages import ids, make_message, make_ref, some_messages
from tests.redis_values import all_values, keys_with
from tests.stores import stray_keys

REF = make_ref()


async def answer_turn(box: Inbox) -> None:
    """Create m0 and m1, then m2 ("quokka", shown as 12) with its answer m3, shown as 13 and 14.

    The answer called a tool.
    """
    memory = RedisMemory(box.redis)
    await memory.store.append(REF, some_messages(2), epoch=0)
    await memory.add_artifact(REF, "a1", "quokka")
    await box.accept(1)
    claim = await box.claim_one()
    messages = [
        make_message("m2", "quokka", telegram=12),
        make_message("m3", "echo: quokka", role="assistant"),
    ]
    called = (make_entry("a1", output="quokka"),)
    parts = some_parts("echo:", "quokka", of="m3")
    await box.commit(claim, 1, messages=messages, ledger=called, parts=parts)
    for part, shown_as in zip(parts, (13, 14), strict=True):
        await box.turns.sent(claim, part, telegram_id=shown_as)
    assert claim.settled.is_set()


async def test_the_new_turn_replaces_the_old_one_and_all_its_traces(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    history = RedisHistory(redis)
    await answer_turn(box)
    assert await box.turns.shown_as(REF, "m3") == (13, 14)
    await box.accept(2)
    messages = [
        make_message("n2", "wombat", telegram=12),
        make_message("n3", "echo: wombat", role="assistant"),
    ]
    called = (make_entry(output="wombat"),)

    await box.commit(
        await box.claim_one(),
        2,
        messages=messages,
        ledger=called,
        deletes=("m2", "m3"),
        parts=some_parts("echo: wombat", update_id=2, of="n3"),
    )

    now = await history.load(REF, limit=9)
    assert ids(now.newest) == ["m0", "m1", "n2", "n3"]
    assert [turn.entries for turn in now.ledger] == [called]
    assert (now.count, now.conversation_count) == (4, 4)
    assert await history.find_by_telegram(REF, 12) == "n2"
    assert await history.find_by_telegram(REF, 13) is None
    assert await keys_with(redis, "quokka") == []
    assert await stray_keys(redis) == []


async def test_the_indexer_drops_the_old_messages_and_takes_the_new(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await answer_turn(box)
    await redis.call("UNLINK", keys.partition_key(0, "work"))
    await box.accept(2)

    await box.commit(
        await box.claim_one(), 2, messages=[make_message("n2", "wombat", telegram=12)], deletes=("m2", "m3")
    )

    entries = await redis.call("XRANGE", keys.partition_key(0, "work"), "-", "+")
    assert [(fields["op"], fields["id"]) for _, fields in entries] == [
        ("drop", "m2"),
        ("drop", "m3"),
        ("new", "n2"),
    ]


async def test_a_repeated_commit_deletes_and_appends_nothing_more(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await answer_turn(box)
    await box.accept(2)
    claim = await box.claim_one()
    again: dict[str, Any] = {"messages": [make_message("n2", "wombat", telegram=12)], "deletes": ("m2", "m3")}
    await box.commit(claim, 2, **again)
    before = await all_values(redis)

    await box.commit(claim, 2, **again)

    assert await all_values(redis) == before


@pytest.mark.parametrize("ended_by", ["another worker", "a reset"])
async def test_a_fenced_commit_deletes_nothing(redis: RedisClient, ended_by: str) -> None:
    box = await open_inbox(redis)
    await answer_turn(box)
    await box.accept(2)
    claim = await box.claim_one()
    if ended_by == "another worker":
        await box.sweep("bert")
    else:
        await redis.call("INCR", keys.context_key(REF, "epoch"))
    before = await all_values(redis)

    with pytest.raises(Fenced if ended_by == "another worker" else Forgotten):
        await box.commit(claim, 2, messages=[make_message("n2", "wombat")], deletes=("m2", "m3"))

    assert await all_values(redis) == before


async def test_a_restart_drops_the_steps_and_keeps_the_preview(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    claim = await box.claim_one()
    await box.take(claim)
    await box.turns.record(
        claim, epoch=0, newest_update=1, fields={"joined": "[1]", "model:1": "said", "preview": "77"}
    )

    await box.turns.restart(claim)

    assert (await box.take(claim)).journal == {"preview": "77"}
    assert (await box.record_of(1))["attempts"] == "1"


@pytest.mark.parametrize("handed_back", [None, 1])
async def test_a_turn_with_many_restarts_is_no_dead_letter(
    redis: RedisClient, handed_back: int | None
) -> None:
    """The question is edited each time, and others wait or the worker stops.

    The turn goes to the end of the line.
    """
    box = await open_inbox(redis)
    await box.accept(1)
    for _ in range(5):
        claim = await box.claim_one()
        assert (await box.take(claim)).buried == {}
        await box.turns.restart(claim)
        await box.turns.restart(claim)  # its answer was lost
        assert not await box.inbox.settle(claim, rotate=True, handed_back=handed_back)

    todo = await box.take(await box.claim_one())

    assert list(todo.updates) == [1]
    assert (await box.record_of(1))["attempts"] == "1"


async def test_a_restart_of_another_workers_turn_drops_nothing(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    claim = await box.claim_one()
    await box.record(claim, "model:1")
    (taken_over,) = await box.sweep("bert")

    with pytest.raises(Fenced):
        await box.turns.restart(claim)

    assert (await box.take(taken_over)).journal == {"model:1": "done"}


async def test_an_updates_payload_is_readable_in_its_own_context_until_it_is_finished(
    redis: RedisClient,
) -> None:
    box = await open_inbox(redis)
    await box.accept(1)

    assert await box.turns.payload_of(make_ref(1), 1) == "p1"
    assert await box.turns.payload_of(make_ref(2), 1) is None
    assert await box.turns.payload_of(make_ref(1), 9) is None
    await box.commit(await box.claim_one(), 1)
    assert await box.turns.payload_of(make_ref(1), 1) is None


@pytest.mark.parametrize("kind", ["redis", "memory"])
@pytest.mark.parametrize("limit", [2, 3, 50])
async def test_a_rewound_history_hides_its_newest_messages(redis: RedisClient, kind: str, limit: int) -> None:
    store: HistoryStore = RedisHistory(redis) if kind == "redis" else InMemoryHistory()
    await store.append(REF, some_messages(6), epoch=0)
    turn = BufferedHistory(store, REF, await store.load(REF, limit=limit), hidden_from=4)
    await turn.append(REF, [make_message("mine")], epoch=0)

    assert [message.id async for message in newest_first(turn, REF)] == ["mine", "m3", "m2", "m1", "m0"]
    assert [message.id async for message in oldest_first(turn, REF)][-2:] == ["m3", "mine"]
    assert [message.id async for message in newest_first(turn, REF, whole=True)][:2] == ["mine", "m3"]
    assert set(await turn.get(REF, ["m3", "m4", "m5", "mine"])) == {"m3", "mine"}
    around = await turn.around(REF, [3, 4], reach=2)
    assert ids(around[3].messages) == ["m1", "m2", "m3"]
    assert 4 not in around
    now = await turn.load(REF, limit=9)
    assert (ids(now.newest)[-2:], now.count, now.conversation_count) == (["m3", "mine"], 5, 5)
    assert now.next_sequence == 7


async def test_a_rewound_history_hides_the_last_turns_calls(redis: RedisClient) -> None:
    memory = RedisMemory(redis)
    await memory.store.append(REF, some_messages(4), epoch=0)
    for turn in (make_turn(0, 1), make_turn(2, 3)):
        await memory.add_turn(REF, turn)

    rewound = BufferedHistory(memory.store, REF, await memory.store.load(REF, limit=9), hidden_from=2)

    assert [turn.last_sequence for turn in rewound.snapshot.ledger] == [1]


async def test_a_conversation_of_one_turn_is_rewound_to_its_beginning(redis: RedisClient) -> None:
    store = RedisHistory(redis)
    await store.append(REF, some_messages(2), epoch=0)
    turn = BufferedHistory(store, REF, await store.load(REF, limit=9), hidden_from=0)
    await turn.append(REF, [make_message("mine")], epoch=0)

    assert [message.id async for message in newest_first(turn, REF)] == ["mine"]
    assert [message.id async for message in oldest_first(turn, REF, whole=True)] == ["mine"]
