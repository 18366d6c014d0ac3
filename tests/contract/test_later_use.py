"""Answers that used deleted messages, found by their receipts on the real store, and what rests on them."""

from dataclasses import replace
from typing import Any

import pytest

from bot.turn.answer_receipt import AnswerReceipt, RecalledMessage
from bot.turn.later_use import OFFERS_AT_MOST, LaterUses, Offer, dump_offers, parse_offers
from memory.codec import dump_json
from memory.erasure import LaterUse
from memory.history.message import Message, Quote
from memory.history.redis_history import RedisHistory
from memory.history.store import Deletion
from memory.keys import context_key
from memory.redis.client import RedisClient
from tests.contract.memory_kit import RedisMemory, make_entry, make_summary, make_turn
from tests.messages import make_message, make_receipt, make_ref, some_messages

REF = make_ref()


async def write_receipt(redis: RedisClient, answer: str, **facts: Any) -> None:
    """Write the receipt of an answer as a commit does."""
    line = dump_json(AnswerReceipt, make_receipt(answer, **facts))
    await redis.call("SET", context_key(REF, "receipt", answer), line, "EX", 60)
    await redis.call("ZADD", context_key(REF, "receipts"), 9e9, answer)
    await redis.call("EXPIRE", context_key(REF, "receipts"), 60)


async def forget(redis: RedisClient, message_id: str) -> LaterUse:
    """Delete a message and return its later use."""
    history = RedisHistory(redis)
    erased = await history.get(REF, [message_id])
    deletion = await history.delete(REF, [message_id], epoch=0)
    return await LaterUses(redis=redis, history=history).find(REF, deletion, list(erased.values()))


@pytest.mark.parametrize(
    "facts",
    [
        {"since": 2},
        {"since": 0},
        {"since": 6, "recalled": (RecalledMessage(message_id="m2"),)},
        {"since": 6, "neighbours": (2,)},
    ],
    ids=["window", "summary", "recalled", "neighbour"],
)
async def test_an_answer_whose_prompt_had_the_message_is_found(
    redis: RedisClient, facts: dict[str, Any]
) -> None:
    await RedisHistory(redis).append(REF, some_messages(8), epoch=0)
    await write_receipt(redis, "m7", **facts)

    assert (await forget(redis, "m2")).answers == (3, 7)  # m3 is its own answer


@pytest.mark.parametrize(
    "facts",
    [
        {"since": 3},
        {"since": 6, "recalled": (RecalledMessage(message_id="m2", left_out="no_room"),)},
        {"since": 6, "recalled": (RecalledMessage(message_id="m4"),)},
        {},
    ],
    ids=["later window", "no room", "another one", "an earlier build's"],
)
async def test_an_answer_whose_prompt_did_not_have_it_is_not_found(
    redis: RedisClient, facts: dict[str, Any]
) -> None:
    await RedisHistory(redis).append(REF, some_messages(8), epoch=0)
    await write_receipt(redis, "m3", since=3)
    await write_receipt(redis, "m7", **facts)

    assert (await forget(redis, "m2")).answers == ()


async def test_an_answer_that_used_a_quotation_a_fact_or_a_tools_result_is_found(redis: RedisClient) -> None:
    memory = RedisMemory(redis)
    said = replace(make_message("m0", "my code is 4711", telegram=5), tokens=1)
    quoting = make_message("m2", "and this?", telegram=6)
    quoting = replace(quoting, quote=Quote(telegram_message_id=5, sender_name="Ben", text="my code is 4711"))
    later: list[Message] = some_messages(8)[3:]
    first = make_message("m1", "Noted.", role="assistant")
    await memory.store.append(REF, [said, first, quoting, *later], epoch=0)
    search = replace(make_entry(), quotes="m0")
    await memory.add_turn(REF, replace(make_turn(4, 5), entries=(search,)))
    await write_receipt(redis, "m1", since=0)
    await write_receipt(redis, "m3", since=2)  # it had the quotation
    await write_receipt(redis, "m5", since=4)  # a tool found the message
    await write_receipt(redis, "m7", since=6, facts=("f1",))
    uses = LaterUses(redis=redis, history=memory.store)

    deletion = await memory.store.delete(REF, ["m0"], epoch=0)
    found = await uses.find(REF, replace(deletion, fact_ids=("f1",)), [])

    assert found.answers == (1, 3, 5, 7)
    assert [each.id for each in await uses.messages_at(REF, (1, 3, 99))] == ["m1", "m3"]


async def test_summaries_and_results_that_rest_on_the_answers_are_counted(redis: RedisClient) -> None:
    """A summary of this conversation stays if a message of an earlier one is forgotten, which an answer here used."""
    memory = RedisMemory(redis)
    await memory.store.append(REF, some_messages(2), epoch=0)
    await memory.store.start_conversation(REF, epoch=0)
    await memory.store.append(REF, some_messages(4, start=2), epoch=0)
    await memory.add_summary(REF, make_summary("s1", upto=3, start=2), ["m2", "m3"])
    await memory.add_turn(REF, make_turn(2, 3, artifact="a1"))
    await memory.add_turn(REF, make_turn(4, 5, artifact="a2"))
    await write_receipt(redis, "m1", since=1)
    await write_receipt(redis, "m3", since=2, recalled=(RecalledMessage(message_id="m0"),))

    found = await forget(redis, "m0")

    assert found == LaterUse(answers=(3,), summaries=1, artifacts=1)


async def test_without_receipts_only_the_answer_right_after_it_is_known(redis: RedisClient) -> None:
    await RedisHistory(redis).append(REF, some_messages(8), epoch=0)

    assert (await forget(redis, "m2")).answers == (3,)
    assert (await forget(redis, "m5")).answers == ()
    uses = LaterUses(redis=redis, history=RedisHistory(redis))
    assert await uses.find(REF, Deletion(), []) == LaterUse()


def test_only_the_newest_offers_are_kept() -> None:
    offers = [Offer(update_id=number, answers=(1, 2)) for number in range(OFFERS_AT_MOST + 2)]

    assert parse_offers(dump_offers(offers)) == tuple(offers[2:])
    assert (dump_offers([]), parse_offers(None), parse_offers("")) == ("", (), ())
