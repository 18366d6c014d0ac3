"""Receipts of answers in Redis: written by the commit, erased with their answers, bounded in number, age and size."""

from typing import get_args

import pytest

from bot.agent.model import Usage
from bot.agent.prompt.parts import LeftOutCause, PartName
from bot.errors import Fenced
from bot.turn.answer_receipt import (
    FACTS_AT_MOST,
    MODELS_AT_MOST,
    NEIGHBOURS_AT_MOST,
    RECALLED_AT_MOST,
    TOOLS_AT_MOST,
    AnswerReceipt,
    CalledTool,
    LeftOutOfPart,
    RecalledMessage,
    have_receipts,
    load_receipts,
)
from bot.turn.store import RECEIPTS_KEPT
from memory.codec import dump_json
from memory.erasure import delete_provably
from memory.keys import ANSWER_RECEIPT_TTL_S, context_key
from memory.recall.excerpts import Excerpt, Reason
from memory.redis.client import RedisClient
from tests.contract.inbox_kit import NOW, Inbox, open_inbox, some_parts
from tests.contract.memory_kit import RedisMemory, write_receipts
from tests.messages import make_message, make_receipt, make_ref, some_messages

REF = make_ref(1)


async def answer(box: Inbox, update: int, *, deletes: tuple[str, ...] = ()) -> None:
    """Commit the answer m<update> with its receipt."""
    await box.accept(update)
    claim = await box.claim_one()
    answered = make_message(f"m{update}", "an answer", role="assistant")
    await box.commit(claim, update, messages=[answered], receipt=make_receipt(f"m{update}"), deletes=deletes)
    await box.inbox.settle(claim)


async def test_a_receipt_comes_with_the_commit_of_its_answer_and_lives_for_30_days_at_most(
    redis: RedisClient,
) -> None:
    box = await open_inbox(redis)

    await answer(box, 1)

    assert await load_receipts(redis, REF, ["m1", "m1", "unknown"]) == {"m1": make_receipt("m1")}
    assert await have_receipts(redis, REF, ["m1", "m1", "unknown"]) == {"m1"}
    assert ANSWER_RECEIPT_TTL_S == 30 * 24 * 3600
    for key in (context_key(REF, "receipt", "m1"), context_key(REF, "receipts")):
        assert ANSWER_RECEIPT_TTL_S - 10 < await box.ttl_of(key) <= ANSWER_RECEIPT_TTL_S


async def test_receipts_of_no_answers_take_no_round_trip(redis: RedisClient) -> None:
    trips = redis.round_trips
    assert (await load_receipts(redis, REF, []), await have_receipts(redis, REF, [])) == ({}, set())
    assert redis.round_trips == trips


async def test_many_receipts_are_read_in_one_round_trip(redis: RedisClient) -> None:
    await write_receipts(redis, "m1", "m3", ref=REF)
    trips = redis.round_trips
    assert len(await load_receipts(redis, REF, ["m1", "m2", "m3"])) == 2
    assert await have_receipts(redis, REF, ["m1", "m2", "m3"]) == {"m1", "m3"}
    assert redis.round_trips == trips + 2


async def test_a_turn_without_an_answer_writes_no_receipt(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)

    await box.commit(await box.claim_one(), 1, messages=some_messages(1))

    assert await redis.call("EXISTS", context_key(REF, "receipts")) == 0


async def test_a_forgotten_answer_takes_its_receipt_along_and_a_forgotten_question_does_not(
    redis: RedisClient,
) -> None:
    memory = RedisMemory(redis)
    await memory.store.append(REF, some_messages(4), epoch=0)
    await write_receipts(redis, "m1", "m3", ref=REF)

    deleted = await memory.store.delete(REF, ["m0", "m1"], epoch=0)

    assert (deleted.messages, deleted.answer_receipts) == (2, 1)
    assert await have_receipts(redis, REF, ["m1", "m3"]) == {"m3"}
    assert await redis.call("ZRANGE", context_key(REF, "receipts"), 0, -1) == ["m3"]


async def test_a_receipt_that_outlives_its_answer_leaves_the_erasure_unproven(redis: RedisClient) -> None:
    """A late writer without a fence is the only way to it."""
    memory = RedisMemory(redis)
    await memory.store.append(REF, some_messages(2), epoch=0)
    deleted = await memory.store.delete(REF, ["m1"], epoch=0)
    await write_receipts(redis, "m1", ref=REF)

    assert (await memory.store.count_traces(REF, mentioning=deleted)).answer_receipts == 1
    receipt = await delete_provably(REF, ["m1"], epoch=0, store=memory.store, recall=None)
    assert (receipt.erased.answer_receipts, receipt.left.answer_receipts) == (1, 0)


async def test_answering_again_replaces_the_receipt(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await answer(box, 1)

    await answer(box, 2, deletes=("m1",))

    assert await have_receipts(redis, REF, ["m1", "m2"]) == {"m2"}


async def test_a_crash_between_commit_and_send_leaves_exactly_one_receipt(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    await box.accept(1)
    claim = await box.claim_one()
    answered = [make_message("m1", "an answer", role="assistant")]
    await box.commit(claim, 1, messages=answered, receipt=make_receipt("m1"), parts=some_parts("an answer"))

    (next_claim,) = await box.sweep("bert")
    assert len((await box.take(next_claim)).parts) == 1, "the next worker has the answer to send"
    with pytest.raises(Fenced):
        await box.commit(claim, 1, messages=answered, receipt=make_receipt("m1", agent="late"))

    assert await load_receipts(redis, REF, ["m1"]) == {"m1": make_receipt("m1")}
    assert await redis.call("ZRANGE", context_key(REF, "receipts"), 0, -1) == ["m1"]


async def test_a_context_keeps_its_newest_receipts(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    listing = context_key(REF, "receipts")
    for number in range(RECEIPTS_KEPT):
        await redis.call("ZADD", listing, NOW + 100 + number, f"old{number}")
    await redis.call("EXPIRE", listing, 60)
    await redis.call("SET", context_key(REF, "receipt", "old0"), "{}", "EX", 60)

    await answer(box, 1)

    assert await redis.call("ZCARD", listing) == RECEIPTS_KEPT
    assert await have_receipts(redis, REF, ["old0", "m1"]) == {"m1"}


async def test_the_next_commit_drops_receipts_that_have_expired(redis: RedisClient) -> None:
    box = await open_inbox(redis)
    listing = context_key(REF, "receipts")
    await redis.call("ZADD", listing, NOW - 1, "expired", NOW + 1, "young")
    await redis.call("EXPIRE", listing, 60)
    # Its server's clock is late: the reset must still find it, or nothing may be left.
    await redis.call("SET", context_key(REF, "receipt", "expired"), "{}", "EX", 60)

    await answer(box, 1)

    assert await redis.call("ZRANGE", listing, 0, -1) == ["young", "m1"]
    assert await have_receipts(redis, REF, ["expired"]) == set()


def test_the_largest_receipt_takes_16_kb() -> None:
    places = ((1000, 2000), (3000, 3100), (3500, 3600))
    recalled = RecalledMessage(
        message_id="f" * 36,
        reasons=get_args(Reason),
        left_out="not_selected",
        excerpt=Excerpt(text=places, note=places),
    )
    tool = CalledTool(name="t" * 64, outcome="e" * 28, seconds=1234.567)
    causes = [cause for cause in get_args(LeftOutCause) if cause]
    largest = AnswerReceipt(
        message_id="f" * 36,
        at=NOW + 0.123456,
        agent="a" * 46,
        models=(Usage(model="m" * 64, prompt_tokens=10**9, completion_tokens=10**9),) * MODELS_AT_MOST,
        micros=10**12,
        prompt_tokens=10**9,
        room=10**9,
        recalled=(recalled,) * RECALLED_AT_MOST,
        more_recalled=50,
        since=10**6,
        neighbours=(10**6,) * NEIGHBOURS_AT_MOST,
        talk=(2**31, 2**31),
        facts=("f" * 36,) * FACTS_AT_MOST,
        window_messages=10**6,
        summary_id="f" * 36,
        tools=(tool,) * TOOLS_AT_MOST,
        more_tools=10**6,
        # Fourteen reasons are more than a prompt has.
        left_out=tuple(
            LeftOutOfPart(part=part, count=10**6, why=cause)
            for part in get_args(PartName)[2:9]
            for cause in causes[:2]
        ),
    )
    assert len(dump_json(AnswerReceipt, largest)) <= 16_384
