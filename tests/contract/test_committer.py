"""A commit's round trip: it reserves the place of the first send and counts that send."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest
from stamina.instrumentation import set_on_retry_hooks

from bot.agent.model import Usage
from bot.errors import SendUnknown
from bot.inbox.records import Claim
from bot.settings import UsageLimits
from bot.transport.rates import SendRates
from bot.turn.commit import Committer
from bot.turn.limits import LimitGuard
from bot.turn.outbox import Part
from bot.turn.store import Commit
from chaos.rig.program import until_it_is
from chaos.rig.tcp_proxy import Faults
from memory import keys
from memory.errors import StoreUnavailable
from memory.redis.client import RedisClient, open_redis
from memory.redis.lua import ScriptCall
from tests.contract.inbox_kit import NOW, Clocked, Inbox, eventually, open_delivery, open_inbox, some_parts
from tests.messages import make_ref
from tests.store_proxy import redis_proxy
from tests.stores import real_redis


async def _counted(redis: RedisClient) -> str | None:
    return await redis.call("GET", keys.context_key(make_ref(), "sending"))


async def _commit(
    box: Inbox,
    claim: Claim,
    pause: Clocked,
    rates: SendRates | None = None,
    booking: Sequence[ScriptCall] = (),
) -> list[tuple[str, str | None, int]]:
    """Commit an answer. Return text, counted sends and round trips so far of each send."""
    begun: list[tuple[str, str | None, int]] = []
    before = box.redis.round_trips

    async def send(part: Part, content: bytes = b"", /) -> int:
        trips = box.redis.round_trips - before
        begun.append((part.rich.text, await _counted(box.redis), trips))
        return 7

    delivery = replace(open_delivery(box, send, pause=pause), rates=rates or SendRates(box.redis))
    await Committer(store=box.turns, delivery=delivery).commit(
        claim, Commit(update_ids=[1], epoch=0, parts=some_parts("hi"), booking=booking)
    )
    return begun


async def _claimed(redis: RedisClient) -> tuple[Inbox, Claim]:
    box = await open_inbox(redis)
    await box.accept(1)
    return box, await box.claim_one()


async def test_the_first_send_follows_its_commit_without_another_round_trip(redis: RedisClient) -> None:
    box, claim = await _claimed(redis)
    await _commit(box, claim, Clocked())  # the server learns the scripts
    await redis.call("FLUSHDB")
    box, claim = await _claimed(redis)

    assert await _commit(box, claim, Clocked()) == [("hi", "1", 1)]
    assert await box.state_of(1) == ("answered", "")
    assert await _counted(redis) is None


@pytest.mark.parametrize("wait", [0.1, 5.0])
async def test_a_send_that_waits_for_its_place_is_committed_and_not_counted(
    redis: RedisClient, wait: float
) -> None:
    box, claim = await _claimed(redis)
    await SendRates(redis).hold(1, wait)
    seen: list[tuple[str | None, list[Part]]] = []

    async def look() -> None:
        seen.append((await _counted(redis), await box.outbox()))
        await redis.call("DEL", keys.global_key("{rates}:hold", 1))

    begun = await _commit(box, claim, Clocked(during=look))

    assert [(count, len(parts)) for count, parts in seen] == [("0", 1)]
    assert [(text, count) for text, count, _ in begun] == [("hi", "1")]


async def test_a_reservation_that_fails_holds_up_neither_the_commit_nor_the_send(redis: RedisClient) -> None:
    box, claim = await _claimed(redis)
    await redis.call("SET", keys.global_key("{rates}:seats"), "not a set", "EX", 60)

    begun = await _commit(box, claim, Clocked())

    assert [(text, count) for text, count, _ in begun] == [("hi", "1")]
    assert await box.state_of(1) == ("answered", "")


async def test_a_send_that_follows_a_late_one_is_counted_only_when_it_begins(redis: RedisClient) -> None:
    box, claim = await _claimed(redis)
    await _commit(box, claim, Clocked())  # the server learns the scripts
    await redis.call("FLUSHDB")
    box, claim = await _claimed(redis)
    rates, counts = SendRates(redis), list[str | None]()
    while not await rates.reserve(1, "final"):
        assert rates.seems_free(1)

    async def look() -> None:
        counts.append(await _counted(box.redis))

    begun = await _commit(box, claim, Clocked(during=look), rates)

    assert counts == [None]
    assert begun == [("hi", "1", 4)]  # the commit, what `look` reads, the hold, the count


async def test_a_commit_waits_for_a_store_that_is_away(redis_url: str) -> None:
    async with redis_proxy(redis_url) as way, real_redis(way.redis_url) as redis:
        box, claim = await _claimed(redis)
        await way.cut()
        committing = asyncio.create_task(_commit(box, claim, Clocked()))
        with pytest.raises(StoreUnavailable):
            await redis.call("PING")
        await way.mend()

        begun = await committing

        assert [(text, count) for text, count, _ in begun] == [("hi", "1")]
        assert await box.state_of(1) == ("answered", "")


async def test_a_commit_whose_reply_was_lost_counts_no_send_that_has_not_begun(redis: RedisClient) -> None:
    """Its send with an unknown outcome is the first one, so it is repeated."""
    box, claim = await _claimed(redis)
    sent: list[str] = []

    async def send(part: Part, content: bytes = b"", /) -> int:
        sent.append(part.rich.text)
        if len(sent) == 1:
            raise SendUnknown
        return 7

    delivery = replace(open_delivery(box, send, pause=Clocked()), rates=SendRates(redis))
    commit = Commit(update_ids=[1], epoch=0, parts=some_parts("hi"))
    await box.turns.commit(claim, commit, reservation=delivery.reservation(commit.parts), begins_send=True)

    await Committer(store=box.turns, delivery=delivery).commit(claim, commit)

    assert sent == ["hi", "hi"]
    assert await box.state_of(1) == ("answered", "")


async def test_while_the_store_is_full_only_the_first_try_of_a_commit_reserves_a_place(
    redis: RedisClient,
) -> None:
    box, claim = await _claimed(redis)
    seats, tries = keys.global_key("{rates}:seats"), list[float]()
    guard = LimitGuard(redis, UsageLimits(), exempt=frozenset(), clock=lambda: NOW)
    booking = guard.booking([Usage(prompt_tokens=10)], update_id=1, user_id=1, chat_id=1)
    set_on_retry_hooks([lambda details: tries.append(details.wait_for)])
    await redis.call("CONFIG", "SET", "maxmemory", "1")
    try:
        committing = asyncio.create_task(_commit(box, claim, Clocked(), booking=booking))
        await eventually(lambda: len(tries) == 2)
        reserved = await redis.call("ZCARD", seats)
    finally:
        set_on_retry_hooks(None)
        await redis.call("CONFIG", "SET", "maxmemory", "0")
    begun = await committing

    assert reserved <= 1
    assert [(text, count) for text, count, _ in begun] == [("hi", "1")]


async def test_a_commit_that_is_cancelled_before_its_send_has_begun_keeps_both_tries(redis_url: str) -> None:
    async with redis_proxy(redis_url) as way, real_redis(way.redis_url) as redis:
        box, claim = await _claimed(redis)
        await _commit(box, claim, Clocked())  # the server learns the scripts
        await redis.call("FLUSHDB")
        box, claim = await _claimed(redis)
        async with open_redis(redis_url) as watch:
            way.faults = Faults(delay_s=0.1)
            committing = asyncio.create_task(_commit(box, claim, Clocked()))
            await until_it_is("1", lambda: _counted(watch), within_s=5)

            committing.cancel()  # the commit is stored, and its reply is on the way
            await asyncio.gather(committing, return_exceptions=True)

            assert committing.cancelled()
            assert await _counted(watch) == "0"
            assert len(await box.outbox()) == 1
