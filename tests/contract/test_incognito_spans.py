"""The spans of incognito in the store: their begin and end, the messages in them, and what leaves the files."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from bot.inbox.records import Arrival, IncognitoChange
from bot.transport.gating import Admission
from bot.transport.ingest import WaitingUpdate
from bot.transport.updates import IncomingMessage, ReplyTo
from bot.turn.batch import UNKEPT_QUOTE, read_waiting
from bot.turn.store import Todo
from memory import keys
from memory.codec import dump_json
from memory.redis.client import RedisClient
from tests.contract.inbox_kit import NOW, Inbox, open_inbox, some_parts
from tests.messages import make_message, make_ref

BEGIN, HOUR_S = 1_790_000_000, 3600


def waiting(update_id: int, at: int, *, reply_at: int = 0, edited_at: int | None = None) -> WaitingUpdate:
    """Return the message of a private chat with this time, perhaps as a reply to one with another time."""
    reply = ReplyTo(message_id=500, sender_id=7, sender_name="", text="quoted", quote="", date=reply_at)
    message = IncomingMessage(
        chat_id=1,
        chat_type="private",
        message_id=update_id,
        date=at,
        edit_date=edited_at,
        kind="text",
        text="hello",
        reply_to=reply if reply_at else None,
    )
    admission = Admission(action="turn", reason="private_chat")
    return WaitingUpdate(update_id=update_id, admission=admission, message=message, anchor_id=1)


def read(todo: Todo) -> list[WaitingUpdate]:
    return read_waiting(todo.updates.values(), unkept=todo.unkept, answers=todo.answers)


async def accept(box: Inbox, update: WaitingUpdate) -> None:
    payload, said_at = dump_json(WaitingUpdate, update), update.message.edit_date or update.message.date
    await box.inbox.accept(
        Arrival(update_id=update.update_id, ref=make_ref(), mode="turn", payload=payload, said_at=said_at)
    )


async def take(box: Inbox, *updates: WaitingUpdate) -> list[WaitingUpdate]:
    """Accept the updates, and return them as a turn gets them."""
    for update in updates:
        await accept(box, update)
    claim = await box.claim_one()
    taken = read(await box.take(claim))
    ids = [update.update_id for update in updates]
    await box.commit(claim, *ids, messages=[make_message(f"m{number}") for number in ids])
    assert await box.inbox.settle(claim) is False
    return taken


async def change(box: Inbox, *, is_on: bool, at: int) -> None:
    """Begin or end incognito as the commit of a command does."""
    await accept(box, waiting(9, BEGIN - 9))
    claim = await box.claim_one()
    await box.commit(claim, 9, incognito=IncognitoChange(is_on=is_on, at=at, registered="{}"))
    await box.inbox.settle(claim)
    await box.redis.call("DEL", keys.partition_key(0, "update", 9))


def kept(updates: Sequence[WaitingUpdate]) -> list[bool]:
    return [update.is_kept for update in updates]


async def test_it_holds_from_its_command_until_an_hour_after_each_message(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await change(box, is_on=True, at=BEGIN)
    times = [-1, 0, HOUR_S - 1, 2 * HOUR_S - 2, 3 * HOUR_S - 2]

    taken = await take(box, *(waiting(number, BEGIN + at) for number, at in enumerate(times, 10)))

    assert kept(taken) == [True, False, False, False, True]
    assert await redis.call("HGET", keys.partition_key(0, "contexts"), make_ref().context_id) == "{}"


async def test_it_ends_before_the_second_of_the_command_that_ends_it(redis: RedisClient) -> None:
    """In order: what was said before the command in that second was taken before it."""
    box = await open_inbox(redis)
    await change(box, is_on=True, at=BEGIN)
    assert kept(await take(box, waiting(10, BEGIN + 5))) == [False]
    await change(box, is_on=False, at=BEGIN + 5)

    assert kept(await take(box, waiting(11, BEGIN + 5), waiting(12, BEGIN + 4))) == [True, False]
    assert kept(await take(box, waiting(13, BEGIN + 6))) == [True], "a late message does not lengthen it"

    await change(box, is_on=True, at=BEGIN + 5)
    assert kept(await take(box, waiting(14, BEGIN + 5))) == [False]


async def test_an_edit_counts_when_it_is_made(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await change(box, is_on=True, at=BEGIN)
    edits = [waiting(10, BEGIN - 50, edited_at=BEGIN + 1), waiting(11, BEGIN - 50, edited_at=BEGIN - 1)]

    assert kept(await take(box, *edits)) == [False, True]


@pytest.mark.parametrize("is_kept", [True, False])
async def test_a_later_reply_quotes_only_what_is_kept(redis: RedisClient, is_kept: bool) -> None:
    box = await open_inbox(redis)
    await change(box, is_on=True, at=BEGIN)
    await change(box, is_on=False, at=BEGIN + 5)
    if is_kept:
        await redis.call("HSET", keys.context_key(make_ref(), "telegram"), 500, "m1")
    raised = await raises_of(redis)

    (in_it,) = await take(box, waiting(10, BEGIN + 900, reply_at=BEGIN + 5))
    (before,) = await take(box, waiting(11, BEGIN + 900, reply_at=BEGIN - 1))
    (later,) = await take(box, waiting(12, int(NOW) + 900, reply_at=int(NOW) + 120))
    assert not later.answers_unkept

    assert [reply.text for each in (in_it, before) if (reply := each.message.reply_to)] == [
        "quoted" if is_kept else UNKEPT_QUOTE,
        "quoted",
    ]
    assert (in_it.answers_unkept, in_it.is_kept) == (not is_kept, True)
    assert await raises_of(redis) == raised + (not is_kept), "the waiting update had the quotation"


async def test_an_answer_that_is_sent_after_the_hour_is_no_less_unkept(redis: RedisClient) -> None:
    """The bot was away for a day."""
    box = await open_inbox(redis)
    begin = int(NOW) - 24 * HOUR_S
    await change(box, is_on=True, at=begin)
    await accept(box, waiting(1, begin + 1))
    claim = await box.claim_one()
    assert kept(read(await box.take(claim))) == [False]
    (part,) = [replace(each, is_kept=False) for each in some_parts("hi")]
    await box.commit(claim, 1, parts=[part])
    await box.turns.sent(claim, part, telegram_id=500)

    (reply,) = await take(box, waiting(10, int(NOW) + 5, reply_at=int(NOW)))

    assert (reply.is_kept, reply.answers_unkept) == (True, True)


async def raises_of(redis: RedisClient) -> int:
    return int(await redis.call("GET", keys.partition_key(0, "erasures")) or 0)


@pytest.mark.parametrize("is_kept", [True, False])
async def test_an_answer_leaves_the_files_when_it_is_sent(redis: RedisClient, is_kept: bool) -> None:
    """Also if they were rewritten, for another erasure, between its commit and its send."""
    box = await open_inbox(redis)
    await accept(box, waiting(1, BEGIN))
    claim = await box.claim_one()
    (part,) = [replace(each, is_kept=is_kept) for each in some_parts("hi")]
    await box.commit(claim, 1, parts=[part])
    raised = await raises_of(redis)

    await box.turns.sent(claim, part, telegram_id=77)

    assert await raises_of(redis) == raised + (not is_kept)
