"""The usage limits on the real store:

each message counts once, refusals have a sentence, and usage is recorded.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import pytest

from bot.agent.model import Usage
from bot.errors import Fenced
from bot.model_choices import parse_models
from bot.settings import UsageLimits
from bot.transport.words import words_for
from bot.turn.costs import Used
from bot.turn.limits import LimitGuard
from memory.errors import Forgotten
from memory.redis.client import RedisClient
from tests.contract.inbox_kit import open_inbox
from tests.stores import all_keys

ENGLISH = words_for("en")
MIDNIGHT = 1_767_312_000.0  # 2026-01-02 00:00 UTC
NOON = MIDNIGHT - 12 * 3600
ANNA, BEN, GROUP = 1, 2, -7


@dataclass(slots=True)
class Clock:
    now: float = NOON

    def __call__(self) -> float:
        return self.now


def make_guard(redis: RedisClient, clock: Clock, limits: UsageLimits, models: str = "") -> LimitGuard:
    prices = {choice.name: choice for choice in parse_models(models)}
    return LimitGuard(redis, limits, exempt=frozenset({99}), clock=clock, prices=prices)


class Charge(NamedTuple):
    """The updates of a turn, and the person and chat that they count for."""

    update_ids: tuple[int, ...]
    user: int
    chat: int


def make_charge(*update_ids: int, user: int = ANNA, chat: int = ANNA) -> Charge:
    return Charge(update_ids, user, chat)


async def book(redis: RedisClient, guard: LimitGuard, of: Charge, usage: Usage) -> None:
    await redis.run_all(
        guard.booking(
            [replace(usage, model="m")], update_id=max(of.update_ids), user_id=of.user, chat_id=of.chat
        )
    )


async def check(guard: LimitGuard, of: Charge) -> tuple[str, str] | None:
    return await guard.check(of.update_ids, ENGLISH, user_id=of.user, chat_id=of.chat)


async def reason(guard: LimitGuard, of: Charge) -> str:
    refusal = await check(guard, of)
    return refusal[0] if refusal else ""


async def test_messages_count_once_and_expire_one_by_one_after_a_minute(redis: RedisClient) -> None:
    clock = Clock()
    guard = make_guard(redis, clock, UsageLimits(user_messages_per_minute=2))
    assert await check(guard, make_charge(1)) is None
    clock.now += 10
    assert await check(guard, make_charge(2)) is None
    assert await check(guard, make_charge(1)) is None, "a resumed turn is not counted again"
    clock.now += 20

    refused = await check(guard, make_charge(3))

    assert refused == (
        "limit_user_messages",
        "I can answer you 2 times a minute, and you've reached that limit. Please try again in 30 seconds.",
    )
    clock.now += 30.5
    assert await check(guard, make_charge(4)) is None
    assert await reason(guard, make_charge(5)) == "limit_user_messages"


async def test_a_turn_of_many_messages_is_admitted_and_counts_each(redis: RedisClient) -> None:
    clock = Clock()
    guard = make_guard(redis, clock, UsageLimits(user_messages_per_minute=2))
    assert await check(guard, make_charge(1, 2, 3, 4)) is None
    clock.now += 59
    assert await reason(guard, make_charge(5)) == "limit_user_messages"
    clock.now += 2
    assert await check(guard, make_charge(6)) is None


async def test_a_refusal_is_sent_once_a_minute_and_again_for_the_same_turn(redis: RedisClient) -> None:
    clock = Clock()
    guard = make_guard(redis, clock, UsageLimits(chat_messages_per_minute=1))
    assert await check(guard, make_charge(1, chat=GROUP)) is None

    told = await check(guard, make_charge(2, chat=GROUP))
    again = await check(guard, make_charge(2, chat=GROUP))
    silent = await check(guard, make_charge(3, user=BEN, chat=GROUP))

    assert told is not None
    assert told[1].startswith("I can answer once a minute in this chat")
    assert again == told, "it may not have been said before the crash"
    assert silent == ("limit_chat_messages", "")


async def test_a_refused_message_does_not_count(redis: RedisClient) -> None:
    clock = Clock()
    limits = UsageLimits(user_messages_per_minute=5, chat_messages_per_minute=1)
    guard = make_guard(redis, clock, limits)
    assert await reason(guard, make_charge(1, chat=GROUP)) == ""
    for update in range(2, 9):
        assert await reason(guard, make_charge(update, chat=GROUP)) == "limit_chat_messages"
    assert await reason(guard, make_charge(9, chat=-8)) == ""


@pytest.mark.parametrize(
    ("limits", "models", "expected"),
    [
        (UsageLimits(user_tokens_per_day=1000), "", "limit_user_tokens"),
        (UsageLimits(chat_tokens_per_day=1000), "", "limit_chat_tokens"),
        (UsageLimits(user_money_per_day=0.002), "m:2:0", "limit_user_money"),
        (UsageLimits(chat_money_per_day=0.002), "m:0:20", "limit_chat_money"),
    ],
)
async def test_usage_over_the_daily_limit_is_refused_until_midnight(
    redis: RedisClient, limits: UsageLimits, models: str, expected: str
) -> None:
    clock = Clock()
    guard = make_guard(redis, clock, limits, models)
    await book(redis, guard, make_charge(1), Usage(prompt_tokens=899, completion_tokens=99))
    assert await reason(guard, make_charge(2)) == ""
    await book(redis, guard, make_charge(2), Usage(prompt_tokens=101, completion_tokens=2))

    refused = await check(guard, make_charge(3))

    assert refused is not None
    assert refused[0] == expected
    assert "in 12 hours" in refused[1]
    assert await reason(guard, make_charge(4, user=BEN, chat=BEN)) == ""
    clock.now = MIDNIGHT
    assert await reason(guard, make_charge(5)) == ""


async def test_a_resumed_turn_is_recorded_once(redis: RedisClient) -> None:
    guard = make_guard(redis, Clock(), UsageLimits(), "m:1:10")
    for _ in range(3):
        await book(
            redis, guard, make_charge(1, 2, chat=GROUP), Usage(prompt_tokens=1000, completion_tokens=100)
        )
    await book(redis, guard, make_charge(3, user=BEN, chat=GROUP), Usage(prompt_tokens=10))

    used = await guard.used_today(user_id=ANNA, chat_id=GROUP)

    assert used["user"] == Used(tokens=1100, money=0.002)
    assert used["chat"] == used["all"] == Used(tokens=1110, money=0.00201)
    assert guard.day_ends_in() == 12 * 3600
    assert (await guard.used_today(user_id=ANNA, chat_id=ANNA))["chat"] == Used()


async def test_a_turns_usage_is_recorded_once_with_any_outcome_of_its_commit(redis: RedisClient) -> None:
    guard = make_guard(redis, Clock(), UsageLimits())
    box = await open_inbox(redis)
    await box.accept(1)
    claim = await box.claim_one()
    booking = guard.booking([Usage(prompt_tokens=10)], update_id=1, user_id=ANNA, chat_id=ANNA)
    before = redis.round_trips

    with pytest.raises(Forgotten):
        await box.commit(claim, 1, epoch=7, booking=booking)
    for _ in range(2):
        await box.commit(claim, 1, booking=booking)
    stale = replace(claim, fence=replace(claim.fence, delivery="9"))
    with pytest.raises(Fenced):
        await box.commit(stale, 1, booking=booking)

    assert redis.round_trips - before <= 6, "one trip for a commit, and two that teach the server its scripts"
    assert await box.state_of(1) == ("answered", "")
    assert (await guard.used_today(user_id=ANNA, chat_id=ANNA))["user"].tokens == 10


async def test_failed_runs_are_recorded_separately_from_the_turn(redis: RedisClient) -> None:
    guard = make_guard(redis, Clock(), UsageLimits())
    for _ in range(2):
        await guard.book(
            [Usage(prompt_tokens=100, completion_tokens=1)], update_id=1, user_id=ANNA, chat_id=ANNA
        )
    await guard.book([], update_id=1, user_id=ANNA, chat_id=ANNA)
    await book(redis, guard, make_charge(1), Usage(prompt_tokens=10))
    assert (await guard.used_today(user_id=ANNA, chat_id=ANNA))["user"].tokens == 212
    assert min([int(await redis.call("TTL", key)) for key in await all_keys(redis)]) > 0


async def test_operators_are_exempt_and_missing_limits_cost_no_round_trip(redis: RedisClient) -> None:
    limited = make_guard(redis, Clock(), UsageLimits(user_messages_per_minute=1))
    unlimited = make_guard(redis, Clock(), UsageLimits())
    before = redis.round_trips
    for update in range(3):
        assert await check(limited, make_charge(update, user=99)) is None
        assert await check(unlimited, make_charge(update)) is None
    assert unlimited.booking([], update_id=4, user_id=ANNA, chat_id=ANNA) == ()
    assert redis.round_trips == before


async def test_all_records_of_usage_expire(redis: RedisClient) -> None:
    limits = UsageLimits(user_messages_per_minute=1, chat_messages_per_minute=1)
    guard = make_guard(redis, Clock(), limits)
    await check(guard, make_charge(1))
    await check(guard, make_charge(2))
    await book(redis, guard, make_charge(1), Usage(prompt_tokens=1))
    keys = await all_keys(redis)
    assert len(keys) == 10
    assert min([int(await redis.call("TTL", key)) for key in keys]) > 0


CHANNELS = (-1001, -1002, -1003)


async def test_all_who_write_as_channels_in_a_group_share_one_limit_of_messages(redis: RedisClient) -> None:
    guard = make_guard(redis, Clock(), UsageLimits(user_messages_per_minute=2))

    reasons = [
        await reason(guard, make_charge(update, user=writer, chat=GROUP))
        for update, writer in enumerate((*CHANNELS, GROUP, ANNA, BEN), start=1)
    ]

    assert reasons == ["", "", "limit_user_messages", "limit_user_messages", "", ""]
    assert await reason(guard, make_charge(10, user=CHANNELS[0], chat=-8)) == "", (
        "another group is not theirs"
    )


async def test_all_who_write_as_channels_in_a_group_share_their_tokens_and_pictures(
    redis: RedisClient,
) -> None:
    guard = make_guard(redis, Clock(), UsageLimits(user_tokens_per_day=10))
    await book(redis, guard, make_charge(1, user=CHANNELS[0], chat=GROUP), Usage(prompt_tokens=10))

    assert await reason(guard, make_charge(2, user=CHANNELS[1], chat=GROUP)) == "limit_user_tokens"
    assert not await guard.has_room([Usage(prompt_tokens=1)], user_id=CHANNELS[2], chat_id=GROUP)
    assert await reason(guard, make_charge(3, user=ANNA, chat=GROUP)) == ""
    used = await guard.used_today(user_id=CHANNELS[2], chat_id=GROUP)
    assert used["user"].tokens == 10

    taken = [
        await guard.take_picture(str(writer), user_id=writer, chat_id=GROUP, at_most=2) for writer in CHANNELS
    ]
    assert taken == [True, True, False]
    await guard.return_picture(str(CHANNELS[0]), user_id=CHANNELS[0], chat_id=GROUP)
    assert await guard.take_picture("again", user_id=CHANNELS[2], chat_id=GROUP, at_most=2)
