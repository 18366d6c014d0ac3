"""Reminders on the real store: adding once, limits, cancelling, erasure, and the time zones of people."""

from dataclasses import replace

import pytest

from memory.erasure import prove_erased
from memory.errors import Forgotten
from memory.history.message import Sender, message_id
from memory.history.redis_history import RedisHistory
from memory.keys import ContextRef, context_key, global_key, partition_key
from memory.redis.client import RedisClient
from memory.reminders.redis_reminders import ContextReminders, RedisReminders, copy_zones
from memory.reminders.reminder import Reminder, ReminderPlace, reminder_id
from tests.messages import make_message, make_ref
from tests.redis_values import keys_with

REF = make_ref()
OTHER = make_ref(11)
NOW = 1_795_478_400.0
ANNA, BEN = 7, 9
SECRET = 'Take the green "person_id":9, pills \\'
TEA = Reminder(
    id=reminder_id("5/a/1"),
    text="Drink tea",
    due_at=NOW + 1200,
    zone="Europe/Lisbon",
    starts_at="2026-11-24T00:20:00",
    person_id=ANNA,
    person_name="Anna",
    chat_id=10,
    chat_type="private",
    created_at=NOW,
)
PILLS = replace(TEA, id=reminder_id("5/a/2"), text=SECRET, due_at=NOW + 60, runs_agent=True)
CAT = replace(TEA, id=reminder_id("6/a/1"), text="Feed the cat", due_at=NOW + 600.25, person_id=BEN)


def open_reminders(redis: RedisClient) -> RedisReminders:
    return RedisReminders(redis, clock=lambda: NOW)


async def due(redis: RedisClient) -> list[tuple[str, float]]:
    rows = await redis.call("ZRANGE", partition_key(REF.partition, "due"), "0", "-1", "WITHSCORES")
    return [(name, float(score)) for name, score in rows]


def entry(ref: ContextRef, reminder: Reminder) -> tuple[str, float]:
    return f"{ref.context_id} {reminder.id}", reminder.due_at


async def test_reminders_are_listed_by_their_dates_and_queued_without_their_texts(redis: RedisClient) -> None:
    store = open_reminders(redis)
    for reminder in (TEA, PILLS, CAT):
        assert await store.add(REF, reminder, epoch=0) == "added"

    assert await store.list(REF) == [PILLS, CAT, TEA]
    assert await store.list(OTHER) == []
    assert await store.get(REF, CAT.id) == CAT
    assert await store.get(REF, "00000000") is None
    assert await due(redis) == [entry(REF, each) for each in (PILLS, CAT, TEA)]


async def test_a_repeated_call_adds_nothing_twice_and_changes_nothing(redis: RedisClient) -> None:
    store = open_reminders(redis)
    await store.add(REF, TEA, epoch=0)

    again = await store.add(REF, replace(TEA, due_at=NOW + 5000), epoch=0, per_person=1, per_chat=1)

    assert again == "added"
    assert await store.list(REF) == [TEA]


async def test_a_person_and_a_context_have_limits_that_no_text_can_change(redis: RedisClient) -> None:
    store = open_reminders(redis)
    await store.add(REF, PILLS, epoch=0)

    assert await store.add(REF, CAT, epoch=0, per_person=1, per_chat=2) == "added"
    third = replace(TEA, person_id=11)
    assert await store.add(REF, TEA, epoch=0, per_person=1, per_chat=3) == "person_limit"
    assert await store.add(REF, third, epoch=0, per_person=1, per_chat=2) == "chat_limit"
    assert await store.add(REF, replace(third, person_id=70), epoch=0, per_person=1, per_chat=3) == "added"
    assert await store.add(OTHER, TEA, epoch=0, per_person=1, per_chat=1) == "added"


async def test_a_cancelled_reminder_is_erased_and_the_others_stay(redis: RedisClient) -> None:
    store = open_reminders(redis)
    for ref in (REF, OTHER):
        await store.add(ref, PILLS, epoch=0)
        await store.add(ref, TEA, epoch=0)

    assert await store.cancel(REF, [PILLS.id, "00000000", PILLS.id], epoch=0) == 1

    assert await store.list(REF) == [TEA]
    assert await store.list(OTHER) == [PILLS, TEA]
    assert set(await due(redis)) == {entry(REF, TEA), entry(OTHER, PILLS), entry(OTHER, TEA)}
    assert await store.cancel(REF, [], epoch=0) == 0


async def test_nothing_is_added_or_cancelled_for_a_turn_from_before_a_reset(redis: RedisClient) -> None:
    store, epoch = open_reminders(redis), 0
    own = ContextReminders(
        reminders=store, ref=REF, epoch=lambda: epoch, place=ReminderPlace(chat_id=10, chat_type="private")
    )
    await RedisHistory(redis).erase(REF)
    with pytest.raises(Forgotten):
        await own.add(TEA)
    epoch = 1
    await own.add(TEA)
    epoch = 0
    with pytest.raises(Forgotten):
        await own.cancel([TEA.id])

    assert await own.list() == [TEA]


async def test_a_reset_erases_the_reminders_of_its_context_and_proves_it(redis: RedisClient) -> None:
    store, history = open_reminders(redis), RedisHistory(redis)
    await store.add(REF, PILLS, epoch=0)
    await store.add(REF, replace(CAT, text=SECRET), epoch=0)
    await store.add(OTHER, TEA, epoch=0)
    assert (await history.count_traces(REF)).reminders == 2
    assert await keys_with(redis, "green") == [context_key(REF, "reminders")]

    receipt = await prove_erased(REF, await history.erase(REF), store=history, recall=None)

    assert (receipt.erased.reminders, receipt.left.reminders, receipt.is_proven) == (2, 0, True)
    assert await keys_with(redis, "green") + await keys_with(redis, PILLS.id) == []
    assert await store.list(OTHER) == [TEA]
    assert await due(redis) == [entry(OTHER, TEA)]


async def test_an_erased_message_takes_the_reminders_that_it_asked_for(redis: RedisClient) -> None:
    store, history = open_reminders(redis), RedisHistory(redis)
    asked, other = message_id("asked"), message_id("other")
    await history.append(REF, [make_message(asked), make_message(other)], epoch=0)
    for reminder in (
        replace(TEA, message_ids=(other, asked)),
        replace(PILLS, text=f'"message_ids":["{asked}"]'),
        replace(CAT, message_ids=(other,)),
    ):
        await store.add(REF, reminder, epoch=0)

    deletion = await history.delete(REF, [asked], epoch=0)

    assert deletion.reminders == 1
    assert (await history.count_traces(REF, mentioning=deletion)).reminders == 0
    assert [each.id for each in await store.list(REF)] == [PILLS.id, CAT.id]
    assert [name for name, _ in await due(redis)] == [f"{REF.context_id} {each.id}" for each in (PILLS, CAT)]


async def test_a_person_has_one_time_zone_that_outlives_resets(redis: RedisClient) -> None:
    store = open_reminders(redis)
    assert await store.zone_of(ANNA) is None
    await store.set_zone(ANNA, "Europe/Lisbon")
    await store.set_zone(ANNA, "Asia/Tehran")

    await RedisHistory(redis).erase(REF)

    assert (await store.zone_of(ANNA), await store.zone_of(BEN)) == ("Asia/Tehran", None)
    await store.set_zone(ANNA, None)
    assert await store.zone_of(ANNA) is None


async def test_a_context_is_loaded_with_the_time_zones_of_its_people(redis: RedisClient) -> None:
    store, history = open_reminders(redis), RedisHistory(redis)
    said = replace(make_message(), sender=Sender(id=ANNA, name="Anna"))
    await history.append(REF, [said], epoch=0)
    await store.set_zone(ANNA, "Pacific/Kiritimati")
    await store.set_zone(BEN, "Asia/Tehran")

    before = redis.round_trips
    assert (await history.load(REF, limit=10)).choices.zones == {ANNA: "Pacific/Kiritimati"}
    assert redis.round_trips == before + 1

    await store.set_zone(ANNA, None)
    assert (await history.load(REF, limit=10)).choices.zones == {}


async def test_a_start_completes_the_copies_of_time_zones_that_a_restore_lacks(redis: RedisClient) -> None:
    await redis.call("HSET", global_key("zones"), str(ANNA), "Asia/Tokyo", str(BEN), "UTC+05:30")

    for _ in range(2):
        await copy_zones(redis, partitions=2)

    for partition in range(2):
        copy = await redis.call("HGETALL", partition_key(partition, "local_zones"))
        assert copy == {str(ANNA): "Asia/Tokyo", str(BEN): "UTC+05:30"}
