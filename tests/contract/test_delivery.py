"""Delivery of the outbox: no part is lost, and only a send with an unknown outcome is repeated, once."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import pytest
from stamina.instrumentation import set_on_retry_hooks

from bot.errors import (
    ChatMigrated,
    ChatUnreachable,
    Fenced,
    SendUnknown,
    TelegramFailure,
    TelegramRefused,
    TelegramUnavailable,
    TokenRefused,
)
from bot.inbox.records import Claim
from bot.transport.rich_text import Entity, RichText
from bot.transport.telegram_api import open_telegram
from bot.turn.delivery import send_part
from bot.turn.outbox import Part, SentPart, plan_parts
from chaos.rig.program import until_it_is
from memory import keys
from memory.history.message import Message
from memory.history.redis_history import RedisHistory
from memory.redis.client import RedisClient
from simulator.api.config import DEFAULT_TOKEN
from tests.contract.inbox_kit import Inbox, eventually, make_blank, open_delivery, open_inbox, some_parts
from tests.messages import make_message, make_ref
from tests.store_proxy import redis_proxy
from tests.stores import real_redis
from tests.traffic import OpenRates


@dataclass(slots=True)
class Telegram:
    """A Bot API that records sends as chat and text.

    `outcomes` come first: a failure, or None for a success.
    """

    outcomes: list[TelegramFailure | None] = field(default_factory=list[TelegramFailure | None])
    tried: list[Part] = field(default_factory=list[Part])
    arrived: list[str] = field(default_factory=list[str])
    during: Callable[[], Awaitable[object]] | None = None

    async def __call__(self, part: Part, content: bytes = b"", /) -> int:
        self.tried.append(part)
        if self.during is not None:
            await self.during()
        outcome = self.outcomes.pop(0) if self.outcomes else None
        if outcome is not None:
            raise outcome
        self.arrived.append(part.rich.text)
        return 70 + len(self.tried)


@dataclass(slots=True)
class Pauses:
    """Pauses that end at once. `during` runs in each."""

    waits: list[float] = field(default_factory=list[float])
    during: Callable[[], Awaitable[object]] | None = None

    async def __call__(self, seconds: float) -> None:
        self.waits.append(seconds)
        if self.during is not None:
            await self.during()


async def _committed(redis: RedisClient, lines: Sequence[Part], *messages: Message) -> tuple[Inbox, Claim]:
    """Return an inbox whose update 1 has its answer in the outbox, and the claim of its chat."""
    box = await open_inbox(redis)
    await box.accept(1)
    claim = await box.claim_one()
    await box.commit(claim, 1, parts=lines, messages=messages)
    return box, claim


async def test_every_part_is_sent_in_order_and_the_update_is_answered(redis: RedisClient) -> None:
    lines = some_parts("one", "two", "three", of="m0")
    box, claim = await _committed(redis, lines, make_message("m0", role="assistant"))
    telegram = Telegram()

    await open_delivery(box, telegram).deliver(claim, lines)

    assert telegram.arrived == ["one", "two", "three"]
    assert await box.state_of(1) == ("answered", "")
    assert await RedisHistory(redis).find_by_telegram(make_ref(), 73) == "m0"


async def test_a_send_of_unknown_outcome_is_repeated_once(redis: RedisClient) -> None:
    lines = some_parts("one", "two")
    box, claim = await _committed(redis, lines)
    telegram = Telegram([SendUnknown()])

    await open_delivery(box, telegram).deliver(claim, lines)

    assert [part.rich.text for part in telegram.tried] == ["one", "one", "two"]
    assert await box.state_of(1) == ("answered", "")


async def test_a_send_of_unknown_outcome_is_repeated_only_once(redis: RedisClient) -> None:
    lines = some_parts("one", "two")
    box, claim = await _committed(redis, lines)
    telegram = Telegram([SendUnknown(), SendUnknown()])

    await open_delivery(box, telegram).deliver(claim, lines)

    assert [part.rich.text for part in telegram.tried] == ["one", "one", "two"]
    assert await box.outbox() == []


async def test_a_429_is_waited_for_and_counts_as_no_send(redis: RedisClient) -> None:
    lines = some_parts("one")
    box, claim = await _committed(redis, lines)
    counted: list[object] = []

    async def look() -> None:
        counted.append(await redis.call("GET", keys.context_key(make_ref(), "sending")))

    telegram, pauses = Telegram([TelegramUnavailable(retry_after=7)] * 5), Pauses(during=look)

    await open_delivery(box, telegram, pause=pauses).deliver(claim, lines)

    assert pauses.waits == [7.0] * 5
    assert counted == ["0"] * 5
    assert telegram.arrived == ["one"]


async def test_an_outage_is_waited_for_with_growing_pauses(redis: RedisClient) -> None:
    lines = some_parts("one")
    box, claim = await _committed(redis, lines)
    telegram, pauses = Telegram([TelegramUnavailable()] * 9), Pauses()

    await open_delivery(box, telegram, pause=pauses).deliver(claim, lines)

    assert pauses.waits == [0.5, 1, 2, 4, 8, 16, 32, 60, 60]
    assert telegram.arrived == ["one"]


async def test_an_unknown_outcome_can_be_repeated_after_an_outage(redis: RedisClient) -> None:
    lines = some_parts("one")
    box, claim = await _committed(redis, lines)
    telegram = Telegram([TelegramUnavailable(), SendUnknown(), TelegramUnavailable(), SendUnknown(), None])

    await open_delivery(box, telegram, pause=Pauses()).deliver(claim, lines)

    assert len(telegram.tried) == 4
    assert telegram.arrived == []


async def test_a_chat_that_blocked_the_bot_gets_no_further_parts(redis: RedisClient) -> None:
    lines = some_parts("one", "two")
    box, claim = await _committed(redis, lines)
    telegram = Telegram([ChatUnreachable()])

    await open_delivery(box, telegram).deliver(claim, lines)

    assert len(telegram.tried) == 1
    assert await box.state_of(1) == ("ignored", "undeliverable_unreachable")
    assert await box.outbox() == []


def _a_bold_line() -> list[Part]:
    rich = RichText(text="bold", entities=(Entity(type="bold", offset=0, length=4),))
    return plan_parts([rich], make_blank(reply_to=9))


async def test_refused_entities_are_sent_as_plain_text_once(redis: RedisClient) -> None:
    lines = _a_bold_line()
    box, claim = await _committed(redis, lines)
    telegram = Telegram([TelegramRefused("can't parse entities")])

    await open_delivery(box, telegram).deliver(claim, lines)

    assert [(part.rich.entities != (), part.reply_to) for part in telegram.tried] == [
        (True, 9),
        (False, None),
    ]
    assert telegram.arrived == ["bold"]
    assert await box.state_of(1) == ("answered", "")


async def test_plain_text_that_is_refused_as_well_is_given_up(redis: RedisClient) -> None:
    lines = _a_bold_line()
    box, claim = await _committed(redis, lines)
    telegram = Telegram([TelegramRefused(), TelegramRefused()])

    await open_delivery(box, telegram).deliver(claim, lines)

    assert len(telegram.tried) == 2
    assert await box.state_of(1) == ("ignored", "undeliverable_refused")


async def test_refused_plain_text_is_not_sent_again(redis: RedisClient) -> None:
    lines = some_parts("plain")
    box, claim = await _committed(redis, lines)
    telegram = Telegram([TelegramRefused()])

    await open_delivery(box, telegram).deliver(claim, lines)

    assert len(telegram.tried) == 1
    assert await box.state_of(1) == ("ignored", "undeliverable_refused")


async def test_an_answer_follows_its_group_to_the_supergroup(redis: RedisClient) -> None:
    lines = some_parts("one")
    box, claim = await _committed(redis, lines)
    telegram = Telegram([ChatMigrated(-1009)])

    await open_delivery(box, telegram).deliver(claim, lines)

    assert [part.chat_id for part in telegram.tried] == [1, -1009]
    assert telegram.arrived == ["one"]


async def test_an_answer_erased_between_two_parts_is_not_continued(redis: RedisClient) -> None:
    lines = some_parts("one", "two", "three")
    box, claim = await _committed(redis, lines)
    telegram = Telegram(during=lambda: box.turns.reset(make_ref()))

    await open_delivery(box, telegram).deliver(claim, lines)

    assert [part.rich.text for part in telegram.tried] == ["one"]
    assert (await box.state_of(1))[0] == "forgotten"


@pytest.mark.parametrize("failure", [SendUnknown(), TelegramUnavailable(retry_after=3), TelegramRefused()])
async def test_an_answer_erased_before_its_send_is_not_sent(
    redis: RedisClient, failure: TelegramFailure
) -> None:
    lines = _a_bold_line()
    box, claim = await _committed(redis, lines)
    telegram = Telegram([failure], during=lambda: box.turns.reset(make_ref()))

    await open_delivery(box, telegram, pause=Pauses()).deliver(claim, lines)

    assert telegram.arrived == []
    assert len(telegram.tried) == 1


async def test_a_worker_that_lost_its_claim_during_a_send_sends_no_more(redis: RedisClient) -> None:
    lines = some_parts("one", "two")
    box, claim = await _committed(redis, lines)
    telegram = Telegram(during=lambda: box.sweep("bert"))

    with pytest.raises(Fenced):
        await open_delivery(box, telegram).deliver(claim, lines)

    assert [part.rich.text for part in telegram.tried] == ["one"]


async def test_a_worker_that_lost_its_claim_during_a_refused_send_tries_no_other_form(
    redis: RedisClient,
) -> None:
    lines = _a_bold_line()
    box, claim = await _committed(redis, lines)
    telegram = Telegram([TelegramRefused()], during=lambda: box.sweep("bert"))

    with pytest.raises(Fenced):
        await open_delivery(box, telegram).deliver(claim, lines)

    assert len(telegram.tried) == 1


async def _take_over(box: Inbox) -> tuple[Claim, Sequence[Part], int]:
    (claim,) = await box.sweep("bert")
    todo = await box.take(claim)
    return claim, todo.parts, todo.sends_begun


async def _sends_begun(box: Inbox) -> int:
    return int(await box.redis.call("GET", keys.context_key(make_ref(), "sending")) or 0)


async def test_a_crash_between_commit_and_send_keeps_both_tries(redis: RedisClient) -> None:
    box, _ = await _committed(redis, some_parts("one", "two"))
    telegram = Telegram([SendUnknown()])

    claim, parts, begun = await _take_over(box)
    await open_delivery(box, telegram, pause=Pauses()).deliver(claim, parts, sends_begun=begun)

    assert telegram.arrived == ["one", "two"]
    assert await box.state_of(1) == ("answered", "")


async def test_a_second_crash_inside_the_same_send_does_not_repeat_it_again(redis: RedisClient) -> None:
    box, _ = await _committed(redis, some_parts("one", "two"))
    for _ in range(2):  # each sends the first part and dies before it can note that
        claim, parts, begun = await _take_over(box)
        dying = open_delivery(box, Telegram(during=_die))
        with pytest.raises(asyncio.CancelledError):
            await dying.deliver(claim, parts, sends_begun=begun)
    telegram = Telegram()

    claim, parts, begun = await _take_over(box)
    await open_delivery(box, telegram).deliver(claim, parts, sends_begun=begun)

    assert telegram.arrived == ["two"]
    assert await box.state_of(1) == ("answered", "send_outcome_unknown")


async def test_a_crash_during_a_wait_for_telegram_counts_as_no_send(redis: RedisClient) -> None:
    box, claim = await _committed(redis, some_parts("one"))
    first = open_delivery(box, Telegram([TelegramUnavailable()]), pause=Pauses(during=_die))
    with pytest.raises(asyncio.CancelledError):
        await first.deliver(claim, await box.outbox())
    for _ in range(5):
        claim, parts, begun = await _take_over(box)
        waiting = open_delivery(box, Telegram([TelegramUnavailable()]), pause=Pauses(during=_die))
        with pytest.raises(asyncio.CancelledError):
            await waiting.deliver(claim, parts, sends_begun=begun)
    telegram = Telegram()

    claim, parts, begun = await _take_over(box)
    await open_delivery(box, telegram).deliver(claim, parts, sends_begun=begun)

    assert telegram.arrived == ["one"]


async def test_a_send_without_a_connection_counts_as_no_send(redis: RedisClient) -> None:
    box, _ = await _committed(redis, some_parts("one"))
    is_held = asyncio.Event()

    async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        is_held.set()
        await reader.read()
        writer.close()

    async with await asyncio.start_server(hold, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with open_telegram(token=DEFAULT_TOKEN, api_url=url, connections=1) as api:
            holding = asyncio.create_task(api.get_me(), name="holding the connection")
            await is_held.wait()
            for _ in range(3):
                claim, parts, begun = await _take_over(box)
                ending = asyncio.create_task(
                    open_delivery(box, partial(send_part, api)).deliver(claim, parts, sends_begun=begun)
                )
                await until_it_is(1, lambda: _sends_begun(box), within_s=5)
                ending.cancel()
                await asyncio.gather(ending, return_exceptions=True)
                assert await _sends_begun(box) == 0
            holding.cancel()
            await asyncio.gather(holding, return_exceptions=True)


async def test_an_answer_waits_for_a_valid_token(redis: RedisClient) -> None:
    box, claim = await _committed(redis, some_parts("one"))
    telegram = Telegram([TokenRefused()] * 5)

    await open_delivery(box, telegram, pause=Pauses()).deliver(claim, await box.outbox())

    assert telegram.arrived == ["one"]
    assert await box.state_of(1) == ("answered", "")


async def test_crashes_before_a_repeated_send_has_begun_do_not_lose_the_answer(redis: RedisClient) -> None:
    """A takeover reads the store and waits for a slot before it sends: nothing can have arrived."""
    box, _ = await _committed(redis, some_parts("one"))
    for _ in range(3):
        claim, parts, begun = await _take_over(box)
        gap = OpenRates(waits=[0.1])
        with pytest.raises(asyncio.CancelledError):
            await open_delivery(box, Telegram(), rates=gap, pause=Pauses(during=_die)).deliver(
                claim, parts, sends_begun=begun
            )
    telegram = Telegram()

    claim, parts, begun = await _take_over(box)
    await open_delivery(box, telegram).deliver(claim, parts, sends_begun=begun)

    assert telegram.arrived == ["one"]
    assert await box.state_of(1) == ("answered", "")


async def test_a_crash_in_the_pause_after_an_unknown_outcome_counts_as_no_send(redis: RedisClient) -> None:
    box, claim = await _committed(redis, some_parts("one"))
    first = open_delivery(box, Telegram([SendUnknown()]), pause=Pauses(during=_die))
    with pytest.raises(asyncio.CancelledError):
        await first.deliver(claim, await box.outbox())
    telegram = Telegram()

    claim, parts, begun = await _take_over(box)
    await open_delivery(box, telegram).deliver(claim, parts, sends_begun=begun)

    assert telegram.arrived == ["one"]


async def test_sent_parts_are_not_sent_again_after_a_crash(redis: RedisClient) -> None:
    lines = some_parts("one", "two", "three")
    box, claim = await _committed(redis, lines)
    telegram = Telegram()
    await box.turns.sent(claim, lines[0], telegram_id=71)

    taken, parts, begun = await _take_over(box)
    await open_delivery(box, telegram).deliver(taken, parts, sends_begun=begun)

    assert telegram.arrived == ["two", "three"]


async def test_noting_the_last_send_again_after_a_lost_reply_ends_the_claim_as_before(
    redis: RedisClient,
) -> None:
    (line,) = some_parts("one")
    box, claim = await _committed(redis, [line])
    note = SentPart(number=0, kind="text", outcome="sent")
    await box.turns.sent(claim, line, telegram_id=71, note=note)
    claim.settled.clear()  # as if its reply had been lost
    record = await box.record_of(1)

    assert await box.turns.sent(claim, line, telegram_id=71, note=note)

    assert claim.settled.is_set()
    assert await box.record_of(1) == record


async def test_a_worker_whose_successor_noted_the_last_send_is_fenced(redis: RedisClient) -> None:
    (line,) = some_parts("one")
    box, claim = await _committed(redis, [line])
    taken, _, _ = await _take_over(box)
    note = SentPart(number=0, kind="text", outcome="sent")
    await box.turns.sent(taken, line, telegram_id=71, note=note)

    with pytest.raises(Fenced):
        await box.turns.sent(claim, line, telegram_id=72, note=note)


@pytest.fixture
def retries() -> Iterator[list[float]]:
    """The pauses before writes that are tried again."""
    waits: list[float] = []
    set_on_retry_hooks([lambda details: waits.append(details.wait_for)])
    yield waits
    set_on_retry_hooks(None)


async def test_a_short_outage_of_the_store_does_not_repeat_a_send(
    redis_url: str, retries: list[float]
) -> None:
    async with redis_proxy(redis_url) as way, real_redis(way.redis_url) as redis:
        lines = some_parts("one", "two")
        box, claim = await _committed(redis, lines)
        telegram = Telegram(during=way.cut)

        delivering = asyncio.create_task(open_delivery(box, telegram).deliver(claim, lines))
        for retried in (1, 2):
            await eventually(lambda retried=retried: len(retries) == retried)
            await way.mend()
        await delivering

        assert telegram.arrived == ["one", "two"]
        assert retries == [0.5, 0.5]
        assert await box.state_of(1) == ("answered", "")


async def test_a_send_that_could_not_be_counted_keeps_its_repetition(
    redis_url: str, retries: list[float]
) -> None:
    async with redis_proxy(redis_url) as way, real_redis(way.redis_url) as redis:
        lines = some_parts("one")
        box, claim = await _committed(redis, lines)
        telegram, pauses = Telegram([SendUnknown()]), Pauses(during=way.cut)
        delivery = open_delivery(box, telegram, rates=OpenRates(waits=[0.1]), pause=pauses)

        delivering = asyncio.create_task(delivery.deliver(claim, lines))
        await eventually(lambda: len(retries) == 1)
        pauses.during = None
        await way.mend()
        await delivering

        assert telegram.arrived == ["one"]
        assert await box.state_of(1) == ("answered", "")


async def test_a_full_store_does_not_interrupt_an_answer(redis: RedisClient) -> None:
    lines = some_parts("one", "two", "three")
    box, claim = await _committed(redis, lines)
    telegram = Telegram(during=lambda: redis.call("CONFIG", "SET", "maxmemory", "1"))
    try:
        async with asyncio.timeout(20):
            await open_delivery(box, telegram).deliver(claim, lines)
    finally:
        await redis.call("CONFIG", "SET", "maxmemory", "0")

    assert telegram.arrived == ["one", "two", "three"]


async def _die() -> None:
    raise asyncio.CancelledError
