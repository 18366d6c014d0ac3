"""Delivery of edits, deletions and files, and of parts that are refused in one form and sent in another."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import pytest

from bot.errors import (
    ChatMigrated,
    ChatUnreachable,
    Fenced,
    MessageGone,
    SendUnknown,
    TelegramFailure,
    TelegramRefused,
    TelegramUnavailable,
    ThreadGone,
)
from bot.inbox.isolation import Slots
from bot.inbox.records import Claim
from bot.transport.rich_text import Entity, RichText
from bot.turn.delivery import Reachability
from bot.turn.outbox import Part, plan_changes, plan_parts
from memory import keys
from memory.history.redis_history import RedisHistory
from memory.redis.client import RedisClient
from tests.contract.inbox_kit import Inbox, eventually, open_delivery, open_inbox
from tests.messages import make_message, make_ref
from tests.store_proxy import redis_proxy
from tests.stores import real_redis
from tests.traffic import Moved, OpenRates

CHAT = 1
TEXT = Part(
    update_id=1, number=0, chat_id=CHAT, thread_id=None, reply_to=None, rich=RichText(text="hello"), epoch=0
)


@dataclass(slots=True)
class Telegram:
    """A Bot API that records calls.

    `outcomes` come first: a failure, or None for a success. `during` runs in each call.
    """

    outcomes: list[TelegramFailure | None] = field(default_factory=list[TelegramFailure | None])
    asked: list[Part] = field(default_factory=list[Part])
    during: Callable[[], Awaitable[None]] | None = None

    async def __call__(self, part: Part, content: bytes = b"", /) -> int | None:
        self.asked.append(part)
        if self.during is not None:
            await self.during()
        outcome = self.outcomes.pop(0) if self.outcomes else None
        if outcome is not None:
            raise outcome
        return None if part.kind == "delete" else part.edits or 70 + len(self.asked)

    def sent_parts(self) -> list[tuple[str, str, int | None]]:
        """Return kind, text and edited message of each call."""
        return [(part.kind, part.rich.text, part.edits) for part in self.asked]


async def _passing(seconds: float) -> None:
    """Return at once."""


async def _committed(redis: RedisClient, *parts: Part) -> tuple[Inbox, Claim, Sequence[Part]]:
    box = await open_inbox(redis)
    await box.accept(1)
    claim = await box.claim_one()
    await box.commit(claim, 1, parts=parts, messages=[make_message("m0", role="assistant")])
    return box, claim, parts


async def test_an_answer_stays_in_its_message_after_a_lost_reply_of_the_store(redis: RedisClient) -> None:
    box, claim, lines = await _committed(redis, replace(TEXT, edits=70))

    async def go_through() -> None:  # before the reply that is lost, and it is tried again
        await box.turns.sent(claim, lines[0], telegram_id=70)

    telegram = Telegram(during=go_through)

    with pytest.raises(Fenced):
        await open_delivery(box, telegram).deliver(claim, lines)

    assert telegram.sent_parts() == [("text", "hello", 70)]


async def test_an_answer_replaces_older_messages_and_deletes_the_rest(redis: RedisClient) -> None:
    texts = [RichText(text="one"), RichText(text="two")]
    parts = plan_parts(texts, replace(TEXT, message_id="m0"))
    box, claim, lines = await _committed(redis, *plan_changes(parts, TEXT, edits=(41, 42, 43), deletes=(50,)))
    telegram = Telegram()

    await open_delivery(box, telegram).deliver(claim, lines)

    assert telegram.sent_parts() == [
        ("text", "one", 41),
        ("text", "two", 42),
        ("delete", "", 43),
        ("delete", "", 50),
    ]
    assert await box.state_of(1) == ("answered", "")
    assert await RedisHistory(redis).find_by_telegram(make_ref(), 41) == "m0"
    assert not [name for name in await box.record_of(1) if name in ("sent:43", "sent:50", "sent:0")]


async def test_an_edit_of_a_deleted_message_becomes_a_new_message(redis: RedisClient) -> None:
    box, claim, lines = await _committed(redis, replace(TEXT, edits=41))
    telegram = Telegram([MessageGone()])

    await open_delivery(box, telegram).deliver(claim, lines)

    # A file cannot be edited into a text, but it is there.
    assert telegram.sent_parts() == [("text", "hello", 41), ("delete", "hello", 41), ("text", "hello", None)]
    assert await box.state_of(1) == ("answered", "")


async def test_a_repeated_answer_is_shown_twice_at_most_despite_crashes(redis: RedisClient) -> None:
    box, claim, lines = await _committed(redis, replace(TEXT, edits=41))
    sends_begun = 0
    shown: list[Part] = []
    for _ in range(4):
        telegram = _DyingInSends()
        with suppress(asyncio.CancelledError):
            await open_delivery(box, telegram).deliver(claim, lines, sends_begun=sends_begun)
        shown += telegram.shown
        if claim.settled.is_set():
            break
        (claim,) = await box.sweep("bert")
        todo = await box.take(claim)
        lines, sends_begun = todo.parts, todo.sends_begun

    assert claim.settled.is_set()
    assert [part.edits for part in shown] == [None, None]
    assert await box.state_of(1) == ("answered", "send_outcome_unknown")


@dataclass(slots=True)
class _DyingInSends:
    """A Bot API without the message to edit. Its caller dies when a new one arrives."""

    shown: list[Part] = field(default_factory=list[Part])

    async def __call__(self, part: Part, content: bytes = b"", /) -> int:
        if part.edits is not None:
            raise MessageGone
        self.shown.append(part)
        raise asyncio.CancelledError


async def test_edits_with_an_unknown_outcome_count_as_no_sends(redis: RedisClient) -> None:
    box, claim, lines = await _committed(redis, replace(TEXT, edits=41))
    telegram = Telegram([*[SendUnknown()] * 3, MessageGone(), None, SendUnknown()])
    delivery = open_delivery(box, telegram, pause=_passing)

    await delivery.deliver(claim, lines)

    assert [part.edits for part in telegram.asked] == [41] * 5 + [None] * 2
    assert await box.state_of(1) == ("answered", "")


async def test_edits_and_deletions_are_repeated_until_their_outcome_is_known(redis: RedisClient) -> None:
    box, claim, lines = await _committed(
        redis, replace(TEXT, edits=41), replace(TEXT, kind="delete", edits=50, number=1)
    )
    unknown = SendUnknown()
    telegram = Telegram([*[unknown] * 5, None, *[unknown] * 4])
    delivery = open_delivery(box, telegram, pause=_passing)

    await delivery.deliver(claim, lines)

    assert [part.kind for part in telegram.asked] == ["text"] * 6 + ["delete"] * 5
    assert await box.state_of(1) == ("answered", "")


async def test_an_edit_is_repeated_after_any_number_of_crashes(redis: RedisClient) -> None:
    box, claim, lines = await _committed(redis, replace(TEXT, edits=41))
    telegram = Telegram()

    await open_delivery(box, telegram).deliver(claim, lines, sends_begun=7)

    assert telegram.sent_parts() == [("text", "hello", 41)]


async def test_a_message_that_cannot_be_deleted_does_not_stop_the_answer(redis: RedisClient) -> None:
    box, claim, lines = await _committed(
        redis, replace(TEXT, kind="delete", edits=50), replace(TEXT, number=1)
    )
    telegram = Telegram([MessageGone("message can't be deleted")])

    await open_delivery(box, telegram).deliver(claim, lines)

    assert telegram.sent_parts() == [("delete", "hello", 50), ("text", "hello", None)]
    assert await box.state_of(1) == ("answered", "")


async def test_an_answer_to_a_deleted_topic_goes_to_the_chat(redis: RedisClient) -> None:
    rich = RichText(text="bold", entities=(Entity(type="bold", offset=0, length=4),))
    box, claim, lines = await _committed(redis, replace(TEXT, rich=rich, thread_id=9, reply_to=3))
    telegram = Telegram([ThreadGone()])

    await open_delivery(box, telegram).deliver(claim, lines)

    assert [(part.thread_id, part.reply_to, part.rich) for part in telegram.asked] == [
        (9, 3, rich),
        (None, None, rich),
    ]


@pytest.mark.parametrize("outcomes", [[ThreadGone()] * 3, [ThreadGone(), TelegramRefused()]])
async def test_an_answer_refused_with_and_without_its_topic_is_given_up(
    redis: RedisClient, outcomes: list[TelegramFailure | None]
) -> None:
    box, claim, lines = await _committed(redis, replace(TEXT, thread_id=9))
    telegram = Telegram(outcomes)

    await open_delivery(box, telegram).deliver(claim, lines)

    assert len(telegram.asked) == 2
    assert await box.state_of(1) == ("ignored", "undeliverable_refused")


async def test_a_failed_answer_leaves_no_button(redis: RedisClient) -> None:
    box, claim, lines = await _committed(redis, TEXT, replace(TEXT, kind="delete", edits=50, number=1))
    telegram = Telegram([TelegramRefused()])

    await open_delivery(box, telegram).deliver(claim, lines)

    assert telegram.sent_parts() == [("text", "hello", None), ("delete", "hello", 50)]


async def test_a_refused_or_erased_answer_leaves_no_preview(redis: RedisClient) -> None:
    box, claim, lines = await _committed(redis, replace(TEXT, edits=41))
    refused, erased = Telegram([TelegramRefused()]), Telegram([TelegramUnavailable(retry_after=3)])

    async def reset(seconds: float) -> None:
        await box.turns.reset(make_ref())

    await open_delivery(box, erased, pause=reset).deliver(claim, lines)
    await box.accept(2)
    await box.commit(claim, 2, epoch=1, parts=lines)
    await open_delivery(box, refused).deliver(claim, lines)

    assert erased.sent_parts() == refused.sent_parts() == [("text", "hello", 41), ("delete", "hello", 41)]


async def test_a_chat_without_files_gets_the_text_in_messages(redis: RedisClient) -> None:
    markdown = "# Title\n\n" + "word " * 1200
    file = replace(TEXT, number=1, kind="document", file_name="answer.md", rich=RichText(text=markdown))
    box, claim, lines = await _committed(redis, TEXT, file, replace(TEXT, number=2))
    telegram = Telegram([None, TelegramRefused("not enough rights to send documents to the chat")])

    await open_delivery(box, telegram).deliver(claim, lines)

    assert [kind for kind, _, _ in telegram.sent_parts()] == ["text", "document", "text", "text", "text"]
    shown = "".join(text for _, text, _ in telegram.sent_parts()[2:4])
    assert shown.count("word") == 1200
    assert await box.state_of(1) == ("answered", "")
    assert await box.outbox() == []


async def test_every_part_follows_a_moved_group_and_its_memory_learns_it(redis: RedisClient) -> None:
    edited = replace(TEXT, chat_id=-5, edits=41, thread_id=None)
    box, claim, lines = await _committed(
        redis,
        edited,
        replace(TEXT, chat_id=-5, number=1, edits=42),
        replace(TEXT, chat_id=-5, number=2, kind="delete", edits=50),
    )
    telegram, moves = Telegram([ChatMigrated(-1009)]), Moved()

    await open_delivery(box, telegram, moves=moves).deliver(claim, lines)

    assert [(part.chat_id, part.kind, part.edits) for part in telegram.asked] == [
        (-5, "text", 41),
        (-1009, "text", None),
        (-1009, "text", None),
    ]
    assert moves.learned == [(-5, -1009)]
    assert await box.state_of(1) == ("answered", "")


async def test_a_chat_that_blocked_the_bot_is_marked_and_not_called_again(redis: RedisClient) -> None:
    box, claim, lines = await _committed(redis, TEXT)
    marks = Reachability(redis, clock=lambda: 77.0)
    telegram = Telegram([ChatUnreachable()])
    await open_delivery(box, telegram, marks=marks).deliver(claim, lines)
    await box.accept(2)
    later = [replace(TEXT, update_id=2)]
    await box.commit(claim, 2, parts=later)

    await open_delivery(box, telegram, marks=marks).deliver(claim, later)

    assert len(telegram.asked) == 1
    assert await box.state_of(2) == ("ignored", "undeliverable_unreachable")
    assert await redis.call("HGETALL", keys.partition_key(0, "unreachable")) == {str(CHAT): "77.0"}


async def test_a_chat_that_unblocked_the_bot_is_answered_again(redis: RedisClient) -> None:
    box, claim, lines = await _committed(redis, TEXT)
    marks = Reachability(redis, clock=lambda: 77.0)
    await marks.mark(0, CHAT)
    await redis.call(
        "HDEL", keys.partition_key(0, "unreachable"), CHAT
    )  # as accept.lua does, maybe in another process
    telegram = Telegram()

    await open_delivery(box, telegram, marks=marks).deliver(claim, lines)

    assert telegram.sent_parts() == [("text", "hello", None)]


async def test_a_wait_for_the_rate_budget_counts_as_no_send(redis: RedisClient) -> None:
    box, claim, lines = await _committed(redis, TEXT)
    rates, waits, counted = OpenRates(waits=[2.5, 0.1, 0.0]), list[float](), list[object]()

    async def pause(seconds: float) -> None:
        waits.append(seconds)
        counted.append(await redis.call("GET", keys.context_key(make_ref(), "sending")))

    telegram = Telegram()
    await open_delivery(box, telegram, rates=rates, pause=pause).deliver(claim, lines)

    assert waits == [2.5, 0.1]
    assert counted[0] is None
    assert rates.asked == ["final"]
    assert telegram.sent_parts() == [("text", "hello", None)]


async def test_a_429_holds_the_chat_for_everybody(redis: RedisClient) -> None:
    box, claim, lines = await _committed(redis, TEXT)
    rates, telegram = OpenRates(), Telegram([TelegramUnavailable(retry_after=7)])

    await open_delivery(box, telegram, rates=rates, pause=_passing).deliver(claim, lines)

    assert rates.holds == [(CHAT, 7)]


@pytest.mark.parametrize("failure", [TelegramUnavailable(retry_after=3), SendUnknown()])
async def test_a_waiting_delivery_lends_its_slot_to_others(
    redis: RedisClient, failure: TelegramFailure
) -> None:
    box, claim, lines = await _committed(redis, TEXT)
    slots, go = Slots(1), asyncio.Event()

    async def pause(seconds: float) -> None:
        await go.wait()

    async def deliver() -> None:
        async with slots.work():
            telegram = Telegram([failure])
            await open_delivery(box, telegram, slots=slots, pause=pause).deliver(claim, lines)

    delivering = asyncio.create_task(deliver())
    await eventually(lambda: slots.resting == 1)
    async with asyncio.timeout(1), slots.work():
        assert slots.resting == 1
        go.set()
    await delivering
    assert slots.resting == 0
    assert await box.state_of(1) == ("answered", "")


async def test_a_store_that_cannot_save_a_mark_stops_no_delivery(redis_url: str) -> None:
    async with redis_proxy(redis_url) as way, real_redis(way.redis_url) as redis:
        marks = Reachability(redis, clock=lambda: 77.0)
        await way.cut()
        await marks.mark(0, CHAT)

        assert marks.seems_marked(CHAT)
        assert not await marks.is_marked(0, CHAT)
        assert not marks.seems_marked(CHAT)
        await way.mend()
