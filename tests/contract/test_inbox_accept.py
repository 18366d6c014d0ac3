"""Accepting updates: each enters the line of its chat once, or is refused with a reason."""

import asyncio

from bot.inbox.inspection import InboxInspection
from bot.inbox.records import Arrival, Signal
from memory import keys
from memory.redis.client import RedisClient
from tests.contract.inbox_kit import NOW, open_inbox
from tests.messages import make_ref
from tests.redis_values import all_values


async def test_an_accepted_update_waits_in_its_chats_line_and_wakes_it_once(redis: RedisClient) -> None:
    box = await open_inbox(redis)

    outcomes = [await box.accept(update) for update in (1, 2)]

    assert outcomes == ["accepted", "accepted"]
    assert await box.waiting() == [1, 2]
    assert await redis.call("XLEN", keys.partition_key(0, "ready")) == 1
    assert await box.record_of(1) == {
        "state": "pending",
        "context": make_ref().context_id,
        "received_at": str(NOW),
        "payload": "p1",
        "gate": "",
    }


async def test_updates_that_arrive_out_of_order_wait_in_order(redis: RedisClient) -> None:
    box = await open_inbox(redis)

    for update in (9, 7, 8):
        await box.accept(update)

    assert await box.waiting() == [7, 8, 9]


async def test_the_largest_update_ids_keep_their_order_and_their_digits(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    largest = (1 << 53) - 1

    await box.accept(largest)
    await box.accept(largest - 1)

    assert await box.waiting() == [largest - 1, largest]


async def test_a_duplicate_changes_only_its_count(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    before = await all_values(redis)

    assert await box.accept(1) == "duplicate"

    after = await all_values(redis)
    assert after.pop(keys.partition_key(0, "update", 1)) == before.pop(keys.partition_key(0, "update", 1)) | {
        "redelivered": "1"
    }
    assert after == before


async def test_a_duplicate_is_reported_after_the_first_write_is_on_disk(redis: RedisClient) -> None:
    """WAITAOF waits for the last write of its own connection, so a write must come before it."""
    box = await open_inbox(redis)
    await box.accept(1)
    before = await redis.call("INFO", "persistence")

    await box.accept(1)

    after = await redis.call("INFO", "persistence")
    assert after["rdb_changes_since_last_save"] > before["rdb_changes_since_last_save"]


async def test_a_finished_update_that_arrives_again_is_a_duplicate_and_still_expires(
    redis: RedisClient,
) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    await box.commit(await box.claim_one(), 1)

    assert await box.accept(1) == "duplicate"

    assert await box.waiting() == []
    assert 0 < await box.ttl_of(keys.partition_key(0, "update", 1)) <= keys.TERMINAL_UPDATE_TTL_S


async def test_an_update_that_arrives_twice_at_once_is_accepted_once(redis: RedisClient) -> None:
    box = await open_inbox(redis)

    outcomes = await asyncio.gather(*(box.accept(1) for _ in range(10)))

    assert sorted(outcomes) == ["accepted", *["duplicate"] * 9]


async def test_a_full_box_refuses_an_update_and_stores_nothing_of_it(redis: RedisClient) -> None:
    box = await open_inbox(redis, box_limit=2)
    await box.accept(1)
    await box.accept(2)
    before = await all_values(redis)

    assert await box.accept(3) == "full"

    assert await all_values(redis) == before
    assert await box.accept(4, chat=2) == "accepted"


async def test_a_refused_update_is_accepted_when_there_is_room(redis: RedisClient) -> None:
    box = await open_inbox(redis, box_limit=1)
    await box.accept(1)
    await box.accept(2)
    await box.commit(await box.claim_one(), 1)

    assert await box.accept(2) == "accepted"


async def test_an_ignored_update_is_recorded_with_its_reason_only(redis: RedisClient) -> None:
    box = await open_inbox(redis)

    assert await box.accept(1, mode="ignored") == "ignored"

    assert await box.state_of(1) == ("ignored", "not_addressed")
    assert "payload" not in await box.record_of(1)
    assert 0 < await box.ttl_of(keys.partition_key(0, "update", 1)) <= keys.TERMINAL_UPDATE_TTL_S
    assert await box.claim() == []


async def test_a_stop_overtakes_the_turn_that_it_stops(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    claim = await box.claim_one()
    after = await box.inbox.last_signal(0)

    assert await box.accept(2, mode="stop") == "control"

    assert (await box.take(claim)).stopped_before == 2
    assert (await box.inbox.signals(0, after=after, wait_ms=1))[1] == [
        (make_ref().context_id, Signal(kind="stop", update_id=2))
    ]
    assert await box.state_of(2) == ("answered", "stop")
    assert await box.waiting() == [1]
    assert 0 < await box.ttl_of(keys.context_key(make_ref(), "stop")) <= keys.STOP_TTL_S


async def test_a_stop_without_a_running_turn_waits_in_line(redis: RedisClient) -> None:
    box = await open_inbox(redis)

    assert await box.accept(1, mode="stop") == "accepted"

    assert await box.waiting() == [1]
    assert await redis.call("EXISTS", keys.context_key(make_ref(), "stop")) == 0


async def test_stops_are_read_from_the_last_position(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    for chat in (1, 2):
        await box.accept(chat, chat=chat)
    after = await box.inbox.last_signal(0)
    await box.accept(11, chat=1, mode="stop")
    after, first = await box.inbox.signals(0, after=after, wait_ms=1)
    await box.accept(12, chat=2, mode="stop")

    after, second = await box.inbox.signals(0, after=after, wait_ms=1)

    assert [(context, signal.update_id) for context, signal in (*first, *second)] == [
        (make_ref(1).context_id, 11),
        (make_ref(2).context_id, 12),
    ]
    assert (await box.inbox.signals(0, after=after, wait_ms=1))[1] == []


async def test_updates_from_before_the_first_worker_are_claimed(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await redis.call("XGROUP", "DESTROY", keys.partition_key(0, "ready"), "workers")
    await box.accept(1)

    await box.inbox.open()

    assert (await box.claim_one()).ref == make_ref()


async def test_a_lost_consumer_group_is_created_again(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await redis.call("FLUSHALL")
    await box.accept(1)

    assert await box.claim() == []
    assert (await box.claim_one()).ref == make_ref()


async def test_the_depth_counts_waiting_contexts_and_their_longest_wait(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    assert await box.inbox.depth(0) == (0, 0.0)
    await box.accept(1, chat=1)
    await box.accept(2, chat=2)

    depth, age = await box.inbox.depth(0)

    oldest_at = (
        int((await redis.call("XRANGE", keys.partition_key(0, "ready"), "-", "+"))[0][0].split("-")[0]) / 1000
    )
    assert depth == 2
    assert age == max(0.0, NOW - oldest_at)


async def test_an_update_without_a_chat_is_recorded_too(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    nowhere = keys.ContextRef(context_id="none", partition=0)

    outcome = await box.inbox.accept(Arrival(update_id=1, ref=nowhere, mode="ignored", reason="unused_kind"))

    assert outcome == "ignored"
    found = await InboxInspection(redis, partitions=1, clock=lambda: NOW).find(1)
    assert found is not None
    assert (found.state, found.reason) == ("ignored", "unused_kind")


async def test_a_signal_reaches_a_running_turn_and_its_update_waits(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    after = await box.inbox.last_signal(0)
    signal = Signal(kind="edit", update_id=2, telegram_message_id=71, sender_id=1002)

    outcome = await box.inbox.accept(
        Arrival(update_id=2, ref=make_ref(), mode="turn", payload="p2", signal=signal)
    )

    assert outcome == "accepted"
    assert await box.waiting() == [1, 2]
    assert (await box.inbox.signals(0, after=after, wait_ms=1))[1] == [
        (make_ref().context_id, Signal(kind="edit", update_id=2, telegram_message_id=71, sender_id=1002))
    ]


async def test_a_reset_sends_the_new_epoch_to_the_running_turn(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    after = await box.inbox.last_signal(0)
    await box.turns.reset(make_ref(2))  # nothing runs there
    await box.accept(1)

    await box.turns.reset(make_ref())

    told = [(make_ref().context_id, Signal(kind="reset", update_id=0, epoch=1))]
    assert (await box.inbox.signals(0, after=after, wait_ms=1))[1] == told


async def test_a_signal_for_an_idle_context_reaches_nobody(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    signal = Signal(kind="press", update_id=1, telegram_message_id=71, sender_id=1002)

    await box.inbox.accept(Arrival(update_id=1, ref=make_ref(), mode="turn", payload="p1", signal=signal))

    assert await redis.call("XLEN", keys.partition_key(0, "control")) == 0
    assert await box.waiting() == [1]


async def test_an_update_marks_its_chat_as_reachable_again(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await redis.call("HSET", keys.partition_key(0, "unreachable"), "1002", "1", "1003", "1")

    await box.inbox.accept(Arrival(update_id=1, ref=make_ref(), mode="turn", payload="p1", chat_id=1002))

    assert await redis.call("HKEYS", keys.partition_key(0, "unreachable")) == ["1003"]
