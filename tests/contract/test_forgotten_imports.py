"""Histories of other services that were forgotten do not come back with another file of them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memory import tombstones
from memory.history.message import Message, Sender
from memory.history.redis_history import RedisHistory
from memory.history.store import BEFORE_ALL
from memory.keys import context_key, partition_key
from memory.redis.client import RedisClient
from memory.redis.tombstone_files import TombstoneFolder
from memory.tombstones import bury, load_secret, name_of
from memory.transfer.move_in import StoredImport, forget_import, list_imports
from tests.exports import (
    chatgpt_conversation,
    import_chat,
    move_in,
    run_import,
    telegram_chat,
    telegram_message,
)
from tests.messages import make_message, make_ref, some_messages

REF = make_ref()
BEN = Sender(id=77, name="Ben")
GROUP, BOT = -1_000_000_000_055, 99
NOW = 1_760_000_000.0


async def whole(redis: RedisClient) -> list[Message]:
    return await RedisHistory(redis).page(REF, after_sequence=BEFORE_ALL, limit=100, whole=True)


async def texts(redis: RedisClient) -> list[str]:
    return [each.text for each in await whole(redis)]


async def imported(redis: RedisClient, document: Any, **place: Any) -> StoredImport:
    return await run_import(redis, REF, move_in(redis, REF, document, **place))


async def forget_person(redis: RedisClient, person: int, *, at: float = NOW, here: bool = False) -> None:
    ids = (REF.context_id, person) if here else (person,)
    await bury(redis, 0, name_of(await load_secret(redis), "person", *ids), at=at)


async def test_a_forgotten_message_stays_away_from_a_longer_export(redis: RedisClient) -> None:
    await import_chat(redis, REF, ["keep", "forget this"])
    await RedisHistory(redis).delete(REF, [(await whole(redis))[1].id], epoch=0)

    stored = await import_chat(redis, REF, ["keep", "forget this", "new"])

    assert (stored.added, stored.forgotten, stored.is_whole) == (1, 1, True)
    assert sorted(await texts(redis)) == ["keep", "new"]


async def test_a_reset_forgets_all_that_was_imported_and_nothing_else(redis: RedisClient) -> None:
    trip = [telegram_message(number, f"trip {number}") for number in range(1, 400)]
    await imported(redis, telegram_chat(trip))
    await imported(redis, [chatgpt_conversation("tea", ["I like tea", "Noted"])], person=BEN)
    reset = await RedisHistory(redis).erase(REF)

    later = telegram_message(400, "after the reset", sent_at=1_990_000_000)
    longer = move_in(redis, REF, telegram_chat([*trip, later]), now=2_000_000_000.0)
    other = [chatgpt_conversation("tea", ["I like tea", "Noted"]), chatgpt_conversation("car", ["I sold it"])]
    results = [
        await run_import(redis, REF, longer),
        await imported(redis, other, person=BEN),
        await imported(redis, telegram_chat([telegram_message(1, "another chat")], number=56)),
    ]

    assert reset.epoch == 1
    assert [(each.added, each.forgotten) for each in results] == [(1, 399), (1, 2), (1, 0)]
    assert sorted(await texts(redis)) == ["I sold it", "after the reset", "another chat"]


async def test_an_import_of_which_everything_was_forgotten_leaves_no_trace(redis: RedisClient) -> None:
    await import_chat(redis, REF, ["one", "two"])
    (first,) = await list_imports(redis, REF)
    await forget_import(redis, REF, first, epoch=0, recall=None)

    stored = [await import_chat(redis, REF, ["one", "two"]) for _ in range(2)]

    assert [(each.added, each.forgotten, each.is_whole) for each in stored] == [(0, 2, True)] * 2
    assert await list_imports(redis, REF) == []
    assert await redis.call("EXISTS", context_key(REF, "imports"), context_key(REF, "order")) == 0


async def test_a_cancelled_import_can_be_imported_again(redis: RedisClient) -> None:
    stored = await import_chat(redis, REF, ["one", "two"])
    await forget_import(redis, REF, stored, epoch=0, recall=None, for_good=False)
    assert await texts(redis) == []

    again = await import_chat(redis, REF, ["one", "two"])

    assert (again.added, again.forgotten) == (2, 0)


@pytest.mark.parametrize("here", [False, True])
async def test_words_of_a_forgotten_person_come_with_no_file(redis: RedisClient, here: bool) -> None:
    lines = [
        telegram_message(1, "mine"),
        telegram_message(2, "of Ben", sender="user77", name="Ben"),
        telegram_message(3, "forwarded by its id", forwarded_from="Benny", forwarded_from_id="user77"),
        telegram_message(4, "forwarded by its name", forwarded_from="Ben"),
        telegram_message(5, "what Ben asks the bot", sender="user77", name="Ben"),
        telegram_message(6, "answer to Ben", sender=f"user{BOT}", name="Bot"),
        telegram_message(7, "thanks"),
        telegram_message(8, "said since", sender="user77", name="Ben", sent_at=int(NOW)),
    ]
    await forget_person(redis, 77, at=NOW - 1, here=here)

    stored = await imported(redis, telegram_chat(lines), bot_id=BOT)

    assert await texts(redis) == ["mine", "thanks", "said since"]
    assert stored.forgotten == 5


async def test_a_private_chat_of_a_forgotten_person_takes_nothing_from_before(redis: RedisClient) -> None:
    await forget_person(redis, 77)

    stored = await imported(redis, [chatgpt_conversation("tea", ["I like tea", "Noted"])], person=BEN)

    assert (stored.added, stored.forgotten) == (0, 2)


async def test_a_person_who_is_forgotten_during_an_import_is_left_out_of_the_rest(redis: RedisClient) -> None:
    work = move_in(redis, REF, telegram_chat([telegram_message(number, "text") for number in range(1, 601)]))
    steps = work.run(await work.begin(epoch=0), epoch=0)
    first = await anext(steps)
    await forget_person(redis, 7)

    (last,) = [step async for step in steps if step.is_whole]

    assert (first.added, last.added, last.forgotten) == (250, 250, 350)


async def test_a_supergroups_own_history_brings_back_no_message_that_was_forgotten_live(
    redis: RedisClient,
) -> None:
    history = RedisHistory(redis)
    live = [make_message(f"m{number}", f"text {number}", telegram=number) for number in (11, 12)]
    await history.append(REF, live, epoch=0)
    await history.delete(REF, [live[1].id], epoch=0, quoted=[20])
    lines = [telegram_message(number, f"number {number}") for number in (11, 12, 20, 21)]
    group = telegram_chat(lines, kind="private_supergroup", number=55)

    stored = await imported(redis, group, own_chat=GROUP)

    assert (stored.added, stored.forgotten) == (1, 2)
    assert await texts(redis) == ["number 21", "text 11"]


async def test_a_private_chats_own_history_brings_back_no_message_that_was_forgotten_live(
    redis: RedisClient,
) -> None:
    """Its export has other ids, and also the answer."""
    history = RedisHistory(redis)
    live = [
        replace(make_message(f"m{second}", f"text {second}"), sender=BEN, sent_at=float(second))
        for second in (1_600_000_001, 1_600_000_002)
    ]
    await history.append(REF, live, epoch=0)
    await history.delete(REF, [live[1].id], epoch=0)
    lines = [
        telegram_message(1, "kept", sender="user77", name="Ben", sent_at=1_600_000_001),
        telegram_message(2, "forgotten", sender="user77", name="Ben", sent_at=1_600_000_002),
        telegram_message(3, "its answer", sender=f"user{BOT}", name="Bot", sent_at=1_600_000_002),
        telegram_message(4, "later", sender="user77", name="Ben", sent_at=1_600_000_003),
    ]

    stored = await imported(redis, telegram_chat(lines, kind="bot_chat", number=BOT), own_chat=77, bot_id=BOT)

    assert (stored.added, stored.forgotten) == (2, 2)
    assert await texts(redis) == ["kept", "later", "text 1600000001"]

    other = await imported(redis, telegram_chat(lines[1:], number=56), own_chat=77, bot_id=BOT)
    assert (other.added, other.forgotten) == (3, 0), "another chat of the same second"


async def test_a_reset_leaves_the_tombstones_of_many_chats_in_steps(
    redis: RedisClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tombstones, "_AT_ONCE", 2)
    chats = [chatgpt_conversation(f"c{number}", ["I like tea", "Noted"]) for number in range(5)]
    await imported(redis, chats, person=BEN)

    names, left_to_the_script = await tombstones.reset_names(redis, REF)

    assert (len(names), left_to_the_script) == (6, names[:1])
    assert await redis.call("ZCARD", partition_key(REF.partition, "tombstones")) == 5
    await RedisHistory(redis).erase(REF)
    stored = await imported(redis, chats, person=BEN)
    assert (stored.added, stored.forgotten) == (0, 10)


@pytest.mark.parametrize(
    ("kind", "number", "own_chat", "forgotten"),
    [
        ("private_supergroup", 55, GROUP, 1),
        ("bot_chat", BOT, 77, 1),
        ("saved_messages", 77, 77, 0),
        ("personal_chat", 55, 77, 0),
    ],
)
async def test_after_a_reset_the_chats_own_history_is_forgotten_too(
    redis: RedisClient, kind: str, number: int, own_chat: int, forgotten: int
) -> None:
    await RedisHistory(redis).append(REF, some_messages(1), epoch=0)
    await RedisHistory(redis).erase(REF)
    document = telegram_chat([telegram_message(1, "text")], kind=kind, number=number)

    stored = await imported(redis, document, own_chat=own_chat, bot_id=BOT)

    assert (stored.added, stored.forgotten) == (1 - forgotten, forgotten)


async def test_a_lost_store_leaves_the_tombstones_of_imports_beside_it(
    redis: RedisClient, tmp_path: Path
) -> None:
    redis.beside = TombstoneFolder(tmp_path / "erasures")
    await import_chat(redis, REF, ["one", "two"])
    await RedisHistory(redis).erase(REF)
    await redis.call("DEL", partition_key(REF.partition, "tombstones"))

    stored = await import_chat(redis, REF, ["one", "two"])

    assert (stored.added, stored.forgotten) == (0, 2)


async def test_an_import_lets_old_messages_be_looked_for_at_once(redis: RedisClient) -> None:
    key = partition_key(REF.partition, "retain")
    await redis.call("ZADD", key, NOW, REF.context_id)

    await import_chat(redis, REF, ["one"])

    assert await redis.call("ZSCORE", key, REF.context_id) == 0
