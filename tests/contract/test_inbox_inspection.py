"""The operators' view of the inbox, with the real scripts."""

from dataclasses import dataclass

from bot.inbox.inspection import InboxInspection
from bot.inbox.records import Arrival, Claim
from bot.inbox.redis_inbox import RedisInbox
from bot.turn.store import ATTEMPTS_AT_MOST, Commit, TurnStore
from memory.keys import ContextRef
from memory.redis.client import RedisClient
from tests.contract.inbox_kit import some_parts

PARTITIONS = 2
ANNA, BEN = ContextRef(context_id="anna", partition=0), ContextRef(context_id="ben", partition=1)


@dataclass(slots=True)
class Clock:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@dataclass(frozen=True, slots=True)
class Rig:
    """The inbox with its workers' side and its operators' side."""

    clock: Clock
    inbox: RedisInbox
    turns: TurnStore
    inspection: InboxInspection

    async def accept(self, update_id: int, ref: ContextRef) -> None:
        payload = '{"text": "a secret"}'
        arrival = Arrival(update_id=update_id, ref=ref, mode="turn", payload=payload)
        assert await self.inbox.accept(arrival) == "accepted"

    async def claim(self, ref: ContextRef) -> Claim:
        claims = await self.inbox.claim(ref.partition, consumer="worker-1", count=1, wait_ms=100)
        assert [claim.ref for claim in claims] == [ref]
        return claims[0]

    async def bury(self, update_id: int, ref: ContextRef) -> Claim:
        await self.accept(update_id, ref)
        claim = await self.claim(ref)
        for _ in range(ATTEMPTS_AT_MOST):
            await self.turns.take(claim, window=0)
            (claim,) = await self.inbox.sweep(ref.partition, consumer="worker-1", count=1, idle_ms=0)
        todo, _ = await self.turns.take(claim, window=0)
        assert list(todo.buried) == [update_id]
        return claim


def make_rig(redis: RedisClient) -> Rig:
    clock = Clock()
    return Rig(
        clock=clock,
        inbox=RedisInbox(redis, partitions=PARTITIONS, box_limit=100, clock=clock),
        turns=TurnStore(redis, clock=clock),
        inspection=InboxInspection(redis, partitions=PARTITIONS, clock=clock),
    )


async def test_an_empty_inbox_has_nothing_to_show(redis: RedisClient) -> None:
    inspection = make_rig(redis).inspection
    assert (await inspection.waiting(), await inspection.dead_letters()) == ([], [])
    assert await inspection.find(1) is None
    assert await inspection.retry(1) is False
    assert await inspection.drop(1) is False


async def test_waiting_updates_are_counted_per_context_before_any_worker_starts(redis: RedisClient) -> None:
    rig = make_rig(redis)
    await rig.accept(1, ANNA)
    rig.clock.now += 5
    await rig.accept(2, BEN)
    await rig.accept(3, ANNA)
    rig.clock.now += 10
    waiting = await rig.inspection.waiting()
    assert [(one.ref, one.updates, one.oldest_s, one.worker) for one in waiting] == [
        (ANNA, 2, 15.0, None),
        (BEN, 1, 10.0, None),
    ]


async def test_a_claimed_context_names_its_worker(redis: RedisClient) -> None:
    rig = make_rig(redis)
    await rig.inbox.open()
    await rig.accept(1, BEN)
    await rig.claim(BEN)
    assert [one.worker for one in await rig.inspection.waiting()] == ["worker-1"]


async def test_a_delivery_is_shown_apart_from_waiting_updates(redis: RedisClient) -> None:
    rig = make_rig(redis)
    await rig.inbox.open()
    await rig.accept(1, ANNA)
    await rig.accept(2, ANNA)
    claim = await rig.claim(ANNA)
    await rig.turns.commit(claim, Commit(update_ids=[1], epoch=0, parts=some_parts("part one", "part two")))
    (one,) = await rig.inspection.waiting()
    assert (one.updates, one.delivering, one.parts) == (1, 1, 2)
    record = await rig.inspection.find(1)
    assert record is not None
    assert (record.state, record.ahead, record.sent) == ("delivering", None, ())


async def test_a_record_shows_the_state_of_an_update_in_any_partition(redis: RedisClient) -> None:
    rig = make_rig(redis)
    await rig.inbox.open()
    await rig.accept(7, BEN)
    claim = await rig.claim(BEN)
    rig.clock.now += 3
    (part,) = some_parts("part")
    await rig.turns.commit(claim, Commit(update_ids=[7], epoch=0, parts=[part]))
    await rig.turns.sent(claim, part, telegram_id=555)
    record = await rig.inspection.find(7)
    assert record is not None
    assert (record.ref, record.state, record.times.received, record.times.finished) == (
        BEN,
        "answered",
        1000,
        1003,
    )
    assert record.sent == (555,)
    assert "secret" not in repr(record)


async def test_a_waiting_update_shows_how_many_come_before_it(redis: RedisClient) -> None:
    rig = make_rig(redis)
    for number in (5, 6, 7):
        await rig.accept(number, ANNA)
    record = await rig.inspection.find(7)
    assert record is not None
    assert (record.state, record.ahead, record.is_dead_letter) == ("pending", 2, False)


async def test_a_dead_letter_is_listed_with_its_reason_and_age(redis: RedisClient) -> None:
    rig = make_rig(redis)
    await rig.inbox.open()
    await rig.bury(9, BEN)
    rig.clock.now += 60
    (letter,) = await rig.inspection.dead_letters()
    assert (letter.update_id, letter.ref, letter.reason, letter.age_s) == (
        9,
        BEN,
        "interrupted too often",
        60.0,
    )
    record = await rig.inspection.find(9)
    assert record is not None
    assert (record.state, record.is_dead_letter) == ("dead", True)


async def test_a_retried_dead_letter_starts_with_fresh_attempts(redis: RedisClient) -> None:
    rig = make_rig(redis)
    await rig.inbox.open()
    await rig.inbox.settle(await rig.bury(9, BEN))
    assert await rig.inspection.retry(9) is True
    assert await rig.inspection.dead_letters() == []
    claim = await rig.claim(BEN)
    todo, _ = await rig.turns.take(claim, window=0)
    assert todo.updates == {9: '{"text": "a secret"}'}
    assert await rig.inspection.retry(9) is False


async def test_a_dropped_dead_letter_keeps_its_record_without_its_text(redis: RedisClient) -> None:
    rig = make_rig(redis)
    await rig.inbox.open()
    await rig.inbox.settle(await rig.bury(9, BEN))
    assert await rig.inspection.drop(9) is True
    record = await rig.inspection.find(9)
    assert record is not None
    assert (record.state, record.reason, record.is_dead_letter) == ("dead", "dropped by an operator", False)
    assert await redis.call("HEXISTS", "mnemogram:{m1}:update:9", "payload") == 0
    assert await redis.call("TTL", "mnemogram:{m1}:update:9") > 0
    assert (await rig.inspection.waiting(), await rig.inspection.drop(9)) == ([], False)


async def test_the_newest_update_of_a_context_is_the_last_received(redis: RedisClient) -> None:
    rig = make_rig(redis)
    many = [ContextRef(context_id=f"chat-{number}", partition=0) for number in range(7)]
    for update_id in range(600):  # more than one piece of the keys
        await rig.accept(update_id, many[update_id % 7])
    await rig.accept(700, BEN)
    assert await rig.inspection.find_newest(many[0]) == 595
    rig.clock.now += 1
    await rig.accept(-3, many[0])  # a reminder

    assert await rig.inspection.find_newest(many[0]) == -3
    assert await rig.inspection.find_newest(BEN) == 700
    assert await rig.inspection.find_newest(ANNA) is None
