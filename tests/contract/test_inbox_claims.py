"""Claims of the inbox: one holder for a context at a time, and takeovers only from dead workers."""

from collections.abc import Awaitable, Callable

import pytest

from bot.errors import Fenced
from bot.inbox.inspection import InboxInspection
from bot.inbox.records import UNCOUNTED_AT_MOST, Claim
from bot.turn.store import ATTEMPTS_AT_MOST
from memory import keys
from memory.redis.client import RedisClient
from memory.tombstones import load_secret
from tests.contract.inbox_kit import NOW, Inbox, open_inbox, some_parts
from tests.messages import make_message, make_ref
from tests.redis_values import all_values


async def test_a_context_is_claimed_by_one_of_two_workers(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)

    assert [len(await box.claim(worker)) for worker in ("anna", "bert")] == [1, 0]


async def test_two_contexts_are_processed_at_the_same_time(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1, chat=1)
    await box.accept(2, chat=2)

    claims = [await box.claim_one(worker) for worker in ("anna", "bert")]

    assert [claim.ref for claim in claims] == [make_ref(1), make_ref(2)]


async def test_updates_of_a_claimed_context_wait_for_its_holder(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    claim = await box.claim_one()
    await box.accept(2)

    assert await box.claim("bert") == []
    await box.commit(claim, 1)
    assert await box.inbox.settle(claim) is True
    assert list((await box.take(claim)).updates) == [2]


async def test_an_empty_context_becomes_idle_and_wakes_with_the_next_update(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    claim = await box.claim_one()
    await box.commit(claim, 1)

    assert await box.inbox.settle(claim) is False

    assert await redis.call("EXISTS", keys.partition_key(0, "active")) == 0
    assert await redis.call("XLEN", keys.partition_key(0, "ready")) == 0
    await box.accept(2)
    assert (await box.claim_one("bert")).ref == make_ref()


async def test_updates_are_taken_oldest_first_up_to_a_limit(redis: RedisClient) -> None:
    box = await open_inbox(redis, box_limit=100)
    for update in range(30, 0, -1):
        await box.accept(update)

    todo = await box.take(await box.claim_one())

    assert list(todo.updates) == list(range(1, 21))
    assert todo.updates[1] == "p1"


async def test_a_context_of_a_silent_worker_is_taken_over(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    silent = await box.claim_one("anna")

    (taken,) = await box.sweep("bert")

    assert (taken.ref, taken.fence.entry) == (silent.ref, silent.fence.entry)
    assert taken.fence != silent.fence
    assert list((await box.take(taken)).updates) == [1]


async def test_a_context_of_a_living_worker_is_not_taken_over(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    claim = await box.claim_one("anna")

    assert await box.sweep("bert", idle_ms=60_000) == []
    await box.inbox.keep(claim)


async def test_a_heartbeat_postpones_the_takeover(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    claim = await box.claim_one("anna")
    await redis.call(  # as if nothing had been heard for a minute
        "XCLAIM",
        *(keys.partition_key(0, "ready"), "workers", "anna", 0, claim.fence.entry, "IDLE", 60_000, "JUSTID"),
    )

    await box.inbox.keep(claim)

    assert await box.sweep("bert", idle_ms=30_000) == []


async def test_a_heartbeat_after_the_takeover_does_not_return_the_claim(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    slept = await box.claim_one("anna")
    (taken,) = await box.sweep("bert")

    with pytest.raises(Fenced):
        await box.inbox.keep(slept)

    await box.inbox.keep(taken)
    assert (await box.take(taken)).updates


async def test_a_worker_that_reclaims_its_context_fences_its_earlier_claim(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    slept = await box.claim_one("anna")
    (taken,) = await box.sweep("anna")

    with pytest.raises(Fenced):
        await box.take(slept)
    assert (await box.take(taken)).updates


Write = Callable[[Inbox, Claim], Awaitable[object]]

WRITES: dict[str, Write] = {
    "take": lambda box, claim: box.take(claim),
    "record": lambda box, claim: box.record(claim, "model:1"),
    "commit": lambda box, claim: box.commit(claim, 1, messages=[make_message()], parts=some_parts("hi")),
    "count sends": lambda box, claim: box.turns.count_sends(claim, some_parts("hi", update_id=0)[0], 2),
    "sent": lambda box, claim: box.turns.sent(claim, some_parts("hi", update_id=0)[0]),
    "reset": lambda box, claim: box.turns.reset(claim.ref, answering=(claim, 1)),
    "settle": lambda box, claim: box.inbox.settle(claim),
    "rotate": lambda box, claim: box.inbox.settle(claim, rotate=True, handed_back=1),
    "keep": lambda box, claim: box.inbox.keep(claim),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())
async def test_a_worker_that_slept_past_its_lease_writes_nothing(redis: RedisClient, write: Write) -> None:
    box = await open_inbox(redis)
    await box.accept(0)
    await box.accept(1)
    slept = await box.claim_one("anna")
    await box.commit(slept, 0, messages=[make_message("earlier")], parts=some_parts("hi", update_id=0))
    await box.record(slept, "model:0")
    await box.sweep("bert")
    await load_secret(redis)
    before = await all_values(redis)

    with pytest.raises(Fenced):
        await write(box, slept)

    assert await all_values(redis) == before


async def test_idle_entries_are_found_behind_many_busy_ones(redis: RedisClient) -> None:
    """XAUTOCLAIM reads ten times its COUNT entries in one call."""
    box = await open_inbox(redis)
    for chat in range(1, 101):
        await box.accept(chat, chat=chat)
    held = await box.claim("anna", count=99)
    (dead,) = await box.claim("bert")
    await redis.call(
        "XCLAIM",
        keys.partition_key(0, "ready"),
        "workers",
        "bert",
        0,
        dead.fence.entry,
        "IDLE",
        60_000,
        "JUSTID",
    )

    taken = await box.sweep("carl", idle_ms=30_000, count=2)

    assert len(held) == 99
    assert [claim.ref for claim in taken] == [dead.ref]


async def test_a_sweep_takes_at_most_its_count(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    for chat in range(1, 6):
        await box.accept(chat, chat=chat)
    await box.claim("anna", count=5)

    assert len(await box.sweep("bert", count=3)) == 3


async def test_a_context_at_the_end_of_the_line_lets_the_others_go_first(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    for update, chat in ((1, 1), (2, 1), (3, 2)):
        await box.accept(update, chat=chat)
    claim = await box.claim_one()
    await box.commit(claim, 1)

    assert await box.inbox.settle(claim, rotate=True) is False

    assert [(await box.claim_one()).ref for _ in range(2)] == [make_ref(2), make_ref(1)]


async def test_a_context_with_more_updates_goes_behind_the_waiting_ones(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    for update, chat in ((1, 1), (2, 1), (3, 2)):
        await box.accept(update, chat=chat)
    claim = await box.claim_one()
    await box.commit(claim, 1)

    assert await box.inbox.settle(claim) is False

    assert [(await box.claim_one()).ref for _ in range(2)] == [make_ref(2), make_ref(1)]


async def test_each_worker_counts_as_one_attempt_of_the_first_update(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    await box.accept(2)
    await box.take(await box.claim_one())
    (claim,) = await box.sweep("bert")

    await box.take(claim)
    await box.take(claim)

    assert (await box.record_of(1))["attempts"] == "2"
    assert "attempts" not in await box.record_of(2)


async def test_an_outage_during_a_claim_counts_as_no_attempt(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    claim = await box.claim_one()

    todos = [await box.take(claim) for _ in range(2 * ATTEMPTS_AT_MOST)]

    assert [todo.buried for todo in todos] == [{}] * len(todos)
    assert (await box.record_of(1))["attempts"] == "1"


async def test_an_update_with_too_many_attempts_becomes_a_dead_letter_and_the_chat_goes_on(
    redis: RedisClient,
) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    await box.accept(2)
    claim = await box.wear_out(await box.claim_one())
    await box.record(claim, "model:1")

    todo = await box.take(claim)

    assert list(todo.buried) == [1]
    assert list(todo.updates) == [2]
    assert await box.state_of(1) == ("dead", "interrupted too often")
    assert (await box.record_of(1))["payload"] == "p1"
    assert await box.ttl_of(keys.partition_key(0, "update", 1)) == -1


async def test_claims_that_living_workers_lose_are_no_deaths(redis: RedisClient) -> None:
    """Load, or a machine that stands still. One that comes again and again is counted in the end."""
    box = await open_inbox(redis)
    await box.accept(1)
    claim = await box.claim_one()

    async def lose(claim: Claim) -> Claim:
        await box.take(claim)
        (taken,) = await box.sweep("bert")
        for _ in range(2):
            await box.inbox.uncount(claim)
        return taken

    for _ in range(UNCOUNTED_AT_MOST):
        claim = await lose(claim)
        assert (await box.record_of(1))["attempts"] == "0"
    for attempts in ("1", "2"):
        claim = await lose(claim)
        assert (await box.record_of(1))["attempts"] == attempts


async def test_a_late_report_of_a_lost_claim_uncounts_no_other_attempt(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    lost = await box.claim_one()
    await box.take(lost)
    (claim,) = await box.sweep("bert")
    await box.take(claim)

    await box.inbox.uncount(lost)
    assert (await box.record_of(1))["attempts"] == "1"
    await box.commit(claim, 1)
    await box.accept(2)
    await box.inbox.uncount(lost)

    assert "attempts" not in await box.record_of(2)


async def test_an_update_becomes_a_dead_letter_only_after_it_killed_a_worker_alone(
    redis: RedisClient,
) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    await box.take(await box.claim_one())
    (claim,) = await box.sweep("bert")
    await box.take(claim)
    for deaths in range(2, 7):
        (claim,) = await box.sweep("bert")
        assert claim.deaths == deaths
        assert (await box.take(claim)).buried == {}
        await box.inbox.let_others_in(claim)

    (claim,) = await box.sweep("bert")
    assert (await box.take(claim)).buried == {}
    (claim,) = await box.sweep("carl")

    assert list((await box.take(claim)).buried) == [1]


async def test_an_update_that_begins_with_others_does_not_run_alone(redis: RedisClient) -> None:
    """The store was unavailable or full when the update should have begun alone."""
    box = await open_inbox(redis)
    await box.accept(1)
    await box.take(await box.claim_one())
    (claim,) = await box.sweep("bert")
    await box.take(claim)
    (claim,) = await box.sweep("bert")
    await box.inbox.let_others_in(claim)
    await box.take(claim)

    (claim,) = await box.sweep("carl")

    assert claim.deaths == 3
    assert (await box.take(claim)).buried == {}


async def test_deaths_during_a_delivery_do_not_count_for_the_next_update(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    await box.accept(2)
    claim = await box.claim_one()
    await box.take(claim)
    await box.commit(claim, 1, parts=some_parts("one"))

    (taken,) = await box.sweep("bert")

    assert (taken.is_taken_over, taken.deaths) == (True, 0)


async def test_a_worker_without_its_claim_admits_no_other_update(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    claim = await box.claim_one()
    await box.sweep("bert")

    with pytest.raises(Fenced):
        await box.inbox.let_others_in(claim)


async def test_a_sweep_counts_deaths_for_the_interrupted_turn_and_not_for_a_lower_update(
    redis: RedisClient,
) -> None:
    box = await open_inbox(redis)
    await box.accept(100)
    claim = await box.claim_one()
    await box.take(claim)
    await box.turns.record(claim, epoch=0, newest_update=100, fields={"joined": "[100]"})
    await box.accept(50)

    (taken,) = await box.sweep("bert")

    assert taken.deaths == 1


async def test_deaths_count_for_the_interrupted_turn_and_not_for_a_later_lower_update(
    redis: RedisClient,
) -> None:
    box = await open_inbox(redis)
    await box.accept(100)
    claim = await box.claim_one()
    steps = {"model:1": "a", "joined": "[100]", "preview": "shown"}
    await box.turns.record(claim, epoch=0, newest_update=100, fields=steps)
    await box.accept(50)

    todo = await box.take(await box.wear_out(claim))

    assert list(todo.buried) == [100]
    assert todo.journal == {"preview": "shown"}  # for who apologises, to take it away
    assert await box.waiting() == [50]
    assert "attempts" not in await box.record_of(50)


async def test_a_dead_letter_is_no_attempt_of_the_next_update(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    await box.accept(2)
    claim = await box.wear_out(await box.claim_one())

    assert list((await box.take(claim)).buried) == [1]

    assert "attempts" not in await box.record_of(2)
    claim = await box.wear_out(claim)
    assert list((await box.take(claim)).buried) == [2]


async def test_a_dead_letter_can_be_retried(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    claim = await box.wear_out(await box.claim_one())
    await box.take(claim)
    await box.inbox.settle(claim)

    assert await InboxInspection(redis, partitions=1, clock=lambda: NOW).retry(1)

    todo = await box.take(await box.claim_one("bert"))
    assert todo.updates == {1: "p1"}


async def test_a_handed_back_context_counts_as_no_attempt(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    for _ in range(2 * ATTEMPTS_AT_MOST):
        claim = await box.claim_one()
        assert (await box.take(claim)).buried == {}
        await box.inbox.settle(claim, rotate=True, handed_back=1)

    assert (await box.record_of(1))["attempts"] == "0"


async def test_a_worker_leaves_its_group_but_not_its_unfinished_work(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    claim = await box.claim_one("anna")
    await box.inbox.leave(0, consumer="anna")
    await box.claim("bert")
    await box.inbox.leave(0, consumer="bert")

    consumers = await redis.call("XINFO", "CONSUMERS", keys.partition_key(0, "ready"), "workers")
    assert [consumer["name"] for consumer in consumers] == ["anna"]
    (taken,) = await box.sweep("carl")
    assert taken.ref == claim.ref
