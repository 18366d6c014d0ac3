"""A commit's round trip: it reserves the place of the first send and counts that send."""

import asyncio
from dataclasses import replace

import pytest

from bot.errors import SendUnknown
from bot.inbox.records import Claim
from bot.transport.rates import SendRates
from bot.turn.commit import Committer
from bot.turn.outbox import Part
from bot.turn.store import Commit
from memory import keys
from memory.errors import StoreUnavailable
from memory.redis.client import RedisClient
from tests.contract.inbox_kit import Clocked, Inbox, open_delivery, open_inbox, some_parts
from tests.messages import make_ref
from tests.store_proxy import redis_proxy
from tests.stores import real_redis


async def _counted(redis: RedisClient) -> str | None:
    return await redis.call("GET", keys.context_key(make_ref(), "sending"))


async def _commit(
    box: Inbox, claim: Claim, pause: Clocked, rates: SendRates | None = None
) -> list[tuple[str, str | None, int]]:
    """Commit an answer. Return text, counted sends and round trips so far of each send."""
    begun: list[tuple[str, str | None, int]] = []
    before = box.redis.round_trips

    async def send(part: Part) -> int:
        trips = box.redis.round_trips - before
        begun.append((part.rich.text, await _counted(box.redis), trips))
        return 7

    delivery = replace(open_delivery(box, send, pause=pause), rates=rates or SendRates(box.redis))
    await Committer(store=box.turns, delivery=delivery).commit(
        claim, Commit(update_ids=[1], epoch=0, parts=some_parts("hi"))
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

    async def send(part: Part) -> int:
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
