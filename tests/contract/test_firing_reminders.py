"""Due reminders on the real store: each date becomes one update, whoever fires it and whatever ends in between."""

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest

from bot.errors import TurnStopped
from bot.inbox.reminders import FULL_PAUSE_S, POLL_S, FiringRules, ReminderClock
from bot.transport.ingest import WaitingUpdate, parse_waiting
from bot.transport.migrations import Migrations
from bot.transport.reminder_updates import ReminderUpdates
from bot.turn.store import TurnStore
from memory import keys
from memory.codec import dump_json
from memory.errors import StoreUnavailable
from memory.history.redis_history import RedisHistory
from memory.redis.client import RedisClient
from memory.reminders.redis_reminders import RedisReminders
from memory.reminders.reminder import Reminder, reminder_id
from tests.contract.inbox_kit import NOW, Inbox, open_inbox
from tests.contract.tripping_redis import TrippingRedis
from tests.messages import make_ref

TEA = Reminder(
    id=reminder_id("5/a/1"),
    text="Drink tea",
    due_at=NOW,
    zone="Europe/Lisbon",
    starts_at="2027-01-15T08:00:00",  # NOW
    person_id=7,
    person_name="Anna (at home)",
    chat_id=1,
    chat_type="private",
    created_at=NOW - 60,
)
DAILY = replace(TEA, id=reminder_id("5/a/2"), repeats="FREQ=DAILY")
DAY_S = 24 * 3600


@dataclass(slots=True)
class Bench:
    """An inbox, its reminders, and a clock that a test moves."""

    box: Inbox
    reminders: RedisReminders
    now: list[float] = field(default_factory=lambda: [NOW])

    def clock(self, redis: Any = None, *, limit: int = 5, partitions: int = 1) -> ReminderClock:
        return ReminderClock(
            cast("RedisClient", redis or self.box.redis),
            FiringRules(
                partition=0,
                partitions=partitions,
                box=limit,
                update_prefix=keys.partition_key(0, "update", ""),
            ),
            payload_of=ReminderUpdates(
                migrations=Migrations(self.box.redis, clock=lambda: NOW), clock=lambda: self.now[0]
            ).payload_of,
            clock=lambda: self.now[0],
        )

    async def add(self, *reminders: Reminder, chat: int = 1) -> None:
        for reminder in reminders:
            assert (
                await self.reminders.add(make_ref(chat), reminder, epoch=0, per_person=999, per_chat=999)
                == "added"
            )

    async def fired(self, chat: int = 1) -> list[WaitingUpdate]:
        """Return the updates in a chat's box, in order."""
        payloads = [(await self.box.record_of(each))["payload"] for each in await self.box.waiting(chat)]
        return [parse_waiting(each) for each in payloads if each.startswith("{")]

    async def due(self) -> list[tuple[str, float]]:
        found = await self.box.redis.call("ZRANGE", keys.partition_key(0, "due"), 0, -1, "WITHSCORES")
        return [(member.split()[1], float(score)) for member, score in found]


@pytest.fixture
async def bench(redis: RedisClient) -> Bench:
    box = await open_inbox(redis)
    return Bench(box=box, reminders=RedisReminders(redis, clock=lambda: NOW))


async def test_a_due_reminder_waits_first_in_its_chat_and_wakes_it(bench: Bench) -> None:
    await bench.box.accept(5)
    await bench.add(TEA, replace(TEA, id=reminder_id("later"), due_at=NOW + 0.25))

    assert await bench.clock().step() == 0
    assert await bench.clock().step() == 0.25

    assert await bench.box.waiting() == [-1, 5]
    (update,) = await bench.fired()
    assert (update.update_id, update.admission.action, update.reminder, update.was_due_at) == (
        -1,
        "remind",
        TEA,
        NOW,
    )
    message = update.message
    assert (message.chat_id, message.sender_id, message.text, message.message_id) == (1, 7, "Drink tea", 0)
    assert message.note == "a reminder that Anna at home has set, due at 2027-01-15 08:00 Europe/Lisbon"
    record = await bench.box.record_of(-1)
    assert (record["state"], record["gate"]) == ("pending", "reminder remind due")
    assert [each.id for each in await bench.reminders.list(make_ref())] == [reminder_id("later")]
    assert (await bench.box.claim_one()).ref == make_ref()


async def test_reminders_of_one_chat_run_oldest_first_and_have_ids_of_their_partition(bench: Bench) -> None:
    three = [replace(TEA, id=f"0000000{number}", due_at=NOW - 3 + number) for number in range(3)]
    await bench.add(*three)

    await bench.clock(partitions=4).step()

    assert await bench.box.waiting() == [-1, -5, -9]
    assert [update.reminder for update in await bench.fired()] == three


async def test_two_firers_at_once_fire_each_reminder_once(bench: Bench) -> None:
    many = [replace(TEA, id=f"{number:08x}") for number in range(40)]
    await bench.add(*many)

    await asyncio.gather(*(bench.clock(limit=100).step() for _ in range(4)))

    assert sorted(update.reminder.id for update in await bench.fired() if update.reminder) == [
        each.id for each in many
    ]
    assert await bench.due() == []


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("at", [1, 2, 3])
async def test_a_crash_between_any_two_steps_fires_once(bench: Bench, at: int, when: Any) -> None:
    await bench.add(TEA, DAILY)

    crashed = asyncio.create_task(bench.clock(TrippingRedis(bench.box.redis, at, when)).step())
    await asyncio.wait([crashed])
    await bench.clock().step()

    assert crashed.cancelled()
    assert {update.reminder for update in await bench.fired()} == {TEA, DAILY}
    assert len(await bench.box.waiting()) == 2
    assert await bench.due() == [(DAILY.id, NOW + DAY_S)]


async def test_a_reminder_that_repeats_has_its_next_date_in_the_list(bench: Bench) -> None:
    await bench.add(DAILY)

    await bench.clock().step()

    assert await bench.reminders.list(make_ref()) == [replace(DAILY, due_at=NOW + DAY_S)]


async def test_after_an_outage_a_reminder_fires_once_for_its_latest_date(bench: Bench) -> None:
    await bench.add(DAILY)
    bench.now[0] = NOW + 9.5 * DAY_S

    await bench.clock().step()

    (update,) = await bench.fired()
    assert update.was_due_at == NOW + 9 * DAY_S
    assert await bench.due() == [(DAILY.id, NOW + 10 * DAY_S)]


async def test_a_reminder_with_a_last_date_is_over_after_it(bench: Bench) -> None:
    await bench.add(replace(DAILY, repeats="FREQ=DAILY;COUNT=2"))
    await bench.clock().step()
    bench.now[0] = NOW + DAY_S
    await bench.clock().step()

    assert len(await bench.fired()) == 2
    assert await bench.reminders.list(make_ref()) == []
    assert await bench.due() == []


async def test_a_clock_that_jumps_back_fires_nothing_again(bench: Bench) -> None:
    await bench.add(DAILY)
    bench.now[0] = NOW + 3600
    await bench.clock().step()
    for now in (NOW - DAY_S, NOW, NOW + 3600, NOW + DAY_S - 1):
        bench.now[0] = now
        assert await bench.clock().step() <= POLL_S
    assert len(await bench.fired()) == 1

    bench.now[0] = NOW + DAY_S
    await bench.clock().step()

    assert [update.was_due_at for update in await bench.fired()] == [NOW, NOW + DAY_S]


async def test_a_reset_between_date_and_firing_fires_nothing(bench: Bench) -> None:
    await bench.add(TEA, DAILY)

    class ResetFirst(TrippingRedis):
        async def run_all_durably(self, *arguments: Any) -> Any:
            await RedisHistory(bench.box.redis).erase(make_ref())
            return await super().run_all_durably(*arguments)

    await bench.clock(ResetFirst(bench.box.redis, 99, "before")).step()

    assert await bench.box.waiting() == []
    assert await bench.due() == []


async def test_a_reset_forgets_fired_reminders(bench: Bench) -> None:
    await bench.add(TEA)
    await bench.clock().step()

    await TurnStore(bench.box.redis, clock=lambda: NOW).reset(make_ref(), vectors=0)

    assert await bench.box.waiting() == []
    assert (await bench.box.state_of(-1))[0] == "forgotten"
    assert "payload" not in await bench.box.record_of(-1)


async def test_a_cancelled_reminder_does_not_fire(bench: Bench) -> None:
    await bench.add(TEA, DAILY)
    await bench.reminders.cancel(make_ref(), [TEA.id], epoch=0)

    await bench.clock().step()

    assert [update.reminder for update in await bench.fired()] == [DAILY]


@pytest.mark.parametrize(
    "line",
    [
        '{"id":"x"}',
        dump_json(Reminder, replace(TEA, zone="Europe/Nowhere")),
        dump_json(Reminder, replace(DAILY, starts_at="soon")),
        dump_json(Reminder, replace(DAILY, repeats="often")),
        dump_json(Reminder, replace(DAILY, repeats="X=1")),
        dump_json(Reminder, replace(DAILY, starts_at="2026-11-24T08:00:00+01:00")),
        dump_json(Reminder, replace(TEA, due_at=1e300)),
    ],
)
async def test_a_reminder_that_nobody_can_read_does_not_stop_the_others(bench: Bench, line: str) -> None:
    await bench.add(TEA, DAILY)
    await bench.box.redis.call("HSET", keys.context_key(make_ref(), "reminders"), TEA.id, line)

    await bench.clock().step()

    assert [update.reminder for update in await bench.fired()] == [DAILY]


async def test_a_full_box_keeps_its_reminders_due_and_others_go_on(bench: Bench) -> None:
    await bench.add(*(replace(TEA, id=f"{number:08x}") for number in range(3)))
    await bench.add(DAILY, chat=2)

    await bench.clock(limit=1).step()

    assert len(await bench.fired()) == 1
    assert len(await bench.fired(chat=2)) == 1
    assert [score for _, score in await bench.due()] == [NOW + FULL_PAUSE_S] * 2 + [NOW + DAY_S]
    bench.now[0] = NOW + FULL_PAUSE_S
    await bench.clock().step()
    assert [update.was_due_at for update in await bench.fired()] == [NOW] * 3


async def test_a_failing_store_is_reported_and_the_reminder_fires_later(bench: Bench) -> None:
    await bench.add(TEA)

    class Away(TrippingRedis):
        async def run_all_durably(self, *arguments: Any) -> Any:
            await super().run_all_durably(*arguments)
            raise StoreUnavailable  # the reply was lost

    with pytest.raises(StoreUnavailable):
        await bench.clock(Away(bench.box.redis, 99, "before")).step()
    await bench.clock().step()

    assert len(await bench.fired()) == 1


async def test_a_stop_before_the_firing_does_not_end_a_reminder_and_a_later_one_does(bench: Bench) -> None:
    await bench.box.accept(1)
    claim = await bench.box.claim_one()
    await bench.box.accept(2, mode="stop")
    await bench.box.commit(claim, 1)
    await bench.add(TEA)
    await bench.clock().step()
    (update,) = await bench.fired()
    assert (update.follows, update.order_id) == (2, 2)

    record = bench.box.turns.record
    await record(claim, epoch=0, newest_update=-1, order_id=update.order_id, fields={"joined": "[-1]"})
    await bench.box.accept(3, mode="stop")
    with pytest.raises(TurnStopped):
        await record(claim, epoch=0, newest_update=-1, order_id=update.order_id, fields={"model:1": "said"})


async def test_an_interrupted_turn_goes_on_although_reminders_have_come_before_it(bench: Bench) -> None:
    await bench.box.accept(5)
    claim = await bench.box.claim_one()
    await bench.box.turns.record(claim, epoch=0, newest_update=5, fields={"joined": "[5]"})
    await bench.add(*(replace(TEA, id=f"{number:08x}") for number in range(30)))
    await bench.clock(limit=100).step()

    todo = await bench.box.take(claim)

    assert list(todo.updates) == [5]
    await bench.box.commit(claim, 5)
    assert len((await bench.box.take(claim)).updates) == 20


async def test_an_interrupted_reminder_goes_on_although_others_wait(bench: Bench) -> None:
    await bench.add(*(replace(TEA, id=f"{number:08x}") for number in range(3)))
    await bench.clock().step()
    claim = await bench.box.claim_one()
    await bench.box.turns.record(claim, epoch=0, newest_update=-2, order_id=0, fields={"joined": "[-2]"})

    assert next(iter((await bench.box.take(claim)).updates)) == -2


async def test_a_group_that_became_a_supergroup_is_written_to_at_its_new_id(bench: Bench) -> None:
    await Migrations(bench.box.redis, clock=lambda: NOW).learn(-2001, -1009)
    await bench.add(replace(TEA, chat_id=-2001, chat_type="group"))

    await bench.clock().step()

    (update,) = await bench.fired()
    assert (update.message.chat_id, update.message.chat_type, update.anchor_id) == (
        -1009,
        "supergroup",
        -2001,
    )
