"""Invitations on the real store: each lets one person in, once, and only its digest is stored."""

import asyncio
from dataclasses import dataclass

from bot.transport.people import GUEST_S, STRANGER_S, TRIES, Guest, Guests, digest_of
from memory.redis.client import RedisClient
from tests.redis_values import keys_with

ANNA, BEN = 1, 2
WRONG = digest_of("wrong")


@dataclass(slots=True)
class Clock:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


async def test_an_invitation_lets_one_person_in_and_still_accepts_the_resumed_update(
    redis: RedisClient,
) -> None:
    guests = Guests(redis, clock=Clock())
    digest = digest_of(await guests.invite())

    assert await guests.redeem(ANNA, digest) == "accepted"
    assert await guests.redeem(ANNA, digest) == "accepted"
    assert await guests.redeem(BEN, digest) == "invalid"

    assert await guests.includes(ANNA)
    assert not await guests.includes(BEN)
    assert await guests.list() == [Guest(user_id=ANNA, since=1000.0)]


async def test_one_of_many_simultaneous_users_of_a_code_is_let_in(redis: RedisClient) -> None:
    guests = Guests(redis, clock=Clock())
    digest = digest_of(await guests.invite())
    answers = await asyncio.gather(*(guests.redeem(user, digest) for user in range(1, 21)))
    assert sorted(answers) == ["accepted"] + ["invalid"] * 19
    assert len(await guests.list()) == 1


async def test_a_guest_does_not_use_up_another_invitation(redis: RedisClient) -> None:
    guests = Guests(redis, clock=Clock())
    first, second = digest_of(await guests.invite()), digest_of(await guests.invite())
    await guests.redeem(ANNA, first)
    assert await guests.redeem(ANNA, second) == "accepted"
    assert await guests.redeem(BEN, second) == "accepted"


async def test_the_store_has_only_the_codes_digest_which_expires(redis: RedisClient) -> None:
    code = await Guests(redis, clock=Clock()).invite()
    assert len(code) == 24
    assert await keys_with(redis, code) == []
    kept = await keys_with(redis, digest_of(code))
    assert len(kept) == 2
    assert all([0 < int(await redis.call("TTL", key)) <= 7 * 24 * 3600 for key in kept])


async def test_open_invitations_are_those_that_nobody_has_used_and_that_have_not_expired(
    redis: RedisClient,
) -> None:
    clock = Clock()
    guests = Guests(redis, clock=clock)
    first, _ = digest_of(await guests.invite()), await guests.invite()

    await guests.redeem(ANNA, first)
    assert await guests.count_open() == 1

    clock.now += 7 * 24 * 3600 + 1
    assert await guests.count_open() == 0


async def test_guesses_are_answered_a_few_times_and_then_ignored(redis: RedisClient) -> None:
    guests = Guests(redis, clock=Clock())
    answers = [await guests.redeem(ANNA, WRONG) for _ in range(TRIES + 3)]
    assert answers == ["invalid"] * TRIES + ["later", "silent", "silent"]
    right = digest_of(await guests.invite())
    assert await guests.redeem(ANNA, right) == "silent"
    assert await guests.redeem(BEN, right) == "accepted", "a refused try does not use it up"


async def test_a_revoked_guest_is_refused_here_at_once_and_elsewhere_within_a_minute(
    redis: RedisClient,
) -> None:
    clock = Clock()
    here, elsewhere = Guests(redis, clock=clock), Guests(redis, clock=clock)
    await here.redeem(ANNA, digest_of(await here.invite()))
    assert await elsewhere.includes(ANNA)

    assert await here.revoke(ANNA) is True
    assert await here.revoke(ANNA) is False

    assert not await here.includes(ANNA)
    assert await elsewhere.includes(ANNA)
    clock.now += GUEST_S
    assert not await elsewhere.includes(ANNA)


async def test_the_store_is_asked_about_a_stranger_rarely_and_in_doubt_at_once(redis: RedisClient) -> None:
    clock = Clock()
    door, worker = Guests(redis, clock=clock), Guests(redis, clock=clock)
    before = redis.round_trips
    for _ in range(5):
        assert not await door.includes(ANNA)
    assert redis.round_trips == before + 1

    door.doubt(ANNA)
    await worker.redeem(ANNA, digest_of(await worker.invite()))

    assert await door.includes(ANNA)
    assert not await door.includes(BEN)
    await worker.redeem(BEN, digest_of(await worker.invite()))
    clock.now += STRANGER_S
    assert await door.includes(BEN)
